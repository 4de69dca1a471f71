// The exchange through nodes: few, long messages between them.
//
// Rank (node a, place l) first collects from its node all that goes to place l of any node, then sends
// each node's share to the rank of place l there in one piece. Pieces stay in the order of source
// ranks, so results are those of one level. Between nodes a rank has p / g partners instead of p.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <string>
#include <vector>

#include "kradix/impl/mpi/exchange.hpp"

namespace kradix::impl::mpi {

template <class ExecutionSpace>
class TwoLevelExchange {
 public:
  /// Nodes are `node_size` consecutive ranks each. Collective.
  TwoLevelExchange(const Communicator& comm, const Routing& routing, int ranges, int node_size)
      : comm_(comm),
        routing_(routing),
        ranges_(ranges),
        mates_(node_size),
        nodes_(comm.size() / node_size),
        node_(comm.rank() / node_size),
        place_(comm.rank() % node_size) {
    std::vector<std::uint64_t> to;
    for (int mate = 0; mate < mates_; ++mate) {
      for (int node = 0; node < nodes_; ++node) {
        for (int range = 0; range < ranges_; ++range)
          to.push_back(routing.to(rank(node, mate), range));
      }
    }
    from_mates_.resize(to.size());
    MPI_Comm node_comm = MPI_COMM_NULL;
    check(MPI_Comm_split(comm.get(), node_, place_, &node_comm), "MPI_Comm_split");
    const int each = nodes_ * ranges_;
    const int code = MPI_Alltoall(to.data(), each, MPI_UINT64_T, from_mates_.data(), each,
                                  MPI_UINT64_T, node_comm);
    check(MPI_Comm_free(&node_comm), "MPI_Comm_free");
    check(code, "MPI_Alltoall");
  }

  /// Takes memory for what this rank forwards, range by range and column by column.
  void allocate(std::size_t element_bytes, const std::string& label) {
    std::uint64_t most = 0;
    for (int range = 0; range < ranges_; ++range) most = std::max(most, forwarded(range));
    middle_ = Middle(Kokkos::view_alloc(label + "::mpi::forwarded", Kokkos::WithoutInitializing),
                     most * element_bytes);
  }
  std::size_t bytes() const { return middle_.extent(0); }

  void exchange(const ExecutionSpace& exec, int range, const std::vector<Column>& columns,
                Traffic& traffic) {
    for (const Column& column : columns) {
      within_node(exec, range, column, traffic);
      exec.fence("kradix::mpi: fence between the levels of an exchange");
      between_nodes(range, column, traffic);
    }
  }

 private:
  using Middle = Kokkos::View<std::byte*, typename ExecutionSpace::memory_space>;

  int rank(int node, int place) const { return node * mates_ + place; }
  /// Elements from a mate to this place on a node.
  std::uint64_t from_mate(int mate, int node, int range) const {
    return from_mates_[static_cast<std::size_t>((mate * nodes_ + node) * ranges_ + range)];
  }
  std::uint64_t forwarded(int range, int node) const {
    std::uint64_t sum = 0;
    for (int mate = 0; mate < mates_; ++mate) sum += from_mate(mate, node, range);
    return sum;
  }
  std::uint64_t forwarded(int range) const {
    std::uint64_t sum = 0;
    for (int node = 0; node < nodes_; ++node) sum += node == node_ ? 0 : forwarded(range, node);
    return sum;
  }

  /// What stays on the node arrives; the rest lies in the middle, node by node and mate by mate.
  void within_node(const ExecutionSpace& exec, int range, const Column& column, Traffic& traffic) {
    const std::size_t size = column.element_bytes;
    std::vector<Piece> sends;
    std::vector<Piece> receives;
    std::byte* middle = middle_.data();
    for (int node = 0; node < nodes_; ++node) {
      for (int mate = 0; mate < mates_; ++mate) {
        const int target = rank(node, mate);
        const int source = rank(node_, mate);
        const std::uint64_t arriving = from_mate(mate, node, range) * size;
        std::byte* const in =
            node == node_ ? column.receive + routing_.from_begin(source, range) * size : middle;
        std::byte* const out =
            const_cast<std::byte*>(column.send) + routing_.to_begin(target, range) * size;
        if (mate == place_) {
          copy_bytes(exec, in, out, arriving);
        } else {
          sends.push_back({source, out, routing_.to(target, range) * size});
          receives.push_back({source, in, arriving});
        }
        if (node != node_) middle += arriving;
      }
    }
    traffic.exchange(sends, receives);
  }

  void between_nodes(int range, const Column& column, Traffic& traffic) {
    const std::size_t size = column.element_bytes;
    std::vector<Piece> sends;
    std::vector<Piece> receives;
    std::byte* middle = middle_.data();
    for (int node = 0; node < nodes_; ++node) {
      if (node == node_) continue;
      const std::uint64_t leaving = forwarded(range, node) * size;
      std::uint64_t arriving = 0;
      for (int mate = 0; mate < mates_; ++mate) arriving += routing_.from(rank(node, mate), range);
      sends.push_back({rank(node, place_), middle, leaving});
      receives.push_back({rank(node, place_),
                          column.receive + routing_.from_begin(rank(node, 0), range) * size,
                          arriving * size});
      middle += leaving;
    }
    traffic.exchange(sends, receives);
  }

  const Communicator& comm_;
  const Routing& routing_;
  int ranges_, mates_, nodes_, node_, place_;
  std::vector<std::uint64_t> from_mates_;
  Middle middle_;
};

}  // namespace kradix::impl::mpi
