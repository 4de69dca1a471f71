// The finish in scratch: a chunk whose keys lie close together is sorted at once by 15 bits of them.
//
// Each key counts into one of 32768 counters of 4 bits; the counters before its own, summed, are its
// place. Keys that share a counter are few: they are sorted among themselves by the whole key and then by
// where they stood, so the sort is stable whatever order the counters saw. A chunk with too many keys
// alike is given up to FinishRanges.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/chunks.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// 4-bit counters, eight to a word. A word's counters never sum up to more than 15, so one product gives
/// the sum of all, or of those before each, without a carry.
struct PackedCounters {
  static constexpr int index_bits = 15, per_word = 8, words = (1 << index_bits) / per_word;
  static constexpr std::uint32_t ones = 0x11111111u;
  /// Words are summed four at a time.
  struct alignas(16) Four {
    std::uint32_t word[4];
  };
  struct alignas(8) FourSums {
    std::uint16_t before[4];
  };

  // Bits above the index are ignored.
  KOKKOS_FUNCTION static std::uint32_t word_of(std::uint32_t index) {
    return index / per_word & (words - 1);
  }
  KOKKOS_FUNCTION static std::uint32_t shift_of(std::uint32_t index) { return index * 4 & 28; }
  KOKKOS_FUNCTION static std::uint32_t counter(std::uint32_t word, std::uint32_t shift) {
    return word >> shift & 15;
  }
  KOKKOS_FUNCTION static std::uint32_t before(std::uint32_t word, std::uint32_t shift) {
    return counter(word * (ones - 1), shift);
  }
  KOKKOS_FUNCTION static std::uint32_t sum(std::uint32_t word) { return word * ones >> 28; }
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
};

template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct FinishChunk {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Counters = PackedCounters;
  using Index = IndexReader<Codec>;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr int threads = Shape.threads, items = Shape.items, most = threads * items;
  static constexpr int groups = threads / L::width;
  /// Some 300 of 4608 keys that spread evenly share a counter; twice as many where the chunk's keys span
  /// little more than half of the indices.
  static constexpr std::uint32_t queue_size = 1024;
  static_assert(most < 1 << Chunk::size_bits && Counters::words % (8 * threads) == 0 &&
                queue_size >= threads);

  SortBuffers<Key, Value> buffers;
  Codec codec;
  DigitList all;
  Bits mask;         ///< of the bits that count
  bool keeps_order;  ///< equal keys may differ otherwise
  const PassTable* passes;
  const Route* route;
  std::uint64_t* chunks;

  struct Scratch {
    union {
      struct {
        Counters::Four counters[Counters::words / 4];
        Counters::FourSums before[Counters::words / 4];
      };
      struct {
        union {
          Key keys[most];
          std::conditional_t<with_values, Value, char> values[most];
        };
        std::uint16_t from[most];
      };
    };
    std::uint16_t queue[queue_size];  ///< first places of keys that share a counter
    std::uint32_t sums[groups];
    Bits first, last;  ///< of the chunk's keys, by the bits that were swept and those above
    std::uint32_t queued;
    std::uint32_t overflows;
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  struct Registers {
    int count;  ///< of the thread's items that are there
    Key key[items];
    std::uint32_t rank[items];
    std::conditional_t<with_values, Value, char> value[items];
  };

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (!passes->finishes) return;
    const std::uint64_t listed = route->chunks;
    const Key* const keys = buffers.keys.end(passes->count);
    const int swept = route->digits.begin;
    const auto step = static_cast<std::uint64_t>(team.league_size());
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    for (auto entry = static_cast<std::uint64_t>(team.league_rank()); entry < listed;
         entry += step) {
      const Chunk chunk{chunks[entry]};
      if (chunk.size() == 0) continue;
      const Value* values = nullptr;
      if constexpr (with_values) values = buffers.values.end(passes->count) + chunk.begin();
      const bool sorted = sort(team, chunk, keys + chunk.begin(), values, swept, scratch);
      if (!sorted && team.team_rank() == 0) chunks[entry] = chunk.word | Chunk::given_up;
      team.team_barrier();
    }
  }

  /// Sorts `keys` and `values` (null: each element's index) to the chunk's place in the result. All keys
  /// agree in the bits from `swept` on, or come in their order.
  /// False if the chunk is given up, and then it is as it was.
  KOKKOS_FUNCTION bool sort(const Team& team, const Chunk& chunk, const Key* keys,
                            const Value* values, int swept, Scratch& scratch) const {
    const int thread = team.team_rank(), size = chunk.size();
    Registers registers;
    load(thread, size, keys, swept, scratch, registers);
    if constexpr (with_values) load_values(thread, values, registers);
    clear(thread, scratch);
    team.team_barrier();
    const Index index = index_of(scratch, swept);
    count(index, scratch, registers);
    team.team_barrier();
    if (scratch.overflows != 0) return false;
    scan(team, scratch);
    team.team_barrier();
    rank(thread, index, scratch, registers);
    team.team_barrier();
    place(thread, scratch, registers);
    team.team_barrier();
    sort_shared(team, size, index, scratch);
    write(team, chunk, scratch, registers);
    return true;
  }

  KOKKOS_FUNCTION void load(int thread, int size, const Key* keys, int swept, Scratch& scratch,
                            Registers& registers) const {
    registers.count = (size - thread + threads - 1) / threads;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      registers.key[i] = i < registers.count ? (keys + thread)[i * threads] : Key{};
    }
    if (thread == 0) {
      scratch.first = above(codec.encode(keys[0]) & mask, swept);
      scratch.last = above(codec.encode(keys[size - 1]) & mask, swept);
    }
  }

  /// A shift by all bits leaves none.
  KOKKOS_FUNCTION static Bits above(Bits bits, int swept) {
    return swept < Codec::bits ? static_cast<Bits>(bits >> swept) : Bits{0};
  }

  KOKKOS_FUNCTION static void load_values(int thread, const Value* values, Registers& registers) {
    if constexpr (std::is_integral_v<Value>) {
      if (values == nullptr) {
        KRADIX_UNROLL
        for (int i = 0; i < items; ++i)
          registers.value[i] = static_cast<Value>(i * threads + thread);
        return;
      }
    }
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (i < registers.count) registers.value[i] = (values + thread)[i * threads];
    }
  }

  KOKKOS_FUNCTION static void clear(int thread, Scratch& scratch) {
    for (int i = thread; i < Counters::words / 4; i += threads) scratch.counters[i] = {};
    if (thread == 0) scratch.overflows = scratch.queued = 0;
  }

  KOKKOS_FUNCTION static std::uint32_t* word_at(Scratch& scratch, std::uint32_t index) {
    return &scratch.counters[0].word[0] + Counters::word_of(index);
  }

  /// The topmost 15 bits that tell the chunk's keys apart.
  KOKKOS_FUNCTION Index index_of(const Scratch& scratch, int swept) const {
    int low = bit_width_of(static_cast<Bits>(scratch.last - scratch.first)) + swept -
              Counters::index_bits;
    // The first key need not be a multiple of a larger unit than that of the swept bits.
    if (low > swept) ++low;
    const Bits first = swept < Codec::bits ? static_cast<Bits>(scratch.first << swept) : Bits{0};
    return {codec, low > all.begin ? low : all.begin, first};
  }

  /// A missing item adds nothing to the counter of what its register holds: no branch serialises this.
  KOKKOS_FUNCTION static void count(const Index& index, Scratch& scratch, Registers& registers) {
    std::uint32_t most_sum = 0;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::uint32_t at = index.of(registers.key[i]);
      const std::uint32_t shift = Counters::shift_of(at);
      const std::uint32_t one = i < registers.count ? 1 : 0;
      const std::uint32_t old = L::add(word_at(scratch, at), one << shift);
      registers.rank[i] = Counters::counter(old, shift);
      const std::uint32_t sum = old * Counters::ones;
      most_sum = sum > most_sum ? sum : most_sum;
    }
    if (most_sum >> 28 == 15) L::add(&scratch.overflows, 1);
  }

  /// The keys before each word. A lane takes four words at a time, and two such rounds as halves of one.
  KOKKOS_FUNCTION static void scan(const Team& team, Scratch& scratch) {
    constexpr int rounds = Counters::words / (8 * threads);
    const int thread = team.team_rank(), group = thread / L::width, lane = L::lane(thread);
    std::uint32_t before[2 * rounds], sum = 0;
    KRADIX_UNROLL
    for (int r = 0; r < rounds; ++r) {
      const int at = (group * rounds + r) * 2 * L::width + lane;
      const std::uint32_t mine =
          sum_of(scratch.counters[at]) | sum_of(scratch.counters[at + L::width]) << 16;
      const std::uint32_t lanes_before = L::scan(mine, lane);
      const std::uint32_t all_lanes = L::from_last(lanes_before + mine);
      before[2 * r] = sum + (lanes_before & 0xffffu);
      sum += all_lanes & 0xffffu;
      before[2 * r + 1] = sum + (lanes_before >> 16);
      sum += all_lanes >> 16;
    }
    if (lane == 0) scratch.sums[group] = sum;
    team.team_barrier();
    std::uint32_t groups_before = 0;
    for (int g = 0; g < group; ++g) groups_before += scratch.sums[g];
    KRADIX_UNROLL
    for (int r = 0; r < 2 * rounds; ++r) {
      const int at = (group * rounds * 2 + r) * L::width + lane;
      const Counters::Four four = scratch.counters[at];
      Counters::FourSums sums;
      std::uint32_t next = groups_before + before[r];
      KRADIX_UNROLL
      for (int i = 0; i < 4; ++i) {
        sums.before[i] = static_cast<std::uint16_t>(next);
        next += Counters::sum(four.word[i]);
      }
      scratch.before[at] = sums;
    }
  }

  KOKKOS_FUNCTION static std::uint32_t sum_of(const Counters::Four& four) {
    std::uint32_t sum = 0;
    KRADIX_UNROLL
    for (int i = 0; i < 4; ++i) sum += Counters::sum(four.word[i]);
    return sum;
  }

  /// Places in the chunk. Of keys that share a counter, the second queues the place of the first.
  KOKKOS_FUNCTION static void rank(int thread, const Index& index, Scratch& scratch,
                                   Registers& registers) {
    std::uint32_t slot = first_slot(thread, scratch, registers);
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      L::settle(registers.key[i]);
      const std::uint32_t at = index.of(registers.key[i]);
      const std::uint32_t first = (&scratch.before[0].before[0])[Counters::word_of(at)] +
                                  Counters::before(*word_at(scratch, at), Counters::shift_of(at));
      if (is_second(registers, i)) {
        if (slot < queue_size) scratch.queue[slot] = static_cast<std::uint16_t>(first);
        ++slot;
      }
      registers.rank[i] += first;
      if (i % 4 == 3) L::settle_memory();
    }
  }

  KOKKOS_FUNCTION static bool is_second(const Registers& registers, int item) {
    return registers.rank[item] == 1 && item < registers.count;
  }

  /// Where in the queue a thread's entries start.
  KOKKOS_FUNCTION static std::uint32_t first_slot(int thread, Scratch& scratch,
                                                  const Registers& registers) {
    std::uint32_t mine = 0;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) mine += is_second(registers, i) ? 1 : 0;
    const int lane = L::lane(thread);
    const std::uint32_t before = L::scan(mine, lane);
    std::uint32_t slot = 0;
    if (lane == L::width - 1) slot = L::add(&scratch.queued, before + mine);
    return L::from_last(slot) + before;
  }

  KOKKOS_FUNCTION void place(int thread, Scratch& scratch, const Registers& registers) const {
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (i < registers.count) scratch.keys[registers.rank[i]] = registers.key[i];
    }
    if (!with_values && !keeps_order) return;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (i >= registers.count) continue;
      scratch.from[registers.rank[i]] = static_cast<std::uint16_t>(i * threads + thread);
    }
  }

  /// Keys that share a counter are sorted by whichever thread comes first, not by the one that happens
  /// to hold them. If there are too many to queue, all places are looked at in turn.
  KOKKOS_FUNCTION void sort_shared(const Team& team, int size, const Index& index,
                                   Scratch& scratch) const {
    const int thread = team.team_rank();
    if (scratch.queued <= queue_size) {
      sort_queued(team, size, index, scratch);
      return;
    }
    for (int begin = 0; begin < size; begin += threads) {
      team.team_barrier();
      if (thread == 0) scratch.queued = 0;
      team.team_barrier();
      const int place = begin + thread;
      if (place + 1 < size && same_index(index, scratch, place, place + 1) &&
          (place == 0 || !same_index(index, scratch, place - 1, place))) {
        scratch.queue[L::add(&scratch.queued, 1)] = static_cast<std::uint16_t>(place);
      }
      team.team_barrier();
      sort_queued(team, size, index, scratch);
    }
  }

  /// Everybody learns how many share before anybody moves a key.
  KOKKOS_FUNCTION void sort_queued(const Team& team, int size, const Index& index,
                                   Scratch& scratch) const {
    const auto queued = static_cast<int>(scratch.queued);
    for (int begin = 0; begin < queued; begin += threads) {
      const int entry = begin + team.team_rank();
      const int first = entry < queued ? scratch.queue[entry] : 0;
      int end = first + 1;
      while (entry < queued && end < size && same_index(index, scratch, first, end)) ++end;
      team.team_barrier();
      for (int place = first + 1; place < end; ++place) insert(scratch, first, place);
      team.team_barrier();
    }
  }

  KOKKOS_FUNCTION static bool same_index(const Index& index, const Scratch& scratch, int a, int b) {
    const std::uint32_t difference = index.of(scratch.keys[a]) - index.of(scratch.keys[b]);
    return (difference & ((1u << Counters::index_bits) - 1)) == 0;
  }

  /// Moves the element at `place` down among those from `first` on.
  KOKKOS_FUNCTION void insert(Scratch& scratch, int first, int place) const {
    const bool with_from = with_values || keeps_order;
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
  KOKKOS_FUNCTION void write(const Team& team, const Chunk& chunk, Scratch& scratch,
                             const Registers& registers) const {
    const int thread = team.team_rank();
    if (!buffers.leaves_keys) {
      Key* const out = buffers.keys.result + chunk.begin() + thread;
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        if (i < registers.count) out[i * threads] = (scratch.keys + thread)[i * threads];
        if (i % 4 == 3) L::settle_memory();
      }
    }
    if constexpr (with_values) {
      team.team_barrier();
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        if (i < registers.count) (scratch.values + thread)[i * threads] = registers.value[i];
      }
      team.team_barrier();
      Value* const out = buffers.values.result + chunk.begin() + thread;
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        if (i < registers.count) {
          out[i * threads] = scratch.values[(scratch.from + thread)[i * threads]];
        }
        if (i % 4 == 3) L::settle_memory();
      }
    }
  }
};

}  // namespace kradix::impl
