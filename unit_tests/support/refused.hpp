// Calls that must be refused with the numbers.
#pragma once

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

/// Calls `call` and expects its message to hold these parts.
template <class Call>
void expect_message(const Call& call, const std::vector<std::string>& parts) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    for (const std::string& part : parts)
      EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}
