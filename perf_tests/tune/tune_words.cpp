// Trials of one pair of words: compiled once per pair in CMakeLists.txt.
#include "tune/contest.hpp"
#include "tune/tune.hpp"

namespace tune {
namespace {

template <class Key, class Value>
struct Rows {
  using Trials = std::vector<Trial<Key, Value>>;
  static constexpr std::size_t value_bytes = bytes_of<Value>;
  static constexpr std::size_t widest = sizeof(Key) > value_bytes ? sizeof(Key) : value_bytes;
  static constexpr TeamShape sweep = impl::sweep_shape<Space>(sizeof(Key), value_bytes);
  static constexpr TeamShape finish = impl::finish_shape<Space>(sizeof(Key), value_bytes);

  Space exec;
  std::size_t count;

  template <TeamShape... Shape>
  Trials sweeps(Shapes<Shape...>) const {
    return {sweep_trial<Key, Value, sweep>(exec, count, {}, text_of(sweep), true),
            sweep_trial<Key, Value, Shape>(exec, count, {}, text_of(Shape), false)...};
  }
  template <TeamShape... Shape>
  Trials finishes(Shapes<Shape...>) const {
    return {finish_trial<Key, Value, finish>(exec, count, true),
            finish_trial<Key, Value, Shape>(exec, count, false)...};
  }
  template <TeamShape... Shape>
  Trials spreads(Shapes<Shape...>) const {
    constexpr TeamShape spread = impl::spread_shape<Space>(sizeof(Key));
    return {spread_trial<Key, spread>(exec, count, true),
            spread_trial<Key, Shape>(exec, count, false)...};
  }
  template <CountingShapes... Shape>
  Trials counts(CountingCandidates<Shape...>) const {
    constexpr CountingShapes now = CountingShapes::of<Space>(sizeof(Key));
    return {counting_trial<Key, now>(exec, count, true),
            counting_trial<Key, Shape>(exec, count, false)...};
  }
  template <SmallShapes... Shape>
  Trials smalls(SmallCandidates<Shape...>) const {
    constexpr SmallShapes now = SmallShapes::of<Space>(sizeof(Key), value_bytes, sizeof(Key));
    return {small_trial<Key, Value, now>(exec, count, true),
            small_trial<Key, Value, Shape>(exec, count, false)...};
  }
  Trials blocks() const {
    const int present_bits =
        Layout<Key, Value>(exec, count, Algorithm::blocked_radix, [](impl::Machine&) {
        }).plan.digit_bits;
    Trials trials{blocks_trial<Key, Value>(exec, count, {8, present_bits}, true)};
    for (const BlockNumbers& numbers : block_numbers)
      trials.push_back(blocks_trial<Key, Value>(exec, count, numbers, false));
    return trials;
  }
  Trials reaches() const {
    const LookBackShape present;
    Trials trials{sweep_trial<Key, Value, sweep>(exec, count, present, text_of(present), true)};
    for (const LookBackShape& shape : look_backs)
      trials.push_back(sweep_trial<Key, Value, sweep>(exec, count, shape, text_of(shape), false));
    return trials;
  }
  Trials rounds() const {
    const std::size_t element = sizeof(Key) + value_bytes;
    Trials trials{round_trial<Key, Value>(exec, count, 0, "table's", true)};
    for (const std::size_t bytes : round_bytes) {
      trials.push_back(round_trial<Key, Value>(exec, count, bytes / element,
                                               std::to_string(bytes >> 10) + " KiB", false));
    }
    return trials;
  }
};

}  // namespace

template <class Key, class Value>
bool tune_words(const Request& request) {
  using These = Rows<Key, Value>;
  constexpr bool with_values = These::value_bytes > 0;
  const Space exec;
  const std::size_t count =
      request.count > 0 ? request.count : std::size_t{1} << (on_host ? 22 : 26);
  const These rows{exec, count};
  Contest<Key, Value> contest(exec, count, request.seconds);
  const auto row = [](const char* table) { return Row{table, sizeof(Key), These::value_bytes}; };
  bool right = true;
  if constexpr (impl::has_lanes<Space>) {
    if (request.wants("sweep_shape"))
      right &= contest.hold(row("sweep_shape"),
                            rows.sweeps(sweep_candidates<These::widest, with_values>()));
    if constexpr (!with_values) {
      if (request.wants("spread_shape"))
        right &= contest.hold(row("spread_shape"), rows.spreads(spread_candidates<sizeof(Key)>()));
      if constexpr (sizeof(Key) <= 2) {
        if (request.wants("counting_shapes"))
          right &=
              contest.hold(row("counting_shapes"), rows.counts(counting_candidates<sizeof(Key)>()));
      }
    }
    if constexpr (These::finish.exists()) {
      if (request.wants("finish_shape"))
        right &= contest.hold(row("finish_shape"),
                              rows.finishes(finish_candidates<These::widest, with_values>()));
    }
    if constexpr (These::finish.exists()) {
      if (request.wants("small_shapes")) {
        const These few{exec, std::min(count, std::size_t{1} << 18)};
        right &= Contest<Key, Value>(exec, few.count, request.seconds)
                     .hold(row("small_shapes"),
                           few.smalls(small_candidates<sizeof(Key), These::value_bytes>()));
      }
    }
    if (request.wants("look_back")) right &= contest.hold(row("look_back"), rows.reaches());
  }
  if constexpr (impl::works_at_once<Space>) {
    if (request.wants("blocks")) right &= contest.hold(row("blocks"), rows.blocks());
  }
  if constexpr (impl::team_shape<Space>().serial()) {
    if (request.wants("serial_round")) right &= contest.hold(row("serial_round"), rows.rounds());
  }
  return right;
}

template bool tune_words<KRADIX_TUNE_KEY, KRADIX_TUNE_VALUE>(const Request&);

}  // namespace tune
