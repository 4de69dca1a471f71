#include "npy.hpp"

#include <charconv>
#include <stdexcept>

namespace tool {

namespace {

const std::string magic = "\x93NUMPY";
constexpr std::uint64_t longest_dictionary = std::uint64_t{1} << 20;

[[noreturn]] void refuse(const InputFile& file, const std::string& why) {
  throw std::runtime_error(file.path() + ": " + why);
}

std::string text_at(const InputFile& file, std::uint64_t offset, std::uint64_t bytes) {
  if (offset + bytes > file.size()) refuse(file, "the .npy header is cut off");
  std::string text(bytes, '\0');
  file.read_at(offset, text.data(), bytes);
  return text;
}

std::uint64_t little_endian(const std::string& bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

/// What stands after 'name': in the header's Python dictionary.
std::string after_name(const InputFile& file, const std::string& dictionary,
                       const std::string& name) {
  const std::size_t at = dictionary.find("'" + name + "':");
  if (at == std::string::npos) refuse(file, "the .npy header has no '" + name + "'");
  const std::size_t value = dictionary.find_first_not_of(' ', at + name.size() + 3);
  return value == std::string::npos ? "" : dictionary.substr(value);
}

std::string dtype_of(const InputFile& file, const std::string& dictionary) {
  const std::string value = after_name(file, dictionary, "descr");
  const std::size_t end = value.find('\'', 1);
  if (value.empty() || value[0] != '\'' || end == std::string::npos) {
    refuse(file, "the .npy array has records of several fields, not one number each");
  }
  return value.substr(1, end - 1);
}

/// The n of "(n,)".
std::uint64_t count_of(const InputFile& file, const std::string& dictionary) {
  const std::string value = after_name(file, dictionary, "shape");
  const std::string shape = value.substr(0, value.find(')') + 1);
  std::uint64_t count = 0;
  const char* const end = shape.data() + shape.size();
  if (shape.size() > 1 && shape[0] == '(') {
    const auto parsed = std::from_chars(shape.data() + 1, end, count);
    const bool one_number = parsed.ec == std::errc() && std::string(parsed.ptr, end) == ",)";
    if (one_number) return count;
  }
  refuse(file, "the .npy array has shape " + shape + ", not one dimension");
}

}  // namespace

bool is_npy(const std::string& path) {
  return path.size() > 4 && path.ends_with(".npy");
}

NpyHeader read_npy_header(const InputFile& file) {
  if (file.size() < magic.size() + 2 || text_at(file, 0, magic.size()) != magic) {
    refuse(file, "not a .npy file");
  }
  const int version = static_cast<unsigned char>(text_at(file, magic.size(), 1)[0]);
  if (version != 1 && version != 2) {
    refuse(file, ".npy version " + std::to_string(version) + " is not 1 or 2");
  }
  const std::uint64_t length_at = magic.size() + 2;
  const std::uint64_t length_bytes = version == 1 ? 2 : 4;
  const std::uint64_t length = little_endian(text_at(file, length_at, length_bytes));
  if (length > longest_dictionary) refuse(file, "the .npy header is not one");
  const std::uint64_t start = length_at + length_bytes;
  const std::string dictionary = text_at(file, start, length);
  // Rows or columns first makes no difference to one dimension: 'fortran_order' is not read.
  return {dtype_of(file, dictionary), count_of(file, dictionary), start + length};
}

std::string npy_header(const std::string& dtype, std::uint64_t count) {
  std::string dictionary = "{'descr': '" + dtype + "', 'fortran_order': False, 'shape': (" +
                           std::to_string(count) + ",), }";
  constexpr std::size_t alignment = 64;
  const std::size_t before = magic.size() + 4;
  while ((before + dictionary.size() + 1) % alignment != 0) dictionary += ' ';
  dictionary += '\n';
  const auto length = dictionary.size();
  return magic + '\x01' + '\0' + static_cast<char>(length & 0xff) + static_cast<char>(length >> 8) +
         dictionary;
}

}  // namespace tool
