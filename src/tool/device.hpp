// The one place that knows Kokkos and the library: sorts files on the default execution space.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file.hpp"
#include "records.hpp"

namespace tool {

/// Options that begin with --kokkos- are for Kokkos; set before the first Device is made.
void set_kokkos_arguments(std::vector<std::string> arguments);

/// Kokkos runs while one of these lives.
class Device {
 public:
  Device();
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
};

/// How a file will be sorted.
struct DevicePlan {
  std::string text;  ///< the library's plan in one line
  std::string execution_space, algorithm, reason;
  int passes = 0, digit_bits = 0;
  std::uint64_t memory_bytes = 0;  ///< on the device, temporary_bytes among them
  std::uint64_t temporary_bytes = 0;
  bool by_index = false;  ///< an index is sorted by the keys and the records follow it
};

struct SortSeconds {
  double read = 0, sort = 0, write = 0;
};

void check_algorithm(const std::string& name);
DevicePlan plan_on_device(const RecordFormat& format, std::uint64_t count,
                          const OrderOptions& options);
/// Bytes of the device's memory that a sort may use; 0 where it cannot be asked.
std::uint64_t device_memory_bytes();
/// Sorts the records of a file and writes them to `output`.
SortSeconds sort_on_device(const Records& records, const OrderOptions& options, OutputFile& output);

struct AlgorithmNote {
  std::string name, description, document, stability, limits;
};
std::vector<AlgorithmNote> algorithm_notes();

}  // namespace tool
