// A first look at a few keys by one team: where they begin to differ, whether they may be in order, whether they
// spread so evenly that nothing more need be known of them, and whether they are of few kinds.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/dealing.hpp"
#include "kradix/impl/device/key_order.hpp"
#include "kradix/impl/device/ranging.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/sample_kinds.hpp"
#include "kradix/impl/device/sample_places.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/value_cells.hpp"

namespace kradix::impl {

/// Pairs of a sample that agree in their topmost 16 varying bits, and in more. Each key counts into one of 65536 counters
/// of four bits; the few that meet another there are then looked up by as many bits as tell them apart in a finish, and what
/// is found so is compared by all that a word holds.
template <class ExecutionSpace, class Bits, int Threads>
struct PairsAtAGlance {
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int each = GlancedPairs::samples / Threads;
  static constexpr int cell_bits = GlancedPairs::cell_bits, most_told = 32;
  static constexpr int cells_in_word = 8, slot_bits = 11;
  static constexpr std::uint32_t most_in_cell = 5, most_pairs = 512;
  static constexpr std::uint32_t most_listed = 960;  ///< all that there is scratch for
  /// A slot holds which of the listed keys came first, plus one, and above that how often such keys came again.
  static constexpr std::uint32_t again = 1u << 10;
  static_assert(most_listed < again);
  static_assert(2 * most_pairs <= 1 << slot_bits);

  struct Scratch {
    std::uint32_t cells[(1 << cell_bits) / cells_in_word];
    std::uint32_t slots[1 << slot_bits];
    std::uint32_t listed[most_listed];  ///< topmost bits of keys that are looked up
    std::uint32_t pairs, close_pairs, same_pairs, is_crowded, lists;
    float uneven;
  };

  Scratch& scratch;

  KOKKOS_FUNCTION void clear(const Team& team) const {
    for (int i = team.team_rank(); i < (1 << cell_bits) / cells_in_word; i += Threads) {
      scratch.cells[i] = 0;
    }
    for (int i = team.team_rank(); i < 1 << slot_bits; i += Threads) scratch.slots[i] = 0;
    if (team.team_rank() == 0) {
      scratch.pairs = scratch.close_pairs = scratch.same_pairs = 0;
      scratch.is_crowded = scratch.lists = 0;
      scratch.uneven = 0;
    }
  }

  /// Once they have been counted: how much more than by chance equal parts of all cells differ from what they hold where keys lie
  /// evenly between two places, in such parts: the sum of squared differences, each over what is expected (Pearson's chi squared).
  KOKKOS_FUNCTION float unevenness(const Team& team, float begin, float end) const {
    constexpr int words = (1 << cell_bits) / cells_in_word / GlancedPairs::parts;
    static_assert(cells_in_word == 8);
    const int lane = L::lane(team.team_rank());
    for (int part = team.team_rank() / L::width; part < GlancedPairs::parts;
         part += Threads / L::width) {
      std::uint32_t keys = 0;
      for (int w = lane; w < words; w += L::width) {
        const std::uint32_t word = scratch.cells[part * words + w];
        const std::uint32_t twos = (word & 0x0f0f0f0fu) + (word >> 4 & 0x0f0f0f0fu);
        keys += twos * 0x01010101u >> 24;
      }
      keys += L::scan(keys, lane);
      const auto first = static_cast<float>(part);
      const float from = first > begin ? first : begin, to = first + 1 < end ? first + 1 : end;
      const float share = to > from ? (to - from) / (end - begin) : 0;
      // (Of what is expected to hold next to none even a few are no sign.)
      const float expected = GlancedPairs::samples * share + 1;
      const float more = static_cast<float>(keys) - expected;
      if (lane == L::width - 1) Kokkos::atomic_add(&scratch.uneven, more * more / expected);
    }
    team.team_barrier();
    return scratch.uneven;
  }

  /// Of keys that vary below `top`, in `varying` bits, more than 16; by `told` of them keys are looked up. Begins where scratch is
  /// clear, and ends with a barrier.
  KOKKOS_FUNCTION GlancedPairs count(const Team& team, const Bits* bits, int top, int varying,
                                     int told) const {
    std::uint32_t pairs = 0;
    bool crowded = false;
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      const std::uint32_t cell = cell_of(bits[i], top), shift = shift_of(cell);
      const std::uint32_t before =
          in_cell(L::add(&scratch.cells[word_of(cell)], 1u << shift), shift);
      pairs += before;
      crowded = crowded || before >= most_in_cell;
    }
    if (pairs != 0) Kokkos::atomic_add(&scratch.pairs, pairs);
    if (crowded) scratch.is_crowded = 1;  // before a counter overflows
    team.team_barrier();
    GlancedPairs found{scratch.pairs, 0, 0, scratch.is_crowded != 0 || scratch.pairs > most_pairs};
    if (found.is_crowded) return found;
    const int listed_bits = varying < most_told ? varying : most_told;
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      const std::uint32_t cell = cell_of(bits[i], top);
      if (in_cell(scratch.cells[word_of(cell)], shift_of(cell)) < 2) continue;
      const std::uint32_t place = L::add(&scratch.lists, 1u);
      if (place < most_listed) scratch.listed[place] = topmost(bits[i], top, listed_bits);
    }
    team.team_barrier();
    const std::uint32_t listed = scratch.lists;
    found.is_crowded = listed > most_listed;
    if (found.is_crowded) return found;
    // All at once: each takes several steps, one after the other.
    const int shift = told < listed_bits ? listed_bits - told : 0;
    KRADIX_ROLLED
    for (std::uint32_t i = team.team_rank(); i < listed; i += Threads) look_up(i, shift);
    team.team_barrier();
    found.close_pairs = scratch.close_pairs;
    found.same_pairs = scratch.same_pairs;
    return found;
  }

 private:
  KOKKOS_FUNCTION static std::uint32_t cell_of(Bits bits, int top) {
    return static_cast<std::uint32_t>(bits >> (top - cell_bits)) & ((1u << cell_bits) - 1);
  }
  KOKKOS_FUNCTION static std::uint32_t word_of(std::uint32_t cell) { return cell / cells_in_word; }
  KOKKOS_FUNCTION static std::uint32_t shift_of(std::uint32_t cell) {
    return cell % cells_in_word * (32 / cells_in_word);
  }
  KOKKOS_FUNCTION static std::uint32_t in_cell(std::uint32_t word, std::uint32_t shift) {
    return word >> shift & ((1u << 32 / cells_in_word) - 1);
  }

  KOKKOS_FUNCTION static std::uint32_t topmost(Bits bits, int top, int used) {
    return static_cast<std::uint32_t>(bits >> (top - used)) & low_mask<std::uint32_t>(used);
  }
  /// By all but the lowest bits of what is listed.
  KOKKOS_FUNCTION void look_up(std::uint32_t nth, int shift) const {
    const std::uint32_t mine = scratch.listed[nth];
    std::uint32_t slot = (mine >> shift) * 0x9e3779b9u >> (32 - slot_bits);
    KRADIX_ROLLED
    for (;;) {
      const std::uint32_t found =
          Kokkos::atomic_compare_exchange(&scratch.slots[slot], 0u, nth + 1);
      if (found == 0) return;
      const std::uint32_t other = scratch.listed[(found & (again - 1)) - 1];
      if (other >> shift == mine >> shift) {
        if (other == mine) L::add(&scratch.same_pairs, 1u);
        Kokkos::atomic_add(&scratch.close_pairs, L::add(&scratch.slots[slot], again) / again + 1);
        return;
      }
      slot = (slot + 1) & ((1u << slot_bits) - 1);
    }
  }
};

/// Begins the route, and may choose it.
template <class ExecutionSpace, class Codec, int Threads, bool MaySweepByValue = false,
          bool MayRange = false>
struct Glance {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Combined = CombinedBits<ExecutionSpace, Threads, Bits>;
  using Pairs = PairsAtAGlance<ExecutionSpace, Bits, Threads>;
  using Kinds = SampleKinds<ExecutionSpace, Codec, Threads>;
  static constexpr int each = Pairs::each;
  static_assert(each == Kinds::least_rounds * Kinds::each);
  static constexpr int short_parts = 256, long_parts = GlancedPairs::parts;
  static constexpr std::uint32_t unit_of_uneven = 16;

  KeyOrder<Codec> order;
  ChooseRoute choose;
  bool is_all;                           ///< nobody looks at more samples
  Kinds kinds;                           ///< looked for, if wanted, where keys crowd
  ValueSweeps<Key>* by_value = nullptr;  ///< begun here, if floats may be swept so
  DealTerms* terms = nullptr;            ///< of bins, if keys may be dealt out to so many
  std::uint32_t bins = 0;
  RangeTerms* range = nullptr;  ///< if keys may be sorted by bins of a short range, by that shape
  Ranging ranging{};

  /// Of a range.
  struct Parts {
    std::uint32_t keys[short_parts];
    std::uint32_t uneven[2];  ///< in short parts and in long ones
  };
  struct Scratch {
    std::uint64_t differ[Combined::words];
    Bits least, greatest;
    std::uint32_t disorder;
    std::uint32_t beside;  ///< keys that share the topmost digit with the next one
    bool chosen;
    bool far;  ///< from each other are some keys, for a short range
    union {
      typename Pairs::Scratch pairs;
      typename Kinds::Table kinds;
    };
    KOKKOS_FUNCTION Scratch() {}
    /// Where pairs have been looked up.
    KOKKOS_FUNCTION Parts& parts() {
      static_assert(sizeof(Parts) <= sizeof(pairs.slots));
      return *reinterpret_cast<Parts*>(pairs.slots);
    }
  };
  // Nobody has to be asked for more.
  static_assert(sizeof(Bits) > 8 ||
                sizeof(Scratch) + sizeof(std::uint64_t) * (Threads + 2) <= 48 << 10);

  KOKKOS_FUNCTION void operator()(const Team& team, Scratch& scratch) const {
    const int thread = team.team_rank();
    const SamplePlaces places(order.count, GlancedPairs::samples);
    const Bits first = order.codec.encode(order.keys[0]);
    Key key[each];
    constexpr int step = GlancedPairs::order_step;
    Bits bits[each], from_next[each / step], differ = 0;
    std::uint32_t disorder = 0;
    const Bits mask = order.mask();
    // Unrolled, all loads are under way at once.
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      const std::size_t sample = places.of(nth_of(thread, i));
      const std::size_t place = sample < order.count ? sample : 0;
      key[i] = order.keys[place];
      if (i % step != 0) continue;
      from_next[i / step] = order.look_at(place, disorder);
    }
    if (thread == 0) {
      scratch.disorder = scratch.beside = 0;
      scratch.far = false;
    }
    const Pairs pairs{scratch.pairs};
    pairs.clear(team);
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      bits[i] = order.codec.encode(key[i]);
      differ |= bits[i] ^ first;
      // Runs in order, one behind the other, show where samples lie one behind the other.
      const std::size_t nth = nth_of(thread, i);
      if (i > 0 && nth > 0 && places.of(nth) < order.count)
        disorder |= order.disorder(bits[i - 1] & mask, bits[i] & mask);
    }
    team.team_barrier();
    if constexpr (MayRange) {
      constexpr Bits most = Bits{1} << Ranging::most_bits;
      bool far = false;
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i)
        far = far || static_cast<Bits>(bits[i] - first + most) >= 2 * most;
      if (far) scratch.far = true;
    }
    const auto found = static_cast<std::uint32_t>(L::combine(disorder));
    if (L::lane(thread) == 0 && found != 0) Kokkos::atomic_or(&scratch.disorder, found);
    const int top =
        bit_width_of(static_cast<Bits>(Combined::over(team, differ, scratch.differ) & mask));
    const bool lie_together = choose.gathers && are_beside(team, from_next, top, scratch);
    GlancedPairs seen{0, 0, 0, true};
    if (choose.may_tell_at_a_glance(top))
      seen = pairs.count(team, bits, top, top - order.all.begin, choose.told_bits(top));
    const std::uint32_t disordered = scratch.disorder;
    if constexpr (MaySweepByValue) {
      if (by_value != nullptr) {
        if (thread == 0) by_value->passes.count = 0;
        const bool looks = !Disorder::leaves_hope(disordered) && choose.may_tell_at_a_glance(top) &&
                           !choose.spread_evenly(seen);
        if (looks && look_at_values(team, bits, top, scratch)) return;
      }
    }
    KindsInSample found_kinds;
    if constexpr (may_be_listed<Codec>) {
      if (kinds.wanted() && seen.is_crowded && !Disorder::leaves_hope(disordered)) {
        team.team_barrier();
        Kinds wanted = kinds;
        // Labels of two digits take as long as keys of two, or of three that need no copy.
        const int as_long = choose.in_place ? 2 : 3;
        const bool moves_keys = top - order.all.begin <= as_long * digit_bits;
        if (kinds.with_values && moves_keys && wanted.most > bin_count) wanted.most = bin_count;
        found_kinds = wanted.among(team, scratch.kinds, key);
      }
    }
    if constexpr (MayRange) {
      const bool looks = range != nullptr && top - order.all.begin > choose.rule.swept_range &&
                         !scratch.far && !Disorder::leaves_hope(disordered) &&
                         found_kinds.kinds == 0 && found_kinds.heavy == 0;
      if (looks && look_at_range(team, bits, top, scratch)) return;
    }
    const bool asks = choose.gathers || terms != nullptr;
    const bool spread = asks && choose.spread_evenly(seen) && !Disorder::leaves_hope(disordered);
    Span span{};
    if constexpr (may_be_dealt<ExecutionSpace, Codec>)  // or gathered
      if (spread) span = span_of(team, bits, top, scratch);
    if (thread == 0) {
      choose.at_a_glance(seen, span.even, top, disordered, lie_together, is_all, found_kinds);
      if constexpr (sizeof(Bits) <= 8)
        choose.route->above = static_cast<Bits>(first & ~low_mask<Bits>(top));
    }
    if constexpr (may_be_dealt<ExecutionSpace, Codec>) {
      const bool deals = spread && span.even && terms != nullptr;
      if (deals && !are_beside(team, from_next, top, scratch) && thread == 0) deal(seen, span);
    }
  }

 private:
  /// Which sample. Runs that end at multiples of a power of two, as they often do, end between two of one thread's.
  KOKKOS_FUNCTION static std::size_t nth_of(int thread, int i) {
    static_assert(each / 2 % GlancedPairs::order_step == 0);
    return static_cast<std::size_t>(thread * each + i + each / 2) % GlancedPairs::samples;
  }
  /// Do seven keys of eight share the topmost digit with the next one?
  KOKKOS_FUNCTION bool are_beside(const Team& team,
                                  const Bits (&from_next)[each / GlancedPairs::order_step], int top,
                                  Scratch& scratch) const {
    const int shift = top > digit_bits ? top - digit_bits : 0;
    std::uint32_t beside = 0;
    KRADIX_UNROLL
    for (const Bits& differ : from_next) beside += (differ >> shift) == 0 ? 1 : 0;
    const int lane = L::lane(team.team_rank());
    beside += L::scan(beside, lane);
    if (lane == L::width - 1 && beside > 0) L::add(&scratch.beside, beside);
    team.team_barrier();
    constexpr std::uint32_t looked = GlancedPairs::samples / GlancedPairs::order_step;
    return scratch.beside > looked / 8 * 7;
  }

  /// Do they spread evenly enough over their values?
  KOKKOS_FUNCTION bool look_at_values(const Team& team, const Bits (&bits)[each], int top,
                                      Scratch& scratch) const {
    using Steps = ValueSteps<double>;
    constexpr int told = 27;  // that steps tell apart
    find_ends(team, bits, scratch);
    const Bits least = beyond(scratch.least, scratch.greatest),
               greatest = beyond(scratch.greatest, scratch.least);
    const auto steps = Steps::between(value_of(least), value_of(greatest), told);
    const float same = keys_of_a_value(value_of_code(order.codec, scratch.least),
                                       value_of_code(order.codec, scratch.greatest),
                                       static_cast<float>(order.count));
    if (!steps.exist() || !(same < choose.rule.by_value_alike)) return false;
    Bits places[each];
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      places[i] = steps.of(value_of(bits[i]));
    }
    const Pairs pairs{scratch.pairs};
    pairs.clear(team);
    team.team_barrier();
    const GlancedPairs seen = pairs.count(team, places, told, told, choose.told_bits(told));
    if (team.team_rank() == 0) {
      scratch.chosen =
          choose.by_value_at_a_glance(seen, top, static_cast<Bits>(~least), greatest, is_all);
      if (scratch.chosen) by_value->cells = ValueCells<Key>::of(order.codec, *choose.route);
    }
    team.team_barrier();
    return scratch.chosen;
  }

  /// Do keys spread evenly over a range so short that bins of it are sorted by what is left? By Pearson's chi squared of its parts: of
  /// short ones, which a frequent value fills, and of long ones, by which a density varies.
  KOKKOS_FUNCTION bool look_at_range(const Team& team, const Bits (&bits)[each], int top,
                                     Scratch& scratch) const {
    constexpr std::uint32_t most_uneven_short = 330;  // of 255 degrees: as seldom by chance
    Parts& parts = scratch.parts();
    find_ends(team, bits, scratch);
    const int thread = team.team_rank();
    const Bits least = scratch.least;
    if (thread == 0) {
      *range = range_between(least, scratch.greatest);
      scratch.chosen = range->exist();
      parts.uneven[0] = parts.uneven[1] = 0;
    }
    for (int part = thread; part < short_parts; part += Threads) parts.keys[part] = 0;
    team.team_barrier();
    if (!scratch.chosen) return false;
    const float values = static_cast<float>(scratch.greatest - least) + 1;
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      const float part = static_cast<float>(bits[i] - least) * short_parts / values;
      L::increment(&parts.keys[part < short_parts ? static_cast<int>(part) : short_parts - 1]);
    }
    team.team_barrier();
    add_unevenness<short_parts>(thread, values, parts.keys, &parts.uneven[0]);
    add_unevenness<long_parts>(thread, values, parts.keys, &parts.uneven[1]);
    team.team_barrier();
    if (parts.uneven[0] > most_uneven_short * unit_of_uneven ||
        static_cast<float>(parts.uneven[1]) > choose.rule.most_uneven * unit_of_uneven)
      return false;
    if (thread == 0) choose.begin_without_digits(Route::ranged, top);
    return true;
  }
  /// As far as bits that do not count are the same.
  KOKKOS_FUNCTION RangeTerms range_between(Bits least, Bits greatest) const {
    const Bits counted = low_mask<Bits>(order.all.end);
    if (order.all.begin > 0 || ((least ^ greatest) & ~counted) != 0) return RangeTerms{};
    const auto lowest = static_cast<Bits>(least & ~counted),
               highest = static_cast<Bits>(least | counted);
    const auto farther = static_cast<Bits>((greatest - least) / Ranging::beyond);
    return RangeTerms::between(least - lowest > farther ? least - farther : lowest,
                               highest - greatest > farther ? greatest + farther : highest,
                               ranging);
  }
  /// Of so many parts.
  template <int Parts>
  KOKKOS_FUNCTION static void add_unevenness(int thread, float values,
                                             const std::uint32_t* in_short_parts,
                                             std::uint32_t* uneven) {
    constexpr int all = short_parts / Parts;
    const float of_part = values / Parts, of_value = GlancedPairs::samples / values;
    constexpr int rounds = (Parts + Threads - 1) / Threads;
    std::uint32_t sum = 0;
    for (int round = 0; round < rounds; ++round) {
      const int part = round * Threads + thread;
      if (part >= Parts) continue;
      std::uint32_t keys = 0;
      for (int i = 0; i < all; ++i) keys += in_short_parts[part * all + i];
      // Parts have whole values.
      const auto nth = static_cast<float>(part);
      const float expected =
          (Kokkos::ceil((nth + 1) * of_part) - Kokkos::ceil(nth * of_part)) * of_value + 1;
      const float more = static_cast<float>(keys) - expected;
      sum += static_cast<std::uint32_t>(more * more / expected * unit_of_uneven);
    }
    sum = L::sum(sum);
    if (L::lane(thread) == 0 && sum > 0) L::add(uneven, sum);
  }

  KOKKOS_FUNCTION double value_of(Bits code) const { return value_of_code(order.codec, code); }
  /// So few see nothing of what lies farthest out, which would crowd the outermost cells.
  KOKKOS_FUNCTION Bits beyond(Bits end, Bits other) const {
    const auto value = value_of_code(order.codec, end);
    const auto farther = value + (value - value_of_code(order.codec, other)) / 8;
    return order.codec.encode(Kokkos::bit_cast<Key>(farther));
  }

  /// The codes between which a sample's keys lie, and a little farther out, for so few see nothing of what lies farthest.
  struct Span {
    Bits first = 0, last = 0;
    float filled = 0;  ///< so much of the codes that bits below the topmost that varies make
    bool even = false;
  };
  KOKKOS_FUNCTION Span span_of(const Team& team, const Bits (&bits)[each], int top,
                               Scratch& scratch) const {
    find_ends(team, bits, scratch);
    const Bits least = scratch.least, greatest = scratch.greatest,
               beyond = static_cast<Bits>((greatest - least) / Dealing::beyond);
    const auto all = static_cast<Bits>(~Bits{0});
    const Bits first = least > beyond ? static_cast<Bits>(least - beyond) : Bits{0};
    const Bits last = greatest < all - beyond ? static_cast<Bits>(greatest + beyond) : all;
    // In parts, from the first code with the same bits above.
    const float part = GlancedPairs::parts * Kokkos::exp2(static_cast<float>(-top));
    const auto parts_to = [&](Bits code) {
      return static_cast<float>(static_cast<Bits>(code & low_mask<Bits>(top))) * part;
    };
    const auto above = static_cast<Bits>(least & ~low_mask<Bits>(top));
    const float begin = first > above ? parts_to(first) : 0;
    const float end = static_cast<Bits>(last ^ above) <= low_mask<Bits>(top)
                          ? parts_to(last)
                          : static_cast<float>(GlancedPairs::parts);
    const float uneven = Pairs{scratch.pairs}.unevenness(team, begin, end);
    return {first, last, static_cast<float>(last - first) * part / GlancedPairs::parts,
            uneven <= choose.rule.most_uneven};
  }

  /// What spreads evenly there.
  KOKKOS_FUNCTION void deal(const GlancedPairs& seen, const Span& span) const {
    const DealTerms found = DealTerms::between(span.first, span.last, bins);
    if (!found.exist() || !choose.may_deal(seen, span.filled)) return;
    *terms = found;
    choose.route->spreads = Route::dealt;
    choose.route->digits = {order.all.end, order.all.end};
  }

  KOKKOS_FUNCTION void find_ends(const Team& team, const Bits (&bits)[each],
                                 Scratch& scratch) const {
    if (team.team_rank() == 0) {
      scratch.least = static_cast<Bits>(~Bits{0});
      scratch.greatest = 0;
    }
    const auto ends = CodeEnds<Bits>::template of<L>(bits);
    team.team_barrier();
    if (L::lane(team.team_rank()) == 0) {
      Kokkos::atomic_min(&scratch.least, ends.least);
      Kokkos::atomic_max(&scratch.greatest, ends.greatest);
    }
    team.team_barrier();
  }
};

/// One team glances; others clear what else must be zero.
template <class Glance, class Clear>
struct GlanceAtKeys {
  using Team = typename Glance::Team;
  using Scratch = typename Glance::Scratch;

  Glance glance;
  Clear clear;

  static std::size_t scratch_bytes() { return sizeof(Scratch); }
  std::size_t teams() const { return 1 + clear.teams(); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (team.league_rank() > 0) {
      clear.clear(team, team.league_rank() - 1, team.league_size() - 1);
    } else {
      glance(team, *take_scratch<Scratch>(team, 1));
    }
  }
};

}  // namespace kradix::impl
