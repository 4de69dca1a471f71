// Keys that sweeps over their topmost digits leave all but in order: each tile looks for neighbours that are
// not, and puts their runs in order where they lie.
//
// Where few sweeps tell long keys apart, most runs (of keys that agree in the digits swept) are one key, or the same
// key many times. A short run that is out of order is sorted by one thread; longer ones are listed.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/chunks.hpp"
#include "kradix/impl/device/finish_crowded.hpp"
#include "kradix/impl/device/pass.hpp"
#include "kradix/impl/device/route.hpp"

namespace kradix::impl {

template <class ExecutionSpace, class Codec, class Value, int Threads>
struct MendTiles {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Combined = CombinedBits<ExecutionSpace, Threads, std::uint32_t>;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr bool may_be_light = lights_may_be_mended<Codec>;
  /// Three entries a tile at most are listed, for which there is room if it is no shorter than 3/4 of a chunk.
  static constexpr int tile = is_host_space<ExecutionSpace> ? 4096
                              : sizeof(Bits) <= 4           ? 3584
                              : sizeof(Bits) <= 8           ? 3328
                                                            : 1792;
  static constexpr int longest = 64;  ///< run that a thread sorts
  static constexpr int seen = tile + 2 * longest;
  static constexpr std::uint16_t moved = 1 << 15;  ///< marks a source
  static_assert(seen <= moved);

  SortBuffers<Key, Value> buffers;
  Codec codec;
  std::size_t count;
  DigitList all;
  const PassTable* passes;
  const Route* route;
  ChunkList
      list;  ///< of runs that are too long; a run that goes beyond its tile may be listed twice

  struct ShortRun {
    std::uint16_t begin, end;
  };

  /// A tile and as many keys before and behind it as tell which short runs reach across its ends. Those belong
  /// to the tile in which they begin.
  struct Scratch {
    Bits code[seen];
    std::uint16_t source[seen];  ///< where the key lay that comes here
    ShortRun listed[seen / 2];   ///< those that are out of order
    std::uint32_t runs;          ///< of those
    std::uint64_t any[Combined::words];
    int begin, end;                           ///< of what belongs to this tile
    int enters, leaves;                       ///< a long run does, over an end of the tile
    int disorder_entering, disorder_leaving;  ///< in that
    int first_long, last_long;                ///< disorder in long runs between those
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  /// What a tile spans, and which of the places in scratch hold keys.
  struct Span {
    std::size_t begin, end;
    int first, last;  ///< keys that there are, in scratch
    int shift;        ///< what lies above it agrees in a run

    KOKKOS_FUNCTION std::size_t place(int index) const { return begin + index - longest; }
    KOKKOS_FUNCTION int index_of_end() const { return longest + static_cast<int>(end - begin); }
    KOKKOS_FUNCTION Bits run_of(Bits code) const { return static_cast<Bits>(code >> shift); }
  };

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    auto& scratch = *take_scratch<Scratch>(team, 1);
    const std::size_t count = passes->sorted_of<may_be_light>(this->count);
    const Key* const keys = passes->arrays<may_be_light>(buffers.keys).end(passes->count);
    bool copies = this->copies(buffers.keys);
    if constexpr (with_values) copies = copies || this->copies(buffers.values);
    const int shift = route->digits.begin;
    const auto step = static_cast<std::size_t>(team.league_size()) * tile;
    for (std::size_t begin = static_cast<std::size_t>(team.league_rank()) * tile; begin < count;
         begin += step) {
      const std::size_t end = begin + tile < count ? begin + tile : count;
      const std::uint32_t falls = any_falls(keys, begin, end, count, team.team_rank());
      if (Combined::over(team, falls, scratch.any) == 0) {
        for (std::size_t i = begin + team.team_rank(); copies && i < end; i += Threads) copy(i, i);
      } else {
        const Span span{begin, end, begin < longest ? longest - static_cast<int>(begin) : 0,
                        static_cast<int>(end + longest < count ? end + longest - begin + longest
                                                               : count - begin + longest),
                        shift};
        mend(team, keys, copies, span, scratch);
      }
      team.team_barrier();
    }
  }

 private:
  KOKKOS_FUNCTION Bits code_of(const Key& key) const {
    return static_cast<Bits>(codec.encode(key) & bits_between<Bits>(all.begin, all.end));
  }

  /// Is any key of the tile, or of a short run that reaches into it or out of it, greater than the next one?
  KOKKOS_FUNCTION std::uint32_t any_falls(const Key* keys, std::size_t begin, std::size_t end,
                                          std::size_t count, int thread) const {
    constexpr int batch = sizeof(Key) <= 8 ? 4 : 2;
    const std::size_t last = end + longest < count ? end + longest : count - 1;
    std::uint32_t falls = 0;
    const std::size_t first = begin < longest ? 0 : begin - longest;
    for (std::size_t at = first + thread; at < last; at += batch * Threads) {
      Key left[batch], right[batch];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) {
        const std::size_t place = at + b * Threads < last ? at + b * Threads : at;
        left[b] = keys[place];
        right[b] = keys[place + 1];
      }
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) falls |= code_of(left[b]) > code_of(right[b]) ? 1 : 0;
    }
    return falls;
  }

  KOKKOS_FUNCTION void mend(const Team& team, const Key* keys, bool copies, const Span& span,
                            Scratch& scratch) const {
    const int thread = team.team_rank();
    for (int i = thread; i < seen; i += Threads) {
      const bool exists = i >= span.first && i < span.last;
      scratch.code[i] = exists ? code_of(keys[span.place(i)]) : Bits{0};
      scratch.source[i] = static_cast<std::uint16_t>(i);
    }
    team.team_barrier();
    if (thread == 0) bound(span, scratch);
    team.team_barrier();
    find_disorder(thread, span, scratch);
    team.team_barrier();
    if (thread < L::width) list_long(keys, span, scratch, L::lane(thread));
    team.team_barrier();
    for (std::uint32_t i = thread; i < scratch.runs; i += Threads) {
      const ShortRun run = scratch.listed[i];
      if (run.begin >= scratch.first_long && run.begin <= scratch.last_long)
        continue;  // sorted with those
      sort_run(run.begin, run.end, scratch);
      move_run(run.begin, run.end, span, scratch);
    }
    if (!copies) return;
    team.team_barrier();
    for (int i = scratch.begin + thread; i < scratch.end; i += Threads) {
      copy(span.place(i), span.place(scratch.source[i] & (moved - 1)));
    }
  }

  /// Where its run begins and ends, as far as that is near.
  KOKKOS_FUNCTION static int begin_of(int index, int least, const Span& span,
                                      const Scratch& scratch) {
    const Bits run = span.run_of(scratch.code[index]);
    int begin = index;
    while (begin > least && index - begin < longest &&
           span.run_of(scratch.code[begin - 1]) == run) {
      --begin;
    }
    return begin;
  }
  KOKKOS_FUNCTION static int end_of(int index, const Span& span, const Scratch& scratch) {
    const Bits run = span.run_of(scratch.code[index]);
    int end = index + 1;
    while (end < span.last && end - index <= longest && span.run_of(scratch.code[end]) == run)
      ++end;
    return end;
  }

  /// What belongs to the tile, by one thread.
  KOKKOS_FUNCTION static void bound(const Span& span, Scratch& scratch) {
    scratch.begin = longest;
    scratch.end = span.index_of_end();
    scratch.enters = scratch.leaves = 0;
    scratch.runs = 0;
    scratch.disorder_entering = scratch.disorder_leaving = 0;
    scratch.first_long = seen;
    scratch.last_long = -1;
    const auto crosses = [&](int border, int& begin, int& end) {
      if (border <= span.first || border >= span.last ||
          span.run_of(scratch.code[border - 1]) != span.run_of(scratch.code[border])) {
        return false;
      }
      begin = begin_of(border, span.first, span, scratch);
      end = end_of(border, span, scratch);
      return true;
    };
    int begin = 0, end = 0;
    if (crosses(longest, begin, end)) {
      if (end - begin <= longest) {
        // The tile before has it, but may have found nothing to do, where it is in order.
        for (int i = begin; i + 1 < end; ++i) {
          if (scratch.code[i] > scratch.code[i + 1]) scratch.begin = end;
        }
      } else {
        scratch.enters = 1;
      }
    }
    if (crosses(span.index_of_end(), begin, end)) {
      if (end - begin <= longest) {
        scratch.end = end;
      } else {
        scratch.leaves = 1;
      }
    }
  }

  /// Short runs in which a key is greater than the next one are listed, and where long ones are is marked.
  KOKKOS_FUNCTION void find_disorder(int thread, const Span& span, Scratch& scratch) const {
    const Bits entering = span.run_of(scratch.code[longest]);
    const Bits leaving = span.run_of(scratch.code[span.index_of_end() - 1]);
    for (int i = scratch.begin + thread; i < scratch.end; i += Threads) {
      if (i + 1 >= span.last || !(scratch.code[i] > scratch.code[i + 1])) continue;
      const Bits run = span.run_of(scratch.code[i]);
      if (scratch.enters != 0 && run == entering) {
        scratch.disorder_entering = 1;
      } else if (scratch.leaves != 0 && run == leaving) {
        scratch.disorder_leaving = 1;
      } else {
        const int begin = begin_of(i, scratch.begin, span, scratch);
        const int end = end_of(i, span, scratch);
        if (end - begin <= longest) {
          bool first = true;
          for (int j = begin; j < i; ++j) first = first && !(scratch.code[j] > scratch.code[j + 1]);
          if (first) {
            scratch.listed[L::add(&scratch.runs, 1u)] = {static_cast<std::uint16_t>(begin),
                                                         static_cast<std::uint16_t>(end)};
          }
        } else {
          Kokkos::atomic_min(&scratch.first_long, i);
          Kokkos::atomic_max(&scratch.last_long, i);
        }
      }
    }
  }

  /// By one thread, stably.
  KOKKOS_FUNCTION static void sort_run(int begin, int end, Scratch& scratch) {
    for (int i = begin + 1; i < end; ++i) {
      const Bits code = scratch.code[i];
      const std::uint16_t source = scratch.source[i];
      int to = i;
      for (; to > begin && scratch.code[to - 1] > code; --to) {
        scratch.code[to] = scratch.code[to - 1];
        scratch.source[to] = scratch.source[to - 1];
      }
      scratch.code[to] = code;
      scratch.source[to] = source;
    }
  }

  /// Of the elements of a run what stays in its array, cycle by cycle.
  KOKKOS_FUNCTION void move_run(int begin, int end, const Span& span, Scratch& scratch) const {
    Key* const keys = passes->arrays<may_be_light>(buffers.keys).result + span.place(begin);
    const bool moves_keys = !copies(buffers.keys);
    for (int start = begin; start < end; ++start) {
      if (scratch.source[start] == start) continue;
      if (moves_keys) rotate(keys, begin, start, scratch);
      if constexpr (with_values) {
        Value* const values =
            passes->arrays<may_be_light>(buffers.values).result + span.place(begin);
        if (!copies(buffers.values)) rotate(values, begin, start, scratch);
      }
      for (int to = start; (scratch.source[to] & moved) == 0;) {
        const int from = scratch.source[to];
        scratch.source[to] |= moved;
        to = from;
      }
    }
  }
  /// One cycle.
  template <class T>
  KOKKOS_FUNCTION static void rotate(T* run, int begin, int start, const Scratch& scratch) {
    if ((scratch.source[start] & moved) != 0) return;
    const T first = run[start - begin];
    int to = start;
    for (int from = scratch.source[to]; from != start; from = scratch.source[to]) {
      run[to - begin] = run[from - begin];
      to = from;
    }
    run[to - begin] = first;
  }

  template <class T>
  KOKKOS_FUNCTION bool copies(const PassBuffers<T>& array) const {
    return !(may_be_light && passes->takes_out) && array.end(passes->count) != array.result;
  }
  /// What the sweeps left in another array.
  KOKKOS_FUNCTION void copy(std::size_t to, std::size_t from) const {
    copy(buffers.keys, to, from);
    if constexpr (with_values) copy(buffers.values, to, from);
  }
  template <class T>
  KOKKOS_FUNCTION void copy(const PassBuffers<T>& array, std::size_t to, std::size_t from) const {
    if (copies(array)) array.result[to] = array.end(passes->count)[from];
  }

  /// One entry for all long runs out of order that lie in the tile, from the first to the last; one for
  /// each that reaches over an end of it.
  KOKKOS_FUNCTION void list_long(const Key* keys, const Span& span, Scratch& scratch,
                                 int lane) const {
    const RunSearch<ExecutionSpace, Codec> search{
        keys, codec, {span.shift, 0}, low_mask<Bits>(all.end - span.shift)};
    if (scratch.last_long >= 0) {
      int begin = scratch.first_long, end = scratch.last_long + 1;
      const Bits first = span.run_of(scratch.code[begin]), last = span.run_of(scratch.code[end]);
      while (begin > scratch.begin && span.run_of(scratch.code[begin - 1]) == first) --begin;
      while (end < scratch.end && span.run_of(scratch.code[end]) == last) ++end;
      L::barrier();
      if (lane == 0) {
        list.add(Chunk::make(span.place(begin), static_cast<std::size_t>(end - begin)));
        scratch.first_long = begin;
        scratch.last_long = end - 1;
      }
    }
    if (scratch.disorder_entering != 0) {
      const std::size_t begin =
          search.template first_at<false>(span.run_of(scratch.code[longest]), 0, span.begin, lane);
      if (lane == 0) list.add(Chunk::make(begin, 0));
    }
    if (scratch.disorder_leaving != 0) {
      const Bits run = span.run_of(scratch.code[span.index_of_end() - 1]);
      const std::size_t begin = search.template first_at<false>(run, span.begin, span.end, lane);
      if (lane == 0) list.add(Chunk::make(begin, 0));
    }
  }
};

/// What a team does after the sweeps, beside the finish: it sorts crowded chunks, or mends.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct CrowdedOrMend {
  using Crowded = FinishCrowded<ExecutionSpace, Codec, Value, Shape>;
  using Mend = MendTiles<ExecutionSpace, Codec, Value, Shape.threads>;

  Crowded crowded;
  Mend mend;

  static std::size_t scratch_bytes() {
    return std::max(Crowded::scratch_bytes(), Mend::scratch_bytes());
  }

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (!mend.passes->finishes || mend.passes->finishes == PassTable::splitting) return;
    if (mend.route->mends != 0) {
      mend(team);
    } else {
      crowded(team);
    }
  }
};

}  // namespace kradix::impl
