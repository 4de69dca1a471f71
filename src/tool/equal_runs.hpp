// Do records of equal keys stand in the output in the order of the input?
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fingerprint.hpp"
#include "key_type.hpp"

namespace tool {

/// For each group of equal keys whose records differ: a hash of its records in the order of the
/// output beside one in the order of the input. Groups of one record, or of records all alike,
/// have but one order and cost no memory.
class EqualRuns {
 public:
  struct Run {
    std::uint64_t begin;          ///< position in the output
    std::uint64_t output, input;  ///< hashes of the sequence of records
  };
  struct Violation {
    uint128 group;
    std::uint64_t begin;
  };

  explicit EqualRuns(std::uint64_t record_bytes) : last_(record_bytes) {}

  /// Takes the records of the sorted output in turn.
  void add_output(std::uint64_t index, uint128 group, const Fingerprint& print,
                  const std::byte* record) {
    if (index > 0 && group == group_) {
      differs_ = differs_ || std::memcmp(record, last_.data(), last_.size()) != 0;
    } else {
      end_output();
      group_ = group;
      run_ = {index, 0, 0};
    }
    run_.output = extended(run_.output, print);
    std::copy_n(record, last_.size(), last_.begin());
  }
  void end_output() {
    if (differs_) runs_.emplace(group_, run_);
    differs_ = false;
  }

  /// Takes the records of the input in turn, once the output has ended.
  void add_input(uint128 group, const Fingerprint& print) {
    if (runs_.empty()) return;
    const auto found = runs_.find(group);
    if (found != runs_.end()) found->second.input = extended(found->second.input, print);
  }

  std::uint64_t groups() const { return runs_.size(); }

  /// The first run whose records are out of order.
  std::optional<Violation> violation() const {
    std::optional<Violation> first;
    for (const auto& [group, run] : runs_) {
      if (run.output == run.input || (first && first->begin < run.begin)) continue;
      first = Violation{group, run.begin};
    }
    return first;
  }

 private:
  static std::uint64_t extended(std::uint64_t sequence, const Fingerprint& print) {
    return mix64(sequence ^ print.first) + print.second;
  }

  struct Hash {
    std::size_t operator()(uint128 group) const {
      return mix64(mix64(static_cast<std::uint64_t>(group >> 64)) ^
                   static_cast<std::uint64_t>(group));
    }
  };

  std::vector<std::byte> last_;
  uint128 group_ = 0;
  Run run_{};
  bool differs_ = false;
  std::unordered_map<uint128, Run, Hash> runs_;
};

}  // namespace tool
