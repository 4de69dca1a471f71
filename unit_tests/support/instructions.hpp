// Every set of instructions that Highway compiled for and this machine has, one after the other.
#pragma once

#include <cstdint>
#include <gtest/gtest.h>
#include <hwy/targets.h>

/// Stops where a test has failed.
template <class Each>
void for_all_instructions(const Each& each) {
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    hwy::SetSupportedTargetsForTest(left & -left);
    SCOPED_TRACE(hwy::TargetName(left & -left));
    each();
    hwy::SetSupportedTargetsForTest(0);
    if (::testing::Test::HasFailure()) return;
  }
}
