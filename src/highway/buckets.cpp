// The search of host/simd_buckets.hpp, for each of the machine's instruction sets that Highway knows; which of them runs is chosen
// when it does.
#include <algorithm>

#include "kradix/impl/host/simd_buckets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "highway/buckets.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kradix::impl::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Word = TableNumbers::Word;

template <bool ByWidth>
class Search {
  using Tag = hn::ScalableTag<Word>;
  using Words = hn::Vec<Tag>;
  static constexpr Tag tag{};
  static constexpr hn::RebindToSigned<Tag> places{};

 public:
  HWY_INLINE explicit Search(const TableNumbers& table) : table_(table) {}

  HWY_INLINE Words bucket_of(Words bits) const {
    bits = hn::And(bits, hn::Set(tag, table_.wanted));
    // (Gathered by whole words, of which the bucket is the lower part.)
    const Words offset = hn::ShiftLeft<1>(cell_of(bits));
    const auto* const buckets = reinterpret_cast<const Word*>(table_.bucket);
    const Words first = hn::And(hn::GatherOffset(tag, buckets, hn::BitCast(places, offset)),
                                hn::Set(tag, Word{0xffff}));
    const Words heavy = hn::GatherIndex(tag, table_.heavy, hn::BitCast(places, first));
    const Words from_heavy = hn::VecFromMask(tag, hn::Ge(bits, heavy));
    const Words beyond = hn::VecFromMask(tag, hn::Gt(bits, heavy));
    return hn::Sub(first, hn::Add(from_heavy, beyond));  // where they hold, they are −1
  }

 private:
  HWY_INLINE Words cell_of(Words bits) const {
    if constexpr (ByWidth) {
      const Words center = hn::Set(tag, table_.center);
      const Words turn = hn::VecFromMask(tag, hn::Lt(bits, center));
      const Words distance = hn::Xor(hn::Sub(bits, center), turn);
      const Words least = hn::Set(tag, Word{1} << table_.fine);
      const Words over = hn::Sub(hn::HighestSetBitIndex(hn::Or(distance, least)),
                                 hn::Set(tag, static_cast<Word>(table_.fine)));
      const Words from_center =
          hn::Add(hn::ShiftLeftSame(over, table_.fine), hn::Shr(distance, over));
      return hn::Add(hn::Set(tag, table_.middle), hn::Xor(from_center, turn));
    } else {
      const Words low = hn::Set(tag, table_.low), high = hn::Set(tag, table_.high);
      return hn::ShiftRightSame(hn::Sub(hn::Min(hn::Max(bits, low), high), low), table_.shift);
    }
  }

  const TableNumbers& table_;
};

template <bool ByWidth>
void find(const Word* keys, std::size_t size, const TableNumbers& table, std::uint16_t* buckets) {
  const hn::ScalableTag<Word> tag;
  const hn::Rebind<std::uint16_t, decltype(tag)> shorts;
  const std::size_t lanes = hn::Lanes(tag);
  const TableNumbers numbers = table;  // which no store to the buckets changes
  const Search<ByWidth> search(numbers);
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    hn::StoreU(hn::TruncateTo(shorts, search.bucket_of(hn::LoadU(tag, keys + i))), shorts,
               buckets + i);
  }
  if (i < size) {
    const auto last = search.bucket_of(hn::LoadN(tag, keys + i, size - i));
    hn::StoreN(hn::TruncateTo(shorts, last), shorts, buckets + i, size - i);
  }
}
void find_all(const Word* keys, std::size_t size, const TableNumbers& table,
              std::uint16_t* buckets) {
  table.by_width ? find<true>(keys, size, table, buckets) : find<false>(keys, size, table, buckets);
}

}  // namespace kradix::impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kradix::impl {

HWY_EXPORT(find_all);
void find_buckets(const std::uint32_t* keys, std::size_t size, const TableNumbers& table,
                  std::uint16_t* buckets) {
  HWY_DYNAMIC_DISPATCH(find_all)(keys, size, table, buckets);
}

}  // namespace kradix::impl
#endif
