// One key type's sorts and peers: compiled once per name in CMakeLists.txt, as KRADIX_BENCH_KEY.
#include <stdexcept>

#include "support/key_types.hpp"
#include "support/measure.hpp"

namespace bench {
namespace {

struct Measure {
  template <class Task>
  static Measurement of(const Case& what) {
    return Contest<Task>(what).measure();
  }
};

struct NameContenders {
  template <class Task>
  static std::vector<std::string> of(const Case& what) {
    Names names;
    visit_peers<Task>(what, names, AllPeers{});
    return names.list;
  }
};

[[noreturn]] void refuse(const Case& what, const char* widths) {
  throw std::invalid_argument("bench_sort: " + std::string(name(what.operation)) +
                              " has no values of " + std::to_string(what.value_bytes) +
                              " bytes, but of " + widths);
}

/// The one switch from a case to types.
template <class Do, class Key>
auto dispatch(const Case& what) {
  switch (what.operation) {
    case Operation::sort:
      if (what.value_bytes == 0) return Do::template of<Task<Operation::sort, Key, NoValue>>(what);
      refuse(what, "0");
    case Operation::sort_by_key:
      if (what.value_bytes == 4)
        return Do::template of<Task<Operation::sort_by_key, Key, std::uint32_t>>(what);
      if (what.value_bytes == 8)
        return Do::template of<Task<Operation::sort_by_key, Key, std::uint64_t>>(what);
      if (what.value_bytes == 16)
        return Do::template of<Task<Operation::sort_by_key, Key, Value16>>(what);
      refuse(what, "4, 8 or 16");
    case Operation::argsort:
      if (what.value_bytes == 4)
        return Do::template of<Task<Operation::argsort, Key, std::uint32_t>>(what);
      refuse(what, "4");
  }
  refuse(what, "a known operation");
}

}  // namespace

template <class Key>
Measurement measure_key(const Case& what) {
  return dispatch<Measure, Key>(what);
}

template <class Key>
std::vector<std::string> contenders_of_key(const Case& what) {
  return dispatch<NameContenders, Key>(what);
}

template Measurement measure_key<keys::KRADIX_BENCH_KEY>(const Case&);
template std::vector<std::string> contenders_of_key<keys::KRADIX_BENCH_KEY>(const Case&);

}  // namespace bench
