// Input distributions: any element of any of them is a function of (index, seed, n), so kernels and
// hosts make the same keys, in any order, without storing them.
#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kradix/key.hpp"

namespace inputs {

/// Finaliser of splitmix64: 64 bits that look random, of any 64.
KOKKOS_FUNCTION constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// Where a distribution draws element `index` of `count`.
struct Draw {
  std::uint64_t index, count, seed, parameter;

  /// Random bits; different `stream`s are independent.
  KOKKOS_FUNCTION std::uint64_t random(std::uint64_t stream = 0) const {
    return mix(seed + 0x9e3779b97f4a7c15u * (index + 1) + mix(stream));
  }
  /// Random bits that are the same for every index.
  KOKKOS_FUNCTION std::uint64_t shared() const { return mix(mix(seed)); }
  KOKKOS_FUNCTION std::uint64_t random_below(std::uint64_t end) const {
    return end == 0 ? random() : random() % end;
  }
  KOKKOS_FUNCTION bool chance(double probability) const {
    return static_cast<double>(random(1)) < probability * 0x1p64;
  }

  /// Places 0 .. n − 1 spread over all 64 bits, with random bits below: increasing in `place`.
  KOKKOS_FUNCTION std::uint64_t ramp(std::uint64_t place) const {
    const std::uint64_t step = ~std::uint64_t{0} / count;
    return place * step + random() % step;
  }
  /// One of `distinct` patterns scattered over all 64 bits.
  KOKKOS_FUNCTION std::uint64_t one_of(std::uint64_t distinct) const {
    return mix(shared() + random() % (distinct == 0 ? 1 : distinct));
  }
  /// The logarithm of the result is uniform over [1, end): Zipf's law with exponent 1, rank − 1.
  KOKKOS_FUNCTION std::uint64_t zipf(double end) const {
    const double uniform = static_cast<double>(random()) * 0x1p-64;
    return static_cast<std::uint64_t>(Kokkos::exp(uniform * Kokkos::log(end))) - 1;
  }
  /// Every bit set with a chance of 1/30.
  KOKKOS_FUNCTION std::uint64_t sparse_bits() const {
    constexpr unsigned threshold = 65536 / 30;
    std::uint64_t bits = 0;
    for (int word = 0; word < 16; ++word) {
      const std::uint64_t four = random(word);
      for (int i = 0; i < 4; ++i) {
        bits = bits << 1 | ((four >> 16 * i & 0xffff) < threshold ? 1 : 0);
      }
    }
    return bits;
  }
  KOKKOS_FUNCTION std::uint64_t and_words(std::uint64_t words) const {
    std::uint64_t bits = ~std::uint64_t{0};
    for (std::uint64_t word = 0; word < words && bits != 0; ++word) bits &= random(word);
    return bits;
  }
  /// From 0 to 1, which is not drawn; and the sum of twelve less six, nearly normal. As bits.
  KOKKOS_FUNCTION double unit(std::uint64_t stream = 0) const {
    return static_cast<double>(random(stream) >> 11) * 0x1p-53;
  }
  KOKKOS_FUNCTION std::uint64_t unit_bits() const {
    return Kokkos::bit_cast<std::uint64_t>(unit());
  }
  KOKKOS_FUNCTION std::uint64_t normal_bits() const {
    double sum = -6;
    for (int stream = 0; stream < 12; ++stream) sum += unit(stream);
    return Kokkos::bit_cast<std::uint64_t>(sum);
  }
  KOKKOS_FUNCTION std::uint64_t root() const {
    const auto root = static_cast<std::uint64_t>(Kokkos::sqrt(static_cast<double>(count)));
    return root == 0 ? 1 : root;
  }
};

/// How 64 bits become a key. `spread`: the leading ones are the key's place in the order of its type,
/// so that every type sees the same shape. `value`: they are a number, cut to the key's width. `real`: they are a double, which
/// floats are made of; of other keys its bits are the place.
enum class Kind : std::uint8_t { spread, value, real };

// The table: X(name, kind, what it is, element of Draw d). A distribution is one line.
#define KRADIX_INPUT_DISTRIBUTIONS(X)                                                            \
  X(uniform, spread, "independent random bits", d.random())                                      \
  X(max_value, value, "uniform in 0..max_value", d.random_below(d.parameter + 1))                \
  X(and_words, spread, "AND of P random words: the more, the less entropy",                      \
    d.and_words(d.parameter))                                                                    \
  X(some_values, spread, "P scattered values", d.one_of(d.parameter))                            \
  X(disorder, spread, "increasing, P of a million places random",                                \
    d.chance(static_cast<double>(d.parameter) * 1e-6) ? d.random(2) : d.ramp(d.index))           \
  X(range_n_50, value, "uniform in 0..n/50", d.random_below(d.count / 50 + 1))                   \
  X(distinct, value, "0..n-1, each once, shuffled",                                              \
    (d.index * 2654435761u + d.shared() % d.count) % d.count)                                    \
  X(values_100, value, "100 values in 0..n-1", mix(d.shared() + d.random() % 100) % d.count)     \
  X(values_1000, value, "1000 values in 0..n-1", mix(d.shared() + d.random() % 1000) % d.count)  \
  X(below_2_24, value, "uniform in 0..2^24: narrow in a wide key", d.random() >> 40)             \
  X(few_distinct, spread, "100 scattered values", d.one_of(100))                                 \
  X(distinct_1k, spread, "1000 scattered values", d.one_of(1000))                                \
  X(distinct_100k, spread, "100000 scattered values", d.one_of(100000))                          \
  X(constant, spread, "one value", d.shared())                                                   \
  X(one_key_99, spread, "one value in 99 % of places", d.chance(0.99) ? d.shared() : d.random()) \
  X(sorted, spread, "increasing", d.ramp(d.index))                                               \
  X(reversed, spread, "decreasing", d.ramp(d.count - 1 - d.index))                               \
  X(almost_sorted, spread, "increasing, 1 % of places random",                                   \
    d.chance(0.01) ? d.random(2) : d.ramp(d.index))                                              \
  X(pipe, spread, "increasing, then decreasing",                                                 \
    d.ramp(d.index < d.count / 2 ? d.index : d.count - 1 - d.index))                             \
  X(sawtooth, spread, "16 increasing runs", d.ramp(d.index % (d.count / 16 + 1) * 16 % d.count)) \
  X(zipf_hashed, spread, "Zipf's law, 2^20 values scattered", mix(d.zipf(0x1p20)))               \
  X(zipf_values, value, "Zipf's law in 0..2^20", d.zipf(0x1p20))                                 \
  X(log_uniform, value, "uniform logarithm, all widths", d.random() >> (d.random(1) & 63))       \
  X(and3, spread, "AND of 3 random words: 0.54 bit of entropy a bit",                            \
    d.random() & d.random(1) & d.random(2))                                                      \
  X(bexp30, spread, "every bit set with a chance of 1/30", d.sparse_bits())                      \
  X(root_dup, value, "index modulo sqrt(n)", d.index % d.root())                                 \
  X(structured, value, "every digit cycles evenly", d.index * 0x0101010101010101u)               \
  X(one_hot, spread, "one random bit set", std::uint64_t{1} << (d.random() & 63))                \
  X(clusters, spread, "1000 clusters, each 2^-32 of the range wide",                             \
    d.one_of(1000) >> 32 << 32 | d.random(1) >> 32)                                              \
  X(high_byte, spread, "only the leading 8 bits vary", d.random() & ~(~std::uint64_t{0} >> 8))   \
  X(unit, real, "floats uniform from 0 to 1", d.unit_bits())                                     \
  X(normal, real, "floats nearly normal, of mean 0 and deviation 1", d.normal_bits())

enum class Distribution : std::uint8_t {
#define KRADIX_INPUT_ENUMERATOR(name, kind, summary, element) name,
  KRADIX_INPUT_DISTRIBUTIONS(KRADIX_INPUT_ENUMERATOR)
#undef KRADIX_INPUT_ENUMERATOR
};

struct Entry {
  Distribution distribution;
  std::string_view name;
  std::string_view summary;
};

inline constexpr std::array distributions{
#define KRADIX_INPUT_ENTRY(name, kind, summary, element) Entry{Distribution::name, #name, summary},
    KRADIX_INPUT_DISTRIBUTIONS(KRADIX_INPUT_ENTRY)
#undef KRADIX_INPUT_ENTRY
};

constexpr std::string_view name(Distribution distribution) {
  return distributions[static_cast<std::size_t>(distribution)].name;
}

constexpr std::optional<Distribution> distribution_from_name(std::string_view wanted) {
  for (const Entry& entry : distributions) {
    if (entry.name == wanted) return entry.distribution;
  }
  return std::nullopt;
}

/// Of these the input's parameter says more.
constexpr bool takes_parameter(Distribution distribution) {
  return distribution == Distribution::max_value || distribution == Distribution::and_words ||
         distribution == Distribution::some_values || distribution == Distribution::disorder;
}

/// 64 bits, and how to read them.
struct Pattern {
  std::uint64_t bits;
  Kind kind;
};

KOKKOS_FUNCTION inline Pattern pattern_of(Distribution distribution, const Draw& d) {
  switch (distribution) {
#define KRADIX_INPUT_CASE(name, kind, summary, element) \
  case Distribution::name:                              \
    return {element, Kind::kind};
    KRADIX_INPUT_DISTRIBUTIONS(KRADIX_INPUT_CASE)
#undef KRADIX_INPUT_CASE
  }
  return {0, Kind::value};
}

/// The leading bits of 64 as a word of any width; the rest of a wider word follows from them, so that
/// equal bits stay equal.
template <class Word>
KOKKOS_FUNCTION constexpr Word leading_bits(std::uint64_t bits) {
  if constexpr (sizeof(Word) > 8) {
    return static_cast<Word>(bits) << 64 | mix(bits);
  } else {
    return static_cast<Word>(bits >> (64 - 8 * sizeof(Word)));
  }
}

// Constants, not calls: nvcc lets device code use the one from host functions, not the other.
template <class Key>
inline constexpr kradix::impl::KeyKind kind_of_key = kradix::impl::key_kind<Key>();
template <class Key>
inline constexpr int mantissa_bits = std::countr_zero(kradix::impl::infinity_bits<Key>());

/// The key at this place in the order of its type. Floats keep out of the NaNs (all but the ends are
/// finite), for peers that cannot order them.
template <class Key, class Word>
KOKKOS_FUNCTION Key key_in_order(Word place) {
  using kradix::impl::KeyKind;
  constexpr KeyKind kind = kind_of_key<Key>;
  constexpr Word sign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
  if constexpr (std::is_same_v<Key, bool>) {
    return place >= sign;
  } else if constexpr (kind == KeyKind::floating) {
    constexpr int exponent_bits = 8 * static_cast<int>(sizeof(Word)) - 1 - mantissa_bits<Key>;
    const auto finite = static_cast<Word>(place - (place >> exponent_bits) +
                                          static_cast<Word>(Word{1} << mantissa_bits<Key>));
    return Kokkos::bit_cast<Key>(static_cast<Word>(finite & sign ? finite ^ sign : ~finite));
  } else if constexpr (kind == KeyKind::signed_integer) {
    return static_cast<Key>(static_cast<Word>(place ^ sign));
  } else {
    return static_cast<Key>(place);
  }
}

/// The key of a built-in type that a pattern stands for.
template <kradix::impl::builtin_key Key>
KOKKOS_FUNCTION Key key_of(Pattern pattern) {
  using Word = kradix::impl::unsigned_of_size<sizeof(Key)>;
  if (pattern.kind == Kind::real) {
    if constexpr (std::is_same_v<Key, float> || std::is_same_v<Key, double>) {
      return static_cast<Key>(Kokkos::bit_cast<double>(pattern.bits));
    }
    // (Ascending by value: negative ones the other way round.)
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    pattern.bits = (pattern.bits & sign) != 0 ? ~pattern.bits : pattern.bits | sign;
    pattern.kind = Kind::spread;
  }
  if (pattern.kind == Kind::spread) return key_in_order<Key>(leading_bits<Word>(pattern.bits));
  if constexpr (std::is_same_v<Key, bool>) {
    return (pattern.bits & 1) != 0;
  } else if constexpr (std::is_same_v<Key, float> || std::is_same_v<Key, double>) {
    return static_cast<Key>(pattern.bits);
  } else if constexpr (kind_of_key<Key> == kradix::impl::KeyKind::floating) {
    return key_in_order<Key>(static_cast<Word>(pattern.bits));  // 16-bit floats: too few numbers
  } else {
    return static_cast<Key>(static_cast<Word>(pattern.bits));
  }
}

/// A whole input: what to draw, and from which seed.
struct Input {
  Distribution distribution = Distribution::uniform;
  std::uint64_t seed = 1;
  std::uint64_t parameter = ~std::uint64_t{0};  ///< P or the greatest value, where one is taken

  /// Element `index` of `count`.
  template <class Key>
  KOKKOS_FUNCTION Key at(std::uint64_t index, std::uint64_t count) const {
    return key_of<Key>(pattern_of(distribution, Draw{index, count, seed, parameter}));
  }
};

/// One more than the greatest number that this input holds for keys that take it whole; 0: not known.
inline std::uint64_t value_end(const Input& input, std::uint64_t count) {
  switch (input.distribution) {
    case Distribution::max_value:
      return input.parameter + 1;
    case Distribution::range_n_50:
      return count / 50 + 1;
    case Distribution::distinct:
    case Distribution::values_100:
    case Distribution::values_1000:
      return count;
    default:
      return 0;
  }
}

/// "uniform", "some_values:1000"
inline std::string text_of(const Input& input) {
  std::string text(name(input.distribution));
  if (takes_parameter(input.distribution)) text += ':' + std::to_string(input.parameter);
  return text;
}

template <class View>
struct Fill {
  View keys;
  Input input;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    keys(i) = input.at<typename View::non_const_value_type>(i, keys.extent(0));
  }
};

/// Fills `keys` with an input, on `exec`.
template <class ExecutionSpace, class View>
void fill(const ExecutionSpace& exec, const View& keys, const Input& input) {
  const Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::size_t>> all(exec, 0,
                                                                                keys.extent(0));
  Kokkos::parallel_for("inputs::Fill", all, Fill<View>{keys, input});
}

}  // namespace inputs
