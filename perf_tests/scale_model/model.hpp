// Seconds and bytes of a distributed sort on many ranks, from a few measured rates.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kradix/impl/mpi/plan.hpp>

namespace scale_model {

/// What was measured, or is assumed, of the machine.
struct Machine {
  double sort_rate = 49.4e9;  ///< keys per second of a rank's local sort
  double memory = 4.0e12;     ///< bytes per second that a rank reads or writes
  double node = 8;            ///< ranks
  kradix::impl::mpi::Network network{};
};

struct Work {
  double keys = 1e9;  ///< of a rank
  double key_bytes = 4;
  double rounds = 4;           ///< of the splitter search
  double histogram_bytes = 0;  ///< all-reduced in all rounds together
};

struct Seconds {
  double survey, splitters, partition, one_level, two_level, sort;
  double with(double exchange) const { return survey + splitters + partition + exchange + sort; }
};

inline Seconds predict(const Machine& machine, const Work& work, double ranks) {
  const double bytes = work.keys * work.key_bytes;
  const double latency = machine.network.latency;
  const bool one_node = ranks <= machine.node;
  const double link = one_node ? machine.network.within_node : machine.network.between_nodes;
  Seconds s{};
  s.survey = bytes / machine.memory;
  // An all-reduce of large blocks moves them twice, in 2 log2(p) steps.
  s.splitters = bytes / machine.memory +
                work.rounds * 2 * std::log2(std::max(2.0, ranks)) * latency +
                2 * work.histogram_bytes / link;
  s.partition = 3 * bytes / machine.memory;
  s.one_level = one_node ? (ranks - 1) * latency + bytes * (ranks - 1) / ranks / link
                         : kradix::impl::mpi::one_level_seconds(machine.network, ranks, bytes);
  s.two_level =
      one_node ? s.one_level
               : kradix::impl::mpi::two_level_seconds(machine.network, ranks, machine.node, bytes);
  s.sort = work.keys / machine.sort_rate;
  return s;
}

/// Device memory of a rank: input, result, what is sent, counters, and the local sort's own.
inline double device_bytes(const Work& work, double ranks) {
  return 3 * work.keys * work.key_bytes + 2048 * ranks + 17e6;
}

/// Host memory of a rank: counts from and to every rank, cuts, two histograms of 64-bit counts.
inline double host_bytes(double ranks) {
  return ranks * (10 * 8 + 72 + 2 * 2048);
}

}  // namespace scale_model
