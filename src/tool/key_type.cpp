#include "key_type.hpp"

#include <charconv>
#include <stdexcept>

namespace tool {

namespace {

const std::vector<KeyType>& table() {
#define KRADIX_TOOL_ROW(NAME, KIND, BYTES, MANTISSA, NPY, TYPE) \
  {KeyId::NAME, #NAME, Kind::KIND, BYTES, MANTISSA, NPY},
  static const std::vector<KeyType> types{KRADIX_TOOL_KEY_TYPES(KRADIX_TOOL_ROW)};
#undef KRADIX_TOOL_ROW
  return types;
}

constexpr int longest_byte_string = 16;

/// N of "bytesN", or 0.
int byte_string_length(const std::string& name) {
  const std::string prefix = "bytes";
  if (name.compare(0, prefix.size(), prefix) != 0) return 0;
  int length = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + prefix.size(), end, length);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == end;
  return whole && length >= 1 && length <= longest_byte_string ? length : 0;
}

}  // namespace

KeyType key_type(const std::string& name) {
  for (const KeyType& type : table()) {
    if (type.name == name) return type;
  }
  if (const int length = byte_string_length(name)) {
    return {KeyId::bytes, name, Kind::byte_string, length, 0, ""};
  }
  throw std::runtime_error("unknown key type '" + name + "' (known: " + key_type_names() + ")");
}

KeyType key_type_of_npy(const std::string& dtype) {
  if (dtype == "|b1") return key_type("u8");
  for (const KeyType& type : table()) {
    if (!dtype.empty() && type.npy_dtype == dtype) return type;
  }
  throw std::runtime_error(".npy dtype '" + dtype + "' is not a little-endian number or bool");
}

std::string key_type_names() {
  std::string names;
  for (const KeyType& type : table()) names += type.name + " ";
  return names + "bytesN with N from 1 to " + std::to_string(longest_byte_string);
}

}  // namespace tool
