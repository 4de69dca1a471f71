// Proof that a result is right, element by element.
#pragma once

#include <stdexcept>
#include <string>

#include "support/kernels.hpp"

namespace bench {

struct WrongResult : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Key>
KOKKOS_FUNCTION bool same_bits(const Key& a, const Key& b) {
  using Word = kradix::impl::unsigned_of_size<sizeof(Key)>;
  return Kokkos::bit_cast<Word>(a) == Kokkos::bit_cast<Word>(b);
}

/// Values tell which source element each place holds. Sources in increasing (key, index) are all
/// different, hence a permutation, hence the stable order. Where ties may come in any order, `seen`
/// marks the sources instead. Reduces to the first wrong place, or count.
template <class Key, class Value>
struct CheckOrder {
  Array<Key> source;
  Array<Key> keys;  ///< empty: a permutation alone
  Array<Value> values;
  Array<std::uint8_t> seen;  ///< empty: ties must keep their order

  KOKKOS_FUNCTION bool right(std::size_t i) const {
    const std::uint64_t from = index_of(values(i));
    if (from >= source.extent(0)) return false;
    if (seen.extent(0) > 0) seen(from) = 1;
    if (keys.extent(0) > 0 && !same_bits(keys(i), source(from))) return false;
    if (i == 0) return true;
    const std::uint64_t before = index_of(values(i - 1));
    if (before >= source.extent(0)) return false;
    const auto bits = kradix::KeyCodec<Key>::encode(source(from));
    const auto bits_before = kradix::KeyCodec<Key>::encode(source(before));
    if (bits != bits_before) return bits_before < bits;
    return seen.extent(0) > 0 || before < from;
  }
  KOKKOS_FUNCTION void operator()(std::size_t i, std::size_t& wrong) const {
    if (i < wrong && !right(i)) wrong = i;
  }
};

/// Keys that compare equal may come in any order.
template <class Key>
struct CheckKeys {
  Array<Key> expected, keys;
  KOKKOS_FUNCTION void operator()(std::size_t i, std::size_t& wrong) const {
    using Codec = kradix::KeyCodec<Key>;
    if (i < wrong && Codec::encode(keys(i)) != Codec::encode(expected(i))) wrong = i;
  }
};

[[noreturn]] void throw_wrong(const std::string& who, const char* problem, std::size_t place,
                              std::size_t count);

/// Runs a check over all places; throws with the first wrong one.
template <class Check>
void require(const Space& exec, std::size_t count, const Check& check, const std::string& who,
             const char* problem) {
  std::size_t wrong = count;
  Kokkos::parallel_reduce("bench::Check", all_of(exec, count), check,
                          Kokkos::Min<std::size_t>(wrong));
  if (wrong < count) throw_wrong(who, problem, wrong, count);
}

/// Throws where a source was never marked.
void require_seen(const Space& exec, const Array<std::uint8_t>& seen, const std::string& who);

/// Throws WrongResult unless `values` (and `keys`, where given) are `source` in order.
template <class Key, class Value>
void require_order(const Space& exec, const Array<Key>& source, const Array<Key>& keys,
                   const Array<Value>& values, bool stable, const std::string& who) {
  const std::size_t count = source.extent(0);
  const Array<std::uint8_t> seen("bench::seen", stable ? 0 : count);
  require(exec, count, CheckOrder<Key, Value>{source, keys, values, seen}, who,
          stable ? "not the stable order" : "out of order");
  if (!stable) require_seen(exec, seen, who);
}

template <class Key>
struct Gather {
  Array<Key> source;
  Array<std::uint64_t> from;
  Array<Key> gathered;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { gathered(i) = source(from(i)); }
};

/// `source` in order, through a permutation that is proved before it is used.
template <class Key>
Array<Key> sorted_keys(const Space& exec, const Array<Key>& source) {
  const std::size_t count = source.extent(0);
  const Array<std::uint64_t> order(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "bench::order"), count);
  kradix::argsort(exec, source, order);
  require_order(exec, source, Array<Key>{}, order, true, "the reference permutation");
  const Array<Key> sorted(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "bench::expected"),
                          count);
  Kokkos::parallel_for("bench::Gather", all_of(exec, count), Gather<Key>{source, order, sorted});
  return sorted;
}

}  // namespace bench
