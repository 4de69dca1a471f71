// mpirun … kradix check: each rank reads a slice of both files; what they saw is put together.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>

#include "fingerprint.hpp"
#include "ranks.hpp"
#include "reference_order.hpp"
#include "world.hpp"

namespace tool {

namespace {

/// A hash of a sequence of records that can be put together from those of its parts: a polynomial in
/// `base` whose coefficients are the records' hashes, and base to the power of their number.
struct SequenceHash {
  static constexpr std::uint64_t base = 0x9e3779b97f4a7c15u;
  std::uint64_t hash[2] = {0, 0};
  std::uint64_t power = 1;

  void append(const Fingerprint& print) {
    hash[0] = hash[0] * base + print.first;
    hash[1] = hash[1] * base + print.second;
    power *= base;
  }
  void append(const SequenceHash& other) {
    for (int i = 0; i < 2; ++i) hash[i] = hash[i] * other.power + other.hash[i];
    power *= other.power;
  }
  friend bool operator==(const SequenceHash&, const SequenceHash&) = default;
};

extern "C" void append_sequences(void* left, void* right, int* count, MPI_Datatype*) {
  const auto* const lower = static_cast<const SequenceHash*>(left);
  auto* const higher = static_cast<SequenceHash*>(right);
  for (int i = 0; i < *count; ++i) {
    SequenceHash both = lower[i];
    both.append(higher[i]);
    higher[i] = both;
  }
}

/// Joined over all ranks in their order.
void join(std::vector<SequenceHash>& hashes) {
  MPI_Datatype type{};
  MPI_Op append{};
  MPI_Type_contiguous(sizeof(SequenceHash), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(append_sequences, 0, &append);
  MPI_Allreduce(MPI_IN_PLACE, hashes.data(), static_cast<int>(hashes.size()), type, append,
                MPI_COMM_WORLD);
  MPI_Op_free(&append);
  MPI_Type_free(&type);
}

class RankCheck {
 public:
  RankCheck(const World& world, const Records& input, const Records& output,
            const CheckCommand& command)
      : world_(world),
        input_(input),
        output_(output),
        format_(input.format),
        order_(format_.key, bits_of_key(command.order, format_.key), command.order.descending) {}

  void run() {
    SharedFile output_file(output_.file.path(), false);
    SharedFile input_file(input_.file.path(), false);
    Fingerprint output_sum, input_sum;
    world_.together([&] { output_sum = read_output(output_file); });
    list_groups();
    world_.together([&] { input_sum = read_input(input_file); });
    if (sum(input_sum) != sum(output_sum))
      throw CommonError(output_.file.path() + " does not hold the records of the input");
    compare_groups();
  }
  std::uint64_t groups() const { return groups_.size(); }

 private:
  struct Run {
    std::uint64_t begin;
    SequenceHash hash;
    bool differs;
  };

  /// Calls f(index, record) for records [first, first + count); rank 0 shows progress.
  template <class Function>
  void for_each(const Records& records, const SharedFile& file, const char* what,
                std::uint64_t first, std::uint64_t count, const Function& f) const {
    const std::uint64_t size = format_.record_bytes;
    const std::uint64_t step = records_per_chunk(format_);
    std::vector<std::byte> chunk(std::min(step, count) * size);
    std::optional<Progress> progress;
    if (world_.leads()) progress.emplace(what, count * size);
    for (std::uint64_t done = 0; done < count; done += step) {
      const std::uint64_t here = std::min(step, count - done);
      file.read(records.data_offset + (first + done) * size, chunk.data(), here * size);
      for (std::uint64_t i = 0; i < here; ++i) f(first + done + i, chunk.data() + i * size);
      if (progress) progress->advance(here * size);
    }
  }

  Fingerprint read_output(const SharedFile& file) {
    const Slice slice(output_.count, world_.size(), world_.rank());
    const std::uint64_t size = format_.record_bytes;
    std::vector<std::byte> last(size);
    // The record before the slice: order and groups go on across ranks.
    const bool has_left = slice.first > 0 && slice.count > 0;
    if (has_left) file.read(output_.data_offset + (slice.first - 1) * size, last.data(), size);
    Fingerprint sum;
    std::optional<uint128> group;
    if (has_left) group = order_.group(last.data() + format_.key_offset);
    Run run{slice.first, {}, false};
    const auto keep_if = [&](bool wanted) {
      if (wanted && run.hash.power != 1) runs_.emplace(*group, run);
    };
    bool first_run = true;
    for_each(
        output_, file, "reading the output", slice.first, slice.count,
        [&](std::uint64_t index, const std::byte* record) {
          const std::byte* const key = record + format_.key_offset;
          if (group && order_.before(key, last.data() + format_.key_offset)) {
            throw std::runtime_error(output_.file.path() + " is not in order: the key of record " +
                                     std::to_string(index) + " belongs before that of record " +
                                     std::to_string(index - 1));
          }
          const uint128 own = order_.group(key);
          if (!group || own != *group) {
            keep_if(run.differs || first_run);
            first_run = first_run && !group;
            group = own;
            run = {index, {}, false};
          } else {
            run.differs = run.differs || std::memcmp(record, last.data(), size) != 0;
          }
          const Fingerprint print = fingerprint(record, size);
          run.hash.append(print);
          sum += print;
          std::copy_n(record, size, last.begin());
        });
    keep_if(true);  // the first and the last run of a slice may go on elsewhere
    return sum;
  }

  /// The groups whose records differ somewhere, known to all ranks.
  void list_groups() {
    std::vector<uint128> mine;
    for (const auto& [group, run] : runs_) {
      if (run.differs) mine.push_back(group);
    }
    int bytes = static_cast<int>(mine.size() * sizeof(uint128));
    const auto ranks = static_cast<std::size_t>(world_.size());
    std::vector<int> sizes(ranks), begins(ranks, 0);
    MPI_Allgather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (std::size_t r = 1; r < ranks; ++r) begins[r] = begins[r - 1] + sizes[r - 1];
    groups_.resize(static_cast<std::size_t>(begins.back() + sizes.back()) / sizeof(uint128));
    MPI_Allgatherv(mine.data(), bytes, MPI_BYTE, groups_.data(), sizes.data(), begins.data(),
                   MPI_BYTE, MPI_COMM_WORLD);
    std::sort(groups_.begin(), groups_.end());
    groups_.erase(std::unique(groups_.begin(), groups_.end()), groups_.end());
    in_input_.resize(groups_.size());
  }

  Fingerprint read_input(const SharedFile& file) {
    const Slice slice(input_.count, world_.size(), world_.rank());
    Fingerprint sum;
    for_each(input_, file, "reading the input", slice.first, slice.count,
             [&](std::uint64_t, const std::byte* record) {
               const Fingerprint print = fingerprint(record, format_.record_bytes);
               sum += print;
               if (groups_.empty()) return;
               const uint128 group = order_.group(record + format_.key_offset);
               const auto found = std::lower_bound(groups_.begin(), groups_.end(), group);
               if (found == groups_.end() || *found != group) return;
               in_input_[static_cast<std::size_t>(found - groups_.begin())].append(print);
             });
    return sum;
  }

  Fingerprint sum(const Fingerprint& own) const {
    return {world_.sum(own.first), world_.sum(own.second)};
  }

  void compare_groups() {
    std::vector<SequenceHash> in_output(groups_.size());
    // MPICH 4.0 takes the minimum of unsigned integers as if they were signed.
    constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> begins(groups_.size(), nowhere);
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const auto found = runs_.find(groups_[i]);
      if (found == runs_.end()) continue;
      in_output[i] = found->second.hash;
      begins[i] = static_cast<std::int64_t>(found->second.begin);
    }
    join(in_output);
    join(in_input_);
    MPI_Allreduce(MPI_IN_PLACE, begins.data(), static_cast<int>(begins.size()), MPI_INT64_T,
                  MPI_MIN, MPI_COMM_WORLD);
    std::int64_t first = nowhere;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (in_output[i] != in_input_[i]) first = std::min(first, begins[i]);
    }
    if (first == nowhere) return;
    throw CommonError(output_.file.path() + " is not stable: the records with the key of record " +
                      std::to_string(first) + " do not stand in the order of the input");
  }

  const World& world_;
  const Records& input_;
  const Records& output_;
  RecordFormat format_;
  ReferenceOrder order_;
  std::map<uint128, Run> runs_;
  std::vector<uint128> groups_;
  std::vector<SequenceHash> in_input_;
};

}  // namespace

void run_check_on_ranks(const CheckCommand& command) {
  const Timer timer;
  const World world;
  std::optional<Records> input, output;
  world.together([&] {
    input.emplace(open_records(command.input, command.records));
    output.emplace(open_records(command.output, command.records));
    bits_of_key(command.order, input->format.key);
    if (output->format.key.id != input->format.key.id) {
      throw std::runtime_error(command.output + " holds " + output->format.key.name +
                               " keys, the input " + input->format.key.name);
    }
    if (output->count != input->count) {
      throw std::runtime_error(command.output + " has " + std::to_string(output->count) +
                               " records, the input " + std::to_string(input->count));
    }
  });
  RankCheck check(world, *input, *output, command);
  check.run();
  if (!world.leads()) return;
  const char* const order = command.order.descending ? "descending" : "ascending";
  if (command.json) {
    JsonLine line;
    line.add("command", "check").add("key", input->format.key.name).add("count", input->count);
    line.add("record_bytes", input->format.record_bytes)
        .add("order", order)
        .add("ranks", world.size());
    line.add("in_order", true).add("same_records", true).add("stable", true);
    print_line(line.add("groups_compared", check.groups()).add("seconds", timer.seconds()).text());
  } else {
    print_line("checked " + std::to_string(input->count) + " records on " +
               std::to_string(world.size()) + " ranks: in " + order +
               " order, the records of the input, equal keys in the input's order (" +
               std::to_string(check.groups()) + " groups of differing records) in " +
               format_number("%.2f s", timer.seconds()));
  }
}

}  // namespace tool
