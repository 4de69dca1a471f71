// Elements in reverse with their values: once all have been turned round keys are in order, and the values of keys that
// are the same lie in reverse. This turns those back.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/settle.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// Teams that stay. Lanes side by side look at keys side by side; who finds one that is not the last of its run learns
/// where the run begins and ends, and of two values as far from either the lower one's lane lets both change places.
template <class ExecutionSpace, class Codec, class Value, int Threads>
struct TurnTiesBack {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Mask = typename L::Mask;
  static constexpr int groups = Threads / L::width;
  static constexpr Mask full = static_cast<Mask>(~Mask{0}) >> (8 * sizeof(Mask) - L::width);
  static constexpr int batch = 2;  // loads under way at once, twice: more would spill

  SortBuffers<Key, Value> buffers;
  Codec codec;
  std::size_t count, share;  ///< all elements; those that a team takes at once
  DigitList all;
  const PassTable* passes;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (passes->mirrors != PassTable::turning_ties_back) return;
    const Lane lane{*this, bits_between<Bits>(all.begin, all.end), L::lane(team.team_rank())};
    for_each_share(team, count, share, lane);
  }

 private:
  /// The keys of a run, [begin, end).
  struct Run {
    std::size_t begin = 0, end = 0;
  };

  struct Lane {
    const TurnTiesBack& turn;
    Bits mask;
    int lane;

    /// Each group of lanes takes a part of the share, one behind the other.
    KOKKOS_FUNCTION void operator()(const Team& team, const Share& share) const {
      constexpr std::size_t step = std::size_t{batch} * L::width;
      const std::size_t each = (share.end - share.begin + groups - 1) / groups;
      const std::size_t part = (each + step - 1) / step * step;
      const auto group = static_cast<std::size_t>(team.team_rank() / L::width);
      std::size_t at = share.begin + group * part;
      const std::size_t end = at + part < share.end ? at + part : share.end;
      if (at >= end) return;
      bool begins =
          at == 0 || code(at - 1) != code(at);  // does a run begin with the first lane's key?
      Run known;
      for (; at < end; at += step) {
        Bits here[batch], next[batch];
        KRADIX_UNROLL
        for (int b = 0; b < batch; ++b) here[b] = code(within(at + b * L::width + lane));
        KRADIX_UNROLL
        for (int b = 0; b < batch; ++b) next[b] = code(within(at + b * L::width + lane + 1));
        std::size_t other[batch];
        bool none = true;
        KRADIX_UNROLL
        for (int b = 0; b < batch; ++b) {
          const std::size_t first = at + b * L::width;
          const Mask lasts = L::where(here[b] != next[b] || first + lane + 1 >= turn.count);
          other[b] = lasts == full && begins ? 0 : opposite(first, lasts, begins, known);
          if (first + lane >= end) other[b] = 0;
          none = none && other[b] == 0;
          begins = (lasts >> (L::width - 1) & 1) != 0;
        }
        if (!none) exchange(at + lane, other);
      }
    }

   private:
    KOKKOS_FUNCTION std::size_t within(std::size_t place) const {
      return place < turn.count ? place : turn.count - 1;
    }
    /// Keys whose place is not wanted lie as they did.
    KOKKOS_FUNCTION Bits code(std::size_t place) const {
      const PassBuffers<Key>& keys = turn.buffers.keys;
      const Key key =
          turn.buffers.leaves_keys ? keys.in[turn.count - 1 - place] : keys.result[place];
      return static_cast<Bits>(turn.codec.encode(key) & mask);
    }

    /// All are on their way at once.
    KOKKOS_FUNCTION void exchange(std::size_t first, const std::size_t* other) const {
      Value* const values = turn.buffers.values.result;
      Value low[batch], high[batch];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) {
        if (other[b] == 0) continue;
        low[b] = values[first + b * L::width];
        high[b] = values[other[b]];
      }
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) {
        if (other[b] == 0) continue;
        values[first + b * L::width] = high[b];
        values[other[b]] = low[b];
      }
    }

    /// Where the value lies that changes places with this lane's, if it lies behind that (else 0). The lanes' keys begin at
    /// `first`; which of them are the last of their runs, and does the first one begin its own?
    KOKKOS_FUNCTION std::size_t opposite(std::size_t first, Mask lasts, bool begins,
                                         Run& known) const {
      const auto firsts = static_cast<Mask>((lasts << 1 | (begins ? 1 : 0)) & full);
      const auto up_to_here = static_cast<Mask>(firsts & (full >> (L::width - 1 - lane)));
      const auto from_here = static_cast<Mask>(lasts & static_cast<Mask>(full << lane));
      // Runs that go on beyond these lanes: all look for their ends alike.
      constexpr Mask top = Mask{1} << (L::width - 1);
      if ((firsts & 1) == 0 && known.end <= first)
        known = {first - same_beside(first, first, -1), 0};
      const std::size_t entering = known.begin;
      std::size_t leaving = known.end;
      if ((lasts & top) == 0 && leaving < first + L::width) {
        const std::size_t last = first + L::width - 1;
        leaving = last + 1 + same_beside(last, turn.count - 1 - last, 1);
        known = {firsts != 0 ? first + bit_width_of(firsts) - 1 : entering, leaving};
      }
      const std::size_t here = first + lane;
      const std::size_t begin = up_to_here != 0 ? first + bit_width_of(up_to_here) - 1 : entering;
      const std::size_t last =
          from_here != 0 ? first + bit_width_of(static_cast<Mask>(from_here & (~from_here + 1))) - 1
                         : leaving - 1;
      const std::size_t there = begin + last - here;
      return there > here ? there : 0;
    }

    /// Keys that are the same as that one, beside it in one direction where there are so many. Lanes look at distances that double,
    /// then at as many between two of those, and so on.
    KOKKOS_FUNCTION std::size_t same_beside(std::size_t place, std::size_t most, int way) const {
      const Bits bits = code(place);
      const auto same_at = [&](std::size_t distance, std::size_t end) {
        const bool is_there = distance < end;
        const std::size_t seen = is_there ? distance : 0;
        return L::size_of(
            L::where(is_there && code(way > 0 ? place + seen : place - seen) == bits));
      };
      int lanes = same_at(std::size_t{1} << lane, most + 1);
      std::size_t same = lanes > 0 ? std::size_t{1} << (lanes - 1) : 0;
      std::size_t other = lanes < L::width ? std::size_t{1} << lanes : most + 1;
      if (other > most + 1) other = most + 1;
      while (other - same > 1) {
        const std::size_t step = (other - same + L::width) / (L::width + 1);
        lanes = same_at(same + (static_cast<std::size_t>(lane) + 1) * step, other);
        same += static_cast<std::size_t>(lanes) * step;
        if (same + step < other) other = same + step;
      }
      return same;
    }
  };
};

}  // namespace kradix::impl
