// The key types that can be measured. Each is compiled by itself (bench_key.cpp, once per name).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/case.hpp"

// X(name, type): a type is one line here and one name in CMakeLists.txt.
#define KRADIX_BENCH_INTEGERS_AND_FLOATS(X) \
  X(u8, std::uint8_t)                       \
  X(u16, std::uint16_t)                     \
  X(u32, std::uint32_t)                     \
  X(u64, std::uint64_t)                     \
  X(i32, std::int32_t)                      \
  X(i64, std::int64_t)                      \
  X(f32, float)                             \
  X(f64, double)
#ifdef KRADIX_HAVE_INT128
#define KRADIX_BENCH_KEYS(X) KRADIX_BENCH_INTEGERS_AND_FLOATS(X) X(u128, kradix::impl::uint128)
#else
#define KRADIX_BENCH_KEYS(X) KRADIX_BENCH_INTEGERS_AND_FLOATS(X)
#endif

namespace bench {

/// The types by name.
namespace keys {
#define KRADIX_BENCH_KEY_ALIAS(name, type) using name = type;
KRADIX_BENCH_KEYS(KRADIX_BENCH_KEY_ALIAS)
#undef KRADIX_BENCH_KEY_ALIAS
}  // namespace keys

/// Measures and verifies all contenders. Throws std::invalid_argument for a case that is not built in.
template <class Key>
Measurement measure_key(const Case& what);

/// Who would take part, ours first.
template <class Key>
std::vector<std::string> contenders_of_key(const Case& what);

struct KeyType {
  std::string_view name;
  std::size_t bytes;
  Measurement (*measure)(const Case&);
  std::vector<std::string> (*contenders)(const Case&);
};

/// Every type. (A function elsewhere: a table here would instantiate them all wherever one is compiled.)
const std::vector<KeyType>& key_types();

/// Throws std::invalid_argument with the names there are.
const KeyType& key_type(std::string_view name);

}  // namespace bench
