// The first half of a rank's elements leaves while the second is sorted.
//
// Where the whole will be cut is not known then. It is guessed from the first halves (early_cuts.hpp), and what belongs
// elsewhere by that guess leaves early, into room with some slack on both sides; when both halves are sorted, what is
// missing follows. So a sorted run of each half of every rank arrives, and all are merged.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "kradix/impl/mpi/communicator.hpp"
#include "kradix/impl/mpi/exchange.hpp"
#include "kradix/impl/mpi/merge_tile.hpp"
#include "kradix/impl/mpi/partition.hpp"
#include "kradix/impl/mpi/shown_runs.hpp"
#include "kradix/impl/mpi/transport.hpp"
#include "kradix/impl/scratch.hpp"

namespace kradix::impl::mpi {

/// Elements [begin, end) of a sorted run.
struct Stretch {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t size() const { return end - begin; }
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// What of a run goes to some rank: what has left early, and what belongs there.
struct EarlyPart {
  Stretch early, whole;

  static std::uint64_t slack(std::uint64_t early_size) { return early_size / 32 + 64; }
  /// Of what arrives early, and what may be missing.
  static std::uint64_t room(std::uint64_t early_size) { return early_size + 2 * slack(early_size); }

  std::uint64_t slack() const { return slack(early.size()); }
  /// If not, all is sent once more, to another place.
  bool fits() const {
    return whole.begin + slack() >= early.begin && whole.end <= early.end + slack();
  }
  /// Where it begins in its room, if it fits.
  std::uint64_t begin_in_room() const { return slack() + whole.begin - early.begin; }
  std::array<Stretch, 2> missing() const {
    if (!fits()) return {whole, Stretch{}};
    const auto inside = [&](std::uint64_t place) {
      return std::min(std::max(place, whole.begin), whole.end);
    };
    return {Stretch{whole.begin, inside(early.begin)}, Stretch{inside(early.end), whole.end}};
  }
};

/// How many elements the first half has: the greater one, so that both are sorted in the memory of the first.
inline std::size_t first_half_of(std::size_t count) {
  constexpr std::size_t aligned = 64;
  return std::min(count, (count / 2 + aligned) / aligned * aligned);
}

/// Where the places of cuts are, in elements between them: of `count`, the last after all cuts.
inline std::vector<std::uint64_t> sizes_between(std::vector<std::uint64_t> places,
                                                std::uint64_t count) {
  places.push_back(count);
  std::uint64_t begin = 0;
  for (std::uint64_t& place : places) place -= std::exchange(begin, place);
  return places;
}

/// Places of all ranges' cuts in a run of `count` elements, given those between ranks. Where a range begins decides no more
/// than when it is merged: `guessed` says it, one place for each cut, those between ranks included.
inline std::vector<std::uint64_t> with_ranges(const std::vector<std::uint64_t>& between_ranks,
                                              std::vector<std::uint64_t> guessed, int ranges,
                                              std::uint64_t count) {
  const auto of_rank = static_cast<std::size_t>(ranges);
  for (std::size_t i = 0; i < guessed.size(); ++i) {
    const std::size_t rank = i / of_rank;
    const std::uint64_t begin = rank == 0 ? 0 : between_ranks[rank - 1];
    const std::uint64_t end = rank < between_ranks.size() ? between_ranks[rank] : count;
    guessed[i] = i % of_rank == of_rank - 1 ? end : std::min(std::max(guessed[i], begin), end);
  }
  return guessed;
}

/// Where the halves of all ranks are on this one, and what has to travel for that. Collective where it makes a `Routing`.
template <class Key, class Value>
class Halves {
  using Place = PlaceOf<Key, Value>;

 public:
  /// This rank's two halves, side by side.
  Halves(const Communicator& comm, const Key* keys, const Value* values, std::size_t count)
      : comm_(comm), count_{first_half_of(count), 0} {
    count_[1] = count - count_[0];
    sent_[0] = {const_cast<Key*>(keys), const_cast<Value*>(values)};
    sent_[1] = sent_[0].moved_on(count_[0]);
    for (auto& at : at_) at.resize(index(comm.size()));
  }

  std::size_t count(int half) const { return count_[half]; }
  const Key* keys(int half) const { return sent_[half].keys; }

  /// By cuts of the first halves alone.
  void guess(const std::vector<std::uint64_t>& places) {
    early_.emplace(comm_, sizes_between(places, count_[0]), 1);
  }
  void list_early(ScratchList& list) {
    list_rooms(list, 0, [&](int rank) { return EarlyPart::room(early_->from_all(rank)); });
  }
  Pieces early_pieces(std::byte* base) {
    Pieces pieces;
    comm_.for_others([&](int rank) {
      send(pieces, rank, 0, to(*early_, rank));
      const Stretch arriving = from(*early_, rank);
      const std::uint64_t slack = EarlyPart::slack(arriving.size());
      const Place room = at(0, rank) = in(base, slots_[0][index(rank)], arriving.begin - slack);
      add_pieces(pieces.receives, rank, room.moved_on(slack), arriving.size(), arriving.begin);
    });
    return pieces;
  }

  /// By the cuts of all, of either half's elements. Second halves may be shown, with these landmarks, else they are sent.
  void route(const std::vector<std::vector<std::uint64_t>>& places, int ranges,
             const Key* landmarks) {
    for (int half = 0; half < 2; ++half) {
      routing_[half].emplace(comm_, sizes_between(places[half], count_[half]), ranges);
    }
    if (landmarks) shown_.emplace(comm_, *routing_[1], sent_[1], landmarks);
  }
  std::uint64_t range_begin(int range) const {
    return routing_[0]->range_begin(range) + routing_[1]->range_begin(range);
  }

  /// Of second halves, or their landmarks, and of first ones that do not fit where they have room.
  void list_late(ScratchList& list) {
    if (shown_) shown_->list(list);
    list_rooms(list, 1, [&](int rank) { return shown_ ? 0 : routing_[1]->from_all(rank); });
    list_rooms(list, 0, [&](int rank) {
      const EarlyPart part = arriving(rank);
      return part.fits() ? 0 : part.whole.size();
    });
  }
  void place_late(std::byte* base) {
    if (shown_) shown_->place(base);
    comm_.for_others([&](int rank) {
      at(1, rank) = in(base, slots_[1][index(rank)], routing_[1]->sent_begin(rank, 0));
      const EarlyPart part = arriving(rank);
      at(0, rank) = part.fits() ? at(0, rank).moved_on(part.begin_in_room())
                                : in(base, slots_[0][index(rank)], part.whole.begin);
    });
  }
  /// What is missing of first halves comes with the first range.
  Pieces late_pieces(int range) const {
    Pieces pieces;
    comm_.for_others([&](int rank) {
      if (range == 0) {
        for (const Stretch& missing : leaving(rank).missing()) send(pieces, rank, 0, missing);
        const EarlyPart part = arriving(rank);
        for (const Stretch& missing : part.missing()) {
          if (missing.size() == 0) continue;
          add_pieces(pieces.receives, rank,
                     at_[0][index(rank)].moved_on(missing.begin - part.whole.begin), missing.size(),
                     missing.begin);
        }
      }
      if (shown_) return;
      const Routing& routing = *routing_[1];
      const std::uint64_t begin = routing.to_begin(rank, range);
      send(pieces, rank, 1, {begin, begin + routing.to(rank, range)});
      add_pieces(pieces.receives, rank,
                 at_[1][index(rank)].moved_on(routing.sent_begin(rank, range) -
                                              routing.sent_begin(rank, 0)),
                 routing.from(rank, range), routing.sent_begin(rank, range));
    });
    if (shown_ && range == 0) shown_->add_landmarks(pieces);
    return pieces;
  }
  Pieces pieces_to_show() const { return shown_ ? shown_->pieces() : Pieces{}; }
  void take_shown(const Batches& batches) {
    if (shown_) shown_->take(batches);
  }

  /// Of so many ranges, from one on, in the order of ranks and halves.
  std::vector<SortedRun<Key, Value>> runs(int range, int ranges) const {
    std::vector<SortedRun<Key, Value>> runs;
    for (int rank = 0; rank < comm_.size(); ++rank) {
      for (int half = 0; half < 2; ++half) {
        const Routing& routing = *routing_[half];
        const bool own = rank == comm_.rank();
        if (shown_ && half == 1 && !own) {
          runs.push_back(shown_->run(rank, range, ranges));
          continue;
        }
        const Place from = own ? sent_[half].moved_on(routing.to_begin(rank, range))
                               : at_[half][index(rank)].moved_on(routing.sent_begin(rank, range) -
                                                                 routing.sent_begin(rank, 0));
        runs.push_back({from.keys, from.values, routing.from_ranges(rank, range, ranges)});
      }
    }
    return runs;
  }

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  Place& at(int half, int rank) { return at_[half][index(rank)]; }

  /// What of this rank's run goes to another in all ranges, and what of the other's comes here.
  static Stretch to(const Routing& routing, int rank) {
    const std::uint64_t begin = routing.to_begin(rank, 0);
    return {begin, begin + routing.to_all(rank)};
  }
  static Stretch from(const Routing& routing, int rank) {
    const std::uint64_t begin = routing.sent_begin(rank, 0);
    return {begin, begin + routing.from_all(rank)};
  }
  EarlyPart leaving(int rank) const { return {to(*early_, rank), to(*routing_[0], rank)}; }
  EarlyPart arriving(int rank) const { return {from(*early_, rank), from(*routing_[0], rank)}; }

  using Slots = PlaceSlots<Key, Value>;
  /// As far from an aligned place as there, where `sent_begin` elements lie before.
  static Place in(std::byte* base, const Slots& slots, std::uint64_t sent_begin) {
    return slots.in(base).moved_on(sent_begin % aligned_bytes);
  }
  template <class SizeOf>
  void list_rooms(ScratchList& list, int half, const SizeOf& size_of) {
    slots_[half].resize(index(comm_.size()));
    comm_.for_others([&](int rank) {
      const auto size = static_cast<std::size_t>(size_of(rank));
      const std::size_t count = size > 0 ? size + aligned_bytes : 0;
      slots_[half][index(rank)] = Slots::list(list, count);
    });
  }

  void send(Pieces& pieces, int rank, int half, const Stretch& stretch) const {
    add_pieces(pieces.sends, rank, sent_[half].moved_on(stretch.begin), stretch.size(),
               stretch.begin);
  }

  const Communicator& comm_;
  Place sent_[2];
  std::size_t count_[2];
  std::optional<Routing> early_, routing_[2];
  std::vector<Slots> slots_[2];
  std::vector<Place> at_[2];                    ///< where halves of others lie
  std::optional<ShownRuns<Key, Value>> shown_;  ///< second halves, if they are read where they are
};

}  // namespace kradix::impl::mpi
