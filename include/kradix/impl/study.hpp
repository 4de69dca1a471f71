// The door to the algorithms for study. Their kernels are in Kradix::compiled alone: whoever includes
// kradix/sort.hpp neither reads nor instantiates them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kradix/impl/study_sort.hpp"

namespace kradix::impl {

#ifdef KRADIX_USE_COMPILED
inline constexpr bool has_study = true;
#else
inline constexpr bool has_study = false;
#endif

/// Values that travel with keys there; others follow a sorted index.
template <class Value>
inline constexpr bool is_study_value =
    std::is_same_v<Value, NoValue> || std::is_same_v<Value, std::uint32_t> ||
    std::is_same_v<Value, std::uint64_t>;

/// Bytes of scratch that the plan's algorithm needs beside the second key and value arrays.
template <class ExecutionSpace>
std::size_t study_scratch_bytes(const Plan& plan);

/// Runs the plan's algorithm.
template <class ExecutionSpace, class Word, class Value>
void run_study(const StudyCall<ExecutionSpace, Word, Value>& call);

}  // namespace kradix::impl
