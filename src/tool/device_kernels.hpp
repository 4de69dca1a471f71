// What runs on the device beside the sort itself: keys out of records, records by an index.
#pragma once

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <kradix/key.hpp>

namespace tool {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;
template <class T>
using Array = Kokkos::View<T*, Memory>;

/// Where the keys lie in an array of records.
struct KeyField {
  const std::byte* records;
  std::uint64_t record_bytes, key_offset;

  KOKKOS_FUNCTION const std::byte* of(std::uint64_t i) const {
    return records + i * record_bytes + key_offset;
  }
};

/// Keys of type T as the words whose order is theirs. Fields need not be aligned.
template <class T, class Word>
struct EncodeKeys {
  KeyField field;
  Word* words;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    const std::byte* const key = field.of(i);
    Word word = 0;
    for (unsigned b = 0; b < sizeof(Word); ++b) {
      word = static_cast<Word>(word | static_cast<Word>(static_cast<Word>(key[b]) << (8 * b)));
    }
    words[i] = static_cast<Word>(kradix::KeyCodec<T>::encode(Kokkos::bit_cast<T>(word)));
  }
};

/// Byte strings as numbers whose first byte is the most significant.
template <class Word>
struct EncodeByteStrings {
  KeyField field;
  int key_bytes;
  Word* words;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    const std::byte* const key = field.of(i);
    Word word = 0;
    for (int b = 0; b < key_bytes; ++b) {
      word = static_cast<Word>(word << 8 | static_cast<Word>(key[b]));
    }
    words[i] = word;
  }
};

/// Records index[0], index[1], … side by side. The lanes of a thread share a record, so that its
/// bytes are read together. `Unit` divides the record.
template <class Index, class Unit>
struct GatherRecords {
  using Team = Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr std::uint64_t records_per_team = 64;

  const Unit* from;
  const Index* index;
  std::uint64_t count, units;
  Unit* to;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const std::uint64_t begin = team.league_rank() * records_per_team;
    const std::uint64_t end = begin + records_per_team < count ? begin + records_per_team : count;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, begin, end), [&](const std::uint64_t i) {
      const Unit* const source = from + index[i] * units;
      Unit* const target = to + i * units;
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, units),
                           [&](const std::uint64_t unit) { target[unit] = source[unit]; });
    });
  }
};

}  // namespace tool
