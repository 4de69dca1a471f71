// The scratch memory of one sort, listed once: the list both sizes the workspace and carves it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kradix::impl {

/// Every array of scratch memory starts at a multiple of this. Views start 128 bytes into their
/// allocation; look-back words that lay so cost a whole Onesweep 3 % on an H200.
inline constexpr std::size_t scratch_alignment = 512;

/// Where the listed arrays begin in memory that was taken for them.
inline std::byte* aligned_scratch(std::byte* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return memory + (scratch_alignment - address % scratch_alignment) % scratch_alignment;
}

/// A piece of scratch memory by its place, so that it can be listed before any memory exists.
struct Slot {
  std::size_t offset = 0;
  std::size_t bytes = 0;

  template <class T>
  T* in(std::byte* base) const {
    return bytes == 0 ? nullptr : reinterpret_cast<T*>(base + offset);
  }
};

class ScratchList {
 public:
  Slot add(std::size_t count, std::size_t element_bytes) {
    const Slot slot{bytes_, count * element_bytes};
    bytes_ += (slot.bytes + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
    return slot;
  }
  /// Enough wherever the memory starts.
  std::size_t bytes() const { return bytes_ + scratch_alignment; }

 private:
  std::size_t bytes_ = 0;
};

}  // namespace kradix::impl
