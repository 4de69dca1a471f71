#include "support/kernels.hpp"

namespace bench {
namespace {

using Bytes = Kokkos::View<unsigned char*, Space::memory_space, Kokkos::MemoryUnmanaged>;

template <class Value>
struct NumberValues {
  Array<Value> values;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { values(i) = value_of<Value>(i); }
};

template <class Value>
void number_values(const Space& exec, const Array<Value>& values) {
  Kokkos::parallel_for("bench::NumberValues", all_of(exec, values.extent(0)),
                       NumberValues<Value>{values});
}

}  // namespace

void copy_bytes(const Space& exec, void* to, const void* from, std::size_t bytes) {
  auto* const source = static_cast<unsigned char*>(const_cast<void*>(from));
  Kokkos::deep_copy(exec, Bytes(static_cast<unsigned char*>(to), bytes), Bytes(source, bytes));
}

void spoil_bytes(const Space& exec, void* at, std::size_t bytes) {
  Kokkos::deep_copy(exec, Bytes(static_cast<unsigned char*>(at), bytes),
                    static_cast<unsigned char>(0xff));
}

void number(const Space& exec, const Array<std::uint32_t>& values) {
  number_values(exec, values);
}
void number(const Space& exec, const Array<std::uint64_t>& values) {
  number_values(exec, values);
}
void number(const Space& exec, const Array<Value16>& values) {
  number_values(exec, values);
}

}  // namespace bench
