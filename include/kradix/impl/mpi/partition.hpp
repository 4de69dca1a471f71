// A stable partition of keys, and of what travels with them, by the bounds that they have reached.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "kradix/impl/mpi/partition_tile.hpp"
#include "kradix/impl/mpi/place_of.hpp"
#include "kradix/impl/mpi/search.hpp"
#include "kradix/impl/mpi/splitters.hpp"
#include "kradix/impl/scratch.hpp"

namespace kradix::impl::mpi {

/// One read and one write: the bounds come with how many keys lie below each.
template <class ExecutionSpace, class Key, class Value>
class Partition {
  static constexpr TeamShape shape =
      partition_shape<ExecutionSpace>(sizeof(Key), value_bytes_of<Value>);

 public:
  static constexpr bool exists = has_lanes<ExecutionSpace> && shape.exists();

  Partition(const ExecutionSpace& exec, std::size_t count)
      : exec_(exec), count_(count), tiles_((count + tile() - 1) / tile()) {}

  void list(ScratchList& scratch) {
    queue_.list(scratch, tiles_, 1);
    bounds_ = scratch.add(bin_count, sizeof(std::uint64_t[2]));
    firsts_ = scratch.add(bin_count, sizeof(std::uint64_t));
  }

  /// Enqueued. With `values_in` null the values are the indices of the keys.
  template <class Codec>
  void run(std::byte* base, const Codec& codec, const BoundsOf<Codec>& bounds, const Key* keys_in,
           Key* keys_out, const Value* values_in, Value* values_out, const char* label) const {
    if constexpr (exists) {
      constexpr int few_bits = 4;
      const Elements elements{keys_in, keys_out, values_in, values_out};
      if (bounds.size() < 1 << few_bits) {
        launch<few_bits>(base, codec, bounds, elements, label);
      } else {
        launch<digit_bits>(base, codec, bounds, elements, label);
      }
    }
  }

 private:
  static constexpr std::size_t tile() {
    return exists ? static_cast<std::size_t>(shape.round()) : 1;
  }

  struct Elements {
    const Key* keys_in;
    Key* keys_out;
    const Value* values_in;
    Value* values_out;
  };

  template <int ClassBits, class Codec>
  void launch(std::byte* base, const Codec& codec, const BoundsOf<Codec>& bounds,
              const Elements& elements, const char* label) const {
    using Bits = typename Codec::bits_type;
    using Kernel = PartitionTile<ExecutionSpace, Codec, Value, shape, ClassBits>;
    if (count_ == 0) return;
    std::vector<Bits> bits;
    std::vector<std::uint64_t> firsts{0};
    for (const auto& bound : bounds) {
      bits.push_back(bound.bits);
      firsts.push_back(bound.place);
    }
    to_device(exec_, bounds_.in<Bits>(base), bits);
    to_device(exec_, firsts_.in<std::uint64_t>(base), firsts);
    queue_.clear(exec_, base);
    launch_teams<shape>(
        exec_, std::string(label) + "::mpi::PartitionTile",
        std::min(tiles_, resident_teams_of<shape>(exec_)), Kernel::scratch_bytes(),
        Kernel{elements.keys_in, elements.keys_out, elements.values_in, elements.values_out, codec,
               count_, bounds_.in<Bits>(base), static_cast<int>(firsts.size()),
               firsts_.in<std::uint64_t>(base), queue_.of(base, 0, tiles_)});
  }

  const ExecutionSpace& exec_;
  std::size_t count_, tiles_;
  TileQueueSlots<ExecutionSpace, bin_count> queue_;
  Slot bounds_, firsts_;
};

}  // namespace kradix::impl::mpi
