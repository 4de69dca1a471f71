// Results for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "support/case.hpp"

namespace bench {

/// "OpenMP, 2 threads", or what a GPU calls itself.
std::string device_name();

/// "OpenMP, 2 threads, Kokkos 5.2.2, Kradix 0.2.0"
std::string machine_line();

/// Prints results as they come; finish() closes what they open.
class Report {
 public:
  virtual ~Report() = default;
  virtual void add(const Measurement& measurement) = 0;
  virtual void finish() {}
};

/// Medians, keys per second and ratios; with `details` also spreads, memory, the plan and its bound.
class TableReport : public Report {
 public:
  explicit TableReport(bool details) : details_(details) {}
  void add(const Measurement& measurement) override;

 private:
  bool details_;
};

/// One row a case; at the end each peer's ratios summed up.
class RowReport : public Report {
 public:
  void add(const Measurement& measurement) override;
  void finish() override;

 private:
  struct Ratio {
    std::string peer;
    std::string where;
    double value;
  };
  std::string heading_;
  std::vector<Ratio> ratios_;
};

/// One JSON document.
class JsonReport : public Report {
 public:
  JsonReport();
  void add(const Measurement& measurement) override;
  void finish() override;

 private:
  bool first_ = true;
};

}  // namespace bench
