// Keys that are sorted by their topmost bits fall into runs that agree in them. Runs are gathered into
// chunks that fit a team's scratch; a run that does not fit is a chunk of its own.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/pass.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/value_cells.hpp"

namespace kradix::impl {

/// Where a chunk starts and how long it is, in one word.
struct Chunk {
  static constexpr int size_bits = 16;

  std::uint64_t word;

  /// Size 0: longer than a team's scratch; `LongRun` tells its end.
  KOKKOS_FUNCTION static Chunk make(std::size_t begin, std::size_t size) {
    return {static_cast<std::uint64_t>(begin) << size_bits | size};
  }
  KOKKOS_FUNCTION std::size_t begin() const { return word >> size_bits; }
  KOKKOS_FUNCTION int size() const { return static_cast<int>(word & ((1u << size_bits) - 1)); }
};

/// Chunks in device memory, as they were found.
struct ChunkList {
  std::uint64_t* words;
  std::uint64_t* count;

  KOKKOS_FUNCTION void add(Chunk chunk) const {
    words[Kokkos::atomic_fetch_add(count, std::uint64_t{1})] = chunk.word;
  }
  /// Those lanes of a group add one each.
  template <class L>
  KOKKOS_FUNCTION void add(Chunk chunk, typename L::Mask lanes, int lane) const {
    if (lanes == 0) return;
    const int before = L::rank_in(lanes, lane);
    const bool adds = (lanes >> lane & 1) != 0;
    std::uint32_t begin = 0;
    if (adds && before == 0) {
      begin = static_cast<std::uint32_t>(
          Kokkos::atomic_fetch_add(count, static_cast<std::uint64_t>(L::size_of(lanes))));
    }
    begin = L::from_first(begin, lanes);
    if (adds) words[begin + static_cast<std::uint32_t>(before)] = chunk.word;
  }
  KOKKOS_FUNCTION std::uint64_t size() const { return *count; }
  KOKKOS_FUNCTION Chunk at(std::uint64_t entry) const { return {words[entry]}; }
};

/// Those that fit a team's scratch, and what is left for others: long runs, and chunks that the finish gave up.
struct ChunkLists {
  ChunkList chunks, left;

  /// What could not be mended, where both lists lie.
  KOKKOS_FUNCTION ChunkList mended() const { return {chunks.words, left.count}; }

  /// In memory for twice as many words as there may be chunks.
  static ChunkLists of(std::uint64_t* words, std::size_t most, Route* route) {
    return {{words, &route->chunks}, {words + most, &route->left}};
  }
};

/// The end of a run that is a chunk of its own lies where the run does, in the array that is spare: it is
/// known while all runs lie still, and read when others may be moving theirs.
struct LongRun {
  static constexpr int bytes = 8;

  template <class Key>
  KOKKOS_FUNCTION static void set_end(Key* spare, std::size_t end) {
    static_assert(sizeof(Key) >= 4);  // and the run has more elements than two
    auto* const byte = reinterpret_cast<unsigned char*>(spare);
    for (int b = 0; b < bytes; ++b) byte[b] = static_cast<unsigned char>(end >> (8 * b));
  }
  template <class Key>
  KOKKOS_FUNCTION static std::size_t end(const Key* spare) {
    const auto* const byte = reinterpret_cast<const unsigned char*>(spare);
    std::size_t end = 0;
    for (int b = 0; b < bytes; ++b) end |= static_cast<std::size_t>(byte[b]) << (8 * b);
    return end;
  }
};

/// Keys that may be spread by splitters: words that are all there is to know of them, and long enough, where teams have room for
/// what that takes.
template <class ExecutionSpace, class Codec>
inline constexpr bool may_be_split = may_be_kind<Codec>&& invertible_codec<Codec> &&
                                     sizeof(typename Codec::key_type) == 8 &&
                                     (has_room_for_long_tiles || is_host_space<ExecutionSpace>);

/// Where splitters have spread keys, the least and the largest code that a chunk of two keys or more may hold lie in the same
/// array, at its place.
template <class Bits>
struct ChunkBounds {
  Bits low, high;

  template <class Key>
  KOKKOS_FUNCTION void set(Key* spare) const {
    spare[0] = static_cast<Key>(low);
    spare[1] = static_cast<Key>(high);
  }
  template <class Key>
  KOKKOS_FUNCTION static ChunkBounds of(const Key* spare) {
    return {static_cast<Bits>(spare[0]), static_cast<Bits>(spare[1])};
  }
};

/// Sizes of the lists. Of two chunks in a row that one window lists, the second did not fit the first; some more are
/// cut apart.
struct ChunkShape {
  std::size_t most;    ///< elements of a chunk
  std::size_t window;  ///< elements among which a group of lanes lists the chunks

  /// For so many elements in runs of such a length, if keys spread evenly. What is left of a window makes a short
  /// chunk, which takes nearly as long as a full one: a window is a few chunks of whole runs. They are found one
  /// after the other, so there are fewer where not all windows are looked at side by side.
  static ChunkShape of(std::size_t most, std::size_t count, std::size_t run) {
    constexpr std::size_t few = 2, many = 8, side_by_side = 8192;
    const std::size_t chunks = count / most < few * side_by_side ? few : many;
    const auto uneven = static_cast<std::size_t>(2 * std::sqrt(static_cast<double>(most)));
    const std::size_t length = std::max<std::size_t>(run, 1);
    const std::size_t runs = (most - std::min(most, uneven)) / length;
    return {most, runs > 0 ? chunks * runs * length : many * most};
  }
  std::size_t windows(std::size_t count) const { return (count + window - 1) / window; }
  std::size_t chunks(std::size_t count) const {
    return 2 * count / most + windows(count) * (1 + spare());
  }
  /// May a window of `all` elements, which has so many chunks, cut off one before the last `left`? Those may need two for
  /// each that they fill.
  KOKKOS_FUNCTION bool may_cut(std::size_t chunks, std::size_t left, std::size_t all) const {
    return chunks + 1 + 2 * left / most <= 2 * all / most + spare();
  }

 private:
  /// Chunks of a short window, beside those that it needs.
  KOKKOS_FUNCTION std::size_t spare() const { return window < 4 * most ? 2 : 0; }
};

/// Searches among keys that are sorted by the bits from `shift` up, by some lanes of a group at once: what all of them read
/// would take longer than a step more.
template <class ExecutionSpace, class Codec>
struct RunSearch {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using L = Lanes<ExecutionSpace>;
  static constexpr int looking = L::width < 8 ? L::width : 8;

  const Key* keys;
  Codec codec;
  Digit above;  ///< what agrees within a run
  Bits mask;

  KOKKOS_FUNCTION Bits run_of(std::size_t place) const {
    return (codec.encode(keys[place]) >> above.shift) & mask;
  }

  /// The first place of [begin, end) whose run is at least `run` (or, with `Beyond`, above it), or `end`.
  template <bool Beyond>
  KOKKOS_FUNCTION std::size_t first_at(Bits run, std::size_t begin, std::size_t end,
                                       int lane) const {
    while (begin < end) {
      const std::size_t step = (end - begin) / (looking + 1) + 1;
      const std::size_t probe = begin + (lane + 1) * step - 1;
      const bool short_of =
          lane < looking && probe < end && (Beyond ? run_of(probe) <= run : run_of(probe) < run);
      const int below = L::size_of(L::where(short_of));  // the lanes that do are the first ones
      begin += below * step;
      if (begin + step - 1 < end) end = begin + step - 1;
    }
    return end;
  }

  /// The first place at or after `place` at which a run starts.
  KOKKOS_FUNCTION std::size_t next_start(std::size_t place, std::size_t near, std::size_t count,
                                         int lane) const {
    if (place == 0 || place >= count) return place < count ? place : count;
    const Bits before = run_of(place - 1);
    if (run_of(place) != before) return place;
    return end_of(before, place, near, count, lane);
  }

  /// The end of a run, which most often is near.
  KOKKOS_FUNCTION std::size_t end_of(Bits run, std::size_t place, std::size_t near,
                                     std::size_t count, int lane) const {
    const std::size_t soon = place + near < count ? place + near : count;
    const std::size_t found = first_at<true>(run, place, soon, lane);
    return found < soon ? found : first_at<true>(run, soon, count, lane);
  }
};

/// A group of lanes lists the chunks that start in its window: as many whole runs as fit, then the next.
/// The last group of a team only finds where its window starts, for the one before. Where cells of keys have been counted
/// nobody need search: a window is a few of them.
template <class ExecutionSpace, class Codec, int Threads, bool MaySweepByValue = false>
struct ListChunks {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Search = RunSearch<ExecutionSpace, Codec>;
  using SearchCells = RunSearch<ExecutionSpace, ValueCodec<Key>>;  ///< of equal width in value
  template <class AnySearch>
  static constexpr bool is_of_cells = std::is_same_v<AnySearch, SearchCells>;
  static constexpr int groups = Threads / L::width;
  static constexpr int windows = groups > 1 ? groups - 1 : 1;  ///< of a team

  PassBuffers<Key> keys;
  Codec codec;
  std::size_t count;
  DigitList all;
  ChunkShape even;     ///< chunks of keys that spread
  ChunkShape crowded;  ///< and of those that are sorted digit by digit
  const PassTable* passes;
  const Route* route;
  ChunkLists lists;
  const std::uint64_t* ends;  ///< of cells, if keys are spread twice
  std::size_t alone;  ///< elements of a run beyond a chunk that FinishCrowded still has scratch for
  const std::uint64_t* split_ends =
      nullptr;                      ///< of cells between splitters, if those may spread keys
  const Bits* splitters = nullptr;  ///< where those cells begin
  const ValueSweeps<Key>* by_value = nullptr;  ///< if keys may be swept by that

  static std::size_t scratch_bytes() { return (groups + 1) * sizeof(std::size_t); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const bool otherwise = route->mends != 0 || route->leaves_suffixes() ||
                           passes->finishes == PassTable::gathering ||
                           passes->finishes == PassTable::dealing;
    if (!passes->finishes || passes->counts() || otherwise) return;
    const int group = team.team_rank() / L::width, lane = L::lane(team.team_rank());
    const ChunkShape shape = route->crowded != 0 ? crowded : even;
    const bool splits =
        may_be_split<ExecutionSpace, Codec> && passes->finishes == PassTable::splitting;
    if constexpr (MaySweepByValue) {
      if (route->spreads == Route::swept_by_value) {
        list_runs(team, shape,
                  SearchCells{keys.end(passes->count),
                              {&by_value->cells},
                              {0, 0},
                              low_mask<std::uint32_t>(Route::cell_bits)});
        return;
      }
    }
    if (splits || route->lists_cells()) {
      constexpr unsigned windows = Route::cells / L::width;
      const auto step = static_cast<unsigned>(team.league_size() * groups);
      // Chunks that a finish cannot sort lie side by side: others should come between.
      const unsigned apart = splits ? windows * 5 / 8 + 1 : 1;
      for (auto w = static_cast<unsigned>(team.league_rank() * groups + group); w < windows;
           w += step) {
        list_cells(static_cast<int>(w * apart % windows) * L::width, lane, splits, shape.most);
      }
      return;
    }
    const int shift = route->digits.begin;
    list_runs(team, shape,
              Search{keys.end(passes->count), codec, {shift, 0}, low_mask<Bits>(all.end - shift)});
  }

  template <class AnySearch>
  KOKKOS_FUNCTION void list_runs(const Team& team, const ChunkShape& shape,
                                 const AnySearch& search) const {
    const int group = team.team_rank() / L::width, lane = L::lane(team.team_rank());
    auto* const starts = take_scratch<std::size_t>(team, groups + 1);
    const std::size_t window = static_cast<std::size_t>(team.league_rank()) * windows + group;
    // A lone group finds both ends itself.
    for (int i = group; i <= windows; i += groups) {
      const std::size_t start =
          search.next_start((window - group + i) * shape.window, shape.most, count, lane);
      if (lane == 0) starts[i] = start;
    }
    team.team_barrier();
    if (group < windows) list(shape, search, starts[group], starts[group + 1], lane);
  }

  /// Of a cell for each lane. Whoever has the last cell of a chunk keeps it.
  KOKKOS_FUNCTION void list_cells(int first, int lane, bool splits, std::size_t most) const {
    const std::uint64_t* const ends = splits ? split_ends : this->ends;
    const std::size_t mine = ends[first + lane];
    std::size_t begin = first > 0 ? ends[first - 1] : 0;
    Chunk chunk{};
    bool ends_chunk = false;
    int listed = 0;  // cells
    while (listed < L::width) {
      const auto fit = L::where(mine <= begin + most);
      const int fitting = L::size_of(fit);
      const bool fits = fitting > listed;
      const int next = fits ? fitting : listed + 1;
      if (lane == next - 1) {
        const std::size_t size = mine - begin;
        ends_chunk = fits && size > (splits ? 1 : 0);  // (a lone key lies where it belongs)
        if (ends_chunk) chunk = Chunk::make(begin, size);
        if (may_be_split<ExecutionSpace, Codec> && splits) {
          tell_bounds(first + listed, first + next, begin, mine, most);
        } else if (!fits) {
          leave(begin, mine);
        }
      }
      begin = L::of_lane(mine, next - 1);
      listed = next;
    }
    lists.chunks.template add<L>(chunk, L::where(ends_chunk), lane);
  }

  /// Of cells side by side that make a chunk; or of one that is too long: as it is where all of its keys are the same.
  KOKKOS_FUNCTION void tell_bounds(int cell, int next, std::size_t begin, std::size_t end,
                                   std::size_t most) const {
    if constexpr (may_be_split<ExecutionSpace, Codec>) {
      const Bits low = splitters[cell];
      const auto high = next < Route::cells ? static_cast<Bits>(splitters[next] - 1)
                                            : static_cast<Bits>(~Bits{0});
      if (end - begin > most) {
        if (low != high) leave_long(begin, end);
      } else if (end - begin > 1) {
        ChunkBounds<Bits>{low, high}.set(keys.spare(passes->count) + begin);
      }
    }
  }

  template <class AnySearch>
  KOKKOS_FUNCTION void list(const ChunkShape& shape, const AnySearch& search, std::size_t begin,
                            std::size_t end, int lane) const {
    using Run = typename AnySearch::Bits;
    Chunk mine{};  // each lane keeps one, for the list has one place at which all are added
    int kept = 0;
    std::size_t chunks = 0;
    const std::size_t all = end - begin;
    Run run = begin < end ? search.run_of(begin) : Run{0};
    while (begin < end) {
      std::size_t next = end;
      std::size_t size = end - begin;
      Run beyond = 0;
      if (size > shape.most) {
        beyond = search.run_of(begin + shape.most);
        next = search.template first_at<false>(beyond, begin, begin + shape.most, lane);
        size = next - begin;
        if (size == 0) {
          next = search.end_of(beyond, begin + shape.most, shape.most, end, lane);
          beyond = next < end ? search.run_of(next) : beyond;
        }
      } else {
        beyond = search.run_of(end - 1);
      }
      if (size > 0) {
        while (are_sparse<AnySearch>(run, beyond, size)) {
          const std::size_t gap = gap_in(search, begin, next, run, lane);
          if (gap == next || !shape.may_cut(chunks, end - gap, all)) break;
          next = gap;
          size = next - begin;
          beyond = search.run_of(next);
        }
        if (lane == kept) mine = Chunk::make(begin, size);
        if (++kept == L::width) {
          lists.chunks.template add<L>(mine, L::where(lane < kept), lane);
          kept = 0;
        }
      } else if (lane == 0) {
        leave(begin, next);
      }
      begin = next;
      run = beyond;
      ++chunks;
    }
    lists.chunks.template add<L>(mine, L::where(lane < kept), lane);
  }

  /// A run that is too long for a chunk.
  KOKKOS_FUNCTION void leave(std::size_t begin, std::size_t end) const {
    const std::size_t size = end - begin;
    if (size <= alone) {
      (route->crowded != 0 ? lists.chunks : lists.left).add(Chunk::make(begin, size));
    } else {
      leave_long(begin, end);
    }
  }
  KOKKOS_FUNCTION void leave_long(std::size_t begin, std::size_t end) const {
    LongRun::set_end(keys.spare(passes->count) + begin, end);
    lists.left.add(Chunk::make(begin, 0));
  }

  /// Could many runs lie from the one to the other, few of them with more elements than some? Where keys spread evenly
  /// each has at least twice as many. (Cells by value: so many that keys of a smooth density may crowd at one end.)
  template <class AnySearch, class Run = typename AnySearch::Bits>
  KOKKOS_FUNCTION static bool are_sparse(Run first, Run last, std::size_t size) {
    constexpr std::size_t least_runs = is_of_cells<AnySearch> ? 1024 : 256, some = 8;
    const Run runs = static_cast<Run>(last - first);
    return runs > least_runs && runs > size / some;
  }

  /// Where a chunk is best cut, or `end`: at a gap beside which what lies before or behind takes no room at all. Keys
  /// would share counters of a finish, which span the gap.
  template <class AnySearch>
  KOKKOS_FUNCTION std::size_t gap_in(const AnySearch& search, std::size_t begin, std::size_t end,
                                     typename AnySearch::Bits first, int lane) const {
    using Run = typename AnySearch::Bits;
    const Run last = search.run_of(end - 1);
    if (!are_sparse<AnySearch>(first, last, end - begin)) return end;
    const int topmost = bit_width_of(static_cast<Run>(first ^ last)) - 1;
    const Run behind = static_cast<Run>(last >> topmost << topmost);
    const std::size_t gap = search.template first_at<false>(behind, begin, end, lane);
    if constexpr (is_of_cells<AnySearch>) return gap;  // half as wide a chunk has as many counters
    const Run before = search.run_of(gap - 1) - first, after = last - search.run_of(gap);
    constexpr int no_room_bits = 7;
    const Run no_room = static_cast<Run>((last - first) >> no_room_bits);
    return before < no_room || after < no_room ? gap : end;
  }
};

}  // namespace kradix::impl
