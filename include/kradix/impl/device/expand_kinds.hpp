// Sorted keys written from how often each occurs: no key is moved.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// Kinds of keys in order. `first` has one entry more: the end of all.
template <class Key>
struct KindList {
  const Key* keys;
  const std::uint64_t* first;
  const std::uint64_t* size;

  /// The last kind that starts at `place` or before.
  KOKKOS_FUNCTION std::uint64_t kind_at(std::size_t place) const {
    return first_behind(first, std::uint64_t{1}, *size, static_cast<std::uint64_t>(place)) - 1;
  }
};

/// Teams that stay write a share each, 16 bytes a thread at once.
template <class ExecutionSpace, class Key, int Threads>
struct ExpandKinds {
  using Team = TeamMember<ExecutionSpace>;
  static constexpr std::size_t width = 16 / sizeof(Key);
  struct alignas(16) Vector {
    Key key[width];
  };

  KindList<Key> kinds;
  const PassTable* passes;
  Key* result;               ///< null: nobody wants keys
  std::size_t count, share;  ///< all keys; vectors of a team

  /// The kind at a place that only moves forward.
  struct Cursor {
    std::uint64_t kind;
    std::size_t end;
    Key key;
  };

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (!passes->expands || result == nullptr) return;
    const std::size_t head = unaligned(), vectors = (count - head) / width;
    const Share mine = share_of(vectors, share, static_cast<std::size_t>(team.league_rank()));
    const auto thread = static_cast<std::size_t>(team.team_rank());
    auto* const out = reinterpret_cast<Vector*>(result + head);
    if (mine.begin + thread < mine.end) {
      Cursor cursor = cursor_at(head + (mine.begin + thread) * width);
      for (std::size_t v = mine.begin + thread; v < mine.end; v += Threads) {
        out[v] = vector_at(head + v * width, cursor);
      }
    }
    if (team.league_rank() != 0) return;
    for (std::size_t i = thread; i < head; i += Threads) result[i] = cursor_at(i).key;
    for (std::size_t i = head + vectors * width + thread; i < count; i += Threads) {
      result[i] = cursor_at(i).key;
    }
  }

  /// Keys before the first that a vector may begin with.
  KOKKOS_FUNCTION std::size_t unaligned() const {
    const std::size_t past = reinterpret_cast<std::uintptr_t>(result) % sizeof(Vector);
    const std::size_t head = past == 0 ? 0 : (sizeof(Vector) - past) / sizeof(Key);
    return head < count ? head : count;
  }

  KOKKOS_FUNCTION Cursor cursor_at(std::size_t place) const {
    const std::uint64_t kind = kinds.kind_at(place);
    return {kind, kinds.first[kind + 1], kinds.keys[kind]};
  }

  KOKKOS_FUNCTION void move_to(std::size_t place, Cursor& cursor) const {
    if (place < cursor.end) return;
    while (place >= cursor.end) cursor.end = kinds.first[++cursor.kind + 1];
    cursor.key = kinds.keys[cursor.kind];
  }

  KOKKOS_FUNCTION Vector vector_at(std::size_t place, Cursor& cursor) const {
    Vector vector;
    move_to(place, cursor);
    KRADIX_UNROLL
    for (std::size_t k = 0; k < width; ++k) vector.key[k] = cursor.key;
    if (place + width <= cursor.end) return vector;
    KRADIX_UNROLL
    for (std::size_t k = 1; k < width; ++k) {
      move_to(place + k, cursor);
      vector.key[k] = cursor.key;
    }
    return vector;
  }
};

}  // namespace kradix::impl
