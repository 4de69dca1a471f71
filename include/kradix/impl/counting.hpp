// Counting sort: short keys alone are counted, and the result is written anew from the counts.
//
// Seward, "Information sorting in the application of electronic digital computers to business operations"
// (1954). Counters of a team lie in its scratch; counts that prefix sums turn into places are expanded in
// tiles of the result, as in the H-P sort of Kozakai, Fujimoto and Wada (2021), but without its n-long arrays.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <string>

#include "kradix/impl/device/count_all_digits.hpp"
#include "kradix/impl/device/count_bytes.hpp"
#include "kradix/impl/device/count_shorts.hpp"
#include "kradix/impl/device/expand_bins.hpp"
#include "kradix/impl/device/place_bins.hpp"
#include "kradix/impl/device/sort_few_shorts.hpp"
#include "kradix/impl/plan.hpp"

namespace kradix::impl {

/// How the teams of its kernels work.
struct CountingShapes {
  TeamShape bytes, shorts;  ///< that count keys of 1 and 2 bytes
  TeamShape places;         ///< that turn the counts of 2^16 bins into places
  TeamShape expand;
  std::size_t few = most_few_shorts;  ///< keys of 2 bytes at most, that are sorted by one kernel
  int fields = 6;                     ///< of a word that counts such keys

  template <class ExecutionSpace>
  static constexpr CountingShapes of(std::size_t key_bytes) {
    return {count_bytes_shape<ExecutionSpace>(),
            count_shorts_shape<ExecutionSpace>(),
            place_bins_shape<ExecutionSpace>(),
            expand_shape<ExecutionSpace>(key_bytes),
            most_few_shorts,
            count_shorts_fields<ExecutionSpace>};
  }
};

/// 2 KB of scratch memory for keys of 1 byte, 1 MB for 2: no second array.
struct CountingScratch {
  Slot counts;  ///< zero at first, as the sums and the phases are
  Slot sums;
  Slot phases;
  Slot places;

  static CountingScratch list(const Plan& plan, ScratchList& list) {
    const std::size_t bins = std::size_t{1} << plan.digit_bits;
    CountingScratch scratch;
    scratch.counts = list.add(bins, sizeof(std::uint64_t));
    if (bins == bin_count) return scratch;
    scratch.sums = list.add(TileSums::words, sizeof(std::uint64_t));
    scratch.phases = list.add(1, sizeof(PhaseState));
    scratch.places = list.add(bins, sizeof(Place));
    return scratch;
  }
};

template <class ExecutionSpace, invertible_codec Codec, CountingShapes Shapes>
class Counting {
  using Key = typename Codec::key_type;
  static_assert(sizeof(Key) <= 2, "longer keys have too many counters");
  static constexpr bool few_bins = sizeof(Key) == 1;
  static constexpr TeamShape clear_with = count_shape<ExecutionSpace>();
  static constexpr TeamShape count_with = few_bins ? Shapes.bytes : Shapes.shorts;
  static constexpr TeamShape expand_few_with{Shapes.places.threads, Shapes.expand.items};
  using Few = SortFewShorts<ExecutionSpace, Codec, Shapes.places, expand_few_with>;

 public:
  Counting(const ExecutionSpace& exec, const Plan& plan, const Codec& codec,
           const PassBuffers<Key>& keys, const CountingScratch& scratch, std::byte* base,
           const char* label)
      : exec_(exec),
        plan_(plan),
        codec_(codec),
        in_(keys.in, plan.count),
        out_(keys.result, plan.count),
        scratch_(scratch),
        counts_(scratch.counts.in<std::uint64_t>(base)),
        sums_{scratch.sums.in<std::uint64_t>(base)},
        phases_(scratch.phases.in<PhaseState>(base)),
        places_(scratch.places.in<Place>(base)),
        label_(std::string(label) + "::counting::") {}

  void sort() {
    clear();
    if constexpr (!few_bins) {
      if (plan_.count <= std::min(Shapes.few, Few::most_counted() * Few::tiles)) return sort_few();
    }
    count();
    if constexpr (!few_bins) place();
    expand();
  }

 private:
  void clear() {
    // Counts, sums and phases lie side by side, the gaps between them included.
    const Slot& last = few_bins ? scratch_.counts : scratch_.phases;
    const std::size_t words =
        (last.offset + last.bytes - scratch_.counts.offset) / sizeof(std::uint64_t);
    const ClearWords<ExecutionSpace, clear_with.threads> clear{counts_, words};
    launch<clear_with>("ClearWords", clear.teams(), 0, clear);
  }

  /// Clear; count, place and expand.
  void sort_few() {
    const std::size_t tile = std::max<std::size_t>(shares(out_.packs(), Few::tiles), 1);
    const std::size_t teams =
        std::min<std::size_t>(Few::tiles, running_teams_of<Shapes.places>(exec_));
    launch<Shapes.places>("SortFewShorts", teams, Few::scratch_bytes(),
                          Few{{phases_, Few::tiles},
                              in_,
                              shares(in_.packs(), Few::tiles),
                              counts_,
                              {codec_, counts_, sums_, places_},
                              {codec_, out_, tile, shares(out_.packs(), tile), 1, places_}});
  }

  void count() {
    if constexpr (few_bins) {
      using Count = CountBytes<ExecutionSpace, count_with>;
      const std::size_t teams =
          std::clamp<std::size_t>(shares(in_.packs(), count_with.round()), 1, most_counting());
      launch<count_with>("CountBytes", teams, Count::scratch_bytes(), Count{in_, counts_});
    } else {
      using Count =
          CountShorts<ExecutionSpace, count_with, WholeShort, std::uint64_t, Shapes.fields>;
      const std::size_t teams =
          std::clamp<std::size_t>(teams_for_shorts(plan_.count * sizeof(Key)), 1, most_counting());
      const std::size_t share = shares(in_.packs(), teams);
      launch<count_with>("CountShorts", teams, Count::scratch_bytes(), Count{in_, share, counts_});
    }
  }

  void place() {
    using Places = PlaceBins<ExecutionSpace, Codec, Shapes.places>;
    launch<Shapes.places>("PlaceBins", Places::tiles, Places::scratch_bytes(),
                          Places{codec_, counts_, sums_, places_});
  }

  void expand() {
    using Expand = ExpandBins<ExecutionSpace, Codec, Shapes.expand>;
    const std::size_t tile = plan_.tile / Pack<Key>::size;
    const std::size_t tiles = shares(out_.packs(), tile);
    const std::size_t row =
        std::clamp<std::size_t>(tiles / running_teams_of<Shapes.expand>(exec_), 1, tiles_in_a_row);
    const std::size_t teams = std::max<std::size_t>(shares(tiles, row), 1);
    launch<Shapes.expand>("ExpandBins", teams, Expand::scratch_bytes(),
                          Expand{codec_, out_, tile, tiles, row, few_bins ? counts_ : places_});
  }

  static std::size_t shares(std::size_t count, std::size_t share) {
    return (count + share - 1) / share;
  }

  /// As many teams as run at once, and more where a team's counters would have too few bits.
  std::size_t most_counting() const {
    constexpr std::size_t most_packs = (std::size_t{1} << 31) / Pack<Key>::size;
    return std::max(running_teams_of<count_with>(exec_), shares(in_.packs(), most_packs));
  }

  template <TeamShape LaunchShape, class Kernel>
  void launch(const char* name, std::size_t teams, std::size_t scratch_bytes,
              const Kernel& kernel) {
    launch_teams<LaunchShape>(exec_, label_ + name, teams, scratch_bytes, kernel);
  }

  const ExecutionSpace& exec_;
  const Plan& plan_;
  Codec codec_;
  WideArray<const Key> in_;
  WideArray<Key> out_;
  const CountingScratch& scratch_;
  std::uint64_t* counts_;
  TileSums sums_;
  PhaseState* phases_;
  Place* places_;
  std::string label_;
};

}  // namespace kradix::impl
