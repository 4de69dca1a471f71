// A stable H-P sort as the digit pass of a radix sort, for keys with or without values.
//
// Kozakai, Fujimoto and Wada sort by histogram and prefix sums twice and leave a stable form to future work.
// Here both halves keep order: the first histogram and prefix sums are over (digit, tile), the second,
// in each tile, over (digit, thread), and every thread walks through its elements in order.
#pragma once

#include "kradix/impl/device/tile_order.hpp"
#include "kradix/impl/study_sort.hpp"

namespace kradix::impl {

template <class ExecutionSpace>
inline constexpr TeamShape hp_stable_shape = study_shape(Algorithm::hp_stable,
                                                         is_host_space<ExecutionSpace>);

/// The tile's part of both halves: counters [digit][thread], each thread's its own.
template <class ExecutionSpace, class Word, class Value>
struct HpTile : CodePass<ExecutionSpace, Word, Value> {
  using Team = TeamMember<ExecutionSpace>;
  using Counter = std::uint16_t;
  static constexpr TeamShape shape = hp_stable_shape<ExecutionSpace>;
  static_assert(shape.round() < 1 << 16);

  Place* table;  ///< [digit][tile]

  static std::size_t counter_bytes(int digit_bits) {
    return (static_cast<std::size_t>(shape.threads) << digit_bits) * sizeof(Counter) + 16;
  }

  KOKKOS_FUNCTION int counter_count() const { return shape.threads << this->width; }
  KOKKOS_FUNCTION Place& place(std::uint32_t digit, const Team& team) const {
    return table[digit * this->tiles + static_cast<std::size_t>(team.league_rank())];
  }

  /// Histogram of (digit, thread), then its exclusive prefix sums.
  KOKKOS_FUNCTION void count_and_scan(const Team& team, const Word* keys, int size,
                                      Counter* counters) const {
    const CodeReader<Word> reader = this->reader();
    const int thread = team.team_rank();
    for (int i = thread; i < counter_count(); i += shape.threads) counters[i] = 0;
    team.team_barrier();
    const Run run = run_of<shape.threads>(size, thread);
    for (int i = run.begin; i < run.end; ++i) {
      ++counters[reader.of(keys[i]) * shape.threads + thread];
    }
    team.team_barrier();
    scan_scratch<shape.threads>(team, counters, counter_count());
  }

  /// Elements of the tile before those of this digit.
  KOKKOS_FUNCTION std::uint32_t first(const Counter* counters, int digit, int size) const {
    return digit < 1 << this->width ? counters[digit * shape.threads] : size;
  }
};

/// First histogram.
template <class ExecutionSpace, class Word, class Value>
struct CountHpTile : HpTile<ExecutionSpace, Word, Value> {
  using Base = HpTile<ExecutionSpace, Word, Value>;
  static std::size_t scratch_bytes(int digit_bits) { return Base::counter_bytes(digit_bits); }

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (this->idle()) return;
    auto* const counters = take_scratch<typename Base::Counter>(team, this->counter_count());
    const Share tile = this->tile_of(team);
    const int size = static_cast<int>(tile.end - tile.begin);
    this->count_and_scan(team, this->source_keys() + tile.begin, size, counters);
    for (int d = team.team_rank(); d < 1 << this->width; d += Base::shape.threads) {
      this->place(d, team) = this->first(counters, d + 1, size) - this->first(counters, d, size);
    }
  }
};

/// Second histogram and prefix sums: places in the tile, and from them places in the whole.
template <class ExecutionSpace, class Word, class Value>
struct PlaceHpTile : HpTile<ExecutionSpace, Word, Value> {
  using Base = HpTile<ExecutionSpace, Word, Value>;
  static std::size_t scratch_bytes(int digit_bits) {
    return Base::counter_bytes(digit_bits) + (std::size_t{1} << digit_bits) * sizeof(Place) +
           Base::shape.round() * sizeof(std::uint32_t) + 32;
  }

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (this->idle()) return;
    auto* const counters = take_scratch<typename Base::Counter>(team, this->counter_count());
    auto* const offset = take_scratch<Place>(team, std::size_t{1} << this->width);
    auto* const words = take_scratch<std::uint32_t>(team, Base::shape.round());
    const auto move = this->straight();
    const Share tile = this->tile_of(team);
    const int size = static_cast<int>(tile.end - tile.begin);
    const Word* const keys = move.keys_in + tile.begin;
    this->count_and_scan(team, keys, size, counters);
    for (int d = team.team_rank(); d < 1 << this->width; d += Base::shape.threads) {
      offset[d] = this->place(d, team) - this->first(counters, d, size);
    }
    team.team_barrier();
    order(team, keys, size, counters, words);
    for (int p = team.team_rank(); p < size; p += Base::shape.threads) {
      move(tile.begin + TileWord::index(words[p]), offset[TileWord::digit(words[p])] + p);
    }
  }

  KOKKOS_FUNCTION void order(const TeamMember<ExecutionSpace>& team, const Word* keys, int size,
                             typename Base::Counter* counters, std::uint32_t* words) const {
    const CodeReader<Word> reader = this->reader();
    const int thread = team.team_rank();
    const Run run = run_of<Base::shape.threads>(size, thread);
    for (int i = run.begin; i < run.end; ++i) {
      const std::uint32_t digit = reader.of(keys[i]);
      words[counters[digit * Base::shape.threads + thread]++] = TileWord::make(digit, i);
    }
    team.team_barrier();
  }
};

template <class ExecutionSpace, class Word, class Value>
class HpStable : public TableSort<ExecutionSpace, Word, Value, hp_stable_shape<ExecutionSpace>> {
  using Base = TableSort<ExecutionSpace, Word, Value, hp_stable_shape<ExecutionSpace>>;
  using Base::launch, Base::pass_, Base::plan_, Base::table_;

 public:
  static void sort(const typename Base::Call& call) { HpStable(call).run(); }

 private:
  using Base::Base;
  using Count = CountHpTile<ExecutionSpace, Word, Value>;
  using PlaceTile = PlaceHpTile<ExecutionSpace, Word, Value>;

  void run() {
    this->set_range();
    for (pass_.pass = 0; pass_.pass < plan_.passes; ++pass_.pass) {
      launch("CountHpTile", plan_.tiles, Count::scratch_bytes(plan_.digit_bits),
             Count{{pass_, table_}});
      this->scan_table();
      launch("PlaceHpTile", plan_.tiles, PlaceTile::scratch_bytes(plan_.digit_bits),
             PlaceTile{{pass_, table_}});
    }
    this->settle();
  }
};

}  // namespace kradix::impl
