// kradix sort: a file of records into another, sorted stably by one key field.
#include <stdexcept>

#include "commands.hpp"
#include "device.hpp"
#include "ranks.hpp"
#include "report.hpp"

namespace tool {

namespace {

void require_memory(const Records& records, const DevicePlan& plan) {
  const std::uint64_t memory = device_memory_bytes();
  if (memory == 0 || plan.memory_bytes <= memory) return;
  throw std::runtime_error(records.file.path() + " is too large: sorting its " +
                           std::to_string(records.file.size()) + " bytes needs " +
                           std::to_string(plan.memory_bytes) + " bytes of memory (" +
                           std::to_string(plan.temporary_bytes) + " of them temporary), " +
                           plan.execution_space + " has " + std::to_string(memory));
}

void report(const SortCommand& command, const Records& records, const DevicePlan& plan,
            const SortSeconds& seconds, double total) {
  const double rate = seconds.sort > 0 ? static_cast<double>(records.count) / seconds.sort : 0;
  if (command.json) {
    JsonLine line;
    line.add("command", "sort").add("key", records.format.key.name).add("count", records.count);
    line.add("record_bytes", records.format.record_bytes).add("bytes", records.bytes());
    line.add("algorithm", plan.algorithm).add("execution_space", plan.execution_space);
    line.add("passes", plan.passes).add("memory_bytes", plan.memory_bytes);
    line.add("read_seconds", seconds.read).add("sort_seconds", seconds.sort);
    line.add("write_seconds", seconds.write).add("seconds", total).add("keys_per_second", rate);
    print_line(line.add("output", command.output).text());
  } else {
    print_line(
        "sorted " + std::to_string(records.count) + " records of " +
        std::to_string(records.format.record_bytes) + " bytes by " + records.format.key.name +
        " with " + plan.algorithm + " on " + plan.execution_space + " in " +
        format_number("%.2f s (read ", total) + format_number("%.2f s, sort ", seconds.read) +
        format_number("%.2f s, write ", seconds.sort) + format_number("%.2f s; ", seconds.write) +
        format_number("%.1f M keys/s)", rate / 1e6));
  }
}

}  // namespace

void run_sort(const SortCommand& command) {
  if (Ranks::size() > 1) return run_sort_on_ranks(command);
  const Timer timer;
  check_algorithm(command.order.algorithm);
  const Records records = open_records(command.input, command.records);
  bits_of_key(command.order, records.format.key);
  require_distinct(records.file, command.output);
  const std::string header =
      output_header(command.output, records.format, records.count, records.npy_dtype);
  const Device device;
  const DevicePlan plan = plan_on_device(records.format, records.count, command.order);
  require_memory(records, plan);
  OutputFile output(command.output, header.size() + records.bytes());
  output.write(header.data(), header.size());
  SortSeconds seconds = sort_on_device(records, command.order, output);
  const Timer commit;
  output.commit();
  seconds.write += commit.seconds();
  report(command, records, plan, seconds, timer.seconds());
}

}  // namespace tool
