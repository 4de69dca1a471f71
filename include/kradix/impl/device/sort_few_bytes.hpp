// A counting sort of few 1-byte keys by one team, in one launch.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/wide_array.hpp"

namespace kradix::impl {

/// Lanes of a group count into few sets of bins, which are soon cleared and added up. Then each bin is noted where its keys begin, and
/// from there on keys are of that bin, or of one noted later. Keys may lie where they go.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct SortFewBytes {
  using Key = typename Codec::key_type;
  using Keys = Pack<Key>;
  using Notes = Pack<std::uint8_t>;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int threads = Shape.threads, groups = threads / L::width;
  static constexpr int sets = L::width < 8 ? L::width : 8;
  static constexpr int row = bin_count + 32 / sets;  ///< a bin's counters lie in different banks
  static constexpr int bins_each = threads < bin_count ? bin_count / threads : 1;

  Codec codec;
  WideArray<const Key, std::uint32_t> in;
  WideArray<Key, std::uint32_t> out;

  /// Notes lie behind, as packs do in the result.
  struct alignas(sizeof(Wide)) Scratch {
    std::uint32_t counters[sets * row];
    std::uint32_t begins[bin_count];
    std::uint32_t sums[groups];
  };
  KOKKOS_FUNCTION static constexpr std::size_t scratch_bytes(std::size_t count) {
    return sizeof(Scratch) + (count / Keys::size + 2) * sizeof(Wide);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    auto* const notes = take_scratch<Wide>(team, out.packs() + 2);
    const int thread = team.team_rank();
    count(team, scratch, notes);
    team.team_barrier();
    place(team, scratch, reinterpret_cast<std::uint8_t*>(notes) + first_note());
    team.team_barrier();
    KRADIX_ROLLED
    for (std::uint32_t i = thread; i < out.packs(); i += threads) {
      const Notes noted{notes[i + (first_note() + out.place(0)) / Keys::size]};
      out.store(i, keys_from(scratch.begins, out.place(i), noted));
    }
    for (int i = thread; i < out.edges(); i += threads) {
      const std::uint32_t place = out.place_of_edge(i);
      out.at(place) = codec.decode(bin_at(scratch.begins, place));
    }
  }

 private:
  /// Of the first key: packs of notes lie where packs of keys do.
  KOKKOS_FUNCTION std::uint32_t first_note() const {
    return (Keys::size - out.place(0) % Keys::size) % Keys::size;
  }

  KOKKOS_FUNCTION void count(const Team& team, Scratch& scratch, Wide* notes) const {
    const int thread = team.team_rank();
    // The first keys are on their way meanwhile.
    const bool has_pack = static_cast<std::uint32_t>(thread) < in.packs();
    const Keys first = has_pack ? in.load(thread) : Keys{};
    for (int i = thread; i < sets * row; i += threads) scratch.counters[i] = 0;
    for (std::uint32_t i = thread; i < out.packs() + 2; i += threads) notes[i] = {0, 0};
    team.team_barrier();
    std::uint32_t* const mine = scratch.counters + L::lane(thread) % sets * row;
    if (has_pack) add(first, mine);
    KRADIX_ROLLED
    for (std::uint32_t i = thread + threads; i < in.packs(); i += threads) add(in.load(i), mine);
    for (int i = thread; i < in.edges(); i += threads) {
      L::increment(&mine[codec.encode(in.at(in.place_of_edge(i)))]);
    }
  }

  KOKKOS_FUNCTION void add(const Keys& pack, std::uint32_t* bins) const {
    if (pack.holds_one_word()) {
      L::add(&bins[codec.encode(pack.word(0))], static_cast<std::uint32_t>(Keys::size));
      return;
    }
    KRADIX_UNROLL
    for (int i = 0; i < Keys::size; ++i) L::increment(&bins[codec.encode(pack.word(i))]);
  }

  /// Counts to places, noted where a bin has keys.
  KOKKOS_FUNCTION void place(const Team& team, Scratch& scratch, std::uint8_t* notes) const {
    const int thread = team.team_rank(), lane = L::lane(thread), group = thread / L::width;
    const int bin = thread * bins_each;
    std::uint32_t counted[bins_each] = {}, sum = 0;
    if (bin < bin_count) {
      KRADIX_UNROLL
      for (int b = 0; b < bins_each; ++b) {
        KRADIX_UNROLL
        for (int set = 0; set < sets; ++set) counted[b] += scratch.counters[set * row + bin + b];
        sum += counted[b];
      }
    }
    std::uint32_t before = L::scan(sum, lane);
    if (lane == L::width - 1) scratch.sums[group] = before + sum;
    team.team_barrier();
    before += L::sum(lane < group ? scratch.sums[lane] : 0);
    if (bin >= bin_count) return;
    KRADIX_UNROLL
    for (int b = 0; b < bins_each; ++b) {
      scratch.begins[bin + b] = before;
      if (counted[b] > 0) notes[before] = static_cast<std::uint8_t>(bin + b);
      before += counted[b];
    }
  }

  /// The last that begins at a place or before.
  KOKKOS_FUNCTION static std::uint32_t bin_at(const std::uint32_t* begins, std::uint32_t place) {
    return first_behind(begins, 1u, static_cast<std::uint32_t>(bin_count), place) - 1;
  }

  KOKKOS_FUNCTION Keys keys_from(const std::uint32_t* begins, std::uint32_t place,
                                 const Notes& noted) const {
    std::uint32_t bin = bin_at(begins, place);
    Keys keys;
    KRADIX_UNROLL
    for (int i = 0; i < Keys::size; ++i) {
      const std::uint32_t other = noted.word(i);
      bin = other > bin ? other : bin;
      keys.put(i, codec.decode(bin));
    }
    return keys;
  }
};

}  // namespace kradix::impl
