// Two bits a pass with implicit counting, and pairs that travel side by side.
//
// Ha, Krueger and Silva, "Implicit radix sorting on GPUs" (2010): three 10-bit counts share a word and the
// fourth follows from the index; tiles are put in order first; between the passes a key and its value
// are one structure (AoS), at the ends of the sort they are in two arrays (SoA).
#pragma once

#include "kradix/impl/device/copy_sorted_tile.hpp"
#include "kradix/impl/study_sort.hpp"

namespace kradix::impl {

template <class ExecutionSpace>
inline constexpr TeamShape implicit_shape = study_shape(Algorithm::ha_kruger_silva,
                                                        is_host_space<ExecutionSpace>);

/// Counts of digits 0, 1 and 2 in one word. Digit 3 adds nothing: it has what the others leave of the index.
struct ImplicitCounts {
  static constexpr int count_bits = 10;
  static constexpr std::uint32_t count_mask = (1u << count_bits) - 1;
  std::uint32_t bits;

  KOKKOS_FUNCTION void add(std::uint32_t digit) {
    bits += static_cast<std::uint32_t>(digit != 3) << (count_bits * digit & 31u);
  }
  /// How many of the digit are among the first `index` elements that were added.
  KOKKOS_FUNCTION std::uint32_t of(std::uint32_t digit, std::uint32_t index) const {
    const std::uint32_t counted[3] = {bits & count_mask, bits >> count_bits & count_mask,
                                      bits >> (2 * count_bits)};
    return digit == 0   ? counted[0]
           : digit == 1 ? counted[1]
           : digit == 2 ? counted[2]
                        : index - counted[0] - counted[1] - counted[2];
  }
};

/// Moves pairs between two arrays and one array of pairs, in either direction, or from pairs to pairs.
template <class Word, class Value>
struct MixedMover {
  struct alignas(2 * (sizeof(Word) > sizeof(Value) ? sizeof(Word) : sizeof(Value))) Pair {
    Word key;
    Value value;
  };
  const Pair* pairs_in;  ///< null: `apart` reads
  Pair* pairs_out;       ///< null: `apart` writes
  Mover<Word, Value> apart;

  KOKKOS_FUNCTION Word key(std::size_t from) const {
    return pairs_in ? pairs_in[from].key : apart.keys_in[from];
  }
  KOKKOS_FUNCTION void operator()(std::size_t from, Place to) const {
    const Pair pair = pairs_in ? pairs_in[from] : Pair{apart.keys_in[from], apart.value(from)};
    if (pairs_out) {
      pairs_out[to] = pair;
    } else {
      if (apart.keys_out) apart.keys_out[to] = pair.key;
      apart.values_out[to] = pair.value;
    }
  }
};

/// A pass in two steps whose elements lie in pairs wherever neither the caller's input nor its result does.
template <class ExecutionSpace, class Word, class Value>
struct MixedPass : CodePass<ExecutionSpace, Word, Value> {
  using Elements = MixedMover<Word, Value>;
  typename Elements::Pair *ordered, *whole;  ///< within tiles, and after the pass

  KOKKOS_FUNCTION Elements first_step() const {
    return {this->pass == 0 ? nullptr : whole, ordered,
            CodePass<ExecutionSpace, Word, Value>::first_step()};
  }
  KOKKOS_FUNCTION Elements second_step() const {
    const bool last = this->pass == this->passes->count - 1;
    return {ordered, last ? nullptr : whole, CodePass<ExecutionSpace, Word, Value>::second_step()};
  }
};

/// A tile in order of its digit: count, scan, scatter within the tile. `Pass` says where elements lie.
template <class Pass, TeamShape Shape>
struct PresortTile : Pass {
  using Team = typename Pass::Team;
  static_assert(Shape.round() <= static_cast<int>(ImplicitCounts::count_mask));

  Place* counts;  ///< [digit][tile]

  static std::size_t scratch_bytes() { return Shape.round() * sizeof(std::uint32_t) + 32; }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (this->idle()) return;
    auto* const from = take_scratch<std::uint32_t>(team, Shape.round());
    const auto reader = this->reader();
    const auto move = this->first_step();
    const Share tile = this->tile_of(team);
    const int size = static_cast<int>(tile.end - tile.begin);
    const Run run = run_of_thread(team.team_rank(), size);
    ImplicitCounts mine{0};
    for (int i = run.begin; i < run.end; ++i) mine.add(reader.of(move.key(tile.begin + i)));
    const TeamSum<std::uint32_t> sum = scan_team<Shape.threads>(team, mine.bits);
    const ImplicitCounts all{sum.total};
    const std::uint32_t first_one = all.of(0, size), first_two = first_one + all.of(1, size),
                        first_three = first_two + all.of(2, size);
    ImplicitCounts before{sum.before};
    for (int i = run.begin; i < run.end; ++i) {
      const std::uint32_t digit = reader.of(move.key(tile.begin + i));
      const std::uint32_t first = digit == 0   ? 0
                                  : digit == 1 ? first_one
                                  : digit == 2 ? first_two
                                               : first_three;
      from[first + before.of(digit, i)] = i;
      before.add(digit);
    }
    team.team_barrier();
    for (int p = team.team_rank(); p < size; p += Shape.threads) {
      move(tile.begin + from[p], tile.begin + p);
    }
    const auto digit = static_cast<std::uint32_t>(team.team_rank());
    if constexpr (Shape.threads == 1) {
      for (std::uint32_t d = 0; d < 4; ++d) count(team, d) = all.of(d, size);
    } else {
      if (digit < 4) count(team, digit) = all.of(digit, size);
    }
  }

  KOKKOS_FUNCTION static Run run_of_thread(int thread, int size) {
    const int begin = thread * Shape.items, end = begin + Shape.items;
    return {begin < size ? begin : size, end < size ? end : size};
  }
  KOKKOS_FUNCTION Place& count(const Team& team, std::uint32_t digit) const {
    return counts[digit * this->tiles + static_cast<std::size_t>(team.league_rank())];
  }
};

template <class ExecutionSpace, class Word, class Value>
class HaKrugerSilva
    : public TableSort<ExecutionSpace, Word, Value, implicit_shape<ExecutionSpace>> {
  using Base = TableSort<ExecutionSpace, Word, Value, implicit_shape<ExecutionSpace>>;
  using Base::launch, Base::pass_, Base::plan_, Base::table_;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;

 public:
  struct Scratch {
    typename Base::Scratch table;
    Slot ordered, whole;  ///< pairs, in the mixed layout
    static Scratch list(const Plan& plan, ScratchList& list) {
      Scratch scratch;
      scratch.table = Base::Scratch::list(plan, list);
      const bool mixed = plan.value_bytes > 0 && !plan.study.separate_arrays;
      const std::size_t pairs = mixed ? plan.count : 0;
      const auto pair_bytes =
          2 * static_cast<std::size_t>(std::max(plan.key_bytes, plan.value_bytes));
      scratch.ordered = list.add(pairs, pair_bytes);
      scratch.whole = list.add(plan.passes > 1 ? pairs : 0, pair_bytes);
      return scratch;
    }
  };

  static void sort(const typename Base::Call& call) { HaKrugerSilva(call).run(call.scratch); }

 private:
  using Base::Base;

  void run([[maybe_unused]] std::byte* base) {
    this->set_range();
    if constexpr (with_values) {
      if (!plan_.study.separate_arrays) {
        ScratchList list;
        const Scratch scratch = Scratch::list(plan_, list);
        using Mixed = MixedPass<ExecutionSpace, Word, Value>;
        using Pair = typename Mixed::Elements::Pair;
        run_passes(Mixed{pass_, scratch.ordered.template in<Pair>(base),
                         scratch.whole.template in<Pair>(base)});
        return this->settle();
      }
    }
    run_passes(pass_);
    this->settle();
  }

  template <class Pass>
  void run_passes(Pass pass) {
    using Presort = PresortTile<Pass, Base::shape>;
    using CopyTile = CopySortedTile<Pass, Base::shape.threads>;
    for (pass.pass = 0; pass.pass < plan_.passes; ++pass.pass) {
      pass_.pass = pass.pass;
      launch("PresortTile", plan_.tiles, Presort::scratch_bytes(), Presort{pass, table_});
      this->scan_table();
      launch("CopySortedTile", plan_.tiles,
             CopyTile::scratch_bytes(plan_.digit_bits, Base::shape.round()),
             CopyTile{pass, table_});
    }
  }
};

}  // namespace kradix::impl
