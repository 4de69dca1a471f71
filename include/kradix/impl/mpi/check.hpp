// MPI's return codes, checked in one place, and errors on which all ranks agree before any of them throws.
#pragma once

#include <cstdint>
#include <exception>
#include <mpi.h>
#include <stdexcept>
#include <string>

namespace kradix::impl::mpi {

/// Something that was called for an exchange has failed.
[[noreturn]] inline void fail(const char* call, const std::string& why) {
  throw std::runtime_error("kradix::mpi: " + std::string(call) + ": " + why);
}

inline void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail(call, std::string(text, static_cast<std::size_t>(length)));
}

/// What one rank's part of a step came to. Steps that may fail on one rank alone run in `attempt`;
/// `agree` then makes all ranks throw the error of the first that failed, or none.
class Verdict {
 public:
  template <class Step>
  void attempt(const Step& step) {
    if (kind_ != Kind::none) return;
    try {
      step();
    } catch (const std::invalid_argument& error) {
      fail(Kind::argument, error.what());
    } catch (const std::exception& error) {
      fail(Kind::runtime, error.what());
    }
  }

  /// Collective. `function` names the public function that this rank called.
  void agree(MPI_Comm comm, const char* function) const {
    int rank = 0;
    int size = 0;
    check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
    int first = kind_ == Kind::none ? size : rank;
    check(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
    if (first == size) return;
    // The failing rank words the message: another may have called another function.
    std::string message = "kradix::mpi::" + std::string(function) + ": rank " +
                          std::to_string(rank) + " of " + std::to_string(size) +
                          " failed: " + message_;
    int head[2] = {static_cast<int>(kind_), static_cast<int>(message.size())};
    check(MPI_Bcast(head, 2, MPI_INT, first, comm), "MPI_Bcast");
    message.resize(static_cast<std::size_t>(head[1]));
    check(MPI_Bcast(message.data(), head[1], MPI_CHAR, first, comm), "MPI_Bcast");
    if (static_cast<Kind>(head[0]) == Kind::argument) throw std::invalid_argument(message);
    throw std::runtime_error(message);
  }

 private:
  enum class Kind : int { none, argument, runtime };

  void fail(Kind kind, const char* what) {
    constexpr std::size_t longest = 4096;
    kind_ = kind;
    message_ = std::string(what).substr(0, longest);
  }

  Kind kind_ = Kind::none;
  std::string message_;
};

}  // namespace kradix::impl::mpi
