// Keys of 4 bytes whose indices are wanted, each with its index in one word: its code above, the index below. So no two are
// equal, nobody has to keep their order, and what gathers keys alone (gather_tiles.hpp, finish_gathered.hpp) sorts them.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/chunks.hpp"
#include "kradix/impl/device/gathering.hpp"
#include "kradix/impl/tuning.hpp"
#include "kradix/key.hpp"

namespace kradix::impl {

/// Keys that have room for their indices beside them, where words of that length may be gathered.
template <class ExecutionSpace, class Codec, class Value>
inline constexpr bool may_be_numbered =
    std::is_same_v<Codec, WordCodec<std::uint32_t, false>>&& std::is_same_v<Value, std::uint32_t>&&
        gather_shape<ExecutionSpace>(sizeof(std::uint64_t), 0)
            .exists();

/// A key's code and its index.
struct Numbered {
  using Word = std::uint64_t;
  using Codec = WordCodec<Word, false>;
  static constexpr int bits = 32;  ///< of the index

  KOKKOS_FUNCTION static Word make(std::uint32_t code, std::uint32_t index) {
    return Word{code} << bits | index;
  }
  KOKKOS_FUNCTION static std::uint32_t code(Word word) {
    return static_cast<std::uint32_t>(word >> bits);
  }
  KOKKOS_FUNCTION static std::uint32_t index(Word word) { return static_cast<std::uint32_t>(word); }
};

/// They are made by whoever reads the keys.
template <class KeyCodec>
struct NumberedKeys {
  const std::uint32_t* keys;
  std::uint32_t index;  ///< of the first
  KeyCodec codec;

  KOKKOS_FUNCTION NumberedKeys operator+(int places) const {
    return {keys + places, index + static_cast<std::uint32_t>(places), codec};
  }
  KOKKOS_FUNCTION Numbered::Word operator[](std::uint32_t i) const {
    return Numbered::make(codec.encode(keys[i]), index + i);
  }
};

/// As `KeysInTiles`. Tiles lie in the array that the indices are wanted in, as many as it has room for, and in the other one for
/// indices; windows lie in both arrays for keys, of which the one for results follows the other one, as words of twice their length.
template <class KeyCodec>
struct NumberedInTiles {
  using codec_type = Numbered::Codec;
  using Word = Numbered::Word;
  static constexpr int raised = Numbered::bits;

  const std::uint32_t* in;
  KeyCodec key_codec;
  codec_type codec;
  Word *first_tiles,
      *other_tiles;      ///< the others lie as far behind the latter as they are in number
  std::uint32_t parted;  ///< where the others begin
  Word* both;

  /// Of `tile` elements each. The other array for indices has room for one of them more.
  template <class Value>
  static NumberedInTiles of(const SortBuffers<std::uint32_t, Value>& buffers,
                            const KeyCodec& key_codec, std::uint32_t count, std::uint32_t tile) {
    const std::uint32_t parted = count / 2 / tile * tile;
    auto* const other = reinterpret_cast<Word*>(buffers.values.other);
    return {buffers.keys.in,
            key_codec,
            {},
            reinterpret_cast<Word*>(buffers.values.result),
            other - parted,
            parted,
            reinterpret_cast<Word*>(buffers.keys.other)};
  }

  KOKKOS_FUNCTION NumberedKeys<KeyCodec> read(std::uint32_t begin) const {
    return {in + begin, begin, key_codec};
  }
  KOKKOS_FUNCTION Word* tile(std::uint32_t begin) const {
    return (begin < parted ? first_tiles : other_tiles) + begin;
  }
  using Source = const Word*;
  KOKKOS_FUNCTION Source source(std::uint32_t place) const { return tile(place); }
  KOKKOS_FUNCTION static Word at(Source source) { return *source; }
  KOKKOS_FUNCTION Word* windows() const { return both; }
};

/// Where indices go. Those of a chunk that is given up for others to sort (`FinishRanges`) go there in no order, and the codes
/// likewise to the other array for indices.
struct NumberedResult {
  std::uint32_t* indices;
  std::uint32_t* codes;
  ChunkList left;  ///< by `begin` and `size`

  KOKKOS_FUNCTION void list(std::uint32_t begin, std::uint32_t size) const {
    left.add({std::uint64_t{begin} << 32 | size});
  }
  KOKKOS_FUNCTION static std::uint32_t begin(std::uint64_t listed) {
    return static_cast<std::uint32_t>(listed >> 32);
  }
  KOKKOS_FUNCTION static std::uint32_t size(std::uint64_t listed) {
    return static_cast<std::uint32_t>(listed);
  }
  KOKKOS_FUNCTION void give_up(std::uint32_t place, Numbered::Word word) const {
    indices[place] = Numbered::index(word);
    codes[place] = Numbered::code(word);
  }
};

}  // namespace kradix::impl
