// Files as sequences of records with one key field.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "file.hpp"
#include "key_type.hpp"
#include "report.hpp"

namespace tool {

/// What the command line says about records.
struct RecordOptions {
  std::string key;                ///< empty: a .npy file says it
  std::uint64_t record_size = 0;  ///< 0: the key alone
  std::uint64_t key_offset = 0;
};

/// What the command line says about the order.
struct OrderOptions {
  bool descending = false;
  std::string bits;  ///< "B:E"; empty: all
  std::string algorithm = "automatic";
  std::string study;  ///< "NAME=VALUE,...", for the algorithms for study
};

struct BitsOfKey {
  int begin, end;
};

struct RecordFormat {
  KeyType key;
  std::uint64_t record_bytes;
  std::uint64_t key_offset;
  bool key_only() const { return record_bytes == static_cast<std::uint64_t>(key.bytes); }
};

/// An open file of records.
struct Records {
  InputFile file;
  RecordFormat format;
  std::uint64_t data_offset;
  std::uint64_t count;
  std::string npy_dtype;  ///< empty: not a .npy file

  std::uint64_t bytes() const { return count * format.record_bytes; }
  void read(std::uint64_t first, std::uint64_t records, void* to) const {
    const std::uint64_t size = format.record_bytes;
    file.read_at(data_offset + first * size, to, records * size);
  }
};

RecordFormat make_format(const RecordOptions& options);
Records open_records(const std::string& path, const RecordOptions& options);

/// The bits [begin, end) that count, checked against the key.
BitsOfKey bits_of_key(const OrderOptions& options, const KeyType& key);

/// The bytes that stand before the records in an output of this name: a .npy header or nothing.
/// `npy_dtype` is the input's, empty when it had none.
std::string output_header(const std::string& path, const RecordFormat& format, std::uint64_t count,
                          const std::string& npy_dtype);

/// Whole records per piece of about chunk_bytes.
inline std::uint64_t records_per_chunk(const RecordFormat& format) {
  return std::max<std::uint64_t>(1, chunk_bytes / format.record_bytes);
}

/// Calls f(index, pointer to the record) for each record in turn, until it returns false.
template <class Function>
void for_each_record(const Records& records, const std::string& what, const Function& f) {
  const std::uint64_t size = records.format.record_bytes;
  const std::uint64_t step = records_per_chunk(records.format);
  std::vector<std::byte> chunk(std::min(step, records.count) * size);
  Progress progress(what, records.bytes());
  for (std::uint64_t first = 0; first < records.count; first += step) {
    const std::uint64_t here = std::min(step, records.count - first);
    records.read(first, here, chunk.data());
    for (std::uint64_t i = 0; i < here; ++i) {
      if (!f(first + i, chunk.data() + i * size)) return;
    }
    progress.advance(here * size);
  }
}

}  // namespace tool
