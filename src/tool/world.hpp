// The ranks that mpirun started, and what they do together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mpi.h>
#include <string>

#include "ranks.hpp"
#include "records.hpp"

namespace tool {

class World {
 public:
  World();

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool leads() const { return rank_ == 0; }

  /// Runs a step that may fail on one rank alone; then all throw what the first failing rank met.
  void together(const std::function<void()>& step) const;

  std::uint64_t sum(std::uint64_t value) const;
  double slowest(double seconds) const;
  /// Sends to one rank and receives from another, any number of bytes.
  void send_receive(const void* send, std::uint64_t send_bytes, int to, void* receive,
                    std::uint64_t receive_bytes, int from) const;

 private:
  int rank_ = 0;
  int size_ = 1;
};

void check_mpi(int code, const std::string& what);

/// This rank's share of the records, side by side with those of its neighbours.
struct Slice {
  std::uint64_t first, count;

  Slice(std::uint64_t records, int size, int rank);
};

/// A file that all ranks have open, each at its own places.
class SharedFile {
 public:
  SharedFile(const std::string& path, bool writes);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  void read(std::uint64_t offset, void* to, std::uint64_t bytes) const;
  void write(std::uint64_t offset, const void* from, std::uint64_t bytes) const;
  /// Collective: what was written is on the disk.
  void finish();

 private:
  std::string path_;
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace tool
