// The subcommands, one function each. A failure is an exception whose text is the message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records.hpp"

namespace tool {

struct SortCommand {
  RecordOptions records;
  OrderOptions order;
  std::string input, output;
  bool json = false;
};
void run_sort(const SortCommand& command);

struct GenCommand {
  RecordOptions records;
  std::uint64_t count = 0;
  std::string distribution = "uniform";
  std::uint64_t seed = 0;
  std::string output;
  bool json = false;
};
void run_gen(const GenCommand& command);

struct CheckCommand {
  RecordOptions records;
  OrderOptions order;
  std::string input, output;
  bool json = false;
};
void run_check(const CheckCommand& command);

struct PlanCommand {
  RecordOptions records;
  OrderOptions order;
  std::string input;  ///< or else
  std::optional<std::uint64_t> count;
  bool json = false;
};
void run_plan(const PlanCommand& command);

void run_algorithms(bool json);

}  // namespace tool
