// Words turned to their order (host/word_turn.hpp), a vector at a time: part of each source that is compiled for several sets of
// instructions, once for each.
#if defined(KRADIX_HIGHWAY_TURNED_WORDS) == defined(HWY_TARGET_TOGGLE)
#ifdef KRADIX_HIGHWAY_TURNED_WORDS
#undef KRADIX_HIGHWAY_TURNED_WORDS
#else
#define KRADIX_HIGHWAY_TURNED_WORDS
#endif

#include <hwy/highway.h>

#include "kradix/impl/host/word_turn.hpp"

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

}  // namespace kradix::impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
