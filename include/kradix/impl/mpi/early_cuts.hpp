// Where the whole will be cut, guessed from first halves that are sorted.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <numeric>
#include <string>
#include <vector>

#include "kradix/impl/mpi/communicator.hpp"
#include "kradix/impl/mpi/histograms.hpp"
#include "kradix/impl/mpi/search.hpp"
#include "kradix/impl/mpi/splitters.hpp"
#include "kradix/impl/scratch.hpp"

namespace kradix::impl::mpi {

/// Keys that lie evenly in each rank's first half are taken right behind its sort, and brought together while the second half is
/// sorted: a cut lies no farther from where it would be than a step between two of them on each rank. To count all keys in
/// rounds, beside a sort that leaves no processor free, takes the exchange longer than what a better guess would save it.
template <class ExecutionSpace, class Codec>
class EarlyCuts {
 public:
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Cuts = std::vector<Cut<Bits>>;

  EarlyCuts(const Communicator& comm, const Codec& codec, const char* label)
      : comm_(comm), codec_(codec), label_(std::string(label) + "::mpi::") {}

  void list(ScratchList& scratch) { slot_ = scratch.add(most(), sizeof(Bits)); }

  /// Of `count` keys that are sorted when it comes to that. Enqueued.
  void take(const ExecutionSpace& exec, const Key* keys, std::size_t count, std::byte* base) {
    count_ = count;
    taken_ = slot_.in<Bits>(base);
    Kokkos::parallel_for(label_ + "TakeEvenly",
                         Kokkos::RangePolicy<ExecutionSpace>(exec, 0, taken_of(count)),
                         TakeEvenly<Codec>{keys, codec_, count, taken_of(count) + 1, taken_});
  }

  /// Cuts with about the share of `targets` in `total` elements on their left, and how many of this rank's half lie there. `exec`
  /// comes after the one that took. Collective.
  void find(const ExecutionSpace& exec, const std::vector<std::uint64_t>& targets,
            std::uint64_t total) {
    const auto ranks = static_cast<std::size_t>(comm_.size());
    std::vector<std::uint64_t> counts(ranks);
    check(MPI_Allgather(&count_, 1, MPI_UINT64_T, counts.data(), 1, MPI_UINT64_T, comm_.get()),
          "MPI_Allgather");
    std::vector<Bits> own = to_host(exec, taken_, taken_of(count_));
    own.resize(most());
    std::vector<Bits> all(ranks * most());
    const int bytes = static_cast<int>(most() * sizeof(Bits));
    check(MPI_Allgather(own.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm_.get()),
          "MPI_Allgather");
    const auto of_halves = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    const double share = static_cast<double>(of_halves) / static_cast<double>(total);
    std::vector<std::size_t> passed(ranks, 0);  // keys of each rank
    std::uint64_t reached = 0;
    Bits last{};
    bool any = false;
    cuts_.assign(targets.size(), {});
    places_.clear();
    for (std::size_t t = 0; t < targets.size(); ++t) {
      while (static_cast<double>(reached) < share * static_cast<double>(targets[t])) {
        std::size_t least = ranks;
        for (std::size_t r = 0; r < ranks; ++r) {
          if (passed[r] == taken_of(counts[r])) continue;
          if (least == ranks || all[r * most() + passed[r]] < all[least * most() + passed[least]]) {
            least = r;
          }
        }
        if (least == ranks) break;
        last = all[least * most() + passed[least]];
        reached -= place_of(counts[least], passed[least]);
        reached += place_of(counts[least], ++passed[least]);
        any = true;
      }
      cuts_[t].target = targets[t];
      cuts_[t].has_bits = any && targets[t] > 0 && targets[t] < total;
      cuts_[t].bits = last;
      const std::size_t mine = passed[static_cast<std::size_t>(comm_.rank())];
      places_.push_back(targets[t] < total ? place_of(count_, mine) : count_);
    }
  }
  const Cuts& cuts() const { return cuts_; }
  const std::vector<std::uint64_t>& places() const { return places_; }

 private:
  /// Of a rank: what goes to each of the others may be known to a part in so many.
  std::size_t most() const { return 256 * static_cast<std::size_t>(comm_.size()); }
  std::size_t taken_of(std::uint64_t count) const {
    return static_cast<std::size_t>(std::min<std::uint64_t>(count, most()));
  }
  /// Keys before one that is taken, counted from one on; none are before none.
  std::uint64_t place_of(std::uint64_t count, std::size_t nth) const {
    return nth * count / (taken_of(count) + 1);
  }

  const Communicator& comm_;
  Codec codec_;
  std::string label_;
  Slot slot_;
  Bits* taken_ = nullptr;
  std::uint64_t count_ = 0;
  Cuts cuts_;
  std::vector<std::uint64_t> places_;
};

}  // namespace kradix::impl::mpi
