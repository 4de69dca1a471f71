// An element on its way through a host sort: a key and what travels with it, side by side.
#pragma once

#include <Kokkos_BitManipulation.hpp>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

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

/// Likewise, made in a register: of two halves in memory a load of both would have to wait.
template <class Key, class Value>
  requires(sizeof(Key) == sizeof(std::uint32_t) && sizeof(Value) == sizeof(std::uint32_t))
class Record<Key, Value> {
 public:
  static constexpr std::size_t value_bytes = sizeof(Value);
  Record(const Key& key, const Value& value)
      : both_(Kokkos::bit_cast<Both>(
            std::uint64_t{Kokkos::bit_cast<std::uint32_t>(key)} << key_shift |
            std::uint64_t{Kokkos::bit_cast<std::uint32_t>(value)} << value_shift)) {}
  Key key() const { return half<Key>(key_shift); }
  Value value() const { return half<Value>(value_shift); }

 private:
  using Both = std::array<std::byte, sizeof(std::uint64_t)>;
  static constexpr bool key_is_low = std::endian::native == std::endian::little;  ///< it lies first
  static constexpr int key_shift = key_is_low ? 0 : 32, value_shift = 32 - key_shift;
  template <class T>
  T half(int shift) const {
    return Kokkos::bit_cast<T>(
        static_cast<std::uint32_t>(Kokkos::bit_cast<std::uint64_t>(both_) >> shift));
  }
  Both both_;
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

/// Words, in order, that are like the one before them.
template <class Word>
std::size_t count_alike(const Word* sorted, std::size_t size) {
  std::size_t alike = 0;
  for (std::size_t i = 1; i < size; ++i) alike += sorted[i] == sorted[i - 1];
  return alike;
}

}  // namespace kradix::impl
