// kradix gen: files of keys, or of records that carry their index.
#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "commands.hpp"
#include "distributions.hpp"
#include "report.hpp"

namespace tool {

namespace {

const Distribution& distribution_named(const std::string& name) {
  std::string known;
  for (const Distribution& distribution : all_distributions) {
    if (distribution.name == name) return distribution;
    known += known.empty() ? "" : " ";
    known += distribution.name;
  }
  throw std::runtime_error("unknown distribution '" + name + "' (known: " + known + ")");
}

class RecordMaker {
 public:
  RecordMaker(const RecordFormat& format, const Distribution& distribution,
              const GenCommand& command)
      : format_(format), distribution_(distribution), command_(command) {}

  void make(std::uint64_t index, std::byte* record) const {
    const std::size_t key_bytes = format_.key.bytes;
    fill(index, 0, record, format_.key_offset);
    store_key(index, record + format_.key_offset);
    const std::uint64_t rest_at = format_.key_offset + key_bytes;
    fill(index, format_.key_offset, record + rest_at, format_.record_bytes - rest_at);
  }

 private:
  void store_key(std::uint64_t index, std::byte* to) const {
    const Sample sample{format_.key, command_.seed, command_.count, index};
    const uint128 bits = distribution_.key(sample);
    const std::size_t key_bytes = format_.key.bytes;
    std::memcpy(to, &bits, key_bytes);
    if (format_.key.kind == Kind::byte_string) std::reverse(to, to + key_bytes);
  }

  /// The bytes beside the key: first the index, so that records tell where they came from, then
  /// what hashes of it give. `from` counts those already written.
  void fill(std::uint64_t index, std::uint64_t from, std::byte* to, std::uint64_t bytes) const {
    for (std::uint64_t i = 0; i < bytes; ++i) {
      const std::uint64_t at = from + i;
      const std::uint64_t word = at < 8 ? index : mix64(index + at / 8 * 0x632be59bd9b4e019u);
      to[i] = static_cast<std::byte>(word >> (at % 8 * 8));
    }
  }

  const RecordFormat& format_;
  const Distribution& distribution_;
  const GenCommand& command_;
};

/// Makes records [first, first + count) with all threads.
void make_chunk(const RecordMaker& maker, const RecordFormat& format, std::uint64_t first,
                std::uint64_t count, std::byte* chunk) {
  constexpr std::uint64_t least_per_thread = 4096;
  const std::uint64_t threads = std::clamp<std::uint64_t>(
      count / least_per_thread, 1, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::jthread> workers;
  for (std::uint64_t t = 0; t < threads; ++t) {
    const auto work = [&, begin = count * t / threads, end = count * (t + 1) / threads] {
      for (std::uint64_t i = begin; i < end; ++i) {
        maker.make(first + i, chunk + i * format.record_bytes);
      }
    };
    workers.emplace_back(work);
  }
}

}  // namespace

void run_gen(const GenCommand& command) {
  const Timer timer;
  const RecordFormat format = make_format(command.records);
  const Distribution& distribution = distribution_named(command.distribution);
  if (command.count > std::numeric_limits<std::int64_t>::max() / format.record_bytes) {
    throw std::runtime_error(std::to_string(command.count) + " records of " +
                             std::to_string(format.record_bytes) + " bytes are too many");
  }
  const std::uint64_t bytes = command.count * format.record_bytes;
  const std::string header = output_header(command.output, format, command.count, "");
  OutputFile output(command.output, header.size() + bytes);
  output.write(header.data(), header.size());
  const RecordMaker maker(format, distribution, command);
  const std::uint64_t step = records_per_chunk(format);
  std::vector<std::byte> chunk(std::min(step, command.count) * format.record_bytes);
  {
    Progress progress("generating", bytes);
    for (std::uint64_t first = 0; first < command.count; first += step) {
      const std::uint64_t here = std::min(step, command.count - first);
      make_chunk(maker, format, first, here, chunk.data());
      output.write(chunk.data(), here * format.record_bytes);
      progress.advance(here * format.record_bytes);
    }
  }
  output.commit();
  if (command.json) {
    JsonLine line;
    line.add("command", "gen").add("key", format.key.name).add("count", command.count);
    line.add("record_bytes", format.record_bytes).add("bytes", bytes);
    line.add("distribution", distribution.name).add("seed", command.seed);
    print_line(line.add("output", command.output).add("seconds", timer.seconds()).text());
  } else {
    print_line("generated " + std::to_string(command.count) + " records of " +
               std::to_string(format.record_bytes) + " bytes (" + std::string(distribution.name) +
               " " + format.key.name + " keys) in " + format_number("%.2f s", timer.seconds()));
  }
}

}  // namespace tool
