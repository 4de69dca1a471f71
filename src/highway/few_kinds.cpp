// The steps of host/simd_kinds.hpp, for each of the machine's instruction sets that Highway knows; which of them runs is chosen when
// it does. Not in headers: a source is compiled once for each, and includes of Highway's that do that belong to the
// source alone.
#include <algorithm>
#include <utility>

#include "kradix/impl/host/simd_kinds.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "highway/few_kinds.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef KRADIX_FEW_KINDS
/// The functions of the header, by sizes in bytes.
#define KRADIX_FEW_KINDS                              \
  KRADIX_COUNT(count_4, std::uint32_t)                \
  KRADIX_COUNT(count_8, std::uint64_t)                \
  KRADIX_MOVE(move_4_4, std::uint32_t, std::uint32_t) \
  KRADIX_MOVE(move_4_8, std::uint32_t, std::uint64_t) \
  KRADIX_MOVE(move_8_4, std::uint64_t, std::uint32_t) \
  KRADIX_MOVE(move_8_8, std::uint64_t, std::uint64_t)
#endif

HWY_BEFORE_NAMESPACE();
namespace kradix::impl::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// As many keys as values in a vector of each.
template <class Key, class Value>
struct Tags {
  static constexpr bool larger_keys = sizeof(Key) > sizeof(Value);
  static constexpr bool larger_values = sizeof(Key) < sizeof(Value);
  using Wide = hn::ScalableTag<std::conditional_t<larger_keys, Key, Value>>;
  hn::Rebind<Key, Wide> keys;
  hn::Rebind<Value, Wide> values;

  template <class Mask>
  auto of_values(Mask of_keys) const {
    if constexpr (larger_keys) {
      return hn::DemoteMaskTo(values, keys, of_keys);
    } else if constexpr (larger_values) {
      return hn::PromoteMaskTo(values, keys, of_keys);
    } else {
      return hn::RebindMask(values, of_keys);
    }
  }
};

template <class Key>
void count(const Key* keys, std::size_t size, const Key* kinds, std::size_t count,
           std::uint32_t* times) {
  const hn::ScalableTag<Key> tag;
  const std::size_t lanes = hn::Lanes(tag), whole = size / lanes * lanes;
  constexpr std::size_t stretch = 1024;  // stays near for all kinds
  std::fill_n(times, count, 0u);
  for (std::size_t begin = 0; begin < whole; begin += stretch) {
    const std::size_t end = std::min(begin + stretch, whole);
    for (std::size_t k = 0; k < count; ++k) {
      const auto kind = hn::Set(tag, kinds[k]);
      auto found = hn::Zero(tag);
      for (std::size_t i = begin; i < end; i += lanes) {
        const auto is_kind = hn::Eq(hn::LoadU(tag, keys + i), kind);
        found = hn::MaskedAddOr(found, is_kind, found, hn::Set(tag, Key{1}));
      }
      times[k] += static_cast<std::uint32_t>(hn::ReduceSum(tag, found));
    }
  }
  for (std::size_t i = whole; i < size; ++i) {
    for (std::size_t k = 0; k < count; ++k) times[k] += keys[i] == kinds[k];
  }
}

/// Where the values of so many kinds go, in registers.
template <class Key, class Value, std::size_t... k>
class Ends {
  static constexpr Tags<Key, Value> tags{};

 public:
  HWY_INLINE Ends(const Key* kinds, Value** to)
      : kinds_(kinds), at_{to[k]...}, end_{to[k + 1]...} {}

  /// Returns which of `others` are of no kind.
  template <class Keys, class Values, class Mask>
  HWY_INLINE Mask put(Keys key, Values value, Mask others) {
    (put_kind<k>(key, value, others), ...);
    return others;
  }
  HWY_INLINE void leave(Value** to) const { ((to[k] = at_[k]), ...); }

 private:
  template <std::size_t kind, class Keys, class Values, class Mask>
  HWY_INLINE void put_kind(Keys key, Values value, Mask& others) {
    const auto is_kind = hn::And(others, hn::Eq(key, hn::Set(tags.keys, kinds_[kind])));
    const auto of_kind = tags.of_values(is_kind);
    // Where only registers are compressed whole vectors are stored, as long as the next kind's values are far.
    constexpr bool compresses_to_memory = HWY_TARGET <= HWY_AVX3;
    const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(tags.keys));
    if (compresses_to_memory || end_[kind] - at_[kind] < lanes) {
      at_[kind] += hn::CompressBlendedStore(value, of_kind, tags.values, at_[kind]);
    } else {
      hn::StoreU(hn::Compress(value, of_kind), tags.values, at_[kind]);
      at_[kind] += hn::CountTrue(tags.values, of_kind);
    }
    others = hn::AndNot(is_kind, others);
  }

  const Key* kinds_;
  Value* at_[sizeof...(k)];
  const Value* end_[sizeof...(k)];
};

template <class Key, class Value, std::size_t... k>
std::size_t move_kinds(const Key* keys, const Value* values, std::size_t first, std::size_t size,
                       const Key* kinds, Value** to, Key* rest, Value* others_values,
                       std::index_sequence<k...>) {
  const Tags<Key, Value> tags;
  const std::size_t lanes = hn::Lanes(tags.keys);
  Ends<Key, Value, k...> ends(kinds, to);
  std::size_t left = 0;
  const auto put = [&](auto key, auto value, auto exist) HWY_ATTR {
    const auto others = ends.put(key, value, exist);
    if (hn::AllFalse(tags.keys, others)) return;
    hn::CompressBlendedStore(value, tags.of_values(others), tags.values, others_values + left);
    left += hn::CompressBlendedStore(key, others, tags.keys, rest + left);
  };
  const auto index = [&](std::size_t i)
                         HWY_ATTR { return hn::Iota(tags.values, static_cast<Value>(first + i)); };
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    put(hn::LoadU(tags.keys, keys + i),
        values == nullptr ? index(i) : hn::LoadU(tags.values, values + i),
        hn::Not(hn::MaskFalse(tags.keys)));
  }
  if (i < size) {
    const std::size_t some = size - i;
    put(hn::LoadN(tags.keys, keys + i, some),
        values == nullptr ? index(i) : hn::LoadN(tags.values, values + i, some),
        hn::FirstN(tags.keys, some));
  }
  ends.leave(to);
  return left;
}

template <std::size_t least = 1, class Key, class Value>
std::size_t move(const Key* keys, const Value* values, std::size_t first, std::size_t size,
                 const Key* kinds, std::size_t count, Value** to, Key* rest, Value* others) {
  if constexpr (least < SimdKinds<Key, Value>::limit) {
    if (count > least) {
      return move<least + 1>(keys, values, first, size, kinds, count, to, rest, others);
    }
  }
  return move_kinds(keys, values, first, size, kinds, to, rest, others,
                    std::make_index_sequence<least>{});
}

#define KRADIX_COUNT(name, Key)                                                          \
  void name(const Key* keys, std::size_t size, const Key* kinds, std::size_t kind_count, \
            std::uint32_t* times) {                                                      \
    count(keys, size, kinds, kind_count, times);                                         \
  }
#define KRADIX_MOVE(name, Key, Value)                                                         \
  std::size_t name(const Key* keys, const Value* values, std::size_t first, std::size_t size, \
                   const Key* kinds, std::size_t kind_count, Value** to, Key* rest,           \
                   Value* others) {                                                           \
    return move(keys, values, first, size, kinds, kind_count, to, rest, others);              \
  }
KRADIX_FEW_KINDS
#undef KRADIX_COUNT
#undef KRADIX_MOVE

}  // namespace kradix::impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kradix::impl {

#define KRADIX_COUNT(name, Key)                                             \
  HWY_EXPORT(name);                                                         \
  void count_few_kinds(const Key* keys, std::size_t size, const Key* kinds, \
                       std::size_t kind_count, std::uint32_t* times) {      \
    HWY_DYNAMIC_DISPATCH(name)(keys, size, kinds, kind_count, times);       \
  }
#define KRADIX_MOVE(name, Key, Value)                                                         \
  HWY_EXPORT(name);                                                                           \
  std::size_t move_few_kinds(const Key* keys, const Value* values, std::size_t first,         \
                             std::size_t size, const Key* kinds, std::size_t kind_count,      \
                             Value** to, Key* rest, Value* others) {                          \
    return HWY_DYNAMIC_DISPATCH(name)(keys, values, first, size, kinds, kind_count, to, rest, \
                                      others);                                                \
  }
KRADIX_FEW_KINDS

}  // namespace kradix::impl
#endif
