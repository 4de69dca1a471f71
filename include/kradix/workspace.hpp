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
    block_.reset();
    bytes_ = 0;
    board_block_.reset();
    board_ = nullptr;
    meeting_block_.reset();
    meeting_ = nullptr;
  }

  /// At least `bytes` bytes of ExecutionSpace's memory, aligned as an allocation is. Contents are
  /// not kept when it grows. Growing waits for work in flight that uses the old block.
  template <class ExecutionSpace>
  std::byte* reserve(const ExecutionSpace& exec, std::size_t bytes, const std::string& label) {
    using Space = typename ExecutionSpace::memory_space;
    using Block = Kokkos::View<std::byte*, Space>;
    if (bytes > bytes_ || space_ != std::type_index(typeid(Space))) {
      if (block_) exec.fence(label + ": fence before the workspace grows");
      block_.reset();
      bytes_ = 0;
      auto block = std::make_shared<Block>(
          Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), bytes);
      data_ = block->data();
      if constexpr (std::is_same_v<Space, Kokkos::HostSpace>) {
        impl::advise_large_pages(data_, bytes);
      }
      block_ = std::move(block);
      space_ = std::type_index(typeid(Space));
      bytes_ = bytes;
    }
    return data_;
  }

  /// 4 KB of the host's memory that ExecutionSpace writes to, for calls in which the host waits. They are taken once.
  template <class ExecutionSpace>
  impl::HostBoard* board(const ExecutionSpace&, const std::string& label) {
    using Space = impl::board_space<ExecutionSpace>;
    if (board_ == nullptr || board_space_ != std::type_index(typeid(Space))) {
      auto block = std::make_shared<Kokkos::View<impl::HostBoard, Space>>(label);
      board_ = block->data();
      board_block_ = std::move(block);
      board_space_ = std::type_index(typeid(Space));
    }
    return board_;
  }

  /// 2 KB of ExecutionSpace's memory, zero at first, in which teams of one launch meet. They are taken once.
  template <class ExecutionSpace>
  impl::Meeting* meeting(const ExecutionSpace& exec, const std::string& label) {
    using Space = typename ExecutionSpace::memory_space;
    if (meeting_ == nullptr || meeting_space_ != std::type_index(typeid(Space))) {
      if (meeting_block_) exec.fence(label + ": fence before the meeting moves");
      auto block = std::make_shared<Kokkos::View<impl::Meeting, Space>>(
          Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label));
      Kokkos::parallel_for(label + "::ClearMeeting",
                           Kokkos::RangePolicy<ExecutionSpace>(exec, 0, impl::ClearMeeting::words),
                           impl::ClearMeeting{block->data()});
      meeting_ = block->data();
      meeting_block_ = std::move(block);
      meeting_space_ = std::type_index(typeid(Space));
    }
    return meeting_;
  }

 private:
  std::shared_ptr<void> block_;
  std::type_index space_ = std::type_index(typeid(void));
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::shared_ptr<void> board_block_;
  std::type_index board_space_ = std::type_index(typeid(void));
  impl::HostBoard* board_ = nullptr;
  std::shared_ptr<void> meeting_block_;
  std::type_index meeting_space_ = std::type_index(typeid(void));
  impl::Meeting* meeting_ = nullptr;
};

}  // namespace kradix
