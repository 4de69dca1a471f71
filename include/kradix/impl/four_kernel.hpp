// The classic stable radix sort in four kernels a pass: count, scan tiles, scan bins, scatter.
//
// Zagha and Blelloch (Supercomputing '91): every processor counts its share, one scan over the counts,
// bin by bin and processor by processor within a bin, gives every share its places, and every
// processor ranks and permutes its share. Here a processor is a team and its share a tile; the
// counts lie bin by bin so that the scan reads rows. It uses nothing but Kokkos, hence it is the
// fallback of every backend.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>

#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/survey.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/team_split.hpp"
#include "kradix/impl/plan.hpp"

namespace kradix::impl {

/// Places in the output are 64-bit throughout: n may exceed 2^32.
using Place = std::uint64_t;

/// Scratch memory of this algorithm beside the second key and value arrays.
struct FourKernelScratch {
  Slot varying, passes, places, bins;
  std::size_t survey_teams;

  static FourKernelScratch list(const Plan& plan, ScratchList& list) {
    FourKernelScratch scratch;
    scratch.survey_teams = plan.tiles < 1024 ? plan.tiles : 1024;
    constexpr std::size_t widest_bits = 16;
    scratch.varying = list.add(scratch.survey_teams, widest_bits);
    scratch.passes = list.add(1, sizeof(PassTable));
    scratch.places = list.add(bin_count * plan.tiles, sizeof(Place));
    scratch.bins = list.add(bin_count, sizeof(Place));
    return scratch;
  }
};

/// Kernels of one sort. `Shape` fits them to the machine.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
class FourKernel {
 public:
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using Buffers = SortBuffers<Key, Value>;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;

  FourKernel(const ExecutionSpace& exec, const Plan& plan, Codec codec, const Buffers& buffers,
             const FourKernelScratch& scratch, std::byte* base, const char* label)
      : exec_(exec),
        plan_(plan),
        scratch_(scratch),
        base_(base),
        label_(std::string(label) + "::four_kernel::"),
        common_{buffers,
                codec,
                plan.count,
                plan.tile,
                plan.tiles,
                plan.round,
                scratch.passes.in<PassTable>(base),
                scratch.places.in<Place>(base),
                scratch.bins.in<Place>(base),
                0} {}

  void sort() {
    list_passes();
    for (int pass = 0; pass < plan_.passes; ++pass) {
      common_.pass = pass;
      launch_teams<Shape.threads>(exec_, label_ + "CountTile", plan_.tiles, CountTile::scratch(), CountTile{common_});
      launch_teams<Shape.threads>(exec_, label_ + "ScanTiles", bin_count, 0, ScanTiles{common_});
      launch_teams<Shape.threads>(exec_, label_ + "ScanBins", 1, 0, ScanBins{common_});
      launch_teams<Shape.threads>(exec_, label_ + "ScatterTile", plan_.tiles, ScatterTile::scratch(plan_.round), ScatterTile{common_});
    }
    launch_teams<Shape.threads>(exec_, label_ + "Settle", plan_.tiles, 0, Settle{common_});
  }

  /// What every kernel of a pass knows. (Kernels are public: device compilers cannot launch private types.)
  struct Common {
    Buffers buffers;
    Codec codec;
    std::size_t count, tile, tiles, round;
    PassTable* passes;
    Place* places;  ///< [bin][tile]: counts, then the tile's first place within its bin
    Place* bins;    ///< counts of whole bins, then each bin's first place
    int pass;

    KOKKOS_FUNCTION bool idle() const { return pass >= passes->count; }
    KOKKOS_FUNCTION Share tile_of(const Team& team) const {
      return share_of(count, tile, static_cast<std::size_t>(team.league_rank()));
    }
    KOKKOS_FUNCTION const Key* source_keys() const {
      return buffers.keys.source(pass, passes->count);
    }
  };

  /// Counts the digits of a tile.
  struct CountTile : Common {
    // Neighbours count into different copies of a bin: equal keys would wait for each other.
    static constexpr int copies = 4;
    static constexpr int batch = 8;
    static std::size_t scratch() { return bin_count * copies * sizeof(std::uint32_t); }

    KOKKOS_FUNCTION void operator()(const Team& team) const {
      if (this->idle()) return;
      auto* const counts = take_scratch<std::uint32_t>(team, bin_count * copies);
      for (int i = team.team_rank(); i < bin_count * copies; i += Shape.threads) counts[i] = 0;
      team.team_barrier();
      count_keys(team, counts);
      team.team_barrier();
      for (int bin = team.team_rank(); bin < bin_count; bin += Shape.threads) {
        Place sum = 0;
        for (int copy = 0; copy < copies; ++copy) sum += counts[bin * copies + copy];
        this->places[bin * this->tiles + team.league_rank()] = sum;
      }
    }

    KOKKOS_FUNCTION void count_keys(const Team& team, std::uint32_t* counts) const {
      const Digit digit = this->passes->digit[this->pass];
      const Key* const keys = this->source_keys();
      const Share tile = this->tile_of(team);
      std::size_t i = tile.begin + team.team_rank();
      // Whole batches load before they count, so that loads overlap.
      for (; i + (batch - 1) * Shape.threads < tile.end; i += batch * Shape.threads) {
        unsigned bin[batch];
        KRADIX_UNROLL
        for (int b = 0; b < batch; ++b) {
          bin[b] = digit.of(this->codec.encode(keys[i + b * Shape.threads]));
        }
        KRADIX_UNROLL
        for (int b = 0; b < batch; ++b) add(team, counts, bin[b], b);
      }
      for (; i < tile.end; i += Shape.threads) {
        add(team, counts, digit.of(this->codec.encode(keys[i])), 0);
      }
    }

    KOKKOS_FUNCTION static void add(const Team& team, std::uint32_t* counts, unsigned bin, int b) {
      if constexpr (Shape.threads == 1) {
        ++counts[bin * copies + b % copies];
      } else {
        Kokkos::atomic_inc(&counts[bin * copies + team.team_rank() % copies]);
      }
    }
  };

  /// One team per bin: from the tiles' counts to their places within the bin.
  struct ScanTiles : Common {
    KOKKOS_FUNCTION void operator()(const Team& team) const {
      if (this->idle()) return;
      Place* const row = this->places + team.league_rank() * this->tiles;
      Place total = 0;
      Kokkos::parallel_scan(
          Kokkos::TeamThreadRange(team, this->tiles),
          [&](const std::size_t tile, Place& sum, const bool last) {
            const Place counted = row[tile];
            if (last) row[tile] = sum;
            sum += counted;
          },
          total);
      Kokkos::single(Kokkos::PerTeam(team), [&] { this->bins[team.league_rank()] = total; });
    }
  };

  /// From the counts of bins to their first places.
  struct ScanBins : Common {
    KOKKOS_FUNCTION void operator()(const Team& team) const {
      if (this->idle()) return;
      Place* const row = this->bins;
      Kokkos::parallel_scan(Kokkos::TeamThreadRange(team, bin_count),
                            [&](const int bin, Place& sum, const bool last) {
                              const Place counted = row[bin];
                              if (last) row[bin] = sum;
                              sum += counted;
                            });
    }
  };

  /// Ranks a tile round by round and moves its elements to their places.
  struct ScatterTile : Common {
    using Split = TeamSplit<Shape.threads, Shape.serial() ? 1 : Shape.items>;

    static std::size_t scratch(std::size_t round) {
      const std::size_t places = bin_count * sizeof(Place);
      if constexpr (Shape.serial()) {
        const std::size_t element = sizeof(Key) + (with_values ? sizeof(Value) : 0);
        return places + bin_count * sizeof(std::uint32_t) + round * element + 2 * alignof(std::max_align_t);
      } else {
        return 2 * places + (Split::round + Split::counter_words) * sizeof(std::uint32_t);
      }
    }

    KOKKOS_FUNCTION void operator()(const Team& team) const {
      if (this->idle()) return;
      Place* const next = take_scratch<Place>(team, bin_count);  // where each bin goes on
      for (int bin = team.team_rank(); bin < bin_count; bin += Shape.threads) {
        next[bin] = this->bins[bin] + this->places[bin * this->tiles + team.league_rank()];
      }
      if constexpr (Shape.serial()) {
        scatter_serially(team, next);
      } else {
        scatter_by_splits(team, next);
      }
    }

    KOKKOS_FUNCTION Key* destination_keys() const {
      const int passes = this->passes->count;
      const bool stay = this->buffers.leaves_keys && this->pass == passes - 1;
      return stay ? nullptr : this->buffers.keys.destination(this->pass, passes);
    }
    KOKKOS_FUNCTION Value value_at(const Value* values, std::size_t i) const {
      if constexpr (std::is_integral_v<Value>) {
        if (this->pass == 0 && this->buffers.makes_indices) return static_cast<Value>(i);
      }
      return values[i];
    }

    /// A team sorts {digit, index in the round} words in scratch by two four-bit splits; the sorted
    /// words say which element goes next. Elements are read again where they lie, in cache.
    KOKKOS_FUNCTION void scatter_by_splits(const Team& team, Place* next) const {
      auto* const shift_to = take_scratch<Place>(team, bin_count);
      auto* const words = take_scratch<std::uint32_t>(team, Split::round);
      const Split split{words, take_scratch<std::uint32_t>(team, Split::counter_words)};
      const Share tile = this->tile_of(team);
      for (std::size_t begin = tile.begin; begin < tile.end; begin += Split::round) {
        const std::size_t left = tile.end - begin;
        const int size = static_cast<int>(left < Split::round ? left : Split::round);
        load_words(team, begin, size, words);
        split.by_bits(team, 16);
        split.by_bits(team, 20);
        for (int p = team.team_rank(); p < size; p += Shape.threads) {
          const unsigned bin = words[p] >> 16;
          if (p == 0 || words[p - 1] >> 16 != bin) shift_to[bin] = next[bin] - p;
        }
        team.team_barrier();
        move_round(team, begin, size, words, shift_to, next);
        team.team_barrier();
      }
    }

    KOKKOS_FUNCTION void load_words(const Team& team, std::size_t begin, int size,
                                    std::uint32_t* words) const {
      const Digit digit = this->passes->digit[this->pass];
      const Key* const keys = this->source_keys() + begin;
      // Beyond the end stand words of the last bin: stability keeps them behind all others.
      constexpr unsigned last_bin = bin_count - 1;
      KRADIX_UNROLL
      for (int i = 0; i < Shape.items; ++i) {
        const int p = i * Shape.threads + team.team_rank();
        const unsigned bin = p < size ? digit.of(this->codec.encode(keys[p])) : last_bin;
        words[p] = bin << 16 | static_cast<unsigned>(p);
      }
      team.team_barrier();
    }

    KOKKOS_FUNCTION void move_round(const Team& team, std::size_t begin, int size,
                                    const std::uint32_t* words, const Place* shift_to,
                                    Place* next) const {
      const int passes = this->passes->count;
      const Key* const keys = this->source_keys() + begin;
      Key* const keys_out = destination_keys();
      for (int p = team.team_rank(); p < size; p += Shape.threads) {
        const unsigned bin = words[p] >> 16;
        const unsigned from = words[p] & 0xffffu;
        const Place to = shift_to[bin] + p;
        if (keys_out) keys_out[to] = keys[from];
        if constexpr (with_values) {
          const Value* const values = this->buffers.values.source(this->pass, passes);
          this->buffers.values.destination(this->pass, passes)[to] = value_at(values, begin + from);
        }
        if (p + 1 == size || words[p + 1] >> 16 != bin) next[bin] = to + 1;
      }
    }

    /// One thread partitions a round into its cache and copies the bins out in runs: whole lines
    /// reach memory, where one store a key would touch 256 lines in turn.
    KOKKOS_FUNCTION void scatter_serially(const Team& team, Place* next) const {
      auto* const ends = take_scratch<std::uint32_t>(team, bin_count);
      Key* const keys_held = take_scratch<Key>(team, this->round);
      Value* values_held = nullptr;
      if constexpr (with_values) values_held = take_scratch<Value>(team, this->round);
      const Share tile = this->tile_of(team);
      for (std::size_t begin = tile.begin; begin < tile.end; begin += this->round) {
        const std::size_t left = tile.end - begin;
        const std::size_t size = left < this->round ? left : this->round;
        partition(begin, size, ends, keys_held, values_held);
        copy_bins(ends, keys_held, values_held, next);
      }
    }

    /// Counts the round, then places each element; `ends` is left holding each bin's end.
    KOKKOS_FUNCTION void partition(std::size_t begin, std::size_t size, std::uint32_t* ends,
                                   Key* keys_held, Value* values_held) const {
      const Digit digit = this->passes->digit[this->pass];
      const Key* const keys = this->source_keys() + begin;
      for (int bin = 0; bin < bin_count; ++bin) ends[bin] = 0;
      for (std::size_t i = 0; i < size; ++i) ++ends[digit.of(this->codec.encode(keys[i]))];
      std::uint32_t sum = 0;
      for (int bin = 0; bin < bin_count; ++bin) {
        const std::uint32_t counted = ends[bin];
        ends[bin] = sum;
        sum += counted;
      }
      const Value* values = nullptr;
      if constexpr (with_values) {
        values = this->buffers.values.source(this->pass, this->passes->count);
      }
      for (std::size_t i = 0; i < size; ++i) {
        const std::uint32_t place = ends[digit.of(this->codec.encode(keys[i]))]++;
        keys_held[place] = keys[i];
        if constexpr (with_values) values_held[place] = value_at(values, begin + i);
      }
    }

    KOKKOS_FUNCTION void copy_bins(const std::uint32_t* ends, const Key* keys_held,
                                   const Value* values_held, Place* next) const {
      Key* const keys_out = destination_keys();
      std::uint32_t begin = 0;
      for (int bin = 0; bin < bin_count; ++bin) {
        const std::uint32_t length = ends[bin] - begin;
        if (keys_out) copy_run(keys_held + begin, keys_out + next[bin], length);
        if constexpr (with_values) {
          Value* const out = this->buffers.values.destination(this->pass, this->passes->count);
          copy_run(values_held + begin, out + next[bin], length);
        }
        next[bin] += length;
        begin = ends[bin];
      }
    }

    template <class T>
    KOKKOS_FUNCTION static void copy_run(const T* from, T* to, std::uint32_t length) {
      for (std::uint32_t i = 0; i < length; ++i) to[i] = from[i];
    }
  };

  /// Brings a result that the passes left elsewhere to where the caller wants it.
  struct Settle : Common {
    KOKKOS_FUNCTION void operator()(const Team& team) const {
      if (!this->buffers.leaves_keys) settle(team, this->buffers.keys);
      if constexpr (with_values) {
        if (!this->buffers.makes_indices) {
          settle(team, this->buffers.values);
        } else if (this->passes->count == 0) {
          make_indices(team, this->buffers.values.result);
        }
      }
    }

    template <class T>
    KOKKOS_FUNCTION void settle(const Team& team, const PassBuffers<T>& array) const {
      const int passes = this->passes->count;
      if (array.ends_in_other(passes)) copy(team, array.other, array.result);
      if (passes == 0 && !array.in_place()) copy(team, array.in, array.result);
    }

    template <class T>
    KOKKOS_FUNCTION void copy(const Team& team, const T* from, T* to) const {
      const Share tile = this->tile_of(team);
      for (std::size_t i = tile.begin + team.team_rank(); i < tile.end; i += Shape.threads) {
        to[i] = from[i];
      }
    }
    KOKKOS_FUNCTION void make_indices(const Team& team, Value* to) const {
      if constexpr (std::is_integral_v<Value>) {
        const Share tile = this->tile_of(team);
        for (std::size_t i = tile.begin + team.team_rank(); i < tile.end; i += Shape.threads) {
          to[i] = static_cast<Value>(i);
        }
      }
    }
  };

 private:
  void list_passes() {
    using Survey = SurveyKeys<ExecutionSpace, Codec, Shape.threads>;
    const std::size_t teams = scratch_.survey_teams;
    const std::size_t share = (plan_.count + teams - 1) / teams;
    Bits* const varying = scratch_.varying.template in<Bits>(base_);
    launch_teams<Shape.threads>(exec_, label_ + "SurveyKeys", teams, Survey::scratch_bytes(),
                                Survey{common_.buffers.keys.in, plan_.count, share, common_.codec, varying});
    const Bits wanted =
        low_mask<Bits>(plan_.bits.end) & static_cast<Bits>(~low_mask<Bits>(plan_.bits.begin));
    launch_teams<1>(exec_, label_ + "ListPasses", 1, 0,
                    ListPasses<ExecutionSpace, Bits>{varying, teams, wanted, common_.passes});
  }

  const ExecutionSpace& exec_;
  const Plan& plan_;
  const FourKernelScratch& scratch_;
  std::byte* base_;
  std::string label_;
  Common common_;
};

}  // namespace kradix::impl
