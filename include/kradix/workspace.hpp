/// Reusable scratch memory.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <typeindex>
#include <typeinfo>

#include "kradix/impl/device/meeting.hpp"
#include "kradix/impl/host/memory.hpp"
#include "kradix/impl/host_board.hpp"

namespace kradix {

/// Scratch memory that outlives a call. It grows to the largest request it has met and never shrinks
/// by itself: sorts that follow allocate nothing. One workspace serves one execution-space instance
/// at a time (two sorts in flight on two instances need two), in any memory space (a change of space
/// reallocates). It must be gone, or released, before Kokkos::finalize.
class Workspace {
 public:
  /// Bytes held now.
  std::size_t bytes() const { return bytes_; }

  /// Gives the memory back.
  void release() {
    block_ = {};
    bytes_ = 0;
    board_ = {};
    meeting_ = {};
  }

  /// At least `bytes` bytes of ExecutionSpace's memory, aligned as an allocation is. Contents are
  /// not kept when it grows. Growing waits for work in flight that uses the old block.
  template <class ExecutionSpace>
  std::byte* reserve(const ExecutionSpace& exec, std::size_t bytes, const std::string& label) {
    using Space = typename ExecutionSpace::memory_space;
    if (bytes > bytes_ || !block_.lies_in<Space>()) {
      if (block_.view) exec.fence(label + ": fence before the workspace grows");
      block_ = {};
      bytes_ = 0;
      block_.keep(Kokkos::View<std::byte*, Space>(
          Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), bytes));
      if constexpr (std::is_same_v<Space, Kokkos::HostSpace>) {
        impl::advise_large_pages(static_cast<std::byte*>(block_.data), bytes);
      }
      bytes_ = bytes;
    }
    return static_cast<std::byte*>(block_.data);
  }

  /// 4 KB of the host's memory that ExecutionSpace writes to, for calls in which the host waits. They are taken once.
  template <class ExecutionSpace>
  impl::HostBoard* board(const ExecutionSpace&, const std::string& label) {
    using Space = impl::board_space<ExecutionSpace>;
    if (!board_.lies_in<Space>()) board_.keep(Kokkos::View<impl::HostBoard, Space>(label));
    return static_cast<impl::HostBoard*>(board_.data);
  }

  /// 2 KB of ExecutionSpace's memory, zero at first, in which teams of one launch meet. They are taken once.
  template <class ExecutionSpace>
  impl::Meeting* meeting(const ExecutionSpace& exec, const std::string& label) {
    using Space = typename ExecutionSpace::memory_space;
    if (!meeting_.lies_in<Space>()) {
      if (meeting_.view) exec.fence(label + ": fence before the meeting moves");
      const Kokkos::View<impl::Meeting, Space> view(
          Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label));
      Kokkos::parallel_for(label + "::ClearMeeting",
                           Kokkos::RangePolicy<ExecutionSpace>(exec, 0, impl::ClearMeeting::words),
                           impl::ClearMeeting{view.data()});
      meeting_.keep(view);
    }
    return static_cast<impl::Meeting*>(meeting_.data);
  }

 private:
  /// Memory of one space, whichever it is.
  struct Kept {
    std::shared_ptr<void> view;
    std::type_index space = std::type_index(typeid(void));
    void* data = nullptr;

    template <class Space>
    bool lies_in() const {
      return space == std::type_index(typeid(Space));
    }
    template <class View>
    void keep(const View& kept) {
      view = std::make_shared<View>(kept);
      space = std::type_index(typeid(typename View::memory_space));
      data = kept.data();
    }
  };

  Kept block_;
  std::size_t bytes_ = 0;
  Kept board_;
  Kept meeting_;
};

}  // namespace kradix
