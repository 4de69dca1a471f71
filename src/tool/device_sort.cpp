// One sort of one file: read, sort, write.
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <kradix/sort.hpp>

#include "device.hpp"
#include "device_kernels.hpp"
#include "device_memory.hpp"
#include "device_types.hpp"
#include "report.hpp"

namespace tool {

namespace {

template <class T>
Array<T> allocate(const std::string& name, std::uint64_t count) {
  return Array<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, name), count);
}

auto each(const Exec& exec, std::uint64_t count) {
  return Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::uint64_t>>(exec, 0, count);
}

class FileSort {
 public:
  FileSort(const Records& records, const OrderOptions& options, OutputFile& output)
      : records_(records),
        format_(records.format),
        options_(library_options(options, records.format.key)),
        output_(output) {}

  SortSeconds run() {
    if (sorts_directly(format_)) {
      with_key_type(format_.key.id, [&](auto type) { sort_keys<typename decltype(type)::type>(); });
    } else {
      with_word_and_index(format_, records_.count, [&](auto word, auto index) {
        sort_by_index<typename decltype(word)::type, typename decltype(index)::type>();
      });
    }
    return seconds_;
  }

 private:
  template <class T>
  void sort_keys() {
    const Array<T> keys = allocate<T>("kradix_tool::keys", records_.count);
    auto* const bytes = reinterpret_cast<std::byte*>(keys.data());
    read(bytes);
    timed_on_device([&] { kradix::sort(exec_, keys, options_); });
    const std::uint64_t step = records_per_chunk(format_);
    for_each_piece([&](std::uint64_t first, std::uint64_t,
                       std::uint64_t size) { write(bytes + first * sizeof(T), size); },
                   step);
  }

  template <class Word, class Index>
  void sort_by_index() {
    const auto records = allocate<std::byte>("kradix_tool::records", records_.bytes());
    const auto index = allocate<Index>("kradix_tool::index", records_.count);
    read(records.data());
    timed_on_device([&] {
      const auto keys = allocate<Word>("kradix_tool::keys", records_.count);
      encode(KeyField{records.data(), format_.record_bytes, format_.key_offset}, keys.data());
      kradix::argsort(exec_, keys, index, options_);
      exec_.fence("kradix_tool: fence before the keys go");
    });
    const auto gathered =
        allocate<std::byte>("kradix_tool::gathered", gathered_bytes(format_, records_.count));
    for_each_piece(
        [&](std::uint64_t first, std::uint64_t count, std::uint64_t size) {
          timed_on_device(
              [&] { gather(records.data(), index.data() + first, count, gathered.data()); });
          write(gathered.data(), size);
        },
        records_per_chunk(format_));
  }

  template <class Word>
  void encode(const KeyField& field, Word* words) {
    const auto encode_all = [&](const auto& functor) {
      Kokkos::parallel_for("kradix_tool::encode", each(exec_, records_.count), functor);
    };
    if (format_.key.kind == Kind::byte_string) {
      encode_all(EncodeByteStrings<Word>{field, format_.key.bytes, words});
      return;
    }
    with_key_type(format_.key.id, [&](auto type) {
      using T = typename decltype(type)::type;
      if constexpr (sizeof(T) == sizeof(Word)) encode_all(EncodeKeys<T, Word>{field, words});
    });
  }

  template <class Index>
  void gather(const std::byte* records, const Index* index, std::uint64_t count, std::byte* to) {
    if (format_.record_bytes % sizeof(std::uint32_t) == 0) {
      gather_units<std::uint32_t>(records, index, count, to);
    } else {
      gather_units<std::uint8_t>(records, index, count, to);
    }
  }
  template <class Unit, class Index>
  void gather_units(const std::byte* records, const Index* index, std::uint64_t count,
                    std::byte* to) {
    using Gather = GatherRecords<Index, Unit>;
    const std::uint64_t teams = (count + Gather::records_per_team - 1) / Gather::records_per_team;
    const int lanes = HostWindow::direct ? 1 : Kokkos::TeamPolicy<Exec>::vector_length_max();
    Kokkos::parallel_for(
        "kradix_tool::gather",
        Kokkos::TeamPolicy<Exec>(exec_, static_cast<int>(teams), Kokkos::AUTO, lanes),
        Gather{reinterpret_cast<const Unit*>(records), index, count,
               format_.record_bytes / sizeof(Unit), reinterpret_cast<Unit*>(to)});
  }

  void read(std::byte* device) {
    const Timer timer;
    read_to_device(records_, device);
    seconds_.read += timer.seconds();
  }

  template <class Work>
  void timed_on_device(const Work& work) {
    const Timer timer;
    work();
    exec_.fence("kradix_tool: fence after a step");
    seconds_.sort += timer.seconds();
  }

  void write(std::byte* device, std::uint64_t bytes) {
    const Timer timer;
    window_.to_host(device, bytes);
    output_.write(window_.of(device), bytes);
    seconds_.write += timer.seconds();
  }

  /// Calls f(first record, records, bytes) for each piece of the output.
  template <class Function>
  void for_each_piece(const Function& f, std::uint64_t step) {
    Progress progress("writing", records_.bytes());
    for (std::uint64_t first = 0; first < records_.count; first += step) {
      const std::uint64_t here = std::min(step, records_.count - first);
      f(first, here, here * format_.record_bytes);
      progress.advance(here * format_.record_bytes);
    }
  }

  const Records& records_;
  const RecordFormat& format_;
  kradix::Options options_;
  OutputFile& output_;
  Exec exec_;
  HostWindow window_{exec_, gathered_bytes(format_, records_.count)};
  SortSeconds seconds_;
};

}  // namespace

SortSeconds sort_on_device(const Records& records, const OrderOptions& options,
                           OutputFile& output) {
  return FileSort(records, options, output).run();
}

}  // namespace tool
