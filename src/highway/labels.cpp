// The look for labels of host/simd_kinds.hpp, for each of the machine's instruction sets that Highway knows; which of them runs is chosen
// when it does.
#include "kradix/impl/host/simd_kinds.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "highway/labels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kradix::impl::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A slot's key and label, each in a lane.
template <class Keys>
struct Found {
  Keys key, label;
};

/// In memory.
template <class Key>
class Gathered {
  using Tag = hn::ScalableTag<Key>;
  using Keys = hn::VFromD<Tag>;
  const LabelTable<Key>& table_;

 public:
  HWY_INLINE explicit Gathered(const LabelTable<Key>& table) : table_(table) {}

  HWY_INLINE Found<Keys> at(Keys slot) const {
    const Tag tag;
    const auto place = hn::BitCast(hn::RebindToSigned<Tag>(), slot);
    if constexpr (sizeof(Key) == 4) {
      const hn::RepartitionToWide<Tag> both;
      const hn::RebindToSigned<decltype(both)> wide;
      const auto* const slots = reinterpret_cast<const std::uint64_t*>(table_.labels);
      const auto low = hn::GatherIndex(both, slots, hn::PromoteLowerTo(wide, place));
      const auto high = hn::GatherIndex(both, slots, hn::PromoteUpperTo(wide, place));
      const auto low_words = hn::BitCast(tag, low), high_words = hn::BitCast(tag, high);
      return {hn::ConcatEven(tag, high_words, low_words),
              hn::ConcatOdd(tag, high_words, low_words)};
    } else {
      const hn::Rebind<std::int32_t, Tag> places;
      const auto* const labels = reinterpret_cast<const std::int32_t*>(table_.labels);
      const auto label = hn::GatherIndex(places, labels, hn::DemoteTo(places, place));
      return {hn::GatherIndex(tag, table_.keys, place),
              hn::PromoteTo(tag, hn::BitCast(hn::Rebind<std::uint32_t, Tag>(), label))};
    }
  }
};

/// In so many registers.
template <class Key, std::size_t count>
class InRegisters {
  using Tag = hn::ScalableTag<Key>;
  using Keys = hn::VFromD<Tag>;
  Keys keys_[count], labels_[count];

 public:
  HWY_INLINE explicit InRegisters(const LabelTable<Key>& table) {
    const Tag tag;
    for (std::size_t r = 0; r < count; ++r) {
      const std::size_t first = r * hn::Lanes(tag);
      keys_[r] = hn::LoadU(tag, table.keys + first);
      if constexpr (sizeof(Key) == 4) {
        Keys same;
        hn::LoadInterleaved2(tag, &table.labels[first].key, same, labels_[r]);
      } else {
        const hn::Rebind<std::uint32_t, Tag> short_words;
        labels_[r] = hn::PromoteTo(tag, hn::LoadU(short_words, &table.labels[first].label));
      }
    }
  }
  HWY_INLINE Found<Keys> at(Keys slot) const {
    return {pick<count>(keys_, slot), pick<count>(labels_, slot)};
  }

 private:
  template <std::size_t some>
  HWY_INLINE static Keys pick(const Keys* words, Keys slot) {
    const Tag tag;
    const auto lanes = static_cast<Key>(hn::Lanes(tag));
    if constexpr (some == 1) {
      return hn::TableLookupLanes(words[0], hn::IndicesFromVec(tag, slot));
    } else if constexpr (some == 2) {
      const auto place = hn::And(slot, hn::Set(tag, static_cast<Key>(2 * lanes - 1)));
      return hn::TwoTablesLookupLanes(tag, words[0], words[1], hn::IndicesFromVec(tag, place));
    } else {
      const auto half = hn::Set(tag, static_cast<Key>(some / 2 * lanes));
      return hn::IfThenElse(hn::TestBit(slot, half), pick<some / 2>(words + some / 2, slot),
                            pick<some / 2>(words, slot));
    }
  }
};

template <class Key, class Table>
std::size_t find_in(const Table& words, const Key* keys, std::size_t size,
                    const LabelTable<Key>& table, std::uint16_t* labels, Key* missed) {
  const hn::ScalableTag<Key> tag;
  const hn::Rebind<std::uint16_t, decltype(tag)> short_labels;
  const std::size_t lanes = hn::Lanes(tag);
  const auto factor = hn::Set(tag, table.factor);
  const auto rest = hn::Set(tag, Key{table.rest});
  const Key* const begin_missed = missed;

  const auto look = [&](auto key, auto exist) HWY_ATTR {
    const auto mixed = hn::Xor(key, hn::ShiftRight<4 * sizeof(Key)>(key));
    const auto slot = hn::ShiftRightSame(hn::Mul(mixed, factor), table.shift);
    auto found = words.at(slot);
    auto others = hn::Ne(found.key, key);
    if (table.has_second) {
      found = words.at(hn::MaskedAddOr(slot, others, slot, hn::Set(tag, Key{1})));
      others = hn::Ne(found.key, key);
    }
    if (!hn::AllFalse(tag, others)) {
      missed += hn::CompressBlendedStore(key, hn::And(others, exist), tag, missed);
    }
    return hn::TruncateTo(short_labels, hn::IfThenElse(others, rest, found.label));
  };
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    hn::StoreU(look(hn::LoadU(tag, keys + i), hn::Not(hn::MaskFalse(tag))), short_labels,
               labels + i);
  }
  if (i < size) {
    const std::size_t left = size - i;
    hn::StoreN(look(hn::LoadN(tag, keys + i, left), hn::FirstN(tag, left)), short_labels,
               labels + i, left);
  }
  return static_cast<std::size_t>(missed - begin_missed);
}

template <class Key>
std::size_t find(const Key* keys, std::size_t size, const LabelTable<Key>& table,
                 std::uint16_t* labels, Key* missed) {
  const auto find_by = [&](const auto& words)
                           HWY_ATTR { return find_in(words, keys, size, table, labels, missed); };
#if !HWY_HAVE_SCALABLE
  const std::size_t registers =
      (std::size_t{1} << (8 * sizeof(Key) - table.shift)) / hn::Lanes(hn::ScalableTag<Key>());
  if (!table.has_second) {
    if (registers == 1) return find_by(InRegisters<Key, 1>(table));
    if (registers == 2) return find_by(InRegisters<Key, 2>(table));
    if (registers == 4) return find_by(InRegisters<Key, 4>(table));
    if (registers == 8) return find_by(InRegisters<Key, 8>(table));
  }
#endif
  return find_by(Gathered<Key>(table));
}
std::size_t find_4(const std::uint32_t* keys, std::size_t size,
                   const LabelTable<std::uint32_t>& table, std::uint16_t* labels,
                   std::uint32_t* missed) {
  return find(keys, size, table, labels, missed);
}
std::size_t find_8(const std::uint64_t* keys, std::size_t size,
                   const LabelTable<std::uint64_t>& table, std::uint16_t* labels,
                   std::uint64_t* missed) {
  return find(keys, size, table, labels, missed);
}

}  // namespace kradix::impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kradix::impl {

HWY_EXPORT(find_4);
HWY_EXPORT(find_8);
std::size_t find_labels(const std::uint32_t* keys, std::size_t size,
                        const LabelTable<std::uint32_t>& table, std::uint16_t* labels,
                        std::uint32_t* missed) {
  return HWY_DYNAMIC_DISPATCH(find_4)(keys, size, table, labels, missed);
}
std::size_t find_labels(const std::uint64_t* keys, std::size_t size,
                        const LabelTable<std::uint64_t>& table, std::uint16_t* labels,
                        std::uint64_t* missed) {
  return HWY_DYNAMIC_DISPATCH(find_8)(keys, size, table, labels, missed);
}

}  // namespace kradix::impl
#endif
