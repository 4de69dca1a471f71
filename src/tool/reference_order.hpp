// The order of keys, written from its definition and not from the library that `check` judges.
#pragma once

#include <cstddef>

#include "key_type.hpp"
#include "records.hpp"

namespace tool {

/// Compares keys where they lie in their records. Whole numbers compare as numbers, floats by `<`
/// with NaNs last, byte strings as memcmp does; where only some bits count, their ranks compare.
class ReferenceOrder {
 public:
  ReferenceOrder(KeyType key, BitsOfKey bits, bool descending);

  /// Must a come before b?
  bool before(const std::byte* a, const std::byte* b) const {
    return descending_ ? less(b, a) : less(a, b);
  }
  /// Keys of one group are those that compare equal: a number for each group.
  uint128 group(const std::byte* key) const {
    const uint128 rank = this->rank(key);
    return whole_ ? rank : (rank >> bits_.begin) & mask_;
  }

 private:
  bool less(const std::byte* a, const std::byte* b) const;
  bool less_by_value(const std::byte* a, const std::byte* b) const;
  uint128 rank(const std::byte* key) const;
  uint128 raw(const std::byte* key) const;
  double real(const std::byte* key) const;

  KeyType key_;
  BitsOfKey bits_;
  bool descending_, whole_;
  uint128 mask_, half_, infinity_;
};

}  // namespace tool
