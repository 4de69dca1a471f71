// The finish in scratch: a chunk whose keys lie close together is sorted at once by 16 or 15 bits of them.
//
// Each key counts into one of 65536 counters of 2 bits, or of 32768 of 4 bits where one of those overflows;
// the counters before its own, summed, are its place. Keys that share a counter are few: they are sorted
// among themselves by the whole key and then by where they stood, so the sort is stable whatever order the
// counters saw. A chunk with too many keys alike is given up to FinishCrowded.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/chunks.hpp"
#include "kradix/impl/device/packed_counters.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/value_cells.hpp"

namespace kradix::impl {

/// The places in a chunk of keys that share a counter.
struct SharedPlaces {
  std::uint16_t first, keys;

  KOKKOS_FUNCTION int end() const { return first + keys; }
};

/// Takes from a key the bits that count, relative to the first key of a chunk.
template <class Codec>
struct IndexReader {
  using Bits = typename Codec::bits_type;
  Codec codec;
  int shift;
  std::uint32_t base;

  KOKKOS_FUNCTION IndexReader(const Codec& codec_, int shift_, Bits first)
      : codec(codec_), shift(shift_), base(static_cast<std::uint32_t>(first >> shift_)) {}
  KOKKOS_FUNCTION std::uint32_t of(const typename Codec::key_type& key) const {
    return static_cast<std::uint32_t>(codec.encode(key) >> shift) - base;
  }
  KOKKOS_FUNCTION static constexpr bool exists() { return true; }
  KOKKOS_FUNCTION bool tells_all_apart(int begin) const { return shift == begin; }
};

/// As with digits, an integer's xor may come after the shift.
template <class Word>
struct IndexReader<WordCodec<Word, false>> {
  using Bits = typename WordCodec<Word, false>::bits_type;
  int shift;
  std::uint32_t flip, base;

  KOKKOS_FUNCTION IndexReader(const WordCodec<Word, false>& codec, int shift_, Bits first)
      : shift(shift_),
        flip(static_cast<std::uint32_t>(codec.encode(Word{0}) >> shift_)),
        base(static_cast<std::uint32_t>(first >> shift_)) {}
  KOKKOS_FUNCTION std::uint32_t of(Word word) const {
    return (static_cast<std::uint32_t>(word >> shift) ^ flip) - base;
  }
  KOKKOS_FUNCTION static constexpr bool exists() { return true; }
  KOKKOS_FUNCTION bool tells_all_apart(int begin) const { return shift == begin; }
};

/// The place of a key's value between those of a chunk's ends, for keys that are spread by value: near zero, where codes are
/// far apart, they lie as close as elsewhere.
template <class Codec>
struct ValueIndex {
  using Word = typename Codec::key_type;
  using Steps = ValueSteps<float_of<Word>>;

  Steps steps;
  bool is_known;

  /// From the codes of the ends, for so many bits of an index. (All keys of one code have one index, whatever that is.)
  KOKKOS_FUNCTION static ValueIndex of_ends(const Codec& codec, int bits,
                                            typename Codec::bits_type first,
                                            typename Codec::bits_type last) {
    const auto steps =
        Steps::between(value_of_code(codec, first), value_of_code(codec, last), bits);
    return {steps, first == last || steps.exist()};
  }
  KOKKOS_FUNCTION std::uint32_t of(Word key) const { return steps.of(value_of_bits(key)); }
  KOKKOS_FUNCTION bool exists() const { return is_known; }
  KOKKOS_FUNCTION static bool tells_all_apart(int) { return false; }
};

/// What a thread holds of each of its keys beside it, all of 16 bits or as many fewer as `shift` says.
struct HeldIndex {
  int shift;

  KOKKOS_FUNCTION static constexpr bool exists() { return true; }
  KOKKOS_FUNCTION static constexpr bool tells_all_apart(int) { return false; }
};

/// Keys with values that are swept `ByValue` have a launch of their own: both kinds of indices in one kernel make both a fifth
/// slower, but those of keys alone, which by value are counted so where codes do not tell them apart.
/// Where nobody can tell equal keys apart their order need not be kept (`Ordered`). What keys are counted by may be no part of them
/// (`HoldsIndices`): keys that share a counter are compared alone.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape, bool ByValue = false,
          bool Ordered = true, bool HoldsIndices = false>
struct FinishChunk {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Index = IndexReader<Codec>;
  static constexpr int usual = 5120, usual_word_bits = 12;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr bool may_be_by_value = may_be_swept_by_value<Codec, Value>;
  static_assert(!ByValue || (may_be_by_value && with_values));
  static_assert(Ordered || !with_values);
  /// Of cells by value, or by pieces, keys of a chunk may agree in no bits.
  static constexpr bool may_have_no_digits = ByValue || (may_be_by_value && !with_values);
  static constexpr int threads = Shape.threads, items = Shape.items, most = threads * items;
  static constexpr int groups = threads / L::width;
  /// Longer chunks have as many counters a key.
  static constexpr int longer = most > 2 * usual ? 2 : most > usual ? 1 : 0;
  using Narrow = PackedCounters<2, usual_word_bits + longer>;
  using Wide = PackedCounters<4, usual_word_bits + longer>;
  /// Floats of 4 bytes are the same as others sooner.
  static constexpr bool shares_much =
      may_have_no_digits && sizeof(Key) == 4 && (!with_values || sizeof(Value) <= 4);
  /// Counters that keys share: there is room for all that there can be, unless scratch has none. Of 4608 keys that spread evenly, some
  /// 150 share a narrow one with another, some 300 a wide one; twice as many where the chunk's keys span little more than half of
  /// the indices; all of keys that come twice each.
  static constexpr std::size_t widest = with_values && sizeof(Value) > sizeof(Key) ? sizeof(Value)
                                                                                   : sizeof(Key);
  static constexpr bool queues_all =
      has_room_for_long_tiles || most * (widest + 2 * sizeof(std::uint16_t)) <= 45 << 10;
  static constexpr std::uint32_t queue_size = queues_all ? most / 2 : 768 << longer;
  static_assert(queues_all || !HoldsIndices);
  static_assert(most < 1 << Chunk::size_bits && Wide::words % (8 * threads) == 0);
  static constexpr int rounds = Wide::words / (4 * threads);  ///< of four words a lane

  SortBuffers<Key, Value> buffers;
  Codec codec;
  DigitList all;
  Bits mask;         ///< of the bits that count
  bool keeps_order;  ///< equal keys may differ otherwise
  const PassTable* passes;
  Route* route;
  ChunkLists lists;
  int alone = most;  ///< keys of a chunk that FinishCrowded takes

  struct Scratch {
    union {
      struct {
        FourWords counters[Wide::words / 4];
        FourSums before[Wide::words / 4];
      };
      struct {
        union {
          Key keys[most];
          std::conditional_t<with_values, Value, char> values[most];
        };
        std::uint16_t from[Ordered ? most : 1];
      };
    };
    SharedPlaces queue[queue_size];
    std::uint32_t sums[groups];
    Bits first, last;         ///< of the chunk's keys, by the bits that were swept and those above
    std::uint32_t overflows;  ///< of counters
    std::uint32_t queued;     ///< more than the queue holds if they would not fit
    bool hopeless;            ///< to try at all
    bool others_failed;       ///< by narrow counters
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  struct Registers {
    int count;  ///< of the thread's items that are there
    Key key[items];
    std::uint32_t rank[(items + 7) / 8];  ///< among the keys of its counter, packed
    std::uint32_t place[items];           ///< in the chunk
    std::uint32_t index[HoldsIndices ? (items + 1) / 2 : 1];  ///< packed by two, if there are any

    KOKKOS_FUNCTION void hold(int i, const Key& what, std::uint32_t with) {
      key[i] = what;
      index[i / 2] = i % 2 == 0 ? with : (index[i / 2] & 0xffffu) | with << 16;
    }
    KOKKOS_FUNCTION std::uint32_t held(int i) const {
      return index[i / 2] >> 16 * (i % 2) & 0xffffu;
    }
    template <class By>
    KOKKOS_FUNCTION std::uint32_t index_by(const By& by, int i) const {
      if constexpr (HoldsIndices) {
        return held(i) >> by.shift;
      } else {
        return by.of(key[i]);
      }
    }
    KOKKOS_FUNCTION auto& settled(int i) {
      if constexpr (HoldsIndices) {
        return index[i / 2];
      } else {
        return key[i];
      }
    }
  };

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (!passes->finishes || route->crowded != 0) return;
    const bool by_value = may_be_by_value && Route::is_by_value(route->spreads);
    if (with_values && by_value != ByValue) return;
    const std::uint64_t listed = lists.chunks.size();
    const Key* const keys = buffers.keys.end(passes->count);
    const bool splits = may_be_split<ExecutionSpace, Codec> && !with_values &&
                        passes->finishes == PassTable::splitting;
    const bool has_no_digits = may_have_no_digits && route->has_no_digits();
    const int swept = splits || has_no_digits ? 0 : route->digits.begin;
    const auto step = static_cast<std::uint64_t>(team.league_size());
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    int failures = 0;  // of narrow counters, in a row
    if constexpr (shares_much) {
      constexpr std::uint64_t many = 64;  // of other teams
      if (team.team_rank() == 0) scratch.others_failed = L::load(&route->overflowed) >= many;
      team.team_barrier();
      if (scratch.others_failed) failures = most_failures;
    }
    bool hopeless = false;
    for (auto entry = static_cast<std::uint64_t>(team.league_rank()); entry < listed;
         entry += step) {
      const Chunk chunk = lists.chunks.at(entry);
      bool sorted = false;
      if (!hopeless) {
        const Value* values = nullptr;
        if constexpr (with_values) values = buffers.values.end(passes->count) + chunk.begin();
        Registers registers;
        if (team.team_rank() == 0) scratch.hopeless = is_hopeless(entry, splits ? 2 : 4);
        load(team.team_rank(), chunk.size(), keys + chunk.begin(), values, swept, scratch,
             registers);
        if constexpr (may_have_no_digits) {
          if (has_no_digits) find_ends(team, scratch, registers);
        }
        if constexpr (may_be_split<ExecutionSpace, Codec> && !with_values) {
          if (splits && team.team_rank() == 0 && chunk.size() > 1) {
            const auto bounds =
                ChunkBounds<Bits>::of(buffers.keys.spare(passes->count) + chunk.begin());
            scratch.first = bounds.low;
            scratch.last = bounds.high;
          }
        }
        if constexpr (ByValue) {
          sorted =
              order_by<ValueIndex<Codec>>(team, chunk.size(), swept, scratch, registers, failures);
        } else {
          sorted = order_by<Index>(team, chunk.size(), swept, scratch, registers, failures);
        }
        // Codes of keys alone take fewer steps than values, but lie far apart near zero.
        if constexpr (may_be_by_value && !with_values) {
          if (by_value && !sorted) {
            team.team_barrier();
            sorted = order<Wide, ValueIndex<Codec>>(team, chunk.size(), swept, scratch, registers);
          }
        }
        if (sorted) write(team, chunk, values, registers.count, scratch);
        hopeless = scratch.hopeless;
      }
      if (!sorted && team.team_rank() == 0) {
        give_up(has_no_digits || chunk.size() > alone ? as_long_run(chunk) : chunk);
      }
      team.team_barrier();
    }
  }

  /// Has more than such a part of the chunks been given up so far? Then keys are not as the sample seemed to tell.
  KOKKOS_FUNCTION bool is_hopeless(std::uint64_t entry, std::uint64_t part) const {
    constexpr std::uint64_t by_chance = 64;
    const std::uint64_t given_up = L::load(&route->given_up);
    return given_up > by_chance && part * given_up > entry;
  }
  /// Where keys of a chunk agree in no bits, near zero, one team's passes over all digits are soonest done; and a long chunk
  /// fits nobody else.
  KOKKOS_FUNCTION Chunk as_long_run(const Chunk& chunk) const {
    LongRun::set_end(buffers.keys.spare(passes->count) + chunk.begin(),
                     chunk.begin() + chunk.size());
    return Chunk::make(chunk.begin(), 0);
  }
  KOKKOS_FUNCTION void give_up(const Chunk& chunk) const {
    Kokkos::atomic_inc(&route->given_up);
    lists.left.add(chunk);
  }

  /// Sorts `keys` and `values` (null: each element's index) to the chunk's place in the result. All keys
  /// agree in the bits from `swept` on, or come in their order.
  /// False if the chunk is given up, and then it is as it was.
  KOKKOS_FUNCTION bool sort(const Team& team, const Chunk& chunk, const Key* keys,
                            const Value* values, int swept, Scratch& scratch) const {
    Registers registers;
    if (team.team_rank() == 0) scratch.hopeless = false;
    load(team.team_rank(), chunk.size(), keys, values, swept, scratch, registers);
    if (!order<Wide, Index>(team, chunk.size(), swept, scratch, registers)) return false;
    write(team, chunk, values, registers.count, scratch);
    return true;
  }

  static constexpr int most_failures = 2;
  /// By narrow counters, unless those of two chunks in a row have overflowed, or by wide ones.
  template <class By>
  KOKKOS_FUNCTION bool order_by(const Team& team, int size, int swept, Scratch& scratch,
                                Registers& registers, int& failures) const {
    if (failures < most_failures) {
      if (order<Narrow, By>(team, size, swept, scratch, registers)) {
        failures = 0;
        return true;
      }
      ++failures;
      if (shares_much && team.team_rank() == 0) Kokkos::atomic_inc(&route->overflowed);
      team.team_barrier();
    }
    return order<Wide, By>(team, size, swept, scratch, registers);
  }

  /// Leaves the keys in scratch, sorted. False if there are too many alike for the counters.
  template <class Counters, class By>
  KOKKOS_FUNCTION bool order(const Team& team, int size, int swept, Scratch& scratch,
                             Registers& registers) const {
    const int thread = team.team_rank();
    clear(thread, scratch);
    team.team_barrier();
    if (scratch.hopeless) return false;
    const By index = index_of<Counters, By>(scratch, swept);
    if (!index.exists()) return false;
    count<Counters>(index, scratch, registers);
    team.team_barrier();
    if (scratch.overflows != 0) return false;
    scan<Counters>(team, scratch);
    // Keys that share a counter are the same, and nobody can tell them apart.
    const bool exact = index.tells_all_apart(all.begin) && !with_values && !keeps_order;
    team.team_barrier();
    if (exact) {
      rank<Counters, false>(thread, index, scratch, registers);
    } else {
      rank<Counters, true>(thread, index, scratch, registers);
    }
    team.team_barrier();
    place(thread, scratch, registers);
    team.team_barrier();
    if (!exact) {
      sort_shared<Counters>(team, size, index, scratch);
      team.team_barrier();
    }
    return true;
  }

  KOKKOS_FUNCTION void load(int thread, int size, const Key* keys, const Value* values, int swept,
                            Scratch& scratch, Registers& registers) const {
    registers.count = (size - thread + threads - 1) / threads;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      registers.key[i] = i < registers.count ? (keys + thread)[i * threads] : Key{};
    }
    if (thread == 0) {
      scratch.first = above(codec.encode(keys[0]) & mask, swept);
      scratch.last = above(codec.encode(keys[size - 1]) & mask, swept);
    }
    if constexpr (with_values) prefetch_values(thread, size, values);
  }

  /// Where keys come in no order at all.
  KOKKOS_FUNCTION void find_ends(const Team& team, Scratch& scratch,
                                 const Registers& registers) const {
    Bits first = static_cast<Bits>(~Bits{0}), last = 0;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const Bits code = codec.encode(registers.key[i]);
      if (i < registers.count) first = code < first ? code : first;
      if (i < registers.count) last = code > last ? code : last;
    }
    first = L::least(first);
    last = static_cast<Bits>(~L::least(static_cast<Bits>(~last)));
    team.team_barrier();
    if (L::lane(team.team_rank()) == 0) {
      Kokkos::atomic_min(&scratch.first, first);
      Kokkos::atomic_max(&scratch.last, last);
    }
  }

  /// A shift by all bits leaves none.
  KOKKOS_FUNCTION static Bits above(Bits bits, int swept) {
    return swept < Codec::bits ? static_cast<Bits>(bits >> swept) : Bits{0};
  }

  /// Values come into registers when keys have left them; they set out now.
  KOKKOS_FUNCTION static void prefetch_values(int thread, int size, const Value* values) {
    constexpr int line = 128 / sizeof(Value);
    for (int i = thread * line; i < size && values != nullptr; i += threads * line) {
      L::prefetch(values + i);
    }
  }

  KOKKOS_FUNCTION static void load_values(int thread, int count, const Value* values, Value* mine) {
    if constexpr (std::is_integral_v<Value>) {
      if (values == nullptr) {
        KRADIX_UNROLL
        for (int i = 0; i < items; ++i) mine[i] = static_cast<Value>(i * threads + thread);
        return;
      }
    }
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (i < count) mine[i] = (values + thread)[i * threads];
    }
  }

  KOKKOS_FUNCTION static void clear(int thread, Scratch& scratch) {
    for (int i = thread; i < Wide::words / 4; i += threads) scratch.counters[i] = {};
    if (thread == 0) scratch.overflows = scratch.queued = 0;
  }

  template <class Counters>
  KOKKOS_FUNCTION static std::uint32_t* word_at(Scratch& scratch, std::uint32_t index) {
    return &scratch.counters[0].word[0] + Counters::word_of(index);
  }

  template <class Counters, class By>
  KOKKOS_FUNCTION By index_of(const Scratch& scratch, int swept) const {
    if constexpr (HoldsIndices) {
      return {Narrow::index_bits - Counters::index_bits};
    } else if constexpr (!std::is_same_v<By, Index>) {
      return By::of_ends(codec, Counters::index_bits, scratch.first, scratch.last);
    } else {
      return topmost_bits<Counters>(scratch, swept);
    }
  }
  /// That tell the chunk's keys apart.
  template <class Counters>
  KOKKOS_FUNCTION Index topmost_bits(const Scratch& scratch, int swept) const {
    int low = bit_width_of(static_cast<Bits>(scratch.last - scratch.first)) + swept -
              Counters::index_bits;
    // The first key need not be a multiple of a larger unit than that of the swept bits.
    if (low > swept && (swept > 0 || spans_more<Counters>(scratch, low))) ++low;
    // Bits above the caller's are none of ours, and up to there no key can be beyond the indices.
    const int highest = all.end - Counters::index_bits;
    if (low > highest) low = highest;
    const Bits first = swept < Codec::bits ? static_cast<Bits>(scratch.first << swept) : Bits{0};
    return {codec, low > all.begin ? low : all.begin, first};
  }

  /// Do the units from the first key's to the last's take one index more than there are?
  template <class Counters>
  KOKKOS_FUNCTION static bool spans_more(const Scratch& scratch, int low) {
    const auto units = static_cast<Bits>((scratch.last >> low) - (scratch.first >> low));
    return (units >> Counters::index_bits) != 0;
  }

  /// A missing item adds nothing to the counter of what its register holds: no branch serialises this.
  template <class Counters, class By>
  KOKKOS_FUNCTION static void count(const By& index, Scratch& scratch, Registers& registers) {
    constexpr int packed = Counters::per_word;
    typename Counters::Overflow overflow;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::uint32_t at = registers.index_by(index, i);
      const std::uint32_t shift = Counters::shift_of(at);
      const std::uint32_t one = i < registers.count ? 1 : 0;
      const std::uint32_t old = L::add(word_at<Counters>(scratch, at), one << shift);
      overflow.add(old, shift);
      const std::uint32_t rank = Counters::counter(old, shift) << (32 / packed * (i % packed));
      registers.rank[i / packed] = i % packed == 0 ? rank : registers.rank[i / packed] | rank;
    }
    if (overflow.seen()) L::add(&scratch.overflows, 1);
  }

  /// The sums of words are kept where registers are left for them, or added up twice: not in long chunks, and not by wide counters,
  /// which others with more to hold count by.
  template <class Counters>
  static constexpr bool keeps_sums = longer == 0 && std::is_same_v<Counters, Narrow>;
  /// The keys before each word. A lane takes four words at a time, and two such rounds as halves of one.
  template <class Counters>
  KOKKOS_FUNCTION static void scan(const Team& team, Scratch& scratch) {
    const int thread = team.team_rank(), group = thread / L::width, lane = L::lane(thread);
    const FourWords* const mine = scratch.counters + first_of(thread);
    std::uint32_t before[rounds], sums_of_words[rounds] = {}, sum = 0;
    KRADIX_UNROLL
    for (int r = 0; r < rounds; r += 2) {
      const std::uint32_t low = sum_of<Counters>(mine[r * L::width], sums_of_words[r]);
      const std::uint32_t high = sum_of<Counters>(mine[(r + 1) * L::width], sums_of_words[r + 1]);
      const std::uint32_t both = low | high << 16;
      const std::uint32_t lanes_before = L::scan(both, lane);
      const std::uint32_t all_lanes = L::from_last(lanes_before + both);
      before[r] = sum + (lanes_before & 0xffffu);
      sum += all_lanes & 0xffffu;
      before[r + 1] = sum + (lanes_before >> 16);
      sum += all_lanes >> 16;
    }
    if (lane == 0) scratch.sums[group] = sum;
    team.team_barrier();
    std::uint32_t groups_before = 0;
    for (int g = 0; g < group; ++g) groups_before += scratch.sums[g];
    KRADIX_UNROLL
    for (int r = 0; r < rounds; ++r) {
      if constexpr (!keeps_sums<Counters>) sum_of<Counters>(mine[r * L::width], sums_of_words[r]);
      FourSums sums;
      std::uint32_t next = groups_before + before[r];
      KRADIX_UNROLL
      for (int i = 0; i < 4; ++i) {
        sums.before[i] = static_cast<std::uint16_t>(next);
        next += sums_of_words[r] >> 8 * i & 0xffu;
      }
      scratch.before[first_of(thread) + r * L::width] = sums;
    }
  }

  /// The first four of the words that a thread sums up; its next ones follow at lengths of a group.
  KOKKOS_FUNCTION static int first_of(int thread) {
    return thread / L::width * rounds * L::width + L::lane(thread);
  }

  /// By value, lest it be read word by word. Tells the sums of words, too, a byte each.
  template <class Counters>
  KOKKOS_FUNCTION static std::uint32_t sum_of(FourWords four, std::uint32_t& each) {
    static_assert(Counters::per_word * Counters::most < 256);
    std::uint32_t sum = 0;
    each = 0;
    KRADIX_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t own = Counters::sum(four.word[i]);
      sum += own;
      each |= own << 8 * i;
    }
    return sum;
  }

  /// Places in the chunk. Of keys that share a counter, the second `Queues` them.
  template <class Counters, bool Queues, class By>
  KOKKOS_FUNCTION static void rank(int thread, const By& index, Scratch& scratch,
                                   Registers& registers) {
    constexpr int packed = Counters::per_word, bits = 32 / packed;
    std::uint32_t second[(items + packed - 1) / packed] = {};
    std::uint32_t slot = 0;
    if constexpr (Queues) slot = first_slot<Counters>(thread, scratch, registers, second);
    constexpr int batch = 3;  // whose words are on their way together
    KRADIX_UNROLL
    for (int begin = 0; begin < items; begin += batch) {
      std::uint32_t shift[batch], word[batch], first[batch];
      L::settle(registers.rank[begin / packed]);  // or all ranks would be unpacked at once
      L::settle(registers.rank[(begin + batch - 1) / packed]);
      KRADIX_UNROLL
      for (int b = 0; b < batch && begin + b < items; ++b) {
        L::settle(registers.settled(begin + b));
        const std::uint32_t at = registers.index_by(index, begin + b);
        shift[b] = Counters::shift_of(at);
        word[b] = *word_at<Counters>(scratch, at);
        first[b] = (&scratch.before[0].before[0])[Counters::word_of(at)];
      }
      KRADIX_UNROLL
      for (int b = 0; b < batch && begin + b < items; ++b) {
        const int i = begin + b;
        first[b] += Counters::before(word[b], shift[b]);
        if (Queues && (second[i / packed] >> (bits * (i % packed)) & 1) != 0) {
          scratch.queue[slot] = {static_cast<std::uint16_t>(first[b]),
                                 static_cast<std::uint16_t>(Counters::counter(word[b], shift[b]))};
          ++slot;
        }
        registers.place[i] =
            first[b] + Counters::counter(registers.rank[i / packed], bits * (i % packed));
      }
      L::settle_memory();
    }
  }

  /// Which of a thread's keys came second to their counters (a bit each where its rank is packed), and where in
  /// the queue the thread's entries start; none if they do not fit.
  template <class Counters>
  KOKKOS_FUNCTION static std::uint32_t first_slot(int thread, Scratch& scratch,
                                                  const Registers& registers,
                                                  std::uint32_t* second) {
    constexpr int packed = Counters::per_word, words = (items + packed - 1) / packed;
    std::uint32_t mine = 0;
    KRADIX_UNROLL
    for (int w = 0; w < words; ++w) {
      const int there = registers.count - w * packed;  // items that this word packs
      const std::uint32_t mask =
          there >= packed ? ~0u : (1u << (there > 0 ? 32 / packed * there : 0)) - 1;
      second[w] = Counters::those_at_one(registers.rank[w]) & mask;
      mine += count_bits(second[w]);
    }
    const int lane = L::lane(thread);
    const std::uint32_t before = L::scan(mine, lane);
    std::uint32_t slot = 0;
    if (lane == L::width - 1) slot = L::add(&scratch.queued, before + mine);
    slot = L::from_last(slot) + before;
    if constexpr (!queues_all) {
      if (slot + mine > queue_size) {
        KRADIX_UNROLL
        for (int w = 0; w < words; ++w) second[w] = 0;
      }
    }
    return slot;
  }

  KOKKOS_FUNCTION void place(int thread, Scratch& scratch, const Registers& registers) const {
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (i < registers.count) scratch.keys[registers.place[i]] = registers.key[i];
    }
    if (!Ordered || (!with_values && !keeps_order)) return;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (i >= registers.count) continue;
      scratch.from[registers.place[i]] = static_cast<std::uint16_t>(i * threads + thread);
    }
  }

  /// Keys that share a counter are sorted by whichever thread comes first, not by the one that happens to
  /// hold them.
  template <class Counters, class By>
  KOKKOS_FUNCTION void sort_shared(const Team& team, int size, const By& index,
                                   Scratch& scratch) const {
    if constexpr (!queues_all) {
      if (scratch.queued > queue_size) {
        sort_at_all_places<Counters>(team, size, index, scratch);
        return;
      }
    }
    for (auto i = static_cast<std::uint32_t>(team.team_rank()); i < scratch.queued; i += threads) {
      sort_places(scratch, scratch.queue[i].first, scratch.queue[i].end());
    }
  }

  /// Everybody learns how many share before anybody moves a key.
  template <class Counters, class By>
  KOKKOS_FUNCTION void sort_at_all_places(const Team& team, int size, const By& index,
                                          Scratch& scratch) const {
    for (int begin = 0; begin < size; begin += threads) {
      const int first = begin + team.team_rank();
      int end = first + 1;
      if (first < size && (first == 0 || !same_index<Counters>(index, scratch, first - 1, first))) {
        while (end < size && same_index<Counters>(index, scratch, first, end)) ++end;
      }
      team.team_barrier();
      sort_places(scratch, first, end);
      team.team_barrier();
    }
  }

  template <class Counters, class By>
  KOKKOS_FUNCTION static bool same_index(const By& index, const Scratch& scratch, int a, int b) {
    const std::uint32_t difference = index.of(scratch.keys[a]) - index.of(scratch.keys[b]);
    return (difference & ((1u << Counters::index_bits) - 1)) == 0;
  }

  KOKKOS_FUNCTION void sort_places(Scratch& scratch, int first, int end) const {
    for (int place = first + 1; place < end; ++place) insert(scratch, first, place);
  }

  /// Moves the element at `place` down among those from `first` on.
  KOKKOS_FUNCTION void insert(Scratch& scratch, int first, int place) const {
    const bool with_from = Ordered && (with_values || keeps_order);
    const Key key = scratch.keys[place];
    const Bits bits = codec.encode(key) & mask;
    const std::uint16_t from = with_from ? scratch.from[place] : std::uint16_t{0};
    int to = place;
    for (; to > first; --to) {
      const Key other = scratch.keys[to - 1];
      const Bits other_bits = codec.encode(other) & mask;
      if (other_bits < bits) break;
      if (other_bits == bits && (!with_from || scratch.from[to - 1] < from)) break;
      scratch.keys[to] = other;
      if (with_from) scratch.from[to] = scratch.from[to - 1];
    }
    scratch.keys[to] = key;
    if (with_from) scratch.from[to] = from;
  }

  /// The result may lie where the chunk came from: all has been read.
  KOKKOS_FUNCTION void write(const Team& team, const Chunk& chunk, const Value* values, int count,
                             Scratch& scratch) const {
    const int thread = team.team_rank();
    std::conditional_t<with_values, Value, char> mine[with_values ? items : 1];
    if constexpr (with_values) load_values(thread, count, values, mine);
    if (!buffers.leaves_keys) {
      Key* const out = buffers.keys.result + chunk.begin() + thread;
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        if (i < count) out[i * threads] = (scratch.keys + thread)[i * threads];
        if (i % 4 == 3) L::settle_memory();
      }
    }
    if constexpr (with_values) {
      team.team_barrier();
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        if (i < count) (scratch.values + thread)[i * threads] = mine[i];
      }
      team.team_barrier();
      Value* const out = buffers.values.result + chunk.begin() + thread;
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        if (i < count) out[i * threads] = scratch.values[(scratch.from + thread)[i * threads]];
        if (i % 4 == 3) L::settle_memory();
      }
    }
  }
};

}  // namespace kradix::impl
