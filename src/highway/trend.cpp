// The steps of host/simd_trend.hpp, for each of the machine's instruction sets that Highway knows; which of them runs is chosen when
// it does.
#include "kradix/impl/host/simd_trend.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "highway/trend.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "highway/turned_words.hpp"

HWY_BEFORE_NAMESPACE();
namespace kradix::impl::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Is nothing found in the vectors of `size` words, one at least?
template <class Tag, class Find>
bool find_none(Tag tag, std::size_t size, const Find& find) {
  const std::size_t lanes = hn::Lanes(tag);
  auto found = find(size - lanes);
  std::size_t i = 0;
  for (; i + 4 * lanes <= size; i += 4 * lanes) {
    const auto first = hn::Or(find(i), find(i + lanes));
    const auto second = hn::Or(find(i + 2 * lanes), find(i + 3 * lanes));
    found = hn::Or(found, hn::Or(first, second));
  }
  for (; i + lanes <= size; i += lanes) found = hn::Or(found, find(i));
  return hn::AllFalse(tag, found);
}

/// Are all of them this word?
template <class Word>
bool all_are(Word word, const Word* words, std::size_t size) {
  const hn::ScalableTag<Word> tag;
  const auto all = hn::Set(tag, word);
  if (size < hn::Lanes(tag)) {
    const auto differ = hn::Ne(hn::LoadN(tag, words, size), all);
    return hn::AllFalse(tag, hn::And(hn::FirstN(tag, size), differ));
  }
  return find_none(tag, size,
                   [&](std::size_t i) HWY_ATTR { return hn::Ne(hn::LoadU(tag, words + i), all); });
}

/// Is no word greater than the one behind it; or, if `falls`, is every one?
template <bool falls, class Word, class Turned>
bool follow(const Word* words, std::size_t size, const Turned& turned) {
  const hn::ScalableTag<Word> tag;
  const auto against = [&](auto word, auto next) HWY_ATTR {
    return falls ? hn::Le(turned(word), turned(next)) : hn::Gt(turned(word), turned(next));
  };
  if (size < hn::Lanes(tag)) {
    const auto found = against(hn::LoadN(tag, words, size), hn::LoadN(tag, words + 1, size));
    return hn::AllFalse(tag, hn::And(hn::FirstN(tag, size), found));
  }
  return find_none(tag, size, [&](std::size_t i) HWY_ATTR {
    return against(hn::LoadU(tag, words + i), hn::LoadU(tag, words + i + 1));
  });
}
template <bool falls, class Word>
bool follow(const Word* words, std::size_t size, const WordTurn<Word>& turn) {
  const hn::ScalableTag<Word> tag;
  using Vector = hn::Vec<decltype(tag)>;
  if (size == 0) return true;
  // None falls between two that are the same if all are: half of the loads tell that.
  if (!falls && words[0] == words[size]) return all_are(words[0], words, size);
  if (!turn.changes()) return follow<falls>(words, size, [](Vector word) HWY_ATTR { return word; });
  return follow<falls>(words, size,
                       [=](Vector word) HWY_ATTR { return turned_words(tag, word, turn); });
}

#define KRADIX_FOLLOW(name, Word, falls)                                       \
  bool name(const Word* words, std::size_t size, const WordTurn<Word>& turn) { \
    return follow<falls>(words, size, turn);                                   \
  }
KRADIX_FOLLOW(never_fall_4, std::uint32_t, false)
KRADIX_FOLLOW(never_fall_8, std::uint64_t, false)
KRADIX_FOLLOW(always_fall_4, std::uint32_t, true)
KRADIX_FOLLOW(always_fall_8, std::uint64_t, true)
#undef KRADIX_FOLLOW

}  // namespace kradix::impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kradix::impl {

HWY_EXPORT(never_fall_4);
HWY_EXPORT(never_fall_8);
HWY_EXPORT(always_fall_4);
HWY_EXPORT(always_fall_8);
bool never_fall(const std::uint32_t* words, std::size_t size, const WordTurn<std::uint32_t>& turn) {
  return HWY_DYNAMIC_DISPATCH(never_fall_4)(words, size, turn);
}
bool never_fall(const std::uint64_t* words, std::size_t size, const WordTurn<std::uint64_t>& turn) {
  return HWY_DYNAMIC_DISPATCH(never_fall_8)(words, size, turn);
}
bool always_fall(const std::uint32_t* words, std::size_t size,
                 const WordTurn<std::uint32_t>& turn) {
  return HWY_DYNAMIC_DISPATCH(always_fall_4)(words, size, turn);
}
bool always_fall(const std::uint64_t* words, std::size_t size,
                 const WordTurn<std::uint64_t>& turn) {
  return HWY_DYNAMIC_DISPATCH(always_fall_8)(words, size, turn);
}

}  // namespace kradix::impl
#endif
