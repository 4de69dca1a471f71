// Ranks that cannot read each other's memory show it by copies, so that what reads it afar is tested anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <mpi.h>
#include <utility>
#include <vector>

#include "kradix/impl/mpi/communicator.hpp"
#include "kradix/impl/mpi/transport.hpp"

namespace world {

/// Messages, and copies of what is shown.
class CopyingTraffic : public kradix::impl::mpi::DirectTraffic {
  using Batches = kradix::impl::mpi::Batches;
  using Pieces = kradix::impl::mpi::Pieces;

  class Shown : public kradix::impl::mpi::BatchesInTurn {
   public:
    Shown(Traffic& traffic, std::vector<Pieces> batches, Pieces shown)
        : BatchesInTurn(traffic, std::move(batches)), shown_(std::move(shown)) {
      for (auto& piece : shown_.receives) {
        rooms_.emplace_back(piece.bytes);
        piece.data = rooms_.back().data();
      }
      traffic.exchange(shown_.sends, shown_.receives);
      times += shown_.sends.empty() && shown_.receives.empty() ? 0 : 1;
    }
    const std::byte* where(int rank, std::size_t i) const override {
      for (const auto& piece : shown_.receives) {
        if (piece.rank == rank && i-- == 0) return piece.data;
      }
      return Batches::where(rank, i);
    }

   private:
    Pieces shown_;
    std::vector<std::vector<std::byte>> rooms_;
  };

 public:
  static inline int times = 0;  ///< that anything was shown
  static inline bool checks_alignment = false;

  explicit CopyingTraffic(const kradix::impl::mpi::Communicator& comm)
      : DirectTraffic(comm, 4096) {}

  std::unique_ptr<Batches> begin(std::vector<Pieces> batches, const Pieces& to_show) override {
    for (const Pieces& batch : batches) {
      if (!checks_alignment) break;
      expect_aligned(batch.sends);
      expect_aligned(batch.receives);
    }
    return std::make_unique<Shown>(*this, std::move(batches), to_show);
  }

 private:
  /// What knows how far from an aligned place it is sent lies as far from one, on both ends.
  static void expect_aligned(const std::vector<kradix::impl::mpi::Piece>& pieces) {
    for (const auto& piece : pieces) {
      if (piece.lead == 0) continue;
      const auto place = reinterpret_cast<std::uintptr_t>(piece.data) + piece.lead;
      EXPECT_EQ(place % kradix::impl::mpi::aligned_bytes, 0u) << "rank " << piece.rank;
    }
  }
};

/// While it lives, all sorts over MPI_COMM_WORLD.
class ShownByCopies {
 public:
  ShownByCopies() {
    instead().make = [](const kradix::impl::mpi::Communicator& comm) {
      return std::make_unique<CopyingTraffic>(comm);
    };
  }
  ~ShownByCopies() {
    instead().make = nullptr;
    CopyingTraffic::checks_alignment = false;
  }
  ShownByCopies(const ShownByCopies&) = delete;
  ShownByCopies& operator=(const ShownByCopies&) = delete;

 private:
  static kradix::impl::mpi::TrafficInstead& instead() {
    return kradix::impl::mpi::Communicator::of(MPI_COMM_WORLD)
        .keep<kradix::impl::mpi::TrafficInstead>();
  }
};

}  // namespace world
