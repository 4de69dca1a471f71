// Sorts the months of the year by their days. The sort is stable: months of equal length stay in
// the order of the calendar. Values may be of any trivially copyable type.
#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <kradix/sort.hpp>
#include <string>

struct Month {
  char name[4];
};

constexpr std::size_t count = 12;
constexpr std::uint8_t days_of[count] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
constexpr Month calendar[count] = {{"Jan"}, {"Feb"}, {"Mar"}, {"Apr"}, {"May"}, {"Jun"},
                                   {"Jul"}, {"Aug"}, {"Sep"}, {"Oct"}, {"Nov"}, {"Dec"}};

template <class T>
using HostArray = Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);

  const Kokkos::View<std::uint8_t*> days("days", count);
  const Kokkos::View<Month*> months("months", count);
  Kokkos::deep_copy(days, HostArray<std::uint8_t>(days_of, count));
  Kokkos::deep_copy(months, HostArray<Month>(calendar, count));

  kradix::sort_by_key(days, months);

  const auto sorted = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), months);
  std::string names;
  for (std::size_t i = 0; i < count; ++i) names += std::string(" ") + sorted(i).name;
  const bool right = names == " Feb Apr Jun Sep Nov Jan Mar May Jul Aug Oct Dec";
  std::printf("sort_by_key: months by length:%s%s\n", names.c_str(), right ? "" : ", WRONG");
  return right ? 0 : 1;
}
