/// The parameters of the algorithms for study, and their names in text.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kradix {

/// How keys become smaller numbers before an algorithm for study takes digits from them.
enum class RangeMap : std::uint8_t {
  none,
  exact,  ///< the smallest key present becomes 0: digits above the largest difference are skipped
  /// Floats alone, linearly to the 24 bits (f64: 53) between 0.5 and 1. Keys may end out of order by at
  /// most (greatest - least finite key) * 2^-21 (f64: 2^-50); infinities and NaNs are exact.
  approximate,
};
inline constexpr std::array range_map_names{"none", "exact", "approximate"};

/// How an algorithm for study makes prefix sums of a whole array.
enum class ArrayScan : std::uint8_t {
  divide_and_conquer,  ///< sums of tiles, their scan, scans of tiles: three kernels
  chained,             ///< one kernel; a tile waits for its predecessor's prefix
  look_back,           ///< one kernel; a tile adds up what its predecessors published
  circular_in_order,   ///< look_back in constant memory; tiles leave it one after another
  circular,            ///< look_back in constant memory; tiles of a group leave it in any order
};
inline constexpr std::array array_scan_names{"divide_and_conquer", "chained", "look_back",
                                             "circular_in_order", "circular"};

/// What only the algorithms for study read; each one's page in docs/algorithms/ says which.
struct StudyOptions {
  int digit_bits = 0;            ///< of a digit; 0: as the algorithm's page says
  std::size_t tiles = 0;         ///< zagha_blelloch: processors; 0: as many as suit the machine
  int threads = 0;               ///< transposed, of a team (B): 128, 256 or 512; 0: 256
  int items = 0;                 ///< transposed, of a thread (Q): at most 32; 0: 22
  int copies = 0;                ///< transposed, of a team's histogram: at most 8; 0: 1
  bool separate_arrays = false;  ///< ha_kruger_silva: keys and values never lie side by side
  /// hp_sort, hp_distinct, hp_compressed: every key lies in [range_begin, range_end), as encoded in
  /// ascending order (KeyCodec; of unsigned integers the key itself). Both 0: any key of 8 or 16 bits.
  std::uint64_t range_begin = 0, range_end = 0;
  bool interleaves_loads = false;  ///< the same: each key is counted before the next is loaded
  RangeMap map = RangeMap::none;
  ArrayScan scan = ArrayScan::divide_and_conquer;
  friend bool operator==(const StudyOptions&, const StudyOptions&) = default;
};

namespace impl {

[[noreturn]] inline void refuse_study_text(std::string_view text, const char* why) {
  throw std::invalid_argument("kradix: study option \"" + std::string(text) + "\" " + why);
}

template <class Number>
Number study_number(std::string_view setting, std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    refuse_study_text(setting, "takes a number");
  }
  return value;
}

template <class Enum, class Names>
Enum study_choice(std::string_view setting, std::string_view text, const Names& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (text == names[i]) return static_cast<Enum>(i);
  }
  refuse_study_text(setting, "has an unknown value");
}

inline void set_study_option(StudyOptions& study, std::string_view setting) {
  const std::size_t equals = setting.find('=');
  if (equals == setting.npos) refuse_study_text(setting, "is not NAME=VALUE");
  const std::string_view name = setting.substr(0, equals), value = setting.substr(equals + 1);
  if (name == "digit_bits") {
    study.digit_bits = study_number<int>(setting, value);
  } else if (name == "tiles") {
    study.tiles = study_number<std::size_t>(setting, value);
  } else if (name == "threads") {
    study.threads = study_number<int>(setting, value);
  } else if (name == "items") {
    study.items = study_number<int>(setting, value);
  } else if (name == "copies") {
    study.copies = study_number<int>(setting, value);
  } else if (name == "separate_arrays") {
    study.separate_arrays = study_number<int>(setting, value) != 0;
  } else if (name == "range") {
    const std::size_t colon = value.find(':');
    if (colon == value.npos) refuse_study_text(setting, "is not range=BEGIN:END");
    study.range_begin = study_number<std::uint64_t>(setting, value.substr(0, colon));
    study.range_end = study_number<std::uint64_t>(setting, value.substr(colon + 1));
  } else if (name == "interleaves_loads") {
    study.interleaves_loads = study_number<int>(setting, value) != 0;
  } else if (name == "map") {
    study.map = study_choice<RangeMap>(setting, value, range_map_names);
  } else if (name == "scan") {
    study.scan = study_choice<ArrayScan>(setting, value, array_scan_names);
  } else {
    refuse_study_text(setting,
                      "is none of digit_bits, tiles, threads, items, copies, separate_arrays, "
                      "range, interleaves_loads, map, scan");
  }
}

}  // namespace impl

/// From "digit_bits=4,scan=chained,range=0:1000": settings by name, in any order; none for "".
/// Errors: std::invalid_argument that names the setting.
inline StudyOptions study_from_text(std::string_view text) {
  StudyOptions study;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    impl::set_study_option(study, text.substr(0, comma));
    text = comma == text.npos ? std::string_view{} : text.substr(comma + 1);
  }
  return study;
}

/// The settings that differ from the defaults, as study_from_text reads them.
inline std::ostream& operator<<(std::ostream& out, const StudyOptions& study) {
  const StudyOptions usual;
  const char* separator = "";
  const auto put = [&](const char* name, const auto& value) {
    out << separator << name << '=' << value;
    separator = ",";
  };
  if (study.digit_bits != usual.digit_bits) put("digit_bits", study.digit_bits);
  if (study.tiles != usual.tiles) put("tiles", study.tiles);
  if (study.threads != usual.threads) put("threads", study.threads);
  if (study.items != usual.items) put("items", study.items);
  if (study.copies != usual.copies) put("copies", study.copies);
  if (study.separate_arrays) put("separate_arrays", 1);
  if (study.range_end != 0) {
    put("range", std::to_string(study.range_begin) + ':' + std::to_string(study.range_end));
  }
  if (study.interleaves_loads) put("interleaves_loads", 1);
  if (study.map != usual.map) put("map", range_map_names[static_cast<std::size_t>(study.map)]);
  if (study.scan != usual.scan) put("scan", array_scan_names[static_cast<std::size_t>(study.scan)]);
  return out;
}

}  // namespace kradix
