// One distributed sort, from the check of its arguments to its report.
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <mpi.h>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "kradix/impl/mpi/agreement.hpp"
#include "kradix/impl/mpi/columns.hpp"
#include "kradix/impl/mpi/communicator.hpp"
#include "kradix/impl/mpi/early_cuts.hpp"
#include "kradix/impl/mpi/exchange.hpp"
#include "kradix/impl/mpi/halves.hpp"
#include "kradix/impl/mpi/merge.hpp"
#include "kradix/impl/mpi/plan.hpp"
#include "kradix/impl/mpi/search.hpp"
#include "kradix/impl/mpi/second_instance.hpp"
#include "kradix/impl/mpi/spread_first.hpp"
#include "kradix/impl/mpi/transports.hpp"
#include "kradix/impl/mpi/two_level.hpp"
#include "kradix/mpi/report.hpp"

namespace kradix::impl::mpi {

template <class ExecutionSpace, class Keys, class... Values>
class SortCall {
  using Key = element_of<Keys>;
  using Codec = codec_of<Key>;
  using Space = typename ExecutionSpace::memory_space;
  using Columns = mpi::Columns<ExecutionSpace, Keys, Values...>;
  /// By their index where several arrays, or values of other sizes, travel.
  static constexpr bool can_merge =
      merge_exists<ExecutionSpace, key_word<Key>, typename Columns::Value>;
  static constexpr bool merges_words = can_merge && !Columns::by_index;
  template <class T>
  using Out = Loose<T, Space>;

 public:
  SortCall(const char* function, MPI_Comm parent, const ExecutionSpace& exec,
           const kradix::mpi::Options& options, const std::function<void()>& also_check,
           const Keys& keys, const Values&... values)
      : function_(function),
        comm_(Communicator::of(parent)),
        exec_(exec),
        options_(options),
        count_(keys.extent(0)),
        columns_(exec, keys, values...),
        label_(options.label ? options.label : "") {
    Verdict verdict;
    verdict.attempt([&] {
      const std::string name = std::string("mpi::") + function;
      (check_lengths(name.c_str(), "keys", keys.extent(0), "values", values.extent(0)), ...);
      check_options(function, options, Codec::bits, comm_.size());
      also_check();
    });
    require_alike(comm_, traits(), function, verdict);
    layout_ = make_layout(comm_, count_, options, function, verdict);
    verdict.agree(comm_.get(), function);
    choose();
  }

  /// `provide(count)` is called once, with the number of elements of this rank's result, and returns a
  /// tuple of pointers: to keys, then to values. What it throws, all ranks throw.
  template <class Provide>
  kradix::mpi::Report sort(const Provide& provide) {
    const Kokkos::Profiling::ScopedRegion region(label_ + "::mpi::sort");
    report_.seconds.check = lap();
    if (comm_.size() == 1 && report_.ranges == 1) return sort_alone(provide);
    const auto codec = make_codec<Key>(options_.order);
    if constexpr (floats_alone) {
      if (may_order_equal_keys()) return sort_by(total_order(codec), provide);
    }
    return sort_by(codec, provide);
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// With `stability` automatic, keys alone that compare equal and differ in bits are put in the order that
  /// kradix::sort gives them: then no two differ and are equal, on any rank.
  static constexpr bool floats_alone = [] {
    if constexpr (builtin_key<Key> && sizeof...(Values) == 0) {
      return key_kind<Key>() == KeyKind::floating;
    } else {
      return false;
    }
  }();
  bool may_order_equal_keys() const {
    return options_.stability != Stability::stable && all_bits_count();
  }
  bool all_bits_count() const { return options_.bits.begin == 0 && bits_end() == Codec::bits; }
  int bits_end() const {
    return options_.bits.end == BitRange::all ? Codec::bits : options_.bits.end;
  }

  /// Of one rank: a local sort, from where its keys are to where they are wanted.
  template <class Provide>
  kradix::mpi::Report sort_alone(const Provide& provide) {
    Verdict verdict;
    verdict.attempt([&] {
      ScratchList list;
      columns_.list(list, false, false);
      take_traffic(exec_, {});
      base_ = take(workspace().arrays, list);
      columns_.pack(base_, label_.c_str());
      const auto results = provide(count_);
      report_.seconds.allocate = lap();
      std::apply(
          [&](auto*... arrays) { columns_.sort_to(local_options(workspace().sort), arrays...); },
          results);
      exec_.fence(label_ + "::mpi: fence after the sort");
    });
    note_memory();
    verdict.agree(comm_.get(), function_);
    report_.seconds.sort = lap();
    finish_report();
    return report_;
  }

  template <class KeyCodec, class Provide>
  kradix::mpi::Report sort_by(const KeyCodec& key_codec, const Provide& provide) {
    const int width = bits_end() - options_.bits.begin;
    const RangeCodec<KeyCodec> codec(key_codec, options_.bits.begin, width);
    Search search(exec_, comm_, codec, width, targets_.size(), halves() ? 2 : 1, samples_of_rank(),
                  label_.c_str());
    EarlyCuts<ExecutionSpace, std::remove_const_t<decltype(codec)>> early(comm_, codec,
                                                                          label_.c_str());
    using Spread =
        std::conditional_t<may_travel_spread<typename Columns::Value> && may_spread_first<KeyCodec>,
                           SpreadFirst<ExecutionSpace, KeyCodec, typename Columns::Value>,
                           NoSpread>;
    Spread spread(exec_, comm_, key_codec, layout_, label_.c_str());
    take_scratch(search, early, spread);
    columns_.pack(base_, label_.c_str());
    // A sort tells what a survey would, but that all was sorted.
    const bool surveys = !sort_first() || !search.sees_disorder(part(false), base_);
    if (surveys) search.survey(part(false), base_);
    report_.seconds.survey = lap();

    report_.sorted_already = search.sorted();
    if constexpr (!std::is_same_v<Spread, NoSpread>) {
      if (spreads_ && !search.sorted() && sort_spread(spread, provide)) return report_;
    }
    if constexpr (merges_words) {
      if (halves() && !search.sorted()) return sort_halves(codec, search, surveys, early, provide);
    }
    if (!search.sorted() && sort_first()) sort_columns();
    if constexpr (merges_words) {
      if (merges()) mark(columns_.sending_keys(), count_);
    }
    report_.seconds.first_sort = lap();
    if (!surveys) search.survey_sorted({part(true)}, base_);

    const auto cuts = find_cuts(search);
    std::vector<std::uint64_t> places = search.places(cuts).front();
    if (guesses_ranges()) {
      const auto keys = part(true);
      const auto guessed = search.guess_ranges(keys, places, report_.ranges);
      places = with_ranges(places, search.below({keys}, guessed).front(), report_.ranges, count_);
    }
    report_.rounds = search.rounds();
    report_.seconds.splitters = lap();

    if (!search.sorted() && !sort_first()) {
      const auto bounds = bounds_of(cuts.front());
      if (!bounds.empty()) columns_.partition(codec, bounds, label_.c_str());
    }
    exec_.fence(label_ + "::mpi: fence before the exchange");
    report_.seconds.partition = lap();

    Routing routing(comm_, sizes_between(places, count_), report_.ranges);
    exchange_and_sort(codec, routing, provide);
    finish_report();
    return report_;
  }

  /// Keys leave when they are spread into cells (spread_first.hpp). False if they do not spread, and then nothing has changed.
  template <class Spread, class Provide>
  bool sort_spread(Spread& spread, const Provide& provide) {
    const bool anyway = options_.work == Work::spread_first;
    if (!spread.choose(columns_.given(), base_, anyway)) return false;
    report_.seconds.splitters = lap();
    spread.spread(columns_.spare());
    if (!spread.plan(spread_ranges_, anyway)) return false;
    report_.work = Work::spread_first;
    report_.ranges = spread.ranges();
    Verdict ready;
    typename Spread::Place result{};
    ready.attempt([&] {
      const auto mine = layout_.after[static_cast<std::size_t>(comm_.rank())];
      result = std::apply(words_at(0), provide(static_cast<std::size_t>(mine)));
      ScratchList list;
      spread.list_room(list);
      spread.place(take(workspace().sort, list));
    });
    note_memory();
    ready.agree(comm_.get(), function_);
    report_.seconds.partition = lap();

    Verdict moved;
    Verdict sorted;  // apart: a rank that cannot sort must still send
    moved.attempt([&] {
      std::vector<Pieces> batches;
      for (int range = 0; range < spread.ranges(); ++range) batches.push_back(spread.pieces(range));
      const auto under_way = traffic_->begin(std::move(batches), {});
      auto& twin = comm_.keep<TwinInstance<ExecutionSpace>>();
      for (int range = 0; range < spread.ranges(); ++range) {
        const ExecutionSpace& in_turn = range % 2 == 0 ? exec_ : twin.beside(exec_);
        under_way->next();
        if (range == 0) {  // beside which the first keys travel
          sorted.attempt([&] { spread.prepare(); });
          twin.follow(exec_);
        }
        second().precede(in_turn);
        sorted.attempt([&] { spread.finish(in_turn, range, result); });
      }
      twin.precede(exec_);
      under_way->finish();
      report_.seconds.exchange = lap();
      sorted.attempt([&] {
        spread.mend(result, [&](const typename Spread::Place& at, std::size_t count) {
          const Out<Key> keys(reinterpret_cast<Key*>(at.keys), count);
          if constexpr (sizeof...(Values) == 0) {
            sort_together(exec_, local_options(workspace().early), keys);
          } else {
            sort_together(exec_, local_options(workspace().early), keys,
                          Out<typename Columns::Value>(at.values, count));
          }
        });
      });
    });
    exec_.fence(label_ + "::mpi: fence after the sort");
    moved.agree(comm_.get(), function_);
    sorted.agree(comm_.get(), function_);
    note_memory();
    report_.seconds.sort = lap();
    finish_report();
    return true;
  }

  /// The first half leaves while the second is sorted (halves.hpp).
  template <class AnyCodec, class AnySearch, class AnyCuts, class Provide>
  kradix::mpi::Report sort_halves(const AnyCodec& codec, AnySearch& search, bool surveyed,
                                  AnyCuts& early, const Provide& provide) {
    using Halves = mpi::Halves<key_word<Key>, typename Columns::Value>;
    Verdict began;
    began.attempt([&] {
      const std::size_t first = first_half_of(count_);
      columns_.sort(local_options(workspace().sort), 0, first);
      early.take(exec_, columns_.spare_keys(), first, base_);
      second().follow(exec_);
      columns_.sort(local_options(workspace().sort), first, count_ - first);
      columns_.take_sorted();
    });
    note_memory();
    began.agree(comm_.get(), function_);

    Halves halves(comm_, columns_.sending_keys(), columns_.sending_values(), count_);
    const auto half = [&](int i) {
      return PartOfKeys<key_word<Key>>{halves.keys(i), halves.count(i), true, nullptr};
    };
    early.find(beside(), targets_, layout_.total);
    halves.guess(between_ranks(early.places()));
    Verdict ready;
    std::byte* room = nullptr;
    ready.attempt([&] {
      ScratchList list;
      halves.list_early(list);
      room = take(workspace().early, list, beside());
    });
    ready.agree(comm_.get(), function_);
    Verdict left;
    std::unique_ptr<Batches> leaving;
    left.attempt([&] {
      leaving = traffic_->begin({halves.early_pieces(room)}, {});
      leaving->next();
    });
    exec_.fence(label_ + "::mpi: fence after the first sort");
    left.attempt([&] { mark(halves.keys(1), halves.count(1)); });
    report_.seconds.first_sort = lap();

    if (!surveyed) search.survey_sorted({half(0), half(1)}, base_);
    auto places =
        search.places(search.exact({half(0), half(1)}, layout_.total, targets_of(layout_, 1)));
    if (report_.ranges > 1) {
      const auto below = search.below({half(0), half(1)}, early.cuts());
      for (int i = 0; i < 2; ++i) {
        places[i] = with_ranges(places[i], below[i], report_.ranges, halves.count(i));
      }
    }
    halves.route(places, report_.ranges, landmarks_);
    report_.rounds = search.rounds();
    report_.seconds.splitters = lap();
    left.attempt([&] {
      if (leaving) leaving->finish();
    });
    left.agree(comm_.get(), function_);
    report_.seconds.exchange = lap();

    Verdict verdict;
    typename MergeBy<AnyCodec>::Result result{};
    verdict.attempt([&] {
      result = std::apply(words_at(0),
                          provide(static_cast<std::size_t>(halves.range_begin(report_.ranges))));
      take_room(halves, 2 * comm_.size());
      wait_for_marks();
      wait_for_marks();
    });
    verdict.agree(comm_.get(), function_);
    note_memory();
    report_.seconds.allocate = lap();
    Verdict moved;
    Verdict sorted;  // apart: a rank that cannot sort must still send
    moved.attempt([&] {
      std::vector<Pieces> batches;
      for (int range = 0; range < report_.ranges; ++range) {
        batches.push_back(halves.late_pieces(range));
      }
      const auto rest = traffic_->begin(std::move(batches), halves.pieces_to_show());
      sorted.attempt([&] { halves.take_shown(*rest); });
      const int at_once = ranges_at_once();
      for (int range = 0; range < report_.ranges; range += at_once) {
        for (int i = 0; i < at_once; ++i) rest->next();
        second().precede(exec_);
        sorted.attempt([&] {
          MergeBy<AnyCodec>(exec_, codec, workspace().sort, label_.c_str(), &second())
              .run(halves.runs(range, at_once), result.moved_on(halves.range_begin(range)),
                   room_of(range));
        });
      }
      finish(*rest);
    });
    report_.seconds.exchange += lap();
    exec_.fence(label_ + "::mpi: fence after the sort");
    moved.agree(comm_.get(), function_);
    sorted.agree(comm_.get(), function_);
    report_.seconds.sort = lap();
    finish_report();
    return report_;
  }

  /// Where one merge reads what others show, there is nothing to wait for.
  int ranges_at_once() const { return landmarks_ ? report_.ranges : 1; }

  /// Nobody is told that this rank is done while its kernels read what others show.
  void finish(Batches& batches) {
    Verdict read;
    if (landmarks_) read.attempt([&] { exec_.fence(label_ + "::mpi: fence after the merge"); });
    batches.finish();
  }

  /// Sorted runs that are shown are marked beside what is searched for meanwhile.
  void mark(const key_word<Key>* keys, std::size_t count) {
    if (landmarks_) take_landmarks(beside(), label_ + "::mpi::", keys, count, landmarks_);
  }
  void wait_for_marks() {
    if (landmarks_) beside().fence(label_ + "::mpi: fence after landmarks were taken");
  }

  /// Of all cuts' places, those of cuts between ranks.
  std::vector<std::uint64_t> between_ranks(const std::vector<std::uint64_t>& all) const {
    std::vector<std::uint64_t> some;
    const auto ranges = static_cast<std::size_t>(report_.ranges);
    for (std::size_t i = ranges - 1; i < all.size(); i += ranges) some.push_back(all[i]);
    return some;
  }

  /// For what arrives late, and for merges of so many runs.
  template <class AnyHalves>
  void take_room(AnyHalves& halves, int runs) {
    ScratchList list;
    halves.list_late(list);
    const MergeSlots merges =
        list_merges(list, largest_range(halves), merge_levels(static_cast<std::size_t>(runs)) > 1);
    std::byte* const base = take(workspace().sort, list);
    halves.place_late(base);
    room_ = merges.in(base);
  }

  bool sort_first() const { return report_.work != Work::partition_first; }
  bool halves() const { return report_.work == Work::sort_halves; }
  SecondInstance<ExecutionSpace>& second() { return comm_.keep<SecondInstance<ExecutionSpace>>(); }
  const ExecutionSpace& beside() { return second().beside(exec_); }
  kradix::mpi::Workspace& workspace() { return options_.workspace ? *options_.workspace : own_; }

  /// Memory for what is listed.
  std::byte* take(kradix::Workspace& from, const ScratchList& list) {
    return take(from, list, exec_);
  }
  std::byte* take(kradix::Workspace& from, const ScratchList& list, const ExecutionSpace& exec) {
    return aligned_scratch(from.reserve(exec, bytes_to_map<ExecutionSpace>(list.bytes()),
                                        label_ + "::mpi::workspace"));
  }

  double lap() {
    const Clock::time_point now = Clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

  std::vector<Trait> traits() const {
    std::uint64_t value_bytes = 0;
    std::uint64_t position = 1;
    ((value_bytes += sizeof(element_of<Values>) * (position *= 257)), ...);
    std::vector<Trait> all{{"bytes of a key", sizeof(Key)},
                           {"kind of key", static_cast<std::uint64_t>(key_kind<Key>())},
                           {"bits of a key", static_cast<std::uint64_t>(Codec::bits)},
                           {"is the key a bfloat16", is_bfloat16<Key>},
                           {"number of value arrays", sizeof...(Values)},
                           {"fingerprint of the value sizes", value_bytes}};
    for (const Trait& trait : traits_of(options_)) all.push_back(trait);
    return all;
  }

  void choose() {
    Situation s;
    s.ranks = comm_.size();
    s.node_size = options_.node_size > 0 ? options_.node_size : comm_.node_size();
    s.total = layout_.total;
    s.element_bytes = (sizeof(Key) + ... + sizeof(element_of<Values>));
    s.on_host = is_host_space<ExecutionSpace>;
    s.partitions = Columns::partitions;
    s.merges = can_merge;
    report_.total = layout_.total;
    s.kept = layout_.kept;
    report_.route = choose_route(s, options_.route);
    s.halves = merges_words && options_.splitters.is_exact() && report_.route == Route::one_level;
    report_.transport = choose_transport<ExecutionSpace>(comm_, options_.transport,
                                                         fetching_hides(s, merges_words));
    s.fetches = report_.transport == Transport::peer && merges_words;
    s.beside = s.fetches || (report_.transport == Transport::nccl && merges_words && s.kept);
    s.spreads = !Columns::by_index && options_.splitters.is_exact() && all_bits_count() &&
                (!floats_alone || may_order_equal_keys()) && report_.route == Route::one_level;
    spreads_ = spreads_first(s, options_.work);
    spread_ranges_ = spread_ranges(s, options_.ranges);
    const Work otherwise = options_.work == Work::spread_first ? Work::automatic : options_.work;
    report_.ranges = choose_ranges(s, options_.ranges, otherwise);
    report_.work = choose_work(s, report_.ranges, otherwise);
    connect(exec_, comm_, report_.transport, function_);
    node_size_ = s.node_size;
    targets_ = targets_of(layout_, report_.ranges);
  }

  std::uint64_t samples() const {
    return options_.splitters.is_exact()
               ? 0
               : std::min(layout_.total, sample_size(comm_.size(), options_.splitters.epsilon()));
  }
  std::size_t samples_of_rank() const {
    if (layout_.total == 0) return 0;
    const double share = static_cast<double>(count_) / static_cast<double>(layout_.total);
    return static_cast<std::size_t>(static_cast<double>(samples()) * share) + 1;
  }

  /// Everything but the result and the temporaries of local sorts. Collective.
  template <class AnySearch, class AnyCuts, class AnySpread>
  void take_scratch(AnySearch& search, AnyCuts& early, AnySpread& spread) {
    Verdict verdict;
    verdict.attempt([&] {
      ScratchList list;
      columns_.list(list, !targets_.empty() || sort_first(), !targets_.empty() && !sort_first(),
                    spreads_ ? spread.gaps() : 0);
      if (spreads_) spread.list(list);
      search.list(list);
      if (halves()) early.list(list);
      const bool shows = this->shows();
      const Slot landmarks = list.add(shows ? (count_ >> landmark_bits) + 1 : 0, sizeof(Key));
      base_ = take(workspace().arrays, list);
      if (shows) landmarks_ = landmarks.in<key_word<Key>>(base_);
      if constexpr (is_host_space<ExecutionSpace>) {
        take_traffic(exec_, {});
      } else {
        const Shown stays{options_.workspace ? base_ : nullptr, list.bytes(), label_};
        take_traffic(beside(), stays);
      }
    });
    verdict.agree(comm_.get(), function_);
    note_memory();
  }

  void take_traffic(const ExecutionSpace& mover, const Shown& stays) {
    if (const auto& instead = comm_.keep<TrafficInstead>(); instead.make) {
      traffic_ = instead.make(comm_);
      return;
    }
    traffic_ = make_traffic(mover, comm_, report_.transport, options_.message_bytes,
                            options_.node_size, stays);
  }

  PartOfKeys<key_word<Key>> part(bool sorted) const {
    key_word<Key>* const spare = sorted || targets_.empty() ? nullptr : columns_.spare_keys();
    return {columns_.keys(), count_, sorted, spare};
  }

  kradix::Options local_options(kradix::Workspace& scratch) const {
    kradix::Options options;
    options.order = options_.order;
    options.bits = options_.bits;
    options.stability = options_.stability;
    options.workspace = &scratch;
    options.label = options_.label;
    return options;
  }

  void sort_columns() {
    Verdict verdict;
    verdict.attempt([&] {
      columns_.sort(local_options(workspace().sort), 0, count_);
      columns_.take_sorted();
      exec_.fence(label_ + "::mpi: fence after the first sort");
    });
    note_memory();
    if (!options_.workspace) own_.sort.release();
    verdict.agree(comm_.get(), function_);
  }

  template <class AnySearch>
  typename AnySearch::CutsOfParts find_cuts(AnySearch& search) {
    auto keys = part(report_.sorted_already || sort_first());
    if (!options_.splitters.is_exact()) {
      auto cuts = search.sampled(keys, layout_.total, targets_, samples());
      if (take_sizes(cuts)) {
        report_.exact = false;
        return {cuts};
      }
    }
    return search.exact({keys}, layout_.total,
                        guesses_ranges() ? targets_of(layout_, 1) : targets_);
  }
  /// Where ranges of one rank are cut in sorted runs says no more than when they are merged.
  bool guesses_ranges() const {
    return merges() && report_.ranges > 1 && comm_.size() > 1 && options_.splitters.is_exact();
  }

  /// The sizes that sampled cuts lead to; false, and nothing, if a rank would get too much.
  template <class Cuts>
  bool take_sizes(const Cuts& cuts) {
    Layout layout = layout_;
    const auto ranges = static_cast<std::size_t>(report_.ranges);
    std::uint64_t begin = 0;
    for (std::size_t r = 0; r < layout.after.size(); ++r) {
      const std::size_t last = (r + 1) * ranges - 1;  // the cut between this rank and the next
      const std::uint64_t end = last < cuts.size() ? cuts[last].target : layout.total;
      layout.after[r] = end - begin;
      begin = end;
    }
    const double share = static_cast<double>(layout.total) / static_cast<double>(comm_.size());
    const double most = (1 + options_.splitters.epsilon()) * share;
    const auto largest = *std::max_element(layout.after.begin(), layout.after.end());
    if (static_cast<double>(largest) > std::ceil(most)) return false;
    layout_ = layout;
    return true;
  }

  template <class AnyCodec, class Provide>
  void exchange_and_sort(const AnyCodec& codec, Routing& routing, const Provide& provide) {
    Verdict verdict;
    decltype(provide(std::size_t{0})) results;
    std::optional<TwoLevelExchange<ExecutionSpace>> through_nodes;
    if (report_.route == Route::two_level) {
      through_nodes.emplace(comm_, routing, report_.ranges, node_size_);
    }
    decltype(results) arrivals;
    verdict.attempt([&] {
      results = provide(static_cast<std::size_t>(routing.received()));
      if (reads_shown()) read_shown(routing);
      arrivals = !shown_ && arrive_aside(routing) ? aside(routing, results) : results;
      if (through_nodes) {
        through_nodes->allocate(std::max({sizeof(Key), sizeof(element_of<Values>)...}), label_);
        forwarding_bytes_ = through_nodes->bytes();
      }
    });
    verdict.agree(comm_.get(), function_);
    note_memory();
    report_.seconds.allocate = lap();
    Verdict moved;
    Verdict sorted;  // apart: a rank that cannot sort must still send
    if (shown_) {
      if constexpr (merges_words) merge_shown(codec, routing, moved, sorted, results);
    } else {
      move_ranges(codec, routing, through_nodes, moved, sorted, arrivals, results);
    }
    exec_.fence(label_ + "::mpi: fence after the sort");
    moved.agree(comm_.get(), function_);
    sorted.agree(comm_.get(), function_);
    note_memory();
    report_.seconds.sort += lap();
  }

  /// Is what arrives a sorted run of every rank?
  bool merges() const {
    return can_merge && sort_first() && !report_.sorted_already && comm_.size() <= most_merged_runs;
  }

  /// Merges need not end where they begin, so runs arrive in the memory that the first sort had, if that is kept: with
  /// room to be aligned, and no merge is followed by a copy.
  bool arrive_aside(const Routing& routing) const {
    return merges() && options_.workspace && levels(routing) > 0 &&
           (report_.ranges == 1 || !Columns::by_index);
  }
  /// Will the other rank read what this one has sorted where it lies? Of more than two each link carries a part alone, and it
  /// takes longer than copies beside merges.
  bool shows() const {
    const bool can = report_.transport == Transport::peer || comm_.keep<TrafficInstead>().make;
    return can && merges_words && report_.route == Route::one_level && comm_.size() == 2 &&
           (halves() || (sort_first() && layout_.kept));
  }
  bool reads_shown() const { return landmarks_ && merges(); }
  void read_shown(const Routing& routing) {
    shown_.emplace(comm_, routing,
                   PlaceOf<key_word<Key>, typename Columns::Value>{
                       const_cast<key_word<Key>*>(columns_.sending_keys()),
                       const_cast<typename Columns::Value*>(columns_.sending_values())},
                   landmarks_);
    ScratchList list;
    shown_->list(list);
    const MergeSlots merges = list_merges(list, largest_range(routing), false);
    std::byte* const base = take(workspace().sort, list);
    shown_->place(base);
    room_ = merges.in(base);
    wait_for_marks();
  }
  int levels(const Routing& routing) const {
    int most = 0;
    for (int range = 0; range < report_.ranges; ++range) {
      const auto runs = routing.runs(range);
      most =
          std::max(most, merge_levels(static_cast<std::size_t>(std::count_if(
                             runs.begin(), runs.end(), [](const Run& r) { return r.size > 0; }))));
    }
    return most;
  }
  /// Elements of this rank's largest range.
  template <class Arriving>
  std::size_t largest_range(const Arriving& arriving) const {
    std::uint64_t largest = 0;
    for (int range = 0; range < report_.ranges; ++range) {
      largest = std::max(largest, arriving.range_begin(range + 1) - arriving.range_begin(range));
    }
    return static_cast<std::size_t>(largest);
  }

  /// Of each range: tiles of one are searched for while others are merged.
  using RoomOfMerge = MergeRoom<key_word<Key>, typename Columns::Value>;
  RoomOfMerge room_of(int range) const {
    RoomOfMerge room = room_;
    if (room.splits) room.splits += static_cast<std::size_t>(range) * splits_of_range_;
    return room;
  }
  struct MergeSlots {
    Slot keys, values, splits;
    RoomOfMerge in(std::byte* base) const {
      return {keys.in<key_word<Key>>(base), values.in<typename Columns::Value>(base),
              splits.in<std::uint64_t>(base)};
    }
  };
  /// Of ranges of so many elements; `others`: in more than one level.
  MergeSlots list_merges(ScratchList& list, std::size_t largest, bool others) {
    const std::size_t count = others ? largest : 0;
    splits_of_range_ =
        largest > 0 ? most_splits<ExecutionSpace, key_word<Key>, typename Columns::Value>(largest)
                    : 0;
    return {list.add(count, sizeof(Key)), list.add(count, value_bytes_of<typename Columns::Value>),
            list.add(splits_of_range_ * static_cast<std::size_t>(report_.ranges),
                     sizeof(std::uint64_t))};
  }

  template <class... Ts>
  std::tuple<Ts*...> aside(Routing& routing, const std::tuple<Ts*...>&) {
    const bool ranges = report_.ranges > 1;
    const int levels = this->levels(routing);
    const bool others = ranges && levels > 1;
    if (report_.route == Route::one_level) {
      routing.align_arrivals();
      // Two write over what was sent, and an index tells places among what arrives.
      leaves_own_ = levels == 1 && !Columns::by_index;
    }
    const auto count = static_cast<std::size_t>(routing.room());
    ScratchList list;
    const std::array<Slot, sizeof...(Ts)> slots{list.add(count, sizeof(Ts))...};
    const bool has_room = leaves_own_ || ranges;
    const MergeSlots merges = list_merges(list, has_room ? largest_range(routing) : 0, others);
    std::byte* const base = take(workspace().sort, list);
    if (has_room) room_ = merges.in(base);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<Ts*...>(slots[I].template in<Ts>(base)...);
    }
    (std::index_sequence_for<Ts...>());
  }

  /// Range after range arrives; while the next one does, it is sorted.
  template <class AnyCodec, class... Ts>
  void move_ranges(const AnyCodec& codec, const Routing& routing,
                   std::optional<TwoLevelExchange<ExecutionSpace>>& through_nodes, Verdict& moved,
                   Verdict& sorted, const std::tuple<Ts*...>& arrivals,
                   const std::tuple<Ts*...>& results) {
    const std::vector<Column> columns =
        std::apply([&](auto*... arrays) { return columns_.to(arrays...); }, arrivals);
    // What was sent is not needed once all has arrived: its memory serves the local sort.
    kradix::Workspace& scratch = report_.ranges == 1 ? workspace().arrays : workspace().sort;
    const auto sort = [&](int range) {
      sorted.attempt([&] { sort_range(codec, routing, range, scratch, arrivals, results); });
    };
    if (through_nodes) {
      for (int range = 0; range < report_.ranges; ++range) {
        moved.attempt([&] {
          through_nodes->exchange(beside(), range, columns, *traffic_);
          beside().fence(label_ + "::mpi: fence after an exchange");
        });
        report_.seconds.exchange += lap();
        sort(range);
        report_.seconds.sort += lap();
      }
      return;
    }
    moved.attempt([&] {
      std::vector<Pieces> batches;
      for (int range = 0; range < report_.ranges; ++range) {
        batches.push_back(pieces_in_one_level(exec_, comm_, routing, range, columns, leaves_own_));
      }
      second().follow(exec_);  // which copies what stays
      const auto under_way = traffic_->begin(std::move(batches), {});
      for (int range = 0; range < report_.ranges; ++range) {
        under_way->next();
        second().precede(exec_);
        if (report_.ranges == 1) under_way->finish();  // the sort may write over what was sent
        report_.seconds.exchange += lap();
        sort(range);
        report_.seconds.sort += lap();
      }
      if (report_.ranges > 1) under_way->finish();
    });
    report_.seconds.exchange += lap();
  }

  /// Enqueued.
  template <class AnyCodec, class... Ts>
  void sort_range(const AnyCodec& codec, const Routing& routing, int range,
                  kradix::Workspace& scratch, const std::tuple<Ts*...>& arrivals,
                  const std::tuple<Ts*...>& results) {
    const std::uint64_t begin = routing.range_begin(range);
    const std::uint64_t size = routing.range_begin(range + 1) - begin;
    if (report_.sorted_already || size == 0) return;
    const auto for_results = [&](const auto& act) {
      std::apply([&](auto*... all) { act(Out<Ts>(all + begin, size)...); }, results);
    };
    if constexpr (can_merge) {
      if (merges()) {
        if constexpr (Columns::by_index) {
          if (std::get<0>(arrivals) != std::get<0>(results)) {
            merge_by_index(codec, routing, scratch, arrivals, results);
          } else {
            for_results([&](const auto&... out) {
              merge_by_index(codec, routing.runs(range), scratch, out...);
            });
          }
        } else {
          merge_words(codec, routing, range, scratch, std::apply(words_at(begin), arrivals),
                      std::apply(words_at(begin), results));
        }
        return;
      }
    }
    for_results([&](const auto&... out) { sort_together(exec_, local_options(scratch), out...); });
  }

  template <class AnyCodec>
  using MergeBy = Merge<ExecutionSpace, AnyCodec, typename Columns::Value>;

  template <class AnyCodec>
  void merge_words(const AnyCodec& codec, const Routing& routing, int range,
                   kradix::Workspace& scratch, const typename MergeBy<AnyCodec>::Result& from,
                   const typename MergeBy<AnyCodec>::Result& to) {
    std::vector<typename MergeBy<AnyCodec>::Run> runs;
    for (const Run& run : routing.runs(range)) {
      const auto begin = static_cast<std::int64_t>(run.begin);
      runs.push_back({from.keys + begin, moved_on(from.values, begin), run.size});
    }
    if (leaves_own_) {
      const auto own = static_cast<std::int64_t>(routing.to_begin(comm_.rank(), range));
      auto& run = runs[static_cast<std::size_t>(comm_.rank())];
      run = {columns_.sending_keys() + own, moved_on(columns_.sending_values(), own), run.size};
    }
    MergeBy<AnyCodec>(exec_, codec, scratch, label_.c_str(), &second())
        .run(std::move(runs), to, room_of(range));
  }

  template <class AnyCodec, class... Ts>
  void merge_shown(const AnyCodec& codec, const Routing& routing, Verdict& moved, Verdict& sorted,
                   const std::tuple<Ts*...>& results) {
    moved.attempt([&] {
      Pieces landmarks;
      shown_->add_landmarks(landmarks);
      const auto all = traffic_->begin({std::move(landmarks)}, shown_->pieces());
      all->next();
      second().precede(exec_);
      sorted.attempt([&] {
        shown_->take(*all);
        std::vector<typename MergeBy<AnyCodec>::Run> runs;
        for (int rank = 0; rank < comm_.size(); ++rank) {
          if (rank != comm_.rank()) {
            runs.push_back(shown_->run(rank, 0, report_.ranges));
            continue;
          }
          const auto own = static_cast<std::int64_t>(routing.to_begin(rank, 0));
          runs.push_back({columns_.sending_keys() + own, moved_on(columns_.sending_values(), own),
                          routing.to_all(rank)});
        }
        MergeBy<AnyCodec>(exec_, codec, workspace().sort, label_.c_str(), &second())
            .run(std::move(runs), std::apply(words_at(0), results), room_);
      });
      finish(*all);
    });
    report_.seconds.exchange += lap();
  }

  /// Runs that lie where they are wanted.
  template <class AnyCodec, class KeysOut, class... ValuesOut>
  void merge_by_index(const AnyCodec& codec, const std::vector<Run>& list,
                      kradix::Workspace& scratch, const KeysOut& keys, const ValuesOut&... values) {
    const std::string label = label_ + "::mpi::";
    const auto index = make_index(exec_, label, keys.extent(0));
    auto* const words = reinterpret_cast<key_word<Key>*>(keys.data());
    std::vector<typename MergeBy<AnyCodec>::Run> runs;
    for (const Run& run : list) {
      runs.push_back({words + run.begin, index.data() + run.begin, run.size});
    }
    MergeBy<AnyCodec>(exec_, codec, scratch, label_.c_str())
        .run(std::move(runs), {words, index.data()});
    follow_index(exec_, label, index, values...);
  }

  /// Runs that have arrived aside.
  template <class AnyCodec, class... Ts>
  void merge_by_index(const AnyCodec& codec, const Routing& routing, kradix::Workspace& scratch,
                      const std::tuple<Ts*...>& arrivals, const std::tuple<Ts*...>& results) {
    const std::string label = label_ + "::mpi::";
    const auto room = static_cast<std::size_t>(routing.room());
    const auto places = make_index(exec_, label, room);
    const decltype(places) index(
        Kokkos::view_alloc(exec_, Kokkos::WithoutInitializing, label + "merged"), room);
    const auto words = [](Key* keys) { return reinterpret_cast<key_word<Key>*>(keys); };
    std::vector<typename MergeBy<AnyCodec>::Run> runs;
    for (const Run& run : routing.runs(0)) {
      runs.push_back(
          {words(std::get<0>(arrivals)) + run.begin, places.data() + run.begin, run.size});
    }
    MergeBy<AnyCodec>(exec_, codec, scratch, label_.c_str())
        .run(std::move(runs), {words(std::get<0>(results)), index.data()});
    const auto gather = [&]<std::size_t... I>(std::index_sequence<I...>) {
      (gather_all(exec_, label, std::get<1 + I>(arrivals), index.data(), std::get<1 + I>(results),
                  static_cast<std::size_t>(routing.received())),
       ...);
    };
    gather(std::index_sequence_for<Values...>{});
    exec_.fence(label + "fence before the index goes");
  }

  static auto words_at(std::uint64_t place) {
    return [place](auto* keys, auto*... values) {
      typename Columns::Value* words = nullptr;
      ((words = reinterpret_cast<typename Columns::Value*>(values + place)), ...);
      return PlaceOf<key_word<Key>, typename Columns::Value>{
          reinterpret_cast<key_word<Key>*>(keys + place), words};
    };
  }

  void note_memory() {
    report_.temporary_bytes =
        std::max<std::uint64_t>(report_.temporary_bytes, workspace().bytes() + forwarding_bytes_);
  }

  void finish_report() {
    const auto begins = layout_.begins();
    report_.before = begins[static_cast<std::size_t>(comm_.rank())];
    const auto largest = *std::max_element(layout_.after.begin(), layout_.after.end());
    if (layout_.total > 0) {
      report_.imbalance =
          static_cast<double>(largest) * comm_.size() / static_cast<double>(layout_.total);
    }
    report_.bytes_sent = traffic_->bytes_sent();
    report_.messages_sent = traffic_->messages_sent();
    report_.seconds.total = std::chrono::duration<double>(Clock::now() - begin_).count();
  }

  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
  const char* function_;
  Communicator& comm_;
  const ExecutionSpace& exec_;
  const kradix::mpi::Options& options_;
  std::size_t count_;
  Columns columns_;
  std::string label_;
  int node_size_ = 1;
  Layout layout_;
  std::vector<std::uint64_t> targets_;
  kradix::mpi::Workspace own_;
  std::byte* base_ = nullptr;
  std::size_t forwarding_bytes_ = 0;
  key_word<Key>* landmarks_ = nullptr;  ///< of what is shown, if anything is
  std::optional<ShownRuns<key_word<Key>, typename Columns::Value>> shown_;  ///< instead of sent
  bool leaves_own_ = false;  ///< what stays on its rank is merged from where it is sent
  RoomOfMerge room_;
  std::size_t splits_of_range_ = 0;
  bool spreads_ = false;  ///< keys, if they turn out to spread; else as the report says
  int spread_ranges_ = 1;
  std::unique_ptr<Traffic> traffic_;
  kradix::mpi::Report report_;
};

/// The index in the whole of each of this rank's `count` elements. Collective.
template <class Indices, class ExecutionSpace>
Indices number_globally(MPI_Comm parent, const ExecutionSpace& exec, std::size_t count,
                        const char* label) {
  const Communicator& comm = Communicator::of(parent);
  const std::uint64_t mine = count;
  std::uint64_t first = 0;
  check(MPI_Exscan(&mine, &first, 1, MPI_UINT64_T, MPI_SUM, comm.get()), "MPI_Exscan");
  if (comm.rank() == 0) first = 0;  // else undefined
  Indices indices;
  Verdict verdict;
  verdict.attempt([&] {
    indices =
        number<Indices>(exec, std::string(label ? label : "") + "::mpi::", "indices", count, first);
  });
  verdict.agree(comm.get(), "argsort");
  return indices;
}

}  // namespace kradix::impl::mpi
