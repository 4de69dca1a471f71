// How often each 2-byte key comes, or what 2 bytes are taken from a longer one, in one read where none comes too often.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/team_scan.hpp"
#include "kradix/impl/device/wide_array.hpp"

namespace kradix::impl {

/// The 2^16 counters of a team: six fields of five bits to a word of its scratch, or two of 16 bits. Field f of all words
/// holds the keys from f · 2^16 / fields on.
template <int Fields>
struct CountFields {
  static_assert(Fields == 6 || Fields == 2);
  static constexpr int fields = Fields, bits = Fields == 6 ? 5 : 16, bins = 1 << 16;
  static constexpr int keys = (bins + fields - 1) / fields;  ///< of a field
  static constexpr int words = keys + 1;
  static constexpr std::uint32_t most = (1u << bits) - 1;

  std::uint32_t field, word;

  KOKKOS_FUNCTION static CountFields of(std::uint32_t key) {
    const std::uint32_t field = key * fields >> 16;
    return {field, key + 1 - field * keys};
  }
  /// So many keys, as part of the word.
  KOKKOS_FUNCTION std::uint32_t of_word(std::uint32_t count) const {
    return count << (field * bits);
  }
  /// May lie outside of [0, bins) where no key has this field and word.
  KOKKOS_FUNCTION static int key_of(int field, int word) { return field * keys + word - 1; }
  KOKKOS_FUNCTION static std::uint32_t count(std::uint32_t word, int field) {
    return word >> (field * bits) & most;
  }
  /// Of all fields of a word.
  KOKKOS_FUNCTION static std::uint32_t sum(std::uint32_t word) {
    if constexpr (fields == 2) {
      return (word & most) + (word >> bits);
    } else {
      constexpr std::uint32_t even = 0x1f | 0x1f << 2 * bits | 0x1f << 4 * bits;
      const std::uint32_t pairs = (word & even) + (word >> bits & even);
      return (pairs & 0x3ff) + (pairs >> 2 * bits & 0x3ff) + (pairs >> 4 * bits & 0x3ff);
    }
  }
};

/// Keys of 2 bytes themselves.
struct WholeShort {
  using Word = std::uint16_t;
  KOKKOS_FUNCTION std::uint32_t operator()(Word key) const { return key; }
};

/// A team counts its share of the keys step by step into fields of few bits. A field that overflows is never missed:
/// its carry takes 32 (or 2^16) from one field and adds at most 1 to another, so the fields' sum falls behind
/// the number of keys. Then the step is taken back, which is exact however many carries there were, for a
/// word is the sum of what was added to it. Once a single step does not fit, the rest of the share is
/// counted in whole words, one field's keys after the other.
template <class ExecutionSpace, TeamShape Shape, class Short = WholeShort,
          class Counter = std::uint64_t, int Fields = 6>
struct CountShorts {
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Key = typename Short::Word;
  using Keys = Pack<Key>;
  using Places = CountFields<Fields>;
  static constexpr bool are_wide = Fields == 2;

  /// Packs of a step. The first is short, for keys alike wait for each other: that is soon noticed. (With wide fields it is looked
  /// for first.)
  static constexpr std::size_t first_step = Shape.threads;
  static constexpr std::size_t stride = static_cast<std::size_t>(Shape.round());
  static constexpr std::size_t long_step = (are_wide ? 256 : 64) / Keys::size * stride;
  /// Twelve of each key, if they spread evenly, leave every field below 32 nine times out of ten. (Of wide fields, as many as
  /// their sum can tell.)
  static constexpr std::size_t most_held =
      (are_wide ? std::size_t{1} << 31 : std::size_t{12} << 16) / Keys::size;

  WideArray<const Key> keys;
  std::size_t share;  ///< packs of a team
  Counter* counts;    ///< [short], zero
  Short short_of{};
  std::size_t held = most_held;  ///< packs, of keys that spread over fewer counters fewer
  /// Beside keys that lie close together one of so many may be another; where those are of few kinds, all teams wait for each other.
  std::uint32_t few_others = 64;

  static std::size_t scratch_bytes() { return Places::words * sizeof(std::uint32_t); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    auto* const words = take_scratch_apart<std::uint32_t>(team, Places::words);
    clear(team, words);
    const auto index = static_cast<std::size_t>(team.league_rank());
    const Share mine = share_of(keys.packs(), share, index);
    const std::size_t counted = count_in_fields(team, mine, words);
    if (counted < mine.end) count_in_words(team, {counted, mine.end}, words);
    if (index != 0) return;
    for (int i = team.team_rank(); i < keys.edges(); i += Shape.threads) {
      Kokkos::atomic_inc(&counts[short_of(keys.at(keys.place_of_edge(i)))]);
    }
  }

 private:
  /// Ends with a barrier.
  KOKKOS_FUNCTION static void clear(const Team& team, std::uint32_t* words) {
    for (int i = team.team_rank(); i < Places::words; i += Shape.threads) words[i] = 0;
    team.team_barrier();
  }

  /// Returns where it gave up, or the end.
  KOKKOS_FUNCTION std::size_t count_in_fields(const Team& team, const Share& mine,
                                              std::uint32_t* words) const {
    std::size_t emptied = mine.begin, at = emptied;  // the words hold the keys between
    if (are_wide && crowds(team, mine)) return at;
    // A step that does not fit by itself costs most.
    const std::size_t usual = held / 4 < long_step ? held / 4 : long_step;
    while (at < mine.end) {
      const std::size_t length = at == mine.begin && !are_wide ? first_step : usual;
      const Share step{at, at + length < mine.end ? at + length : mine.end};
      add_to_fields(team, step, 1, words);
      if (sum_of_fields(team, words) == (step.end - emptied) * Keys::size) {
        at = step.end;
        if (at + usual - emptied <= held && at < mine.end) continue;
      } else {
        if (at == emptied) break;  // it does not fit by itself
        add_to_fields(team, step, ~0u, words);
      }
      empty_fields(team, words);
      emptied = at;
    }
    return at;
  }

  /// Does one of some keys meet so many that are the same, in its pack, that a group of lanes would wait for one counter? Words
  /// that only count are added to by all lanes at once.
  KOKKOS_FUNCTION bool crowds(const Team& team, const Share& mine) const {
    constexpr std::uint32_t often = 20;  // one of so many
    const std::size_t all = mine.end - mine.begin,
                      looked = all < Shape.threads ? all : Shape.threads;
    const auto thread = static_cast<std::size_t>(team.team_rank());
    std::uint32_t same = 0;
    if (thread < looked) {
      const Keys pack = keys.load(mine.begin + thread);
      KRADIX_UNROLL
      for (int i = 1; i < Keys::size; ++i) {
        same += short_of(pack.word(i)) == short_of(pack.word(i - 1)) ? 1 : 0;
      }
    }
    return often * scan_team<Shape.threads>(team, same).total > looked * (Keys::size - 1);
  }

  /// Counts the keys of a step (each by 1), or takes them back (by −1). Ends with a barrier.
  KOKKOS_FUNCTION void add_to_fields(const Team& team, const Share& step, std::uint32_t each,
                                     std::uint32_t* words) const {
    visit_packs<Shape>(team, keys, step, stride, [&](const Keys& pack) {
      KRADIX_UNROLL
      for (int i = 0; i < Keys::size; ++i) {
        const Places place = Places::of(short_of(pack.word(i)));
        L::add(&words[place.word], place.of_word(each));
      }
    });
    team.team_barrier();
  }

  KOKKOS_FUNCTION static std::uint32_t sum_of_fields(const Team& team, const std::uint32_t* words) {
    std::uint32_t sum = 0;
    for (int i = team.team_rank(); i < Places::words; i += Shape.threads) {
      sum += Places::sum(words[i]);
    }
    return scan_team<Shape.threads>(team, sum).total;
  }

  /// Adds the fields to the whole's counts and leaves them zero. Ends with a barrier.
  KOKKOS_FUNCTION void empty_fields(const Team& team, std::uint32_t* words) const {
    // By fields: threads side by side add to counts side by side.
    for (int i = team.team_rank(); i < Places::words; i += Shape.threads) {
      const std::uint32_t word = words[i];
      words[i] = 0;
      KRADIX_UNROLL
      for (int field = 0; field < Places::fields; ++field) {
        add(Places::key_of(field, i), Places::count(word, field));
      }
    }
    team.team_barrier();
  }

  /// Part by part, those keys in words whose field is the most frequent: most of them, where keys lie close together. If only a few
  /// others are left they are added to the whole's counts at once, or else each round counts those of one field.
  KOKKOS_FUNCTION void count_in_words(const Team& team, const Share& rest,
                                      std::uint32_t* words) const {
    constexpr std::size_t part_packs = 4 * stride;  // so that caches hold the parts of all teams
    clear(team, words);
    Other other{0, 0};
    std::uint32_t field = 0;
    bool lie_close = false;
    for (std::size_t begin = rest.begin; begin < rest.end; begin += part_packs) {
      const Share part{begin, begin + part_packs < rest.end ? begin + part_packs : rest.end};
      const auto all = static_cast<std::uint32_t>((part.end - part.begin) * Keys::size);
      if (!lie_close) {
        const Frequent frequent = frequent_field(team, part);
        if (frequent.field != field) empty_words(team, field, words);
        field = frequent.field;
        lie_close = are_few(frequent.others, frequent.looked);
      }
      if (lie_close) {
        const std::uint32_t counted = count_field(team, part, field, words, [&](std::uint32_t key) {
          if (key != other.key) {
            add(static_cast<int>(other.key), other.times);
            other = {key, 0};
          }
          ++other.times;
        });
        lie_close = are_few(all - counted, all);
      } else {
        for (std::uint32_t left = all;;) {
          left -= count_field(team, part, field, words, [](std::uint32_t) {});
          if (left == 0) break;
          empty_words(team, field, words);
          field = field + 1 < Places::fields ? field + 1 : 0;
        }
      }
    }
    add(static_cast<int>(other.key), other.times);
    empty_words(team, field, words);
  }
  KOKKOS_FUNCTION bool are_few(std::uint32_t others, std::uint32_t of_all) const {
    return others * few_others <= of_all;
  }
  /// A key that a thread has met outside of a field, and how often in a row: all teams would wait for each other to add one that
  /// comes often.
  struct Other {
    std::uint32_t key, times;
  };
  /// The field of most of the keys that were looked at.
  struct Frequent {
    std::uint32_t field, others, looked;
  };
  KOKKOS_FUNCTION Frequent frequent_field(const Team& team, const Share& part) const {
    constexpr int bits = 10;  // of a number of keys: six fit into a word
    constexpr std::uint32_t most = (1u << bits) - 1;
    const std::size_t packs = part.end - part.begin;
    constexpr std::uint32_t threads = Shape.threads < most ? Shape.threads : most;
    const std::uint32_t looked = packs < threads ? static_cast<std::uint32_t>(packs) : threads;
    const auto thread = static_cast<std::uint32_t>(team.team_rank());
    std::uint64_t seen = 0;
    if (thread < looked) {
      const Keys pack = keys.load(part.begin + packs * thread / looked);
      seen = std::uint64_t{1} << (bits * Places::of(short_of(pack.word(0))).field);
    }
    seen = scan_team<Shape.threads>(team, seen).total;
    Frequent frequent{0, looked, looked};
    for (std::uint32_t field = 0; field < Places::fields; ++field) {
      const std::uint32_t others =
          looked - (static_cast<std::uint32_t>(seen >> (bits * field)) & most);
      if (others < frequent.others) frequent = {field, others, looked};
    }
    return frequent;
  }
  /// Returns how many keys they are; each other goes to `take_other`. Ends with a barrier.
  template <class TakeOther>
  KOKKOS_FUNCTION std::uint32_t count_field(const Team& team, const Share& part,
                                            std::uint32_t field, std::uint32_t* words,
                                            const TakeOther& take_other) const {
    std::uint32_t counted = 0;
    visit_packs<Shape>(team, keys, part, stride, [&](const Keys& pack) {
      KRADIX_UNROLL
      for (int i = 0; i < Keys::size; ++i) {
        const std::uint32_t key = short_of(pack.word(i));
        const Places place = Places::of(key);
        if (place.field == field) {
          L::increment(&words[place.word]);
          ++counted;
        } else {
          take_other(key);
        }
      }
    });
    team.team_barrier();
    return scan_team<Shape.threads>(team, counted).total;
  }

  /// The same for words that count keys of one field.
  KOKKOS_FUNCTION void empty_words(const Team& team, std::uint32_t field,
                                   std::uint32_t* words) const {
    for (int i = team.team_rank(); i < Places::words; i += Shape.threads) {
      const std::uint32_t counted = words[i];
      words[i] = 0;
      add(Places::key_of(static_cast<int>(field), i), counted);
    }
    team.team_barrier();
  }

  KOKKOS_FUNCTION void add(int key, std::uint32_t counted) const {
    if (counted > 0) Kokkos::atomic_add(&counts[key], Counter{counted});
  }
};

}  // namespace kradix::impl
