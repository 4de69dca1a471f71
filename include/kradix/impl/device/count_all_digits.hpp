// All digits of all keys counted in one read, then turned into first places and a list of passes. If a
// route hopes for order, that read verifies it and counts nothing.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/key_order.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/settle.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/tell_host.hpp"

namespace kradix::impl {

/// Teams that stay walk over the keys and count all digits into scratch, then add to the whole's bins.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct CountAllDigits {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int threads = Shape.threads;
  /// Loads under way. (More would keep one team of four from running.)
  static constexpr int batch = sizeof(Bits) <= 4 ? 4 : 8;

  const Key* keys;
  Codec codec;
  std::size_t count;
  DigitList all;
  std::uint64_t* bins;                                ///< [digit][bin], zero
  Route* route = nullptr;                             ///< tells the digits (null: all)
  std::uint64_t* varying = nullptr;                   ///< is told which bits vary, if anyone asks
  bool with_values = true, equal_keys_differ = true;  ///< as in KeyOrder
  /// Counted where the route has taken heavy keys out. (Of keys with values none has left yet: light ones are
  /// counted by the next launch.)
  const Key* lights = nullptr;
  AheadOfProof<Key, Value> ahead{};  ///< where elements go whose order is verified

  static std::size_t scratch_bytes(int digit_count) {
    return static_cast<std::size_t>(digit_count) * bin_count * sizeof(std::uint32_t);
  }

  KOKKOS_FUNCTION std::size_t counters() const {
    return static_cast<std::size_t>(all.count()) * bin_count;
  }
  KOKKOS_FUNCTION void count_in(const Team& team, std::uint32_t* counts) const {
    const DigitList digits = route != nullptr ? route->digits : all;
    if (route != nullptr && route->spreads != 0) return;
    if (route != nullptr && route->verifies != 0) {
      verify_order(team);
    } else {
      count_digits(team, digits, counts);
    }
  }

  /// In that scratch; light keys alone, if heavy ones have been taken out.
  KOKKOS_FUNCTION void count_digits(const Team& team, const DigitList& digits,
                                    std::uint32_t* counts) const {
    const int rows = digits.count() * bin_count;
    clear(team, counts, rows);
    // Two calls: what the first reads stays constant.
    const Bits differ = route == nullptr || route->heavy == 0
                            ? count_keys(team, keys, count, digits, counts)
                            : count_keys(team, lights, route->lights, digits, counts);
    tell(differ);
    team.team_barrier();
    add_to_all(team, counts, bins, rows);
  }
  KOKKOS_FUNCTION static void clear(const Team& team, std::uint32_t* counts, int size) {
    for (int i = team.team_rank(); i < size; i += Shape.threads) counts[i] = 0;
    team.team_barrier();
  }
  KOKKOS_FUNCTION static void add_to_all(const Team& team, const std::uint32_t* counts,
                                         std::uint64_t* all, int size) {
    for (int i = team.team_rank(); i < size; i += Shape.threads) {
      if (counts[i] > 0) Kokkos::atomic_add(&all[i], std::uint64_t{counts[i]});
    }
  }

  KOKKOS_FUNCTION void verify_order(const Team& team) const {
    const VerifyOrder<ExecutionSpace, Codec, Value, Shape.threads> verify{
        {keys, count, codec, all, with_values, equal_keys_differ},
        ahead,
        route->verifies == Route::hoped_for_reverse,
        &route->disorder};
    const auto seen = verify(team);
    tell(seen.differ);
    Disorder::tell<ExecutionSpace>(&route->disorder, seen.disorder);
  }

  /// Reads before it writes: after a few teams no bit is new.
  KOKKOS_FUNCTION void tell(Bits differ) const {
    if (varying == nullptr) return;
    for (int w = 0; w < words_in<Bits>; ++w) {
      const std::uint64_t mine = word_of(differ, w);
      if ((mine & ~L::load(&varying[w])) != 0) Kokkos::atomic_or(&varying[w], mine);
    }
  }

  /// Bits in which a key differs from the first.
  KOKKOS_FUNCTION Bits count_keys(const Team& team, const Key* keys, std::size_t count,
                                  const DigitList& digits, std::uint32_t* counts) const {
    const auto codec = at_hand(this->codec);
    const Shifts shifts = shifts_of(digits);
    const Bits first = codec.encode(keys[0]);
    Bits differ = 0;
    const auto add_keys = [&]<int Count>(const Key(&key)[Count]) {
      Bits bits[Count];
      KRADIX_UNROLL
      for (int k = 0; k < Count; ++k) bits[k] = codec.encode(key[k]);
      KRADIX_UNROLL
      for (int k = 0; k < Count; ++k) differ |= bits[k] ^ first;
      add(counts, shifts, bits);
    };
    for_each(team, keys, count, add_keys, add_keys);
    return differ;
  }

  /// Does something with a few keys of a team's share after the other, by all threads at a time, but with each of the last of all.
  template <class Work, class Last>
  KOKKOS_FUNCTION static void for_each(const Team& team, const Key* keys, std::size_t count,
                                       const Work& work, const Last& last) {
    constexpr std::size_t step = std::size_t{batch} * Shape.threads;
    const std::size_t stride = step * static_cast<std::size_t>(team.league_size());
    std::size_t at = step * static_cast<std::size_t>(team.league_rank());
    for (; at + step <= count; at += stride) {
      Key key[batch];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) key[b] = keys[at + b * Shape.threads + team.team_rank()];
      work(key);
    }
    for (std::size_t i = at + team.team_rank(); i < count && i < at + step; i += Shape.threads) {
      const Key key[1] = {keys[i]};
      last(key);
    }
  }

  /// The codec, or what it finds in memory and need not look up for each key.
  KOKKOS_FUNCTION static auto at_hand(const Codec& codec) {
    if constexpr (requires { codec.at_hand(); }) {
      return codec.at_hand();
    } else {
      return codec;
    }
  }

  struct Shifts {
    int begin, width, last;
    std::uint32_t mask, last_mask;
  };
  KOKKOS_FUNCTION static Shifts shifts_of(const DigitList& digits) {
    const int last = digits.count() - 1;
    return {digits.begin, digits.width, last, digits.digit(0).mask, digits.digit(last).mask};
  }

  /// Digit by digit: these few instructions are read once, where those of all digits of all keys would take as long to be read
  /// as a few million keys to be counted.
  template <int Count>
  KOKKOS_FUNCTION static void add(std::uint32_t* counts, const Shifts& shifts,
                                  Bits (&bits)[Count]) {
    KRADIX_UNROLL
    for (int b = 0; b < Count; ++b) bits[b] >>= shifts.begin;
    KRADIX_ROLLED
    for (int d = 0; d <= shifts.last; ++d) {
      const std::uint32_t mask = d == shifts.last ? shifts.last_mask : shifts.mask;
      KRADIX_UNROLL
      for (int b = 0; b < Count; ++b) {
        L::increment(&counts[d * bin_count + (static_cast<std::uint32_t>(bits[b]) & mask)]);
        bits[b] >>= shifts.width & 31;
      }
    }
  }
};

/// Digits of keys, or, if the route sweeps by value, of the numbers of their cells.
template <class Digits, class Cells>
struct CountDigitsOrCells : Digits {
  Cells cells;

  KOKKOS_FUNCTION void count_in(const typename Digits::Team& team, std::uint32_t* counts) const {
    if (this->route->spreads == Route::swept_by_value) {
      cells.count_digits(team, cells.all, counts);
    } else {
      Digits::count_in(team, counts);
    }
  }
};

/// One launch counts digits, or kinds of keys where the sample has seen no more than a few.
template <class Digits, class Kinds>
struct CountDigitsOrKinds {
  Digits digits;
  Kinds kinds;

  static std::size_t scratch_bytes(int digit_count) {
    return std::max(Digits::scratch_bytes(digit_count), Kinds::scratch_bytes());
  }

  KOKKOS_FUNCTION void operator()(const typename Digits::Team& team) const {
    // One piece of scratch, as of two nvcc does not know where the second lies, and counts key by key.
    constexpr std::size_t wide = sizeof(std::uint64_t);
    const std::size_t bytes = digits.counters() * sizeof(std::uint32_t);
    auto* const scratch = take_scratch<std::uint64_t>(
        team, (bytes > Kinds::scratch_bytes() ? bytes : Kinds::scratch_bytes()) / wide);
    if (digits.route->kinds != 0) {
      kinds.count_in(team, scratch);
    } else {
      digits.count_in(team, reinterpret_cast<std::uint32_t*>(scratch));
    }
  }
};

/// One team: each digit's counts become first places, and digits that one bin holds whole are left out
/// of the list of passes. Its time is that of instructions that no cache holds yet, so they are few.
template <class ExecutionSpace, int Threads>
struct ListDigits {
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;

  std::size_t count;
  std::uint64_t* bins;  ///< [row][bin]
  PassTable* passes;
  DigitList digits;

  using IsConstant = std::uint64_t;  ///< of a digit
  KOKKOS_FUNCTION static constexpr std::size_t scratch_bytes() {
    return PassTable::max_passes * sizeof(IsConstant);
  }

  /// Beside those of that table, and likewise in `sweeps`, if there is one. From `counts` on rows hold what was counted,
  /// from `firsts` on they will hold first places.
  KOKKOS_FUNCTION void list(const Team& team, const DigitList& digits, int counts, int firsts,
                            const PassTable& others, PassTable* sweeps,
                            IsConstant* is_constant) const {
    for (int d = team.team_rank(); d < PassTable::max_passes; d += Threads) is_constant[d] = 0;
    team.team_barrier();
    constexpr int groups = Threads / L::width;
    for (int d = team.team_rank() / L::width; d < digits.count(); d += groups) {
      const std::uint64_t mine =
          scan_bins<L>(bins + (counts + d) * bin_count, bins + (firsts + d) * bin_count,
                       L::lane(team.team_rank()));
      if (mine == (others.takes_out ? others.elements : count)) is_constant[d] = 1;
    }
    team.team_barrier();
    if (team.team_rank() != 0) return;
    int listed = 0;
    KRADIX_ROLLED
    for (int d = 0; d < digits.count(); ++d) {
      if (is_constant[d] != 0) continue;
      passes->add(listed, digits.digit(d), firsts + d);
      if (sweeps != nullptr) sweeps->add(listed, digits.digit(d), firsts + d);
      ++listed;
    }
    // Light keys are merged from where an even number of sweeps leaves them: one more may tell nothing apart. (Bin 0 begins at
    // 0 in every row but that of a first pass which keeps no order.)
    if (others.takes_out && listed % 2 == 1) {
      constexpr Digit nothing{0, 0};
      const int row = passes->row[0] == firsts ? firsts + 1 : firsts;
      passes->add(listed, nothing, row);
      if (sweeps != nullptr) sweeps->add(listed, nothing, row);
      ++listed;
    }
    passes->begin(listed, others);
    if (sweeps != nullptr) sweeps->begin(listed, others);
  }
};

/// All digits in one launch: the last team to leave lists them.
template <class Count, class List>
struct CountAndList {
  using Team = typename Count::Team;

  Count count;
  List list;
  std::uint64_t* counted;  ///< teams that have; zero at first

  static std::size_t scratch_bytes(int digit_count) {
    return std::max(Count::scratch_bytes(digit_count),
                    sizeof(std::uint64_t) + List::scratch_bytes());
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    constexpr std::size_t least = 1 + PassTable::max_passes;
    const std::size_t words = count.counters() / 2;
    auto* const scratch = take_scratch<std::uint64_t>(team, words > least ? words : least);
    count.count_in(team, reinterpret_cast<std::uint32_t*>(scratch));
    const auto teams = static_cast<std::uint64_t>(team.league_size());
    if (!leaves_last(team, counted, teams, scratch[0])) return;
    list.list(team, list.digits, 0, 0, PassTable{}, nullptr, scratch + 1);
  }
};

/// What follows a route's first count: one team lists its digits; or, where what the route hoped for does not hold, or heavy
/// keys with values are to leave, all teams count others, and the last of them lists those. Where kinds have been counted,
/// their work comes instead.
template <class Count, class List, class WithKinds, class Mirroring = NothingMore>
struct ListOrRecount {
  using Bits = typename Count::Bits;
  using Team = typename Count::Team;
  using Word = std::uint64_t;
  static constexpr int words = 1 + PassTable::max_passes;
  static constexpr bool counts_lights = requires(const Count& count, const Team& team) {
    count.list_codes(team);
  };

  Count count;  ///< to the second set of bins
  /// Of all digits. What the first set counted is listed in the second, for all teams look at the first.
  List list;
  int second;         ///< its first row
  PassTable* sweeps;  ///< those of the passes that are sweeps
  WithKinds with_kinds;
  PassTable* by_value = nullptr;  ///< likewise, over digits of cells (null: there are none)
  TellHost to_host{};             ///< what has been chosen
  Mirroring mirroring{};          ///< of elements in reverse, if ties are to be turned back

  static std::size_t scratch_bytes(int digit_count) {
    return std::max(words * sizeof(Word) + Count::scratch_bytes(digit_count),
                    WithKinds::scratch_bytes());
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    // A copy, whose words all come at once.
    const Route known = *count.route;
    if (list_or_recount(team, known)) to_host.template tell<Count::threads>(team);
    if constexpr (!std::is_same_v<Mirroring, NothingMore>) {
      if (known.turns_ties_back() && !(count.ahead.moves && known.is_as_hoped())) mirroring(team);
    }
  }

 private:
  /// Is this the team that has listed?
  KOKKOS_FUNCTION bool list_or_recount(const Team& team, Route known) const {
    // (One piece of scratch: of two, nvcc no longer knows where the second lies, and counts key by key.)
    const std::size_t mine = words + count.counters() / 2;
    constexpr std::size_t theirs = WithKinds::scratch_bytes() / sizeof(Word);
    auto* const scratch = take_scratch<Word>(team, mine > theirs ? mine : theirs);
    if (known.needs_no_passes()) {
      const bool moved = count.ahead.moves && known.is_as_hoped();
      if (known.has_counted_kinds()) with_kinds.rank_in(team, scratch);
      if (team.league_rank() != 0) return false;
      list_none(team, known.but_sweeps(moved));
      return true;
    }
    const bool crowds = holds_too_much(team, known, scratch[0]);
    const bool has_counted = known.kinds == 0 && known.verifies == 0 && !waits_for_lights(known) &&
                             !crowds && !sample_missed_a_bit(known);
    const bool by_value = has_counted && known.spreads == Route::swept_by_value;
    if (has_counted) {
      if (team.league_rank() != 0) return false;
      if (known.spreads != 0 && !by_value) {
        list_none(team, spreading(known));
        return true;
      }
    } else {
      count_again(team, known, crowds, reinterpret_cast<std::uint32_t*>(scratch + words));
      const auto teams = static_cast<std::uint64_t>(team.league_size());
      if (!leaves_last(team, &count.route->recounted, teams, scratch[0])) return false;
      if constexpr (counts_lights) {
        if (known.heavy != 0) known.lights = count.list_codes(team);
      }
    }
    // One call: its instructions are far away whenever they are wanted.
    list.list(team, by_value ? DigitList{0, Route::cell_bits} : known.digits,
              has_counted ? 0 : second, second, known.but_sweeps(),
              by_value ? this->by_value : sweeps, scratch + 1);
    if (team.team_rank() != 0) return true;
    if (by_value) *sweeps = PassTable{};
    if (!has_counted) tell_recounted(known);
    return true;
  }

  KOKKOS_FUNCTION static bool waits_for_lights(const Route& known) {
    return counts_lights && known.heavy != 0;
  }
  /// Light keys with values from the route's first digit on, in all that there are: nobody need have seen all bits that
  /// vary.
  KOKKOS_FUNCTION void count_again(const Team& team, Route& known, bool crowds,
                                   std::uint32_t* counts) const {
    if constexpr (counts_lights) {
      if (known.heavy != 0) {
        known.digits = {known.digits.begin, list.digits.end};
        count.count_lights(team, known.digits, counts);
        return;
      }
    }
    recount(known, crowds);
    count.count_digits(team, known.digits, counts);
  }
  KOKKOS_FUNCTION void tell_recounted(const Route& known) const {
    count.route->digits = known.digits;
    if (waits_for_lights(known)) return;
    count.route->recounts = 1;
    count.route->spreads = 0;
    count.route->counts = known.counts;
    count.route->finishes = known.finishes;
  }
  /// No sweeps.
  KOKKOS_FUNCTION void list_none(const Team& team, const PassTable& all) const {
    if (team.team_rank() != 0) return;
    *list.passes = all;
    *sweeps = PassTable{};
  }
  /// The topmost digit goes first, and only its bins have a row.
  KOKKOS_FUNCTION PassTable spreading(const Route& known) const {
    PassTable table{};
    table.count = 2;
    constexpr Digit of_suffixes{16, bin_count - 1};  // above them, where they are made of codes
    table.finishes = known.spreads == Route::gathered ? PassTable::gathering
                     : known.spreads == Route::dealt  ? PassTable::dealing
                     : known.spreads == Route::ranged ? PassTable::ranging
                     : known.spreads_by_cells()       ? 1
                                                      : PassTable::splitting;
    for (int pass = 0; pass < table.count; ++pass) {
      table.digit[pass] = known.has_no_digits() ? of_suffixes : known.digits.digit(1 - pass);
      table.row[pass] = second;
    }
    return table;
  }

  /// One team counts the keys of a bin: is one too long for that?
  KOKKOS_FUNCTION bool holds_too_much(const Team& team, const Route& known, Word& seen) const {
    if (known.counts == 0) return false;
    if (team.team_rank() == 0) seen = 0;
    team.team_barrier();
    for (int bin = team.team_rank(); bin < bin_count; bin += Count::threads) {
      if (list.bins[bin] > known.counts) Kokkos::atomic_or(&seen, Word{1});
    }
    team.team_barrier();
    return seen != 0;
  }

  /// Sweeps over the topmost digits need them to be just that.
  KOKKOS_FUNCTION bool sample_missed_a_bit(const Route& known) const {
    const Bits varying = joined<Bits>(known.varying);
    return known.too_wide != 0 ||
           (varying & bits_between<Bits>(known.digits.end, list.digits.end)) != 0;
  }

  /// The digits of the route, and one more sweep if bits vary above what the sample saw; or all digits. (Where too many
  /// kinds have been counted nobody knows which bits vary.)
  KOKKOS_FUNCTION void recount(Route& known, bool crowds) const {
    const DigitList& all = list.digits;
    const Bits varying = joined<Bits>(known.varying) & bits_between<Bits>(all.begin, all.end);
    const int end = bit_width_of(varying);
    if (known.kinds != 0 || crowds) known.counts = 0;
    known.go_over(end > known.digits.end ? end : known.digits.end, all);
  }
};

/// Zeroes words.
template <class ExecutionSpace, int Threads>
struct ClearWords {
  std::uint64_t* words;
  std::size_t count;

  static constexpr std::size_t per_team = std::size_t{8} * Threads;
  std::size_t teams() const {
    return std::min<std::size_t>((count + per_team - 1) / per_team, 512);
  }

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    clear(team, team.league_rank(), team.league_size());
  }
  /// As one of so many teams.
  KOKKOS_FUNCTION void clear(const TeamMember<ExecutionSpace>& team, int index, int of) const {
    const std::size_t step = static_cast<std::size_t>(of) * Threads;
    for (std::size_t i = static_cast<std::size_t>(index) * Threads + team.team_rank(); i < count;
         i += step) {
      words[i] = 0;
    }
  }
};

}  // namespace kradix::impl
