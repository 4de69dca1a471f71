// Inputs spread over ranks, and what must come of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mpi.h>
#include <numeric>
#include <string>
#include <vector>

#include "kradix/impl/device/sample_places.hpp"
#include "kradix/impl/mpi/transports.hpp"
#include "support/device.hpp"
#include "support/inputs.hpp"
#include "support/reference.hpp"

namespace world {

inline int rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
inline int size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// How the N elements lie on the ranks before a sort.
enum class Spread { even, ramp, on_first, on_last, every_other, fewer_than_ranks, none };
inline constexpr Spread all_spreads[] = {Spread::even,        Spread::ramp,
                                         Spread::on_first,    Spread::on_last,
                                         Spread::every_other, Spread::fewer_than_ranks,
                                         Spread::none};

inline std::vector<std::size_t> counts(Spread spread, std::size_t per_rank) {
  const auto p = static_cast<std::size_t>(size());
  std::vector<std::size_t> counts(p, 0);
  for (std::size_t r = 0; r < p; ++r) {
    switch (spread) {
      case Spread::even:
        counts[r] = per_rank;
        break;
      case Spread::ramp:
        counts[r] = per_rank * 2 * r / p + 1;
        break;
      case Spread::on_first:
        counts[r] = r == 0 ? per_rank * p : 0;
        break;
      case Spread::on_last:
        counts[r] = r + 1 == p ? per_rank * p : 0;
        break;
      case Spread::every_other:
        counts[r] = r % 2 == 0 ? per_rank : 0;
        break;
      case Spread::fewer_than_ranks:
        counts[r] = r % 2 == 1 ? 1 : 0;
        break;
      case Spread::none:
        break;
    }
  }
  return counts;
}

/// Key patterns that are unkind to distributed sorts; places are those of Helman, Bader and JaJa's and of
/// Shan and Singh's benchmarks, for p ranks of n keys.
enum class Shape {
  uniform,
  equal,
  few,
  one_key_99,
  zipf,
  narrow,
  sorted,
  reversed,
  staggered,
  g_group,
  bucket_sorted,
  deterministic_duplicates,
  all_to_one,
  mirrored
};
inline constexpr Shape all_shapes[] = {
    Shape::uniform,    Shape::equal,   Shape::few,           Shape::one_key_99,
    Shape::zipf,       Shape::narrow,  Shape::sorted,        Shape::reversed,
    Shape::staggered,  Shape::g_group, Shape::bucket_sorted, Shape::deterministic_duplicates,
    Shape::all_to_one, Shape::mirrored};

/// 64 bits of element `i` of `n` on rank `r` of `p`; `global` counts through all ranks.
inline std::uint64_t pattern(Shape shape, std::uint64_t r, std::uint64_t p, std::uint64_t i,
                             std::uint64_t n, std::uint64_t global, std::uint64_t total) {
  const std::uint64_t random = inputs::mix(0x9e3779b97f4a7c15u * (global + 1) + 12345);
  const std::uint64_t step = ~std::uint64_t{0} / p;  // of the keys that belong to one rank
  const auto in_bucket = [&](std::uint64_t bucket) { return bucket * step + random % step; };
  switch (shape) {
    case Shape::uniform:
      return random;
    case Shape::equal:
      return 0x0123456789abcdefu;
    case Shape::few:
      return random % 3 * 0x4000000040000000u;
    case Shape::one_key_99:
      return random % 100 < 99 ? 0x7777777777777777u : inputs::mix(random);
    case Shape::zipf:
      return (std::uint64_t{1} << 40) / (1 + random % 5000);
    case Shape::narrow:
      return (std::uint64_t{0x5a} << 56) + random % 1000;
    case Shape::sorted:
      return ~std::uint64_t{0} / (total + 1) * global;
    case Shape::reversed:
      return ~std::uint64_t{0} / (total + 1) * (total - global);
    case Shape::staggered:  // ranks of the lower half hold odd buckets
      return in_bucket(r < p / 2 ? 2 * r + 1 : 2 * (r - p / 2) % p);
    case Shape::g_group: {  // groups of two ranks hold the buckets of the next group
      const std::uint64_t part = n > 0 ? i * 2 / n : 0;
      return in_bucket((r / 2 * 2 + p / 2 + part) % p);
    }
    case Shape::bucket_sorted:  // every rank holds all buckets one after the other
      return in_bucket(n > 0 ? i * p / n : 0);
    case Shape::
        deterministic_duplicates: {  // half of all keys are one value, a quarter the next ...
      std::uint64_t value = 0;
      for (std::uint64_t left = i; left > 0 && value < 20; left /= 2) ++value;
      return value << 30;
    }
    case Shape::all_to_one:
      return (p - 1) * step + random % step;
    case Shape::mirrored:
      return in_bucket(p - 1 - r);
  }
  return 0;
}

template <class Key>
Key key_of(std::uint64_t bits) {
  return inputs::key_of<Key>({bits, inputs::Kind::spread});
}

/// All elements of all ranks, known to every rank.
template <class Key>
struct Whole {
  std::vector<std::size_t> counts;
  std::vector<Key> keys;

  Whole(Shape shape, Spread spread, std::size_t per_rank)
      : counts(world::counts(spread, per_rank)) {
    const std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    for (std::size_t r = 0; r < counts.size(); ++r) {
      for (std::size_t i = 0; i < counts[r]; ++i) {
        keys.push_back(
            key_of<Key>(pattern(shape, r, counts.size(), i, counts[r], keys.size(), total)));
      }
    }
  }

  std::size_t begin_of(int r) const {
    return std::accumulate(counts.begin(), counts.begin() + r, std::size_t{0});
  }
  template <class T>
  std::vector<T> mine(const std::vector<T>& all) const {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(begin_of(rank()));
    return std::vector<T>(
        begin, begin + static_cast<std::ptrdiff_t>(counts[static_cast<std::size_t>(rank())]));
  }
};

/// `all[indices]` cut to the `count` elements from `begin` on.
template <class T>
std::vector<T> slice(const std::vector<T>& all, const std::vector<std::size_t>& indices,
                     std::size_t begin, std::size_t count) {
  std::vector<T> part;
  for (std::size_t i = begin; i < begin + count && i < indices.size(); ++i) {
    part.push_back(all[indices[i]]);
  }
  return part;
}

inline std::size_t balanced(std::size_t total, int r) {
  const auto p = static_cast<std::size_t>(size());
  return total / p + (static_cast<std::size_t>(r) < total % p ? 1 : 0);
}

/// Elements of the result on lower ranks.
inline std::size_t sum_below(std::size_t mine) {
  std::uint64_t own = mine;
  std::uint64_t below = 0;
  MPI_Exscan(&own, &below, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return rank() == 0 ? 0 : static_cast<std::size_t>(below);
}

/// Can these ranks' GPUs fetch from each other? Collective.
inline bool has_peers() {
  auto& comm = kradix::impl::mpi::Communicator::of(MPI_COMM_WORLD);
  return kradix::impl::mpi::peers_are_possible<Space>(comm);
}
/// What moves elements beside kernels between these ranks' GPUs. Collective.
inline std::vector<kradix::mpi::Transport> transports_beside() {
  std::vector<kradix::mpi::Transport> all;
  if (has_peers()) all.push_back(kradix::mpi::Transport::peer);
#ifdef KRADIX_ENABLE_NCCL
  auto& comm = kradix::impl::mpi::Communicator::of(MPI_COMM_WORLD);
  if (kradix::impl::mpi::nccl_is_possible<Space>(comm)) all.push_back(kradix::mpi::Transport::nccl);
#endif
  return all;
}

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Keys that lie evenly as far as any sample sees, but a tenth of them lies in one cell: so many kinds, side by side.
inline Whole<std::uint64_t> full_cell(std::size_t per_rank, std::uint64_t kinds) {
  constexpr std::size_t samples = 2048;
  const kradix::impl::SamplePlaces places(per_rank, samples);
  std::vector<bool> sampled(per_rank, false);
  for (std::size_t i = 0; i < samples; ++i) sampled[places.of(i)] = true;
  Whole<std::uint64_t> whole(Shape::uniform, Spread::even, per_rank);
  for (std::size_t i = 0; i < whole.keys.size(); ++i) {
    std::uint64_t& key = whole.keys[i];
    if (i % 10 == 0 && !sampled[i % per_rank]) key = (std::uint64_t{1} << 62) + key % kinds;
  }
  return whole;
}

}  // namespace world
