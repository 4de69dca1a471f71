// kradix check: proves that OUTPUT is INPUT sorted stably, reading both from start to end.
#include <array>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "commands.hpp"
#include "equal_runs.hpp"
#include "fingerprint.hpp"
#include "ranks.hpp"
#include "reference_order.hpp"
#include "report.hpp"

namespace tool {

namespace {

constexpr std::size_t longest_key = 16;

std::string at(std::uint64_t position) {
  return "record " + std::to_string(position);
}

class Check {
 public:
  explicit Check(const CheckCommand& command)
      : input_(open_records(command.input, command.records)),
        output_(open_records(command.output, command.records)),
        format_(input_.format),
        order_(format_.key, bits_of_key(command.order, format_.key), command.order.descending),
        runs_(format_.record_bytes) {
    if (output_.format.key.id != format_.key.id) {
      fail("holds " + output_.format.key.name + " keys, the input " + format_.key.name);
    }
  }

  void run() {
    if (input_.count != output_.count) {
      fail("has " + std::to_string(output_.count) + " records, the input " +
           std::to_string(input_.count));
    }
    const Fingerprint output = read_output();
    if (read_input() != output) fail_at_difference();
    if (const auto violation = runs_.violation()) fail_at_violation(*violation);
    checksum_ = output;
  }

  std::uint64_t count() const { return input_.count; }
  std::uint64_t groups() const { return runs_.groups(); }
  const RecordFormat& format() const { return format_; }
  std::string checksum() const {
    char text[40];
    std::snprintf(text, sizeof text, "%016llx%016llx",
                  static_cast<unsigned long long>(checksum_.first),
                  static_cast<unsigned long long>(checksum_.second));
    return text;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(output_.file.path() + " " + what);
  }

  Fingerprint read_output() {
    Fingerprint sum;
    std::array<std::byte, longest_key> last{};
    for_each_record(output_, "reading the output",
                    [&](std::uint64_t index, const std::byte* record) {
                      const std::byte* const key = record + format_.key_offset;
                      if (index > 0 && order_.before(key, last.data())) {
                        fail("is not in order: the key of " + at(index) +
                             " belongs before that of " + at(index - 1));
                      }
                      std::memcpy(last.data(), key, format_.key.bytes);
                      const Fingerprint print = fingerprint(record, format_.record_bytes);
                      runs_.add_output(index, order_.group(key), print, record);
                      sum += print;
                      return true;
                    });
    runs_.end_output();
    return sum;
  }

  Fingerprint read_input() {
    Fingerprint sum;
    for_each_record(input_, "reading the input", [&](std::uint64_t, const std::byte* record) {
      const Fingerprint print = fingerprint(record, format_.record_bytes);
      runs_.add_input(order_.group(record + format_.key_offset), print);
      sum += print;
      return true;
    });
    return sum;
  }

  /// The sum over the records whose keys do not come after `last`.
  Fingerprint sum_up_to(const Records& records, const std::byte* last) const {
    Fingerprint sum;
    for_each_record(records, "looking for the difference",
                    [&](std::uint64_t, const std::byte* record) {
                      if (!order_.before(last, record + format_.key_offset)) {
                        sum += fingerprint(record, format_.record_bytes);
                      }
                      return true;
                    });
    return sum;
  }

  /// Where the sums over the smallest keys begin to differ, found by bisection: a difference, once
  /// within such a sum, stays there.
  [[noreturn]] void fail_at_difference() const {
    std::vector<std::byte> record(format_.record_bytes);
    std::uint64_t equal = 0, differing = output_.count;
    while (equal < differing) {
      const std::uint64_t middle = equal + (differing - equal) / 2;
      output_.read(middle, 1, record.data());
      const std::byte* const key = record.data() + format_.key_offset;
      if (sum_up_to(input_, key) == sum_up_to(output_, key)) {
        equal = middle + 1;
      } else {
        differing = middle;
      }
    }
    const std::string where =
        equal < output_.count ? "at the key of " + at(equal) : "after its last record";
    fail("does not hold the records of the input; the first difference lies " + where);
  }

  [[noreturn]] void fail_at_violation(const EqualRuns::Violation& violation) const {
    std::uint64_t position = violation.begin, source = 0;
    std::vector<std::byte> here(format_.record_bytes);
    for_each_record(input_, "looking for the violation",
                    [&](std::uint64_t index, const std::byte* record) {
                      if (order_.group(record + format_.key_offset) != violation.group) return true;
                      output_.read(position, 1, here.data());
                      source = index;
                      if (std::memcmp(record, here.data(), here.size()) != 0) return false;
                      ++position;
                      return true;
                    });
    fail("is not stable: at " + at(position) + " should stand " + at(source) +
         " of the input, the next with its key");
  }

  Records input_, output_;
  RecordFormat format_;
  ReferenceOrder order_;
  EqualRuns runs_;
  Fingerprint checksum_;
};

}  // namespace

void run_check(const CheckCommand& command) {
  if (Ranks::size() > 1) return run_check_on_ranks(command);
  const Timer timer;
  Check check(command);
  check.run();
  const char* const order = command.order.descending ? "descending" : "ascending";
  if (command.json) {
    JsonLine line;
    line.add("command", "check").add("key", check.format().key.name).add("count", check.count());
    line.add("record_bytes", check.format().record_bytes).add("order", order);
    line.add("in_order", true).add("same_records", true).add("stable", true);
    line.add("checksum", check.checksum()).add("groups_compared", check.groups());
    print_line(line.add("seconds", timer.seconds()).text());
  } else {
    print_line("checked " + std::to_string(check.count()) + " records: in " + order +
               " order, the records of the input (checksum " + check.checksum() +
               "), equal keys in the input's order (" + std::to_string(check.groups()) +
               " groups of differing records) in " + format_number("%.2f s", timer.seconds()));
  }
}

}  // namespace tool
