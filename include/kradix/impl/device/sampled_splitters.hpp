// Splitters of a small sort, from samples that each team has drawn alike, and the bins that they make.
//
// After Frazer and McKellar, "Samplesort: a sampling approach to minimal storage tree sorting" (1970).
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/sample_places.hpp"
#include "kradix/impl/device/splitters.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// Bins of the keys of a tile, four to a word: those of a digit, or such as were found between splitters.
template <class Codec>
struct BinsOfTile {
  using key_type = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Tree = SplitterTree<Bits, digit_bits>;

  Codec codec;
  Digit digit;
  const std::uint32_t* found;  ///< [four of a thread's keys][thread], or null: by the digit

  template <int Size, int Threads>
  KOKKOS_FUNCTION void of(int thread, const key_type* keys, std::uint32_t* bins) const {
    static_assert(Size % 4 == 0);
    if (found != nullptr) {
      KRADIX_UNROLL
      for (int i = 0; i < Size; i += 4) bins[i / 4] = found[i / 4 * Threads + thread];
      return;
    }
    const DigitReader<Codec> reader(codec, digit);
    KRADIX_UNROLL
    for (int i = 0; i < Size; i += 4) {
      std::uint32_t bin[4];
      KRADIX_UNROLL
      for (int b = 0; b < 4; ++b) bin[b] = reader.of(keys[i + b]);
      bins[i / 4] = packed_bins(bin);
    }
  }

  /// Finds those of a thread, whose keys begin at `place` and are so far apart.
  template <int Size, int Threads>
  KRADIX_NOINLINE KOKKOS_FUNCTION static void find(Codec codec, Bits mask, const Tree* tree,
                                                   const key_type* keys, int size, int place,
                                                   int apart, std::uint32_t* found) {
    KRADIX_ROLLED
    for (int i = 0; i < Size; i += 4) {
      Bits code[4];
      std::uint32_t bin[4];
      KRADIX_UNROLL
      for (int b = 0; b < 4; ++b) {
        const int at = place + (i + b) * apart;
        code[b] = static_cast<Bits>(codec.encode(keys[at < size ? at : 0]) & mask);
      }
      tree->template find<4>(code, bin);
      found[i / 4 * Threads] = packed_bins(bin);
    }
  }
};

/// A team sorts samples in its scratch and takes a tree of splitters from them.
///
/// In parts each of which is sorted by comparing all of its codes: then a code's place among all follows from searches in the
/// other parts. Networks take fewer comparisons, but more steps that wait for each other.
template <class ExecutionSpace, class Codec, int Threads>
struct SampledSplitters {
  using Bits = typename Codec::bits_type;
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using Tree = SplitterTree<Bits, digit_bits>;
  static constexpr int part = 128, together = 4;  ///< parts that are searched side by side
  static constexpr int most = sizeof(Bits) > 8 ? 512 : 1024;
  static_assert(Tree::bins == bin_count);

  /// Codes that are read at once.
  struct alignas(16) Codes {
    static constexpr int count = 16 / sizeof(Bits);
    Bits of[count];
  };
  struct Scratch {
    union {
      Bits codes[most];
      Codes groups[most / Codes::count];
    };
    Bits parts[most];  ///< the greatest at first
    Tree tree;
    KOKKOS_FUNCTION Scratch() {}
  };

  /// Of so many samples, some times `together` parts. (Arguments by value: who calls it keeps its own in registers.)
  KRADIX_NOINLINE KOKKOS_FUNCTION static void find(Team team, Codec codec, Bits mask,
                                                   const Key* keys, std::size_t count, int samples,
                                                   Scratch* its) {
    Scratch& scratch = *its;
    const int thread = team.team_rank();
    KRADIX_ROLLED
    for (int i = thread; i < samples; i += Threads) {
      const std::size_t place =
          SamplePlaces(count, static_cast<std::size_t>(samples)).of(static_cast<std::size_t>(i));
      scratch.codes[i] = static_cast<Bits>(codec.encode(keys[place < count ? place : 0]) & mask);
      scratch.parts[i] = static_cast<Bits>(~Bits{0});
    }
    team.team_barrier();
    KRADIX_ROLLED
    for (int i = thread; i < samples; i += Threads) {
      const Bits code = scratch.codes[i];
      scratch.parts[i / part * part + rank_in_part(scratch.groups, i, code)] = code;
    }
    team.team_barrier();
    KRADIX_ROLLED
    for (int i = thread; i < samples; i += Threads) {
      const Bits code = scratch.parts[i];
      int place = i % part;
      KRADIX_ROLLED
      for (int begin = 0; begin < samples; begin += together * part) {
        place += places_before(scratch.parts, begin, i, code);
      }
      scratch.codes[place] = code;
    }
    team.team_barrier();
    KRADIX_ROLLED
    for (int i = thread; i < bin_count; i += Threads) {
      if (i > 0) {
        scratch.tree.node[i] =
            splitter_among(scratch.codes, samples, Tree::splitter_of(i), bin_count);
      }
    }
    team.team_barrier();
  }

 private:
  /// How many come before in a part. (Of the greatest code all get one rank, for none is greater: it is what else is there.)
  KOKKOS_FUNCTION static int rank_in_part(const Codes* groups, int mine, const Bits& code) {
    constexpr int count = Codes::count;
    const Bits next = static_cast<Bits>(code + (static_cast<Bits>(~code) != 0 ? 1 : 0));
    const int first = mine / part * (part / count), own = mine / count;
    int rank = 0;
    KRADIX_ROLLED
    for (int g = first; g < first + part / count; g += 4) {
      KRADIX_UNROLL
      for (int u = 0; u < 4; ++u) {
        const Codes others = groups[g + u];
        const Bits bound =
            g + u < own ? next : code;  // that come before all of these may be the same
        KRADIX_UNROLL
        for (int i = 0; i < count; ++i) rank += others.of[i] < bound ? 1 : 0;
      }
    }
    const Codes others = groups[own];
    KRADIX_UNROLL
    for (int i = 0; i < count; ++i) {
      rank += own * count + i < mine && others.of[i] == code ? 1 : 0;
    }
    return rank;
  }

  /// Codes of parts, from `begin` on, that come before a code which lies at `mine` in its own. Those before its part come first
  /// if they are the same.
  KOKKOS_FUNCTION static int places_before(const Bits* parts, int begin, int mine,
                                           const Bits& code) {
    int before[together] = {};
    KRADIX_UNROLL
    for (int step = part / 2; step > 0; step /= 2) {
      KRADIX_UNROLL
      for (int p = 0; p < together; ++p) {
        const int first = begin + p * part;
        before[p] +=
            comes_before(parts[first + before[p] + step - 1], first < mine, code) ? step : 0;
      }
    }
    int places = 0;
    KRADIX_UNROLL
    for (int p = 0; p < together; ++p) {
      const int first = begin + p * part;
      before[p] += comes_before(parts[first + before[p]], first < mine, code) ? 1 : 0;
      places += first == mine / part * part ? 0 : before[p];
    }
    return places;
  }
  KOKKOS_FUNCTION static bool comes_before(const Bits& other, bool is_first, const Bits& code) {
    return is_first ? !(code < other) : other < code;
  }
};

}  // namespace kradix::impl
