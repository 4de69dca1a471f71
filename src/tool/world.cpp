#include "world.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace tool {

void check_mpi(int code, const std::string& what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(what + ": " + std::string(text, static_cast<std::size_t>(length)));
}

World::World() {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

void World::together(const std::function<void()>& step) const {
  std::optional<std::string> message;
  try {
    step();
  } catch (const CommonError&) {
    throw;  // all are here
  } catch (const std::exception& error) {
    message = error.what();
  }
  int first = message ? rank_ : size_;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == size_) return;
  std::string text = message.value_or("");
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, first, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, first, MPI_COMM_WORLD);
  throw CommonError(text);
}

std::uint64_t World::sum(std::uint64_t value) const {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

double World::slowest(double seconds) const {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

void World::send_receive(const void* send, std::uint64_t send_bytes, int to, void* receive,
                         std::uint64_t receive_bytes, int from) const {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  std::vector<MPI_Request> requests;
  auto* const in = static_cast<std::byte*>(receive);
  const auto* const out = static_cast<const std::byte*>(send);
  for (std::uint64_t at = 0; at < receive_bytes; at += most) {
    MPI_Irecv(in + at, static_cast<int>(std::min(most, receive_bytes - at)), MPI_BYTE, from, 0,
              MPI_COMM_WORLD, &requests.emplace_back());
  }
  for (std::uint64_t at = 0; at < send_bytes; at += most) {
    MPI_Isend(out + at, static_cast<int>(std::min(most, send_bytes - at)), MPI_BYTE, to, 0,
              MPI_COMM_WORLD, &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

Slice::Slice(std::uint64_t records, int size, int rank) {
  const auto ranks = static_cast<std::uint64_t>(size);
  const auto own = static_cast<std::uint64_t>(rank);
  const std::uint64_t extra = records % ranks;
  first = records / ranks * own + std::min(own, extra);
  count = records / ranks + (own < extra ? 1 : 0);
}

SharedFile::SharedFile(const std::string& path, bool writes) : path_(path) {
  check_mpi(MPI_File_open(MPI_COMM_WORLD, path.c_str(), writes ? MPI_MODE_WRONLY : MPI_MODE_RDONLY,
                          MPI_INFO_NULL, &file_),
            "cannot open " + path);
}

SharedFile::~SharedFile() {
  if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
}

void SharedFile::read(std::uint64_t offset, void* to, std::uint64_t bytes) const {
  auto* place = static_cast<std::byte*>(to);
  while (bytes > 0) {
    const auto piece = static_cast<int>(std::min(bytes, chunk_bytes));
    MPI_Status status;
    int got = 0;
    check_mpi(
        MPI_File_read_at(file_, static_cast<MPI_Offset>(offset), place, piece, MPI_BYTE, &status),
        "cannot read " + path_);
    MPI_Get_count(&status, MPI_BYTE, &got);
    if (got != piece) {
      throw std::runtime_error(
          "cannot read " + path_ + ": it ends at byte " +
          std::to_string(offset + static_cast<std::uint64_t>(std::max(0, got))));
    }
    place += piece;
    offset += static_cast<std::uint64_t>(piece);
    bytes -= static_cast<std::uint64_t>(piece);
  }
}

void SharedFile::write(std::uint64_t offset, const void* from, std::uint64_t bytes) const {
  const auto* place = static_cast<const std::byte*>(from);
  while (bytes > 0) {
    const auto piece = static_cast<int>(std::min(bytes, chunk_bytes));
    MPI_Status status;
    int put = 0;
    check_mpi(
        MPI_File_write_at(file_, static_cast<MPI_Offset>(offset), place, piece, MPI_BYTE, &status),
        "cannot write " + path_);
    MPI_Get_count(&status, MPI_BYTE, &put);
    if (put != piece) throw std::runtime_error("cannot write " + path_ + ": the disk may be full");
    place += piece;
    offset += static_cast<std::uint64_t>(piece);
    bytes -= static_cast<std::uint64_t>(piece);
  }
}

void SharedFile::finish() {
  check_mpi(MPI_File_sync(file_), "cannot write " + path_);
}

}  // namespace tool
