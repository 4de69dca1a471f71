// Which bucket a key goes to on the first level of a host sort, decided by a sample of the keys.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/host/cache_sort.hpp"
#include "kradix/impl/host/order.hpp"
#include "kradix/impl/host/simd_buckets.hpp"

namespace kradix::impl {

/// A level has at most so many buckets.
inline constexpr std::size_t max_buckets = 1 << 11;
/// A table's quotas, with those of its most frequent key, need so many.
inline constexpr std::size_t least_buckets = 8;

/// Steps of one width from `low` on. What lies beside belongs to the first or the last.
template <class Bits>
struct KeySteps {
  Bits low, high;
  int shift;

  static KeySteps between(Bits low, Bits high, int count_bits) {
    return {low, high, std::max(0, bit_width_of(static_cast<Bits>(high - low)) - count_bits)};
  }
  std::size_t of(Bits bits) const {
    return static_cast<std::size_t>(static_cast<Bits>(std::clamp(bits, low, high) - low) >> shift);
  }
  std::size_t count() const { return of(high) + 1; }
};

/// Likewise of stored doubles, by their values; there are no NaNs. (Which bits tell: compilers may be told that there never are.)
struct DoubleSteps {
  StoredDoubles value_of;
  double first, per_unit;
  double last;        ///< step
  unsigned rounding;  ///< of whom they were made for

  /// None unless steps are wide enough to be told apart.
  static DoubleSteps between(const StoredDoubles& value_of, std::uint64_t low, std::uint64_t high,
                             std::size_t count) {
    const double first = value_of(low), last = static_cast<double>(count - 1);
    // The last one's middle is the end, wherever that is rounded to.
    const DoubleSteps steps{value_of, first, (last + 0.5) / (value_of(high) - first), last,
                            rounding_of_thread()};
    constexpr double narrow = 1e280;
    const double per_unit = std::abs(steps.per_unit);
    return is_finite(value_of(low)) && is_finite(value_of(high)) && per_unit < narrow &&
                   per_unit > 1 / narrow
               ? steps
               : DoubleSteps{};
  }
  static bool is_finite(double value) {
    constexpr std::uint64_t infinity = infinity_bits<double>();
    return (Kokkos::bit_cast<std::uint64_t>(value) & infinity) != infinity;
  }
  bool exist() const { return per_unit != 0; }
  /// Does the calling thread find the same steps?
  bool are_same_here() const { return !exist() || rounding == rounding_of_thread(); }
  std::size_t of(std::uint64_t stored) const { return of_value(value_of(stored)); }
  std::size_t of_value(double value) const {
    const double step = (value - first) * per_unit;
    return static_cast<std::size_t>(static_cast<int>(std::min(std::max(0.0, step), last)));
  }
  std::size_t count() const { return static_cast<std::size_t>(last) + 1; }

  /// How the calling thread rounds, and whether it takes numbers near zero for zeros: another one, told otherwise, might find
  /// another step for a value.
  static unsigned rounding_of_thread() {
    const volatile double one = 1, quarter = 0x1p-54, most = 0x1.8p-53, least = 0x1p-1074;
    return static_cast<unsigned>(one + quarter > 1) | static_cast<unsigned>(one + most > 1) << 1 |
           static_cast<unsigned>(-one - quarter < -1) << 2 | static_cast<unsigned>(least > 0) << 3;
  }
};

enum class CellsBy { steps, distance, values };

/// Fine cells of a range of keys, in order: all of one width, or the wider the farther they are from a key near which
/// most others lie, or steps of doubles' values.
template <class Bits>
struct KeyCells {
  static constexpr int count_bits = 12;
  static constexpr std::size_t count = std::size_t{1} << count_bits;

  static constexpr int fine = sizeof(Bits) <= 4 ? 6 : sizeof(Bits) <= 8 ? 5 : 4;

  CellsBy by;
  KeySteps<Bits> steps;
  Bits center;  ///< by distance
  DoubleSteps values;

  static KeyCells even(Bits low, Bits high) {
    return {CellsBy::steps, KeySteps<Bits>::between(low, high, count_bits), 0, {}};
  }
  static KeyCells around(Bits center) { return {CellsBy::distance, {}, center, {}}; }
  static KeyCells of_values(const DoubleSteps& values) { return {CellsBy::values, {}, 0, values}; }

  template <CellsBy By>
  std::size_t of(Bits bits) const {
    if constexpr (By == CellsBy::values) return values.of(static_cast<std::uint64_t>(bits));
    if constexpr (By == CellsBy::distance) {
      // Without branches: below the center all bits of the distance from it, and of its cell, are turned.
      const bool below = bits < center;
      const auto turn = static_cast<Bits>(Bits{0} - static_cast<Bits>(below));
      const auto distance = static_cast<Bits>(static_cast<Bits>(bits - center) ^ turn);
      return count / 2 + (from_center(distance) ^ (std::size_t{0} - below));
    }
    return steps.of(bits);
  }
  std::size_t of(Bits bits) const {
    return by == CellsBy::steps      ? of<CellsBy::steps>(bits)
           : by == CellsBy::distance ? of<CellsBy::distance>(bits)
                                     : of<CellsBy::values>(bits);
  }

 private:
  /// As a float: some leading bits, and how many follow.
  static std::size_t from_center(Bits distance) {
    static_assert(((8 * sizeof(Bits) - fine + 1) << fine) <= count / 2);
    const int over = bit_width_of(static_cast<Bits>(distance | Bits{1} << fine)) - 1 - fine;
    return (static_cast<std::size_t>(over) << fine) + static_cast<std::size_t>(distance >> over);
  }
};

/// Buckets of about equally many keys, whatever the keys: a table over fine cells. The most frequent key among a
/// bucket's is set apart from those below and above.
template <class Bits>
struct BucketTable {
  using Cells = KeyCells<Bits>;
  static constexpr Bits none = static_cast<Bits>(~Bits{0});

  Bits wanted;
  Cells cells;
  std::uint16_t bucket[Cells::count];
  Bits heavy[max_buckets];  ///< of a cell's bucket, or none
  std::uint32_t
      key_bytes[max_buckets];  ///< that travel: none of equal keys, those of the heavy one before

  /// What is read to find a bucket, apart from what is written meanwhile.
  struct LookUp {
    Bits wanted;
    Cells cells;
    const std::uint16_t* bucket;
    const Bits* heavy;

    /// Grows with the key. `By` says how the cells are.
    template <CellsBy By>
    std::uint32_t of(Bits bits) const {
      bits &= wanted;
      return in_cell(cells.template of<By>(bits), bits);
    }
    std::uint32_t in_cell(std::size_t cell, Bits bits) const {
      const std::uint32_t first = bucket[cell];
      return first + (bits >= heavy[first]) + (bits > heavy[first]);
    }
  };
  LookUp look_up() const { return {wanted, cells, bucket, heavy}; }
  /// The same for SIMD, which reads beyond the last cell's bucket.
  TableNumbers numbers() const requires std::is_same_v<Bits, TableNumbers::Word> {
    const KeySteps<Bits>& steps = cells.steps;
    return {wanted,       steps.low,        steps.high,  steps.shift, cells.by == CellsBy::distance,
            cells.center, Cells::count / 2, Cells::fine, bucket,      heavy};
  }
  /// The first of the buckets of its cell.
  std::uint32_t first_of(Bits bits) const { return bucket[cells.of(bits & wanted)]; }
  std::uint32_t of(Bits bits) const {
    bits &= wanted;
    return look_up().in_cell(cells.of(bits), bits);
  }

  /// From a sorted sample of masked keys; returns how many buckets there are, at most `most`. If so many do, they are of half or three
  /// quarters of what a cache holds, which is `full` of the sample. Cells may be steps of values.
  std::size_t build(const Bits* sample, std::size_t size, Bits all_wanted, std::size_t most,
                    std::size_t full = ~std::size_t{0}, const DoubleSteps& values = {}) {
    wanted = all_wanted;
    choose_cells(sample, size, values);
    const std::size_t quota = choose_quota(sample, size, most);
    for (const std::size_t fitting : {full / 2, full - full / 4}) {
      if (fitting == 0 || fitting >= quota) continue;
      const std::size_t found = divide(sample, size, fitting, most);
      if (found <= most) return found;
    }
    return divide(sample, size, quota, 2 * max_buckets);  // which has
  }

 private:
  /// The cells of one bucket, while they are put together.
  struct Stretch {
    std::size_t index, held;
    Bits heavy;
    std::size_t least;  ///< a key seen so often is heavy
    std::size_t most = 0;

    void take(const Bits* sample, std::size_t size) {
      held += size;
      for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
        while (end < size && sample[end] == sample[begin]) ++end;
        if (end - begin < least || end - begin <= most) continue;
        most = end - begin;
        heavy = sample[begin];
      }
    }
  };

  /// Returns how many buckets there are of at most `quota` each, or more than `room` where that has not room for them.
  std::size_t divide(const Bits* sample, std::size_t size, std::size_t quota, std::size_t room) {
    std::fill_n(heavy, max_buckets, none);
    Stretch now{0, 0, none, std::min(size, 2 * quota)};
    for (std::size_t cell = 0, begin = 0; cell < Cells::count; ++cell) {
      std::size_t end = begin;
      while (end < size && cells.of(sample[end]) == cell) ++end;
      if (now.held > 0 && now.held + (end - begin) > quota) close(now);
      if (now.index + 4 > room) return room + 1;  // a heavy key adds two, and the greatest one
      bucket[cell] = static_cast<std::uint16_t>(now.index);
      now.take(sample + begin, end - begin);
      begin = end;
    }
    close(now);
    return now.index + 1;  // the greatest key of all is none, and above it
  }

  /// What a bucket's share of the sample is. Where heavy keys hold much of it, others have finer buckets, up to four times.
  static std::size_t choose_quota(const Bits* sample, std::size_t size, std::size_t most) {
    // Two neighbours together hold more than a quota, and a heavy key, which adds two, two alone.
    const std::size_t even = 3 * size / (most - 4) + 1;
    for (const std::size_t quota : {even / 4 + 1, even / 2 + 1}) {
      std::size_t left = size, heavies = 0;
      for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
        while (end < size && sample[end] == sample[begin]) ++end;
        if (end - begin < 2 * quota) continue;
        left -= end - begin;
        ++heavies;
      }
      // A heavy key may leave a crumb beside its three buckets.
      if (quota < even && 4 * heavies + 2 * left / quota + 3 <= most) return quota;
    }
    return even;
  }

  /// Those of which the fullest holds least, but for its most frequent key.
  void choose_cells(const Bits* sample, std::size_t size, const DoubleSteps& values) {
    const Bits low = sample[0], high = sample[size - 1];
    cells = Cells::even(low, high);
    std::size_t least = fullest(cells, sample, size) / 2;  // those of one width are sooner found
    const auto compare = [&](const Cells& others) {
      const std::size_t held = fullest(others, sample, size);
      if (held >= least) return;
      least = held;
      cells = others;
    };
    if (values.exist()) compare(Cells::of_values(values));
    for (const Bits center : {low, sample[size / 2], high}) compare(Cells::around(center));
  }
  static std::size_t fullest(const Cells& cells, const Bits* sample, std::size_t size) {
    std::size_t most = 0;
    for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
      const std::size_t cell = cells.of(sample[begin]);
      std::size_t alike = 0, frequent = 0;
      for (; end < size && cells.of(sample[end]) == cell; ++end) {
        alike = end > begin && sample[end] == sample[end - 1] ? alike + 1 : 1;
        frequent = std::max(frequent, alike);
      }
      most = std::max(most, end - begin - frequent);
    }
    return most;
  }
  void close(Stretch& now) {
    heavy[now.index] = now.heavy;
    now = {now.index + (now.most > 0 ? 3 : 1), 0, none, now.least};
  }
};

/// Buckets of about equally many keys between splitters. SIMD tells keys less than one from the others, first by that which halves the
/// sample, then by those that halve the halves: frequent keys, which have a bucket each, are soon told apart.
template <class Bits>
struct BucketSplitters {
  static constexpr std::size_t most = sizeof(Bits) <= 8 ? max_buckets : 1;

  Bits splitter[most];         ///< the least key that a bucket may have
  bool one_key[most];          ///< it has no other
  std::uint16_t middle[most];  ///< of each node of the tree of halves: the first bucket behind

  /// From a sorted sample; returns how many buckets there are, at most `room`.
  std::size_t build(const Bits* sample, std::size_t size, std::size_t wanted, std::size_t room) {
    std::uint32_t first[most + 1];  // of the sample's keys, in each bucket
    const std::size_t quota = std::max<std::size_t>(size / wanted, 1);
    std::size_t count = 0;
    const auto open = [&](Bits least, std::size_t at) {
      if (count == 0 || splitter[count - 1] != least) splitter[count++] = least;
      first[count - 1] = static_cast<std::uint32_t>(at);
      one_key[count - 1] = false;
    };
    open(0, 0);
    std::size_t held = 0;
    for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
      while (end < size && sample[end] == sample[begin]) ++end;
      const Bits key = sample[begin];
      const bool is_heavy = end - begin >= std::max<std::size_t>(quota, 2);
      if (is_heavy && count + 2 <= room) {
        open(key, begin);
        one_key[count - 1] = true;
        held = 0;
        if (key != static_cast<Bits>(~Bits{0})) open(static_cast<Bits>(key + 1), end);
        continue;
      }
      if (held > 0 && held + (end - begin) > quota && count < room) {
        open(key, begin);
        held = 0;
      }
      held += end - begin;
    }
    first[count] = static_cast<std::uint32_t>(size);
    middle[0] = 0;  // all is behind, where there is one bucket
    divide(first, 0, count, 0);
    return count;
  }

  /// Buckets [begin, end) are told apart by the splitter of bucket `middle[node]`. Behind a node come those of the buckets before, then
  /// those of the others.
  std::size_t node_before(std::size_t node) const { return node + 1; }
  std::size_t node_behind(std::size_t node, std::size_t begin) const {
    return node + middle[node] - begin;
  }

 private:
  void divide(const std::uint32_t* first, std::size_t begin, std::size_t end, std::size_t node) {
    if (end - begin < 2) return;
    const std::uint32_t half = first[begin] + (first[end] - first[begin]) / 2;
    const std::uint32_t* at = std::lower_bound(first + begin + 1, first + end - 1, half);
    if (at > first + begin + 1 && half - at[-1] < *at - half) --at;
    middle[node] = static_cast<std::uint16_t>(at - first);
    divide(first, begin, middle[node], node_before(node));
    divide(first, middle[node], end, node_behind(node, begin));
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

/// What tells a key's bucket.
enum class BucketsBy { digit, steps, values, table, splitters };

/// Buckets by a digit while that serves, else by steps, or by a table or by splitters.
template <class Bits>
struct Buckets {
  BucketsBy by;
  std::size_t count;
  Bits reference;  ///< a key of the sample
  Bits differing;  ///< the bits in which the sample's keys differ
  int top;         ///< by digit: all keys must equal the reference in the bits from here up
  Digit digit;
  Bits low, high;  ///< of a sorted sample: its ends
  KeySteps<Bits> steps;
  DoubleSteps values;
  BucketTable<Bits> table;
  static constexpr std::size_t most_splits = 4;
  std::size_t splits;  ///< by table: so many buckets are of a key that is split off
  std::size_t split[most_splits];
  BucketSplitters<Bits> splitters;

  /// No key may leave the digit's range.
  bool escapes(Bits differing) const {
    return by == BucketsBy::digit && (differing & static_cast<Bits>(~low_mask<Bits>(top))) != 0;
  }

  /// The steps of values that are looked at, or none.
  DoubleSteps value_steps() const {
    if (by == BucketsBy::values) return values;
    return by == BucketsBy::table ? table.cells.values : DoubleSteps{};
  }

  /// By steps or by a table.
  std::size_t bucket_of(Bits key) const {
    return by == BucketsBy::steps    ? steps.of(key)
           : by == BucketsBy::values ? values.of(key)
                                     : table.of(key);
  }
  /// No key of the bucket, by steps or by a table, is less. (Found between the ends of the sample: what it says is between those, too.)
  Bits least_of(std::size_t bucket) const {
    if (bucket == 0) return 0;
    Bits before = low, least = high;
    while (least - before > 1) {
      const auto middle = static_cast<Bits>(before + (least - before) / 2);
      (bucket_of(middle) < bucket ? before : least) = middle;
    }
    return least;
  }

  /// The bits in which keys of one bucket may differ, as far as the sample says; none where buckets are not by a digit.
  Bits varying_in_one() const {
    return by == BucketsBy::digit ? static_cast<Bits>(differing & low_mask<Bits>(digit.shift))
                                  : Bits{0};
  }

  /// Are all keys of a bucket the same, which need not travel?
  bool holds_one_key(std::size_t bucket) const {
    if (by == BucketsBy::splitters) return splitters.one_key[bucket];
    return by == BucketsBy::table && table.key_bytes[bucket] == 0;
  }
  /// That key.
  Bits only_key(std::size_t bucket) const {
    return by == BucketsBy::splitters ? splitters.splitter[bucket] : table.heavy[bucket - 1];
  }

  /// By the top `bits` of the bits that differ.
  void take_digit(Bits first, Bits all_differing, int bits) {
    by = BucketsBy::digit;
    reference = first;
    differing = all_differing;
    top = bit_width_of(differing);
    int shift = std::max(0, top - bits);
    while (shift < top && (differing >> shift & 1) == 0) ++shift;  // below may lie unwanted bits
    digit = {shift, static_cast<unsigned>(low_mask<std::uint32_t>(top - shift))};
    count = digit.mask + std::size_t{1};
  }

  /// From a sample of masked keys. False if they are so uneven that a table serves better.
  bool choose(const Bits* sample, std::size_t size, BucketBits bits, std::uint32_t* counters) {
    differing = 0;
    for (std::size_t i = 1; i < size; ++i) differing |= sample[i] ^ sample[0];
    take_digit(sample[0], differing, bits.for_keys(bit_width_of(differing)));
    return even(sample, size, counters);
  }

  /// From a sorted sample: by steps, of as many bits as leave hardly a key in a bucket of which the sample has more than `most`.
  /// False if not so many are `enough`.
  bool take_steps(const Bits* sample, std::size_t size, BucketBits bits, std::size_t most) {
    return take_even(BucketsBy::steps, sample, size, bits, most, [&](int count_bits) {
      steps = KeySteps<Bits>::between(low, high, count_bits);
      count = steps.count();
      return true;
    });
  }
  /// Likewise by values.
  bool take_values(const StoredDoubles& value_of, const Bits* sample, std::size_t size,
                   BucketBits bits, std::size_t most) {
    return take_even(BucketsBy::values, sample, size, bits, most, [&](int count_bits) {
      values = DoubleSteps::between(value_of, low, high, std::size_t{1} << count_bits);
      count = values.count();
      return values.exist();
    });
  }

  /// From a sorted sample. `makes_keys`: the wanted bits are all that there is of a key of so many bytes.
  void take_table(const Bits* sample, std::size_t size, Bits wanted, bool makes_keys,
                  std::uint32_t key_bytes, BucketBits bits, std::size_t full = ~std::size_t{0},
                  const DoubleSteps& values = {}) {
    open(BucketsBy::table, sample, size);
    reference = sample[0];
    // A sample's quotas are uneven: some more buckets keep the largest ones small.
    const int uneven = std::min(bits.enough + 2, bits.most);
    count = table.build(sample, size, wanted, std::max(least_buckets, std::size_t{1} << uneven),
                        full, values);
    std::fill_n(table.key_bytes, count, key_bytes);
    splits = 0;
    if (makes_keys) leave_keys(sample, size);
  }

  /// Do buckets by a table, but those of one key, hold more than `most` of the sample? Such a table knows no keys closer to each other than
  /// its cells are wide.
  bool table_crowds(const Bits* sample, std::size_t size, std::size_t most) const {
    return crowd(sample, size, most, 64);
  }

  /// From a sorted sample of whole keys.
  void take_splitters(const Bits* sample, std::size_t size, BucketBits bits) {
    by = BucketsBy::splitters;
    reference = sample[0];
    const std::size_t room = std::max(least_buckets, std::size_t{1} << bits.most);
    // Frequent keys ask for more than a share.
    const std::size_t wanted = std::min(std::size_t{1} << bits.enough, room - room / 8);
    count = splitters.build(sample, size, wanted, room);
  }

 private:
  /// Keys that have a bucket of their own stay behind. Of those the most frequent are split off before others are looked
  /// for in the table, each while it is a third of what is left: to compare costs a quarter of what the table does.
  void leave_keys(const Bits* sample, std::size_t size) {
    std::size_t held[most_splits] = {};
    for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
      while (end < size && sample[end] == sample[begin]) ++end;
      // (The greatest key is also what stands for none, but then nothing else lies in that bucket.)
      const std::uint32_t first = table.first_of(sample[begin]);
      if (table.heavy[first] != sample[begin]) continue;
      const std::uint32_t bucket = first + 1;
      table.key_bytes[bucket] = 0;
      std::size_t s = most_splits;
      for (; s > 0 && held[s - 1] < end - begin; --s) {
        if (s == most_splits) continue;
        held[s] = held[s - 1];
        split[s] = split[s - 1];
      }
      if (s == most_splits) continue;
      held[s] = end - begin;
      split[s] = bucket;
    }
    for (std::size_t left = size; splits < most_splits && 3 * held[splits] > left; ++splits) {
      left -= held[splits];
    }
  }

  void open(BucketsBy now, const Bits* sample, std::size_t size) {
    by = now;
    low = sample[0];
    high = sample[size - 1];
  }

  /// Takes the fewest steps, made by `take(bits)` while there are any, of which hardly one crowds.
  template <class Take>
  bool take_even(BucketsBy now, const Bits* sample, std::size_t size, BucketBits bits,
                 std::size_t most, const Take& take) {
    open(now, sample, size);
    for (int b = bits.enough; b <= bits.most && take(b); ++b) {
      if (!crowd(sample, size, most, 16)) return true;
    }
    return false;
  }

  /// Does a part of a sorted sample lie in buckets, not of one key, that hold more than `most` of it?
  bool crowd(const Bits* sample, std::size_t size, std::size_t most, std::size_t part) const {
    std::size_t crowded = 0;
    for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
      const std::size_t bucket = bucket_of(sample[begin]);
      while (end < size && bucket_of(sample[end]) == bucket) ++end;
      if (end - begin > most && !holds_one_key(bucket)) crowded += end - begin;
    }
    return part * crowded > size;
  }

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
  static constexpr std::size_t least = 256, most = 4096;
  static std::size_t size_of(std::size_t count) {
    return std::min(count, std::clamp(count >> 9, least, most));
  }
  /// Of very many keys there are more buckets, whose sizes the sample is to tell.
  static std::size_t size_for_buckets(std::size_t count) {
    constexpr std::size_t most_for_buckets = 16384;
    return std::max(size_of(count), std::min(count >> 10, most_for_buckets));
  }
  /// What it did not see of pairs' kinds is sorted by itself.
  static std::size_t size_for_labels(std::size_t count) {
    return std::min(count, std::clamp(count >> 6, least, most));
  }
  static std::size_t place(std::size_t i, std::size_t size, std::size_t count) {
    const std::size_t stretch = count / size;
    // A product alone would go round its stretch evenly, and so miss what keys repeat that do.
    std::uint64_t hash = (i + 1) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32) * 0xd1342543de82ef95u;
    return i * stretch + static_cast<std::size_t>((hash >> 32) * stretch >> 32);
  }
};

}  // namespace kradix::impl
