#include "support/verify.hpp"

namespace bench {
namespace {

struct CheckSeen {
  Array<std::uint8_t> seen;
  KOKKOS_FUNCTION void operator()(std::size_t i, std::size_t& wrong) const {
    if (i < wrong && seen(i) == 0) wrong = i;
  }
};

}  // namespace

void throw_wrong(const std::string& who, const char* problem, std::size_t place,
                 std::size_t count) {
  throw WrongResult("bench_sort: " + who + ": " + problem + " at " + std::to_string(place) +
                    " of " + std::to_string(count));
}

void require_seen(const Space& exec, const Array<std::uint8_t>& seen, const std::string& who) {
  require(exec, seen.extent(0), CheckSeen{seen}, who, "no sign of the source element");
}

}  // namespace bench
