// A tiny Kokkos tool: writes down what the library does while one is listening.
#pragma once

#include <Kokkos_Core.hpp>
#include <string>
#include <vector>

struct Event {
  enum Kind { kernel, fence, allocation, deallocation, region, region_end, copy } kind;
  std::string label;
  std::uint32_t device = 0;
};

class Listener {
 public:
  Listener() {
    namespace Tools = Kokkos::Tools::Experimental;
    events().clear();
    Tools::set_begin_parallel_for_callback(on_kernel);
    Tools::set_begin_parallel_scan_callback(on_kernel);
    Tools::set_begin_parallel_reduce_callback(on_kernel);
    Tools::set_begin_fence_callback(on_fence);
    Tools::set_push_region_callback([](const char* label) {
      events().push_back({Event::region, label});
    });
    Tools::set_pop_region_callback([] { events().push_back({Event::region_end, ""}); });
    Tools::set_allocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char* label, const void*, std::uint64_t size) {
          // Kokkos' CUDA team launches report level-1 scratch of no bytes.
          if (size > 0) events().push_back({Event::allocation, label});
        });
    Tools::set_deallocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char* label, const void*, std::uint64_t) {
          events().push_back({Event::deallocation, label});
        });
    Tools::set_begin_deep_copy_callback(on_copy);
  }
  ~Listener() { Kokkos::Tools::Experimental::pause_tools(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  static std::vector<Event>& events() {
    static std::vector<Event> all;
    return all;
  }
  /// "region kradix::sort [four_kernel]", in their order; without scratch memory and fences that are
  /// Kokkos' own.
  static std::vector<std::string> sequence() {
    constexpr const char* words[] = {"kernel", "fence",      "allocation", "deallocation",
                                     "region", "region_end", "copy"};
    std::vector<std::string> sequence;
    for (const Event& event : events()) {
      const bool of_kokkos = event.label.rfind("Kokkos", 0) == 0 || event.label == "[unlabeled]";
      if (!of_kokkos) sequence.push_back(std::string(words[event.kind]) + ' ' + event.label);
    }
    return sequence;
  }
  static std::vector<Event> of(Event::Kind kind) {
    std::vector<Event> some;
    for (const Event& event : events()) {
      if (event.kind == kind) some.push_back(event);
    }
    return some;
  }

 private:
  static void on_kernel(const char* label, std::uint32_t device, std::uint64_t*) {
    events().push_back({Event::kernel, label, device});
  }
  static void on_fence(const char* label, std::uint32_t device, std::uint64_t*) {
    // Kokkos fences around the callbacks themselves for tools that do not decline it.
    if (std::string(label).find("Kokkos Profile Tool Fence") != std::string::npos) return;
    events().push_back({Event::fence, label, device});
  }
  static void on_copy(Kokkos::Tools::SpaceHandle, const char* label, const void*,
                      Kokkos::Tools::SpaceHandle, const char*, const void*, std::uint64_t) {
    events().push_back({Event::copy, label});
  }
};
