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

/// Is no word greater than the one behind it; or, if `falls`, is every one?
template <bool falls, class Word, class Turned>
bool follow(const Word* words, std::size_t size, const Turned& turned) {
  const hn::ScalableTag<Word> tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto against = [&](std::size_t i) HWY_ATTR {
    const auto word = turned(hn::LoadU(tag, words + i)),
               next = turned(hn::LoadU(tag, words + i + 1));
    return falls ? hn::Le(word, next) : hn::Gt(word, next);
  };
  if (size < lanes) {
    const auto exist = hn::FirstN(tag, size);
    const auto word = turned(hn::LoadN(tag, words, size)),
               next = turned(hn::LoadN(tag, words + 1, size));
    return hn::AllFalse(tag, hn::And(exist, falls ? hn::Le(word, next) : hn::Gt(word, next)));
  }
  auto found = hn::MaskFalse(tag);
  std::size_t i = 0;
  for (; i + 4 * lanes <= size; i += 4 * lanes) {
    const auto first = hn::Or(against(i), against(i + lanes));
    const auto second = hn::Or(against(i + 2 * lanes), against(i + 3 * lanes));
    found = hn::Or(found, hn::Or(first, second));
  }
  for (; i + lanes <= size; i += lanes) found = hn::Or(found, against(i));
  found = hn::Or(found, against(size - lanes));
  return hn::AllFalse(tag, found);
}
template <bool falls, class Word>
bool follow(const Word* words, std::size_t size, const WordTurn<Word>& turn) {
  const hn::ScalableTag<Word> tag;
  using Vector = hn::Vec<decltype(tag)>;
  if (size == 0) return true;
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
