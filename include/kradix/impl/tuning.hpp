// Plain numbers that fit an algorithm to a machine.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>

namespace kradix::impl {

/// Do teams of this space run as one host thread each?
template <class ExecutionSpace>
inline constexpr bool is_host_space =
    Kokkos::SpaceAccessibility<ExecutionSpace, Kokkos::HostSpace>::accessible;

/// Is what a host thread launches on this space done when the launch returns?
template <class ExecutionSpace>
inline constexpr bool works_at_once = false;
#ifdef KOKKOS_ENABLE_SERIAL
template <>
inline constexpr bool works_at_once<Kokkos::Serial> = true;
#endif
#ifdef KOKKOS_ENABLE_OPENMP
template <>
inline constexpr bool works_at_once<Kokkos::OpenMP> = true;
#endif
#ifdef KOKKOS_ENABLE_THREADS
template <>
inline constexpr bool works_at_once<Kokkos::Threads> = true;
#endif

/// How a team works through its tile: `items` elements in registers of each of `threads` threads, or
/// (items = 0) one thread that partitions a round of run-time length in its cache.
/// `teams` of them should fit a processor at once, which bounds the registers of a thread (0: no wish).
struct TeamShape {
  int threads;
  int items;
  int teams = 0;
  constexpr bool exists() const { return threads > 0; }
  constexpr bool serial() const { return items == 0; }
  KOKKOS_FUNCTION constexpr int round() const { return threads * items; }
};

/// Were the shapes below measured on this machine's architecture? Hosts size by the caches that they find.
template <class ExecutionSpace>
inline constexpr bool has_measured_shapes =
#ifdef KOKKOS_ARCH_HOPPER90
    true;
#else
    is_host_space<ExecutionSpace>;
#endif

/// Scratch memory of a processor, of which its teams have a share each.
inline constexpr int processor_scratch_bytes =
#if defined(KOKKOS_ARCH_HOPPER90) || defined(KOKKOS_ARCH_BLACKWELL100)
    228 << 10;
#elif defined(KOKKOS_ARCH_AMPERE80) || defined(KOKKOS_ARCH_AMPERE87)
    164 << 10;
#elif defined(KOKKOS_ARCH_AMPERE86) || defined(KOKKOS_ARCH_ADA89) || \
    defined(KOKKOS_ARCH_BLACKWELL120)
        100 << 10;
#elif defined(KOKKOS_ARCH_VOLTA70) || defined(KOKKOS_ARCH_VOLTA72)
        96 << 10;
#else
        64 << 10;
#endif

/// Scratch memory of a team. Kokkos 5.2 asks CUDA for more than the 48 KB that it gives unasked (5.2.2 does; releases before
/// have not been looked at). What else than an H100's or an H200's teams would do with it has not been measured.
inline constexpr int team_scratch_bytes =
#if defined(KOKKOS_ARCH_HOPPER90) && KOKKOS_VERSION >= 50202
    216 << 10;
#else
    48 << 10;
#endif
inline constexpr bool has_room_for_long_tiles = team_scratch_bytes > 48 << 10;

/// No more teams at once than a processor has scratch for: a wish for more would only take registers
/// from those that run.
constexpr TeamShape fitted(TeamShape shape, int team_bytes,
                           int processor_bytes = processor_scratch_bytes) {
  const int most = processor_bytes / team_bytes;
  if (shape.teams > most) shape.teams = most > 1 ? most : 1;
  return shape;
}
/// Of teams that hold a tile, and counters beside it.
constexpr TeamShape fitted_to_tiles(TeamShape shape, std::size_t element_bytes) {
  return fitted(shape, shape.round() * static_cast<int>(element_bytes) + (8 << 10));
}

template <class ExecutionSpace>
constexpr TeamShape team_shape() {
  // Odd items keep the blocked reads of scratch free of bank conflicts.
  return is_host_space<ExecutionSpace> ? TeamShape{1, 0} : TeamShape{256, 19, 3};
}

/// How a team takes a first look at a few keys.
template <class ExecutionSpace>
constexpr TeamShape glance_shape() {
  return is_host_space<ExecutionSpace> ? TeamShape{1, 1} : TeamShape{512, 1, 2};
}

/// How teams look at samples of keys: each step is waited for, so all run at once, one or two on a processor.
template <class ExecutionSpace>
constexpr TeamShape sample_shape() {
  return is_host_space<ExecutionSpace> ? TeamShape{1, 1} : TeamShape{512, 1, 2};
}

/// How teams that count, scan or copy run through the keys, whatever travels with them.
template <class ExecutionSpace>
constexpr TeamShape count_shape() {
  return is_host_space<ExecutionSpace> ? TeamShape{1, 1} : TeamShape{256, 1};
}

/// How teams count all digits at once: few enough that what each adds to the bins of all does not queue up.
template <class ExecutionSpace>
constexpr TeamShape count_digits_shape() {
  return is_host_space<ExecutionSpace> ? TeamShape{1, 1} : TeamShape{512, 1};
}

/// The same, if that is all they do. As many as run at once come round: a few registers more and one of four would wait.
template <class ExecutionSpace>
constexpr TeamShape count_alone_shape(std::size_t key_bytes) {
  constexpr TeamShape shape = count_digits_shape<ExecutionSpace>();
  if (is_host_space<ExecutionSpace> || key_bytes > 8) return shape;
  return {shape.threads, shape.items, 4};
}

/// The same, where they look up keys in a table in scratch instead.
template <class ExecutionSpace>
constexpr TeamShape look_up_shape(std::size_t key_bytes) {
  if (is_host_space<ExecutionSpace>) return {1, 8};
  return {count_digits_shape<ExecutionSpace>().threads, key_bytes <= 4 ? 8 : 4};
}

/// How teams take heavy keys out.
template <class ExecutionSpace>
constexpr TeamShape take_out_shape(std::size_t key_bytes) {
  if (is_host_space<ExecutionSpace>) return {1, 8};
  return {256, key_bytes <= 4 ? 16 : 8, 4};
}

/// How a team of the Onesweep pass works through its tile; none where elements are too large for it.
template <class ExecutionSpace>
constexpr TeamShape sweep_shape(std::size_t key_bytes, std::size_t value_bytes) {
  const std::size_t widest = key_bytes > value_bytes ? key_bytes : value_bytes;
  if (widest > 16) return {0, 0};
  if (is_host_space<ExecutionSpace>) return {1, 2048};
  // From sweeps on an H200 and an H100 (docs/performance.md): long tiles spread the cost of the look-back, and many threads
  // hide their waits; a few spilled words a thread cost less than shorter ones.
  if (has_room_for_long_tiles) {
    if (widest <= 4) return value_bytes == 0 ? TeamShape{512, 32, 2} : TeamShape{512, 20, 2};
    if (widest == 16) return {384, 12, 2};
    if (value_bytes == 0) return {384, 20, 2};
    return value_bytes < 8 ? TeamShape{384, 24, 2} : TeamShape{448, 16, 2};
  }
  if (widest <= 4) {
    return fitted_to_tiles(value_bytes == 0 ? TeamShape{256, 36, 3} : TeamShape{320, 32, 2}, 4);
  }
  return fitted_to_tiles({256, widest == 8 ? 20 : 8, value_bytes == 0 ? 3 : 2}, widest);
}

/// Of few elements, whose tiles nearly all run at once, those of another length end sooner; none where the same serve.
template <class ExecutionSpace>
constexpr TeamShape short_sweep_shape(std::size_t key_bytes, std::size_t value_bytes) {
  if (value_bytes == 0 || value_bytes > 8 || key_bytes > 8) return {0, 0};
  if (value_bytes > 4 && (key_bytes <= 4 || is_host_space<ExecutionSpace>)) return {0, 0};
  if (is_host_space<ExecutionSpace>) return {1, 1024};
  if (key_bytes <= 4) return fitted_to_tiles({512, 16, 2}, 4);
  return has_room_for_long_tiles ? TeamShape{512, 16, 2} : TeamShape{0, 0};
}
/// Have teams of such sweeps, if they stay, registers to spare to go on to the next pass? One launch for all passes beyond the
/// first two saves 3 µs for each that there is nothing to do for; spilled words cost more where there is.
constexpr bool may_go_on(TeamShape shape, std::size_t key_bytes, std::size_t value_bytes) {
  const bool is_long = key_bytes == 8 && value_bytes > 0 && value_bytes < 8 && shape.items > 20;
  return !is_long;
}

/// Of up to so many, with values of up to 4 bytes.
template <class ExecutionSpace>
inline constexpr std::size_t most_for_short_sweeps =
    std::size_t{1} << (is_host_space<ExecutionSpace> ? 14 : 22);

/// How a team of an unordered first pass works through its tile: longer runs a bin are worth more there.
template <class ExecutionSpace>
constexpr TeamShape spread_shape(std::size_t key_bytes) {
  if (is_host_space<ExecutionSpace>) return {1, 2048};
  if (has_room_for_long_tiles && key_bytes <= 8) return {512, key_bytes <= 4 ? 32 : 16, 2};
  if (key_bytes <= 4) return fitted_to_tiles({512, 20, 2}, 4);
  return fitted_to_tiles({256, key_bytes == 8 ? 20 : 10, 2}, key_bytes);
}

/// How a team sorts a tile where it lies, or one that it gathers, keys alone or with values; none where others serve.
template <class ExecutionSpace>
constexpr TeamShape gather_shape(std::size_t key_bytes, std::size_t value_bytes) {
  if (value_bytes != 0 && value_bytes != 4 && value_bytes != 8) return {0, 0};
  if (is_host_space<ExecutionSpace>) return {1, 2048};
  if (!has_room_for_long_tiles) return {0, 0};
  if (value_bytes == 0) return key_bytes <= 4 ? TeamShape{320, 32, 2} : TeamShape{320, 22, 2};
  return {256, key_bytes <= 4 && value_bytes <= 4 ? 24 : 20, 3};
}
/// How a team deals a tile out to some thousand bins, and how one finishes a bin: what is written to a bin at once decides, so
/// both are long, though no other team works beside the first.
template <class ExecutionSpace>
constexpr TeamShape deal_shape(std::size_t key_bytes) {
  if (is_host_space<ExecutionSpace>) return {1, 2048};
  if (!has_room_for_long_tiles || key_bytes > 8) return {0, 0};
  return {1024, key_bytes <= 4 ? 32 : 16, 1};
}
template <class ExecutionSpace>
constexpr TeamShape finish_dealt_shape(std::size_t key_bytes) {
  if (is_host_space<ExecutionSpace>) return {1, 2048};
  if (!has_room_for_long_tiles || key_bytes > 8) return {0, 0};
  return {512, key_bytes <= 4 ? 18 : 13, 2};
}
/// How a team sorts a tile by some thousand bins of a short range, with values, and how one sorts such a bin: the longer bins are,
/// the fewer there are, and the longer are the runs of tiles that each is gathered from.
template <class ExecutionSpace>
constexpr TeamShape range_tile_shape(std::size_t value_bytes) {
  if (value_bytes != 4 && value_bytes != 8) return {0, 0};
  if (is_host_space<ExecutionSpace>) return {1, 2048};
  return has_room_for_long_tiles ? TeamShape{512, 20, 2} : TeamShape{0, 0};
}
template <class ExecutionSpace>
constexpr TeamShape range_bin_shape(std::size_t value_bytes) {
  if (!range_tile_shape<ExecutionSpace>(value_bytes).exists()) return {0, 0};
  return is_host_space<ExecutionSpace> ? TeamShape{1, 4096} : TeamShape{448, 40, 2};
}
/// Where the host waits.
inline constexpr std::size_t least_ranged = std::size_t{1} << 22;
/// Where the host waits keys alone may be dealt out, and keys in one word with their indices gathered, from so many on.
inline constexpr std::size_t least_tried = std::size_t{1} << 22;
/// Up to so many of so many bytes are dealt out, and more are sooner gathered.
constexpr std::size_t most_dealt(std::size_t key_bytes) {
  return key_bytes <= 4 ? std::size_t{1} << 24 : std::size_t{3} << 22;
}
/// How a team finishes a gathered chunk of keys with values: their places take registers.
constexpr TeamShape finish_pairs_shape(TeamShape finish) {
  if (finish.teams > 1) --finish.teams;
  return finish;
}
/// Teams that finish so many chunks, some one after the other: what tells where these lie comes at once. They begin at different
/// times, so that some sort while others wait for keys.
constexpr std::size_t teams_for_chunks(std::size_t chunks) {
  constexpr std::size_t together = 8, enough = 4096;
  return std::max(chunks / together, std::min(chunks, enough));
}
/// Teams for so many tiles, of which each takes a few in turn where there are many: where there is nothing to do fewer begin.
constexpr std::size_t teams_for_tiles(std::size_t tiles) {
  constexpr std::size_t many = std::size_t{1} << 13, most_in_turn = 4;
  const std::size_t in_turn = std::min(tiles / many + 1, most_in_turn);
  return (tiles + in_turn - 1) / in_turn;
}
/// How one finds out where the runs of tiles lie.
template <class ExecutionSpace>
constexpr TeamShape place_runs_shape() {
  return is_host_space<ExecutionSpace> ? TeamShape{1, 1} : TeamShape{512, 1, 2};
}

/// How a team counts 8-byte keys by splitters, and sorts samples for them; how it spreads a tile by them.
template <class ExecutionSpace>
constexpr TeamShape split_count_shape() {
  if (is_host_space<ExecutionSpace>) return {1, 2048};
  return {512, 8, 2};
}
template <class ExecutionSpace>
constexpr TeamShape split_shape() {
  if (is_host_space<ExecutionSpace>) return {1, 2048};
  return {512, 16, 2};
}

/// How a team partitions a tile among ranks, and how one merges a tile of two runs; none where elements
/// are too large for it. Odd items keep the blocked reads of scratch free of bank conflicts.
template <class ExecutionSpace>
constexpr TeamShape partition_shape(std::size_t key_bytes, std::size_t value_bytes) {
  const std::size_t widest = key_bytes > value_bytes ? key_bytes : value_bytes;
  if (is_host_space<ExecutionSpace>) return {1, 2048};
  if (widest > 16) return {0, 0};
  const int teams = value_bytes == 0 ? 3 : 2;
  return {256, widest <= 4 ? 24 : widest == 8 ? 16 : 8, teams};
}
template <class ExecutionSpace>
constexpr TeamShape merge_shape(std::size_t key_bytes, std::size_t value_bytes) {
  const std::size_t widest = key_bytes > value_bytes ? key_bytes : value_bytes;
  if (is_host_space<ExecutionSpace>) return {1, 2048};
  if (widest > 16) return {0, 0};
  const int items = widest > 8 ? 7 : widest == 8 || value_bytes > 0 ? 15 : 23;
  const int teams = value_bytes == 0 ? 8 : widest <= 4 ? 7 : 6;
  const int element = static_cast<int>(key_bytes + value_bytes + 4);  // and two places
  return fitted({128, items, teams}, 128 * items * element + (3 << 10));
}
/// How one counts the same tile instead: more registers, for fewer teams; counters, and one place of each element.
template <class ExecutionSpace>
constexpr TeamShape cell_tile_shape(std::size_t key_bytes, std::size_t value_bytes) {
  TeamShape shape = merge_shape<ExecutionSpace>(key_bytes, value_bytes);
  if (shape.teams == 0) return shape;
  shape.teams = key_bytes <= 4 && value_bytes <= 4 ? 7 : 6;
  return fitted(shape, shape.round() * static_cast<int>(key_bytes + value_bytes + 2) + (10 << 10));
}

/// How teams spread a tile over up to 1024 cells of equal width, whose places take 12 KB, and finish a part of one.
/// What is written to a cell at once decides: scattered writes fill the way between both halves of the second-level cache (three
/// quarters of what it carries), so tiles are as long as one team's registers hold, though no other works beside it.
template <class ExecutionSpace>
constexpr TeamShape spread_cells_shape(std::size_t key_bytes) {
  if (is_host_space<ExecutionSpace>) return {1, 2048};
  if (has_room_for_long_tiles) return {1024, key_bytes <= 4 ? 32 : 16, 1};
  return fitted({256, key_bytes <= 4 ? 28 : 14, 2}, 42 << 10);
}
/// With values, in order: keys and values of a tile lie beside each other.
template <class ExecutionSpace>
constexpr TeamShape sweep_cells_shape(std::size_t key_bytes, std::size_t value_bytes) {
  if (is_host_space<ExecutionSpace>) return {1, 2048};
  const int element = static_cast<int>(key_bytes + value_bytes);
  if (has_room_for_long_tiles) return {1024, element <= 8 ? 24 : element <= 12 ? 16 : 12, 1};
  return {128, element <= 8 ? 24 : element <= 12 ? 16 : 12, 2};
}
template <class ExecutionSpace>
constexpr TeamShape finish_parts_shape(std::size_t key_bytes) {
  if (is_host_space<ExecutionSpace>) return {1, 2048};
  return fitted_to_tiles({256, 18, key_bytes <= 4 ? 4 : 3}, key_bytes);
}

/// Where tiles of a merge begin is searched for by the threads of small teams: they find a place beside merges.
template <class ExecutionSpace>
constexpr TeamShape find_splits_shape() {
  return {is_host_space<ExecutionSpace> ? 1 : 128, 1};
}

/// How a team finishes a chunk in scratch, and how tiles of a run that does not fit there; none as above.
template <class ExecutionSpace>
constexpr TeamShape finish_shape(std::size_t key_bytes, std::size_t value_bytes) {
  const std::size_t widest = key_bytes > value_bytes ? key_bytes : value_bytes;
  if (widest > 16 || key_bytes < 4) return {0, 0};
  if (is_host_space<ExecutionSpace>) return {1, 2048};
  // Spilled words are worse here than few teams: they go to memory with what streams by.
  if (widest > 8) return fitted_to_tiles({256, 8, 2}, 16);
  return fitted_to_tiles(widest == 8 ? TeamShape{256, 17, 3} : TeamShape{256, 18, 4}, widest);
}
/// How one finishes a chunk so many times as long, 2 or 4, of so many elements that two digits leave no shorter runs; none where
/// another finish takes those, or a team has no room, or elements are of sizes that are hardly ever so many.
template <class ExecutionSpace>
constexpr TeamShape long_finish_shape(std::size_t key_bytes, std::size_t value_bytes, int times) {
  const TeamShape usual = finish_shape<ExecutionSpace>(key_bytes, value_bytes);
  const bool counts_values = key_bytes == 4 && value_bytes == 0;
  const bool are_many =
      value_bytes == 0 || (key_bytes <= 8 && (value_bytes == 4 || value_bytes == 8));
  if (is_host_space<ExecutionSpace> || !has_room_for_long_tiles || !usual.exists() ||
      counts_values || !are_many) {
    return {0, 0};
  }
  return {times * usual.threads, usual.items, 4 / times};
}
template <class ExecutionSpace>
constexpr TeamShape range_shape(std::size_t key_bytes, std::size_t value_bytes) {
  const std::size_t widest = key_bytes > value_bytes ? key_bytes : value_bytes;
  if (is_host_space<ExecutionSpace>) return {1, 2048};
  return widest <= 8 ? fitted_to_tiles({256, 12, 2}, widest) : fitted_to_tiles({256, 8, 2}, 16);
}

/// How a team counts and sweeps a tile of few elements: short ones, for there are processors to spare.
template <class ExecutionSpace>
constexpr TeamShape small_sweep_shape(std::size_t key_bytes, std::size_t value_bytes) {
  const std::size_t widest = key_bytes > value_bytes ? key_bytes : value_bytes;
  if (is_host_space<ExecutionSpace>) return {1, 2048};
  if (widest > 8) return fitted_to_tiles({256, 8, 2}, 16);
  const bool alone = value_bytes == 0;
  return fitted_to_tiles(alone ? TeamShape{256, 16, 2} : TeamShape{512, 8, 2}, widest);
}

/// How one team compares a handful of keys that are codes of 4 bytes, which takes it less than several need to meet.
template <class ExecutionSpace>
constexpr TeamShape lone_shape() {
  return is_host_space<ExecutionSpace> ? TeamShape{1, 512} : TeamShape{128, 4, 1};
}
/// How a team ranks its share of few elements among all; none where elements are too large for small sorts, or their codes find no
/// room where they do.
template <class ExecutionSpace>
constexpr TeamShape rank_shape(std::size_t key_bytes, std::size_t value_bytes,
                               std::size_t code_bytes) {
  const std::size_t widest = key_bytes > value_bytes ? key_bytes : value_bytes;
  if (widest > 16 || (code_bytes > 8 && widest <= 8)) return {0, 0};
  return is_host_space<ExecutionSpace> ? TeamShape{1, 4} : TeamShape{512, 4, 2};
}
/// Fewer threads begin sooner, and there is little to do for them up to so many elements.
template <class ExecutionSpace>
constexpr TeamShape rank_few_shape() {
  return is_host_space<ExecutionSpace> ? TeamShape{1, 4} : TeamShape{256, 4, 4};
}
inline constexpr std::size_t most_ranked_by_few = 1024;
/// Up to so many are ranked: twice as many elements are four times as many comparisons, of longer codes by more instructions. What
/// takes over from there takes longer for short keys.
constexpr std::size_t most_ranked(std::size_t key_bytes, std::size_t code_bytes) {
  return std::size_t{4096} * (code_bytes > 8 ? 1 : key_bytes > 2 ? 2 : 3);
}

/// How a team sorts a chunk pass by pass in scratch: no smaller than that of the finish.
template <class ExecutionSpace>
constexpr TeamShape alone_shape(std::size_t key_bytes, std::size_t value_bytes) {
  const std::size_t widest = key_bytes > value_bytes ? key_bytes : value_bytes;
  if (widest > 16) return {0, 0};
  if (is_host_space<ExecutionSpace>) return {1, 2048};
  if (widest > 8) return fitted_to_tiles({256, 8, 2}, 16);
  return fitted_to_tiles({256, 18, widest == 8 ? 3 : 4}, widest);
}

// How teams of the counting sort work; items are loads or stores of 16 bytes that a thread has under way.

/// On bytes: a replica of the bins for each lane takes 32 KB, which fits a processor often enough.
template <class ExecutionSpace>
constexpr TeamShape count_bytes_shape() {
  return is_host_space<ExecutionSpace> ? TeamShape{1, 8} : fitted({512, 2, 3}, 33 << 10);
}
/// On 2-byte keys: their counters take 43 KB, and what Kokkos keeps in scratch leaves room for 512 threads. Where a team may have
/// 128 KB counters have 16 bits, which few kinds of keys do not soon overflow either.
template <class ExecutionSpace>
inline constexpr int count_shorts_fields =
    !is_host_space<ExecutionSpace> && has_room_for_long_tiles ? 2 : 6;
template <class ExecutionSpace>
constexpr TeamShape count_shorts_shape() {
  if (is_host_space<ExecutionSpace>) return {1, 64};
  if (count_shorts_fields<ExecutionSpace> == 2) return {1024, 2, 1};
  return fitted({512, 2, 3}, 44 << 10);
}
/// What cells of longer keys take more steps to find, which need registers.
template <class ExecutionSpace>
constexpr TeamShape count_cells_shape() {
  return is_host_space<ExecutionSpace> ? TeamShape{1, 64} : fitted({512, 4, 2}, 44 << 10);
}
/// On the bins of 2-byte keys: 256 teams.
template <class ExecutionSpace>
constexpr TeamShape place_bins_shape() {
  return is_host_space<ExecutionSpace> ? TeamShape{1, 1024} : TeamShape{256, 1};
}
/// On the keys of a cell: items are packs that a thread holds. Few threads wait less for each other.
template <class ExecutionSpace>
constexpr TeamShape finish_cells_shape() {
  return is_host_space<ExecutionSpace> ? TeamShape{1, 64} : fitted({128, 6, 6}, 37 << 10);
}
/// A cell whose suffixes are gathered: the ends of runs take some packs more.
template <class ExecutionSpace>
constexpr TeamShape finish_gathered_shape() {
  return is_host_space<ExecutionSpace> ? TeamShape{1, 192} : fitted({128, 7, 6}, 37 << 10);
}
/// In a tile of the result; none where keys are too long to be counted.
template <class ExecutionSpace>
constexpr TeamShape expand_shape(std::size_t key_bytes) {
  if (key_bytes > 2) return {0, 0};
  return is_host_space<ExecutionSpace> ? TeamShape{1, 256} : TeamShape{256, 8, 4};
}
/// Tiles of the result that a team writes one after the other, once all processors have work: the next
/// one's bins are soon found from the last one's.
inline constexpr std::size_t tiles_in_a_row = 8;
/// Teams that count so many bytes of keys, by 2 bytes of each: the more there are the sooner all is read, but each adds up to
/// 2^16 counters to those of all. (Both take equally long by the root of bytes / 3000, if keys spread; if they crowd, more
/// teams are better.)
inline std::size_t teams_for_shorts(std::size_t bytes) {
  return static_cast<std::size_t>(std::sqrt(static_cast<double>(bytes) / 1000));
}

/// Fewer keys a team, and what it adds to the counts of all cells would take longer than another team saves.
inline constexpr std::size_t least_counted_cells = std::size_t{1} << 18;
/// Bytes of keys from which on a count of all cells costs less than a pass in no order saves.
inline constexpr std::size_t least_spread_bytes = std::size_t{1} << 29;

/// A pass by no more tiles than that, which find nothing to do, is over before the host has launched what it was told.
inline constexpr std::size_t most_unasked_tiles = 4096;

/// How one team sorts few 1-byte keys, and from how many on and up to how many.
template <class ExecutionSpace>
constexpr TeamShape lone_bytes_shape() {
  return is_host_space<ExecutionSpace> ? TeamShape{1, 1} : TeamShape{512, 1, 1};
}
inline constexpr std::size_t least_lone_bytes = 257, most_lone_bytes = std::size_t{1} << 15;
/// Up to so many bytes are counted by so many teams at most, each in a row of its own.
inline constexpr std::size_t most_bytes_in_rows = std::size_t{1} << 20, most_count_rows = 64;

/// On a host one thread is as soon done with fewer elements as others are awake.
inline constexpr std::size_t least_for_two_threads = std::size_t{1} << 14;

/// Of so many threads of a host, those that sort `count` elements: each more is worth a share that it is awake for.
constexpr std::size_t host_threads(std::size_t count, std::size_t threads) {
  constexpr std::size_t least_share = std::size_t{1} << 12;
  const std::size_t shares = count < least_for_two_threads ? 1 : count / least_share;
  return shares < threads ? shares : threads;
}

/// Elements of each thread's blocks, which a cache takes as long as they are at most so many; several for each thread.
inline constexpr std::size_t least_block = std::size_t{1} << 12;
constexpr std::size_t host_block(std::size_t count, std::size_t threads, std::size_t most) {
  const std::size_t share = count / (4 * threads), least = least_block < most ? least_block : most;
  return share < least ? least : share < most ? share : most;
}

/// A block no longer than `block` in which as many records of each of `buckets` do not begin a power of two of bytes apart: where
/// keys come to all buckets in turn, those are written in few sets of a cache else. Half a line more or less is enough.
constexpr std::size_t staggered_block(std::size_t block, std::size_t buckets,
                                      std::size_t record_bytes) {
  constexpr std::size_t half_line = 32, least = 4;
  const std::size_t step = buckets * half_line / record_bytes, steps = block / step;
  return steps < least ? block : ((steps - 1) | 1) * step;
}

/// Elements that a serial round partitions in cache: keys and values of one round must stay within a
/// private second-level cache (512 KB and more on current cores), with room for the source.
constexpr std::size_t serial_round(std::size_t element_bytes) {
  constexpr std::size_t cache_share = std::size_t{1} << 18;
  return cache_share / element_bytes;
}

/// A table of 8-bit digit counts holds at most this many tiles, so it stays below 16 MB for any n.
inline constexpr std::size_t max_tiles = 8192;

}  // namespace kradix::impl
