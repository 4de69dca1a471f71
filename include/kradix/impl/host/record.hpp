// An element on its way through a host sort: a key and what travels with it, side by side.
#pragma once

#include <Kokkos_BitManipulation.hpp>
#include <array>
#include <cstddef>

#include "kradix/impl/words.hpp"

namespace kradix::impl {

/// One store moves both. Bytes rather than words, so that no pair is padded.
template <class Key, class Value>
class Record {
 public:
  static constexpr std::size_t value_bytes = sizeof(Value);
  Record(const Key& key, const Value& value)
      : key_(Kokkos::bit_cast<KeyBytes>(key)), value_(Kokkos::bit_cast<ValueBytes>(value)) {}
  Key key() const { return Kokkos::bit_cast<Key>(key_); }
  Value value() const { return Kokkos::bit_cast<Value>(value_); }

 private:
  using KeyBytes = std::array<std::byte, sizeof(Key)>;
  using ValueBytes = std::array<std::byte, sizeof(Value)>;
  KeyBytes key_;
  ValueBytes value_;
};

template <class Key>
class Record<Key, NoValue> {
 public:
  static constexpr std::size_t value_bytes = 0;
  Record(const Key& key, NoValue) : key_(key) {}
  Key key() const { return key_; }
  NoValue value() const { return {}; }

 private:
  Key key_;
};

/// Where records come from: the caller's keys, with values that are read or made.
template <class Key, class Value>
struct RecordSource {
  const Key* keys;
  const Value* values;
  bool makes_indices;

  Value value(std::size_t i) const {
    if constexpr (std::is_same_v<Value, NoValue>) {
      return {};
    } else if constexpr (std::is_integral_v<Value>) {
      return makes_indices ? static_cast<Value>(i) : values[i];
    } else {
      return values[i];
    }
  }
};

}  // namespace kradix::impl
