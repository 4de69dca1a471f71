// The partition of host/simd_partition.hpp, for each of the machine's instruction sets that Highway knows; which of them runs is chosen
// when it does.
#include <algorithm>

#include "kradix/impl/host/simd_partition.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "highway/partition.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kradix::impl::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Tag, class Vector>
HWY_INLINE auto is_top(Tag tag, Vector word) {
  using Word = hn::TFromD<Tag>;
  return hn::TestBit(word, hn::Set(tag, static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1))));
}
template <class Tag, class Vector, class Word>
HWY_INLINE Vector turned_words(Tag tag, Vector word, const WordTurn<Word>& turn) {
  const auto bits =
      hn::IfThenElse(is_top(tag, word), hn::Set(tag, turn.top), hn::Set(tag, turn.other));
  return hn::Xor(hn::Add(hn::Xor(word, bits), hn::Set(tag, turn.add)), hn::Set(tag, turn.flip));
}
template <class Tag, class Vector, class Word>
HWY_INLINE Vector words_before(Tag tag, Vector turned, const WordTurn<Word>& turn) {
  const auto word = hn::Sub(hn::Xor(turned, hn::Set(tag, turn.flip)), hn::Set(tag, turn.add));
  // Where the bits are changed at all, so is the topmost one.
  return hn::Xor(
      word, hn::IfThenElse(is_top(tag, word), hn::Set(tag, turn.other), hn::Set(tag, turn.top)));
}

/// Words between two ends, both of which give and take: of what is read at either end as much can be written at either.
template <class Word>
class Partition {
  static constexpr hn::ScalableTag<Word> tag{};
  static constexpr std::size_t unroll = 4;

 public:
  Partition(Word* words, std::size_t size, Word splitter, const WordTurn<Word>& turn)
      : splitter_(splitter),
        turn_(turn),
        read_(words),
        read_end_(words + size),
        low_(words),
        high_(words + size) {}

  /// Where the words that are not less than the splitter begin.
  template <bool Turns>
  Word* run() {
    const std::size_t lanes = hn::Lanes(tag), batch = unroll * lanes;
    std::size_t held = 0;
    if (static_cast<std::size_t>(read_end_ - read_) >= 2 * batch) {
      // What leaves room at both ends is put last.
      std::copy_n(read_, batch, held_);
      std::copy_n(read_end_ - batch, batch, held_ + batch);
      held = 2 * batch;
      read_ += batch;
      read_end_ -= batch;
      while (static_cast<std::size_t>(read_end_ - read_) >= batch) {
        const bool from_low = read_ - low_ <= high_ - read_end_;
        read_end_ -= from_low ? 0 : batch;
        const Word* const from = from_low ? read_ : read_end_;
        read_ += from_low ? batch : 0;
        const auto first = hn::LoadU(tag, from), second = hn::LoadU(tag, from + lanes);
        const auto third = hn::LoadU(tag, from + 2 * lanes),
                   fourth = hn::LoadU(tag, from + 3 * lanes);
        put<Turns>(first);
        put<Turns>(second);
        put<Turns>(third);
        put<Turns>(fourth);
      }
    }
    held = static_cast<std::size_t>(std::copy(read_, read_end_, held_ + held) - held_);
    for (std::size_t i = 0; i < held; i += lanes) {
      const std::size_t left = std::min(lanes, held - i);
      put<Turns>(hn::LoadN(tag, held_ + i, left), hn::FirstN(tag, left));
    }
    return low_;
  }

 private:
  template <bool Turns, class Vector>
  HWY_INLINE Vector turned(Vector word) const {
    if constexpr (!Turns) return word;
    return turned_words(tag, word, turn_);
  }
  template <bool Turns, class Vector>
  HWY_INLINE void put(Vector found) {
    const auto word = turned<Turns>(found);
    const auto below = hn::Lt(word, hn::Set(tag, splitter_));
    const std::size_t count = hn::CountTrue(tag, below);
    hn::CompressBlendedStore(word, below, tag, low_);
    low_ += count;
    high_ -= hn::Lanes(tag) - count;
    hn::CompressBlendedStore(word, hn::Not(below), tag, high_);
  }
  template <bool Turns, class Vector, class Mask>
  HWY_INLINE void put(Vector found, Mask exist) {
    const auto word = turned<Turns>(found);
    const auto below = hn::And(exist, hn::Lt(word, hn::Set(tag, splitter_)));
    const auto above = hn::AndNot(below, exist);
    high_ -= hn::CountTrue(tag, above);
    hn::CompressBlendedStore(word, above, tag, high_);
    low_ += hn::CompressBlendedStore(word, below, tag, low_);
  }

  Word splitter_;
  WordTurn<Word> turn_;
  Word *read_, *read_end_;  ///< what is still to be read
  Word *low_, *high_;       ///< between is room, and what is still to be read
  Word held_[3 * unroll * hn::MaxLanes(tag)];
};

template <class Word>
std::size_t part(Word* words, std::size_t size, Word splitter, const WordTurn<Word>& turn) {
  Partition<Word> partition(words, size, splitter, turn);
  return static_cast<std::size_t>(
      (turn.changes() ? partition.template run<true>() : partition.template run<false>()) - words);
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
std::size_t part_4(std::uint32_t* words, std::size_t size, std::uint32_t splitter,
                   const WordTurn<std::uint32_t>& turn) {
  return part(words, size, splitter, turn);
}
std::size_t part_8(std::uint64_t* words, std::size_t size, std::uint64_t splitter,
                   const WordTurn<std::uint64_t>& turn) {
  return part(words, size, splitter, turn);
}
void back_4(std::uint32_t* words, std::size_t size, const WordTurn<std::uint32_t>& turn) {
  back(words, size, turn);
}
void back_8(std::uint64_t* words, std::size_t size, const WordTurn<std::uint64_t>& turn) {
  back(words, size, turn);
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

}  // namespace kradix::impl
#endif
