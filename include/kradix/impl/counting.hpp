// Counting sort: short keys alone are counted, and the result is written anew from the counts. Few bytes by one team.
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
#include "kradix/impl/device/sort_few_bytes.hpp"
#include "kradix/impl/plan.hpp"

namespace kradix::impl {

/// How the teams of its kernels work.
struct CountingShapes {
  TeamShape bytes, shorts;  ///< that count keys of 1 and 2 bytes
  TeamShape places;         ///< that turn the counts of 2^16 bins into places
  TeamShape expand;
  int fields = 6;             ///< of a word that counts keys of 2 bytes
  TeamShape lone{1, 1};       ///< of one team that sorts all keys, of 1 byte
  std::size_t most_lone = 0;  ///< if they are no more

  template <class ExecutionSpace>
  static constexpr CountingShapes of(std::size_t key_bytes) {
    return {count_bytes_shape<ExecutionSpace>(), count_shorts_shape<ExecutionSpace>(),
            place_bins_shape<ExecutionSpace>(),  expand_shape<ExecutionSpace>(key_bytes),
            count_shorts_fields<ExecutionSpace>, lone_bytes_shape<ExecutionSpace>(),
            key_bytes == 1 ? most_lone_bytes : 0};
  }
};

/// 2 KB of scratch memory for keys of 1 byte (of few a row of counters for each team that counts), 1 MB for 2: no second array.
struct CountingScratch {
  Slot counts;  ///< zero at first, as the sums are
  Slot sums;
  Slot places;
  Slot rows;

  static CountingScratch list(const Plan& plan, ScratchList& list) {
    const std::size_t bins = std::size_t{1} << plan.digit_bits;
    CountingScratch scratch;
    scratch.counts = list.add(bins, sizeof(std::uint64_t));
    if (bins == bin_count) {
      // Of few bytes rows of counters are sooner added up by all than cleared and added to.
      const bool in_rows = plan.count > most_lone_bytes && plan.count <= most_bytes_in_rows;
      scratch.rows = list.add(in_rows ? most_count_rows * bin_count : 0, sizeof(std::uint32_t));
      return scratch;
    }
    scratch.sums = list.add(TileSums::words, sizeof(std::uint64_t));
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
        places_(scratch.places.in<Place>(base)),
        rows_(scratch.rows.in<std::uint32_t>(base)),
        label_(std::string(label) + "::counting::") {}

  void sort() {
    if constexpr (few_bins && Shapes.most_lone > 0) {
      if (plan_.count <= Shapes.most_lone) return sort_few_bytes();
    }
    if (rows_ == nullptr) clear();
    count();
    if constexpr (!few_bins) place();
    expand();
  }

 private:
  void clear() {
    // Counts and sums lie side by side, the gap between them included.
    const Slot& last = few_bins ? scratch_.counts : scratch_.sums;
    const std::size_t words =
        (last.offset + last.bytes - scratch_.counts.offset) / sizeof(std::uint64_t);
    const ClearWords<ExecutionSpace, clear_with.threads> clear{counts_, words};
    launch<clear_with>("ClearWords", clear.teams(), 0, clear);
  }

  /// Nothing is cleared before.
  void sort_few_bytes() {
    using FewBytes = SortFewBytes<ExecutionSpace, Codec, Shapes.lone>;
    const auto size = static_cast<std::uint32_t>(plan_.count);
    launch<Shapes.lone>("SortFewBytes", 1, FewBytes::scratch_bytes(size),
                        FewBytes{codec_, {in_.data(), size}, {out_.data(), size}});
  }

  void count() {
    if constexpr (few_bins) {
      using Count = CountBytes<ExecutionSpace, count_with>;
      launch<count_with>("CountBytes", teams_for_bytes(), Count::scratch_bytes(),
                         Count{in_, counts_, rows_});
    } else {
      using Count =
          CountShorts<ExecutionSpace, count_with, WholeShort, std::uint64_t, Shapes.fields>;
      const std::size_t teams =
          std::clamp<std::size_t>(teams_for_shorts(plan_.count * sizeof(Key)), 1, most_counting());
      const std::size_t share = shares(in_.packs(), teams);
      launch<count_with>("CountShorts", teams, Count::scratch_bytes(), Count{in_, share, counts_});
    }
  }

  std::size_t teams_for_bytes() const {
    return std::clamp<std::size_t>(shares(in_.packs(), count_with.round()), 1,
                                   rows_ == nullptr ? most_counting() : most_count_rows);
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
    // Each team adds up all rows, so there are few of them.
    const std::size_t most_teams =
        rows_ == nullptr ? running_teams_of<Shapes.expand>(exec_) : 2 * most_count_rows;
    const std::size_t row = std::clamp<std::size_t>(tiles / most_teams, 1, tiles_in_a_row);
    const std::size_t teams = std::max<std::size_t>(shares(tiles, row), 1);
    const int rows = rows_ == nullptr ? 0 : static_cast<int>(teams_for_bytes());
    launch<Shapes.expand>(
        "ExpandBins", teams, Expand::scratch_bytes(),
        Expand{codec_, out_, tile, tiles, row, few_bins ? counts_ : places_, rows_, rows});
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
  Place* places_;
  std::uint32_t* rows_;
  std::string label_;
};

}  // namespace kradix::impl
