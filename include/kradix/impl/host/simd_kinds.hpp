// Values of pairs of few kinds of keys, put in order of those by SIMD. Nothing of that without the component Highway, with which
// the steps are compiled for each of a machine's instruction sets (src/highway).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/host/simd_leaf.hpp"

namespace kradix::impl {

/// So many kinds of keys are parted from the others sooner by SIMD than by labels: none without Highway, and of words that it has not.
template <class Key, class Value>
struct SimdKinds {
  static constexpr bool exists = false;
  static constexpr std::size_t limit = 1, least_share = 1;
  static constexpr std::size_t most() { return 0; }
};

/// The label of a slot. Beside one of 4 bytes lies the slot's key: SIMD gathers both as one word.
template <class Key>
struct LabelSlot {
  std::uint32_t label;
};
template <>
struct alignas(8) LabelSlot<std::uint32_t> {
  std::uint32_t key, label;
};

/// Are keys' labels looked up by SIMD?
template <class Key>
struct SimdLabels {
  static constexpr bool exist = false;
  static bool serve() { return false; }
};

#ifdef KRADIX_ENABLE_HIGHWAY
template <class Key>
  requires(std::is_same_v<Key, std::uint32_t> || std::is_same_v<Key, std::uint64_t>)
struct SimdLabels<Key> {
  static constexpr bool exist = true;
  static bool serve() { return has_wide_simd(); }
};

/// Where labels are looked up: of two slots beside each other, whose keys and labels these are, the first is told by the topmost bits of
/// a product (see KindHomes).
template <class Key>
struct LabelTable {
  const Key* keys;
  const LabelSlot<Key>* labels;
  Key factor;
  int shift;
  std::uint16_t rest;  ///< the label of keys that are in neither
  bool has_second;     ///< any key its second one
};
/// The label of each key to `labels`, and keys that have none to `missed`; returns how many those are. It writes nothing beside them.
std::size_t find_labels(const std::uint32_t* keys, std::size_t size,
                        const LabelTable<std::uint32_t>& table, std::uint16_t* labels,
                        std::uint32_t* missed);
std::size_t find_labels(const std::uint64_t* keys, std::size_t size,
                        const LabelTable<std::uint64_t>& table, std::uint16_t* labels,
                        std::uint64_t* missed);

/// With AVX2 no more than four: of x86 only AVX-512 has an instruction that puts some of a vector's words together. Measured, see
/// docs/algorithms/blocked_radix.md.
template <class Key, class Value>
  requires((std::is_same_v<Key, std::uint32_t> ||
            std::is_same_v<Key, std::uint64_t>)&&(std::is_same_v<Value, std::uint32_t> ||
                                                  std::is_same_v<Value, std::uint64_t>))
struct SimdKinds<Key, Value> {
  static constexpr bool exists = true;
  static constexpr std::size_t limit = sizeof(Key) + sizeof(Value) == 8 ? 12 : 4, few = 4;
  /// To part one from all takes less time than to look up and move such a share of them.
  static constexpr std::size_t least_share = sizeof(Key) + sizeof(Value) == 8 ? 12 : 8;
  static std::size_t most() { return has_wide_simd() ? limit : has_simd() ? few : 0; }
};

/// How often each of the kinds comes among the keys, to `times`.
void count_few_kinds(const std::uint32_t* keys, std::size_t size, const std::uint32_t* kinds,
                     std::size_t count, std::uint32_t* times);
void count_few_kinds(const std::uint64_t* keys, std::size_t size, const std::uint64_t* kinds,
                     std::size_t count, std::uint32_t* times);

/// Puts the values of kind k to to[k], which moves on, and those of no kind to `others` and their keys to `rest`; returns how many
/// those are, and writes nothing beside them. Kinds are one to SimdKinds' `limit`, and each one's places end where the next one's, or
/// to[count], begin. Without `values` they are numbers from `first` on.
std::size_t move_few_kinds(const std::uint32_t* keys, const std::uint32_t* values,
                           std::size_t first, std::size_t size, const std::uint32_t* kinds,
                           std::size_t count, std::uint32_t** to, std::uint32_t* rest,
                           std::uint32_t* others);
std::size_t move_few_kinds(const std::uint32_t* keys, const std::uint64_t* values,
                           std::size_t first, std::size_t size, const std::uint32_t* kinds,
                           std::size_t count, std::uint64_t** to, std::uint32_t* rest,
                           std::uint64_t* others);
std::size_t move_few_kinds(const std::uint64_t* keys, const std::uint32_t* values,
                           std::size_t first, std::size_t size, const std::uint64_t* kinds,
                           std::size_t count, std::uint32_t** to, std::uint64_t* rest,
                           std::uint32_t* others);
std::size_t move_few_kinds(const std::uint64_t* keys, const std::uint64_t* values,
                           std::size_t first, std::size_t size, const std::uint64_t* kinds,
                           std::size_t count, std::uint64_t** to, std::uint64_t* rest,
                           std::uint64_t* others);
#endif

}  // namespace kradix::impl
