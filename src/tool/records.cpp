#include "records.hpp"

#include <charconv>
#include <stdexcept>
#include <utility>

#include "npy.hpp"

namespace tool {

namespace {

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

Records open_npy(InputFile file, const RecordOptions& options) {
  const NpyHeader header = read_npy_header(file);
  RecordOptions said = options;
  const KeyType in_file = key_type_of_npy(header.dtype);
  if (said.key.empty()) said.key = in_file.name;
  if (said.key != in_file.name) {
    throw std::runtime_error(file.path() + " holds " + in_file.name + " keys, not " + said.key);
  }
  const RecordFormat format = make_format(said);
  if (!format.key_only()) {
    throw std::runtime_error(file.path() + ": elements of a .npy file have " +
                             number(in_file.bytes) + " bytes, not " + number(format.record_bytes));
  }
  const std::uint64_t data = file.size() - header.bytes;
  if (data / format.record_bytes != header.count || data % format.record_bytes != 0) {
    throw std::runtime_error(file.path() + ": " + number(data) + " bytes follow the header of " +
                             number(header.count) + " elements of " + number(format.record_bytes) +
                             " bytes");
  }
  return {std::move(file), format, header.bytes, header.count, header.dtype};
}

}  // namespace

RecordFormat make_format(const RecordOptions& options) {
  if (options.key.empty()) throw std::runtime_error("--key TYPE is missing");
  const KeyType key = key_type(options.key);
  const auto key_bytes = static_cast<std::uint64_t>(key.bytes);
  const std::uint64_t size = options.record_size == 0 ? key_bytes : options.record_size;
  if (key_bytes > size || options.key_offset > size - key_bytes) {
    throw std::runtime_error("a " + key.name + " key at byte " + number(options.key_offset) +
                             " does not lie within a record of " + number(size) + " bytes");
  }
  return {key, size, options.key_offset};
}

Records open_records(const std::string& path, const RecordOptions& options) {
  InputFile file(path);
  if (is_npy(path)) return open_npy(std::move(file), options);
  const RecordFormat format = make_format(options);
  const std::uint64_t left_over = file.size() % format.record_bytes;
  if (left_over != 0) {
    throw std::runtime_error(path + ": its " + number(file.size()) +
                             " bytes are not a multiple of the " + number(format.record_bytes) +
                             "-byte record (" + number(left_over) + " left over)");
  }
  const std::uint64_t count = file.size() / format.record_bytes;
  return {std::move(file), format, 0, count, ""};
}

BitsOfKey bits_of_key(const OrderOptions& options, const KeyType& key) {
  if (options.bits.empty()) return {0, key.bits()};
  BitsOfKey bits{};
  const char* const end = options.bits.data() + options.bits.size();
  const auto first = std::from_chars(options.bits.data(), end, bits.begin);
  const bool colon = first.ec == std::errc() && first.ptr != end && *first.ptr == ':';
  const auto second = std::from_chars(colon ? first.ptr + 1 : end, end, bits.end);
  if (second.ec != std::errc() || second.ptr != end) {
    throw std::runtime_error("--bits " + options.bits + " is not of the form B:E");
  }
  if (bits.begin < 0 || bits.begin > bits.end || bits.end > key.bits()) {
    throw std::runtime_error("bits " + options.bits + " do not lie within the " +
                             number(static_cast<std::uint64_t>(key.bits())) + " bits of " +
                             key.name);
  }
  return bits;
}

std::string output_header(const std::string& path, const RecordFormat& format, std::uint64_t count,
                          const std::string& npy_dtype) {
  if (!is_npy(path)) return "";
  const std::string dtype = npy_dtype.empty() ? format.key.npy_dtype : npy_dtype;
  if (dtype.empty() || !format.key_only()) {
    throw std::runtime_error(path + ": a .npy file cannot hold records of " +
                             number(format.record_bytes) + " bytes with " + format.key.name +
                             " keys");
  }
  return npy_header(dtype, count);
}

}  // namespace tool
