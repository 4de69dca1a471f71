// Was the tool started by mpirun? Then sort and check run on all ranks together.
#pragma once

#include <stdexcept>
#include <string>

#include "commands.hpp"

namespace tool {

/// An error that all ranks throw alike: rank 0 tells it.
class CommonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// MPI runs while one of these lives, if mpirun started this process on several ranks.
class Ranks {
 public:
  Ranks();
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  static int size();
  static int rank();
  /// Ends all ranks: for errors that the others do not know of.
  static void abort();
};

void run_sort_on_ranks(const SortCommand& command);
void run_check_on_ranks(const CheckCommand& command);

}  // namespace tool
