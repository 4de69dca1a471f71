/// What a distributed sort did.
#pragma once

#include <cstdint>
#include <ostream>

#include "kradix/mpi/options.hpp"

namespace kradix::mpi {

/// Seconds of this rank, phase by phase. Phases end when the rank's device is done with them; but where
/// ranges of the local sort overlap the exchange of later ones, or a merge reads what other ranks show, that time counts as
/// `exchange` alone.
struct Times {
  double check = 0;  ///< arguments compared, counts gathered
  /// Is it sorted already; as a rule one read, for which bits vary and first digits.
  double survey = 0;
  double first_sort = 0;  ///< of Work::sort_first, or sort_halves
  double splitters = 0;
  double partition = 0;
  double allocate = 0;  ///< counts told to the receivers, memory for the result
  double exchange = 0;
  double sort = 0;
  double total = 0;
};

/// Choices and counts are the same on every rank; bytes and times are this rank's own.
struct Report {
  std::uint64_t total = 0;       ///< N, elements of all ranks
  std::uint64_t before = 0;      ///< elements of the result on lower ranks
  double imbalance = 1;          ///< most elements of a rank, as a multiple of N/p
  std::uint64_t bytes_sent = 0;  ///< to other ranks, forwarded bytes of a two-level route included
  std::uint64_t messages_sent = 0;  ///< after cutting
  std::uint64_t temporary_bytes =
      0;           ///< most that was held at once, beside the caller's arrays and the result
  int rounds = 0;  ///< of histograms that were all-reduced
  int ranges = 1;
  bool sorted_already = false;  ///< nothing was sorted, only sizes changed (one rank never looks)
  bool exact = true;            ///< sizes are exactly those asked for
  Work work = Work::automatic;
  Transport transport = Transport::automatic;
  Route route = Route::automatic;
  Times seconds;
};

inline std::ostream& operator<<(std::ostream& out, const Report& report) {
  const Times& t = report.seconds;
  out << report.total << " elements, " << name(report.work) << ", " << name(report.transport)
      << ", " << name(report.route) << ", " << report.ranges << " ranges, " << report.rounds
      << " rounds" << (report.sorted_already ? ", sorted already" : "")
      << (report.exact ? ", exact" : ", sampled") << ", imbalance " << report.imbalance << ", "
      << report.bytes_sent << " bytes in " << report.messages_sent << " messages, "
      << report.temporary_bytes << " temporary bytes; seconds: " << t.total << " (check " << t.check
      << ", survey " << t.survey << ", first sort " << t.first_sort << ", splitters " << t.splitters
      << ", partition " << t.partition << ", exchange " << t.exchange << ", sort " << t.sort << ")";
  return out;
}

}  // namespace kradix::mpi
