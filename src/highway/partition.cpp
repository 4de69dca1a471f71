// The partition of host/simd_partition.hpp, for each of the machine's instruction sets that Highway knows; which of them runs is chosen
// when it does.
#include <algorithm>

#include "kradix/impl/host/simd_partition.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "highway/partition.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "highway/turned_words.hpp"

HWY_BEFORE_NAMESPACE();
namespace kradix::impl::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Words are stored as they are turned, once they are; or kept as they are, and only compared by what they turn to.
enum class Turning { done, stores, compares };

/// Two ends that grow towards each other, of words that are less than the splitter and of the others. Methods that
/// are not inlined would keep all of it in memory.
template <Turning turning, class Word>
class TwoEnds {
  static constexpr hn::ScalableTag<Word> tag{};

 public:
  HWY_INLINE TwoEnds(Word* begin, Word* end, Word splitter, const WordTurn<Word>& turn)
      : low(begin), high(end), splitter_(splitter), turn_(turn) {}

  Word *low, *high;  ///< between is room

  /// Where either end has room for all of the vector.
  template <class Vector>
  HWY_INLINE void put(Vector found) {
    const std::size_t lanes = hn::Lanes(tag);
    const auto word = stored(found);
    const auto below = is_below(word);
    const std::size_t count = hn::CountTrue(tag, below);
    if constexpr (hn::CompressIsPartition<Word>::value) {
      const auto parted = hn::Compress(word, below);
      hn::StoreU(parted, tag, low);
      hn::StoreU(parted, tag, high - lanes);
      high -= lanes - count;
    } else {
      hn::StoreU(hn::Compress(word, below), tag, low);
      high -= lanes - count;
      hn::CompressBlendedStore(word, hn::Not(below), tag, high);
    }
    low += count;
  }
  /// Words of the vector that exist.
  template <class Vector, class Mask>
  HWY_INLINE void put_some(Vector found, Mask exist) {
    const auto word = stored(found);
    const auto below = hn::And(exist, is_below(word));
    const auto above = hn::AndNot(below, exist);
    high -= hn::CountTrue(tag, above);
    hn::CompressBlendedStore(word, above, tag, high);
    low += hn::CompressBlendedStore(word, below, tag, low);
  }

 private:
  template <class Vector>
  HWY_INLINE Vector stored(Vector word) const {
    if constexpr (turning != Turning::stores) return word;
    return turned_words(tag, word, turn_);
  }
  template <class Vector>
  HWY_INLINE auto is_below(Vector word) const {
    if constexpr (turning == Turning::compares) word = turned_words(tag, word, turn_);
    return hn::Lt(word, hn::Set(tag, splitter_));
  }

  Word splitter_;
  WordTurn<Word> turn_;
};

/// Both ends give and take: of what is read at either end as much can be written at either.
template <Turning turning, class Word>
std::size_t part(Word* words, std::size_t size, Word splitter, const WordTurn<Word>& turn) {
  const hn::ScalableTag<Word> tag;
  constexpr std::size_t unroll = 4;
  const std::size_t lanes = hn::Lanes(tag), batch = unroll * lanes;
  Word held[3 * unroll * hn::MaxLanes(tag)];
  TwoEnds<turning, Word> ends(words, words + size, splitter, turn);
  Word *read = words, *read_end = words + size;  // what is still to be read
  std::size_t count = 0;
  if (size >= 2 * batch) {
    // What leaves room at both ends is put last.
    std::copy_n(read, batch, held);
    std::copy_n(read_end - batch, batch, held + batch);
    count = 2 * batch;
    read += batch;
    read_end -= batch;
    while (static_cast<std::size_t>(read_end - read) >= batch) {
      const bool from_low = read - ends.low <= ends.high - read_end;
      read_end -= from_low ? 0 : batch;
      const Word* const from = from_low ? read : read_end;
      read += from_low ? batch : 0;
      const auto first = hn::LoadU(tag, from), second = hn::LoadU(tag, from + lanes);
      const auto third = hn::LoadU(tag, from + 2 * lanes),
                 fourth = hn::LoadU(tag, from + 3 * lanes);
      ends.put(first);
      ends.put(second);
      ends.put(third);
      ends.put(fourth);
    }
  }
  count = static_cast<std::size_t>(std::copy(read, read_end, held + count) - held);
  for (std::size_t i = 0; i < count; i += lanes) {
    const std::size_t left = std::min(lanes, count - i);
    ends.put_some(hn::LoadN(tag, held + i, left), hn::FirstN(tag, left));
  }
  return static_cast<std::size_t>(ends.low - words);
}
template <class Word>
std::size_t turn_and_part(Word* words, std::size_t size, Word splitter,
                          const WordTurn<Word>& turn) {
  return turn.changes() ? part<Turning::stores>(words, size, splitter, turn)
                        : part<Turning::done>(words, size, splitter, turn);
}
template <class Word>
void back(Word* words, std::size_t size, const WordTurn<Word>& turn) {
  const hn::ScalableTag<Word> tag;
  const std::size_t lanes = hn::Lanes(tag);
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    hn::StoreU(words_before(tag, hn::LoadU(tag, words + i), turn), tag, words + i);
  }
  if (i < size)
    hn::StoreN(words_before(tag, hn::LoadN(tag, words + i, size - i), turn), tag, words + i,
               size - i);
}

/// By their bits: to compare NaNs might trap.
template <bool Copies>
DoublesSeen see(const std::uint64_t* from, std::uint64_t* to, std::size_t size) {
  const hn::ScalableTag<std::uint64_t> tag;
  const hn::RebindToSigned<decltype(tag)> magnitudes;  // which every machine compares
  const std::size_t lanes = hn::Lanes(tag);
  const auto minus_zero = hn::Set(tag, std::uint64_t{1} << 63);
  const auto infinity = hn::Set(magnitudes, std::int64_t{0x7ff} << 52);
  auto is_nan = hn::MaskFalse(magnitudes);
  auto found = hn::Zero(tag);
  const auto look = [&](auto word) HWY_ATTR {
    const auto magnitude = hn::BitCast(magnitudes, hn::AndNot(minus_zero, word));
    is_nan = hn::Or(is_nan, hn::Gt(magnitude, infinity));
    const auto is_minus_zero = hn::Eq(word, minus_zero);
    found = hn::MaskedAddOr(found, is_minus_zero, found, hn::Set(tag, std::uint64_t{1}));
  };
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    const auto word = hn::LoadU(tag, from + i);
    if constexpr (Copies) hn::StoreU(word, tag, to + i);
    look(word);
  }
  if (i < size) {
    const auto word = hn::LoadN(tag, from + i, size - i);
    if constexpr (Copies) hn::StoreN(word, tag, to + i, size - i);
    look(word);
  }
  return {hn::AllFalse(magnitudes, is_nan), hn::ReduceSum(tag, found)};
}
std::size_t part_4(std::uint32_t* words, std::size_t size, std::uint32_t splitter,
                   const WordTurn<std::uint32_t>& turn) {
  return turn_and_part(words, size, splitter, turn);
}
std::size_t part_8(std::uint64_t* words, std::size_t size, std::uint64_t splitter,
                   const WordTurn<std::uint64_t>& turn) {
  return turn_and_part(words, size, splitter, turn);
}
std::size_t part_doubles_8(std::uint64_t* words, std::size_t size, std::uint64_t splitter,
                           const WordTurn<std::uint64_t>& turn) {
  return part<Turning::compares>(words, size, splitter, turn);
}
void back_4(std::uint32_t* words, std::size_t size, const WordTurn<std::uint32_t>& turn) {
  back(words, size, turn);
}
void back_8(std::uint64_t* words, std::size_t size, const WordTurn<std::uint64_t>& turn) {
  back(words, size, turn);
}
DoublesSeen see_8(const std::uint64_t* from, std::uint64_t* to, std::size_t size) {
  return from == to ? see<false>(from, to, size) : see<true>(from, to, size);
}

}  // namespace kradix::impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kradix::impl {

HWY_EXPORT(part_4);
HWY_EXPORT(part_8);
std::size_t part_words(std::uint32_t* words, std::size_t size, std::uint32_t splitter,
                       const WordTurn<std::uint32_t>& turn) {
  return HWY_DYNAMIC_DISPATCH(part_4)(words, size, splitter, turn);
}
std::size_t part_words(std::uint64_t* words, std::size_t size, std::uint64_t splitter,
                       const WordTurn<std::uint64_t>& turn) {
  return HWY_DYNAMIC_DISPATCH(part_8)(words, size, splitter, turn);
}
HWY_EXPORT(back_4);
HWY_EXPORT(back_8);
void turn_back(std::uint32_t* words, std::size_t size, const WordTurn<std::uint32_t>& turn) {
  HWY_DYNAMIC_DISPATCH(back_4)(words, size, turn);
}
void turn_back(std::uint64_t* words, std::size_t size, const WordTurn<std::uint64_t>& turn) {
  HWY_DYNAMIC_DISPATCH(back_8)(words, size, turn);
}
HWY_EXPORT(part_doubles_8);
std::size_t part_doubles(std::uint64_t* doubles, std::size_t size, std::uint64_t splitter,
                         const WordTurn<std::uint64_t>& turn) {
  return HWY_DYNAMIC_DISPATCH(part_doubles_8)(doubles, size, splitter, turn);
}
HWY_EXPORT(see_8);
DoublesSeen see_doubles(const std::uint64_t* from, std::uint64_t* to, std::size_t size) {
  return HWY_DYNAMIC_DISPATCH(see_8)(from, to, size);
}

}  // namespace kradix::impl
#endif
