// Few elements sorted by all processors in one launch, whatever their keys: each team ranks a share of them among all, by comparing,
// and puts them where they belong.
//
// Comparison counting (Knuth, "The Art of Computer Programming" 3, 5.2, algorithm C), in parallel as by Muller and Preparata,
// "Bounds to complexities of networks for sorting and for switching" (1975).
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/meeting.hpp"
#include "kradix/impl/device/ranking.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/tuning.hpp"

namespace kradix::impl {

/// `Patience`: how often a team looks whether the others have read all, before it leaves its elements to the last of them.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape,
          int Patience = is_host_space<ExecutionSpace> ? 1 : 64>
struct RankAmongAll {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Count = typename L::Count;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr int threads = Shape.threads, groups = threads / L::width;
  /// A lane compares so many elements with each code that it reads; lanes side by side have others, and there are several such rows.
  static constexpr int each = Shape.items, row = L::width > 1 ? Ranking::at_once / each : 1;
  static constexpr int rows = L::width / row;
  static constexpr std::uint32_t at_once = each * row;
  static_assert(Ranking::at_once % at_once == 0);

  /// Codes side by side, read at once.
  struct alignas(16) Codes {
    static constexpr std::uint32_t size = 4;
    Bits code[size];
  };
  /// Of all codes so many are in scratch at a time.
  static constexpr std::uint32_t piece = (32 << 10) / sizeof(Bits), vectors = piece / Codes::size;
  static_assert(Ranking::at_once % Codes::size == 0);

  SortBuffers<Key, Value> buffers;
  Codec codec;
  Bits mask;  ///< of codes, in whose order they are sorted
  Ranking ranking;
  Meeting* meeting;      ///< if elements are sorted in place
  std::uint32_t* ranks;  ///< likewise: of those that are left to the last team

  struct Scratch {
    Bits mine[Ranking::most_share];
    Key keys[Ranking::most_share];
    std::conditional_t<with_values, Value, char> values[Ranking::most_share];
    std::uint32_t ranks[Ranking::most_share];
    Meeting::Turn turn;
    bool over, some_left;
    union {
      Codes all[vectors];
      Bits codes[piece];
    };
    KOKKOS_FUNCTION Scratch() {}
  };
  /// For fewer elements than a piece the end of it is not needed. (A kernel that asks for much scratch begins later.)
  KOKKOS_FUNCTION static std::size_t scratch_bytes(std::size_t count) {
    return sizeof(Scratch) - (count < piece ? (vectors - vectors_of(count)) * sizeof(Codes) : 0);
  }
  KOKKOS_FUNCTION static std::uint32_t vectors_of(std::size_t count) {
    return static_cast<std::uint32_t>((count + Codes::size - 1) / Codes::size);
  }
  /// A thread's own elements, while they are on their way.
  static constexpr int held = static_cast<int>(Ranking::most_share) / threads + 1;
  struct Elements {
    Key keys[held];
    std::conditional_t<with_values, Value, char> values[held];
  };

  /// Does a team write where others read?
  static bool is_in_place(const SortBuffers<Key, Value>& buffers) {
    const bool moves_values = with_values && !buffers.makes_indices;
    return (!buffers.leaves_keys && buffers.keys.in_place()) ||
           (moves_values && buffers.values.in_place());
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch_of<Scratch>(team, scratch_bytes(ranking.count));
    const auto index = static_cast<std::uint32_t>(team.league_rank());
    const std::uint32_t begin = index * ranking.share, left = ranking.count - begin;
    const std::uint32_t size = left < ranking.share ? left : ranking.share;
    const int thread = team.team_rank();
    const Work work = work_of(thread / L::width);
    // Loads of both kinds are under way at once.
    Elements elements;
    load(thread, begin, size, elements);
    const bool meets = meeting != nullptr && thread == 0;
    std::uint64_t before = 0;
    for (std::uint32_t first = 0; first < ranking.count; first += piece) {
      if (first > 0) team.team_barrier();
      const std::uint32_t all = vectors_from(first), part = (all - 1) / work.parts + 1;
      load_piece(thread, first, scratch);
      if (first == 0) begin_ranks(thread, size, scratch, elements);
      team.team_barrier();
      // What has been read lies in scratch: no load is under way any more.
      if (meets && ranking.count - first <= piece) {
        if constexpr (is_host_space<ExecutionSpace>) Kokkos::memory_fence();
        before = meeting->meet(index, ranking.teams);
      }
      compare(L::lane(thread), work, {work.part * part, (work.part + 1) * part}, all, first, begin,
              size, scratch);
    }
    if (meets) {
      const Meeting::Turn turn = Meeting::turn_of(before, index, ranking.teams);
      scratch.turn = turn;
      scratch.some_left = false;
      scratch.over = turn.last || meeting->template is_soon_over<L>(turn.end, Patience);
    }
    team.team_barrier();
    if (meeting == nullptr || scratch.over) {
      put(thread, size, scratch);
      if (meeting != nullptr && scratch.turn.last) put_what_others_left(team, scratch);
    } else {
      leave(team, index, begin, size, scratch);
    }
  }

 private:
  KOKKOS_FUNCTION Bits code_of(const Key& key) const {
    return static_cast<Bits>(codec.encode(key) & mask);
  }

  /// Calls `act` with each of a thread's own elements: which it is of the team's, and of the thread's.
  template <class Act>
  KOKKOS_FUNCTION static void each_own(int thread, std::uint32_t size, const Act& act) {
    KRADIX_UNROLL
    for (int h = 0; h < held; ++h) {
      const std::uint32_t i = thread + h * threads;
      if (i < size) act(i, h);
    }
  }

  KOKKOS_FUNCTION void load(int thread, std::uint32_t begin, std::uint32_t size,
                            Elements& elements) const {
    each_own(thread, size, [&](std::uint32_t i, int h) {
      elements.keys[h] = buffers.keys.in[begin + i];
      if constexpr (with_values) elements.values[h] = value(begin + i);
    });
  }
  KOKKOS_FUNCTION void begin_ranks(int thread, std::uint32_t size, Scratch& scratch,
                                   const Elements& elements) const {
    each_own(thread, size, [&](std::uint32_t i, int h) {
      scratch.keys[i] = elements.keys[h];
      if constexpr (with_values) scratch.values[i] = elements.values[h];
      scratch.mine[i] = code_of(elements.keys[h]);
      scratch.ranks[i] = 0;
    });
  }
  KOKKOS_FUNCTION Value value(std::uint32_t place) const {
    if constexpr (std::is_integral_v<Value>) {
      if (buffers.makes_indices) return static_cast<Value>(place);
    }
    return buffers.values.in[place];
  }

  /// What lies beyond the end comes behind all. Several loads are under way at once.
  KOKKOS_FUNCTION void load_piece(int thread, std::uint32_t first, Scratch& scratch) const {
    constexpr std::uint32_t batch = 4;
    const std::uint32_t left = ranking.count - first, size = vectors_from(first) * Codes::size;
    for (std::uint32_t place = thread; place < size; place += batch * threads) {
      Key key[batch];
      KRADIX_UNROLL
      for (std::uint32_t b = 0; b < batch; ++b) {
        const std::uint32_t i = place + b * threads;
        key[b] = buffers.keys.in[first + (i < left ? i : 0)];
      }
      KRADIX_UNROLL
      for (std::uint32_t b = 0; b < batch; ++b) {
        const std::uint32_t i = place + b * threads;
        if (i < size) scratch.codes[i] = i < left ? code_of(key[b]) : static_cast<Bits>(~Bits{0});
      }
    }
  }
  KOKKOS_FUNCTION std::uint32_t vectors_from(std::uint32_t first) const {
    const std::uint32_t left = ranking.count - first, size = left < piece ? left : piece;
    return vectors_of(size);
  }

  /// Vectors side by side.
  struct Bounds {
    std::uint32_t begin, end;
    KOKKOS_FUNCTION Bounds within(const Bounds& other) const {
      return {begin > other.begin ? begin : other.begin, end < other.end ? end : other.end};
    }
  };
  /// A group of lanes takes some of the team's own elements, round by round, and a part of all.
  struct Work {
    std::uint32_t round, step, rounds, part, parts;
  };
  KOKKOS_FUNCTION Work work_of(std::uint32_t group) const {
    const std::uint32_t rounds = ranking.share / at_once;
    if (rounds >= groups) return {group, groups, rounds, 0, 1};
    return {group % rounds, rounds, rounds, group / rounds, groups / rounds};
  }

  /// Adds up how many elements of a piece come before each of the team's own: of equal ones those that are there before it.
  KOKKOS_FUNCTION void compare(int lane, const Work& work, const Bounds& part, std::uint32_t all,
                               std::uint32_t first, std::uint32_t begin, std::uint32_t size,
                               Scratch& scratch) const {
    if (work.part >= work.parts) return;
    const Bounds mine = part.within({0, all});
    // The team's own elements lie among them, side by side.
    const std::uint32_t own = first < begin ? (begin - first) / Codes::size : 0;
    const std::uint32_t end_of_own = begin + size > first ? begin + size - first : 0;
    const std::uint32_t behind = (end_of_own + Codes::size - 1) / Codes::size;
    for (std::uint32_t round = work.round; round < work.rounds; round += work.step) {
      const std::uint32_t column = round * at_once + lane % row;
      Bits code[each];
      Count count[each];
      KRADIX_UNROLL
      for (int e = 0; e < each; ++e) {
        code[e] = scratch.mine[column + e * row];
        count[e] = 0;
      }
      each_code(mine.within({0, own}), lane / row, scratch, [&](const Bits& other, std::uint32_t) {
        KRADIX_UNROLL
        for (int e = 0; e < each; ++e) L::count_not_above(count[e], other, code[e]);
      });
      each_code(mine.within({own, behind}), lane / row, scratch,
                [&](const Bits& other, std::uint32_t place) {
                  KRADIX_UNROLL
                  for (int e = 0; e < each; ++e) {
                    const bool is_before = first + place < begin + column + e * row;
                    if (other < code[e] || (is_before && other == code[e])) count[e] += 1;
                  }
                });
      each_code(mine.within({behind, all}), lane / row, scratch,
                [&](const Bits& other, std::uint32_t) {
                  KRADIX_UNROLL
                  for (int e = 0; e < each; ++e) L::count_below(count[e], other, code[e]);
                });
      KRADIX_UNROLL
      for (int e = 0; e < each; ++e) {
        const auto sum = L::template sum_of_rows<row>(static_cast<std::uint32_t>(count[e]));
        if (lane < row) L::add(&scratch.ranks[column + e * row], sum);
      }
    }
  }
  /// Every so many lanes have a vector of their own.
  template <class Act>
  KOKKOS_FUNCTION static void each_code(const Bounds& of, int lanes_row, const Scratch& scratch,
                                        const Act& act) {
    for (std::uint32_t v = of.begin + lanes_row; v < of.end; v += rows) {
      const Codes codes = scratch.all[v];
      KRADIX_UNROLL
      for (std::uint32_t i = 0; i < Codes::size; ++i) act(codes.code[i], v * Codes::size + i);
    }
  }

  /// The team's own where they belong.
  KOKKOS_FUNCTION void put(int thread, std::uint32_t size, const Scratch& scratch) const {
    for (std::uint32_t i = thread; i < size; i += threads) {
      const std::uint32_t rank = scratch.ranks[i];
      if (!buffers.leaves_keys) buffers.keys.result[rank] = scratch.keys[i];
      if constexpr (with_values) buffers.values.result[rank] = scratch.values[i];
    }
  }

  KOKKOS_FUNCTION bool moves_keys_in_place() const {
    return !buffers.leaves_keys && buffers.keys.in_place();
  }
  KOKKOS_FUNCTION bool moves_values_in_place() const {
    return with_values && !buffers.makes_indices && buffers.values.in_place();
  }
  /// To the last team that comes, or, if that has come meanwhile, to nobody.
  KOKKOS_FUNCTION void leave(const Team& team, std::uint32_t index, std::uint32_t begin,
                             std::uint32_t size, Scratch& scratch) const {
    const int thread = team.team_rank();
    for (std::uint32_t i = thread; i < size; i += threads) {
      const std::uint32_t rank = scratch.ranks[i];
      ranks[begin + i] = rank;
      if (moves_keys_in_place()) {
        buffers.keys.other[begin + i] = scratch.keys[i];
      } else if (!buffers.leaves_keys) {
        buffers.keys.result[rank] = scratch.keys[i];
      }
      if constexpr (with_values) {
        if (moves_values_in_place()) {
          buffers.values.other[begin + i] = scratch.values[i];
        } else {
          buffers.values.result[rank] = scratch.values[i];
        }
      }
    }
    Kokkos::memory_fence();
    team.team_barrier();
    if (thread == 0) scratch.over = meeting->template leaves_too_late<L>(index, scratch.turn.end);
    team.team_barrier();
    if (scratch.over) put(thread, size, scratch);
  }
  KOKKOS_FUNCTION void put_what_others_left(const Team& team, Scratch& scratch) const {
    Kokkos::memory_fence();
    for (std::uint32_t t = team.team_rank(); t < ranking.teams; t += threads) {
      if (has_left(t, scratch)) scratch.some_left = true;
    }
    team.team_barrier();
    if (!scratch.some_left) return;
    for (std::uint32_t i = team.team_rank(); i < ranking.count; i += threads) {
      if (!has_left(i / ranking.share, scratch)) continue;
      const std::uint32_t rank = ranks[i];
      if (moves_keys_in_place()) buffers.keys.result[rank] = buffers.keys.other[i];
      if constexpr (with_values) {
        if (moves_values_in_place()) buffers.values.result[rank] = buffers.values.other[i];
      }
    }
  }
  KOKKOS_FUNCTION bool has_left(std::uint32_t team, const Scratch& scratch) const {
    return L::load(&meeting->left[team]) == scratch.turn.end;
  }
};

}  // namespace kradix::impl
