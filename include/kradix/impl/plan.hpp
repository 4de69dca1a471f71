// What is to be sorted + the machine -> Plan: a plain, printable host value.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <stdexcept>
#include <string>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/dealing.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/ranging.hpp"
#include "kradix/impl/device/ranking.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/host/memory.hpp"
#include "kradix/impl/host/simd_leaf.hpp"
#include "kradix/impl/scratch.hpp"
#include "kradix/impl/tuning.hpp"
#include "kradix/options.hpp"

namespace kradix {

/// How a call will sort, decided before anything is launched. `operator<<` prints it in one line.
struct Plan {
  Algorithm algorithm = Algorithm::automatic;
  std::size_t count = 0;
  int key_bytes = 0;
  int value_bytes = 0;  ///< bytes that travel with each key in every pass; 0: keys alone
  BitRange bits{};      ///< resolved: end is never BitRange::all
  int digit_bits = 0;
  int passes = 0;         ///< at most; digits in which no key differs are skipped on the device
  std::size_t round = 0;  ///< elements that a team partitions at once
  std::size_t tile = 0;   ///< elements per team: whole rounds
  std::size_t tiles = 0;
  std::size_t chunk = 0;  ///< elements that a team finishes in scratch or cache (0: no finish)
  std::size_t crowded_chunk = 0;  ///< the same, where many of them are alike
  std::size_t ranked = 0;  ///< so many elements are ranked among all, in one launch (0: none are)
  std::size_t gathered =
      0;  ///< elements of a tile that keys are gathered by, if they spread (0: they are not)
  std::size_t numbered = 0;   ///< likewise, where each lies in one word with its index
  std::size_t dealt = 0;      ///< places that keys alone are dealt out to (0: they are not)
  std::size_t dealt_bin = 0;  ///< then, those of a bin, at most
  std::size_t ranged =
      0;  ///< elements of a tile that is sorted by bins of a short range, if keys lie in one (0: none is)
  std::size_t teams = 0;  ///< teams that claim tiles one after the other (0: one a tile)
  bool stable = true;
  bool parts_words = false;  ///< SIMD parts and sorts keys alone where that serves
  bool packs = false;        ///< keys or values are strided and go through contiguous scratch
  bool permutes = false;     ///< values move once at the end, through a sorted index
  bool waits =
      false;  ///< the host waits for what the device chooses, and launches no more than that
  std::size_t temporary_bytes = 0;
  std::string reason;
  StudyOptions study{};  ///< resolved, of an algorithm for study
};

namespace impl {

/// "onesweep: 1000 keys of 4 B with 8 B each, up to 4 passes of 8 bits": what a region is called.
inline std::string summary(const Plan& plan) {
  std::string text(name(plan.algorithm));
  text += ": " + std::to_string(plan.count) + " keys of " + std::to_string(plan.key_bytes) + " B";
  if (plan.value_bytes > 0) text += " with " + std::to_string(plan.value_bytes) + " B each";
  return text + ", up to " + std::to_string(plan.passes) + " passes of " +
         std::to_string(plan.digit_bits) + " bits";
}

}  // namespace impl

inline std::ostream& operator<<(std::ostream& out, const Plan& plan) {
  out << impl::summary(plan) << " over bits [" << plan.bits.begin << ", " << plan.bits.end << "), "
      << plan.tiles << " tiles of " << plan.tile << (plan.stable ? ", stable" : ", not stable")
      << (plan.parts_words ? ", may part words by SIMD" : "")
      << (plan.packs ? ", packs strided data" : "")
      << (plan.permutes ? ", moves values once by a sorted index" : "")
      << (plan.waits ? ", waits for the device's choice" : "") << ", " << plan.temporary_bytes
      << " temporary bytes; " << plan.reason;
  if (is_study(plan.algorithm)) out << " with " << plan.study;
  return out;
}

namespace impl {

/// What the planner needs to know of a call, free of types.
struct Problem {
  std::size_t count = 0;
  int key_bytes = 0;
  int key_bits = 0;
  BitRange bits{};      ///< as the caller gave it, already checked
  int value_bytes = 0;  ///< of what travels with each key
  bool packs = false;
  bool permutes = false;
  bool numbers = false;  ///< only indices are wanted, where words of keys and indices may lie
  bool host_may_wait = false;
  Algorithm forced = Algorithm::automatic;
  StudyOptions study{};
  bool floating = false, integral = false;  ///< built-in keys
  bool told_apart = false;  ///< keys alone that are equal in order are equal in bits
};

/// What the planner needs to know of the machine.
struct Machine {
  int concurrency = 1;  ///< threads that run at once
  TeamShape shape{};
  TeamShape sweep{};   ///< of a Onesweep team for these elements, if it can take them
  TeamShape finish{};  ///< of a team that finishes in scratch, likewise
  TeamShape rank{};    ///< of a team that ranks a share of all that there is, likewise
  TeamShape small{};   ///< of a team's tiles where there are few
  bool has_lanes = false;
  std::size_t cache_bytes =
      0;                  ///< that a core has for itself; 0: not a host whose work is done at once
  bool has_simd = false;  ///< a host's, of 32 bytes or more, at hand by Highway
  TeamShape gather{};     ///< of a team that gathers, if words of keys may be
  TeamShape number{};     ///< or words of keys and indices
  TeamShape finish_dealt{};  ///< of one that sorts a bin of keys that were dealt out
  TeamShape range_tile{},
      range_bin{};  ///< of one that sorts a tile by bins of a short range, and of one that sorts those
  TeamShape expand{};       ///< of a team that writes counted keys, if they are short enough
  bool measured = true;     ///< were the shapes measured on this architecture?
  TeamShape short_sweep{};  ///< instead of `sweep`, of so many elements
  std::size_t least_for_short_sweeps = 0, most_for_short_sweeps = 0;
  TeamShape long_finish[2] =
      {};  ///< instead of `finish`, of so many elements that two digits leave longer runs
  std::size_t most_ranked = 0;  ///< elements, if they are ranked
};

template <class ExecutionSpace>
Machine machine_of(const ExecutionSpace& exec, std::size_t key_bytes, std::size_t value_bytes,
                   std::size_t code_bytes) {
  Machine machine{exec.concurrency(),       team_shape<ExecutionSpace>(), {}, {}, {}, {},
                  has_lanes<ExecutionSpace>};
  if (has_lanes<ExecutionSpace>) {
    machine.sweep = sweep_shape<ExecutionSpace>(key_bytes, value_bytes);
    machine.short_sweep = short_sweep_shape<ExecutionSpace>(key_bytes, value_bytes);
    if (machine.short_sweep.exists() && value_bytes <= 4) {
      machine.most_for_short_sweeps = most_for_short_sweeps<ExecutionSpace>;
    } else if (machine.short_sweep.exists()) {
      // Where all of them run at once, and tiles of the other length would not.
      const auto together = [&](const TeamShape& shape) {
        return running_teams(exec, shape) * static_cast<std::size_t>(shape.round());
      };
      machine.least_for_short_sweeps = together(machine.sweep) + 1;
      machine.most_for_short_sweeps = together(machine.short_sweep);
    }
    machine.finish = finish_shape<ExecutionSpace>(key_bytes, value_bytes);
    machine.long_finish[0] = long_finish_shape<ExecutionSpace>(key_bytes, value_bytes, 2);
    machine.long_finish[1] = long_finish_shape<ExecutionSpace>(key_bytes, value_bytes, 4);
    machine.rank = rank_shape<ExecutionSpace>(key_bytes, value_bytes, code_bytes);
    machine.most_ranked = most_ranked(key_bytes, code_bytes);
    if (machine.rank.exists() && !is_host_space<ExecutionSpace>) {
      const std::size_t most = Ranking::most_by(running_teams(exec, machine.rank));
      machine.most_ranked = std::min(machine.most_ranked, most);
    }
    machine.expand = expand_shape<ExecutionSpace>(key_bytes);
    const bool is_word = key_bytes == 4 || key_bytes == 8;
    if (is_word) machine.gather = gather_shape<ExecutionSpace>(key_bytes, value_bytes);
    machine.number = gather_shape<ExecutionSpace>(8, 0);
    if (is_word) {
      machine.finish_dealt = finish_dealt_shape<ExecutionSpace>(key_bytes);
      machine.range_tile = range_tile_shape<ExecutionSpace>(value_bytes);
      machine.range_bin = range_bin_shape<ExecutionSpace>(value_bytes);
    }
    if (machine.sweep.exists()) {
      machine.small = small_sweep_shape<ExecutionSpace>(key_bytes, value_bytes);
    }
  }
  if (works_at_once<ExecutionSpace>) {
    machine.cache_bytes = core_cache_bytes();
    machine.has_simd = has_simd();
  }
  machine.measured = has_measured_shapes<ExecutionSpace>;
  return machine;
}

/// Elements that a team partitions at once: what its registers hold, or on hosts what a thread's cache
/// holds, less where that would leave threads without work.
inline std::size_t round_elements(const Problem& problem, const Machine& machine) {
  if (!machine.shape.serial()) return static_cast<std::size_t>(machine.shape.round());
  constexpr std::size_t least = 1024;  // below this a digit's 256 counters outweigh the elements
  const auto threads = static_cast<std::size_t>(machine.concurrency);
  const auto element_bytes = static_cast<std::size_t>(problem.key_bytes + problem.value_bytes);
  return std::clamp(problem.count / (4 * threads), least, serial_round(element_bytes));
}

/// Elements per team: whole rounds, so many that the count table stays small.
inline std::size_t tile_elements(std::size_t count, std::size_t round) {
  const std::size_t rounds = (count + round * max_tiles - 1) / (round * max_tiles);
  return std::max<std::size_t>(1, rounds) * round;
}

/// Below this many elements samples take longer than what they find saves, beside a glance.
inline std::size_t least_to_sample(int passes) {
  return std::size_t{1} << (passes > 4 ? 22 : 25);
}
/// And below this many, the launches of a finish outweigh the passes that it saves: the sooner the more
/// passes there are. Of three passes a glance saves none.
inline std::size_t least_to_finish(int passes) {
  if (passes < 4) return least_to_sample(passes);
  return std::size_t{1} << (passes > 4 ? 20 : 22);
}

/// Elements that one team finishes in scratch.
inline std::size_t chunk_elements(const Machine& machine) {
  return static_cast<std::size_t>(machine.finish.round());
}

/// Of so many elements whose topmost digit spreads evenly, every bin most likely fits a chunk: it lies
/// four standard deviations above the mean (less the little by which 2^20 of 8 bytes would miss it).
/// Shorter keys have no finish: one or two digits of theirs need none, and with more they are ranked.
inline std::size_t most_for_small(const Machine& machine, int passes) {
  const auto chunk = static_cast<double>(chunk_elements(machine));
  if (machine.finish.exists())
    return static_cast<std::size_t>((chunk - 3.75 * std::sqrt(chunk)) * bin_count);
  if (passes > 2) return machine.most_ranked;
  constexpr std::size_t most_tiles = 256;  // whose counts each team adds up
  return most_tiles * static_cast<std::size_t>(machine.small.round());
}

/// Of so many elements two digits that spread evenly leave runs of which hardly one is longer than a chunk.
inline std::size_t most_for_two_sweeps(std::size_t chunk) {
  const auto most = static_cast<double>(chunk);
  return static_cast<std::size_t>((most - 2.75 * std::sqrt(most)) * bin_count * bin_count);
}
/// The shortest chunk that is long enough, if there is one.
inline std::size_t chunk_for(std::size_t count, const Machine& machine) {
  const std::size_t usual = chunk_elements(machine);
  if (count <= most_for_two_sweeps(usual)) return usual;
  for (const TeamShape& shape : machine.long_finish) {
    const auto chunk = static_cast<std::size_t>(shape.round());
    if (count <= most_for_two_sweeps(chunk)) return chunk;
  }
  return usual;
}

inline bool can_count(const Problem& problem, const Machine& machine) {
  return machine.expand.exists() && problem.value_bytes == 0 && problem.told_apart;
}

/// May integers with values be sorted by bins of a short range, should they lie in one?
inline bool may_range(const Problem& problem, const Machine& machine) {
  if (!machine.range_tile.exists() || !problem.integral || problem.value_bytes == 0) return false;
  const auto tile = static_cast<std::size_t>(machine.range_tile.round());
  const auto bin = static_cast<std::size_t>(machine.range_bin.round());
  return problem.bits.begin == 0 && problem.count >= least_ranged &&
         Ranging::of(problem.count, tile, bin, Ranging::most_bins).exists();
}

/// Which algorithm, and why.
inline void choose_algorithm(const Problem& problem, const Machine& machine, Plan& plan) {
  plan.algorithm = problem.forced;
  plan.reason = "forced by the caller";
  if (problem.forced == Algorithm::onesweep && !machine.sweep.exists()) {
    throw std::invalid_argument(
        "kradix: onesweep needs lanes and elements of at most 16 bytes, these are keys of " +
        std::to_string(problem.key_bytes) + " bytes with values of " +
        std::to_string(problem.value_bytes) + " bytes");
  }
  if (problem.forced == Algorithm::msd_hybrid && !machine.finish.exists()) {
    throw std::invalid_argument(
        "kradix: msd_hybrid needs lanes, keys of 4 to 16 bytes and values of at most 16, these are "
        "keys of " +
        std::to_string(problem.key_bytes) + " bytes with values of " +
        std::to_string(problem.value_bytes) + " bytes");
  }
  if (problem.forced == Algorithm::small_msd &&
      (!machine.rank.exists() ||
       (!machine.finish.exists() && problem.count > most_for_small(machine, plan.passes)))) {
    throw std::invalid_argument(
        "kradix: small_msd needs lanes, elements of at most 16 bytes, codes no longer than 8 where "
        "elements are not, and not more than " +
        std::to_string(machine.rank.exists() ? most_for_small(machine, plan.passes) : 0) +
        " of them where keys are shorter than 4 bytes; these are " + std::to_string(problem.count) +
        " keys of " + std::to_string(problem.key_bytes) + " bytes with values of " +
        std::to_string(problem.value_bytes) + " bytes");
  }
  if (problem.forced == Algorithm::counting && !can_count(problem, machine)) {
    throw std::invalid_argument(
        "kradix: counting needs lanes, and built-in keys of 1 or 2 bytes alone, in order of all "
        "their "
        "bits (of floats by Stability::automatic); these are " +
        std::string(problem.told_apart ? "" : "other or stable ") + "keys of " +
        std::to_string(problem.key_bytes) + " bytes with values of " +
        std::to_string(problem.value_bytes) + " bytes, in order of bits [" +
        std::to_string(plan.bits.begin) + ", " + std::to_string(plan.bits.end) + ")");
  }
  if (problem.forced == Algorithm::blocked_radix && machine.cache_bytes == 0) {
    throw std::invalid_argument("kradix: blocked_radix runs on Serial, OpenMP and Threads only");
  }
  if (problem.forced != Algorithm::automatic) return;
  if (machine.cache_bytes > 0) {
    plan.algorithm = Algorithm::blocked_radix;
    plan.reason = "a host's core sorts best what its own cache holds";
    return;
  }
  const bool sweeps = machine.sweep.exists() && !machine.shape.serial();
  const bool counts = sweeps && can_count(problem, machine);
  const bool counts_few = counts && problem.key_bytes == 1 && problem.count >= least_lone_bytes;
  if (!counts_few && sweeps && machine.rank.exists() &&
      problem.count <= most_for_small(machine, plan.passes)) {
    plan.algorithm = Algorithm::small_msd;
    plan.reason = "launches cost more than memory at this size";
    return;
  }
  if (counts) {
    plan.algorithm = Algorithm::counting;
    plan.reason = "short keys are sooner counted than moved";
    return;
  }
  // Where no more bits count than bins of a short range tell apart.
  const bool is_short = plan.bits.end - plan.bits.begin <= Ranging::most_bits &&
                        problem.host_may_wait && may_range(problem, machine);
  if (sweeps && machine.finish.exists() && plan.passes >= 3 &&
      (problem.count >= least_to_finish(plan.passes) || is_short)) {
    plan.algorithm = Algorithm::msd_hybrid;
    plan.reason = "a few sweeps and a finish in scratch move elements least on a GPU";
    return;
  }
  plan.algorithm = sweeps ? Algorithm::onesweep : Algorithm::four_kernel;
  plan.reason = sweeps ? "one read and one write a pass is least on a GPU"
                       : "the portable stable sort is right for every input";
}

/// Blocks are far from all caches if they are together so many times as large as what a core has for itself.
inline constexpr std::size_t far_blocks = 64;

/// Blocks and buckets of a host sort, as large as a core's cache takes, and who works on them.
inline void plan_blocks(const Problem& problem, const Machine& machine, Plan& plan) {
  constexpr int bucket_bits = 10, most_bucket_bits = 11;
  const auto threads = static_cast<std::size_t>(machine.concurrency);
  const auto record_bytes = static_cast<std::size_t>(problem.key_bytes + problem.value_bytes);
  plan.teams = host_threads(problem.count, threads);
  const auto cached = [&](std::size_t eighths) {
    return std::max(least_block, machine.cache_bytes * eighths / 8 / record_bytes);
  };
  const auto fits = [&] { return problem.count >> plan.digit_bits <= plan.chunk / 4 * 3; };
  // A bucket lies in the cache twice while it is sorted. Where that asks for too many buckets they spill over: a level more
  // takes longer, as do twice as many buckets, which are the last resort.
  plan.digit_bits = bucket_bits;
  plan.chunk = cached(3);
  if (!fits()) plan.chunk = cached(6);
  if (!fits()) plan.digit_bits = most_bucket_bits;
  plan.passes = (plan.bits.end - plan.bits.begin + plan.digit_bits - 1) / plan.digit_bits;
  // A block lies there beside its source. Where no cache holds all blocks, buckets are gathered sooner from longer ones.
  const bool far = problem.count * record_bytes > far_blocks * machine.cache_bytes;
  const std::size_t block = cached(far ? 4 : 2);
  plan.tile = staggered_block(host_block(problem.count, plan.teams, block),
                              std::size_t{1} << plan.digit_bits, record_bytes);
  plan.round = plan.tile;
  plan.tiles = (problem.count + plan.tile - 1) / plan.tile;
  const bool are_words = problem.value_bytes == 0 && problem.told_apart && plan.bits.begin == 0 &&
                         plan.bits.end == 8 * problem.key_bytes &&
                         (problem.key_bytes == 4 || problem.key_bytes == 8);
  plan.parts_words = machine.has_simd && are_words;
}

/// Tiles of the result that are written from the counts of whole keys: short ones where there are few keys,
/// whose bins lie close together, so that every processor has some.
inline void plan_counting(const Problem& problem, const Machine& machine, Plan& plan) {
  constexpr std::size_t store_bytes = 16;
  const std::size_t stored = store_bytes / static_cast<std::size_t>(problem.key_bytes);
  const auto threads = static_cast<std::size_t>(machine.expand.threads);
  plan.digit_bits = problem.key_bits;
  plan.passes = 1;
  plan.round = threads * stored;
  plan.tile = static_cast<std::size_t>(machine.expand.round()) * stored;
  const std::size_t teams = static_cast<std::size_t>(machine.concurrency) / threads;
  if (problem.count / plan.tile < teams) plan.tile = plan.round;
  plan.tiles = (problem.count + plan.tile - 1) / plan.tile;
}

/// A pure function of its arguments. `temporary_bytes` is added by who lists the scratch memory.
inline Plan make_plan(const Problem& problem, const Machine& machine) {
  Plan plan;
  plan.count = problem.count;
  plan.key_bytes = problem.key_bytes;
  plan.value_bytes = problem.value_bytes;
  plan.bits = {problem.bits.begin,
               problem.bits.end == BitRange::all ? problem.key_bits : problem.bits.end};
  plan.digit_bits = digit_bits;
  plan.passes = (plan.bits.end - plan.bits.begin + digit_bits - 1) / digit_bits;
  plan.stable = true;
  plan.packs = problem.packs;
  plan.permutes = problem.permutes;
  choose_algorithm(problem, machine, plan);
  if (!machine.measured)
    plan.reason += " (shapes by occupancy: none measured on this architecture)";
  if (plan.algorithm == Algorithm::blocked_radix) {
    plan_blocks(problem, machine, plan);
    return plan;
  }
  if (plan.algorithm == Algorithm::counting) {
    plan_counting(problem, machine, plan);
    return plan;
  }
  const bool small = plan.algorithm == Algorithm::small_msd;
  const bool finishes = plan.algorithm == Algorithm::msd_hybrid || small;
  const bool sweeps = plan.algorithm == Algorithm::onesweep || finishes;
  if (finishes) plan.chunk = plan.crowded_chunk = chunk_elements(machine);
  if (small) plan.ranked = machine.most_ranked;
  if (plan.algorithm == Algorithm::msd_hybrid) plan.chunk = chunk_for(problem.count, machine);
  plan.waits = plan.algorithm == Algorithm::msd_hybrid && problem.host_may_wait;
  const bool counts_all_bits = plan.bits.end - plan.bits.begin == problem.key_bits;
  const bool may_gather = problem.told_apart || problem.value_bytes > 0;  // those in their order
  if (plan.algorithm == Algorithm::msd_hybrid && may_gather && problem.integral &&
      counts_all_bits && plan.chunk == plan.crowded_chunk) {
    plan.gathered = static_cast<std::size_t>(machine.gather.round());
    if (problem.numbers && problem.key_bytes == 4 && problem.value_bytes == 4) {
      plan.numbered = static_cast<std::size_t>(machine.number.round());
    }
    // Others pay for a launch where the host does not wait.
    if (problem.value_bytes == 0 && plan.waits && machine.finish_dealt.exists() &&
        problem.count >= least_tried &&
        problem.count <= most_dealt(static_cast<std::size_t>(problem.key_bytes))) {
      plan.dealt_bin = static_cast<std::size_t>(machine.finish_dealt.round());
      plan.dealt = Dealing::of(problem.count, plan.dealt_bin).places();
    }
  }
  if (plan.waits && may_range(problem, machine))
    plan.ranged = static_cast<std::size_t>(machine.range_tile.round());
  const bool short_sweeps = problem.count >= machine.least_for_short_sweeps &&
                            problem.count <= machine.most_for_short_sweeps;
  const TeamShape swept = short_sweeps ? machine.short_sweep : machine.sweep;
  const TeamShape tile = small ? machine.small : swept;
  plan.round = sweeps ? static_cast<std::size_t>(tile.round()) : round_elements(problem, machine);
  plan.tile = sweeps ? plan.round : tile_elements(problem.count, plan.round);
  plan.tiles = (problem.count + plan.tile - 1) / plan.tile;
  return plan;
}

}  // namespace impl
}  // namespace kradix
