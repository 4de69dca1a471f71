// The two arrays that passes move between, and which of them a pass reads and writes.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>

namespace kradix::impl {

/// Pass 0 reads `in`; later passes alternate between `result` and `other` so that the last one
/// writes `result`. Sorting in place (in == result) with an odd number of passes cannot end there:
/// it ends in `other`, and `settles()` asks for one copy. The number of passes is known on the
/// device only, hence these are kernel-side questions.
template <class T>
struct PassBuffers {
  const T* in;
  T* result;
  T* other;

  KOKKOS_FUNCTION bool in_place() const { return in == result; }
  KOKKOS_FUNCTION bool ends_in_other(int passes) const { return in_place() && (passes & 1) == 1; }

  KOKKOS_FUNCTION T* destination(int pass, int passes) const {
    const bool even_from_end = ((passes - 1 - pass) & 1) == 0;
    return even_from_end != ends_in_other(passes) ? result : other;
  }
  /// Where the passes leave the elements.
  KOKKOS_FUNCTION T* end(int passes) const { return destination(passes - 1, passes); }
  /// Of the two arrays for results, the one where they do not.
  KOKKOS_FUNCTION T* spare(int passes) const { return end(passes) == result ? other : result; }
  KOKKOS_FUNCTION const T* source(int pass, int passes) const {
    return pass == 0 ? in : destination(pass - 1, passes);
  }
  /// For a sort in place of what the other array holds.
  KOKKOS_FUNCTION PassBuffers of_other() const { return {other, other, result}; }
};

/// The arrays of one sort: keys, and what travels with them.
template <class Key, class Value>
struct SortBuffers {
  PassBuffers<Key> keys;
  PassBuffers<Value> values;
  bool makes_indices =
      false;                 ///< the first pass makes the values (element i gets i), none are read
  bool leaves_keys = false;  ///< only the values are wanted: the last pass need not write keys
};

/// The elements that one team sorts, and where they go. Values that are null count as each element's index; keys whose
/// result is null are not wanted. The results may lie where the elements do.
template <class Key, class Value>
struct TeamElements {
  int size;
  const Key* keys;
  const Value* values;
  Key* keys_out;
  Value* values_out;
};

}  // namespace kradix::impl
