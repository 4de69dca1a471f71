// One case: data made on the device, sorted, timed and verified.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <kradix/mpi/sort.hpp>
#include <kradix/sort.hpp>
#include <mpi.h>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "mpi/alltoall.hpp"
#include "mpi/host_link.hpp"
#include "mpi/options.hpp"

namespace bench_mpi {

template <class Key>
using Keys = Kokkos::View<Key*, Space::memory_space>;
using Values = Kokkos::View<std::uint32_t*, Space::memory_space>;
inline constexpr int most_arrays = 3;
using Arrays = std::array<Values, most_arrays>;  ///< those that are not asked for are empty
using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::size_t>>;

template <class Key>
struct FillPart {
  Keys<Key> keys;
  inputs::Input input;
  std::uint64_t first, total;
  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    keys(i) = input.template at<Key>(first + i, total);
  }
};

/// A value tells which key it belongs to, and in which array.
template <class Key>
KOKKOS_FUNCTION std::uint32_t value_for(Key key, int array) {
  return static_cast<std::uint32_t>(inputs::mix(static_cast<std::uint64_t>(key)) >> array);
}

template <class Key>
struct FillValues {
  Keys<Key> keys;
  Values values;
  int array;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { values(i) = value_for(keys(i), array); }
};

/// As who sorts several arrays by one key does it on one GPU.
struct Gather {
  Values places, from, to;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { to(i) = from(places(i)); }
};

template <class Key>
struct AddHashes {
  Keys<Key> keys;
  KOKKOS_FUNCTION void operator()(std::size_t i, std::uint64_t& sum) const {
    sum += inputs::mix(static_cast<std::uint64_t>(keys(i)) + 0x9e3779b97f4a7c15u);
  }
};

/// Keys before their left neighbour, and values that are not their key's.
template <class Key>
struct CountWrong {
  Keys<Key> keys;
  Values values;
  int array;
  KOKKOS_FUNCTION void operator()(std::size_t i, std::uint64_t& wrong) const {
    if (i > 0 && keys(i) < keys(i - 1)) ++wrong;
    if (values.extent(0) > 0 && values(i) != value_for(keys(i), array)) ++wrong;
  }
};

/// Medians over repetitions of the slowest rank's seconds.
struct Outcome {
  std::uint64_t total = 0, per_rank = 0, bytes_sent = 0, temporary_bytes = 0;
  double seconds = 0, local_sort = 0, alltoall = 0;
  double beside_sort = 0;  ///< the all-to-all while local sorts run, where NCCL sends
  HostLink link;           ///< where pieces were staged
  kradix::mpi::Report report;
};

template <class Key>
class Contest {
 public:
  Contest(const Options& options, int rank, int size)
      : options_(options), rank_(rank), size_(size) {
    const auto ranks = static_cast<std::uint64_t>(size);
    const auto r = static_cast<std::uint64_t>(rank);
    outcome_.total = options.total > 0 ? options.total : options.count * ranks;
    const std::uint64_t extra = outcome_.total % ranks;
    outcome_.per_rank = outcome_.total / ranks + (r < extra ? 1 : 0);
    const std::uint64_t first = outcome_.total / ranks * r + std::min(r, extra);
    keys_ = Keys<Key>(raw("keys"), outcome_.per_rank);
    Kokkos::parallel_for("bench_mpi::FillPart", all(),
                         FillPart<Key>{keys_, options.input, first, outcome_.total});
    values_ = make_arrays("values", keys_.extent(0));
    for (int a = 0; a < arrays(); ++a) {
      Kokkos::parallel_for("bench_mpi::FillValues", all(), FillValues<Key>{keys_, values_[a], a});
    }
    exec_.fence();
  }

  Outcome measure() {
    std::vector<kradix::mpi::Report> reports;
    std::vector<double> totals;
    for (int i = 0; i <= options_.repetitions; ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      const auto report = sort_once();
      const double seconds = slowest(MPI_Wtime() - begin);
      verify();
      if (i == 0) continue;  // made communicators, took memory
      totals.push_back(seconds);
      reports.push_back(report);
    }
    outcome_.seconds = median(totals);
    outcome_.report = reports.back();
    outcome_.report.seconds = median_phases(reports);
    std::uint64_t most[2] = {reports.back().bytes_sent, reports.back().temporary_bytes};
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    outcome_.bytes_sent = most[0];
    outcome_.temporary_bytes = most[1];
    release();
    outcome_.local_sort = time_local_sort();
    if (outcome_.report.transport == kradix::mpi::Transport::staged) {
      outcome_.link = time_host_link(exec_, options_.repetitions);
    }
    outcome_.alltoall = alltoall_seconds(
        exec_, rank_, size_, most[0], options_.repetitions, [] {}, [] {});
    outcome_.beside_sort = time_alltoall_beside_sort(most[0]);
    return outcome_;
  }

 private:
  static double median(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    return samples[samples.size() / 2];
  }
  static auto raw(const char* label) {
    return Kokkos::view_alloc(std::string("bench_mpi::") + label, Kokkos::WithoutInitializing);
  }
  int arrays() const { return options_.values > 0 ? options_.arrays : 0; }
  Arrays make_arrays(const char* label, std::size_t count) const {
    Arrays made;
    for (int a = 0; a < arrays(); ++a) made[a] = Values(raw(label), count);
    return made;
  }
  Range all() const { return Range(exec_, 0, keys_.extent(0)); }

  kradix::mpi::Report sort_once() {
    kradix::mpi::Options options = options_.sort;
    options.workspace = &workspace_;
    if (!options.splitters.is_exact()) return sort_to_new(options);
    if (sorted_.extent(0) != keys_.extent(0)) {
      sorted_ = Keys<Key>(raw("sorted"), keys_.extent(0));
      sorted_values_ = make_arrays("sorted_values", keys_.extent(0));
    }
    if (arrays() == 0) return kradix::mpi::sort(MPI_COMM_WORLD, exec_, keys_, sorted_, options);
    if (arrays() == 1) {
      return kradix::mpi::sort_by_key(MPI_COMM_WORLD, exec_, keys_, values_[0], sorted_,
                                      sorted_values_[0], options);
    }
    return kradix::mpi::sort_by_key(MPI_COMM_WORLD, exec_, keys_, std::tuple_cat(values_), sorted_,
                                    std::tuple_cat(sorted_values_), options);
  }

  /// Of sampled splitters nobody knows the size before.
  kradix::mpi::Report sort_to_new(const kradix::mpi::Options& options) {
    if (arrays() == 0) {
      auto result = kradix::mpi::sort(MPI_COMM_WORLD, exec_, keys_, options);
      sorted_ = result.keys;
      return result.report;
    }
    if (arrays() == 1) {
      auto result = kradix::mpi::sort_by_key(MPI_COMM_WORLD, exec_, keys_, values_[0], options);
      sorted_ = result.keys;
      sorted_values_[0] = result.values;
      return result.report;
    }
    auto result =
        kradix::mpi::sort_by_key(MPI_COMM_WORLD, exec_, keys_, std::tuple_cat(values_), options);
    sorted_ = result.keys;
    std::apply([&](const auto&... views) { sorted_values_ = {views...}; }, result.values);
    return result.report;
  }

  void verify() {
    std::uint64_t wrong = 0;
    const Range mine(exec_, 0, sorted_.extent(0));
    for (int a = 0; a < std::max(arrays(), 1); ++a) {
      std::uint64_t found = 0;
      Kokkos::parallel_reduce("bench_mpi::CountWrong", mine,
                              CountWrong<Key>{sorted_, sorted_values_[a], a}, found);
      wrong += found;
    }
    std::uint64_t hash[2] = {0, 0};
    Kokkos::parallel_reduce("bench_mpi::AddHashes", all(), AddHashes<Key>{keys_}, hash[0]);
    Kokkos::parallel_reduce("bench_mpi::AddHashes", mine, AddHashes<Key>{sorted_}, hash[1]);
    wrong += !ranks_in_order();
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, hash, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (wrong > 0 || hash[0] != hash[1]) {
      throw std::runtime_error("the result is wrong in " + std::to_string(wrong) + " places" +
                               (hash[0] != hash[1] ? ", keys are lost" : ""));
    }
  }

  /// Does this rank's first key not belong before the last one of any rank below?
  bool ranks_in_order() const {
    const std::size_t n = sorted_.extent(0);
    std::uint64_t ends[3] = {n, 0, 0};
    if (n > 0) {
      Key first{}, last{};
      Kokkos::deep_copy(first, Kokkos::subview(sorted_, 0));
      Kokkos::deep_copy(last, Kokkos::subview(sorted_, n - 1));
      ends[1] = first;
      ends[2] = last;
    }
    std::vector<std::uint64_t> all(3 * static_cast<std::size_t>(size_));
    MPI_Allgather(ends, 3, MPI_UINT64_T, all.data(), 3, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int r = 0; r < rank_; ++r) {
      const auto* const other = &all[3 * static_cast<std::size_t>(r)];
      if (n > 0 && other[0] > 0 && other[2] > ends[1]) return false;
    }
    return true;
  }

  static kradix::mpi::Times median_phases(const std::vector<kradix::mpi::Report>& reports) {
    using Times = kradix::mpi::Times;
    Times result;
    for (double Times::*phase :
         {&Times::check, &Times::survey, &Times::first_sort, &Times::splitters, &Times::partition,
          &Times::allocate, &Times::exchange, &Times::sort, &Times::total}) {
      std::vector<double> samples;
      for (const auto& report : reports) samples.push_back(slowest(report.seconds.*phase));
      result.*phase = median(samples);
    }
    return result;
  }

  double time_local_sort() {
    kradix::Workspace workspace;
    const Keys<Key> keys(raw("local keys"), keys_.extent(0));
    const Arrays values = make_arrays("local values", keys_.extent(0));
    const Values places(raw("places"), arrays() > 1 ? keys_.extent(0) : 0);
    std::vector<double> samples;
    for (int i = 0; i <= options_.repetitions; ++i) {
      Kokkos::deep_copy(exec_, keys, keys_);
      for (int a = 0; a < arrays(); ++a) Kokkos::deep_copy(exec_, values[a], values_[a]);
      exec_.fence();
      const double begin = MPI_Wtime();
      if (arrays() == 0) {
        kradix::sort(exec_, keys, {.workspace = &workspace});
      } else if (arrays() == 1) {
        kradix::sort_by_key(exec_, keys, values[0], {.workspace = &workspace});
      } else {
        kradix::argsort(exec_, keys, places, {.workspace = &workspace});
        for (int a = 0; a < arrays(); ++a) {
          Kokkos::parallel_for("bench_mpi::Gather", all(), Gather{places, values_[a], values[a]});
        }
      }
      exec_.fence();
      const double seconds = slowest(MPI_Wtime() - begin);
      if (i > 0) samples.push_back(seconds);
    }
    return median(samples);
  }

  /// As in an exchange of several ranges: the sort is under way, the exchange comes later and goes before.
  double time_alltoall_beside_sort(std::uint64_t bytes) {
#ifdef KRADIX_ENABLE_NCCL
    kradix::Workspace workspace;
    const Keys<Key> keys(raw("local keys"), keys_.extent(0));
    int least = 0, greatest = 0;
    cudaStream_t stream = nullptr;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest);
    const auto start = [&] {
      for (int i = 0; i < 2; ++i) {  // as long as the exchange takes
        Kokkos::deep_copy(exec_, keys, keys_);
        kradix::sort(exec_, keys, {.workspace = &workspace});
      }
    };
    const double seconds = alltoall_seconds(Space(stream), rank_, size_, bytes,
                                            options_.repetitions, start, [&] { exec_.fence(); });
    cudaStreamDestroy(stream);
    return seconds;
#else
    (void)bytes;
    return 0;
#endif
  }

  void release() {
    workspace_.release();
    sorted_ = {};
    sorted_values_ = {};
  }

  const Options& options_;
  int rank_, size_;
  Space exec_;
  Keys<Key> keys_, sorted_;
  Arrays values_, sorted_values_;
  kradix::mpi::Workspace workspace_;
  Outcome outcome_;
};

}  // namespace bench_mpi
