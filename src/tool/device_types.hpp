// From the words of the command line to types of C++ and options of the library.
#pragma once

#include <algorithm>
#include <kradix/options.hpp>
#include <stdexcept>
#include <type_traits>

#include "key_type.hpp"
#include "records.hpp"

namespace tool {

inline kradix::Options library_options(const OrderOptions& options, const KeyType& key) {
  const BitsOfKey bits = bits_of_key(options, key);
  kradix::Options result;
  result.order = options.descending ? kradix::Order::descending : kradix::Order::ascending;
  result.bits = {bits.begin, bits.end};
  result.stability = kradix::Stability::stable;
  result.algorithm = kradix::algorithm_from_name(options.algorithm).value();
  result.study = kradix::study_from_text(options.study);
  return result;
}

/// Are the records sorted as keys, without an index?
inline bool sorts_directly(const RecordFormat& format) {
  return format.key_only() && format.key.kind != Kind::byte_string;
}

/// Calls f with the type of a key that is not a byte string.
template <class Function>
auto with_key_type(KeyId id, const Function& f) {
  switch (id) {
#define KRADIX_TOOL_CASE(NAME, KIND, BYTES, MANTISSA, NPY, TYPE) \
  case KeyId::NAME:                                              \
    return f(std::type_identity<TYPE>{});
    KRADIX_TOOL_KEY_TYPES(KRADIX_TOOL_CASE)
#undef KRADIX_TOOL_CASE
    case KeyId::bytes:
      break;
  }
  throw std::logic_error("byte strings have no type of their own");
}

/// Calls f with the smallest word of this many bytes and the smallest index of the records.
template <class Function>
auto with_word_and_index(const RecordFormat& format, std::uint64_t count, const Function& f) {
  const auto with_index = [&](auto word) {
    return count >> 32 == 0 ? f(word, std::type_identity<std::uint32_t>{})
                            : f(word, std::type_identity<std::uint64_t>{});
  };
  const int bytes = format.key.bytes;
  if (bytes == 1) return with_index(std::type_identity<std::uint8_t>{});
  if (bytes == 2) return with_index(std::type_identity<std::uint16_t>{});
  if (bytes <= 4) return with_index(std::type_identity<std::uint32_t>{});
  if (bytes <= 8) return with_index(std::type_identity<std::uint64_t>{});
  return with_index(std::type_identity<uint128>{});
}

/// Of the piece of the output that is put together at once.
inline std::uint64_t gathered_bytes(const RecordFormat& format, std::uint64_t count) {
  return std::min(records_per_chunk(format), count) * format.record_bytes;
}

}  // namespace tool
