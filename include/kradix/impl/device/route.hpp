// Which digits a sort goes over, and whether a finish follows: chosen on the device from a sample of the
// keys, before all keys are counted.
//
// A sort by s sweeps over the most significant varying bits leaves runs of keys that agree in them. If
// no run is longer than a team's scratch, one finish replaces all other passes. If no two neighbours of
// the sample are out of order, all may be in order, and the first read of all keys looks at that alone.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/key_order.hpp"
#include "kradix/impl/device/merge_few.hpp"
#include "kradix/impl/device/met_samples.hpp"
#include "kradix/impl/device/sample_kinds.hpp"
#include "kradix/impl/device/sample_places.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// The state of the decision, in device memory; all zero at first.
struct Route {
  static constexpr int most_sweeps = 7;
  /// Sweeps before a finish, where the sample missed a bit.
  static constexpr int most_recounted = 4;

  int top;           ///< bits of a glance's keys vary below this one
  int reach;         ///< and those of more samples, if above that, below this one
  int chosen;        ///< at the first glance: no more samples are looked at
  DigitList digits;  ///< those that the sweeps go over
  int finishes;      ///< a finish follows the sweeps
  int crowded;       ///< digit by digit, for many keys of a run are alike
  int mends;         ///< where neighbours are out of order, for hardly any are
  /// Keys alone are spread by the two topmost digits, in no order, and finished in chunks or value by value; or by splitters;
  /// or by the digits of cells of equal width in value, and finished in chunks; or of pieces of their range, and finished so or
  /// so. Or keys are swept by the digits of cells by value. Or gathered by two digits, or dealt out; or sorted by bins of a short
  /// range.
  int spreads;
  static constexpr int to_chunks = 1, to_values = 2, by_splitters = 3, by_value = 4,
                       pieces_to_chunks = 5, pieces_to_values = 6, swept_by_value = 7, gathered = 8,
                       dealt = 9, ranged = 10;
  KOKKOS_FUNCTION bool spreads_by_cells() const {
    return spreads != 0 && spreads != by_splitters && spreads != swept_by_value &&
           spreads != gathered && spreads != dealt && spreads != ranged;
  }
  KOKKOS_FUNCTION static bool is_by_value(int spreads) {
    return spreads == by_value || spreads == swept_by_value;
  }
  KOKKOS_FUNCTION static bool is_by_pieces(int spreads) {
    return spreads == pieces_to_chunks || spreads == pieces_to_values;
  }
  KOKKOS_FUNCTION bool is_by_pieces() const { return is_by_pieces(spreads); }
  KOKKOS_FUNCTION bool leaves_suffixes() const {
    return spreads == to_values || spreads == pieces_to_values;
  }
  KOKKOS_FUNCTION bool lists_cells() const {
    return spreads == to_chunks || spreads == by_value || spreads == pieces_to_chunks;
  }
  int lie_together;  ///< nearly all neighbours share the topmost digit
  int together;      ///< cells side by side that were a chunk, where keys are gathered
  /// Then keys of a chunk may agree in no bits at all.
  KOKKOS_FUNCTION bool has_no_digits() const { return is_by_value(spreads) || is_by_pieces(); }
  static constexpr int cell_bits = 2 * digit_bits;  ///< of those digits
  static constexpr int cells = 1 << cell_bits;
  /// Keys are counted after one sweep, if no bin of it holds more than so many (0: they are not).
  std::uint64_t counts;
  /// No disorder in the sample: order is verified, nothing counted.
  int verifies;
  static constexpr int hoped_for_order = 1, hoped_for_reverse = 2;
  int recounts;                  ///< what was hoped for does not hold: others are gone over
  std::uint64_t disorder;        ///< of any neighbours that were looked at (`Disorder`)
  int kinds;                     ///< of keys in the sample, if they are few: all are counted
  std::uint64_t too_many_kinds;  ///< for that: their count is void
  int heavy;             ///< kinds of keys that are taken out, for they make up much of the sample
  float heavy_share;     ///< of the sample
  float light_most;      ///< and that of any other kind, at most
  std::uint64_t lights;  ///< keys that are of none of them, once they are counted
  std::uint64_t varying[2];          ///< bits in which any key differs from the first
  std::uint64_t sampled;             ///< teams that have looked at their samples
  std::uint64_t recounted;           ///< teams that have counted digits anew
  std::uint64_t pairs[most_sweeps];  ///< sampled pairs that 1, 2, ... sweeps would leave in one run
  std::uint64_t same;                ///< those of them that are the same
  std::uint64_t met;                ///< pairs of all teams' that agree in what a finish tells apart
  std::uint32_t most[most_sweeps];  ///< sampled keys in the longest such run of a team's sample
  std::uint64_t chunks;             ///< listed for the finish
  std::uint64_t left;               ///< and for those that take what it cannot
  std::uint64_t given_up;           ///< of the chunks
  std::uint64_t overflowed;         ///< narrow counters of chunks
  std::uint64_t above;              ///< the bits above those by which keys are spread
  std::uint64_t least, greatest;    ///< of the sample's codes, the first inverted
  /// By the sample, square sums of the shares of cells (0: there are none).
  float sharing_by_value, sharing_by_pieces;
  std::uint64_t too_wide;  ///< more keys than expected lie in cells that no suffixes tell apart

  KOKKOS_FUNCTION bool has_counted_kinds() const { return kinds != 0 && too_many_kinds == 0; }
  /// Or in reverse.
  KOKKOS_FUNCTION bool is_in_order() const {
    return verifies != 0 && Disorder::leaves_hope(disorder);
  }
  KOKKOS_FUNCTION bool turns_ties_back() const {
    constexpr std::uint32_t both = Disorder::falls | Disorder::ties;
    return is_in_order() && (disorder & both) == both;
  }
  /// And not in the other one.
  KOKKOS_FUNCTION bool is_as_hoped() const {
    return is_in_order() && ((disorder & Disorder::falls) != 0) == (verifies == hoped_for_reverse);
  }
  KOKKOS_FUNCTION static int hope_for(std::uint64_t disorder) {
    if (!Disorder::leaves_hope(disorder)) return 0;
    return (disorder & Disorder::falls) != 0 ? hoped_for_reverse : hoped_for_order;
  }
  /// Once what it hoped for has been found out.
  KOKKOS_FUNCTION bool needs_no_passes() const { return has_counted_kinds() || is_in_order(); }
  /// Digits up to that bit: those that were chosen and one more sweep if it lies above, or all of them.
  KOKKOS_FUNCTION void go_over(int end, const DigitList& all) {
    const bool widens = end > digits.end;
    const DigitList wanted{digits.begin, end};
    const bool short_enough =
        !widens || (wanted.count() <= most_recounted && wanted.count() < all.count());
    const bool in_chunks = finishes != 0 && !leaves_suffixes() && kinds == 0 && heavy == 0;
    finishes = in_chunks && short_enough ? 1 : 0;
    if (widens) counts = 0;
    digits = finishes != 0 || counts != 0 ? wanted : all;
  }
  /// The list of passes without its sweeps; elements that needed none may have moved already.
  KOKKOS_FUNCTION PassTable but_sweeps(bool moved = false) const {
    PassTable table{};
    if (has_counted_kinds()) {
      table.expands = sweeps_of_kinds(kinds);
    } else if (needs_no_passes()) {
      if (turns_ties_back()) {
        table.mirrors = PassTable::turning_ties_back;
      } else if (moved) {
        table.mirrors = PassTable::moved_already;
      } else if ((disorder & Disorder::falls) != 0) {
        table.mirrors = PassTable::turning_round;
      }
    } else {
      if (heavy != 0) {
        table.takes_out = 1;
        table.elements = lights;
      }
      table.finishes = counts != 0 ? PassTable::counting : finishes;
    }
    return table;
  }
  /// Sweeps by labels of so many kinds.
  KOKKOS_FUNCTION static int sweeps_of_kinds(int kinds) { return kinds <= bin_count ? 1 : 2; }
};

/// Sweeps that light keys take before they are mended, and more that this must spare. (Also of codecs whose keys are never
/// heavy: without it kernels of floats with values spill ten times as much.)
inline constexpr int light_sweeps = 4, sweeps_spared = 2;
template <class Codec>
inline constexpr bool lights_may_be_mended = Codec::bits >
                                             (light_sweeps + sweeps_spared - 1) * digit_bits;

/// When a finish is worth while.
struct RouteRule {
  float run;        ///< the mean length of a run, over its elements, that still fits
  float most;       ///< and the longest that one team should finish
  float close = 5;  ///< keys that share a word of the finish's counters with one
  /// From so many on, samples of different teams are compared in that, too: their pairs are enough to tell how many do.
  std::size_t meets_from = std::size_t{1} << 26;
  float close_of_all = 3.4f, same_of_all = 0.4f;
  /// Pairs of a glance that are the same, where a finish is worth while.
  std::uint32_t most_same = ~0u;
  float uneven_run = 1.6f;  ///< the longest runs, over the mean, of keys that do not spread evenly
  float kinds = 160;        ///< in a chunk, that are few
  float gain = 0;           ///< ps an element, that a finish digit by digit saves
  float heavy = 0;          ///< ps an element, that taking heavy keys out saves
  float differ = 0.6f;  ///< keys in a run beside each that are not the same, which may be mended
  float values = 2;     ///< that keys may have, over their number, to be counted after a sweep
  float counted = 1 / 64.0f;  ///< of all keys, that one team counts then (0: they are not)
  float mend_gain = 0;        ///< ps an element, that mending saves
  float mixed =
      1 /
      8.0f;  ///< of a long run's pairs, that are not the same, where most runs need no more than a look
  float look_gain = 0;  ///< ps an element, that those looks save
  /// Keys, from so many on, may be few kinds: with values a launch or two more, which all others pay for.
  std::size_t kinds_from = std::size_t{1} << 20;
  /// By labels of two digits from so many on, where no more than a glance looks for them, and the host waits.
  std::size_t label_twice_from = std::size_t{1} << 23;
  /// From so many on heavy ones may be taken out: of keys alone one launch or two more.
  std::size_t heavy_from = std::size_t{1} << 24;
  /// From so many on light ones may be mended, where heavy ones make up so much.
  std::size_t mend_lights_from = std::size_t{1} << 24;
  float mend_lights = 0.1f;
  /// Keys alone, from so many on, may be spread twice: three launches more. Fewer of them only if they find no more than so
  /// many times the mean in their cells: uneven ones are slower to count.
  std::size_t spread_from = std::size_t{1} << 27;
  float spread_even = 1.5f;
  /// Keys alone, from so many on, may be gathered if they find no more than so many times the mean in their cells: four launches more.
  std::size_t gather_from = std::size_t{1} << 24;
  float gather_even = 1.15f;
  /// Of those that are dealt out, whose bins are longer.
  float deal_even = 1.3f;
  /// Of either, parts of all codes may be so uneven in a glance: chi squared, of 15 degrees, which is more by chance once in a thousand
  /// times. Densities that vary by a sixth, of which bins are too long, exceed it as a rule.
  float most_uneven = 38;
  int swept_range =
      2 * digit_bits;  ///< bits of a range that is sooner swept than sorted by its bins
  /// Keys alone that no digits spread, from so many on and up to so many, may be spread by splitters.
  std::size_t split_from = std::size_t{1} << 25, split_to = 0;
  float split_gain = 0;  ///< ps an element, that this saves
  /// Floats alone, from so many on, may be spread by value or by pieces of their range: three launches more, of 4 bytes four.
  /// Those that leave suffixes may be so uneven, over the mean, and so many may be the same as one.
  std::size_t pieces_from = std::size_t{1} << 25;
  /// So that a cell has so many at most, but not fewer cells than that. (Of those that leave chunks there are as many as may be.)
  std::size_t piece_keys = 3 << 10;
  int least_piece_bits = 15;
  float pieces_even = 3, pieces_alike = 256;
  float value_even = 1.25f;  ///< and doubles by value, rather than by pieces (0: never by value)
  /// Floats with values, and fewer than those alone, from so many on may be swept by value: a launch or two more.
  std::size_t by_value_from = std::size_t{1} << 22;
  float by_value_alike = 2;                 ///< keys of one value, that are too many for that
  std::size_t wide = std::size_t{1} << 15;  ///< that fit no suffix
  /// From so many on a pass leaves no more than suffixes, and cells are finished by value.
  std::size_t values_from = std::size_t{1} << 27;
  float even = 2;      ///< keys of a cell, over the mean of all cells, that are counted by value
  float full = 0.6f;   ///< keys there for each value that they may have
  float alike = 0.3f;  ///< keys that are the same as one there, beside those
  /// The same, by samples of all teams, where values are counted.
  float alike_counted = 2.5f;
  /// Suffixes of keys in cells that are copied before keys are written over them.
  std::size_t copied = std::size_t{1} << 17;

  /// Of cells by pieces.
  int piece_bits(std::size_t count) const {
    int bits = least_piece_bits;
    while (bits < Route::cell_bits && count >> bits > piece_keys) ++bits;
    return bits;
  }

  /// Fewer sweeps than this leave runs that are too long even of keys that spread evenly: some hundreds of 2^16, by
  /// chance.
  int least_sweeps(std::size_t count) const {
    int sweeps = 1;
    float even = static_cast<float>(count) / bin_count;
    while (as_sampled * (even + 2.75f * std::sqrt(even)) > run &&
           sweeps + tried <= Route::most_sweeps) {
      even /= bin_count;
      ++sweeps;
    }
    return sweeps;
  }
  static constexpr int tried = 4;  ///< numbers of sweeps, from the least on
  /// Fewer keys are only glanced at.
  std::size_t samples_from = 0;
  /// Of more keys a glance sees too few to tell that they spread evenly.
  std::size_t glance_to = std::size_t{1} << 24;
  float alone = run;  ///< the mean length of a run that is sorted digit by digit
  static constexpr float as_sampled = 1.05f;  ///< a length, at most
  static RouteRule of_chunks(std::size_t chunk) {
    return {as_sampled * static_cast<float>(chunk), 65536.0f};
  }
};

/// Numbers of sweeps that samples are looked at for: all that may be chosen, and one below.
struct SweepChoices {
  int least, end, first;

  /// Two at least, and beyond those only what leaves two digits, or it would save too little.
  static SweepChoices of(int least, int passes) {
    const int most = std::clamp(passes - 2, least + 1, least + RouteRule::tried - 1);
    return {least, most + 1, std::max(least - 1, 1)};
  }
  KOKKOS_FUNCTION int count() const { return end - first; }
};

/// Pairs of a few keys, each from its own stretch of all, that agree in so many topmost bits.
struct GlancedPairs {
  static constexpr int samples = 4096, cell_bits = 16;
  static constexpr int order_step = 4;  ///< one of so many samples is compared with the next key
  static constexpr int parts = 16;      ///< of all cells, whose samples are compared

  std::uint32_t pairs, close_pairs;  ///< by those of a cell, and by those that a finish tells apart
  std::uint32_t same_pairs;          ///< of these, that agree in all that a glance compares
  bool is_crowded;                   ///< too many to have been counted

  static constexpr float all = samples * (samples - 1.0f) / 2;
};

/// What the samples tell, for one thread: sweeps over as few of the topmost varying digits as leave short runs, and a finish; or
/// sweeps over all digits. Neither may be needed, if the keys turn out to be in order.
struct ChooseRoute {
  std::size_t count;
  DigitList all;
  RouteRule rule;
  SweepChoices sweeps;
  float samples, sampled_pairs;  ///< of one team; of all, those of one team each
  float met_pairs;               ///< of all, those of different teams as well (0: they do not meet)
  int element_bytes;
  int word_bits;   ///< so many bits tell words of the finish's counters apart
  int value_bits;  ///< of keys that one sweep leaves alike, which may be counted (0: they may not)
  bool spreads;    ///< keys may be spread twice
  bool splits;     ///< or by splitters
  bool gathers;    ///< or gathered
  bool gathers_suffixes;  ///< of which no more than suffixes are left then
  int piece_bits;  ///< or by cells of floats, so many bits of the number of those by pieces (0: they may not)
  int cell_bits;   ///< of keys that this leaves alike, which may be counted (0: they may not)
  bool has_kinds;  ///< a finish digit by digit looks for them
  bool in_place;   ///< after an odd number of passes elements must be copied
  bool with_values;
  Route* route;

  /// On a copy, whose words all come at once: each would be waited for where it is wanted.
  KOKKOS_FUNCTION void operator()() const {
    Route copy = *route;
    ChooseRoute with_copy = *this;
    with_copy.route = &copy;
    with_copy.decide();
    with_copy.count_next_digit();
    with_copy.reach_all();
    *route = copy;
  }

  /// Two sweeps over what a glance looks at leave two digits at least.
  KOKKOS_FUNCTION bool may_tell_at_a_glance(int top) const {
    return count >= GlancedPairs::samples && count <= rule.glance_to && sweeps.least == 2 &&
           passes(top) >= 4;
  }
  /// So many topmost bits tell words of counters apart where keys spread: a chunk spans what that many keys do.
  KOKKOS_FUNCTION int told_bits(int top) const {
    const int told =
        bit_width_of(static_cast<std::uint64_t>(static_cast<float>(count) / rule.run)) + word_bits;
    return told < top - all.begin ? told : top - all.begin;
  }

  /// By which samples of all teams meet. Where hardly any are left beyond those words hold some values each, however many bits
  /// tell words apart: then by all, for it is those that are the same that overflow them.
  KOKKOS_FUNCTION int met_bits(int top) const {
    constexpr int bits_in_word = 3;
    const int told = told_bits(top), all_bits = top - all.begin;
    return told + bits_in_word <= all_bits ? told : all_bits;
  }

  /// Begins the route. Keys that spread evenly, and of which hardly two are alike in what the finish counts by, need no
  /// more samples: they are chosen two sweeps and a finish. Others are swept over all digits if there are no more
  /// samples (`is_all`), without heavy ones if that saves enough.
  KOKKOS_FUNCTION void at_a_glance(const GlancedPairs& seen, bool even, int top,
                                   std::uint32_t disorder, bool lie_together, bool is_all,
                                   const KindsInSample& kinds) const {
    const bool spreads = spread_evenly(seen);
    Route begun{};
    begun.top = top;
    begun.disorder = disorder;
    begun.kinds = kinds.kinds;
    begun.lie_together = lie_together ? 1 : 0;
    const bool hopes_for_order = Disorder::leaves_hope(disorder);
    if (is_all || (spreads && !hopes_for_order)) {
      begun.chosen = 1;
      begun.verifies = Route::hope_for(disorder);
      begun.finishes = spreads ? 1 : 0;
      begun.digits = spreads ? DigitList{top - GlancedPairs::cell_bits, top} : with_next_digit(top);
      if (spreads && even && !hopes_for_order && may_gather(alike(seen.pairs), lie_together))
        begun.spreads = Route::gathered;
      if (kinds.heavy != 0 && kinds.heavy_share > least_heavy_share(passes(top))) {
        begun.heavy = kinds.heavy;
        begun.digits = all_digits(passes(top), top);
      }
    }
    *route = begun;
  }

  KOKKOS_FUNCTION bool spread_evenly(const GlancedPairs& seen) const {
    return !seen.is_crowded && alike(seen.pairs) <= rule.run &&
           alike(seen.close_pairs) <= rule.close && seen.same_pairs <= rule.most_same;
  }
  /// The same of cells by value, which may be less even. Codes of the ends, the first inverted.
  KOKKOS_FUNCTION bool by_value_at_a_glance(const GlancedPairs& seen, int top, std::uint64_t least,
                                            std::uint64_t greatest, bool is_all) const {
    constexpr std::uint32_t few_close = 6;  // may be chance
    constexpr std::uint32_t few_same = 3;   // floats, which have few bits
    if (seen.is_crowded || !fits_by_value(alike(seen.pairs))) return false;
    if (rule.most_same != ~0u && seen.same_pairs > few_same) return false;
    if (alike(seen.close_pairs) > rule.close && !(is_all && seen.close_pairs <= few_close)) {
      return false;
    }
    begin_without_digits(Route::swept_by_value, top);
    route->least = least;
    route->greatest = greatest;
    return true;
  }
  /// No more need be known of them.
  KOKKOS_FUNCTION void begin_without_digits(int spreads, int top) const {
    Route begun{};
    begun.top = top;
    begun.disorder = Disorder::both;
    begun.chosen = begun.finishes = 1;
    begun.digits = {all.end, all.end};
    begun.spreads = spreads;
    *route = begun;
  }

  /// Keys alone that fill so much of the codes that their bits make may be dealt out to bins, which are wider than cells.
  KOKKOS_FUNCTION bool may_deal(const GlancedPairs& seen, float filled) const {
    return alike(seen.pairs) * static_cast<float>(Route::cells) * filled <=
           rule.deal_even * static_cast<float>(count);
  }

  /// The share of heavy keys from which on taking them out of so many sweeps saves time, by times measured on an H200. It
  /// costs a count, a sweep that looks keys up, and a copy in the end (of keys alone, a read and a copy); and shorter
  /// sweeps take longer for each element.
  KOKKOS_FUNCTION float least_heavy_share(int passes) const {
    const auto bytes = static_cast<float>(element_bytes);
    const float all_sweeps = static_cast<float>(passes) * sweep_time();
    const float out = with_values ? 1.9f * sweep_time() : 0.3f * bytes + 1;
    const float fixed = with_values ? 25e6f : 40e6f;
    const float cost = out + 0.3f * bytes + 0.1f * all_sweeps + fixed / static_cast<float>(count);
    return (cost + rule.heavy) / (all_sweeps + 2);
  }
  /// From which on they are listed: less will do where light keys may be mended.
  KOKKOS_FUNCTION float least_listed_share(int passes) const {
    const float alone = least_heavy_share(passes);
    const bool may_mend = passes >= light_sweeps + sweeps_spared && count >= rule.mend_lights_from;
    return may_mend && alone > rule.mend_lights ? rule.mend_lights : alone;
  }

 private:
  /// Keys that one finds among those that agree as so many pairs of a glance do.
  KOKKOS_FUNCTION float alike(std::uint32_t pairs) const {
    return static_cast<float>(count) * static_cast<float>(pairs) / GlancedPairs::all;
  }
  /// Keys that one finds in its cell of 65536 are hardly more than all cells have on average: they may be gathered, unless they lie
  /// together: a tile's keys are of few bins then, which takes up to half as long again.
  KOKKOS_FUNCTION bool may_gather(float run, bool lie_together) const {
    return gathers && !lie_together &&
           run * static_cast<float>(Route::cells) <= rule.gather_even * static_cast<float>(count);
  }
  /// Of a team's sample, in a run that one team sorts.
  static constexpr std::uint32_t one_teams_work = 12;
  /// Of an element, in ps, by times measured on an H200.
  KOKKOS_FUNCTION float sweep_time() const {
    const auto bytes = static_cast<float>(element_bytes);
    return with_values ? 1 + 0.68f * bytes : 1.2f + 0.75f * bytes;
  }

  /// Over all digits in which the sample varies.
  KOKKOS_FUNCTION int passes(int top) const {
    return (top - all.begin + digit_bits - 1) / digit_bits;
  }

  KOKKOS_FUNCTION void decide() const {
    route->verifies = Route::hope_for(route->disorder);
    // Of few kinds in reverse values move sooner by labels than they are turned twice.
    const bool turns_twice = with_values && route->verifies == Route::hoped_for_reverse &&
                             (route->disorder & Disorder::ties) != 0;
    if (turns_twice && route->kinds != 0) route->verifies = 0;
    if (route->verifies != 0) route->kinds = 0;
    const auto n = static_cast<float>(count);
    const int passes = this->passes(route->top);
    route->digits = with_next_digit(route->top);
    choose_to_count(n);
    const bool counts = route->counts != 0;
    if (!counts) choose_cells(n);
    // (No three sweeps, and no finish after two and a count of digits above them, save time where four are all.)
    const bool tries = !counts && (passes > 4 || sample_holds());
    for (int s = sweeps.least; s < sweeps.end && route->finishes == 0 && tries; ++s) {
      choose(s, passes, n);
    }
    for (int s = sweeps.least; s < sweeps.end && route->finishes == 0 && !counts; ++s) {
      choose_to_look(s, passes, n);
    }
    if (!counts && route->spreads == 0 && choose_cells_of_floats(n)) return;
    if (counts || route->finishes != 0 || route->verifies != 0 || route->kinds != 0) {
      route->heavy = 0;
    }
    if (route->heavy != 0 &&
        (mends_lights(passes, n) || route->heavy_share > least_heavy_share(passes))) {
      return;
    }
    route->heavy = 0;
    if (!counts && route->finishes == 0) choose_splitters(passes, n);
  }

  /// Samples, too, miss rare bits: one sweep more leaves the finish as it is. (Keys alone are spread by just two digits as a rule.)
  KOKKOS_FUNCTION void count_next_digit() const {
    const bool sweeps_then_finishes =
        route->finishes != 0 && route->spreads == 0 && route->heavy == 0 && route->counts == 0;
    if (!with_values || !sweeps_then_finishes) return;
    const DigitList wanted = with_next(route->digits);
    if (wanted.count() <= Route::most_recounted && wanted.count() < all.count())
      route->digits = wanted;
  }

  /// What samples have shown need not be found out by a count.
  KOKKOS_FUNCTION void reach_all() const {
    const bool counts_digits = route->verifies == 0 && route->kinds == 0 && route->heavy == 0 &&
                               route->spreads != Route::by_splitters;
    const int end = route->reach;
    if (!counts_digits || end <= route->digits.end) return;
    route->go_over(end, all_digits(passes(end), end));
    route->spreads = 0;
  }

  /// Or does it vary, as far as its ends were looked at, above what a glance saw? Those digits would have to be counted anew.
  KOKKOS_FUNCTION bool sample_holds() const {
    const std::uint64_t differ = ~route->least ^ route->greatest;
    return (route->least | route->greatest) == 0 || route->top >= all.end ||
           (differ & low_mask<std::uint64_t>(all.end)) >> route->top == 0;
  }

  /// Instead of more than two sweeps.
  KOKKOS_FUNCTION bool choose_cells_of_floats(float n) const {
    if (piece_bits == 0 || route->verifies != 0 || route->kinds != 0 || route->heavy != 0) {
      return false;
    }
    // Those that agree in nearly all bits no finish tells apart by value either.
    constexpr int nearly = 4;
    const bool are_alike = route->top - all.begin - met_bits(route->top) <= nearly;
    if (are_alike && are_close(n)) return false;
    // Two sweeps by value, whose bins are even, take less than those over two digits; two passes in no order do not.
    const bool sweeps = with_values || count < rule.pieces_from;
    const int by = element_bytes == 4 && !sweeps ? cells_to_values(n) : cells_to_chunks(n);
    if (by == 0) return false;
    const bool by_bits = route->finishes != 0 && route->crowded == 0 && route->mends == 0;
    if (by_bits && route->digits.count() <= 2 && sample_holds() && !sweeps) return false;
    route->digits = {all.end, all.end};
    route->finishes = 1;
    route->crowded = route->mends = 0;
    route->spreads = sweeps && by == Route::by_value ? Route::swept_by_value : by;
    return true;
  }
  KOKKOS_FUNCTION int cells_to_values(float n) const {
    const float sharing = route->sharing_by_pieces;
    const bool holds = sharing > 0 && same_of(n) <= rule.pieces_alike &&
                       sharing * static_cast<float>(1 << piece_bits) <= rule.pieces_even;
    return holds ? Route::pieces_to_values : 0;
  }
  /// By value where that is even, or where pieces do not fit: a smooth density's greatest is about as far above the mean that a
  /// key finds as that above the mean of all. Cells by pieces are as uneven as few samples of each are by chance.
  KOKKOS_FUNCTION int cells_to_chunks(float n) const {
    constexpr float most_alike = 2, uneven = 1.5f;
    if (same_of(n) > most_alike) return 0;
    const float mean = n / static_cast<float>(Route::cells);
    const float by_value = n * route->sharing_by_value, by_pieces = n * route->sharing_by_pieces;
    const bool fits = rule.value_even > 0 && by_value > 0 && fits_by_value(by_value);
    if (fits && by_value <= rule.value_even * mean) return Route::by_value;
    const bool pieces_fit = by_pieces > 0 && longest_by_chance(uneven * by_pieces) <= rule.run;
    if (pieces_fit) return Route::pieces_to_chunks;
    return fits ? Route::by_value : 0;
  }
  KOKKOS_FUNCTION bool fits_by_value(float run) const {
    const float mean = static_cast<float>(count) / static_cast<float>(Route::cells);
    return longest_by_chance(run) + (run - mean) <= rule.run;
  }
  KOKKOS_FUNCTION static float longest_by_chance(float run) {
    return run + 2.75f * Kokkos::sqrt(run);
  }

  KOKKOS_FUNCTION bool may_split() const {
    return splits && route->verifies == 0 && route->kinds == 0;
  }
  KOKKOS_FUNCTION bool splits_sooner(int passes, float n) const {
    return may_split() && gain_by_splitters(passes, n) > rule.split_gain;
  }
  KOKKOS_FUNCTION void choose_splitters(int passes, float n) const {
    if (!splits_sooner(passes, n)) return;
    route->digits = {route->top - Route::cell_bits, route->top};
    route->finishes = 1;
    route->spreads = Route::by_splitters;
  }

  /// Without the heavy ones most runs may be one key, or the same key many times, after some sweeps: an even number,
  /// which leaves light keys where they are merged from.
  KOKKOS_FUNCTION bool mends_lights(int passes, float n) const {
    constexpr int s = light_sweeps;
    if (s + sweeps_spared > passes || s < sweeps.least || s >= sweeps.end) return false;
    if (count < rule.mend_lights_from || route->light_most * samples > one_teams_work) return false;
    const float differ = run_after(s, n) - mean_of(route->same, n);
    if (differ > rule.differ) return false;
    const float mended = gain_by_mending(s, passes, n, differ, 0, 1 - route->heavy_share);
    const float all_sweeps = static_cast<float>(passes) * sweep_time();
    const float taken_out = (route->heavy_share - least_heavy_share(passes)) * (all_sweeps + 2);
    if (!(mended > rule.mend_gain && mended + taken_out > 0)) return false;
    route->digits = {route->top - s * digit_bits, route->top};
    route->finishes = 1;
    route->mends = 1;
    return true;
  }

  /// Keys of a short range, which one sweep deals out evenly.
  KOKKOS_FUNCTION void choose_to_count(float n) const {
    const int left = route->top - all.begin - digit_bits;
    const auto counted = static_cast<std::uint64_t>(rule.counted * n);
    if (sweeps.first > 1 || left < 1 || left > value_bits || values() > rule.values * n) return;
    // The longest run of a sample is as long by chance.
    const auto most = static_cast<float>(route->most[0]);
    if (counted == 0 || most - 3 * Kokkos::sqrt(most) > rule.counted * samples) return;
    route->digits = {route->top - digit_bits, route->top};
    route->counts = counted;
  }

  KOKKOS_FUNCTION bool may_spread() const {
    return spreads && count >= rule.spread_from && route->verifies == 0 && route->kinds == 0;
  }

  /// Keys that spread evenly over cells too long for scratch, with few alike: counters of few bits do.
  KOKKOS_FUNCTION void choose_cells(float n) const {
    constexpr int s = Route::cell_bits / digit_bits;
    const int left = route->top - all.begin - Route::cell_bits;
    if (!may_spread() || left < 1 || left > cell_bits || sweeps.first > s || sweeps.end <= s)
      return;
    const float run = mean_of(route->pairs[s - 1], n);
    // What fits chunks, and is uneven, is as soon swept.
    const bool fits_chunks = sweeps.least <= s && run <= rule.run;
    const float uneven = fits_chunks && rule.spread_even < rule.even ? rule.spread_even : rule.even;
    if (run * static_cast<float>(Route::cells) > uneven * n) return;
    const float of_a_value = n / values();
    if (of_a_value > rule.full || same_of(n) - of_a_value > rule.alike) return;
    bool has_some_alike = false;
    if (met_pairs > 0) {
      // Of even keys so many are together.
      const float even =
          run * Kokkos::exp2(static_cast<float>(Route::cell_bits - met_bits(route->top)));
      const float alike = together(n) - even, chance = Kokkos::sqrt(even * n / met_pairs);
      if (alike > rule.alike_counted + chance) return;
      has_some_alike = alike > rule.alike + chance;
    }
    route->digits = {route->top - Route::cell_bits, route->top};
    route->finishes = 1;
    const bool gathers =
        gathers_suffixes && may_gather(run, route->lie_together != 0) && !has_some_alike;
    route->spreads = gathers ? Route::gathered : Route::to_values;
  }

  /// A finish costs little more than a pass: it must replace two.
  KOKKOS_FUNCTION void choose(int s, int passes, float n) const {
    const float run = run_after(s, n), same = same_of(n);
    const float most = n * route->most[s - 1] / samples;
    // Up to four of a sample meet by chance.
    const bool short_enough = most <= rule.most || route->most[s - 1] <= 4;
    // Five sweeps, and whatever finishes, take longer than splitters.
    if (s >= passes || (s > 4 && splits_sooner(passes, n))) return;
    // Long chunks are for even runs: some of others would be longer than those, and of many keys.
    const float before = s > sweeps.first ? mean_of(route->pairs[s - 2], n) : n;
    const bool is_even = run <= rule.spread_even * before / bin_count;
    const float most_run = is_even ? rule.run : rule.alone;
    // Runs of keys that do not spread evenly are longer than the mean, of `unit` by half, of `normal` twice as long; unless it is
    // that or all digits, they should fit.
    const bool all_even = run * Kokkos::exp2(static_cast<float>(s * digit_bits)) <= 2 * n;
    const bool is_last = s + 1 == sweeps.end;
    const float longest = all_even || is_last ? run : rule.uneven_run * run;
    const bool fits = short_enough && longest + uneven(run, same, n) <= most_run;
    const bool spread = fits && s + 2 <= passes && tells_apart(n);
    const bool crowded = fits && run <= rule.alone && !spread &&
                         gain_by_digits(s, n, same) > or_by_splitters(rule.gain, passes, n);
    const float differ = differ_after(s, n);
    // One team sorts a long run in which the sample saw no difference, if there is one.
    const bool no_longest = short_enough || route->most[s - 1] <= one_teams_work;
    const float mended = gain_by_mending(s, passes, n, differ, same);
    const bool mends = !spread && !crowded && no_longest && differ <= rule.differ &&
                       mended > or_by_splitters(rule.mend_gain, passes, n) &&
                       mended >= rule.mend_gain + gain_by_mending_later(s + 1, passes, n, same);
    if (!spread && !crowded && !mends) return;
    route->digits = {route->top - s * digit_bits, route->top};
    route->finishes = 1;
    route->crowded = crowded ? 1 : 0;
    route->mends = mends ? 1 : 0;
    const bool even = run * static_cast<float>(Route::cells) <= rule.spread_even * n;
    if (spread && s * digit_bits == Route::cell_bits && route->verifies == 0 && route->kinds == 0) {
      if (may_gather(run, route->lie_together != 0) && !gathers_suffixes) {
        route->spreads = Route::gathered;
      } else if (even && may_spread()) {
        route->spreads = Route::to_chunks;
      }
    }
  }

  /// Long runs, most of which are of one kind: a team that looks at one has nothing to sort.
  KOKKOS_FUNCTION void choose_to_look(int s, int passes, float n) const {
    const float run = mean_of(route->pairs[s - 1], n), same = same_of(n);
    if (s >= passes || route->most[s - 1] > one_teams_work || same <= rule.run) return;
    const float mixed = 1 - mean_of(route->same, n) / run;
    if (mixed > rule.mixed) return;
    const float least = or_by_splitters(rule.look_gain, passes, n);
    if (!(gain_by_looking(s, passes, n, run, mixed) > least)) return;
    route->digits = {route->top - s * digit_bits, route->top};
    route->finishes = 1;
  }

  /// Runs of some scattered values, of which many keys are the same, are less even than those of keys that spread
  /// over all values.
  KOKKOS_FUNCTION float uneven(float run, float same, float n) const {
    if (run <= same || same <= 2 * n / values()) return 0;
    return 1.5f * Kokkos::sqrt((run - same) * (same + 1));
  }
  /// That keys may have as far as the sample knows.
  KOKKOS_FUNCTION float values() const {
    const int bits = route->top - all.begin;
    return static_cast<float>(std::uint64_t{1} << (bits < 63 ? bits : 63));
  }

  struct Sharing {
    float keys;
    bool is_met;  ///< by samples of all teams
  };
  /// How many keys one finds in its word of counters. A chunk spans what agrees in so many topmost bits that about a
  /// chunk's keys do; words are told apart by the next ones. How many keys agree with one is known for whole
  /// digits that were sampled, and taken to fall evenly from one to the next.
  KOKKOS_FUNCTION Sharing sharing_a_word(float n) const {
    constexpr int most = Route::most_sweeps + 3;
    float bits[most] = {0}, alike[most] = {Kokkos::log2(n)};
    const int all_bits = route->top - all.begin;
    int last = 0;
    float fall = 0;  // of the last step, a bit
    const int met = met_pairs > 0 ? met_bits(route->top) : 0;
    // So many pairs of so many.
    const auto add = [&](int at, std::uint64_t pairs, float of_all) {
      const float more = static_cast<float>(at) - bits[last];
      const auto seen = static_cast<float>(pairs), few = few_pairs();
      const float at_least = seen > few ? seen : few;
      // Few pairs are there by chance: most likely, what has fallen goes on falling.
      const float most = Kokkos::log2(at_least * n / of_all);
      const float further = alike[last] - fall * more;
      float value = seen < few && further < most ? further : most;
      // How they fall up to where all samples met is better known than by a few pairs.
      if (last > 0 && static_cast<int>(bits[last]) == met && further > value) {
        const float by_chance = value + 3 / Kokkos::sqrt(at_least);  // two deviations
        value = further < by_chance ? further : by_chance;
      }
      fall = value < alike[last] ? (alike[last] - value) / more : 0;
      ++last;
      bits[last] = static_cast<float>(at);
      alike[last] = alike[last - 1] - fall * more;
    };
    const auto add_met = [&](int before) {
      if (static_cast<float>(met) > bits[last] && met < before) add(met, route->met, met_pairs);
    };
    for (int level = sweeps.first; level < sweeps.end && level * digit_bits < all_bits; ++level) {
      const int at = level * digit_bits;
      add_met(at + 1);
      if (at != met) add(at, route->pairs[level - 1], sampled_pairs);
    }
    add_met(all_bits);
    const bool are_whole = met == all_bits;
    add(all_bits, are_whole ? route->met : route->same, are_whole ? met_pairs : sampled_pairs);
    const float chunk = Kokkos::log2(rule.run);
    int i = 0;
    while (i + 1 < last && alike[i + 1] > chunk) ++i;
    const float above = alike[i] > chunk ? alike[i] - chunk : 0;
    const float spanned =
        bits[i] + above * (bits[i + 1] - bits[i]) / (alike[i] - alike[i + 1] + 1e-6f);
    const float told = spanned + static_cast<float>(word_bits);
    while (i + 1 < last && bits[i + 1] < told) ++i;
    const float part = told < bits[i + 1] ? (told - bits[i]) / (bits[i + 1] - bits[i]) : 1;
    return {Kokkos::exp2(alike[i] + part * (alike[i + 1] - alike[i])),
            met > 0 && (are_whole || told <= static_cast<float>(met + 1))};
  }

  /// As far as so few pairs of each team tell: some more may be chance, as much as that adds to keys that spread.
  KOKKOS_FUNCTION bool tells_apart(float n) const {
    const Sharing sharing = sharing_a_word(n);
    if (sharing.is_met) return !are_close(n);
    constexpr float of_spread = 1, most_by_chance = 3;
    const float chance = Kokkos::sqrt(of_spread * n / sampled_pairs);
    return sharing.keys - (chance < most_by_chance ? chance : most_by_chance) <= rule.close;
  }

  /// No more than so many may be chance.
  KOKKOS_FUNCTION static float few_pairs() { return 3; }
  KOKKOS_FUNCTION float same_of(float n) const {
    const auto seen = static_cast<float>(route->same);
    return seen < few_pairs() ? 0 : seen * n / sampled_pairs;
  }
  KOKKOS_FUNCTION float mean_of(std::uint64_t pairs, float n) const {
    return n * static_cast<float>(pairs) / sampled_pairs;
  }
  /// Keys in the run of one after so many sweeps. The last digit tells no more than 256 of those before apart, even if by
  /// chance no pair was seen, or hardly any. (Of many, those that are the same are a part: other estimates differ from it.)
  KOKKOS_FUNCTION float run_after(int s, float n) const {
    constexpr std::uint64_t enough = 16;
    const float seen = mean_of(route->pairs[s - 1], n);
    if (route->pairs[s - 1] >= enough) return seen;
    const float least = s > sweeps.first ? mean_of(route->pairs[s - 2], n) / bin_count : 0;
    const int beyond = s * digit_bits - met_bits(route->top);
    const float told = beyond >= 0 ? together(n) * Kokkos::exp2(-static_cast<float>(beyond)) : 0;
    const float more = least > told ? least : told;
    return seen > more ? seen : more;
  }
  /// Those of them that are not the same as that one. What a digit leaves of those before is no less than the 256th part.
  KOKKOS_FUNCTION float differ_after(int s, float n) const {
    constexpr std::uint64_t enough = 16;
    const float same = mean_of(route->same, n), seen = run_after(s, n) - same;
    const bool sees_enough = route->pairs[s - 1] >= route->same + enough;
    if (s == sweeps.first || sees_enough || same >= mended_by_teams) return seen;
    const float least = (mean_of(route->pairs[s - 2], n) - same) / bin_count;
    return seen > least ? seen : least;
  }
  /// Are too many together for a finish?
  KOKKOS_FUNCTION bool are_close(float n) const {
    const bool are_whole = met_bits(route->top) == route->top - all.begin;
    return together(n) > (are_whole ? rule.same_of_all : rule.close_of_all);
  }
  /// Keys that agree with one in what a finish tells apart, where all samples meet.
  KOKKOS_FUNCTION float together(float n) const {
    return met_pairs > 0 ? n * static_cast<float>(route->met) / met_pairs : 0;
  }

  /// What a finish digit by digit saves beside sweeps over all digits, in ps an element, by times measured on
  /// an H200. It goes over the bits below the sweeps and those in which the runs of a chunk differ; or over one
  /// digit, but then kinds are looked up.
  KOKKOS_FUNCTION float gain_by_digits(int s, float n, float same) const {
    const float sweep = sweep_time(), pass = 3, window = 25, look_up = 6;
    const float list = 1.1f * sweep + 40e6f / n;  // and the first digit
    const float runs = rule.alone * static_cast<float>(std::uint64_t{1} << s * digit_bits) / n + 2;
    const int run_bits = runs < 1e18f ? bit_width_of(static_cast<std::uint64_t>(runs)) : 60;
    const int bits = route->top - s * digit_bits - all.begin + run_bits;
    const int digits = (bits + digit_bits - 1) / digit_bits;
    float more = (digits - 1) * pass + (digits - 1) / 2 * window;
    if (has_kinds && rule.alone <= rule.kinds * (same + 1) && more > look_up) more = look_up;
    const int sweeps_of_all = all_digits(passes(route->top), route->top).count();
    return static_cast<float>(sweeps_of_all - s) * sweep - list - more;
  }

  /// What splitters save beside sweeps over all digits, in ps an element, by times measured on an H100.
  KOKKOS_FUNCTION float gain_by_splitters(int passes, float n) const {
    return static_cast<float>(passes) * sweep_time() - 45 - 60e6f / n;
  }
  /// That, where it may be had and is more.
  KOKKOS_FUNCTION float or_by_splitters(float gain, int passes, float n) const {
    const float other = may_split() ? gain_by_splitters(passes, n) : gain;
    return other > gain ? other : gain;
  }

  /// So many keys alike, and a run of two kinds is long enough for a team: there are few such runs.
  static constexpr float mended_by_teams = 32;
  /// What mending saves beside the other sweeps, in ps an element, by times measured on an H200: it reads all keys,
  /// moves those that differ in their runs, past others that are the same, and copies all where an odd number of sweeps leaves
  /// them elsewhere. If only a part of all is swept, it is that much of each but of what differs.
  KOKKOS_FUNCTION float gain_by_mending(int s, int passes, float n, float differ, float same,
                                        float part = 1) const {
    const auto bytes = static_cast<float>(element_bytes), sweeps = static_cast<float>(passes - s);
    const float moved = same < 9 ? 12 + 4 * same : same < mended_by_teams ? 48 : 12;
    return part * (sweeps * sweep_time() - 0.4f * bytes - copy_after(s)) - moved * differ -
           40e6f / n;
  }
  /// The same after so many sweeps, if they may be chosen.
  KOKKOS_FUNCTION float gain_by_mending_later(int s, int passes, float n, float same) const {
    if (s >= sweeps.end || s >= passes) return -1e30f;
    return gain_by_mending(s, passes, n, differ_after(s, n), same);
  }
  KOKKOS_FUNCTION float copy_after(int sweeps) const {
    return in_place && sweeps % 2 == 1 ? 0.6f * static_cast<float>(element_bytes) : 0;
  }

  /// What looking at runs saves beside the other sweeps, in ps an element, by times measured on an H200. A run of two kinds is
  /// sorted by one team, digit by digit; two such kinds are twice as many keys. All are copied where an odd number of
  /// sweeps leaves them elsewhere.
  KOKKOS_FUNCTION float gain_by_looking(int s, int passes, float n, float run, float mixed) const {
    constexpr float teams = 264, of_a_team = 2.5f;  // that run; count and sweep
    const auto bytes = static_cast<float>(element_bytes), digits = static_cast<float>(passes - s);
    const float share = 2 * mixed > 2 * run * teams / n ? 2 * mixed : 2 * run * teams / n;
    return digits * sweep_time() * (1 - of_a_team * share) -
           (0.4f * bytes + copy_after(s) + 40e6f / n);
  }

  /// Digits above what the sample saw are not even counted; if a key varies there, they are counted anew. One
  /// pass more by narrower digits, which leave longer runs, costs less than a copy beside up to three wide ones.
  KOKKOS_FUNCTION DigitList all_digits(int passes, int top) const {
    const bool evens =
        in_place && with_values && passes % 2 == 1 && passes <= 3 && passes < all.count();
    const int digits = evens ? passes + 1 : passes;
    const int width = evens ? (top - all.begin + digits - 1) / digits : digit_bits;
    const int end = all.begin + digits * width;
    return {all.begin, end < all.end ? end : all.end, width};
  }
  /// Those who look at some keys miss rare bits, most likely the next ones: one digit more is soon counted, all keys are not. (A
  /// digit in which none differ is not swept.)
  KOKKOS_FUNCTION DigitList with_next_digit(int top) const {
    const DigitList digits = all_digits(passes(top), top);
    return digits.width == digit_bits ? with_next(digits) : digits;
  }
  KOKKOS_FUNCTION DigitList with_next(DigitList digits) const {
    const int end = digits.end + digit_bits;
    digits.end = end < all.end ? end : all.end;
    return digits;
  }
};

/// Nobody looks at what is shown.
struct NoLook {
  static constexpr int words = 0;

  template <class Team, class Bits>
  KOKKOS_FUNCTION void operator()(const Team&, const Bits*, int, Route*, std::uint32_t*) const {}
  template <class Codes>
  KOKKOS_FUNCTION void see(int, const Codes&, Route*) const {}
};

/// Teams count how many keys of a sample of theirs would stay together after 1, 2, ... sweeps; and look at order, for as
/// long as none has seen disorder. The last of them chooses.
template <class ExecutionSpace, class Codec, int Threads, class Look = NoLook>
struct SampleRuns {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Kinds = SampleKinds<ExecutionSpace, Codec, Threads>;
  using Table = typename Kinds::Table;
  static constexpr int samples = Kinds::samples;  ///< of one team
  static constexpr int each = samples / Threads, groups = Threads / L::width;
  /// Numbers of sweeps after which runs are looked at, and those of keys that are the same.
  static constexpr int most_levels = 1 + RouteRule::tried + 1;

  KeyOrder<Codec> order;
  SweepChoices sweeps;
  Kinds kinds;  ///< found by one more team, if wanted
  MetSamples met;
  Bits* shown;  ///< where each team shows some of its sample (null: nobody wants them)
  Look look;    ///< by the last team, at what is shown
  Route* route;
  ChooseRoute choose;

  static constexpr int shows = 32;

  struct Runs {
    std::uint32_t pairs, most;  ///< of keys in one run: all pairs, and the most keys (0: no two)
    int last[groups];  ///< the last place of each group's part at which a run starts (-1: none)
  };
  struct Scratch {
    union {
      Table table;  ///< of kinds
      struct {
        Bits codes[samples];
        Runs runs[most_levels];
      };
      std::uint32_t counts[Look::words + 1];
    };
    std::uint64_t sampled;  ///< teams
    KOKKOS_FUNCTION Scratch() {}
  };

  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  /// As many as give a good estimate, few enough to be cheap beside one read of the keys.
  static std::size_t teams(std::size_t count) {
    return std::clamp<std::size_t>(count / (16 * samples), 1, 128);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (route->chosen != 0) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    // (That team begins first, for it is the last to be done.)
    const int of_kinds = kinds.wanted() ? 1 : 0;
    if (team.league_rank() < of_kinds) {
      if constexpr (may_be_listed<Codec>) {
        const KindsInSample found = kinds(team, scratch.table);
        if (team.team_rank() == 0) {
          route->kinds = found.kinds;
          route->heavy = found.heavy;
          route->heavy_share = found.heavy_share;
          route->light_most = found.light_most;
        }
      }
    } else {
      sample_runs(team, team.league_rank() - of_kinds, scratch);
    }
    const auto teams = static_cast<std::uint64_t>(team.league_size());
    if (!leaves_last(team, &route->sampled, teams, scratch.sampled)) return;
    const int sampling = static_cast<int>(teams) - of_kinds;
    if (shown != nullptr) look(team, shown, sampling * shows, route, scratch.counts);
    if (team.team_rank() == 0) choose();
  }

  /// In order, keys of a run lie side by side, whatever the number of sweeps.
  KOKKOS_FUNCTION void sample_runs(const Team& team, int index, Scratch& scratch) const {
    const int thread = team.team_rank();
    const RandomPlaces places{order.count};
    const auto first =
        static_cast<std::uint32_t>(index) * samples + static_cast<std::uint32_t>(thread);
    std::size_t place[each];
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i)
      place[i] = places.of(first + static_cast<std::uint32_t>(i) * Threads);
    Bits bits[each];
    KRADIX_UNROLL  // on their way while the route is read
        for (int i = 0; i < each; ++i) bits[i] = order.codec.encode(order.keys[place[i]]);
    const int top = route->top;
    look.see(thread, bits, route);
    if (Disorder::leaves_hope(L::load(&route->disorder))) look_at_order(place);
    const auto mask = static_cast<Bits>(order.mask() & low_mask<Bits>(top));
    if constexpr (sizeof(Bits) <= 8) {
      Bits differ = 0;
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) differ |= bits[i] ^ static_cast<Bits>(route->above);
      differ &= static_cast<Bits>(order.mask() & ~low_mask<Bits>(top));
      if (differ != 0) Kokkos::atomic_max(&route->reach, bit_width_of(differ));
    }
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      scratch.codes[i * Threads + thread] = static_cast<Bits>(bits[i] & mask);
    }
    for (int level = thread; level < most_levels; level += Threads) {
      scratch.runs[level].pairs = scratch.runs[level].most = 0;
    }
    team.team_barrier();
    sort_by_merges<Threads, samples>(team, scratch.codes, samples,
                                     [](const Bits& a, const Bits& b) { return a < b; });
    if (shown != nullptr) show(thread, top, index, scratch.codes);
    if (met.words != nullptr) meet(thread, top - choose.met_bits(top), scratch.codes);
    const int all = sweeps.count();
    int level_of[each];
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      level_of[i] = first_level(scratch.codes, thread * each + i, top, all);
    }
    KRADIX_ROLLED
    for (int level = 0; level <= all; ++level) find_last(thread, level_of, level, scratch);
    team.team_barrier();
    KRADIX_ROLLED
    for (int level = 0; level <= all; ++level) count_runs(thread, level_of, level, scratch);
    team.team_barrier();
    for (int level = thread; level <= all; level += Threads) {
      const Runs& runs = scratch.runs[level];
      if (runs.pairs == 0) continue;
      if (level == all) {
        Kokkos::atomic_add(&route->same, std::uint64_t{runs.pairs});
      } else if (top - (sweeps.first + level) * digit_bits >= order.all.begin) {
        const int sweep = sweeps.first + level - 1;
        Kokkos::atomic_add(&route->pairs[sweep], std::uint64_t{runs.pairs});
        Kokkos::atomic_max(&route->most[sweep], runs.most);
      }
    }
  }

  /// At even distances, with the bits above the sample's.
  KOKKOS_FUNCTION void show(int thread, int top, int index, const Bits* codes) const {
    constexpr int step = samples / shows;
    // Those of all teams, too, lie at even distances where somebody looks at that.
    const int first = std::is_same_v<Look, NoLook> ? step / 2 : index * 11 % step;
    const auto above = static_cast<Bits>(order.codec.encode(order.keys[0]) & ~low_mask<Bits>(top));
    for (int i = thread; i < shows; i += Threads) {
      shown[index * shows + i] = static_cast<Bits>(codes[i * step + first] | above);
    }
  }

  /// Those of this team that agree from a bit on are one.
  KOKKOS_FUNCTION void meet(int thread, int shift, const Bits* codes) const {
    std::uint32_t pairs = 0;
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      const int first = thread * each + i;
      const auto agree = static_cast<Bits>(codes[first] >> shift);
      if (first > 0 && static_cast<Bits>(codes[first - 1] >> shift) == agree) continue;
      int end = first + 1;
      while (end < samples && end - first < MetSamples::most &&
             static_cast<Bits>(codes[end] >> shift) == agree) {
        ++end;
      }
      const int own = end - first;
      pairs += met.add(agree, own) + static_cast<std::uint32_t>(own * (own - 1) / 2);
    }
    const int lane = L::lane(thread);
    pairs += L::scan(pairs, lane);
    if (lane == L::width - 1 && pairs > 0) Kokkos::atomic_add(&route->met, std::uint64_t{pairs});
  }

  KOKKOS_FUNCTION void look_at_order(const std::size_t* place) const {
    std::uint32_t disorder = 0;
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) order.look_at(place[i], disorder);
    if (disorder != 0) Disorder::tell<ExecutionSpace>(&route->disorder, disorder);
  }

  /// From which number of sweeps on the key begins a run: from that one on it differs from the key before. `all`: the
  /// sweeps leave both in one, but they are not the same; beyond that they are.
  KOKKOS_FUNCTION int first_level(const Bits* codes, int place, int top, int all) const {
    if (place == 0) return 0;
    const auto differ = static_cast<Bits>(codes[place] ^ codes[place - 1]);
    if (differ == 0) return all + 1;
    const int agree = top - bit_width_of(differ);
    const int level = agree / digit_bits + 1 - sweeps.first;
    return level < 0 ? 0 : level < all ? level : all;
  }
  /// The last place of a thread's part at which a run starts, or -1.
  KOKKOS_FUNCTION static int last_start(int thread, const int* level_of, int level) {
    int last = -1;
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) last = level_of[i] <= level ? thread * each + i : last;
    return last;
  }
  KOKKOS_FUNCTION static int of_lane(int value, int lane) {
    return static_cast<int>(L::of_lane(static_cast<std::uint32_t>(value), lane));
  }

  KOKKOS_FUNCTION static void find_last(int thread, const int* level_of, int level,
                                        Scratch& scratch) {
    const int last = last_start(thread, level_of, level);
    const auto some = L::where(last >= 0);
    const int last_of_group = of_lane(last, some != 0 ? bit_width_of(some) - 1 : 0);
    if (L::lane(thread) == 0) scratch.runs[level].last[thread / L::width] = last_of_group;
  }

  /// Each key with those before it in its run.
  KOKKOS_FUNCTION static void count_runs(int thread, const int* level_of, int level,
                                         Scratch& scratch) {
    using Mask = typename L::Mask;
    Runs& runs = scratch.runs[level];
    const int last = last_start(thread, level_of, level), lane = L::lane(thread);
    const auto below = static_cast<Mask>(L::where(last >= 0) & ((Mask{1} << lane) - 1));
    int start = of_lane(last, below != 0 ? bit_width_of(below) - 1 : lane);
    if (below == 0) {
      int group = thread / L::width;
      do {
        start = group > 0 ? runs.last[--group] : 0;
      } while (start < 0);
    }
    std::uint32_t pairs = 0, most = 0;
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      const int place = thread * each + i;
      if (level_of[i] <= level) start = place;
      const auto met = static_cast<std::uint32_t>(place - start);
      pairs += met;
      if (met > 0 && met >= most) most = met + 1;
    }
    if (pairs == 0) return;
    Kokkos::atomic_add(&runs.pairs, pairs);
    Kokkos::atomic_max(&runs.most, most);
  }
};

}  // namespace kradix::impl
