// Which bucket a key goes to on the first level of a host sort, decided by a sample of the keys.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/host/cache_sort.hpp"

namespace kradix::impl {

/// A level has at most so many buckets.
inline constexpr std::size_t max_buckets = 1 << 10;
/// A table's quotas, with those of its most frequent key, need so many.
inline constexpr std::size_t least_buckets = 8;

/// Buckets of about equally many keys, whatever the keys: a table over a fine digit of the keys' range, and
/// the most frequent key has a bucket of its own.
template <class Bits>
struct BucketTable {
  static constexpr int cell_bits = 12;
  static constexpr std::size_t cells = std::size_t{1} << cell_bits;

  Bits wanted, low, high, heavy;
  int shift;
  std::uint16_t bucket[cells];

  /// Grows with the key.
  std::uint32_t of(Bits bits) const {
    bits &= wanted;
    const Bits inside = std::clamp(bits, low, high);
    return bucket[(inside - low) >> shift] + (bits >= heavy) + (bits > heavy);
  }

  /// From a sample of masked keys; returns how many buckets there are. `counters`: one per cell.
  std::size_t build(const Bits* sample, std::size_t size, Bits all_wanted, std::size_t most,
                    std::uint32_t* counters) {
    wanted = all_wanted;
    const auto [least, greatest] = std::minmax_element(sample, sample + size);
    low = *least;
    high = *greatest;
    shift = std::max(0, bit_width_of(static_cast<Bits>(high - low)) - cell_bits);
    std::fill_n(counters, cells, 0u);
    for (std::size_t i = 0; i < size; ++i) ++counters[(sample[i] - low) >> shift];
    heavy = majority(sample, size, std::max_element(counters, counters + cells) - counters);
    // Two neighbours together hold more than a quota, and the heavy key adds two buckets.
    const std::size_t quota = std::max<std::size_t>(1, 2 * size / (most - 4) + 1);
    std::size_t index = 0, held = 0;
    for (std::size_t cell = 0; cell < cells; ++cell) {
      if (held > 0 && held + counters[cell] > quota) {
        ++index;
        held = 0;
      }
      bucket[cell] = static_cast<std::uint16_t>(index);
      held += counters[cell];
    }
    return index + 3;
  }

 private:
  /// The only key that may be more than half of what the sample has in this cell.
  Bits majority(const Bits* sample, std::size_t size, std::ptrdiff_t cell) const {
    Bits candidate = low;
    std::size_t votes = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (static_cast<std::ptrdiff_t>((sample[i] - low) >> shift) != cell) continue;
      if (votes == 0) candidate = sample[i];
      votes = sample[i] == candidate ? votes + 1 : votes - 1;
    }
    return candidate;
  }
};

/// How many bits of a key are to choose its bucket.
struct BucketBits {
  int enough, most;
  /// A few more where those leave two digits for a cache, of keys whose bits vary up to `top`.
  int for_keys(int top) const {
    const int over = top - enough - 2 * DigitStack::max_bits;
    return over > 0 && over <= 2 && enough + over <= most ? enough + over : enough;
  }
};

/// Buckets by a digit while that serves, else by a table.
template <class Bits>
struct Buckets {
  std::size_t count;
  bool by_table;
  Bits reference;  ///< a key of the sample
  int top;         ///< by digit: all keys must equal the reference in the bits from here up
  Digit digit;
  BucketTable<Bits> table;

  /// No key may leave the digit's range.
  bool escapes(Bits differing) const {
    return !by_table && (differing & static_cast<Bits>(~low_mask<Bits>(top))) != 0;
  }

  /// By the top `bits` of the bits that differ.
  void take_digit(Bits first, Bits differing, int bits) {
    by_table = false;
    reference = first;
    top = bit_width_of(differing);
    int shift = std::max(0, top - bits);
    while (shift < top && (differing >> shift & 1) == 0) ++shift;  // below may lie unwanted bits
    digit = {shift, static_cast<unsigned>(low_mask<std::uint32_t>(top - shift))};
    count = digit.mask + std::size_t{1};
  }

  /// From a sample of masked keys.
  void choose(const Bits* sample, std::size_t size, Bits wanted, BucketBits bits,
              std::uint32_t* counters) {
    Bits differing = 0;
    for (std::size_t i = 1; i < size; ++i) differing |= sample[i] ^ sample[0];
    take_digit(sample[0], differing, bits.for_keys(bit_width_of(differing)));
    if (!even(sample, size, counters)) take_table(sample, size, wanted, bits.enough, counters);
  }

  void take_table(const Bits* sample, std::size_t size, Bits wanted, int bits,
                  std::uint32_t* counters) {
    by_table = true;
    reference = sample[0];
    const std::size_t most = std::max(least_buckets, std::size_t{1} << bits);
    count = table.build(sample, size, wanted, most, counters);
  }

 private:
  /// Few keys lie in buckets much fuller than others?
  bool even(const Bits* sample, std::size_t size, std::uint32_t* counters) const {
    std::fill_n(counters, count, 0u);
    for (std::size_t i = 0; i < size; ++i) ++counters[digit.of(sample[i])];
    // What chance puts into a bucket of a sample stays well below.
    const std::size_t much = 5 * size / (2 * count) + 8;
    std::size_t crowded = 0;
    for (std::size_t b = 0; b < count; ++b) crowded += counters[b] > much ? counters[b] : 0;
    return 16 * crowded <= size;
  }
};

/// Places of a sample: one in each of `size` equal stretches, where a hash says.
struct BucketSample {
  static constexpr std::size_t most = 4096;
  static std::size_t size_of(std::size_t count) {
    return std::min(count, std::clamp<std::size_t>(count >> 9, 256, most));
  }
  static std::size_t place(std::size_t i, std::size_t size, std::size_t count) {
    const std::size_t stretch = count / size;
    const std::uint64_t hash = (i + 1) * 0x9e3779b97f4a7c15u;
    return i * stretch + static_cast<std::size_t>(hash >> 32) % stretch;
  }
};

}  // namespace kradix::impl
