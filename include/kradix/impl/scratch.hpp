// The scratch memory of one sort, listed once: the list both sizes the workspace and carves it.
#pragma once

#include <cstddef>

namespace kradix::impl {

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
    bytes_ += (slot.bytes + alignment - 1) / alignment * alignment;
    return slot;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  // A GPU memory transaction is 32 to 128 bytes; 256 keeps every array clear of its neighbour.
  static constexpr std::size_t alignment = 256;
  std::size_t bytes_ = 0;
};

}  // namespace kradix::impl
