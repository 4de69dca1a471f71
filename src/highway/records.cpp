// The step of host/simd_records.hpp, for each of the machine's instruction sets that Highway knows; which of them runs is chosen when
// it does.
#include "kradix/impl/host/simd_records.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "highway/records.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kradix::impl::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<std::uint32_t>;
using Vector = hn::Vec<Tag>;

/// Records are looked at as halves of 4 bytes, and compressed as those: of 8 bytes at once Highway looks an order up in a table, which is
/// slower where records fill the nearest cache. A record is two halves, of which the first is its key;
struct Pairs {
  static constexpr std::size_t halves = 2;
  static constexpr Tag keys{};
  HWY_INLINE auto operator()(Vector records, Vector splitter) const {
    return hn::Lt(hn::DupEven(records), splitter);
  }
};
/// or four, of which two are.
struct LongPairs {
  static constexpr std::size_t halves = 4;
  static constexpr hn::RepartitionToWide<Tag> keys{};
  HWY_INLINE auto operator()(Vector records, hn::Vec<hn::RepartitionToWide<Tag>> splitter) const {
    const auto less = hn::Lt(hn::DupEven(hn::BitCast(keys, records)), splitter);
    return hn::MaskFromVec(hn::BitCast(Tag(), hn::VecFromMask(keys, less)));
  }
};

template <class Less, class Key>
std::size_t split(const std::uint32_t* records, std::size_t count, Key key, std::uint32_t* low,
                  std::uint32_t* high) {
  const Tag tag;
  const Less is_less;
  const auto splitter = hn::Set(Less::keys, key);
  const std::size_t lanes = hn::Lanes(tag), size = count * Less::halves;
  std::uint32_t* const begin = low;
  const auto put = [&](Vector found) HWY_ATTR {
    const auto less = is_less(found, splitter);
    const std::size_t below = hn::CountTrue(tag, less);
    hn::StoreU(hn::Compress(found, less), tag, low);
    hn::StoreU(hn::CompressNot(found, less), tag, high);
    low += below;
    high += lanes - below;
  };
  std::size_t i = 0;
  for (; i + 4 * lanes <= size; i += 4 * lanes) {
    const auto first = hn::LoadU(tag, records + i), second = hn::LoadU(tag, records + i + lanes);
    const auto third = hn::LoadU(tag, records + i + 2 * lanes),
               fourth = hn::LoadU(tag, records + i + 3 * lanes);
    put(first);
    put(second);
    put(third);
    put(fourth);
  }
  for (; i + lanes <= size; i += lanes) put(hn::LoadU(tag, records + i));
  if (i < size) {
    const std::size_t left = size - i;
    const auto found = hn::LoadN(tag, records + i, left);
    const auto exist = hn::FirstN(tag, left), less = hn::And(exist, is_less(found, splitter));
    hn::CompressBlendedStore(found, hn::AndNot(less, exist), tag, high);
    low += hn::CompressBlendedStore(found, less, tag, low);
  }
  return static_cast<std::size_t>(low - begin) / Less::halves;
}
std::size_t split_4(const std::uint32_t* records, std::size_t count, std::uint32_t splitter,
                    std::uint32_t* low, std::uint32_t* high) {
  return split<Pairs>(records, count, splitter, low, high);
}
std::size_t split_8(const std::uint64_t* records, std::size_t count, std::uint64_t splitter,
                    std::uint64_t* low, std::uint64_t* high) {
  return split<LongPairs>(reinterpret_cast<const std::uint32_t*>(records), count, splitter,
                          reinterpret_cast<std::uint32_t*>(low),
                          reinterpret_cast<std::uint32_t*>(high));
}

template <class Word>
void take_values(const Word* records, std::size_t count, Word* values) {
  const hn::ScalableTag<Word> tag;
  const std::size_t lanes = hn::Lanes(tag);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto first = hn::LoadU(tag, records + 2 * i),
               second = hn::LoadU(tag, records + 2 * i + lanes);
    hn::StoreU(hn::ConcatOdd(tag, second, first), tag, values + i);
  }
  for (; i < count; ++i) values[i] = records[2 * i + 1];
}
void values_4(const std::uint32_t* records, std::size_t count, std::uint32_t* values) {
  take_values(records, count, values);
}
void values_8(const std::uint64_t* records, std::size_t count, std::uint64_t* values) {
  take_values(records, count, values);
}

}  // namespace kradix::impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kradix::impl {

HWY_EXPORT(split_4);
HWY_EXPORT(split_8);
std::size_t split_records(const std::uint32_t* records, std::size_t count, std::uint32_t splitter,
                          std::uint32_t* low, std::uint32_t* high) {
  return HWY_DYNAMIC_DISPATCH(split_4)(records, count, splitter, low, high);
}
std::size_t split_records(const std::uint64_t* records, std::size_t count, std::uint64_t splitter,
                          std::uint64_t* low, std::uint64_t* high) {
  return HWY_DYNAMIC_DISPATCH(split_8)(records, count, splitter, low, high);
}
HWY_EXPORT(values_4);
HWY_EXPORT(values_8);
void values_of_records(const std::uint32_t* records, std::size_t count, std::uint32_t* values) {
  HWY_DYNAMIC_DISPATCH(values_4)(records, count, values);
}
void values_of_records(const std::uint64_t* records, std::size_t count, std::uint64_t* values) {
  HWY_DYNAMIC_DISPATCH(values_8)(records, count, values);
}

}  // namespace kradix::impl
#endif
