// The one switch over the algorithms for study. Only Kradix::compiled includes it.
#pragma once

#include "kradix/impl/bit_split.hpp"
#include "kradix/impl/four_prefix.hpp"
#include "kradix/impl/ha_kruger_silva.hpp"
#include "kradix/impl/hp_sort.hpp"
#include "kradix/impl/hp_stable.hpp"
#include "kradix/impl/instantiate.hpp"
#include "kradix/impl/one_team.hpp"
#include "kradix/impl/satish.hpp"
#include "kradix/impl/serial_radix.hpp"
#include "kradix/impl/study.hpp"
#include "kradix/impl/transposed.hpp"
#include "kradix/impl/zagha_blelloch.hpp"

// What a source of Kradix::compiled instantiates for one key word, and one of them for all.
#define KRADIX_IMPL_STUDY(SPACE, WORD)                                   \
  template void run_study(const StudyCall<SPACE, WORD, NoValue>&);       \
  template void run_study(const StudyCall<SPACE, WORD, std::uint32_t>&); \
  template void run_study(const StudyCall<SPACE, WORD, std::uint64_t>&);
#define KRADIX_IMPL_STUDY_SCRATCH(SPACE, ...) \
  template std::size_t study_scratch_bytes<SPACE>(const Plan&);

namespace kradix::impl {

/// Calls f with the class of the plan's algorithm.
template <class ExecutionSpace, class Word, class Value, class Function>
void with_study_algorithm(const Plan& plan, const Function& f) {
  switch (plan.algorithm) {
    case Algorithm::bit_split:
      return f(std::type_identity<BitSplit<ExecutionSpace, Word, Value>>{});
    case Algorithm::serial_radix:
      return f(std::type_identity<SerialRadix<ExecutionSpace, Word, Value>>{});
    case Algorithm::zagha_blelloch:
      return f(std::type_identity<ZaghaBlelloch<ExecutionSpace, Word, Value>>{});
    case Algorithm::satish:
      return f(std::type_identity<Satish<ExecutionSpace, Word, Value>>{});
    case Algorithm::four_prefix:
      return f(std::type_identity<FourPrefix<ExecutionSpace, Word, Value>>{});
    case Algorithm::ha_kruger_silva:
      return f(std::type_identity<HaKrugerSilva<ExecutionSpace, Word, Value>>{});
    case Algorithm::hp_stable:
      return f(std::type_identity<HpStable<ExecutionSpace, Word, Value>>{});
    case Algorithm::transposed:
      return f(std::type_identity<Transposed<ExecutionSpace, Word, Value>>{});
    case Algorithm::one_team:
      return f(std::type_identity<OneTeam<ExecutionSpace, Word, Value>>{});
    default:
      break;
  }
  if constexpr (std::is_same_v<Value, NoValue>) {  // the plan has seen to that
    switch (plan.algorithm) {
      case Algorithm::hp_sort:
        return f(std::type_identity<HpSort<ExecutionSpace, Word>>{});
      case Algorithm::hp_distinct:
        return f(std::type_identity<HpDistinct<ExecutionSpace, Word>>{});
      case Algorithm::hp_compressed:
        return f(std::type_identity<HpCompressed<ExecutionSpace, Word>>{});
      default:
        break;
    }
  }
  refuse_study(plan.algorithm, "is no algorithm for study");
}

template <class ExecutionSpace>
std::size_t study_scratch_bytes(const Plan& plan) {
  ScratchList list;
  with_study_algorithm<ExecutionSpace, std::uint32_t, NoValue>(
      plan, [&](auto algorithm) { decltype(algorithm)::type::Scratch::list(plan, list); });
  return list.bytes();
}

template <class ExecutionSpace, class Word, class Value>
void run_study(const StudyCall<ExecutionSpace, Word, Value>& call) {
  with_study_algorithm<ExecutionSpace, Word, Value>(
      call.plan, [&](auto algorithm) { decltype(algorithm)::type::sort(call); });
}

}  // namespace kradix::impl
