// The digits of a key, and the list of passes that a sort makes over them.
#pragma once

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/key.hpp"

namespace kradix::impl {

inline constexpr int digit_bits = 8;
inline constexpr int bin_count = 1 << digit_bits;

/// `of(bits)` is the digit: (bits >> shift) & mask.
struct Digit {
  int shift;
  unsigned mask;

  template <class Bits>
  KOKKOS_FUNCTION unsigned of(Bits bits) const {
    return static_cast<unsigned>(bits >> shift) & mask;
  }
};

/// Takes one digit from key after key.
template <class Codec>
struct DigitReader {
  Codec codec;
  Digit digit;

  KOKKOS_FUNCTION DigitReader(const Codec& codec_, Digit digit_) : codec(codec_), digit(digit_) {}
  KOKKOS_FUNCTION std::uint32_t of(const typename Codec::key_type& key) const {
    return digit.of(codec.encode(key));
  }
};

/// An integer is encoded by one xor, which may as well come after the shift: two instructions a digit.
template <class Word>
struct DigitReader<WordCodec<Word, false>> {
  int shift;
  std::uint32_t flip, mask;

  KOKKOS_FUNCTION DigitReader(const WordCodec<Word, false>& codec, Digit digit)
      : shift(digit.shift), flip(digit.of(codec.encode(Word{0}))), mask(digit.mask) {}
  KOKKOS_FUNCTION std::uint32_t of(Word word) const {
    return (static_cast<std::uint32_t>(word >> shift) ^ flip) & mask;
  }
};

/// What passes move, and how they take digits from it: keys as they are.
template <class Codec>
struct MovedAsTheyAre {
  using Reader = DigitReader<Codec>;
  static constexpr bool are_codes = false;
  static constexpr bool some_are_special = false;

  KOKKOS_FUNCTION static Reader reader(const Codec& codec, Digit digit) { return {codec, digit}; }
};

/// What passes over all keys move.
template <class Codec>
struct Moved : MovedAsTheyAre<Codec> {};

/// Codes, where to make them takes many steps and can be undone: the first pass makes them and the last makes keys of
/// them, and in between a digit is read as that of a word.
template <class Word>
struct Moved<TotalOrderCodec<Word>> {
  using Codec = TotalOrderCodec<Word>;
  using Reader = DigitReader<WordCodec<Word, false>>;
  static constexpr bool are_codes = true;
  static constexpr bool some_are_special = false;

  KOKKOS_FUNCTION static Word encode(const Codec& codec, Word key) { return codec.encode(key); }
  KOKKOS_FUNCTION static Word decode(const Codec& codec, Word code) { return codec.decode(code); }
  KOKKOS_FUNCTION static Reader reader(const Codec&, Digit digit) { return {{0, 0}, digit}; }
};

/// Words in order, of floats of which some are equal and differ: −0 and NaNs, which are special, as their digits are found
/// in more steps. Where the first pass has met none, the others read digits as those of words.
template <class Word>
struct Moved<WordCodec<Word, true>> {
  using Codec = WordCodec<Word, true>;
  using Reader = DigitReader<WordCodec<Word, false>>;
  static constexpr bool are_codes = true;
  static constexpr bool some_are_special = true;

  struct ReaderOfAny {
    Codec codec;
    Digit digit;
    KOKKOS_FUNCTION std::uint32_t of(Word code) const {
      return digit.of(codec.encode_in_order(code));
    }
    KOKKOS_FUNCTION bool is_special(Word code) const {
      return codec.encode_in_order(code) != static_cast<Word>(code ^ codec.flip);
    }
  };

  KOKKOS_FUNCTION static Word encode(const Codec&, Word key) { return float_in_order(key); }
  KOKKOS_FUNCTION static Word decode(const Codec&, Word code) { return float_of_order(code); }
  KOKKOS_FUNCTION static Reader reader(const Codec& codec, Digit digit) {
    return {{codec.flip, 0}, digit};
  }
  KOKKOS_FUNCTION static ReaderOfAny reader_of_any(const Codec& codec, Digit digit) {
    return {codec, digit};
  }
};

/// Of those words a pass of its own for any of them, and one for such of which none is special: kernels that read both spill keys.
template <class Codec, bool Special>
struct MovedIfSpecial : Moved<Codec> {
  static constexpr bool some_are_special = false;
  static constexpr bool of_special = Special;
  using Reader = std::conditional_t<Special, typename Moved<Codec>::ReaderOfAny,
                                    typename Moved<Codec>::Reader>;

  KOKKOS_FUNCTION static Reader reader(const Codec& codec, Digit digit) {
    if constexpr (Special) {
      return Moved<Codec>::reader_of_any(codec, digit);
    } else {
      return Moved<Codec>::reader(codec, digit);
    }
  }
};
/// Is there a kernel for either?
template <class Moving>
inline constexpr bool moves_one_of_two = requires {
  Moving::of_special;
};

/// The fixed digits of a bit range: digit d is bits [begin + width d, begin + width d + width) cut at the end.
struct DigitList {
  int begin, end;
  int width = digit_bits;

  KOKKOS_FUNCTION int count() const { return (end - begin + width - 1) / width; }
  KOKKOS_FUNCTION Digit digit(int d) const {
    const int shift = begin + d * width;
    const int own = end - shift < width ? end - shift : width;
    return {shift, (1u << own) - 1};
  }
};

/// May keys that are equal in the bits that count differ otherwise?
template <class Codec>
bool equal_keys_differ(const Codec&, const DigitList& all) {
  return !Codec::tells_all_keys_apart || all.end - all.begin < Codec::bits;
}

/// The passes of one sort, decided on the device from the bits in which keys differ.
struct PassTable {
  static constexpr int max_passes = 128 / digit_bits;
  int count;
  int takes_out;           ///< heavy keys leave by a pass before these, and come back by one after
  std::uint64_t elements;  ///< that are left then
  int finishes;            ///< a finish follows the passes: it moves the elements once more
  int mirrors;  ///< no pass, for the elements lie in reverse, or in order and have moved (0: neither)
  int expands;  ///< no pass, for keys are made from how often each occurs; values take so many sweeps
  Digit digit[max_passes];
  int row[max_passes];  ///< of the table of bins that holds the digit's first places

  /// Writes a pass, and what else there is to say but of passes.
  KOKKOS_FUNCTION void add(int pass, const Digit& its_digit, int its_row) {
    digit[pass] = its_digit;
    row[pass] = its_row;
  }
  KOKKOS_FUNCTION void begin(int passes, const PassTable& others) {
    count = passes;
    takes_out = others.takes_out;
    elements = others.elements;
    finishes = others.finishes;
    mirrors = others.mirrors;
    expands = others.expands;
  }

  // For the arrays that take turns, of all that move elements.
  KOKKOS_FUNCTION int number(int pass) const { return pass + takes_out; }
  KOKKOS_FUNCTION int all() const { return count + 2 * takes_out; }
  /// What the passes leave to be mended. Light elements, if those may be, lie in the other array, where an even number of
  /// passes leaves them.
  template <bool MayBeLight, class Array>
  KOKKOS_FUNCTION Array arrays(const Array& all) const {
    return MayBeLight && takes_out ? all.of_other() : all;
  }
  template <bool MayBeLight>
  KOKKOS_FUNCTION std::size_t sorted_of(std::size_t count) const {
    return MayBeLight && takes_out ? static_cast<std::size_t>(elements) : count;
  }
  static constexpr int turning_round = 1;
  /// They have been turned round already, and of keys that are the same the values are turned back.
  static constexpr int turning_ties_back = 2;
  /// All lie where they are wanted.
  static constexpr int moved_already = 3;
  /// The finish: one pass, that keeps no order, and keys are made from how often each occurs in its bin.
  static constexpr int counting = 2;
  /// Or chunks whose bounds are known have been spread by splitters, which is as much as two passes.
  static constexpr int splitting = 3;
  /// Or cells have been gathered, likewise.
  static constexpr int gathering = 4;
  /// Or bins that keys have been dealt out to.
  static constexpr int dealing = 5;
  /// Or keys of a short range are sorted by its bins.
  static constexpr int ranging = 6;
  KOKKOS_FUNCTION bool counts() const { return finishes == counting; }
  /// Then none of the passes listed moves keys.
  KOKKOS_FUNCTION bool has_moved() const {
    return finishes == splitting || finishes == gathering || finishes == dealing ||
           finishes == ranging;
  }
  /// With that, which moves all keys (sweeps need not know).
  KOKKOS_FUNCTION int all_and_counting() const { return all() + (counts() ? 1 : 0); }
};

/// Bits [begin, end) set, all others clear.
template <class Bits>
KOKKOS_FUNCTION constexpr Bits bits_between(int begin, int end) {
  return static_cast<Bits>(low_mask<Bits>(end) & ~low_mask<Bits>(begin));
}

/// Bits up to the highest that is set.
template <class Bits>
KOKKOS_FUNCTION int bit_width_of(Bits bits) {
  if constexpr (sizeof(Bits) > 8) {
    const auto high = static_cast<std::uint64_t>(bits >> 64);
    return high != 0 ? 64 + bit_width_of(high) : bit_width_of(static_cast<std::uint64_t>(bits));
  } else {
    return static_cast<int>(8 * sizeof(Bits)) - Kokkos::Experimental::countl_zero_builtin(bits);
  }
}

/// Those that are set. (On hosts in a few steps: many have an instruction for it, but a compiler that may not use that calls a
/// function.)
KOKKOS_INLINE_FUNCTION std::uint32_t count_bits(std::uint32_t word) {
  KOKKOS_IF_ON_DEVICE(
      (return static_cast<std::uint32_t>(Kokkos::Experimental::popcount_builtin(word));))
  KOKKOS_IF_ON_HOST((const std::uint32_t pairs = word - (word >> 1 & 0x55555555u);
                     const std::uint32_t fours = (pairs & 0x33333333u) + (pairs >> 2 & 0x33333333u);
                     return ((fours + (fours >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;))
}

/// Digits that cover every varying bit, from the least significant up; each starts at a varying bit,
/// so bits in which no key differs cost nothing where they would fill a digit.
template <class Bits>
KOKKOS_FUNCTION PassTable cover(Bits varying) {
  PassTable passes{};
  int shift = 0;
  while (varying != 0) {
    while ((varying & 1) == 0) {
      varying >>= 1;
      ++shift;
    }
    constexpr unsigned full = bin_count - 1;
    unsigned mask = full & static_cast<unsigned>(varying);
    // Holes inside a digit would only cost empty bins, but bits above the last varying one may lie
    // outside the caller's range: keep the digit to the span that varies.
    mask |= mask >> 1;
    mask |= mask >> 2;
    mask |= mask >> 4;
    passes.digit[passes.count++] = {shift, mask};
    varying >>= digit_bits;
    shift += digit_bits;
  }
  return passes;
}

}  // namespace kradix::impl
