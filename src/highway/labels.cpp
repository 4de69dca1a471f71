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

template <class Key>
std::size_t find(const Key* keys, std::size_t size, const LabelTable<Key>& table,
                 std::uint16_t* labels, Key* missed) {
  const hn::ScalableTag<Key> tag;
  const hn::RebindToSigned<decltype(tag)> places;
  const hn::Rebind<std::uint32_t, decltype(tag)> found;
  const hn::Rebind<std::int32_t, decltype(tag)> found_places;
  const hn::Rebind<std::uint16_t, decltype(tag)> short_labels;
  const std::size_t lanes = hn::Lanes(tag);
  const auto factor = hn::Set(tag, table.factor);
  const auto rest = hn::Set(found, std::uint32_t{table.rest});
  const auto* const label = reinterpret_cast<const std::int32_t*>(table.label);
  const Key* const begin_missed = missed;

  const auto are_others = [&](auto key, auto slot) HWY_ATTR {
    return hn::Ne(hn::GatherIndex(tag, table.keys, hn::BitCast(places, slot)), key);
  };
  const auto labels_at = [&](auto slot) HWY_ATTR {
    if constexpr (sizeof(Key) == 4) {
      return hn::BitCast(found, hn::GatherIndex(found_places, label, hn::BitCast(places, slot)));
    } else {
      return hn::BitCast(found,
                         hn::GatherIndex(found_places, label,
                                         hn::DemoteTo(found_places, hn::BitCast(places, slot))));
    }
  };
  const auto of_labels = [&](auto others) HWY_ATTR {
    if constexpr (sizeof(Key) == 4) {
      return hn::RebindMask(found, others);
    } else {
      return hn::DemoteMaskTo(found, tag, others);
    }
  };
  const auto look = [&](auto key, auto exist) HWY_ATTR {
    const auto mixed = hn::Xor(key, hn::ShiftRight<4 * sizeof(Key)>(key));
    auto slot = hn::ShiftRightSame(hn::Mul(mixed, factor), table.shift);
    auto others = are_others(key, slot);
    if (table.has_second) {
      slot = hn::MaskedAddOr(slot, others, slot, hn::Set(tag, Key{1}));
      others = are_others(key, slot);
    }
    if (!hn::AllFalse(tag, others)) {
      missed += hn::CompressBlendedStore(key, hn::And(others, exist), tag, missed);
    }
    return hn::TruncateTo(short_labels, hn::IfThenElse(of_labels(others), rest, labels_at(slot)));
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
