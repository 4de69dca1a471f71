/// Sorting of keys, of keys with values, and of permutations.
///
/// All functions share these rules.
///
/// *Views*: rank 1, of any layout and memory traits, reachable from the execution space; strided and
/// misaligned ones are packed through scratch memory. Lengths are 64-bit.
///
/// *Order*: that of KeyCodec, ascending or descending; floats order as `<` does with −0 equal to +0 and
/// all NaNs equal to each other and above +infinity. Elements keep every bit.
///
/// *Asynchrony*: with an instance, kernels are enqueued on it and the call returns; the results are
/// there after `exec.fence()`. With a warm Options::workspace nothing is allocated and nothing waits;
/// without one the call allocates and frees scratch, and freeing waits on most backends. Without an
/// instance the function runs on the view's execution space and fences before and after; in between
/// the host may wait once for what the device finds out about the keys (Options::host_wait).
///
/// *Errors*: std::invalid_argument with the numbers, before any element moves.
///
/// *Cost*: O(n ⌈b/8⌉) work for b key bits that vary. Sources: Zagha and Blelloch, "Radix sort for vector
/// multiprocessors", Supercomputing 1991 (docs/algorithms/four_kernel.md); on NVIDIA GPUs Adinets and
/// Merrill, "Onesweep", 2022 (docs/algorithms/onesweep.md), which reads and writes once a pass, and for large inputs a few
/// of its passes and a finish in scratch after Stehle and Jacobsen, "Hybrid radix sort", 2017 (docs/algorithms/msd_hybrid.md);
/// on hosts Satish et al., "Fast sort on CPUs and GPUs", 2010, buckets and passes in each core's cache
/// (docs/algorithms/blocked_radix.md).
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>

#include "kradix/impl/call.hpp"
#include "kradix/impl/check.hpp"
#include "kradix/key.hpp"
#include "kradix/options.hpp"
#include "kradix/version.hpp"
#include "kradix/workspace.hpp"

namespace kradix {

namespace impl {

template <class T>
concept execution_space = Kokkos::is_execution_space_v<T>;

template <class T>
concept view = Kokkos::is_view_v<T>;

template <class ExecutionSpace, class View>
constexpr void require_reachable() {
  static_assert(View::rank() == 1, "kradix: views must have rank 1");
  static_assert(Kokkos::SpaceAccessibility<ExecutionSpace, typename View::memory_space>::accessible,
                "kradix: the execution space cannot reach the view's memory space");
}

template <class View>
constexpr void require_writable() {
  static_assert(!std::is_const_v<typename View::value_type>,
                "kradix: a view that is written must not have const elements");
}

template <class View>
constexpr void require_key() {
  static_assert(key<typename View::non_const_value_type>,
                "kradix: the key type needs a KeyCodec and must be trivially copyable");
}

template <class Exec, class Values>
constexpr void require_values() {
  require_reachable<Exec, Values>();
  static_assert(std::is_trivially_copyable_v<typename Values::non_const_value_type>,
                "kradix: values must be trivially copyable");
}

template <class Exec, class KeysIn, class KeysOut>
constexpr void require_keys_out() {
  static_assert(std::is_same_v<typename KeysIn::non_const_value_type, typename KeysOut::value_type>,
                "kradix: keys_in and keys_out need one key type, keys_out not const");
  require_reachable<Exec, KeysIn>();
  require_reachable<Exec, KeysOut>();
  require_key<KeysIn>();
}

template <class Exec, class Keys>
auto sort_call(const char* function, const Exec& exec, const Keys& keys, const Options& options) {
  require_reachable<Exec, Keys>();
  require_key<Keys>();
  check_options(function, options, codec_of<typename Keys::non_const_value_type>::bits);
  return SortCall<Exec, Keys, NoView, NoView>(exec, options, keys, {}, {});
}

template <class Exec, class Keys, class Values>
auto sort_by_key_call(const char* function, const Exec& exec, const Keys& keys,
                      const Values& values, const Options& options) {
  require_values<Exec, Values>();
  require_key<Keys>();
  require_reachable<Exec, Keys>();
  check_options(function, options, codec_of<typename Keys::non_const_value_type>::bits);
  check_lengths(function, "keys", keys.extent(0), "values", values.extent(0));
  check_apart(function, "keys", keys, "values", values);
  return SortCall<Exec, Keys, NoView, Values>(exec, options, keys, {}, values);
}

template <class Exec, class Keys, class Permutation>
auto argsort_call(const char* function, const Exec& exec, const Keys& keys,
                  const Permutation& permutation, const Options& options) {
  require_reachable<Exec, Keys>();
  require_reachable<Exec, Permutation>();
  require_key<Keys>();
  using Index = typename Permutation::non_const_value_type;
  static_assert(std::is_integral_v<Index> && (sizeof(Index) == 4 || sizeof(Index) == 8),
                "kradix: a permutation holds 32- or 64-bit integers");
  check_options(function, options, codec_of<typename Keys::non_const_value_type>::bits);
  check_lengths(function, "keys", keys.extent(0), "permutation", permutation.extent(0));
  check_index<Index>(function, keys.extent(0));
  check_apart(function, "keys", keys, "permutation", permutation);
  return SortCall<Exec, Keys, NoView, NoView, Permutation>(exec, options, keys, {}, {},
                                                           permutation);
}

/// Of a call that waits anyway.
inline Options waiting(Options options) {
  if (options.host_wait == HostWait::automatic) options.host_wait = HostWait::allowed;
  return options;
}

/// Runs on the view's execution space, with a fence before and after; in between the host may wait, too.
template <class View, class Function>
void fenced(const View&, const char* function, const Options& options, const Function& run_on) {
  const std::string name = std::string("kradix::") + function;
  Kokkos::fence(name + ": fence before");
  const typename View::execution_space exec{};
  run_on(exec, waiting(options));
  exec.fence(name + ": fence after");
}

}  // namespace impl

/// Sorts `keys` in place, on `exec`.
///
/// \param keys     n keys, not const. n ≤ 1 returns at once.
/// \param options  order, bits, algorithm, workspace; Stability::stable keeps the input order of keys
///                 that compare equal but differ in bits.
/// Temporary memory: n keys, 3 % of that, and at most 17 MB and on hosts 2 MB a thread more; another n keys when
/// `keys` is strided. Keys of 1 and 2 bytes that a device counts take 1.1 MB at most instead of n keys.
template <impl::execution_space ExecutionSpace, impl::view Keys>
void sort(const ExecutionSpace& exec, const Keys& keys, const Options& options = {}) {
  impl::require_writable<Keys>();
  auto call = impl::sort_call("sort", exec, keys, options);
  if (keys.extent(0) > 1) call.sort();
}

/// Sorts `keys_in` into `keys_out` and leaves `keys_in` as it is, on `exec`.
///
/// \param keys_in   n keys; may be const.
/// \param keys_out  n keys of the same type, in other memory.
/// Temporary memory: as in place (no keys for 8-bit keys on devices), and n keys for each strided view.
/// Errors beside the common ones: lengths that differ, memory that overlaps.
template <impl::execution_space ExecutionSpace, impl::view KeysIn, impl::view KeysOut>
void sort(const ExecutionSpace& exec, const KeysIn& keys_in, const KeysOut& keys_out,
          const Options& options = {}) {
  impl::require_keys_out<ExecutionSpace, KeysIn, KeysOut>();
  using Key = typename KeysIn::non_const_value_type;
  impl::check_options("sort", options, impl::codec_of<Key>::bits);
  impl::check_lengths("sort", "keys_in", keys_in.extent(0), "keys_out", keys_out.extent(0));
  impl::check_apart("sort", "keys_in", keys_in, "keys_out", keys_out);
  if (keys_in.extent(0) == 0) return;
  impl::SortCall<ExecutionSpace, KeysIn, KeysOut, impl::NoView>(exec, options, keys_in, keys_out,
                                                                {})
      .sort();
}

/// Sorts `keys` and reorders `values` with them, stably, in place, on `exec`.
///
/// \param keys    n keys, not const.
/// \param values  n values of any trivially copyable type; those of 1, 2, 4, 8 or 16 bytes travel with
///                the keys, others move once through a sorted index.
/// Temporary memory: n keys, n values, 3 % of both, and the rest as for keys alone; for values of other sizes 8 n bytes
/// of indices besides (16 n beyond 2^32 elements); n elements for each strided view.
/// Errors beside the common ones: lengths that differ, memory that overlaps.
template <impl::execution_space ExecutionSpace, impl::view Keys, impl::view Values>
void sort_by_key(const ExecutionSpace& exec, const Keys& keys, const Values& values,
                 const Options& options = {}) {
  impl::require_writable<Keys>();
  impl::require_writable<Values>();
  auto call = impl::sort_by_key_call("sort_by_key", exec, keys, values, options);
  if (keys.extent(0) > 1) call.sort();
}

/// Sorts `keys_in` into `keys_out` and puts `values_in` into `values_out` with them, stably, on `exec`. What is read
/// stays as it is.
///
/// \param keys_in     n keys; may be const.
/// \param values_in   n values of any trivially copyable type, as in place; may be const.
/// \param keys_out    n keys of the same type, in other memory than all others.
/// \param values_out  n values of the same type, likewise.
/// Temporary memory: as in place; for values of other sizes n values less; n elements for each strided view.
/// Errors beside the common ones: lengths that differ, memory that overlaps.
template <impl::execution_space ExecutionSpace, impl::view KeysIn, impl::view ValuesIn,
          impl::view KeysOut, impl::view ValuesOut>
void sort_by_key(const ExecutionSpace& exec, const KeysIn& keys_in, const ValuesIn& values_in,
                 const KeysOut& keys_out, const ValuesOut& values_out,
                 const Options& options = {}) {
  constexpr const char* function = "sort_by_key";
  impl::require_keys_out<ExecutionSpace, KeysIn, KeysOut>();
  impl::require_values<ExecutionSpace, ValuesIn>();
  impl::require_values<ExecutionSpace, ValuesOut>();
  static_assert(
      std::is_same_v<typename ValuesIn::non_const_value_type, typename ValuesOut::value_type>,
      "kradix::sort_by_key: values_in and values_out need one type, values_out not const");
  impl::check_options(function, options,
                      impl::codec_of<typename KeysIn::non_const_value_type>::bits);
  const std::size_t count = keys_in.extent(0);
  impl::check_lengths(function, "keys_in", count, "values_in", values_in.extent(0));
  impl::check_lengths(function, "keys_in", count, "keys_out", keys_out.extent(0));
  impl::check_lengths(function, "keys_in", count, "values_out", values_out.extent(0));
  impl::check_apart(function, "keys_in", keys_in, "keys_out", keys_out);
  impl::check_apart(function, "keys_in", keys_in, "values_out", values_out);
  impl::check_apart(function, "values_in", values_in, "keys_out", keys_out);
  impl::check_apart(function, "values_in", values_in, "values_out", values_out);
  impl::check_apart(function, "keys_out", keys_out, "values_out", values_out);
  if (count == 0) return;
  impl::SortCall<ExecutionSpace, KeysIn, KeysOut, ValuesIn, ValuesOut>(
      exec, options, keys_in, keys_out, values_in, values_out)
      .sort();
}

/// Writes to `permutation` the indices that sort `keys` stably: keys(permutation(0)) is the first key.
/// `keys` are left as they are.
///
/// \param keys         n keys; may be const.
/// \param permutation  n integers of 32 or 64 bits, signed or not.
/// Temporary memory: 2 n keys, n indices, 3 % of both, and the rest as for keys alone (on devices n keys for 16-bit
/// keys, none for 8-bit).
/// Errors beside the common ones: lengths that differ, memory that overlaps, n − 1 beyond the index type.
template <impl::execution_space ExecutionSpace, impl::view Keys, impl::view Permutation>
void argsort(const ExecutionSpace& exec, const Keys& keys, const Permutation& permutation,
             const Options& options = {}) {
  impl::require_writable<Permutation>();
  auto call = impl::argsort_call("argsort", exec, keys, permutation, options);
  if (keys.extent(0) > 0) call.sort();
}

/// What sort(exec, keys, options) will do. Launches nothing.
template <impl::execution_space ExecutionSpace, impl::view Keys>
Plan plan(const ExecutionSpace& exec, const Keys& keys, const Options& options = {}) {
  return impl::sort_call("plan", exec, keys, options).plan();
}

/// What sort_by_key(exec, keys, values, options) will do. Launches nothing.
template <impl::execution_space ExecutionSpace, impl::view Keys, impl::view Values>
Plan plan_by_key(const ExecutionSpace& exec, const Keys& keys, const Values& values,
                 const Options& options = {}) {
  return impl::sort_by_key_call("plan_by_key", exec, keys, values, options).plan();
}

/// What argsort(exec, keys, permutation, options) will do. Launches nothing.
template <impl::execution_space ExecutionSpace, impl::view Keys, impl::view Permutation>
Plan plan_argsort(const ExecutionSpace& exec, const Keys& keys, const Permutation& permutation,
                  const Options& options = {}) {
  return impl::argsort_call("plan_argsort", exec, keys, permutation, options).plan();
}

/// sort(exec, keys, options) on the view's execution space, fenced before and after.
template <impl::view Keys>
void sort(const Keys& keys, const Options& options = {}) {
  impl::fenced(keys, "sort", options, [&](const auto& exec, const Options& waiting) {
    kradix::sort(exec, keys, waiting);
  });
}

/// sort(exec, keys_in, keys_out, options) on keys_out's execution space, fenced before and after.
template <impl::view KeysIn, impl::view KeysOut>
void sort(const KeysIn& keys_in, const KeysOut& keys_out, const Options& options = {}) {
  impl::fenced(keys_out, "sort", options, [&](const auto& exec, const Options& waiting) {
    kradix::sort(exec, keys_in, keys_out, waiting);
  });
}

/// sort_by_key(exec, keys, values, options) on the keys' execution space, fenced before and after.
template <impl::view Keys, impl::view Values>
void sort_by_key(const Keys& keys, const Values& values, const Options& options = {}) {
  impl::fenced(keys, "sort_by_key", options, [&](const auto& exec, const Options& waiting) {
    kradix::sort_by_key(exec, keys, values, waiting);
  });
}

/// sort_by_key(exec, keys_in, values_in, keys_out, values_out, options) on the keys' execution space, fenced before and
/// after.
template <impl::view KeysIn, impl::view ValuesIn, impl::view KeysOut, impl::view ValuesOut>
void sort_by_key(const KeysIn& keys_in, const ValuesIn& values_in, const KeysOut& keys_out,
                 const ValuesOut& values_out, const Options& options = {}) {
  impl::fenced(keys_out, "sort_by_key", options, [&](const auto& exec, const Options& waiting) {
    kradix::sort_by_key(exec, keys_in, values_in, keys_out, values_out, waiting);
  });
}

/// argsort(exec, keys, permutation, options) on the permutation's execution space, fenced before and after.
template <impl::view Keys, impl::view Permutation>
void argsort(const Keys& keys, const Permutation& permutation, const Options& options = {}) {
  impl::fenced(permutation, "argsort", options, [&](const auto& exec, const Options& waiting) {
    kradix::argsort(exec, keys, permutation, waiting);
  });
}

/// plan(exec, keys, options) on the view's execution space.
template <impl::view Keys>
Plan plan(const Keys& keys, const Options& options = {}) {
  return kradix::plan(typename Keys::execution_space{}, keys, impl::waiting(options));
}

}  // namespace kradix
