# Highway, whose SIMD finishes sorts of keys alone on hosts and moves values of few kinds of keys: part of Kradix::kradix where it
# is enabled. Older releases are slower at few keys than radix passes are.
set(KRADIX_HIGHWAY_MINIMUM 1.2)

if(PROJECT_IS_TOP_LEVEL AND NOT TARGET hwy::hwy_contrib)
  find_package(hwy ${KRADIX_HIGHWAY_MINIMUM} QUIET CONFIG)
endif()
set(highway_found OFF)
if(PROJECT_IS_TOP_LEVEL AND TARGET hwy::hwy_contrib)
  set(highway_found ON)
endif()
option(KRADIX_ENABLE_HIGHWAY "Let Highway's SIMD take part in host sorts" ${highway_found})

if(KRADIX_ENABLE_HIGHWAY AND NOT TARGET hwy::hwy_contrib)
  find_package(hwy ${KRADIX_HIGHWAY_MINIMUM} REQUIRED CONFIG)
  # Who adds Kradix as a sub-directory links it as well.
  set_target_properties(hwy::hwy hwy::hwy_contrib PROPERTIES IMPORTED_GLOBAL TRUE)
endif()
if(KRADIX_ENABLE_HIGHWAY)
  message(STATUS "Kradix: Highway ${hwy_VERSION} ${hwy_DIR}")
  # What headers cannot hold, as it is compiled once for each set of instructions.
  if(KRADIX_BUILT_SIMD)
    add_library(kradix_simd STATIC IMPORTED GLOBAL)
    set_target_properties(kradix_simd PROPERTIES IMPORTED_LOCATION ${KRADIX_BUILT_SIMD})
    set(for_users INTERFACE)
  else()
    add_library(kradix_simd STATIC src/highway/buckets.cpp src/highway/few_kinds.cpp src/highway/labels.cpp
                src/highway/partition.cpp src/highway/places.cpp src/highway/records.cpp
                src/highway/trend.cpp)
    target_include_directories(kradix_simd PRIVATE include src)
    # Each set takes its time to compile: who has one of these has AVX-512 of another name, too, or a machine of before AVX2.
    target_compile_definitions(kradix_simd PRIVATE "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|HWY_AVX3_SPR)")
    set_target_properties(kradix_simd PROPERTIES EXPORT_NAME simd POSITION_INDEPENDENT_CODE ON)
    if(CMAKE_CXX_COMPILER MATCHES "nvcc_wrapper")  # nvcc knows none of these instructions
      target_compile_options(kradix_simd PRIVATE --host-only)
    endif()
    set(for_users PUBLIC)
  endif()
  add_library(Kradix::simd ALIAS kradix_simd)
  target_compile_features(kradix_simd ${for_users} cxx_std_20)
  target_compile_definitions(kradix_simd ${for_users} KRADIX_ENABLE_HIGHWAY)
  target_link_libraries(kradix_simd ${for_users} hwy::hwy_contrib hwy::hwy)
  target_link_libraries(kradix INTERFACE kradix_simd)
endif()
