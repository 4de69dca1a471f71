// Every public operation on one input, compared element by element with what is expected.
#pragma once

#include <gtest/gtest.h>
#include <numeric>

#include "kradix/sort.hpp"
#include "support/device.hpp"
#include "support/keys.hpp"
#include "support/reference.hpp"

template <class T>
std::vector<T> permuted(const std::vector<T>& values, const std::vector<std::size_t>& indices) {
  std::vector<T> out;
  out.reserve(values.size());
  for (const std::size_t i : indices) out.push_back(values[i]);
  return out;
}

/// Equal to the last bit.
template <class T>
void expect_same(const std::vector<T>& expected, const std::vector<T>& actual, const char* what) {
  ASSERT_EQ(expected.size(), actual.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(keys::bytes_of(expected[i]), keys::bytes_of(actual[i])) << what << ", element " << i;
  }
}

/// sort in both forms gives exactly what `indices` says.
template <class T>
void expect_keys_sorted(const std::vector<T>& input, const std::vector<std::size_t>& indices,
                        const kradix::Options& options) {
  const Space exec;
  const std::vector<T> expected = permuted(input, indices);
  const auto keys = to_device(input);
  kradix::sort(exec, keys, options);
  exec.fence();
  expect_same(expected, to_host(keys), "sort in place");
  const auto from = to_device(input);
  const Kokkos::View<const T*, Memory> source = from;
  const Kokkos::View<T*, Memory> sorted("sorted", input.size());
  kradix::sort(exec, source, sorted, options);
  exec.fence();
  expect_same(expected, to_host(sorted), "sort out of place");
  expect_same(input, to_host(from), "input of sort out of place");
}

/// So do argsort and sort_by_key in both forms.
template <class T>
void expect_pairs_sorted(const std::vector<T>& input, const std::vector<std::size_t>& indices,
                         const kradix::Options& options) {
  const Space exec;
  const std::vector<std::uint32_t> expected_indices(indices.begin(), indices.end());
  std::vector<std::uint32_t> numbers(input.size());
  std::iota(numbers.begin(), numbers.end(), 7u);
  const auto keys = to_device(input);
  const Kokkos::View<const T*, Memory> source = keys;
  const Kokkos::View<std::uint32_t*, Memory> permutation("permutation", input.size());
  kradix::argsort(exec, source, permutation, options);
  exec.fence();
  expect_same(expected_indices, to_host(permutation), "argsort");
  expect_same(input, to_host(keys), "input of argsort");
  const auto values = to_device(numbers);
  const Kokkos::View<const std::uint32_t*, Memory> source_values = values;
  const Kokkos::View<T*, Memory> keys_out("keys_out", input.size());
  const Kokkos::View<std::uint32_t*, Memory> values_out("values_out", input.size());
  kradix::sort_by_key(exec, source, source_values, keys_out, values_out, options);
  exec.fence();
  expect_same(permuted(input, indices), to_host(keys_out), "keys_out of sort_by_key");
  expect_same(permuted(numbers, indices), to_host(values_out), "values_out of sort_by_key");
  expect_same(input, to_host(keys), "keys_in of sort_by_key");
  expect_same(numbers, to_host(values), "values_in of sort_by_key");
  kradix::sort_by_key(exec, keys, values, options);
  exec.fence();
  expect_same(permuted(input, indices), to_host(keys), "keys of sort_by_key");
  expect_same(permuted(numbers, indices), to_host(values), "values of sort_by_key");
}
