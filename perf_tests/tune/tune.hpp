// What tune.cpp asks of the pairs of words, which are compiled one by one (tune_words.cpp).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tune {

struct Request {
  std::vector<std::string> tables;  ///< of those below; empty: all
  std::size_t count = 0;            ///< 0: 2^26 on devices, 2^22 on hosts
  double seconds = 1;               ///< of each row
  bool wants(const std::string& table) const;
};

inline constexpr const char* all_tables[] = {"sweep_shape",  "spread_shape", "finish_shape",
                                             "small_shapes", "look_back",    "counting_shapes",
                                             "blocks",       "serial_round"};

/// Sweeps the tables' rows for one pair of words. False when a candidate sorted wrongly.
using TuneWords = bool (*)(const Request&);
struct Words {
  std::string name;  ///< "u32", "u32+4"
  TuneWords tune;
};

template <class Key, class Value>
bool tune_words(const Request& request);

}  // namespace tune
