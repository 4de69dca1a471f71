// mpirun … kradix sort: each rank reads a slice of the file, and writes a slice of the result.
#include <algorithm>
#include <numeric>
#include <optional>

#include "device.hpp"
#include "ranks.hpp"
#include "ranks_device.hpp"
#include "world.hpp"

namespace tool {

namespace {

/// Fetches records that other ranks have read: `origin` says which record of the file each is.
class Fetch {
 public:
  Fetch(const World& world, std::uint64_t total, const std::vector<std::byte>& read,
        std::uint64_t bytes)
      : world_(world), total_(total), read_(read), bytes_(bytes) {}

  std::vector<std::byte> records(const std::vector<std::uint64_t>& origin) const {
    const std::vector<std::uint64_t> begins = by_owner(origin);
    std::vector<std::uint64_t> places(origin.size());
    std::vector<std::uint64_t> next(begins.begin(), begins.end() - 1);
    for (std::uint64_t i = 0; i < origin.size(); ++i) places[next[owner(origin[i])]++] = i;
    std::vector<std::byte> result(origin.size() * bytes_);
    for (int step = 0; step < world_.size(); ++step) {
      const int asked = (world_.rank() + step) % world_.size();
      const int asking = (world_.rank() - step + world_.size()) % world_.size();
      std::vector<std::uint64_t> wanted;
      for (std::uint64_t i = begins[asked]; i < begins[asked + 1]; ++i) {
        wanted.push_back(origin[places[i]] - Slice(total_, world_.size(), asked).first);
      }
      const std::vector<std::byte> answer = ask(wanted, asked, asking);
      for (std::uint64_t i = 0; i < wanted.size(); ++i) {
        std::copy_n(answer.data() + i * bytes_, bytes_,
                    result.data() + places[begins[asked] + i] * bytes_);
      }
    }
    return result;
  }

 private:
  std::size_t owner(std::uint64_t record) const {
    const auto ranks = static_cast<std::uint64_t>(world_.size());
    const std::uint64_t share = total_ / ranks, extra = total_ % ranks;
    const std::uint64_t in_longer = extra * (share + 1);
    return record < in_longer ? record / (share + 1) : extra + (record - in_longer) / share;
  }

  std::vector<std::uint64_t> by_owner(const std::vector<std::uint64_t>& origin) const {
    std::vector<std::uint64_t> begins(static_cast<std::size_t>(world_.size()) + 1, 0);
    for (const std::uint64_t record : origin) ++begins[owner(record) + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    return begins;
  }

  /// Sends the list of wanted records to one rank and serves that of another.
  std::vector<std::byte> ask(const std::vector<std::uint64_t>& wanted, int asked,
                             int asking) const {
    std::uint64_t mine = wanted.size(), theirs = 0;
    world_.send_receive(&mine, sizeof mine, asked, &theirs, sizeof theirs, asking);
    std::vector<std::uint64_t> list(theirs);
    world_.send_receive(wanted.data(), mine * sizeof mine, asked, list.data(), theirs * sizeof mine,
                        asking);
    std::vector<std::byte> packed(theirs * bytes_);
    for (std::uint64_t i = 0; i < theirs; ++i) {
      std::copy_n(read_.data() + list[i] * bytes_, bytes_, packed.data() + i * bytes_);
    }
    std::vector<std::byte> answer(mine * bytes_);
    world_.send_receive(packed.data(), packed.size(), asking, answer.data(), answer.size(), asked);
    return answer;
  }

  const World& world_;
  std::uint64_t total_;
  const std::vector<std::byte>& read_;
  std::uint64_t bytes_;
};

/// Rank 0 shows how far its own slice is.
template <class Step>
void in_chunks(const World& world, const char* what, std::uint64_t bytes, const Step& step) {
  std::optional<Progress> progress;
  if (world.leads()) progress.emplace(what, bytes);
  for (std::uint64_t done = 0; done < bytes; done += chunk_bytes) {
    const std::uint64_t here = std::min(chunk_bytes, bytes - done);
    step(done, here);
    if (progress) progress->advance(here);
  }
}

void report(const SortCommand& command, const Records& records, const World& world,
            const RankSort& sorted, const SortSeconds& seconds, double total) {
  const double rate = total > 0 ? static_cast<double>(records.count) / total : 0;
  if (command.json) {
    JsonLine line;
    line.add("command", "sort").add("key", records.format.key.name).add("count", records.count);
    line.add("record_bytes", records.format.record_bytes).add("bytes", records.bytes());
    line.add("ranks", world.size()).add("execution_space", sorted.execution_space);
    line.add("bytes_sent_by_rank_0", sorted.bytes_sent).add("read_seconds", seconds.read);
    line.add("sort_seconds", seconds.sort).add("write_seconds", seconds.write);
    line.add("seconds", total).add("keys_per_second", rate);
    print_line(line.add("output", command.output).text());
  } else {
    print_line(
        "sorted " + std::to_string(records.count) + " records of " +
        std::to_string(records.format.record_bytes) + " bytes by " + records.format.key.name +
        " on " + std::to_string(world.size()) + " ranks of " + sorted.execution_space + " in " +
        format_number("%.2f s (read ", total) + format_number("%.2f s, sort ", seconds.read) +
        format_number("%.2f s, write ", seconds.sort) + format_number("%.2f s)", seconds.write));
  }
}

}  // namespace

void run_sort_on_ranks(const SortCommand& command) {
  const Timer timer;
  const World world;
  if (command.order.algorithm != "automatic") {
    throw CommonError("--algorithm is for sorts on one rank");
  }
  std::optional<Records> opened;
  std::optional<OutputFile> output;
  std::string header, temporary;
  world.together([&] {
    opened.emplace(open_records(command.input, command.records));
    bits_of_key(command.order, opened->format.key);
    require_distinct(opened->file, command.output);
    header = output_header(command.output, opened->format, opened->count, opened->npy_dtype);
  });
  const Records& records = *opened;
  const RecordFormat& format = records.format;
  world.together([&] {
    if (!world.leads()) return;
    output.emplace(command.output, header.size() + records.bytes());
    output->write(header.data(), header.size());
    temporary = output->temporary_path();
  });
  int length = static_cast<int>(temporary.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  temporary.resize(static_cast<std::size_t>(length));
  MPI_Bcast(temporary.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);

  const Slice slice(records.count, world.size(), world.rank());
  SortSeconds seconds;
  std::vector<std::byte> read;
  Timer phase;
  std::optional<SharedFile> input;
  world.together([&] { input.emplace(command.input, false); });
  world.together([&] {
    read.resize(slice.count * format.record_bytes);
    in_chunks(world, "reading", read.size(), [&](std::uint64_t done, std::uint64_t here) {
      input->read(records.data_offset + slice.first * format.record_bytes + done,
                  read.data() + done, here);
    });
  });
  seconds.read = world.slowest(phase.seconds());

  phase = Timer();
  RankSort sorted;
  const Device device;
  world.together([&] { sorted = sort_on_ranks(world, read, slice.count, format, command.order); });
  if (sorted.by_index) {
    sorted.records = Fetch(world, records.count, read, format.record_bytes).records(sorted.origin);
  }
  seconds.sort = world.slowest(phase.seconds());

  phase = Timer();
  std::optional<SharedFile> file;
  world.together([&] { file.emplace(temporary, true); });
  world.together([&] {
    const std::uint64_t begin = header.size() + sorted.first * format.record_bytes;
    in_chunks(world, "writing", sorted.records.size(), [&](std::uint64_t done, std::uint64_t here) {
      file->write(begin + done, sorted.records.data() + done, here);
    });
  });
  world.together([&] { file->finish(); });
  world.together([&] {
    if (output) output->commit();
  });
  seconds.write = world.slowest(phase.seconds());
  if (world.leads()) report(command, records, world, sorted, seconds, timer.seconds());
}

}  // namespace tool
