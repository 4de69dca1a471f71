// The key types of the command line, each in one line of one table.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tool {

static_assert(std::endian::native == std::endian::little,
              "kradix: files are little-endian and travel as they are");

// __extension__ keeps -Wpedantic quiet about the non-standard type.
__extension__ using uint128 = unsigned __int128;
__extension__ using int128 = __int128;

// name, kind, bytes, mantissa bits, dtype in .npy files (none: ""), C++ type
#define KRADIX_TOOL_KEY_TYPES(X)                       \
  X(u8, unsigned_integer, 1, 0, "|u1", std::uint8_t)   \
  X(u16, unsigned_integer, 2, 0, "<u2", std::uint16_t) \
  X(u32, unsigned_integer, 4, 0, "<u4", std::uint32_t) \
  X(u64, unsigned_integer, 8, 0, "<u8", std::uint64_t) \
  X(u128, unsigned_integer, 16, 0, "", uint128)        \
  X(i8, signed_integer, 1, 0, "|i1", std::int8_t)      \
  X(i16, signed_integer, 2, 0, "<i2", std::int16_t)    \
  X(i32, signed_integer, 4, 0, "<i4", std::int32_t)    \
  X(i64, signed_integer, 8, 0, "<i8", std::int64_t)    \
  X(i128, signed_integer, 16, 0, "", int128)           \
  X(f16, floating, 2, 10, "<f2", kradix::float16_bits) \
  X(bf16, floating, 2, 7, "", kradix::bfloat16_bits)   \
  X(f32, floating, 4, 23, "<f4", float)                \
  X(f64, floating, 8, 52, "<f8", double)

enum class KeyId {
#define KRADIX_TOOL_ID(NAME, ...) NAME,
  KRADIX_TOOL_KEY_TYPES(KRADIX_TOOL_ID)
#undef KRADIX_TOOL_ID
      bytes  ///< bytesN: N bytes, the first the most significant
};

enum class Kind { unsigned_integer, signed_integer, floating, byte_string };

struct KeyType {
  KeyId id;
  std::string name;
  Kind kind;
  int bytes;
  int mantissa_bits;
  std::string npy_dtype;

  int bits() const { return 8 * bytes; }
};

/// The type of this name; an unknown one is refused with the list of those known.
KeyType key_type(const std::string& name);

/// The type of this .npy dtype; an unsupported one is refused.
KeyType key_type_of_npy(const std::string& dtype);

/// Every name, `bytesN` last.
std::string key_type_names();

}  // namespace tool
