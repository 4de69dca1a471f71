// What fits a team's scratch sorted there, whatever its keys; and a sort of what one team holds, in one kernel.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/digit_words.hpp"
#include "kradix/impl/device/finish_chunk.hpp"
#include "kradix/impl/device/merge_codes.hpp"
#include "kradix/impl/device/merge_words.hpp"
#include "kradix/key.hpp"

namespace kradix::impl {

/// Bits of a place in a chunk that is sorted beside codes.
inline constexpr int chunk_place_bits = 13;

/// One team sorts elements in its scratch, by `Sorted`, in about the same time whatever they are. `MakesKeys`: codes are all that travels, of keys
/// alone in the order of all their bits.
template <class ExecutionSpace, class Codec, class Value, class Sorted, bool MakesKeys>
struct ChunkSort {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using Registers = typename Sorted::Registers;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr bool are_words = requires { typename Sorted::word_type; };
  static constexpr int most = Sorted::most, each = Sorted::each, parts = Sorted::parts;
  static constexpr int place_bits = chunk_place_bits;
  static_assert(MakesKeys ? !with_values && invertible_codec<Codec> : most < 1 << place_bits);

  Codec codec;
  DigitList all;
  TeamElements<Key, Value> elements;

  union Scratch {
    typename Sorted::Scratch sorted;
    std::conditional_t<MakesKeys, char, Key> keys[most];
    std::conditional_t<with_values, Value, char> values[most];
    KOKKOS_FUNCTION Scratch() {}
  };

  KOKKOS_FUNCTION void sort(const Team& team, Scratch& scratch) const {
    Registers registers;
    load(team.team_rank(), registers);
    Sorted::sort(team, elements.size, MakesKeys ? 0 : place_bits, scratch.sorted, registers);
    if (elements.keys_out != nullptr) write_keys(team, scratch, registers);
    if constexpr (with_values) {
      if (elements.values != nullptr) {
        deal(team, registers, elements.values, scratch.values, elements.values_out);
      } else if constexpr (std::is_integral_v<Value>) {
        each_element(team.team_rank(), [&](int place, int p, int i) {
          elements.values_out[place] = static_cast<Value>(origin(registers, p, i));
        });
      }
    }
  }

 private:
  /// Whatever is there: calls `act` with its place, and where it is in registers.
  template <class Act>
  KOKKOS_FUNCTION void each_element(int thread, const Act& act) const {
    KRADIX_UNROLL
    for (int p = 0; p < parts; ++p) {
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) {
        const int place = Sorted::place_of(thread, p, i);
        if (place < elements.size) act(place, p, i);
      }
    }
  }

  KOKKOS_FUNCTION void load(int thread, Registers& registers) const {
    const Bits mask =
        MakesKeys ? low_mask<Bits>(Codec::bits) : bits_between<Bits>(all.begin, all.end);
    KRADIX_UNROLL
    for (int p = 0; p < parts; ++p) {
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) {
        const int place = Sorted::place_of(thread, p, i);
        const bool exists = place < elements.size;
        const Bits code = static_cast<Bits>(codec.encode(elements.keys[exists ? place : 0]) & mask);
        if constexpr (are_words) {
          using Word = typename Sorted::word_type;
          Word word = static_cast<Word>(code);
          if constexpr (!MakesKeys) word = word << place_bits | static_cast<Word>(place);
          registers.word(p, i) = exists ? word : static_cast<Word>(~Word{0});
        } else {
          registers.code[p][i] = exists ? code : static_cast<Bits>(~Bits{0});
        }
      }
    }
  }

  KOKKOS_FUNCTION static Bits code(const Registers& registers, int p, int i) {
    if constexpr (are_words) {
      return static_cast<Bits>(registers.word(p, i) >> (MakesKeys ? 0 : place_bits));
    } else {
      return registers.code[p][i];
    }
  }
  /// Where an element was.
  KOKKOS_FUNCTION static int origin(const Registers& registers, int p, int i) {
    if constexpr (are_words) {
      return static_cast<int>(registers.word(p, i) & ((1u << place_bits) - 1));
    } else {
      return registers.place[p][i];
    }
  }

  /// Of their codes, if these are all of a key.
  KOKKOS_FUNCTION void write_keys(const Team& team, [[maybe_unused]] Scratch& scratch,
                                  const Registers& registers) const {
    if constexpr (invertible_codec<Codec>) {
      if (MakesKeys || (all.begin == 0 && all.end == Codec::bits)) {
        each_element(team.team_rank(), [&](int place, int p, int i) {
          elements.keys_out[place] = codec.decode(code(registers, p, i));
        });
        return;
      }
    }
    if constexpr (!MakesKeys) {
      deal(team, registers, elements.keys, scratch.keys, elements.keys_out);
    }
  }

  /// To the places of their keys, by way of scratch: all are read before.
  template <class T>
  KOKKOS_FUNCTION void deal(const Team& team, const Registers& registers, const T* from, T* scratch,
                            T* to) const {
    const int thread = team.team_rank();
    team.team_barrier();
    each_element(thread, [&](int place, int, int) { scratch[place] = from[place]; });
    team.team_barrier();
    each_element(thread,
                 [&](int place, int p, int i) { to[place] = scratch[origin(registers, p, i)]; });
  }
};

/// How teams of this shape sort so many elements: words by networks, by digits, or codes beside their places by merges.
template <class ExecutionSpace, class Codec, TeamShape Shape, bool MakesKeys>
struct SortedAs {
  using Bits = typename Codec::bits_type;
  static constexpr int bits = Codec::bits + (MakesKeys ? 0 : chunk_place_bits);
  static constexpr bool is_serial = Shape.threads == 1;
  static constexpr TeamShape more_threads =
      is_serial ? Shape : TeamShape{2 * Shape.threads, Shape.items / 2, 1};
  /// Two digits are sooner gone over than many words are compared, whatever travels.
  static constexpr bool are_shorts = MakesKeys && Codec::bits <= 2 * digit_bits;
  static constexpr bool by_digits =
      (!MakesKeys || are_shorts) && sizeof(Bits) == 4 && Shape.items >= 16;
  using Word = std::conditional_t<by_digits && are_shorts, std::uint16_t,
                                  std::conditional_t<bits <= 32, std::uint32_t, std::uint64_t>>;
  static constexpr TeamShape shape = by_digits ? more_threads : Shape;
  using Words = MergeWords<ExecutionSpace, Word, Shape>;
  using type = std::conditional_t<
      by_digits, DigitWords<ExecutionSpace, Word, more_threads, Codec::bits>,
      std::conditional_t<bits <= 64, Words,
                         MergeCodes<ExecutionSpace, Bits, Shape.threads, Shape.round()>>>;
};

/// All that there is, by one team, in one launch. Where it is worth while, a `Finish` tries first.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape, bool MakesKeys,
          TeamShape FinishShape = TeamShape{0, 0}>
struct SortOneChunk {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using As = SortedAs<ExecutionSpace, Codec, Shape, MakesKeys>;
  using Sort = ChunkSort<ExecutionSpace, Codec, Value, typename As::type, MakesKeys>;
  static constexpr TeamShape shape = As::shape;
  static constexpr bool may_finish = FinishShape.exists();
  using Finish =
      FinishChunk<ExecutionSpace, Codec, Value, may_finish ? FinishShape : TeamShape{32, 4}>;
  using Combined = CombinedBits<ExecutionSpace, shape.threads, Bits>;
  static_assert(!may_finish ||
                (FinishShape.threads == shape.threads && FinishShape.round() >= Shape.round()));

  SortBuffers<Key, Value> buffers;
  Codec codec;
  DigitList all;
  bool keeps_order;  ///< as for a finish
  int count;

  union Scratch {
    typename Sort::Scratch sort;
    std::conditional_t<may_finish, typename Finish::Scratch, char> finish;
    std::uint64_t seen[Combined::words];
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    auto& scratch = *take_scratch<Scratch>(team, 1);
    const Value* values = nullptr;
    if constexpr (Sort::with_values) values = buffers.makes_indices ? nullptr : buffers.values.in;
    if constexpr (may_finish) {
      if (finish(team, values, scratch)) return;
    }
    const Sort sort{codec,
                    all,
                    {count, buffers.keys.in, values,
                     buffers.leaves_keys ? nullptr : buffers.keys.result, buffers.values.result}};
    sort.sort(team, scratch.sort);
  }

 private:
  /// By one count, if keys spread. False if they are too close together.
  KOKKOS_FUNCTION bool finish(const Team& team, const Value* values, Scratch& scratch) const {
    // A finish looks at so many bits, whoever's they are.
    if (all.end - all.begin < Finish::Wide::index_bits) return false;
    const Bits mask = bits_between<Bits>(all.begin, all.end);
    const Bits first = codec.encode(buffers.keys.in[0]);
    Bits differ = 0;
    for (int i = team.team_rank(); i < count; i += shape.threads) {
      differ |= codec.encode(buffers.keys.in[i]) ^ first;
    }
    const Bits varying = Combined::over(team, static_cast<Bits>(differ & mask), scratch.seen);
    team.team_barrier();
    const Finish finish{buffers, codec, all, mask, keeps_order, nullptr, nullptr, {}};
    const bool sorted = finish.sort(team, Chunk::make(0, count), buffers.keys.in, values,
                                    bit_width_of(varying), scratch.finish);
    if (!sorted) team.team_barrier();
    return sorted;
  }
};

}  // namespace kradix::impl
