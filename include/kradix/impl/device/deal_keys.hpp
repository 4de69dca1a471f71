// Keys alone that spread evenly, sorted by one pass and a finish: the pass deals them out to bins of equal width, in no order, each
// with a little more room than it needs, so that nothing is counted before; and a team sorts a bin in scratch.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/dealing.hpp"
#include "kradix/impl/device/finish_chunk.hpp"
#include "kradix/impl/device/gathering.hpp"
#include "kradix/impl/device/spread_steps.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/tell_host.hpp"

namespace kradix::impl {

/// Teams that stay, for as many tiles each as that takes, of one length. If a bin has no room for its keys, or a key lies beyond all
/// bins, they must go another way.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct DealKeys {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Reader = DealReader<Codec>;
  static constexpr int threads = Shape.threads, items = Shape.items, tile_size = threads * items;
  using Steps = SpreadSteps<ExecutionSpace, Shape, int{Dealing::most_bins}>;

  const Key* keys;
  Key* bins;  ///< [bin][room]
  Codec codec;
  Dealing shape;
  std::size_t count, tile;
  const PassTable* passes;
  DealState* state;
  const DealTerms* terms;

  struct Scratch {
    Key keys[tile_size];
    std::uint32_t base[Dealing::most_bins];   ///< place in the bins less place in the tile
    std::uint32_t first[Dealing::most_bins];  ///< counts, then first place in the tile
    std::uint32_t sums[Steps::groups];
    std::uint32_t fails;
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  struct Registers {
    Key key[items];
    std::uint32_t rank[items / 2];  ///< packed by two
    KOKKOS_FUNCTION std::uint32_t bin_of(const Reader& reader, int i) const {
      return reader.of(key[i]);
    }
  };

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (passes->finishes != PassTable::dealing) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const Reader reader(codec, *terms);
    const std::size_t step = tile * static_cast<std::size_t>(team.league_size());
    if (team.team_rank() == 0) scratch.fails = 0;
    for (std::size_t begin = tile * team.league_rank(); begin < count; begin += step) {
      const std::size_t left = count - begin;
      const int size = static_cast<int>(left < tile ? left : tile);
      const bool dealt = size == tile_size ? deal<true>(team, reader, keys + begin, size, scratch)
                                           : deal<false>(team, reader, keys + begin, size, scratch);
      if (!dealt) {
        if (team.team_rank() == 0) L::store(&state->fails, std::uint64_t{1});
        return;
      }
    }
  }

  /// By so many teams.
  static std::size_t tile_for(std::size_t count, std::size_t teams) {
    constexpr std::size_t all = tile_size, nearly = all - all / 16;
    const std::size_t rounds = (count - 1) / (teams * all) + 1;
    const std::size_t even = (count - 1) / (teams * rounds) + 1;
    return even < nearly ? even : all;
  }

 private:
  template <bool Full>
  KOKKOS_FUNCTION bool deal(const Team& team, const Reader& reader, const Key* in, int size,
                            Scratch& scratch) const {
    const int thread = team.team_rank();
    Registers registers;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      registers.key[i] = in[Full || place < size ? place : 0];
    }
    for (std::uint32_t bin = thread; bin < shape.bins; bin += threads) scratch.first[bin] = 0;
    bool holds = true;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) holds = holds && reader.holds(registers.key[i]);
    team.team_barrier();
    if (!holds) scratch.fails = 1;
    team.team_barrier();
    if (scratch.fails != 0) return false;
    if (Steps::crowds(registers.bin_of(reader, 0))) {
      Steps::template rank<Full, true>(thread, reader, size, scratch, registers);
    } else {
      Steps::template rank<Full, false>(thread, reader, size, scratch, registers);
    }
    team.team_barrier();
    take_room(team, scratch);
    team.team_barrier();
    if (scratch.fails != 0) return false;
    Steps::template exchange<Full>(thread, reader, size, scratch, registers);
    team.team_barrier();
    scatter<Full>(thread, reader, size, scratch);
    team.team_barrier();
    return true;
  }

  /// Counts become first places in the tile, where bins of a thread come one after the other; what its group adds to those of all
  /// lies side by side.
  KOKKOS_FUNCTION void take_room(const Team& team, Scratch& scratch) const {
    constexpr std::uint32_t all = Dealing::most_bins / threads, batch = all < 4 ? all : 4;
    const auto thread = static_cast<std::uint32_t>(team.team_rank());
    std::uint32_t sum = 0;
    bool fails = false;
    for (std::uint32_t begin = thread; begin < shape.bins; begin += batch * threads) {
      std::uint32_t counted[batch], before[batch];
      KRADIX_UNROLL
      for (std::uint32_t b = 0; b < batch; ++b) {
        const std::uint32_t bin = begin + b * threads;
        counted[b] = bin < shape.bins ? scratch.first[bin] : 0;
        before[b] = counted[b] > 0 ? Kokkos::atomic_fetch_add(&state->next[bin], counted[b]) : 0;
        sum += counted[b];
      }
      KRADIX_UNROLL
      for (std::uint32_t b = 0; b < batch; ++b) {
        const std::uint32_t bin = begin + b * threads;
        fails = fails || before[b] + counted[b] > shape.room;
        if (bin < shape.bins) scratch.base[bin] = bin * shape.room + before[b];
      }
    }
    if (fails) scratch.fails = 1;
    const int lane = L::lane(team.team_rank());
    std::uint32_t before = L::scan(sum, lane);
    if (lane == L::width - 1) scratch.sums[thread / L::width] = before + sum;
    team.team_barrier();
    for (std::uint32_t g = 0; g < thread / L::width; ++g) before += scratch.sums[g];
    for (std::uint32_t bin = thread; bin < shape.bins; bin += threads) {
      const std::uint32_t counted = scratch.first[bin];
      scratch.first[bin] = before;
      scratch.base[bin] -= before;
      before += counted;
    }
  }

  template <bool Full>
  KOKKOS_FUNCTION void scatter(int thread, const Reader& reader, int size,
                               const Scratch& scratch) const {
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      if (Full || place < size) {
        const Key key = scratch.keys[place];
        bins[scratch.base[reader.of(key)] + static_cast<std::uint32_t>(place)] = key;
      }
      if (i % 4 == 3) L::settle_memory();
    }
  }
};

/// Knows how keys have been dealt out.
template <class Codec>
struct DealtCodec : Codec {
  const DealTerms* terms;

  KOKKOS_FUNCTION DealReader<Codec> reader() const { return {*this, *terms}; }
};

/// Takes from a key of a bin how far it lies behind the bin's beginning.
template <class Codec>
struct DealtIndex {
  DealReader<Codec> reader;
  int shift;

  template <class Bits>
  KOKKOS_FUNCTION static DealtIndex of_ends(const DealtCodec<Codec>& codec, int bits, Bits, Bits) {
    return {codec.reader(), DealTerms::factor_bits - bits};
  }
  KOKKOS_FUNCTION std::uint32_t of(const typename Codec::key_type& key) const {
    return reader.within(key) >> shift;
  }
  KOKKOS_FUNCTION static constexpr bool exists() { return true; }
  KOKKOS_FUNCTION static constexpr bool tells_all_apart(int) { return false; }
};

/// A team sorts bins in scratch, one after the other.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct FinishDealt {
  using Finish = FinishChunk<ExecutionSpace, DealtCodec<Codec>, NoValue, Shape, /*ByValue=*/false,
                             /*Ordered=*/false>;
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Write = WriteAligned<ExecutionSpace, Shape.threads, Shape.items>;
  static constexpr int threads = Shape.threads, items = Shape.items;

  Finish finish;
  Dealing shape;
  const DealState* state;
  TellHost to_host;  ///< whether keys have been dealt out

  struct Scratch {
    typename Finish::Scratch sorting;
    std::uint32_t before;  ///< keys of bins before
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (finish.passes->finishes != PassTable::dealing) return;
    if (team.league_rank() == 0) to_host.template tell<threads>(team);
    if (state->fails != 0) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    int failures = 0;
    const auto step = static_cast<std::uint32_t>(team.league_size());
    for (auto bin = static_cast<std::uint32_t>(team.league_rank()); bin < shape.bins; bin += step) {
      sort(team, bin, failures, scratch);
      team.team_barrier();
    }
  }

 private:
  KOKKOS_FUNCTION void sort(const Team& team, std::uint32_t bin, int& failures,
                            Scratch& scratch) const {
    const int thread = team.team_rank();
    const auto size = static_cast<int>(state->next[bin]);
    const Key* const in = finish.buffers.keys.other + std::size_t{bin} * shape.room + thread;
    typename Finish::Registers registers;
    registers.count = (size - thread + threads - 1) / threads;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i)
      registers.key[i] = i < registers.count ? in[i * threads] : Key{};
    // While they are on their way.
    if (thread == 0) {
      scratch.sorting.hopeless = false;
      scratch.before = 0;
    }
    team.team_barrier();
    std::uint32_t before = 0;
    for (auto b = static_cast<std::uint32_t>(thread); b < bin; b += threads)
      before += state->next[b];
    const int lane = L::lane(thread);
    before += L::scan(before, lane);
    if (lane == L::width - 1 && before > 0) L::add(&scratch.before, before);
    const bool sorted = size == 0 || finish.template order_by<DealtIndex<Codec>>(
                                         team, size, 0, scratch.sorting, registers, failures);
    const std::uint32_t begin = scratch.before;
    if (sorted) {
      Write::write(thread, scratch.sorting.keys, static_cast<std::uint32_t>(size),
                   finish.buffers.keys.result, begin, [](const Key& key) { return key; });
      return;
    }
    Key* const out = finish.buffers.keys.result + begin + thread;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i)
      if (i < registers.count) out[i * threads] = registers.key[i];
    if (thread == 0) finish.give_up(Chunk::make(begin, static_cast<std::size_t>(size)));
  }
};

}  // namespace kradix::impl
