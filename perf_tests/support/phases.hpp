// Times of the kernels that run between start() and stop(), through Kokkos Tools' callbacks.
#pragma once

#include <map>

#include "support/case.hpp"

namespace bench {

/// Call it before Kokkos::initialize: where no tool is loaded, Kokkos need not fence around each kernel
/// for one.
void decline_fences_of_tools();
/// After Kokkos::initialize, which alone asks: whoever looks sees no tool again, and small sorts go their shortest way.
void stop_declining();

/// Where there are device events they surround each kernel and nothing waits in between. One clock runs
/// at a time.
class PhaseClock {
 public:
  void start(const Space& exec);
  void stop();

  /// Per label, in the order of first launch, the medians over all that was started and stopped.
  std::vector<Phase> medians() const;

 private:
  struct Samples {
    std::vector<double> seconds;
    int launches = 0;
  };
  std::vector<std::string> order_;
  std::map<std::string, Samples> samples_;
  Kokkos::Tools::Experimental::EventSet callbacks_before_{};
};

}  // namespace bench
