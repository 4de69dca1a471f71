#include "ranks_device.hpp"

#include <Kokkos_Core.hpp>
#include <cstring>
#include <kradix/mpi/sort.hpp>

#include "device_kernels.hpp"
#include "device_types.hpp"

namespace tool {

namespace {

kradix::mpi::Options rank_options(const OrderOptions& options, const KeyType& key) {
  const kradix::Options local = library_options(options, key);
  kradix::mpi::Options result;
  result.order = local.order;
  result.bits = local.bits;
  result.stability = local.stability;
  result.label = "kradix_tool";
  return result;
}

Array<std::byte> to_device(const std::vector<std::byte>& host) {
  const Array<std::byte> device(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "kradix_tool::records"), host.size());
  Kokkos::deep_copy(device,
                    Kokkos::View<const std::byte*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                        host.data(), host.size()));
  return device;
}

template <class T>
void to_host(const Array<T>& device, void* host) {
  Kokkos::deep_copy(Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                        static_cast<T*>(host), device.extent(0)),
                    device);
}

template <class T>
RankSort sort_keys(const World& world, const std::vector<std::byte>& records, std::uint64_t count,
                   const RecordFormat& format, const OrderOptions& options) {
  Array<std::byte> bytes;
  world.together([&] { bytes = to_device(records); });
  const Kokkos::View<const T*, Memory, Kokkos::MemoryUnmanaged> keys(
      reinterpret_cast<const T*>(bytes.data()), count);
  const auto sorted =
      kradix::mpi::sort(MPI_COMM_WORLD, Exec{}, keys, rank_options(options, format.key));
  RankSort result;
  result.records.resize(sorted.keys.extent(0) * sizeof(T));
  to_host(sorted.keys, result.records.data());
  result.first = sorted.report.before;
  result.bytes_sent = sorted.report.bytes_sent;
  return result;
}

/// The words whose order is that of the keys.
template <class Word>
Array<Word> encode(const std::vector<std::byte>& records, std::uint64_t count,
                   const RecordFormat& format) {
  const Array<Word> words(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kradix_tool::keys"),
                          count);
  const Array<std::byte> bytes = to_device(records);
  const KeyField field{bytes.data(), format.record_bytes, format.key_offset};
  const Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::uint64_t>> all(0, count);
  if (format.key.kind == Kind::byte_string) {
    Kokkos::parallel_for("kradix_tool::encode", all,
                         EncodeByteStrings<Word>{field, format.key.bytes, words.data()});
  } else {
    with_key_type(format.key.id, [&](auto type) {
      using T = typename decltype(type)::type;
      if constexpr (sizeof(T) == sizeof(Word)) {
        Kokkos::parallel_for("kradix_tool::encode", all, EncodeKeys<T, Word>{field, words.data()});
      }
    });
  }
  Kokkos::fence("kradix_tool: fence before the records go");
  return words;
}

template <class Word>
RankSort sort_by_index(const World& world, const std::vector<std::byte>& records,
                       std::uint64_t count, const RecordFormat& format,
                       const OrderOptions& options) {
  Array<Word> words;
  world.together([&] { words = encode<Word>(records, count, format); });
  const auto sorted =
      kradix::mpi::argsort(MPI_COMM_WORLD, Exec{}, words, rank_options(options, format.key));
  RankSort result;
  result.by_index = true;
  result.origin.resize(sorted.permutation.extent(0));
  to_host(sorted.permutation, result.origin.data());
  result.first = sorted.report.before;
  result.bytes_sent = sorted.report.bytes_sent;
  return result;
}

}  // namespace

RankSort sort_on_ranks(const World& world, const std::vector<std::byte>& records,
                       std::uint64_t count, const RecordFormat& format,
                       const OrderOptions& options) {
  const auto sort = [&]() -> RankSort {
    if (format.key_only()) {
      switch (format.key.id) {
        case KeyId::u32:
          return sort_keys<std::uint32_t>(world, records, count, format, options);
        case KeyId::u64:
          return sort_keys<std::uint64_t>(world, records, count, format, options);
        case KeyId::f32:
          return sort_keys<float>(world, records, count, format, options);
        case KeyId::f64:
          return sort_keys<double>(world, records, count, format, options);
        default:
          break;  // an index fits the others
      }
    }
    return with_word_and_index(format, 0, [&](auto word, auto) {
      return sort_by_index<typename decltype(word)::type>(world, records, count, format, options);
    });
  };
  RankSort result = sort();
  result.execution_space = Exec::name();
  return result;
}

}  // namespace tool
