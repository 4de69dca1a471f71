#include "device.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <kradix/sort.hpp>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

#include "device_memory.hpp"
#include "device_types.hpp"

namespace tool {

namespace {

std::vector<std::string>& kokkos_arguments() {
  static std::vector<std::string> arguments;
  return arguments;
}

/// A view of this length at an address that is only planned with, never read.
template <class T>
auto imagined(std::uint64_t address, std::uint64_t count) {
  return Kokkos::View<T*, Memory, Kokkos::MemoryUnmanaged>(reinterpret_cast<T*>(address), count);
}

DevicePlan described(const kradix::Plan& plan) {
  std::ostringstream text;
  text << plan;
  DevicePlan result;
  result.text = text.str();
  result.execution_space = Exec::name();
  result.algorithm = kradix::name(plan.algorithm);
  result.reason = plan.reason;
  result.passes = plan.passes;
  result.digit_bits = plan.digit_bits;
  result.temporary_bytes = plan.temporary_bytes;
  return result;
}

AlgorithmNote note_of(kradix::Algorithm algorithm) {
  using kradix::Algorithm;
  const std::string name(kradix::name(algorithm));
  const std::string document = "docs/algorithms/" + name + ".md";
  const auto note = [&](const char* description, const char* stability, const char* limits) {
    return AlgorithmNote{name, description, document, stability, limits};
  };
  switch (algorithm) {
    case Algorithm::automatic:
      break;
    case Algorithm::four_kernel:
      return note("count, scan tiles, scan bins, scatter, digit by digit", "stable",
                  "any key, any value, any count");
    case Algorithm::onesweep:
      return note("one read and one write a pass, by decoupled look-back", "stable",
                  "keys and values of at most 16 bytes");
    case Algorithm::blocked_radix:
      return note("blocks to buckets and buckets to order, each in a core's cache", "stable",
                  "any key, any value, any count; on hosts");
    case Algorithm::msd_hybrid:
      return note("sweeps over the topmost digits, then a finish in scratch", "stable",
                  "keys of 4 to 16 bytes, values of at most 16");
    case Algorithm::small_msd:
      return note("one launch for a few thousand elements, three to about a million", "stable",
                  "values of at most 16 bytes, a few thousand keys of 1 or 2 bytes");
    case Algorithm::counting:
      return note("counts keys and writes them anew", "keys are made anew",
                  "built-in keys of 1 or 2 bytes alone, without values");
    case Algorithm::bit_split:
      return note("for study: a bit at a time by map, scan and scatter of whole arrays", "stable",
                  "8 bytes of scratch more an element");
    case Algorithm::serial_radix:
      return note("for study: counting sort, digit after digit, on one host thread", "stable",
                  "waits for a device and copies its keys");
    case Algorithm::zagha_blelloch:
      return note("for study: processors count, one scan, processors permute", "stable",
                  "any count");
    case Algorithm::satish:
      return note("for study: tiles sorted by one-bit splits, histograms scanned, runs copied",
                  "stable", "any count");
    case Algorithm::four_prefix:
      return note("for study: two bits a pass, four prefix sums in one divide and conquer",
                  "stable", "any count");
    case Algorithm::ha_kruger_silva:
      return note("for study: two bits a pass, three counts in a word, pairs side by side",
                  "stable", "any count");
    case Algorithm::hp_sort:
      return note("for study: integers in a range from histograms and prefix sums",
                  "keys are made anew", "integers alone, without values, in a range that is known");
    case Algorithm::hp_distinct:
      return note("for study: distinct integers in a range from one histogram and prefix sums",
                  "keys are made anew", "integers alone, none twice, in a range that is known");
    case Algorithm::hp_compressed:
      return note("for study: hp_sort that skips values which do not occur", "keys are made anew",
                  "integers alone, without values, in a range that is known");
    case Algorithm::hp_stable:
      return note("for study: histogram and prefix sums as a stable digit pass", "stable",
                  "any count");
    case Algorithm::transposed:
      return note("for study: histogram, transpose, scan, transpose, rank and permute", "stable",
                  "any count");
    case Algorithm::one_team:
      return note("for study: small arrays in one kernel of one team", "stable",
                  "at most 4096 keys");
  }
  return note("unknown", "unknown", "unknown");
}

}  // namespace

void set_kokkos_arguments(std::vector<std::string> arguments) {
  kokkos_arguments() = std::move(arguments);
}

Device::Device() {
  // Advice on thread binding is no failure of ours: stderr stays empty when all went well.
  std::vector<std::string> words{"kradix", "--kokkos-disable-warnings"};
  words.insert(words.end(), kokkos_arguments().begin(), kokkos_arguments().end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  Kokkos::initialize(argc, argv.data());
}

Device::~Device() {
  Kokkos::finalize();
}

void check_algorithm(const std::string& name) {
  if (kradix::algorithm_from_name(name)) return;
  throw std::runtime_error("unknown algorithm '" + name + "' ('kradix algorithms' lists them)");
}

DevicePlan plan_on_device(const RecordFormat& format, std::uint64_t count,
                          const OrderOptions& options) {
  const kradix::Options library = library_options(options, format.key);
  const Exec exec;
  const std::uint64_t record_bytes = count * format.record_bytes;
  if (sorts_directly(format)) {
    DevicePlan plan = with_key_type(format.key.id, [&](auto type) {
      return described(
          kradix::plan(exec, imagined<typename decltype(type)::type>(0, count), library));
    });
    plan.memory_bytes = record_bytes + plan.temporary_bytes;
    return plan;
  }
  return with_word_and_index(format, count, [&](auto word, auto index) {
    using Word = typename decltype(word)::type;
    using Index = typename decltype(index)::type;
    const std::uint64_t behind = count * sizeof(Word) / 16 * 16 + 16;
    DevicePlan plan = described(kradix::plan_argsort(exec, imagined<Word>(0, count),
                                                     imagined<Index>(behind, count), library));
    const std::uint64_t index_bytes = record_bytes + count * sizeof(Index);
    const std::uint64_t sorting = count * sizeof(Word) + plan.temporary_bytes;
    plan.memory_bytes = index_bytes + std::max(sorting, gathered_bytes(format, count));
    plan.by_index = true;
    return plan;
  });
}

std::uint64_t device_memory_bytes() {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    std::size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) == cudaSuccess) return free;
  }
#endif
  if constexpr (HostWindow::direct) {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  }
  return 0;
}

std::vector<AlgorithmNote> algorithm_notes() {
  std::vector<AlgorithmNote> notes;
  for (const kradix::Algorithm algorithm : kradix::all_algorithms) {
    notes.push_back(note_of(algorithm));
  }
  return notes;
}

}  // namespace tool
