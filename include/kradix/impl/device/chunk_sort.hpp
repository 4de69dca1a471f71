// What fits a team's scratch sorted there, whatever its keys.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/digit.hpp"
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

/// How teams of this shape sort so many elements: words by networks, or codes beside their places by merges.
template <class ExecutionSpace, class Codec, TeamShape Shape, bool MakesKeys>
struct SortedAs {
  static constexpr int bits = Codec::bits + (MakesKeys ? 0 : chunk_place_bits);
  using Word = std::conditional_t<bits <= 32, std::uint32_t, std::uint64_t>;
  using type = std::conditional_t<
      bits <= 64, MergeWords<ExecutionSpace, Word, Shape>,
      MergeCodes<ExecutionSpace, typename Codec::bits_type, Shape.threads, Shape.round()>>;
};

}  // namespace kradix::impl
