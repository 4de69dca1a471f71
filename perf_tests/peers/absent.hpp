// Stands in the table for a peer that this build does not have.
#pragma once

namespace bench {

template <class Task>
struct Absent {
  static constexpr bool takes_part = false;
};

}  // namespace bench
