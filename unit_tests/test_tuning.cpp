// Kokkos' run-time tuning: the tool chooses the algorithm of a sort. Only where Kokkos is built with it.
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "kradix/sort.hpp"
#include "support/device.hpp"
#include "support/events.hpp"
#include "support/inputs.hpp"

namespace {

namespace Tools = Kokkos::Tools::Experimental;

/// A tool that tunes: answers every question with `choice` and writes down what it was told.
struct Tuner {
  inline static std::string choice;
  inline static std::map<std::size_t, std::string> declared;
  inline static std::vector<std::string> candidates;
  inline static std::map<std::string, std::int64_t> inputs;
  inline static int asked = 0, depth = 0, ended = 0;

  explicit Tuner(const std::string& wanted) {
    choice = wanted;
    asked = depth = ended = 0;
    Tools::set_declare_input_type_callback(
        [](const char* name, std::size_t id, Kokkos_Tools_VariableInfo*) { declared[id] = name; });
    Tools::set_declare_output_type_callback(
        [](const char* name, std::size_t id, Kokkos_Tools_VariableInfo* info) {
          declared[id] = name;
          candidates.clear();
          for (std::size_t i = 0; i < info->candidates.set.size; ++i)
            candidates.emplace_back(info->candidates.set.values.string_value[i]);
        });
    Tools::set_begin_context_callback([](std::size_t) { ++depth; });
    Tools::set_end_context_callback([](std::size_t, Kokkos_Tools_VariableValue) {
      --depth;
      ++ended;
    });
    Tools::set_request_output_values_callback(answer);
  }
  ~Tuner() { Tools::pause_tools(); }

  static void answer(std::size_t, std::size_t count, const Kokkos_Tools_VariableValue* given,
                     std::size_t, Kokkos_Tools_VariableValue* wanted) {
    ++asked;
    for (std::size_t i = 0; i < count; ++i)
      inputs[declared[given[i].type_id]] = given[i].value.int_value;
    if (!choice.empty()) std::strcpy(wanted->value.string_value, choice.c_str());
  }
};

/// Sorts with this tool and returns the region that a listener saw.
std::string region_with(const std::string& choice, kradix::Options options = {}) {
  const Space exec;
  const Kokkos::View<std::uint32_t*, Memory> keys("keys", 10000);
  const Kokkos::View<std::uint32_t*, Memory> values("values", 10000);
  inputs::fill(exec, keys, {});
  exec.fence();
  std::vector<std::uint32_t> expected = to_host(keys);
  std::sort(expected.begin(), expected.end());
  const Listener listener;
  const Tuner tuner(choice);
  kradix::sort_by_key(exec, keys, values, options);
  exec.fence();
  EXPECT_EQ(to_host(keys), expected);
  return Listener::of(Event::region).front().label;
}

bool names_algorithm(const std::string& region, const std::string& algorithm) {
  return region.rfind("kradix::sort [" + algorithm + ": ", 0) == 0;
}

class Tuning : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef KOKKOS_ENABLE_TUNING
    GTEST_SKIP() << "this Kokkos is built without tuning";
#endif
  }
};

TEST_F(Tuning, TheToolIsAskedOnceAndToldWhatIsSorted) {
  region_with("");
  EXPECT_EQ(Tuner::asked, 1);
  EXPECT_EQ(Tuner::ended, 1);
  EXPECT_EQ(Tuner::depth, 0);
  EXPECT_EQ(Tuner::inputs["kradix::count"], 10000);
  EXPECT_EQ(Tuner::inputs["kradix::key_bytes"], 4);
  EXPECT_EQ(Tuner::inputs["kradix::value_bytes"], 4);
  EXPECT_NE(std::find(Tuner::candidates.begin(), Tuner::candidates.end(), "four_kernel"),
            Tuner::candidates.end());
}

TEST_F(Tuning, ItsChoiceIsFollowedWhereItCanSort) {
  region_with("");
  for (const std::string& candidate : std::vector<std::string>(Tuner::candidates)) {
    const std::string region = region_with(candidate);
    if (candidate == "counting") {
      EXPECT_FALSE(names_algorithm(region, candidate)) << region;  // keys of 4 bytes, with values
    } else {
      EXPECT_TRUE(names_algorithm(region, candidate)) << region;
    }
  }
}

TEST_F(Tuning, OtherAnswersLeaveThePlanAsItIs) {
  const std::string planned = region_with("");
  for (const char* answer : {"automatic", "counting", "bit_split", "no such algorithm"}) {
    EXPECT_EQ(region_with(answer), planned) << answer;
  }
}

TEST_F(Tuning, WhoForcesAnAlgorithmIsNotTuned) {
  kradix::Options options;
  options.algorithm = kradix::Algorithm::four_kernel;
  EXPECT_TRUE(names_algorithm(region_with("blocked_radix", options), "four_kernel"));
  EXPECT_EQ(Tuner::asked, 0);
}

TEST_F(Tuning, APlanAsksNobody) {
  const Tuner tuner("four_kernel");
  kradix::plan(Space{}, Kokkos::View<std::uint32_t*, Memory>("keys", 10000));
  EXPECT_EQ(Tuner::asked, 0);
}

}  // namespace
