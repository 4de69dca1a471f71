// Prefix sums of a whole array of 64-bit numbers, in place, by the methods that there are to compare.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/scan_chain.hpp"
#include "kradix/impl/device/team_scan.hpp"
#include "kradix/impl/scratch.hpp"

namespace kradix::impl {

template <class ExecutionSpace>
inline constexpr TeamShape scan_shape =
    is_host_space<ExecutionSpace> ? TeamShape{1, 2048} : TeamShape{256, 8};

/// Kernels of a pass that a sort turns out not to need return at once.
struct PassClock {
  const PassTable* passes = nullptr;  ///< null: there is no such doubt
  int pass = 0;
  KOKKOS_FUNCTION bool idle() const { return passes && pass >= passes->count; }
};

/// An array to scan, exclusively or inclusively.
struct ScanTask {
  std::uint64_t* data;
  std::size_t count;
  bool inclusive;
  PassClock clock;
};

/// What a thread does with the numbers of a tile that are its own: a run, so that they lie in order.
template <class ExecutionSpace>
struct ScanTile {
  using Team = TeamMember<ExecutionSpace>;
  static constexpr TeamShape shape = scan_shape<ExecutionSpace>;
  static constexpr std::size_t size = shape.round();

  std::uint64_t number[shape.items];
  Share run;

  KOKKOS_FUNCTION ScanTile(const ScanTask& task, std::size_t tile, int thread)
      : run(share_of(task.count, shape.items, tile * shape.threads + thread)) {
    const int mine = static_cast<int>(run.end - run.begin);
    KRADIX_UNROLL
    for (int i = 0; i < shape.items; ++i) number[i] = i < mine ? task.data[run.begin + i] : 0;
  }
  KOKKOS_FUNCTION std::uint64_t sum() const {
    std::uint64_t sum = 0;
    KRADIX_UNROLL
    for (int i = 0; i < shape.items; ++i) sum += number[i];
    return sum;
  }
  KOKKOS_FUNCTION void store(const ScanTask& task, std::uint64_t before) const {
    const int mine = static_cast<int>(run.end - run.begin);
    KRADIX_UNROLL
    for (int i = 0; i < shape.items; ++i) {
      const std::uint64_t after = before + number[i];
      if (i < mine) task.data[run.begin + i] = task.inclusive ? after : before;
      before = after;
    }
  }
};

/// Divide and conquer, first step: the sum of each tile.
template <class ExecutionSpace>
struct SumTiles {
  ScanTask task;
  std::uint64_t* sums;

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (task.clock.idle()) return;
    const ScanTile<ExecutionSpace> tile(task, team.league_rank(), team.team_rank());
    const auto sum = scan_team<scan_shape<ExecutionSpace>.threads>(team, tile.sum());
    if (team.team_rank() == 0) sums[team.league_rank()] = sum.total;
  }
};

/// Second step: one team makes the sums of the tiles before each.
template <class ExecutionSpace>
struct ScanSums {
  static constexpr int threads = scan_shape<ExecutionSpace>.threads;
  ScanTask sums;

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (sums.clock.idle()) return;
    std::uint64_t before = 0;
    for (std::size_t tile = 0; tile * ScanTile<ExecutionSpace>::size < sums.count; ++tile) {
      const ScanTile<ExecutionSpace> mine(sums, tile, team.team_rank());
      const auto sum = scan_team<threads>(team, mine.sum());
      mine.store(sums, before + sum.before);
      before += sum.total;
    }
  }
};

/// Third step: each tile is scanned from the sum of those before it.
template <class ExecutionSpace>
struct CombineTiles {
  ScanTask task;
  const std::uint64_t* sums;

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (task.clock.idle()) return;
    const ScanTile<ExecutionSpace> tile(task, team.league_rank(), team.team_rank());
    const auto sum = scan_team<scan_shape<ExecutionSpace>.threads>(team, tile.sum());
    tile.store(task, sums[team.league_rank()] + sum.before);
  }
};

/// One kernel: a tile learns the sum of those before it from what they publish.
template <class ExecutionSpace>
struct ScanOnce {
  ScanTask task;
  ScanChain<ExecutionSpace> chain;

  static std::size_t scratch_bytes() { return 2 * sizeof(std::uint64_t); }

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (task.clock.idle()) return;
    constexpr int threads = scan_shape<ExecutionSpace>.threads;
    auto* const shared = take_scratch<std::uint64_t>(team, 2);
    if (team.team_rank() == 0) shared[0] = chain.take_ticket();
    team.team_barrier();
    const auto index = static_cast<std::uint32_t>(shared[0]);
    const ScanTile<ExecutionSpace> tile(task, index, team.team_rank());
    const auto sum = scan_team<threads>(team, tile.sum());
    if (team.team_rank() == 0) shared[1] = chain.exchange(index, sum.total);
    team.team_barrier();
    tile.store(task, shared[1] + sum.before);
  }
};

/// Zeroes the words of a chain, or any others.
template <class ExecutionSpace>
struct ZeroWords {
  static constexpr int threads = scan_shape<ExecutionSpace>.threads;
  std::uint64_t* words;
  std::size_t count;
  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    const std::size_t step = static_cast<std::size_t>(team.league_size()) * threads;
    for (std::size_t i = static_cast<std::size_t>(team.league_rank()) * threads + team.team_rank();
         i < count; i += step) {
      words[i] = 0;
    }
  }
};

inline std::size_t tiles_of(std::size_t count, std::size_t tile) {
  return (count + tile - 1) / tile;
}

/// Scans arrays of up to `most` numbers by one method.
template <class ExecutionSpace>
class ArrayScanner {
 public:
  struct Scratch {
    Slot words;  ///< sums of tiles, or the chain's words
    static Scratch list(std::size_t most, ArrayScan method, ScratchList& list) {
      const std::size_t tiles = tiles_of(most, ScanTile<ExecutionSpace>::size);
      const std::size_t words =
          method == ArrayScan::divide_and_conquer ? tiles : ChainShape(method).words(tiles);
      return {list.add(words, sizeof(std::uint64_t))};
    }
  };

  ArrayScanner(const ExecutionSpace& exec, ArrayScan method, const Scratch& scratch,
               std::byte* base, std::string label)
      : exec_(exec),
        method_(method),
        words_(scratch.words.template in<std::uint64_t>(base)),
        label_(std::move(label)) {}

  void scan(const ScanTask& task) const {
    const std::size_t tiles = tiles_of(task.count, ScanTile<ExecutionSpace>::size);
    if (tiles == 0) return;
    if (method_ == ArrayScan::divide_and_conquer) {
      launch("SumTiles", tiles, 0, SumTiles<ExecutionSpace>{task, words_});
      launch("ScanSums", 1, 0, ScanSums<ExecutionSpace>{{words_, tiles, false, task.clock}});
      launch("CombineTiles", tiles, 0, CombineTiles<ExecutionSpace>{task, words_});
    } else if constexpr (has_lanes<ExecutionSpace>) {
      const ChainShape shape(method_);
      zero(words_, shape.words(tiles));
      launch("ScanOnce", tiles, ScanOnce<ExecutionSpace>::scratch_bytes(),
             ScanOnce<ExecutionSpace>{task, ScanChain<ExecutionSpace>{shape, words_, tiles}});
    }
  }

  void zero(std::uint64_t* words, std::size_t count) const {
    const std::size_t teams = tiles_of(count, ScanTile<ExecutionSpace>::size);
    if (teams == 0) return;
    launch("ZeroWords", teams < 1024 ? teams : 1024, 0, ZeroWords<ExecutionSpace>{words, count});
  }

 private:
  template <class Kernel>
  void launch(const char* name, std::size_t teams, std::size_t scratch_bytes,
              const Kernel& kernel) const {
    constexpr TeamShape shape{scan_shape<ExecutionSpace>.threads, 1};
    launch_teams<shape>(exec_, label_ + name, teams, scratch_bytes, kernel);
  }

  const ExecutionSpace& exec_;
  ArrayScan method_;
  std::uint64_t* words_;
  std::string label_;
};

}  // namespace kradix::impl
