// Sorted runs that other ranks show. Kernels read them where they lie, once; what they search for is found here.
//
// Far memory is read in order as fast as a copy of it would be, and without one; but a search there waits for every step. So
// the last of each so many keys, a landmark, is copied, and only what lies between two of them is looked at afar.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "kradix/impl/mpi/communicator.hpp"
#include "kradix/impl/mpi/exchange.hpp"
#include "kradix/impl/mpi/merge_tile.hpp"
#include "kradix/impl/mpi/transport.hpp"
#include "kradix/impl/scratch.hpp"

namespace kradix::impl::mpi {

template <class Key>
struct TakeLandmarks {
  const Key* keys;
  Key* landmarks;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    landmarks[i] = keys[((i + 1) << landmark_bits) - 1];
  }
};

/// Of a run of `count` keys. Enqueued.
template <class ExecutionSpace, class Key>
void take_landmarks(const ExecutionSpace& exec, const std::string& label, const Key* keys,
                    std::size_t count, Key* landmarks) {
  Kokkos::parallel_for(label + "TakeLandmarks",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::size_t>>(
                           exec, 0, count >> landmark_bits),
                       TakeLandmarks<Key>{keys, landmarks});
}

/// So many elements: keys, then values, if there are any. `sent_begin`: so many lie before them where they are sent, if their
/// receiver has them as far from an aligned place.
template <class Key, class Value>
void add_pieces(std::vector<Piece>& pieces, int rank, const PlaceOf<Key, Value>& place,
                std::uint64_t size, std::optional<std::uint64_t> sent_begin = {}) {
  if (size == 0) return;
  const auto add = [&](auto* elements) {
    constexpr std::size_t bytes = sizeof(*elements);
    pieces.push_back({rank, reinterpret_cast<std::byte*>(elements), size * bytes,
                      sent_begin ? bytes_to_alignment(*sent_begin * bytes) : 0});
  };
  add(place.keys);
  if constexpr (!std::is_same_v<Value, NoValue>) add(place.values);
}

/// One run of every rank, of which each other rank reads a part.
template <class Key, class Value>
class ShownRuns {
 public:
  using Place = PlaceOf<Key, Value>;

  /// This rank's run and its landmarks, and which part of it goes to whom.
  ShownRuns(const Communicator& comm, const Routing& routing, const Place& own,
            const Key* landmarks)
      : comm_(comm),
        routing_(routing),
        own_(own),
        own_landmarks_(landmarks),
        slots_(static_cast<std::size_t>(comm.size())),
        landmarks_(slots_.size()),
        at_(slots_.size()) {}

  /// Room for others' landmarks.
  void list(ScratchList& list) {
    comm_.for_others([&](int rank) {
      slots_[index(rank)] = list.add(static_cast<std::size_t>(arriving(rank).size()), sizeof(Key));
    });
  }
  void place(std::byte* base) {
    comm_.for_others(
        [&](int rank) { landmarks_[index(rank)] = slots_[index(rank)].template in<Key>(base); });
  }
  /// They must have arrived before anything is searched for.
  void add_landmarks(Pieces& pieces) const {
    comm_.for_others([&](int rank) {
      const Marks out = marks_of(routing_.to_begin(rank, 0), routing_.to_all(rank));
      add_pieces(pieces.sends, rank,
                 PlaceOf<Key, NoValue>{const_cast<Key*>(own_landmarks_) + out.begin}, out.size());
      add_pieces(pieces.receives, rank, PlaceOf<Key, NoValue>{landmarks_[index(rank)]},
                 arriving(rank).size());
    });
  }
  /// With the lead of their first blocks.
  Pieces pieces() const {
    Pieces pieces;
    comm_.for_others([&](int rank) {
      const std::uint64_t begin = routing_.to_begin(rank, 0), size = routing_.to_all(rank);
      if (size > 0) {
        add_pieces(pieces.sends, rank, own_.moved_on(begin - lead_of(begin)),
                   lead_of(begin) + size);
      }
      if (routing_.from_all(rank) > 0) {
        add_pieces(pieces.receives, rank, Place{},
                   lead_of(routing_.sent_begin(rank, 0)) + routing_.from_all(rank));
      }
    });
    return pieces;
  }
  void take(const Batches& batches) {
    comm_.for_others([&](int rank) {
      if (routing_.from_all(rank) == 0) return;
      const auto where = [&](std::size_t i) {
        return const_cast<std::byte*>(batches.where(rank, i));
      };
      Place place{reinterpret_cast<Key*>(where(0))};
      if constexpr (!std::is_same_v<Value, NoValue>) {
        place.values = reinterpret_cast<Value*>(where(1));
      }
      at_[index(rank)] = place.moved_on(lead_of(routing_.sent_begin(rank, 0)));
    });
  }

  /// What another rank has for so many ranges of this one, from one on.
  SortedRun<Key, Value> run(int rank, int range, int ranges) const {
    const std::uint64_t size = routing_.from_ranges(rank, range, ranges);
    if (size == 0) return {};
    const std::uint64_t first = routing_.sent_begin(rank, 0),
                        begin = routing_.sent_begin(rank, range);
    const Place from = at_[index(rank)].moved_on(begin - first);
    return {from.keys, from.values, size,
            landmarks_[index(rank)] + ((begin >> landmark_bits) - (first >> landmark_bits)),
            lead_of(begin)};
  }

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  static std::uint64_t lead_of(std::uint64_t begin) { return begin % landmark_step; }

  struct Marks {
    std::uint64_t begin, end;
    std::uint64_t size() const { return end - begin; }
  };
  /// Of elements of a run: the block before their first one may end among them.
  static Marks marks_of(std::uint64_t begin, std::uint64_t size) {
    return {begin >> landmark_bits, (begin + size) >> landmark_bits};
  }
  Marks arriving(int rank) const {
    return marks_of(routing_.sent_begin(rank, 0), routing_.from_all(rank));
  }

  const Communicator& comm_;
  const Routing& routing_;
  Place own_;
  const Key* own_landmarks_;
  std::vector<Slot> slots_;
  std::vector<Key*> landmarks_;
  std::vector<Place> at_;  ///< where others' parts lie
};

}  // namespace kradix::impl::mpi
