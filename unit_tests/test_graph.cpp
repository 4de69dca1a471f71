// A sort with a warm workspace neither allocates, nor waits for the device, nor copies to the host: a CUDA
// graph can capture it, and what was captured sorts whatever the arrays hold when it runs.
#include <algorithm>
#include <gtest/gtest.h>

#include "kradix/sort.hpp"
#include "support/device.hpp"
#include "support/keys.hpp"
#include "support/reference.hpp"

namespace {

#ifdef KOKKOS_ENABLE_CUDA
template <class Body>
cudaGraphExec_t captured(cudaStream_t stream, const Body& body) {
  cudaGraph_t graph;
  cudaGraphExec_t runnable;
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  body();
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(&runnable, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  return runnable;
}

// Templates, so that only a space that has streams instantiates them.
template <class Cuda>
void sorts_from_a_graph(kradix::Algorithm algorithm, std::size_t count) {
  std::mt19937_64 random{keys::fresh_seed()};
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  {
    const Cuda exec(stream);
    kradix::Workspace workspace;
    kradix::Options options;
    options.algorithm = algorithm;
    options.workspace = &workspace;
    const Kokkos::View<std::uint64_t*, Memory> keys("keys", count);
    const Kokkos::View<std::uint32_t*, Memory> values("values", count),
        permutation("permutation", count);
    const auto sort_all = [&] {
      kradix::argsort(exec, keys, permutation, options);
      kradix::sort_by_key(exec, keys, values, options);
    };
    sort_all();
    exec.fence();
    const cudaGraphExec_t graph = captured(stream, sort_all);
    for (const auto pattern :
         {keys::Pattern::uniform, keys::Pattern::few, keys::Pattern::one_bit}) {
      const auto input = keys::make<std::uint64_t>(pattern, count, random);
      Kokkos::deep_copy(keys, to_device(input));
      ASSERT_EQ(cudaGraphLaunch(graph, stream), cudaSuccess);
      exec.fence();
      const auto indices = reference::sorted_indices(input, kradix::Order::ascending);
      const auto sorted = to_host(keys);
      const auto found = to_host(permutation);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(sorted[i], input[indices[i]]) << i;
        ASSERT_EQ(found[i], indices[i]) << i;
      }
    }
    EXPECT_EQ(cudaGraphExecDestroy(graph), cudaSuccess);
  }
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

/// Of short keys alone, which are counted.
template <class Cuda, class Key>
void counts_from_a_graph(std::size_t count) {
  std::mt19937_64 random{keys::fresh_seed()};
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  {
    const Cuda exec(stream);
    kradix::Workspace workspace;
    kradix::Options options;
    options.algorithm = kradix::Algorithm::counting;
    options.workspace = &workspace;
    const Kokkos::View<Key*, Memory> keys("keys", count);
    const auto sort = [&] { kradix::sort(exec, keys, options); };
    sort();
    exec.fence();
    const cudaGraphExec_t graph = captured(stream, sort);
    for (const auto pattern :
         {keys::Pattern::uniform, keys::Pattern::few, keys::Pattern::one_bit}) {
      auto input = keys::make<Key>(pattern, count, random);
      Kokkos::deep_copy(keys, to_device(input));
      ASSERT_EQ(cudaGraphLaunch(graph, stream), cudaSuccess);
      exec.fence();
      std::sort(input.begin(), input.end());
      ASSERT_EQ(to_host(keys), input);
    }
    EXPECT_EQ(cudaGraphExecDestroy(graph), cudaSuccess);
  }
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}
#endif

template <class Exec>
bool try_graphs() {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
    sorts_from_a_graph<Exec>(kradix::Algorithm::automatic, 1 << 16);
    sorts_from_a_graph<Exec>(kradix::Algorithm::msd_hybrid, 300007);
    sorts_from_a_graph<Exec>(kradix::Algorithm::small_msd, 300007);
    sorts_from_a_graph<Exec>(kradix::Algorithm::onesweep, 300007);
    sorts_from_a_graph<Exec>(kradix::Algorithm::four_kernel, 100003);
    counts_from_a_graph<Exec, std::uint8_t>(300007);
    counts_from_a_graph<Exec, std::uint16_t>(300007);
    return true;
  }
#endif
  return false;
}

TEST(Graph, ACapturedSortSortsWhateverTheArraysHoldWhenItRuns) {
  if (!try_graphs<Space>()) GTEST_SKIP() << "this space has no graphs of CUDA";
}

}  // namespace
