// What the ranks do with Kokkos and the library: this rank's records of a file, sorted across all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "records.hpp"
#include "world.hpp"

namespace tool {

struct RankSort {
  std::uint64_t first = 0;  ///< of this rank's part of the result
  bool by_index = false;
  std::vector<std::byte> records;  ///< unless by_index
  std::vector<std::uint64_t>
      origin;  ///< if by_index: which record of the input each of the result is
  std::uint64_t bytes_sent = 0;
  std::string execution_space;
};

/// Sorts this rank's `records`, `count` of them, with those of all ranks. Collective.
RankSort sort_on_ranks(const World& world, const std::vector<std::byte>& records,
                       std::uint64_t count, const RecordFormat& format,
                       const OrderOptions& options);

}  // namespace tool
