// How pieces of bytes travel between ranks. Knows ranks and bytes, not keys.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mpi.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kradix/impl/mpi/communicator.hpp"
#include "kradix/impl/tuning.hpp"

namespace kradix::impl::mpi {

/// Places at which words can be moved that are as wide as they come.
inline constexpr std::uint64_t aligned_bytes = 16;
/// To the next one.
inline std::uint64_t bytes_to_alignment(std::uint64_t place) {
  return aligned_bytes - place % aligned_bytes;
}

/// Contiguous bytes for, or from, another rank.
struct Piece {
  int rank;
  std::byte* data;
  std::uint64_t bytes;
  std::uint64_t lead =
      0;  ///< so many come before an aligned place, where they are sent; 0: unknown
};

/// What leaves this rank, and what comes to it.
struct Pieces {
  std::vector<Piece> sends, receives;
};

/// Memory that others may keep mapped.
struct Shown {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  std::string label;  ///< of what is allocated for others

  bool holds(const Piece& piece) const {
    return begin && piece.data >= begin && piece.data + piece.bytes <= begin + bytes;
  }
};

/// How far to the right another rank is. Both ends of a message see the same step.
inline int step_to(int rank, int size, int to) {
  return to >= rank ? to - rank : to - rank + size;
}

/// So many bytes, or some more: what CUDA allocates for it, with what Kokkos puts before it, ends where a page of 2 MB does.
/// Allocations that do not, to within 4 KB, end where one of 64 KB does are mapped by others in such a way that they fetch from
/// them at four fifths of the rate, or two thirds beside kernels.
constexpr std::size_t whole_pages(std::size_t bytes) {
  constexpr std::size_t page = std::size_t{1} << 21, of_kokkos = 2048;  // at most
  return (bytes + of_kokkos + page - 1) / page * page - of_kokkos;
}
/// Of memory that other ranks may map; of less than they do, no more.
template <class ExecutionSpace>
std::size_t bytes_to_map(std::size_t bytes) {
  return is_host_space<ExecutionSpace> || bytes < whole_pages(1) ? bytes : whole_pages(bytes);
}

/// Pieces cut into messages, the nearest partners first: in step s every rank sends to the one s to its
/// right, so that no rank is everybody's target at once.
class Messages {
 public:
  struct Message {
    int step;
    Piece piece;
  };

  /// `sends`: the pieces leave this rank, else they come to it. Messages between two ranks keep the order
  /// of their pieces. `by_nccl`: what leads to an aligned place goes by itself, where the rest is worth it
  /// (and where there is no need, as long as both ways between two ranks take as many messages), and no messages are
  /// of a size that slows NCCL down.
  Messages(const std::vector<Piece>& pieces, int rank, int size, bool sends, std::size_t most_bytes,
           bool by_nccl = false) {
    constexpr std::uint64_t worth_it = std::uint64_t{1} << 20;
    for (const Piece& piece : pieces) {
      const int step = sends ? step_to(rank, size, piece.rank) : step_to(piece.rank, size, rank);
      const std::uint64_t most =
          by_nccl ? std::min<std::uint64_t>(alike_by_nccl(piece.bytes), most_bytes) : most_bytes;
      const bool leads = by_nccl && piece.lead > 0 && piece.bytes >= worth_it;
      std::uint64_t next = leads ? std::min(piece.lead, most) : most;
      for (std::uint64_t done = 0, here = 0; done < piece.bytes; done += here) {
        here = std::min(next, piece.bytes - done);
        list_.push_back({step, {piece.rank, piece.data + done, here}});
        next = most;
      }
    }
    std::stable_sort(list_.begin(), list_.end(),
                     [](const Message& a, const Message& b) { return a.step < b.step; });
  }

  /// Of messages just above and just below 2^27 or 2^28 bytes NCCL 2.28 moves all at two thirds of its rate. A piece of
  /// about that size goes in three.
  static std::uint64_t alike_by_nccl(std::uint64_t bytes) {
    for (const int power : {27, 28}) {
      const std::uint64_t size = std::uint64_t{1} << power, near = size / 8;
      if (bytes > size - near && bytes < size + near) {
        constexpr std::uint64_t step = 32 * aligned_bytes;
        return (bytes / 3 / step + 1) * step;
      }
    }
    return bytes;
  }

  std::size_t count() const { return list_.size(); }
  const Message& operator[](std::size_t i) const { return list_[i]; }
  /// The first message from `begin` on whose step is greater than `step`.
  std::size_t end_of_step(std::size_t begin, int step) const {
    while (begin < list_.size() && list_[begin].step <= step) ++begin;
    return begin;
  }

 private:
  std::vector<Message> list_;
};

/// Batches of pieces under way.
class Batches {
 public:
  virtual ~Batches() = default;
  /// Kernels that the sort enqueues from now on may read what the next batch brings.
  virtual void next() = 0;
  /// Where what another rank shows lies: the i-th piece of those it was asked for.
  virtual const std::byte* where(int rank, std::size_t i) const {
    throw std::logic_error("kradix::mpi: rank " + std::to_string(rank) + " does not show piece " +
                           std::to_string(i));
  }
  /// Returns when all has arrived here, and nobody looks at what was sent or shown any more. Kernels that read what others
  /// show must be done.
  virtual void finish() = 0;
};

class Traffic {
 public:
  virtual ~Traffic() = default;
  /// Sends and receives all pieces; returns when they have arrived and may be read by kernels. What the
  /// pieces hold must be there: the device is fenced before.
  virtual void exchange(const std::vector<Piece>& sends, const std::vector<Piece>& receives) = 0;
  /// The same in batches, one after the other; what is sent stays until they are finished. And where kernels can read
  /// it, other ranks are shown pieces where they lie (what comes of them to this rank needs no place).
  virtual std::unique_ptr<Batches> begin(std::vector<Pieces> batches, const Pieces& to_show);

  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::uint64_t messages_sent() const { return messages_sent_; }

 protected:
  void count(const Piece& sent) {
    bytes_sent_ += sent.bytes;
    ++messages_sent_;
  }

 private:
  std::uint64_t bytes_sent_ = 0;
  std::uint64_t messages_sent_ = 0;
};

/// One that begins batches and does not wait for each.
class TrafficInBatches : public Traffic {
 public:
  void exchange(const std::vector<Piece>& sends, const std::vector<Piece>& receives) override {
    const auto under_way = begin({{sends, receives}}, {});
    under_way->next();
    under_way->finish();
  }

 protected:
  void count(const std::vector<Messages>& sent) {
    for (const Messages& batch : sent) {
      for (std::size_t i = 0; i < batch.count(); ++i) Traffic::count(batch[i].piece);
    }
  }
};

/// Each is waited for.
class BatchesInTurn : public Batches {
 public:
  BatchesInTurn(Traffic& traffic, std::vector<Pieces> batches)
      : traffic_(traffic), batches_(std::move(batches)) {}
  void next() override {
    const Pieces& batch = batches_[next_++];
    traffic_.exchange(batch.sends, batch.receives);
  }
  void finish() override {}

 private:
  Traffic& traffic_;
  std::vector<Pieces> batches_;
  std::size_t next_ = 0;
};

inline std::unique_ptr<Batches> Traffic::begin(std::vector<Pieces> batches, const Pieces&) {
  return std::make_unique<BatchesInTurn>(*this, std::move(batches));
}

/// What moves pieces instead of a transport, if one is kept with the communicator: tests let ranks show, by copies, what nobody
/// else can read.
struct TrafficInstead {
  std::function<std::unique_ptr<Traffic>(const Communicator&)> make;
};

inline constexpr int exchange_tag = 77;

/// MPI reads and writes the pieces where they lie.
class DirectTraffic : public Traffic {
 public:
  DirectTraffic(const Communicator& comm, std::size_t message_bytes)
      : comm_(comm), message_bytes_(message_bytes) {}

  void exchange(const std::vector<Piece>& sends, const std::vector<Piece>& receives) override {
    const Messages out(sends, comm_.rank(), comm_.size(), true, message_bytes_);
    const Messages in(receives, comm_.rank(), comm_.size(), false, message_bytes_);
    std::size_t sent = 0;
    std::size_t received = 0;
    // A window of partners at a time: thousands of open requests slow MPI down.
    constexpr int partners = 8;
    for (int step = partners; sent < out.count() || received < in.count(); step += partners) {
      std::vector<MPI_Request> requests;
      for (const std::size_t end = in.end_of_step(received, step); received < end; ++received) {
        const Piece& piece = in[received].piece;
        check(MPI_Irecv(piece.data, static_cast<int>(piece.bytes), MPI_BYTE, piece.rank,
                        exchange_tag, comm_.get(), &requests.emplace_back()),
              "MPI_Irecv");
      }
      for (const std::size_t end = out.end_of_step(sent, step); sent < end; ++sent) {
        const Piece& piece = out[sent].piece;
        count(piece);
        check(MPI_Isend(piece.data, static_cast<int>(piece.bytes), MPI_BYTE, piece.rank,
                        exchange_tag, comm_.get(), &requests.emplace_back()),
              "MPI_Isend");
      }
      check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
    }
  }

 private:
  const Communicator& comm_;
  std::size_t message_bytes_;
};

}  // namespace kradix::impl::mpi
