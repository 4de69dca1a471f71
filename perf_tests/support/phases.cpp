#include "support/phases.hpp"

#include <memory>

#include "support/statistics.hpp"
#include "support/stopwatch.hpp"

namespace bench {
namespace {

namespace Tools = Kokkos::Tools::Experimental;

/// One launch of a kernel: its beginning and end, as marks in the instance's queue.
#ifdef KOKKOS_ENABLE_CUDA
class Marks {
 public:
  explicit Marks(const Space& exec) : stream_(exec.cuda_stream()) {
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
    check(cudaEventRecord(begin_, stream_), "cudaEventRecord");
  }
  Marks(const Marks&) = delete;
  Marks& operator=(const Marks&) = delete;
  ~Marks() {
    (void)cudaEventDestroy(begin_);
    (void)cudaEventDestroy(end_);
  }
  void end(const Space&) { check(cudaEventRecord(end_, stream_), "cudaEventRecord"); }
  double seconds() const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return milliseconds * 1e-3;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t begin_, end_;
};
#else
class Marks {
 public:
  explicit Marks(const Space& exec) : stopwatch_(exec) { stopwatch_.start(); }
  void end(const Space&) { seconds_ = stopwatch_.stop(); }
  double seconds() const { return seconds_; }

 private:
  Stopwatch<Space> stopwatch_;
  double seconds_ = 0;
};
#endif

struct Launch {
  std::string label;
  std::unique_ptr<Marks> marks;
};

/// What is going on, for callbacks, which have no object.
struct Recording {
  Space exec;
  std::vector<Launch> launches;
};
std::unique_ptr<Recording> recording;

void begin(const char* label, std::uint32_t, std::uint64_t* id) {
  *id = recording->launches.size();
  recording->launches.push_back({label, std::make_unique<Marks>(recording->exec)});
}
void end(std::uint64_t id) {
  recording->launches.at(id).marks->end(recording->exec);
}

}  // namespace

void decline_fences_of_tools() {
  Tools::set_request_tool_settings_callback([](std::uint32_t, Tools::ToolSettings* settings) {
    const auto callbacks = Tools::get_callbacks();
    if (callbacks.begin_parallel_for == nullptr) settings->requires_global_fencing = false;
  });
}

void stop_declining() {
  Tools::set_request_tool_settings_callback(nullptr);
}

void PhaseClock::start(const Space& exec) {
  exec.fence("bench: before phases are timed");
  recording = std::make_unique<Recording>(Recording{exec, {}});
  callbacks_before_ = Tools::get_callbacks();
  Tools::set_begin_parallel_for_callback(begin);
  Tools::set_end_parallel_for_callback(end);
  Tools::set_begin_parallel_reduce_callback(begin);
  Tools::set_end_parallel_reduce_callback(end);
  Tools::set_begin_parallel_scan_callback(begin);
  Tools::set_end_parallel_scan_callback(end);
}

void PhaseClock::stop() {
  recording->exec.fence("bench: after phases were timed");
  Tools::set_callbacks(callbacks_before_);
  std::map<std::string, Phase> sums;
  for (const Launch& launch : recording->launches) {
    if (samples_.emplace(launch.label, Samples{}).second) order_.push_back(launch.label);
    Phase& sum = sums.emplace(launch.label, Phase{launch.label, 0, 0}).first->second;
    sum.seconds += launch.marks->seconds();
    ++sum.launches;
  }
  for (const auto& [label, sum] : sums) {
    samples_[label].seconds.push_back(sum.seconds);
    samples_[label].launches = sum.launches;
  }
  recording.reset();
}

std::vector<Phase> PhaseClock::medians() const {
  std::vector<Phase> phases;
  for (const std::string& label : order_) {
    const Samples& samples = samples_.at(label);
    phases.push_back({label, spread_of(samples.seconds).median, samples.launches});
  }
  return phases;
}

}  // namespace bench
