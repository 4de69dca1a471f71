// Where Kokkos is built with tuning, a tool that tunes is asked for the algorithm of each sort that the
// caller leaves to the plan: one categorical output variable, with what the sort is like as inputs.
#pragma once

#include <Kokkos_Core.hpp>

#ifdef KOKKOS_ENABLE_TUNING
#include <array>
#include <cstdint>
#include <string>

#include "kradix/impl/plan.hpp"

namespace kradix::impl {

/// The variables of a space, declared to the tool when they are first needed.
template <class ExecutionSpace>
struct TunedVariables {
  std::size_t count, key_bytes, value_bytes, algorithm;

  static const TunedVariables& get() {
    static const TunedVariables variables{declare_input("kradix::count"),
                                          declare_input("kradix::key_bytes"),
                                          declare_input("kradix::value_bytes"), declare_output()};
    return variables;
  }

 private:
  static std::size_t declare_input(const char* name) {
    namespace Tools = Kokkos::Tools::Experimental;
    Tools::VariableInfo info{};
    info.type = Tools::ValueType::kokkos_value_int64;
    info.category = Tools::StatisticalCategory::kokkos_value_ratio;
    info.valueQuantity = Tools::CandidateValueType::kokkos_value_unbounded;
    return Tools::declare_input_type(name, info);
  }

  static std::size_t declare_output() {
    namespace Tools = Kokkos::Tools::Experimental;
    constexpr std::array on_hosts{Algorithm::blocked_radix, Algorithm::four_kernel};
    constexpr std::array on_devices{Algorithm::four_kernel, Algorithm::onesweep,
                                    Algorithm::msd_hybrid, Algorithm::small_msd,
                                    Algorithm::counting};
    Tools::VariableInfo info{};
    info.type = Tools::ValueType::kokkos_value_string;
    info.category = Tools::StatisticalCategory::kokkos_value_categorical;
    info.valueQuantity = Tools::CandidateValueType::kokkos_value_set;
    info.candidates = works_at_once<ExecutionSpace> ? candidates(on_hosts) : candidates(on_devices);
    return Tools::declare_output_type(std::string("kradix::algorithm::") + ExecutionSpace::name(),
                                      info);
  }

  template <std::size_t size>
  static auto candidates(const std::array<Algorithm, size>& algorithms) {
    std::array<std::string, size> names;
    for (std::size_t i = 0; i < size; ++i) names[i] = name(algorithms[i]);
    return Kokkos::Tools::Experimental::make_candidate_set(size, names.data());
  }
};

/// One sort as a context of the tool, which takes its time; without such a tool nothing.
template <class ExecutionSpace>
class TunedChoice {
 public:
  TunedChoice(const ExecutionSpace& exec, const Plan& plan, bool automatic) : exec_(exec) {
    namespace Tools = Kokkos::Tools::Experimental;
    if (!automatic || !Tools::have_tuning_tool()) return;
    const auto& variables = TunedVariables<ExecutionSpace>::get();
    std::array inputs{
        Tools::make_variable_value(variables.count, static_cast<std::int64_t>(plan.count)),
        Tools::make_variable_value(variables.key_bytes, std::int64_t{plan.key_bytes}),
        Tools::make_variable_value(variables.value_bytes, std::int64_t{plan.value_bytes})};
    auto choice =
        Tools::make_variable_value(variables.algorithm, std::string(name(plan.algorithm)));
    exec_.fence("kradix::sort: fence before it is timed by a tool that tunes");
    context_ = Tools::get_new_context_id();
    Tools::begin_context(context_);
    Tools::set_input_values(context_, inputs.size(), inputs.data());
    Tools::request_output_values(context_, 1, &choice);
    algorithm_ = algorithm_from_name(choice.value.string_value).value_or(plan.algorithm);
  }
  ~TunedChoice() {
    if (context_ == 0) return;
    exec_.fence("kradix::sort: fence after it is timed by a tool that tunes");
    Kokkos::Tools::Experimental::end_context(context_);
  }
  TunedChoice(const TunedChoice&) = delete;
  TunedChoice& operator=(const TunedChoice&) = delete;

  /// What the tool asks for; `automatic` where nobody was asked.
  Algorithm algorithm() const { return algorithm_; }

 private:
  const ExecutionSpace& exec_;
  std::size_t context_ = 0;
  Algorithm algorithm_ = Algorithm::automatic;
};

}  // namespace kradix::impl
#endif
