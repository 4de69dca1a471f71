// Between files and the device's memory, in pieces.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "device_kernels.hpp"
#include "file.hpp"
#include "records.hpp"

namespace tool {

/// Host memory that stands for a piece of the device's: that memory itself where the host reaches
/// it, else a buffer to be copied.
class HostWindow {
 public:
  static constexpr bool direct = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible;

  HostWindow(const Exec& exec, std::uint64_t bytes)
      : exec_(exec),
        buffer_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kradix_tool::window"),
                direct ? 0 : bytes) {}

  std::byte* of(std::byte* device) const { return direct ? device : buffer_.data(); }
  void to_device(std::byte* device, std::uint64_t bytes) const {
    if constexpr (!direct) copy(Piece<Memory>(device, bytes), Piece<Host>(buffer_.data(), bytes));
  }
  void to_host(std::byte* device, std::uint64_t bytes) const {
    if constexpr (!direct) copy(Piece<Host>(buffer_.data(), bytes), Piece<Memory>(device, bytes));
  }

 private:
#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
  using Host = Kokkos::SharedHostPinnedSpace;  // copies run at the speed of the bus
#else
  using Host = Kokkos::HostSpace;
#endif
  template <class Space>
  using Piece = Kokkos::View<std::byte*, Space, Kokkos::MemoryUnmanaged>;
  template <class To, class From>
  void copy(const To& to, const From& from) const {
    Kokkos::deep_copy(exec_, to, from);
    exec_.fence("kradix_tool: fence after a piece");
  }

  Exec exec_;
  Kokkos::View<std::byte*, Host> buffer_;
};

inline void read_to_device(const Records& records, std::byte* device) {
  const std::uint64_t step = records_per_chunk(records.format);
  const std::uint64_t size = records.format.record_bytes;
  const HostWindow window(Exec{}, std::min(step, records.count) * size);
  Progress progress("reading", records.bytes());
  for (std::uint64_t first = 0; first < records.count; first += step) {
    const std::uint64_t here = std::min(step, records.count - first);
    std::byte* const piece = device + first * size;
    records.read(first, here, window.of(piece));
    window.to_device(piece, here * size);
    progress.advance(here * size);
  }
}

}  // namespace tool
