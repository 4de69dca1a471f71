// The kernels of the H-P sorts: histograms by atomic additions, and what is made of their prefix sums.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/code_pass.hpp"
#include "kradix/impl/device/team_scan.hpp"

namespace kradix::impl {

/// What the histogram found against the caller's word, and how many values it met.
struct HpFindings {
  std::uint64_t outside, outside_key;       ///< keys outside the range, and one of them
  std::uint64_t duplicates, duplicate_key;  ///< keys that were there before, and one of them
  std::uint64_t distinct;
};

template <class ExecutionSpace>
inline constexpr TeamShape hp_shape =
    is_host_space<ExecutionSpace> ? TeamShape{1, 4096} : TeamShape{256, 16};

/// Histogram of the codes. Loads come in batches before the atomic additions: they would wait for them.
template <class ExecutionSpace, class Word>
struct CountCodes : CodePass<ExecutionSpace, Word, NoValue> {
  using Bits = typename StudyCodec<Word>::bits_type;
  static constexpr int threads = hp_shape<ExecutionSpace>.threads;
  static constexpr int batch = 8;

  std::uint64_t* histogram;
  Bits size;  ///< codes from here on are outside
  HpFindings* findings;
  bool distinct;     ///< the caller says that no key comes twice
  bool interleaves;  ///< to compare: no batches

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    const Share tile = this->tile_of(team);
    const Bits low = this->range->low;
    std::size_t i = tile.begin + team.team_rank();
    for (; !interleaves && i + (batch - 1) * threads < tile.end; i += batch * threads) {
      Word key[batch];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) key[b] = this->keys.in[i + b * threads];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) add(this->rule.plain(key[b]), low);
    }
    for (; i < tile.end; i += threads) add(this->rule.plain(this->keys.in[i]), low);
  }

  KOKKOS_FUNCTION void add(Bits plain, Bits low) const {
    const Bits code = plain - low;
    if (code >= size) {
      Kokkos::atomic_inc(&findings->outside);
      Kokkos::atomic_store(&findings->outside_key, static_cast<std::uint64_t>(plain));
    } else if (!distinct) {
      Kokkos::atomic_inc(&histogram[code]);
    } else if (Kokkos::atomic_fetch_add(&histogram[code], std::uint64_t{1}) > 0) {
      Kokkos::atomic_inc(&findings->duplicates);
      Kokkos::atomic_store(&findings->duplicate_key, static_cast<std::uint64_t>(plain));
    }
  }
};

/// What kernels over an array of numbers know: teams take tiles of it.
template <class ExecutionSpace>
struct NumberTiles {
  static constexpr TeamShape shape = hp_shape<ExecutionSpace>;
  std::size_t count;

  KOKKOS_FUNCTION Share tile(const TeamMember<ExecutionSpace>& team) const {
    return share_of(count, shape.round(), static_cast<std::size_t>(team.league_rank()));
  }
  /// The thread's own run of the tile.
  KOKKOS_FUNCTION Share run(const TeamMember<ExecutionSpace>& team) const {
    return share_of(
        count, shape.items,
        static_cast<std::size_t>(team.league_rank()) * shape.threads + team.team_rank());
  }
};

/// Histogram of prefix sums: entry p tells how many values have p keys up to them.
template <class ExecutionSpace>
struct CountPrefixes : NumberTiles<ExecutionSpace> {
  const std::uint64_t* prefixes;
  std::uint64_t* histogram;

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    const Share tile = this->tile(team);
    for (std::size_t k = tile.begin + team.team_rank(); k < tile.end; k += this->shape.threads) {
      Kokkos::atomic_inc(&histogram[prefixes[k]]);
    }
  }
};

/// From codes in order to keys.
template <class ExecutionSpace, class Word>
struct WriteCodes : NumberTiles<ExecutionSpace> {
  const std::uint64_t* codes;
  const CodeRange<Word>* range;
  StudyCodec<Word> codec;
  Word* keys;

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    using Bits = typename StudyCodec<Word>::bits_type;
    const Share tile = this->tile(team);
    const Bits low = range->low;
    for (std::size_t i = tile.begin + team.team_rank(); i < tile.end; i += this->shape.threads) {
      keys[i] = codec.decode(low + static_cast<Bits>(codes[i]));
    }
  }
};

/// Distinct keys: a value that occurs goes to how many lie below it. `below` has one entry more.
template <class ExecutionSpace, class Word>
struct WriteDistinct : NumberTiles<ExecutionSpace> {
  const std::uint64_t* below;
  const CodeRange<Word>* range;
  StudyCodec<Word> codec;
  Word* keys;

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    using Bits = typename StudyCodec<Word>::bits_type;
    const Share tile = this->tile(team);
    const Bits low = range->low;
    for (std::size_t k = tile.begin + team.team_rank(); k < tile.end; k += this->shape.threads) {
      if (below[k + 1] != below[k]) keys[below[k]] = codec.decode(low + static_cast<Bits>(k));
    }
  }
};

/// How many values of each tile of the histogram occur.
template <class ExecutionSpace>
struct CountValues : NumberTiles<ExecutionSpace> {
  const std::uint64_t* histogram;
  std::uint64_t* counts;  ///< one per tile
  HpFindings* findings;

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    const Share run = this->run(team);
    std::uint64_t mine = 0;
    for (std::size_t k = run.begin; k < run.end; ++k) mine += histogram[k] != 0;
    const auto sum = scan_team<NumberTiles<ExecutionSpace>::shape.threads>(team, mine);
    if (team.team_rank() != 0) return;
    counts[team.league_rank()] = sum.total;
    Kokkos::atomic_add(&findings->distinct, sum.total);
  }
};

/// The histogram without its zeros: the values that occur, in order, and how often.
template <class ExecutionSpace>
struct CompressZeros : NumberTiles<ExecutionSpace> {
  const std::uint64_t* histogram;
  const std::uint64_t* firsts;  ///< of each tile
  std::uint64_t *values, *occurrences;

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    const Share run = this->run(team);
    std::uint64_t mine = 0;
    for (std::size_t k = run.begin; k < run.end; ++k) mine += histogram[k] != 0;
    const auto sum = scan_team<NumberTiles<ExecutionSpace>::shape.threads>(team, mine);
    std::uint64_t to = firsts[team.league_rank()] + sum.before;
    for (std::size_t k = run.begin; k < run.end; ++k) {
      if (histogram[k] == 0) continue;
      values[to] = k;
      occurrences[to++] = histogram[k];
    }
  }
};

/// Where each value begins, by how much it exceeds the one before.
template <class ExecutionSpace>
struct SetSteps : NumberTiles<ExecutionSpace> {
  const std::uint64_t *values, *begins;
  std::uint64_t* steps;

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    const Share tile = this->tile(team);
    for (std::size_t j = tile.begin + team.team_rank(); j < tile.end; j += this->shape.threads) {
      steps[begins[j]] = values[j] - (j == 0 ? 0 : values[j - 1]);
    }
  }
};

}  // namespace kradix::impl
