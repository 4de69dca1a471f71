// The step of host/simd_places.hpp, for each of the machine's instruction sets that Highway knows; which of them runs is chosen when
// it does.
#include "kradix/impl/host/simd_places.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "highway/places.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kradix::impl::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Word>
std::size_t list(const Word* words, std::size_t count, int place_bits, std::uint32_t* to) {
  const hn::ScalableTag<Word> tag;
  const hn::Rebind<std::uint32_t, decltype(tag)> places;
  const std::size_t lanes = hn::Lanes(tag);
  std::size_t listed = 0, i = 1;
  for (; i + lanes <= count; i += lanes) {
    const auto differing = hn::Xor(hn::LoadU(tag, words + i), hn::LoadU(tag, words + i - 1));
    const auto alike = hn::Eq(hn::ShiftRightSame(differing, place_bits), hn::Zero(tag));
    const auto place = hn::Iota(places, static_cast<std::uint32_t>(i));
    if constexpr (sizeof(Word) > sizeof(std::uint32_t)) {
      const auto listing = hn::DemoteMaskTo(places, tag, alike);
      listed += hn::CompressBlendedStore(place, listing, places, to + listed);
    } else {
      listed += hn::CompressBlendedStore(place, alike, places, to + listed);
    }
  }
  for (; i < count; ++i) {
    if ((words[i] ^ words[i - 1]) >> place_bits == 0) to[listed++] = static_cast<std::uint32_t>(i);
  }
  return listed;
}
std::size_t list_4(const std::uint32_t* words, std::size_t count, int place_bits,
                   std::uint32_t* to) {
  return list(words, count, place_bits, to);
}
std::size_t list_8(const std::uint64_t* words, std::size_t count, int place_bits,
                   std::uint32_t* to) {
  return list(words, count, place_bits, to);
}

}  // namespace kradix::impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kradix::impl {

HWY_EXPORT(list_4);
HWY_EXPORT(list_8);
std::size_t list_alike(const std::uint32_t* words, std::size_t count, int place_bits,
                       std::uint32_t* list) {
  return HWY_DYNAMIC_DISPATCH(list_4)(words, count, place_bits, list);
}
std::size_t list_alike(const std::uint64_t* words, std::size_t count, int place_bits,
                       std::uint32_t* list) {
  return HWY_DYNAMIC_DISPATCH(list_8)(words, count, place_bits, list);
}

}  // namespace kradix::impl
#endif
