/// Sorting across the ranks of an MPI communicator: afterwards the ranks in order hold the sorted whole.
///
/// Collective: all ranks of `comm` call the same function with the same types and options. Needs the
/// component MPI (CMake target Kradix::mpi), MPI initialised before Kokkos and finalised after it.
///
/// *Views*: rank 1, any layout, reachable from the execution space; inputs are never changed. Any number
/// of ranks, any lengths, empty ranks included; counts are 64-bit.
///
/// *Order*: by (key, source rank, index), as kradix::sort orders keys. Results are the same from run to
/// run, and joined together the same for any number of ranks.
///
/// *Sizes*: exactly as Options::sizes says (by default ⌊N/p⌋ or ⌈N/p⌉ each), whatever the keys: runs of
/// equal keys are cut. With Splitters::sampled(epsilon) at most (1 + epsilon) N/p, rounded up.
///
/// *Memory* of a rank besides input and result: as many elements as it has of them, n = max(n_in, n_out),
/// and no more than 2 n together with the result (3 n by Work::sort_halves and spread_first); counters of 2 KB a cut; at most 17 MB of a local sort;
/// 128 MB of staging where MPI is not GPU-aware. docs/distributed.md has the exact terms.
///
/// *Asynchrony*: synchronous. Work of the caller on `exec` is waited for; results are there on return.
///
/// *Errors*: std::invalid_argument for bad arguments, std::runtime_error for anything else, the same on
/// all ranks, naming the first rank that failed. An MPI error inside the exchange may leave ranks waiting.
///
/// *Cost*: partition_first reads the keys two or more times, moves them once, sends each at most once and
/// sorts what arrives; docs/distributed.md explains. Exact splitting by digits follows the multiway
/// selection of sorted sequences that Siebert and Wolf ("Scalable parallel sorting", 2010) made by values.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <mpi.h>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kradix/impl/mpi/sort_call.hpp"
#include "kradix/mpi/options.hpp"
#include "kradix/mpi/report.hpp"
#include "kradix/sort.hpp"

namespace kradix {

namespace impl::mpi {

/// A new view of the kind that results come in.
template <class View>
using Fresh = Kokkos::View<element_of<View>*, typename View::memory_space>;

template <class View, class ExecutionSpace>
Fresh<View> make_fresh(const ExecutionSpace& exec, const char* label, const char* what,
                       std::size_t count) {
  return Fresh<View>(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, std::string(label) + "::mpi::" + what),
      count);
}

template <class ExecutionSpace, class In, class Out>
constexpr void require_result() {
  static_assert(std::is_same_v<element_of<In>, typename Out::value_type>,
                "kradix::mpi: a result needs the type of what is sorted, and is not const");
  require_reachable<ExecutionSpace, Out>();
}

template <class ExecutionSpace, class Keys, class... Values>
constexpr void require_sortable() {
  require_reachable<ExecutionSpace, Keys>();
  require_key<Keys>();
  (require_reachable<ExecutionSpace, Values>(), ...);
  static_assert((std::is_trivially_copyable_v<element_of<Values>> && ...),
                "kradix::mpi: values must be trivially copyable");
}

/// Memory for a result: as pieces arrive in it.
template <class View>
void check_result(const char* function, const char* name, const View& view) {
  if (view.extent(0) < 2 || view.stride(0) == 1) return;
  refuse(function, std::string(name) + " has stride " + std::to_string(view.stride(0)));
}

template <class First, class... More>
void check_all_apart(const char* function, const char* name, const First& first,
                     const More&... more) {
  (check_apart(function, name, first, name, more), ...);
  if constexpr (sizeof...(more) > 0) check_all_apart(function, name, more...);
}

/// Results with their values: as long as their keys, apart from what is read and from each other.
template <class KeysIn, class... ValuesIn, class KeysOut, class... ValuesOut>
void check_results(const char* function, const KeysIn& keys_in,
                   const std::tuple<ValuesIn...>& values_in, const KeysOut& keys_out,
                   const std::tuple<ValuesOut...>& values_out) {
  const auto apart_from_inputs = [&](const char* name, const auto& out) {
    check_result(function, name, out);
    check_apart(function, "keys_in", keys_in, name, out);
    std::apply([&](const auto&... in) { (check_apart(function, "values_in", in, name, out), ...); },
               values_in);
  };
  apart_from_inputs("keys_out", keys_out);
  std::apply(
      [&](const auto&... out) {
        (check_lengths(function, "keys_out", keys_out.extent(0), "values_out", out.extent(0)), ...);
        (apart_from_inputs("values_out", out), ...);
        (check_apart(function, "keys_out", keys_out, "values_out", out), ...);
        check_all_apart(function, "values_out", out...);
      },
      values_out);
}

}  // namespace impl::mpi

namespace mpi {

/// This rank's part of the sorted whole.
template <class Keys>
struct Sorted {
  Keys keys;
  Report report;
};

/// This rank's part of the sorted whole, with the values of its keys.
template <class Keys, class Values>
struct SortedByKey {
  Keys keys;
  Values values;  ///< a view, or a std::tuple of views
  Report report;
};

/// For this rank's part of the sorted whole, where its keys were: element i of the input of rank r has
/// the index i + (elements of ranks below r).
template <class Permutation>
struct Argsorted {
  Permutation permutation;
  Report report;
};

/// Sorts the keys of all ranks. `keys` are left as they are.
///
/// \param comm  any intra-communicator; it is duplicated when it is met first.
/// \param exec  an instance that reaches `keys`.
/// \param keys  this rank's keys, any number of them, of any type that kradix::sort takes; may be const.
template <impl::execution_space ExecutionSpace, impl::view Keys>
Sorted<impl::mpi::Fresh<Keys>> sort(MPI_Comm comm, const ExecutionSpace& exec, const Keys& keys,
                                    const Options& options = {}) {
  impl::mpi::require_sortable<ExecutionSpace, Keys>();
  Sorted<impl::mpi::Fresh<Keys>> result;
  impl::mpi::SortCall call(
      "sort", comm, exec, options, [] {}, keys);
  result.report = call.sort([&](std::size_t count) {
    result.keys = impl::mpi::make_fresh<Keys>(exec, options.label, "keys", count);
    return std::tuple(result.keys.data());
  });
  return result;
}

/// Sorts the keys of all ranks into memory that the caller has: `keys_out`'s length is this rank's size
/// (Options::sizes is not looked at), and the lengths of all ranks must add up to N.
///
/// \param keys_out  contiguous, of the same key type, in other memory than `keys_in`.
/// Errors beside the common ones: lengths that do not add up, strides, memory that overlaps.
template <impl::execution_space ExecutionSpace, impl::view KeysIn, impl::view KeysOut>
Report sort(MPI_Comm comm, const ExecutionSpace& exec, const KeysIn& keys_in,
            const KeysOut& keys_out, const Options& options = {}) {
  impl::mpi::require_sortable<ExecutionSpace, KeysIn>();
  impl::mpi::require_result<ExecutionSpace, KeysIn, KeysOut>();
  Options sized = options;
  sized.sizes = OutputSizes::requested(keys_out.extent(0));
  const auto check_out = [&] {
    impl::mpi::check_result("mpi::sort", "keys_out", keys_out);
    impl::check_apart("mpi::sort", "keys_in", keys_in, "keys_out", keys_out);
  };
  impl::mpi::SortCall call("sort", comm, exec, sized, check_out, keys_in);
  return call.sort([&](std::size_t) { return std::tuple(keys_out.data()); });
}

/// Sorts the keys of all ranks, and reorders several arrays of values with them, stably.
///
/// \param keys    this rank's keys; may be const.
/// \param values  views of as many values, of any trivially copyable types; may be const. They move through
///                a sorted index, which with one gathered array is temporary memory besides.
template <impl::execution_space ExecutionSpace, impl::view Keys, impl::view... Values>
auto sort_by_key(MPI_Comm comm, const ExecutionSpace& exec, const Keys& keys,
                 const std::tuple<Values...>& values, const Options& options = {}) {
  impl::mpi::require_sortable<ExecutionSpace, Keys, Values...>();
  SortedByKey<impl::mpi::Fresh<Keys>, std::tuple<impl::mpi::Fresh<Values>...>> result;
  std::apply(
      [&](const Values&... views) {
        impl::mpi::SortCall call(
            "sort_by_key", comm, exec, options, [] {}, keys, views...);
        result.report = call.sort([&](std::size_t count) {
          result.keys = impl::mpi::make_fresh<Keys>(exec, options.label, "keys", count);
          result.values = {impl::mpi::make_fresh<Values>(exec, options.label, "values", count)...};
          return std::apply(
              [&](const auto&... fresh) { return std::tuple(result.keys.data(), fresh.data()...); },
              result.values);
        });
      },
      values);
  return result;
}

/// Sorts the keys of all ranks, and reorders their values with them, stably. Inputs are left as they are.
///
/// \param keys    this rank's keys; may be const.
/// \param values  as many values, of any trivially copyable type; may be const.
template <impl::execution_space ExecutionSpace, impl::view Keys, impl::view Values>
SortedByKey<impl::mpi::Fresh<Keys>, impl::mpi::Fresh<Values>> sort_by_key(
    MPI_Comm comm, const ExecutionSpace& exec, const Keys& keys, const Values& values,
    const Options& options = {}) {
  auto result = mpi::sort_by_key(comm, exec, keys, std::tuple<Values>(values), options);
  return {result.keys, std::get<0>(result.values), result.report};
}

/// Sorts the keys of all ranks, and reorders several arrays of values with them, stably, into memory that the caller
/// has: `keys_out`'s length is this rank's size (Options::sizes is not looked at), and the lengths of all ranks must
/// add up to N.
///
/// \param keys_in     this rank's keys; may be const.
/// \param values_in   as for results that are made.
/// \param keys_out    contiguous, of the same key type, in other memory than all other arrays.
/// \param values_out  as many arrays as in `values_in`, of the same types, as long as `keys_out`, contiguous, each in
///                    other memory.
/// Errors beside the common ones: lengths that differ or do not add up, strides, memory that overlaps.
template <impl::execution_space ExecutionSpace, impl::view KeysIn, impl::view... ValuesIn,
          impl::view KeysOut, impl::view... ValuesOut>
Report sort_by_key(MPI_Comm comm, const ExecutionSpace& exec, const KeysIn& keys_in,
                   const std::tuple<ValuesIn...>& values_in, const KeysOut& keys_out,
                   const std::tuple<ValuesOut...>& values_out, const Options& options = {}) {
  static_assert(sizeof...(ValuesIn) == sizeof...(ValuesOut),
                "kradix::mpi::sort_by_key: every array of values needs one for its result");
  impl::mpi::require_sortable<ExecutionSpace, KeysIn, ValuesIn...>();
  impl::mpi::require_result<ExecutionSpace, KeysIn, KeysOut>();
  (impl::mpi::require_result<ExecutionSpace, ValuesIn, ValuesOut>(), ...);
  Options sized = options;
  sized.sizes = OutputSizes::requested(keys_out.extent(0));
  const auto check_out = [&] {
    impl::mpi::check_results("mpi::sort_by_key", keys_in, values_in, keys_out, values_out);
  };
  return std::apply(
      [&](const auto&... values) {
        impl::mpi::SortCall call("sort_by_key", comm, exec, sized, check_out, keys_in, values...);
        return call.sort([&](std::size_t) {
          return std::apply(
              [&](const auto&... out) { return std::tuple(keys_out.data(), out.data()...); },
              values_out);
        });
      },
      values_in);
}

/// The same with one array of values.
template <impl::execution_space ExecutionSpace, impl::view KeysIn, impl::view ValuesIn,
          impl::view KeysOut, impl::view ValuesOut>
Report sort_by_key(MPI_Comm comm, const ExecutionSpace& exec, const KeysIn& keys_in,
                   const ValuesIn& values_in, const KeysOut& keys_out, const ValuesOut& values_out,
                   const Options& options = {}) {
  return mpi::sort_by_key(comm, exec, keys_in, std::tuple<ValuesIn>(values_in), keys_out,
                          std::tuple<ValuesOut>(values_out), options);
}

/// The indices, in the whole, that sort the keys of all ranks stably. `keys` are left as they are.
///
/// \param keys  this rank's keys; may be const.
/// Temporary memory besides: n 64-bit indices, which are sorted as values.
template <impl::execution_space ExecutionSpace, impl::view Keys>
auto argsort(MPI_Comm comm, const ExecutionSpace& exec, const Keys& keys,
             const Options& options = {}) {
  using Indices = Kokkos::View<std::uint64_t*, typename Keys::memory_space>;
  impl::mpi::require_sortable<ExecutionSpace, Keys>();
  const Indices indices =
      impl::mpi::number_globally<Indices>(comm, exec, keys.extent(0), options.label);
  auto result = mpi::sort_by_key(comm, exec, keys, indices, options);
  return Argsorted<Indices>{result.values, result.report};
}

}  // namespace mpi

}  // namespace kradix
