// Between std::vector and views of the space under test.
#pragma once

#include <Kokkos_Core.hpp>
#include <string>
#include <vector>

using Space = TEST_EXECSPACE;
using Memory = Space::memory_space;

template <class T>
Kokkos::View<T*, Memory> to_device(const std::vector<T>& values,
                                   const std::string& label = "test") {
  Kokkos::View<T*, Memory> view(Kokkos::view_alloc(label, Kokkos::WithoutInitializing),
                                values.size());
  auto mirror = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < values.size(); ++i) mirror(i) = values[i];
  Kokkos::deep_copy(view, mirror);
  return view;
}

template <class View>
std::vector<typename View::non_const_value_type> to_host(const View& view) {
  // Strided views cannot be copied between spaces: pack first.
  using Value = typename View::non_const_value_type;
  Kokkos::View<Value*, Memory> packed(Kokkos::view_alloc("packed", Kokkos::WithoutInitializing),
                                      view.extent(0));
  Kokkos::deep_copy(Space{}, packed, view);
  auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, packed);
  std::vector<Value> values(view.extent(0));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = mirror(i);
  return values;
}
