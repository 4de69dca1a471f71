// A chunk sorted by one team without leaving it, whatever its keys: words of up to 19 bits of an element's key and of
// its place are sorted in scratch by up to three digits; then the elements follow.
//
// Where more bits vary, the keys are looked up in a table in scratch first: if they are of few kinds, a key's
// rank among the kinds is its digit. If not, the words are sorted by 16 bits, from the lowest up, whose place the next
// ones take. Where that would be more than twice, the words hold the topmost bits first, and short runs of elements that
// these leave alike are put in order by insertion.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/count_kinds.hpp"
#include "kradix/impl/device/sweep_tile.hpp"

namespace kradix::impl {

template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct ChunkPasses {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Words = WordCodec<std::uint32_t, false>;
  using Tile = SweepTile<ExecutionSpace, Words, NoValue, Shape, LoneTiles>;
  using Registers = typename Tile::Registers;
  using Combined = CombinedBits<ExecutionSpace, Shape.threads, Bits>;
  using Slots = KindSlots<Bits, 9>;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr int threads = Shape.threads, items = Shape.items, most = threads * items;
  static constexpr int place_bits = 13, most_window_bits = 32 - place_bits;
  static constexpr int window_bits = 2 * digit_bits;  ///< where one window is not enough
  static constexpr std::uint32_t most_kinds = bin_count;
  static constexpr bool may_have_kinds = sizeof(Bits) <= 8;
  /// May a key be made again from its code?
  static constexpr bool decodes = may_have_kinds && requires(Codec c, Bits b) { c.decode(b); };
  static_assert(most < 1 << place_bits);

  Codec codec;
  DigitList all;

  /// Kinds of keys as they are found. The code 0 has a slot of its own and is always listed.
  struct Kinds {
    Bits slots[Slots::count + 1];
    Bits listed[most_kinds];
    std::uint16_t slot_of_listed[most_kinds];
    std::uint16_t rank[Slots::count + 1];  ///< of the kind in a slot
    std::uint16_t slot[most];              ///< of each element
    std::uint32_t count;
  };
  using Elements = TeamElements<Key, Value>;

  /// The bits of codes that words hold: as many as they can, or a part of them.
  struct Window {
    int shift, passes;

    KOKKOS_FUNCTION std::uint32_t of(Bits code) const {
      return static_cast<std::uint32_t>(code >> shift);
    }
  };

  using Mask = typename L::Mask;
  static constexpr int mask_count = most / L::width;
  static constexpr int most_inserted = 32;  ///< elements of a run that one thread puts in order
  /// Words in order, and which of them are alike the one before, or should not come behind it.
  struct Runs {
    typename Tile::Scratch tile;
    Mask alike[mask_count], wrong[mask_count];
  };

  union Steps {
    Runs runs;
    std::conditional_t<may_have_kinds, Kinds, char> kinds;
    Key keys[most];
    std::uint64_t seen[Combined::words];
    KOKKOS_FUNCTION Steps() {}
  };
  /// Do values find room beside all else, and so come with the keys? (Kokkos gives a team 48 KB.)
  static constexpr bool values_come_early =
      with_values && sizeof(Steps) + sizeof(Value) * most <= (44 << 10);
  struct Scratch {
    union {
      Steps steps;
      std::conditional_t<with_values && !values_come_early, Value, char> late_values[most];
    };
    std::conditional_t<values_come_early, Value, char> early_values[values_come_early ? most : 1];
    Bits kind[decodes ? most_kinds : 1];  ///< by rank
    // What all steps want to know lies here, for registers are scarce while words are sorted.
    Elements elements;
    Bits first;  ///< key of the first run, as far as that agrees
    Bits
        varying;  ///< in which codes differ, if words do not hold all of them; or what is left of these
    Window window;
    std::uint32_t wrong;        ///< words that come behind others and should not
    std::uint32_t is_too_long;  ///< a run of these
    bool are_kinds;             ///< that words hold
    bool are_topmost;           ///< the bits that words hold at first, of more
    bool makes_keys;
    KOKKOS_FUNCTION Scratch() {}
  };

  /// All keys agree in the bits from `swept` on, or come in their order.
  KOKKOS_FUNCTION void sort(const Team& team, const Elements& elements, int swept,
                            Scratch& scratch) const {
    Registers words;
    begin(team, elements, swept, scratch, words);
    if (scratch.varying != 0) use_kinds(team, scratch, words);
    KRADIX_ROLLED
    for (int window = 0;; ++window) {
      KRADIX_ROLLED
      for (int pass = 0; pass < scratch.window.passes; ++pass) {
        sort_words(team, place_bits + pass * digit_bits, scratch.steps.runs.tile, words);
      }
      if (scratch.varying == 0) break;
      if (window == 0 && scratch.are_topmost && mend_runs(team, scratch, words)) break;
      take_next_digits(team, scratch, words);
    }
    write(team, scratch, words);
  }

 private:
  /// A thread's elements, in the order in which a stable pass ranks them.
  struct Mine {
    int first;  ///< place; the next ones follow at lengths of a group
    int count;  ///< that exist, of `items`

    KOKKOS_FUNCTION Mine(const Team& team, int size) : first(Tile::place_of(team.team_rank(), 0)) {
      count = size > first ? (size - first + L::width - 1) / L::width : 0;
    }
    /// One of an element beyond the end comes last by any digit.
    KOKKOS_FUNCTION std::uint32_t word(int i, std::uint32_t digits) const {
      return (i < count ? digits : ~0u) << place_bits |
             static_cast<std::uint32_t>(first + i * L::width);
    }
  };
  KOKKOS_FUNCTION static std::uint32_t place_in(std::uint32_t word) {
    return word & low_mask<std::uint32_t>(place_bits);
  }

  /// A key by the bits that count, less those of the chunk's first run.
  KOKKOS_FUNCTION Bits code_of(const Key& key, Bits first) const {
    return static_cast<Bits>((codec.encode(key) & bits_between<Bits>(all.begin, all.end)) - first);
  }
  /// Of any that exists, for a place beyond the end.
  KOKKOS_FUNCTION Bits code_at(std::uint32_t place, const Scratch& scratch) const {
    const bool exists = static_cast<int>(place) < scratch.elements.size;
    return code_of(scratch.elements.keys[exists ? place : 0], scratch.first);
  }

  /// Words of all bits that vary, or of a part of them.
  KOKKOS_FUNCTION void begin(const Team& team, const Elements& elements, int swept,
                             Scratch& scratch, Registers& words) const {
    const Mine mine(team, elements.size);
    Bits code[items];
    load(mine, elements.keys, code);
    if constexpr (values_come_early) {
      stage(team, elements.size, elements.values, scratch.early_values);
    }
    const Bits mask = bits_between<Bits>(all.begin, all.end);
    const Bits above = static_cast<Bits>(~low_mask<Bits>(swept));
    const Bits first = static_cast<Bits>(codec.encode(elements.keys[0]) & mask & above);
    Bits varying = 0;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      code[i] = static_cast<Bits>(code[i] - first);
      varying |= code[i];
    }
    varying = Combined::over(team, varying, scratch.steps.seen);
    const bool are_topmost = bit_width_of(varying) - lowest_of(varying) > 2 * window_bits;
    const Window window = first_window(are_topmost, varying);
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) words.key[i] = mine.word(i, window.of(code[i]));
    if (team.team_rank() == 0) {
      scratch.elements = elements;
      scratch.first = first;
      scratch.varying = varying;
      scratch.window = window;
      scratch.are_kinds = false;
      scratch.are_topmost = are_topmost;
      scratch.makes_keys = decodes && varying == 0 && mask == low_mask<Bits>(Codec::bits);
    }
    team.team_barrier();
  }

  KOKKOS_FUNCTION void load(const Mine& mine, const Key* keys, Bits* code) const {
    const Bits mask = bits_between<Bits>(all.begin, all.end);
    const Key* const from = keys + mine.first;
    Key key[items];
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) key[i] = i < mine.count ? from[i * L::width] : keys[0];
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) code[i] = static_cast<Bits>(codec.encode(key[i]) & mask);
  }

  KOKKOS_FUNCTION static int lowest_of(Bits bits) {
    return bit_width_of(static_cast<Bits>(bits & (Bits{0} - bits))) - 1;
  }
  KOKKOS_FUNCTION static Window window_of(int shift, Bits bits) {
    return {shift, (bit_width_of(bits) + digit_bits - 1) / digit_bits};
  }

  /// All that vary, if words hold so many (none do then); or from the topmost of them down; or from the lowest up.
  KOKKOS_FUNCTION static Window first_window(bool from_top, Bits& varying) {
    if (varying == 0) return {0, 0};
    const int lowest = lowest_of(varying), topmost = bit_width_of(varying) - most_window_bits;
    if (topmost > lowest) {
      if (!from_top) return next_window(varying);
      return window_of(topmost, static_cast<Bits>(varying >> topmost));
    }
    const Window all_of_them = window_of(lowest, static_cast<Bits>(varying >> lowest));
    varying = 0;
    return all_of_them;
  }

  /// From the lowest bit that varies up; they no longer count as `varying`.
  KOKKOS_FUNCTION static Window next_window(Bits& varying) {
    const int shift = lowest_of(varying);
    const Bits bits = static_cast<Bits>(varying >> shift) & low_mask<Bits>(window_bits);
    varying = static_cast<Bits>(varying ^ static_cast<Bits>(bits << shift));
    return window_of(shift, bits);
  }

  KOKKOS_FUNCTION void take_next_digits(const Team& team, Scratch& scratch,
                                        Registers& words) const {
    team.team_barrier();
    if (team.team_rank() == 0) scratch.window = next_window(scratch.varying);
    team.team_barrier();
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::uint32_t place = place_in(words.key[i]);
      const bool exists = static_cast<int>(place) < scratch.elements.size;
      const std::uint32_t digits = exists ? scratch.window.of(code_at(place, scratch)) : ~0u;
      words.key[i] = digits << place_bits | place;
    }
  }

  /// Puts elements in order whose words are alike. False if one of their runs is too long for that.
  KOKKOS_FUNCTION bool mend_runs(const Team& team, Scratch& scratch, Registers& words) const {
    Runs& runs = scratch.steps.runs;
    const int thread = team.team_rank(), size = scratch.elements.size;
    if (thread == 0) scratch.wrong = scratch.is_too_long = 0;
    team.team_barrier();
    KRADIX_ROLLED
    for (int i = 0; i < items; ++i) {
      const int place = Tile::place_of(thread, i);
      const bool alike =
          place > 0 && place < size && are_alike(word_at(runs, place - 1), word_at(runs, place));
      const bool wrong =
          alike && code_of_word(runs, place, scratch) < code_of_word(runs, place - 1, scratch);
      const Mask all_alike = L::where(alike), all_wrong = L::where(wrong);
      if (L::lane(thread) != 0) continue;
      runs.alike[place / L::width] = all_alike;
      runs.wrong[place / L::width] = all_wrong;
      if (all_wrong != 0) scratch.wrong = 1;
    }
    team.team_barrier();
    if (scratch.wrong == 0) return true;
    KRADIX_ROLLED
    for (int i = 0; i < items; ++i) {
      const int place = Tile::place_of(thread, i);
      if (place < size && !is_set(runs.alike, place)) mend_run(place, size, runs, scratch);
    }
    team.team_barrier();
    if (scratch.is_too_long != 0) return false;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) words.key[i] = word_at(runs, Tile::place_of(thread, i));
    return true;
  }

  /// The run that begins there, by one thread.
  KOKKOS_FUNCTION void mend_run(int begin, int size, Runs& runs, Scratch& scratch) const {
    bool wrong = false;
    int end = begin + 1;
    for (; end < size && is_set(runs.alike, end); ++end) {
      wrong = wrong || is_set(runs.wrong, end);
      if (wrong && end - begin >= most_inserted) {
        scratch.is_too_long = 1;
        return;
      }
    }
    if (!wrong) return;
    for (int next = begin + 1; next < end; ++next) {
      const std::uint32_t word = word_at(runs, next);
      const Bits code = code_at(place_in(word), scratch);
      int to = next;
      for (; to > begin && code < code_of_word(runs, to - 1, scratch); --to) {
        word_at(runs, to) = word_at(runs, to - 1);
      }
      word_at(runs, to) = word;
    }
  }

  KOKKOS_FUNCTION static bool is_set(const Mask* masks, int place) {
    return (masks[place / L::width] >> place % L::width & 1) != 0;
  }
  KOKKOS_FUNCTION static bool are_alike(std::uint32_t a, std::uint32_t b) {
    return a >> place_bits == b >> place_bits;
  }
  KOKKOS_FUNCTION static std::uint32_t& word_at(Runs& runs, int place) {
    return runs.tile.keys[Tile::template padded<std::uint32_t>(static_cast<std::uint32_t>(place))];
  }
  KOKKOS_FUNCTION Bits code_of_word(Runs& runs, int place, const Scratch& scratch) const {
    return code_at(place_in(word_at(runs, place)), scratch);
  }

  /// Makes a key's rank among the kinds its digit, unless they are many.
  KOKKOS_FUNCTION void use_kinds(const Team& team, Scratch& scratch, Registers& words) const {
    if constexpr (may_have_kinds) {
      Kinds& kinds = scratch.steps.kinds;
      const int thread = team.team_rank();
      for (int i = thread; i <= Slots::count; i += threads) kinds.slots[i] = 0;
      if (thread == 0) {
        kinds.listed[0] = 0;
        kinds.slot_of_listed[0] = Slots::count;
        kinds.count = 1;
      }
      team.team_barrier();
      if (!find_kinds(team, scratch)) return;
      rank_kinds(thread, kinds, scratch.kind);
      if (thread == 0) {
        scratch.are_kinds = true;
        scratch.makes_keys =
            decodes && bits_between<Bits>(all.begin, all.end) == low_mask<Bits>(Codec::bits);
        scratch.varying = 0;
        scratch.window = {0, 1};
      }
      team.team_barrier();
      const Mine mine(team, scratch.elements.size);
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        const int place = mine.first + (i < mine.count ? i * L::width : 0);
        words.key[i] = mine.word(i, i < mine.count ? kinds.rank[kinds.slot[place]] : 0u);
      }
    }
  }

  /// The slot of each element's kind; false if there are too many.
  KOKKOS_FUNCTION bool find_kinds(const Team& team, Scratch& scratch) const {
    constexpr int batch = 4;  // loads that are under way together
    Kinds& kinds = scratch.steps.kinds;
    const Slots slots{kinds.slots};
    const int thread = team.team_rank(), size = scratch.elements.size;
    KRADIX_ROLLED
    for (int begin = 0; begin < size; begin += batch * threads) {
      Bits code[batch];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) {
        code[b] = code_at(static_cast<std::uint32_t>(begin + b * threads + thread), scratch);
      }
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) {
        // Of many kinds most are new at first, and would be looked for in a full table.
        if (*const_cast<volatile std::uint32_t*>(&kinds.count) > most_kinds) break;
        const int place = begin + b * threads + thread;
        bool is_new = false;
        const std::uint32_t slot = slots.find(code[b], is_new);
        if (is_new || slot == Slots::none) list_kind(code[b], slot, kinds);
        if (place < size) kinds.slot[place] = static_cast<std::uint16_t>(slot);
      }
      team.team_barrier();
      if (kinds.count > most_kinds) return false;
      team.team_barrier();
    }
    return true;
  }

  KOKKOS_FUNCTION static void list_kind(Bits code, std::uint32_t slot, Kinds& kinds) {
    const std::uint32_t index = L::add(&kinds.count, slot == Slots::none ? most_kinds : 1);
    if (index >= most_kinds) return;
    kinds.listed[index] = code;
    kinds.slot_of_listed[index] = static_cast<std::uint16_t>(slot);
  }

  KOKKOS_FUNCTION static void rank_kinds(int thread, Kinds& kinds, Bits* kind) {
    const int count = static_cast<int>(kinds.count);
    for (int i = thread; i < count; i += threads) {
      const Bits mine = kinds.listed[i];
      std::uint32_t below = 0;
      for (int j = 0; j < count; ++j) below += kinds.listed[j] < mine ? 1 : 0;
      kinds.rank[kinds.slot_of_listed[i]] = static_cast<std::uint16_t>(below);
      if constexpr (decodes) kind[below] = mine;
    }
  }

  /// A stable pass.
  KOKKOS_FUNCTION static void sort_words(const Team& team, int shift,
                                         typename Tile::Scratch& scratch, Registers& words) {
    const int thread = team.team_rank();
    const typename Tile::Tile all_of_it{0, 0, most};
    const Words codec{};
    const DigitReader<Words> reader(codec, Digit{shift, bin_count - 1});
    const Tile tile{{}, codec, {}, nullptr, nullptr, nullptr, {}, 0};
    team.team_barrier();  // whoever read what lay there is done
    Tile::clear_counters(thread, scratch);
    team.team_barrier();
    tile.template rank<true>(thread, all_of_it, reader, scratch, words);
    team.team_barrier();
    tile.template publish<true>(team, all_of_it, scratch);
    team.team_barrier();
    Tile::template add_group_ranks<true>(thread, all_of_it, reader, scratch, words);
    team.team_barrier();
    Tile::exchange_keys(scratch, words);
    team.team_barrier();
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      words.key[i] = scratch.keys[Tile::template padded<std::uint32_t>(
          static_cast<std::uint32_t>(Tile::place_of(thread, i)))];
    }
  }

  KOKKOS_FUNCTION void write(const Team& team, Scratch& scratch, const Registers& words) const {
    const Mine mine(team, scratch.elements.size);
    if (scratch.elements.keys_out != nullptr) {
      if (scratch.makes_keys) {
        make_keys(mine, scratch, words);
      } else {
        team.team_barrier();
        stage(team, scratch.elements.size, scratch.elements.keys, scratch.steps.keys);
        L::await_brought();
        team.team_barrier();
        gather(mine, words, scratch.steps.keys, scratch.elements.keys_out);
      }
    }
    if constexpr (with_values) write_values(team, mine, scratch, words);
  }

  /// By their codes, which are their words' digits, or those of their kinds.
  KOKKOS_FUNCTION void make_keys(const Mine& mine, const Scratch& scratch,
                                 const Registers& words) const {
    if constexpr (decodes) {
      Key* const to = scratch.elements.keys_out + mine.first;
      const Bits first = scratch.first;
      if (scratch.are_kinds) {
        KRADIX_UNROLL
        for (int i = 0; i < items; ++i) {
          const Bits code = scratch.kind[words.key[i] >> place_bits & (most_kinds - 1)];
          if (i < mine.count) to[i * L::width] = codec.decode(static_cast<Bits>(code + first));
        }
      } else {
        const int shift = scratch.window.shift;
        KRADIX_UNROLL
        for (int i = 0; i < items; ++i) {
          const Bits code = static_cast<Bits>(Bits{words.key[i] >> place_bits} << shift);
          if (i < mine.count) to[i * L::width] = codec.decode(static_cast<Bits>(code + first));
        }
      }
    }
  }

  KOKKOS_FUNCTION static void write_values(const Team& team, const Mine& mine, Scratch& scratch,
                                           const Registers& words) {
    const Elements& elements = scratch.elements;
    if constexpr (std::is_integral_v<Value>) {
      if (elements.values == nullptr) {
        KRADIX_UNROLL
        for (int i = 0; i < items; ++i) {
          if (i < mine.count) {
            (elements.values_out + mine.first)[i * L::width] =
                static_cast<Value>(place_in(words.key[i]));
          }
        }
        return;
      }
    }
    if constexpr (values_come_early) {
      L::await_brought();
      team.team_barrier();
      gather(mine, words, scratch.early_values, elements.values_out);
    } else {
      team.team_barrier();
      stage(team, elements.size, elements.values, scratch.late_values);
      L::await_brought();
      team.team_barrier();
      gather(mine, words, scratch.late_values, elements.values_out);
    }
  }

  /// Elements set out for scratch.
  template <class T>
  KOKKOS_FUNCTION static void stage(const Team& team, int size, const T* from, T* scratch) {
    if (from == nullptr) return;
    const int thread = team.team_rank(), count = (size - thread + threads - 1) / threads;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (i < count) L::bring(scratch + thread + i * threads, from + thread + i * threads);
    }
  }

  /// Takes each word's element from scratch to the word's place.
  template <class T>
  KOKKOS_FUNCTION static void gather(const Mine& mine, const Registers& words, const T* scratch,
                                     T* to) {
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (i < mine.count) (to + mine.first)[i * L::width] = scratch[place_in(words.key[i])];
      if (i % 4 == 3) L::settle_memory();
    }
  }
};

}  // namespace kradix::impl
