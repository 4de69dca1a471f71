// kradix plan: what sort would do; kradix algorithms: what there is to choose from.
#include <stdexcept>

#include "commands.hpp"
#include "device.hpp"
#include "report.hpp"

namespace tool {

namespace {

struct Problem {
  RecordFormat format;
  std::uint64_t count;
};

Problem problem_of(const PlanCommand& command) {
  if (command.input.empty() != command.count.has_value()) {
    throw std::runtime_error("plan needs a file or --count, and not both");
  }
  if (command.count) return {make_format(command.records), *command.count};
  const Records records = open_records(command.input, command.records);
  return {records.format, records.count};
}

}  // namespace

void run_plan(const PlanCommand& command) {
  check_algorithm(command.order.algorithm);
  const Problem problem = problem_of(command);
  const Device device;
  const DevicePlan plan = plan_on_device(problem.format, problem.count, command.order);
  const std::uint64_t memory = device_memory_bytes();
  if (command.json) {
    JsonLine line;
    line.add("command", "plan").add("key", problem.format.key.name).add("count", problem.count);
    line.add("record_bytes", problem.format.record_bytes).add("algorithm", plan.algorithm);
    line.add("passes", plan.passes).add("digit_bits", plan.digit_bits);
    line.add("by_index", plan.by_index).add("temporary_bytes", plan.temporary_bytes);
    line.add("memory_bytes", plan.memory_bytes).add("device_memory_bytes", memory);
    line.add("execution_space", plan.execution_space);
    print_line(line.add("reason", plan.reason).text());
  } else {
    print_line(plan.text);
    print_line((plan.by_index ? "records follow a sorted index of their keys; "
                              : "records are their keys and are sorted in place; ") +
               std::to_string(plan.memory_bytes) + " bytes of memory in all, " +
               plan.execution_space + " has " + std::to_string(memory));
  }
}

void run_algorithms(bool json) {
  for (const AlgorithmNote& note : algorithm_notes()) {
    if (json) {
      JsonLine line;
      line.add("algorithm", note.name).add("description", note.description);
      line.add("document", note.document).add("stability", note.stability);
      print_line(line.add("limits", note.limits).text());
    } else {
      print_line(note.name + ": " + note.description + "; " + note.stability + "; " + note.limits +
                 "; see " + note.document);
    }
  }
}

}  // namespace tool
