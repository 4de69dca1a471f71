// A few elements sorted by one team that compares each with all.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/chunks.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// An element's word is its key, by the bits that may differ, and its place: no two words are the same, and as many
/// elements come before one as have lesser words.
template <class ExecutionSpace, class Codec, class Value, int Threads>
struct SortFew {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using Word = std::conditional_t<sizeof(Bits) <= 4, std::uint32_t, std::uint64_t>;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr int place_bits = 8, most = 1 << place_bits;
  static constexpr int most_bits = 8 * sizeof(Word) - place_bits;  ///< of keys
  static constexpr int batch = 16 / sizeof(Word);                  ///< words of one load
  static constexpr int each = (most + Threads - 1) / Threads;

  struct alignas(16) Words {
    Word of[batch];
  };
  union Scratch {
    Word word[each * Threads];
    Words words[each * Threads / batch];
    KOKKOS_FUNCTION Scratch() {}
  };

  SortBuffers<Key, Value> buffers;
  Codec codec;
  DigitList varying;  ///< bits in which keys may differ

  /// As that of a finish; at most `most` elements.
  KOKKOS_FUNCTION void sort(const Team& team, const Chunk& chunk, const Key* keys,
                            const Value* values, Scratch& scratch) const {
    const int thread = team.team_rank(), size = chunk.size();
    const Bits mask = bits_between<Bits>(varying.begin, varying.end);
    Key key[each];
    std::conditional_t<with_values, Value, char> value[with_values ? each : 1];
    Word mine[each];
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      const int place = i * Threads + thread;
      const bool exists = place < size;
      key[i] = keys[exists ? place : 0];
      if constexpr (with_values) value[i] = value_at(values, exists ? place : 0);
      // What does not exist comes last. (ptxas 13.0 loses the mask where a key's word is made behind a branch.)
      const Word word = word_of(key[i], mask, place);
      mine[i] = exists ? word : static_cast<Word>(~Word{0});
      scratch.word[place] = mine[i];
    }
    team.team_barrier();
    int rank[batch][each] = {};  // in so many sums that none is waited for
    for (int l = 0; l < (size + batch - 1) / batch; ++l) {
      const Words others = scratch.words[l];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) {
        KRADIX_UNROLL
        for (int i = 0; i < each; ++i) rank[b][i] += others.of[b] < mine[i] ? 1 : 0;
      }
    }
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      if (i * Threads + thread >= size) continue;
      std::size_t place = chunk.begin();
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) place += rank[b][i];
      if (!buffers.leaves_keys) buffers.keys.result[place] = key[i];
      if constexpr (with_values) buffers.values.result[place] = value[i];
    }
  }

 private:
  KOKKOS_FUNCTION Word word_of(const Key& key, Bits mask, int place) const {
    const Bits bits = codec.encode(key) & mask;
    return static_cast<Word>(bits >> varying.begin) << place_bits | static_cast<Word>(place);
  }
  KOKKOS_FUNCTION static Value value_at(const Value* values, int place) {
    if constexpr (std::is_integral_v<Value>) {
      if (values == nullptr) return static_cast<Value>(place);
    }
    return values[place];
  }
};

}  // namespace kradix::impl
