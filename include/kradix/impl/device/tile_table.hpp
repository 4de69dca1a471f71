// What the tiles of a small sort have counted, told by one kernel and added up by every team of the next: there are
// so few that nobody looks back, and nobody waits.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/count_all_digits.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/look_back.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/tiling.hpp"

namespace kradix::impl {

/// More tiles than this are not added up.
inline constexpr std::size_t most_added_up = 4096;

/// What the tiles of a small sort tell each other. Counts of two neighbouring bins share a word.
struct TileTable {
  static constexpr int row = bin_count / 2;
  std::uint32_t* counts;  ///< [tile][digit][pair of bins]
  std::uint64_t* seen;    ///< [word][tile]: bits in which its keys differ from the first of all
  std::size_t tiles;
  int digits = 1;  ///< that each tile counts

  /// By the threads of its team, of counts in scratch.
  template <int Threads, class Bits>
  KOKKOS_FUNCTION void tell(int thread, std::uint32_t tile, const std::uint32_t* counted,
                            Bits differ) const {
    const int words = digits * row;
    std::uint32_t* const told = counts + std::size_t{tile} * words;
    for (int i = thread; i < words; i += Threads) {
      told[i] = counted[2 * i] | counted[2 * i + 1] << 16;
    }
    if (thread != 0) return;
    for (int w = 0; w < words_in<Bits>; ++w) seen[w * tiles + tile] = word_of(differ, w);
  }

  /// The bits in which any key differs from the first, of those that count.
  template <class Combined, class Team>
  KOKKOS_FUNCTION auto varying(const Team& team, const DigitList& all,
                               std::uint64_t* scratch) const {
    using Bits = typename Combined::bits_type;
    std::uint64_t mine[words_in<Bits>] = {};
    for (int w = 0; w < words_in<Bits>; ++w) {
      for (std::size_t t = team.team_rank(); t < tiles; t += Combined::threads) {
        mine[w] |= seen[w * tiles + t];
      }
    }
    return static_cast<Bits>(Combined::over(team, joined<Bits>(mine), scratch) &
                             bits_between<Bits>(all.begin, all.end));
  }
};

/// What kernels that count tiles have in common: a team for each, which holds its keys; together they also zero what
/// the kernels to come want zero.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct CountedTiles {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Tiles = Tiling<Shape.round()>;
  using Combined = CombinedBits<ExecutionSpace, Shape.threads, Bits>;
  static constexpr int threads = Shape.threads, items = Shape.items;
  static_assert(Shape.round() <= 0xffff);

  const Key* keys;
  Codec codec;
  DigitList all;
  Tiles tiling;
  ClearWords<ExecutionSpace, threads> zeros;
  TileTable table;

  /// A thread's keys of the team's tile. A full one (`Full`) needs no guards.
  template <bool Full>
  struct Mine {
    std::uint32_t tile;
    int size;
    Key key[items];

    KOKKOS_FUNCTION static bool exists(int thread, int item, int size) {
      return Full || item * threads + thread < size;
    }
  };

  /// Calls `count` with those.
  template <class Count>
  KOKKOS_FUNCTION void count_tile(const Team& team, const Count& count) const {
    const auto tile = static_cast<std::uint32_t>(team.league_rank());
    const std::ptrdiff_t begin = tiling.begin_of(tile);
    if (begin >= 0) {
      count(load<true>(team.team_rank(), tile, keys + begin, Shape.round()));
    } else {
      count(load<false>(team.team_rank(), tile, keys, Shape.round() + static_cast<int>(begin)));
    }
  }

  template <bool Full>
  KOKKOS_FUNCTION Mine<Full> load(int thread, std::uint32_t tile, const Key* begin,
                                  int size) const {
    Mine<Full> mine;
    mine.tile = tile;
    mine.size = size;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      mine.key[i] = begin[mine.exists(thread, i, size) ? i * threads + thread : 0];
    }
    return mine;
  }

  KOKKOS_FUNCTION void clear(const Team& team, std::uint32_t* counts, int count) const {
    for (int i = team.team_rank(); i < count; i += threads) counts[i] = 0;
    zeros.clear(team, team.league_rank(), team.league_size());
  }

  /// The bits in which a key of the tile differs from the first of all.
  template <bool Full>
  KOKKOS_FUNCTION Bits differing(const Team& team, const Mine<Full>& mine, Bits first,
                                 std::uint64_t* scratch) const {
    Bits differ = 0;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) differ |= codec.encode(mine.key[i]) ^ first;
    return Combined::over(team, differ, scratch);
  }

  template <bool Full>
  KOKKOS_FUNCTION static void add(int thread, const Mine<Full>& mine,
                                  const DigitReader<Codec>& reader, std::uint32_t* counts) {
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (mine.exists(thread, i, mine.size)) L::increment(&counts[reader.of(mine.key[i])]);
    }
  }
};

template <class ExecutionSpace, int Threads, int TileSize>
struct SumsOfTiles {
  /// Counts of four bins of a tile. So many tiles' add up without a carry.
  struct alignas(8) FourCounts {
    std::uint32_t pair[2];
  };
  static constexpr int batch = 8;
  static_assert(batch * TileSize <= 0xffff);
  static constexpr int quads = bin_count / 4;
  static constexpr int row_groups = Threads > quads ? Threads / quads : 1;

  struct Scratch {
    std::uint32_t of[2][row_groups][bin_count];  ///< all tiles, and those before
  };

  /// Elements of each bin of a digit, and those of them that lie in tiles before this one.
  KOKKOS_FUNCTION static void add_up(const TeamMember<ExecutionSpace>& team, const TileTable& table,
                                     std::size_t tile, int digit, Scratch& scratch,
                                     std::uint64_t* all, std::uint32_t* earlier) {
    const int thread = team.team_rank();
    const int group = row_groups > 1 ? thread / quads : 0;
    const auto* const rows = reinterpret_cast<const FourCounts*>(table.counts) + digit * quads;
    const int step = table.digits * quads;
    for (int quad = thread - group * quads; quad < quads; quad += Threads) {
      std::uint32_t sum[4] = {}, before[4] = {};
      KRADIX_ROLLED
      for (std::size_t row = group; row < table.tiles; row += batch * row_groups) {
        // Loads that are under way together.
        FourCounts counts[batch];
        KRADIX_UNROLL
        for (int b = 0; b < batch; ++b) {
          const std::size_t r = row + b * row_groups;
          counts[b] = r < table.tiles ? rows[r * step + quad] : FourCounts{};
        }
        KRADIX_UNROLL
        for (int p = 0; p < 2; ++p) {
          std::uint32_t both = 0, both_before = 0;
          KRADIX_UNROLL
          for (int b = 0; b < batch; ++b) {
            both += counts[b].pair[p];
            both_before += row + b * row_groups < tile ? counts[b].pair[p] : 0u;
          }
          sum[2 * p] += both & 0xffffu;
          sum[2 * p + 1] += both >> 16;
          before[2 * p] += both_before & 0xffffu;
          before[2 * p + 1] += both_before >> 16;
        }
      }
      KRADIX_UNROLL
      for (int i = 0; i < 4; ++i) {
        scratch.of[0][group][4 * quad + i] = sum[i];
        scratch.of[1][group][4 * quad + i] = before[i];
      }
    }
    team.team_barrier();
    for (int bin = thread; bin < bin_count; bin += Threads) {
      std::uint32_t sum = 0, before = 0;
      for (int g = 0; g < row_groups; ++g) {
        sum += scratch.of[0][g][bin];
        before += scratch.of[1][g][bin];
      }
      all[bin] = sum;
      earlier[bin] = before;
    }
    team.team_barrier();
  }
};

/// The look-back of a tile that knows what lies before it.
struct KnownSums : LoneTiles {
  const std::uint32_t* before;  ///< [bin]

  KOKKOS_FUNCTION explicit KnownSums(const std::uint32_t* before_) : before(before_) {}
  KOKKOS_FUNCTION std::uint64_t place(std::uint32_t, int bin, std::uint32_t,
                                      std::uint64_t first) const {
    return first + before[bin];
  }
};

}  // namespace kradix::impl
