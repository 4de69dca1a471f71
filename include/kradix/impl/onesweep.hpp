// Onesweep: a stable least-significant-digit radix sort that reads and writes keys once a pass.
//
// Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs" (2022): one read
// counts all digits, then each pass is one kernel whose tiles learn their places by decoupled
// look-back. The look-back lives in a circular buffer, so memory beside the second arrays is constant.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

#include "kradix/impl/device/count_all_digits.hpp"
#include "kradix/impl/device/settle.hpp"
#include "kradix/impl/device/spread_tile.hpp"
#include "kradix/impl/device/sweep_tile.hpp"
#include "kradix/impl/device/take_out_heavy.hpp"
#include "kradix/impl/device/turn_ties.hpp"
#include "kradix/impl/known_route.hpp"
#include "kradix/impl/plan.hpp"

namespace kradix::impl {

/// Scratch memory of this algorithm beside the second key and value arrays: at most 1.5 MB for any n.
struct OnesweepScratch {
  Slot words;   ///< of the look-back
  Slot counts;  ///< bins, tickets, tails and what else starts at zero as the words do
  Slot passes;  ///< all of them; and those that are sweeps, where others come first
  LookBackShape look_back;
  int sets = 1;           ///< of bins
  int most_passes = 0;    ///< that the counts have room for
  std::size_t extra = 0;  ///< where in `counts` the caller's own bytes start

  /// `sets` of bins may be counted, and so many passes made beside those of the plan; `extra` bytes are zeroed
  /// beside the counts.
  static OnesweepScratch list(const Plan& plan, const LookBackShape& most, ScratchList& list,
                              int sets = 1, int more_passes = 0, std::size_t extra = 0) {
    OnesweepScratch scratch;
    scratch.look_back = most.fitted(plan.tiles);
    scratch.words = list.add(scratch.look_back.bytes(), 1);
    const std::size_t counts_of_a_pass =
        static_cast<std::size_t>(sets) * bin_count + 1 + scratch.look_back.counters();
    scratch.most_passes = plan.passes + more_passes;
    const std::size_t more = 2 + plan.passes;  // what `special`, `counted` and `swept` point to
    const std::size_t counts =
        static_cast<std::size_t>(scratch.most_passes) * counts_of_a_pass + more;
    scratch.extra = counts * sizeof(std::uint64_t);
    scratch.sets = sets;
    scratch.counts = list.add(scratch.extra + extra, 1);
    scratch.passes = list.add(2, sizeof(PassTable));
    return scratch;
  }
};

/// One sort by this algorithm. (Tests give a look-back of their own that stalls.)
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape,
          class TileLookBack = LookBack<ExecutionSpace>,
          TeamShape SpreadShape = spread_shape<ExecutionSpace>(sizeof(typename Codec::key_type)),
          TeamShape ShortShape = short_sweep_shape<ExecutionSpace>(
              sizeof(typename Codec::key_type), std::is_same_v<Value, NoValue> ? 0 : sizeof(Value))>
class Onesweep {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr TeamShape count_with = count_shape<ExecutionSpace>();
  using CountAll =
      CountAllDigits<ExecutionSpace, Codec, Value, count_digits_shape<ExecutionSpace>()>;
  /// With values, of keys that may leave as heavy ones.
  static constexpr bool takes_heavy = with_values && may_be_taken_out<Codec, with_values>;
  using List = ListDigits<ExecutionSpace, count_digits_shape<ExecutionSpace>().threads>;

 public:
  static constexpr TeamShape count_digits_with = count_digits_shape<ExecutionSpace>();
  template <int Threads>
  using Clear = ClearWords<ExecutionSpace, Threads>;

  Onesweep(const ExecutionSpace& exec, const Plan& plan, const Codec& codec,
           const SortBuffers<Key, Value>& buffers, const OnesweepScratch& scratch, std::byte* base,
           std::string label)
      : exec_(exec),
        plan_(plan),
        codec_(codec),
        buffers_(buffers),
        scratch_(scratch),
        label_(std::move(label)),
        words_(scratch.words.in<std::uint32_t>(base)),
        bins_(scratch.counts.in<std::uint64_t>(base)),
        passes_(scratch.passes.in<PassTable>(base)) {}

  void sort() {
    clear();
    count();
    sweep(passes_, 0, plan_.passes);
    settle();
  }

  /// Would it show if elements with equal keys changed places?
  bool keeps_order() const { return with_values || equal_keys_differ(codec_, digits()); }

  DigitList digits() const { return {plan_.bits.begin, plan_.bits.end}; }
  const PassTable* passes() const { return passes_; }
  /// [row][bin]: where bins begin; or end, after a first pass that keeps no order.
  std::uint64_t* bins() const { return bins_; }

  /// What must be zero before: words and counts, which lie side by side, but for so many bytes at their end.
  template <int Threads>
  Clear<Threads> clearing(std::size_t kept = 0) const {
    const std::size_t end = scratch_.counts.offset + scratch_.counts.bytes - kept;
    return {reinterpret_cast<std::uint64_t*>(words_),
            (end - scratch_.words.offset) / sizeof(std::uint64_t)};
  }
  void clear() {
    const auto clear = clearing<count_with.threads>();
    launch<count_with>("ClearWords", clear.teams(), 0, clear);
  }

  /// Every digit.
  void count() {
    using Together = CountAndList<CountAll, List>;
    launch<count_alone_shape<ExecutionSpace>(sizeof(Key))>(
        "CountAllDigits", counting_teams(), Together::scratch_bytes(digits().count()),
        Together{all_digits(0, nullptr), {plan_.count, bins_, passes_, digits()}, counted()});
  }

  /// Those that the route names, if it does not hope for order, which is verified then, or for few kinds, which are
  /// counted; or others, into a second set of bins, if that does not hold. What is left to do with kinds is done by the
  /// same teams. What has been chosen then is told to a host that waits, on its board (null: it does not).
  template <class Heavy, class Kinds, class WithKinds>
  void count(Route* route, Heavy* heavy, const Kinds& kinds, const WithKinds& with_kinds,
             ValueSweeps<Key>* by_value, HostBoard* board) {
    const auto again = again_or_lights(all_digits(plan_.passes, route), heavy);
    // Elements in reverse whose ties have values that keep their order.
    using Mirroring =
        std::conditional_t<with_values, Mirror<Key, Value, count_digits_with.threads>, NothingMore>;
    Mirroring mirroring{};
    if constexpr (with_values) {
      mirroring = {buffers_, plan_.count,
                   settled_share<count_digits_with.threads>(counting_teams())};
    }
    using Again = ListOrRecount<std::remove_const_t<decltype(again)>, List, WithKinds, Mirroring>;
    const auto counting = counts_or_cells(all_digits(0, route), by_value);
    using Digits = CountDigitsOrKinds<std::remove_const_t<decltype(counting)>, Kinds>;
    launch<count_digits_with>("CountAllDigits", counting_teams(),
                              Digits::scratch_bytes(digits().count()), Digits{counting, kinds});
    launch<count_digits_with>(
        "ListOrRecount", counting_teams(), Again::scratch_bytes(digits().count()),
        Again{again,
              {plan_.count, bins_, passes_, digits()},
              plan_.passes,
              passes_ + 1,
              with_kinds,
              by_value != nullptr ? &by_value->passes : nullptr,
              {reinterpret_cast<const std::uint64_t*>(route),
               words_to_lists(route) + words_of_lists, board, board != nullptr ? board->next() : 0},
              mirroring});
  }

  /// After a count by a route: the first pass, then the others.
  void sweep_first(const Route* route, const PieceArrays<Bits>& arrays, const KnownRoute& known) {
    if (spreads_first() ? known.spreads() : known.sweeps(plan_.passes) > 0)
      sweep(passes_ + 1, 0, 1, route, arrays);
  }
  void sweep_others(const KnownRoute& known) { sweep(passes_ + 1, 1, known.sweeps(plan_.passes)); }
  /// Passes from `pass` on, before `end`.
  void sweep(const PassTable* passes, int pass, int end, const Route* route = nullptr,
             const PieceArrays<Bits>& arrays = {}) {
    const int spread_before = spreads_first() ? 1 : 0;
    if (pass < std::min(spread_before, end)) {
      spread(route, arrays);
      ++pass;
    }
    in_tiles_of_plan([&]<TeamShape TileShape>() {
      const auto of_pass = [&](int nth) {
        return TileLookBack{first_look_back().of_pass(nth - spread_before)};
      };
      if constexpr (has_special_sweeps) {
        using First = SweepTile<ExecutionSpace, Codec, Value, TileShape, TileLookBack,
                                teams_stay<Key>, MovedIfSpecial<Codec, true>>;
        using Special = SweepTile<ExecutionSpace, Codec, Value, TileShape, TileLookBack,
                                  teams_stay<Key>, MovedIfSpecial<Codec, true>, /*GoesOn=*/true>;
        if (pass == 0 && end > 0) sweep<First>("SweepTile", passes, pass++, of_pass(0), nullptr);
        if (pass == 1 && end > 1) sweep<Special>("SweepSpecial", passes, 1, of_pass(1), swept());
      }
      using Sweep =
          SweepTile<ExecutionSpace, Codec, Value, TileShape, TileLookBack, teams_stay<Key>, Swept>;
      // Hardly any sort needs more than the first two of many passes, where there is a finish.
      constexpr int apart = 2;
      for (; pass < end; ++pass) {
        if constexpr (goes_on<Sweep>) {
          if (pass >= apart) {
            using Rest = SweepTile<ExecutionSpace, Codec, Value, TileShape, TileLookBack,
                                   Sweep::stays, Swept, /*GoesOn=*/true>;
            sweep<Rest>("SweepRest", passes, pass, of_pass(pass), swept());
            return;
          }
        }
        sweep<Sweep>("SweepTile", passes, pass, of_pass(pass), nullptr);
      }
    });
  }

  /// Over the digits of cells by value, if the route says so: those of the list above are none then.
  static constexpr bool may_sweep_by_value = may_be_swept_by_value<Codec, Value>;
  void sweep_by_value(ValueSweeps<Key>* by_value) {
    if constexpr (may_sweep_by_value) {
      const auto look_back = first_look_back();
      in_tiles_of_plan([&]<TeamShape TileShape>() {
        using Sweep = SweepTile<ExecutionSpace, ValueCodec<Key>, Value, TileShape, TileLookBack,
                                /*Stays=*/true>;
        constexpr int passes = Route::cell_bits / digit_bits;
        for (int pass = spreads_first() ? 1 : 0, sweeps = 0; pass < passes; ++pass, ++sweeps) {
          launch<TileShape>("SweepByValue", std::min(plan_.tiles, resident_teams<TileShape>()),
                            Sweep::scratch_bytes(),
                            Sweep{buffers_, ValueCodec<Key>{&by_value->cells},
                                  Sweep::Tiles::of(plan_.count), &by_value->passes, bins_,
                                  tickets() + pass, TileLookBack{look_back.of_pass(sweeps)}, pass});
        }
      });
    }
  }

  /// The second pass of keys that are spread twice, inside the bins of the first.
  void spread_within(std::uint64_t* cells, const Route* route, const PieceArrays<Bits>& arrays) {
    using Spread = SpreadTile<ExecutionSpace, Codec, SpreadShape, /*Within=*/true>;
    const auto tiling = Spread::Tiles::of(plan_.count);
    launch<SpreadShape>(
        "SpreadWithin", Spread::teams_within(tiling), Spread::scratch_bytes(),
        Spread{buffers_.keys, codec_, tiling, passes_, bins_, cells, route, arrays, {plan_.count}});
  }

  /// Before the passes of `sweep`, if the route says so: moves light keys to the front of the other array and heavy ones
  /// behind them, with their values; or moves values alone, by labels that stand for their keys, in the passes of that
  /// table, if it has any: those from `sweep` to `end`, of which the first may be either.
  template <class Heavy>
  void take_out_or_sweep_by_labels(const Route* route, Heavy* heavy,
                                   const PassBuffers<std::uint32_t>& labels,
                                   const PassTable* passes, int sweep, int end,
                                   const std::uint64_t* bins) {
    in_tiles_of_plan([&]<TeamShape TileShape>() {
      using SweepLabels = SweepTile<ExecutionSpace, WordCodec<std::uint32_t, false>, Value,
                                    TileShape, LookBack<ExecutionSpace>, /*Stays=*/true>;
      const auto sweep_labels = [&](int nth) {
        return SweepLabels{{labels, buffers_.values, buffers_.makes_indices, /*leaves_keys=*/true},
                           make_codec<std::uint32_t>(Order::ascending),
                           SweepLabels::Tiles::of(plan_.count),
                           passes,
                           bins,
                           tickets() + nth,
                           first_look_back().of_pass(nth),
                           nth};
      };
      const std::size_t teams = std::min(plan_.tiles, resident_teams<TileShape>());
      if constexpr (takes_heavy) {
        using TakeOut = SweepTile<ExecutionSpace, HeavyCodec<Key>, Value, TileShape,
                                  LookBack<ExecutionSpace>, /*Stays=*/true>;
        using Either = TakeOutOrSweepLabels<TakeOut, SweepLabels>;
        if (sweep == 0)
          launch<TileShape>("TakeOutOrSweepLabels", teams, Either::scratch_bytes(),
                            Either{route, taking_out<TakeOut>(heavy), sweep_labels(sweep++)});
      }
      for (; sweep < end; ++sweep) {
        launch<TileShape>("SweepLabels", teams, SweepLabels::scratch_bytes(), sweep_labels(sweep));
      }
    });
  }
  /// How often each code of a heavy key occurs, then where they begin in the other array.
  std::uint64_t* codes_of_heavy() const { return bins_ + scratch_.sets * plan_.passes * bin_count; }

  void settle() { settle(NothingMore{}); }

  /// And does that, by the same teams.
  template <class More>
  void settle(const More& more, std::size_t scratch_bytes = 0) {
    const std::size_t teams = settling_teams();
    launch<count_with>(
        "Settle", teams, scratch_bytes,
        Both<Settling<count_with.threads>, More>{settling<count_with.threads>(teams), more});
  }
  /// By so many teams, for a kernel that does more.
  template <int Threads>
  using Settling = Settle<ExecutionSpace, Key, Value, Threads>;
  template <int Threads>
  Settling<Threads> settling(std::size_t teams) const {
    return {buffers_, passes_, plan_.count, settled_share<Threads>(teams)};
  }
  /// Of elements in reverse that have been turned round, those ties.
  template <int Threads>
  auto turning_ties_back(std::size_t teams) const {
    if constexpr (with_values) {
      return TurnTiesBack<ExecutionSpace, Codec, Value, Threads>{
          buffers_, codec_, plan_.count, 2 * settled_share<Threads>(teams), digits(), passes_};
    } else {
      return NothingMore{};
    }
  }
  std::size_t settling_teams() const { return std::min(plan_.tiles, resident_teams<count_with>()); }
  /// Is there anything to settle?
  bool settles(const KnownRoute& known) const {
    return known.settles([&](const PassTable& passes) {
      return !SettleShare<Key, Value, count_with.threads>{buffers_, passes}.idle();
    });
  }

  /// Waits for what `count` tells, if there is a board.
  KnownRoute wait(const Route* route, HostBoard* board) const {
    if (board == nullptr) return {};
    wait_for(board);
    return KnownRoute::of(board->words, words_to_lists(route));
  }
  /// A little while by looking at it, then by a fence.
  void wait_for(HostBoard* board) const {
    constexpr std::chrono::milliseconds patience{2};
    if (board->comes(patience)) return;
    exec_.fence(label_ + "fence until the route is known");
    if (!board->is_there())
      throw std::runtime_error(label_ + "nothing was told to the host that waits for it");
  }

  /// A kernel under this sort's label; what sweeps by this class launches its own kernels so too.
  template <TeamShape LaunchShape, class Kernel>
  void launch(const char* name, std::size_t teams, std::size_t scratch_bytes,
              const Kernel& kernel) {
    launch_teams<LaunchShape>(exec_, label_ + name, teams, scratch_bytes, kernel);
  }

  template <TeamShape LaunchShape>
  std::size_t resident_teams() const {
    return resident_teams_of<LaunchShape>(exec_);
  }

  template <TeamShape LaunchShape>
  std::size_t running_teams() const {
    return running_teams_of<LaunchShape>(exec_);
  }

 private:
  template <int Threads>
  std::size_t settled_share(std::size_t teams) const {
    return is_host_space<ExecutionSpace> ? (plan_.count + teams - 1) / teams
                                         : std::size_t{8} * Threads;
  }
  template <class Heavy>
  auto again_or_lights(const CountAll& count, [[maybe_unused]] Heavy* heavy) const {
    if constexpr (takes_heavy) {
      return CountAgainOrLights<CountAll>{count, heavy, codes_of_heavy()};
    } else {
      return count;
    }
  }
  auto counts_or_cells(const CountAll& count, [[maybe_unused]] ValueSweeps<Key>* by_value) const {
    if constexpr (may_sweep_by_value) {
      using Cells = CountAllDigits<ExecutionSpace, ValueCodec<Key>, NoValue, count_digits_with>;
      return CountDigitsOrCells<CountAll, Cells>{
          count,
          {buffers_.keys.in,
           {by_value != nullptr ? &by_value->cells : nullptr},
           plan_.count,
           {0, Route::cell_bits},
           bins_}};
    } else {
      return count;
    }
  }
  static constexpr std::size_t words_of_lists = 2 * sizeof(PassTable) / sizeof(std::uint64_t);
  static_assert(sizeof(Route) % sizeof(std::uint64_t) == 0 &&
                sizeof(PassTable) % sizeof(std::uint64_t) == 0);
  static_assert((sizeof(Route) + scratch_alignment) / sizeof(std::uint64_t) + words_of_lists <=
                HostBoard::most_words);
  /// The route is the last that is listed before them.
  std::size_t words_to_lists(const Route* route) const {
    return reinterpret_cast<const std::uint64_t*>(passes_) -
           reinterpret_cast<const std::uint64_t*>(route);
  }

  std::uint64_t* tickets() const {
    return bins_ + scratch_.sets * scratch_.most_passes * bin_count;
  }
  std::uint64_t* tails() const { return tickets() + scratch_.most_passes; }
  LookBack<ExecutionSpace> first_look_back() const {
    return LookBack<ExecutionSpace>::of(words_, tails(), scratch_.look_back, plan_.tiles);
  }

  template <class TakeOut, class Heavy>
  TakeOut taking_out(const Heavy* heavy) const {
    const auto to_other = [](const auto& array) {
      auto moved = array;
      moved.result = array.other;
      return moved;
    };
    SortBuffers<Key, Value> buffers = buffers_;
    buffers.keys = to_other(buffers_.keys);
    buffers.values = to_other(buffers_.values);
    buffers.leaves_keys = false;
    const int last = scratch_.most_passes - 1;
    LookBack<ExecutionSpace> look_back = first_look_back().of_pass(last);
    look_back.start_at(0);
    return {buffers,
            {heavy},
            TakeOut::Tiles::of(plan_.count),
            &heavy->taking,
            codes_of_heavy(),
            tickets() + last,
            look_back,
            0};
  }

  template <class Work>
  void in_tiles_of_plan(const Work& work) {
    if constexpr (ShortShape.exists()) {
      if (plan_.tile == static_cast<std::size_t>(ShortShape.round())) {
        work.template operator()<ShortShape>();
        return;
      }
    }
    work.template operator()<Shape>();
  }
  /// Of long keys. (Short ones lose no more by one kernel for both than launches cost.)
  static constexpr bool has_special_sweeps = teams_stay<Key> && Moved<Codec>::some_are_special;
  using Swept = std::conditional_t<has_special_sweeps, MovedIfSpecial<Codec, false>, Moved<Codec>>;
  template <class Sweep>
  static constexpr bool goes_on =
      Sweep::stays && !Sweep::Moving::some_are_special &&
      may_go_on({Sweep::threads, Sweep::items}, sizeof(Key), with_values ? sizeof(Value) : 0);

  template <class Sweep>
  void sweep(const char* name, const PassTable* passes, int pass, const TileLookBack& look_back,
             std::uint64_t* done) {
    constexpr TeamShape shape{Sweep::threads, Sweep::items, Sweep::teams};
    launch<shape>(name, Sweep::stays ? std::min(plan_.tiles, resident_teams<shape>()) : plan_.tiles,
                  Sweep::scratch_bytes(),
                  Sweep{buffers_, codec_, Sweep::Tiles::of(plan_.count), passes, bins_,
                        tickets() + pass, look_back, pass, special(), done});
  }
  std::uint64_t* special() const { return bins_ + scratch_.extra / sizeof(std::uint64_t) - 1; }
  std::uint64_t* counted() const { return special() - 1; }
  std::uint64_t* swept() const { return counted() - plan_.passes; }

  /// The first pass finds no order of equal keys that would show.
  static constexpr bool may_spread = !with_values && Codec::tells_all_keys_apart;
  bool spreads_first() const { return may_spread && plan_.passes > 0 && !keeps_order(); }

  void spread(const Route* route, const PieceArrays<Bits>& arrays) {
    if constexpr (may_spread) {
      using Spread = SpreadTile<ExecutionSpace, Codec, SpreadShape>;
      const auto tiling = Spread::Tiles::of(plan_.count);
      launch<SpreadShape>(
          "SpreadTile", tiling.tiles(), Spread::scratch_bytes(),
          Spread{buffers_.keys, codec_, tiling, passes_, bins_, nullptr, route, arrays});
    }
  }

  /// Each adds its counts to those of all in the end: few keys are not worth that.
  std::size_t counting_teams() const {
    constexpr std::size_t least = is_host_space<ExecutionSpace> ? 1 : std::size_t{1} << 14;
    const std::size_t teams = std::min(plan_.tiles, resident_teams<count_digits_with>());
    return std::clamp<std::size_t>(plan_.count / least, 1, teams);
  }

  CountAll all_digits(int first_row, Route* route) const {
    return {buffers_.keys.in,
            codec_,
            plan_.count,
            digits(),
            bins_ + first_row * bin_count,
            route,
            route != nullptr ? route->varying : nullptr,
            with_values,
            equal_keys_differ(codec_, digits()),
            buffers_.keys.other,
            AheadOfProof<Key, Value>::of(buffers_, plan_.count)};
  }

  const ExecutionSpace& exec_;
  const Plan& plan_;
  Codec codec_;
  SortBuffers<Key, Value> buffers_;
  const OnesweepScratch& scratch_;
  std::string label_;
  std::uint32_t* words_;
  std::uint64_t* bins_;
  PassTable* passes_;
};

}  // namespace kradix::impl
