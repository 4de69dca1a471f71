# What tests, benchmarks and the tool need beside Kokkos: an installed package, else the pinned
# release. The library itself needs none of them.
include(FetchContent)

# kradix_provide(<package> <target> <minimum version> <url> <sha256>)
macro(kradix_provide package target minimum url sha256)
  if(NOT TARGET ${target})
    find_package(${package} ${minimum} QUIET)
  endif()
  if(NOT TARGET ${target})
    message(STATUS "Kradix: no ${package} >= ${minimum} found, building ${url}")
    FetchContent_Declare(${package} URL ${url} URL_HASH SHA256=${sha256})
    FetchContent_MakeAvailable(${package})
  endif()
endmacro()

if(KRADIX_ENABLE_TESTS)
  set(INSTALL_GTEST OFF CACHE BOOL "")
  set(BUILD_GMOCK OFF CACHE BOOL "")
  kradix_provide(GTest GTest::gtest 1.12
    https://github.com/google/googletest/archive/refs/tags/v1.16.0.tar.gz
    78c676fc63881529bf97bf9d45948d905a66833fbfa5318ea2cd7478cb98f399)
endif()

if(KRADIX_ENABLE_PERF_TESTS)
  set(BENCHMARK_ENABLE_TESTING OFF CACHE BOOL "")
  set(BENCHMARK_ENABLE_INSTALL OFF CACHE BOOL "")
  kradix_provide(benchmark benchmark::benchmark 1.7
    https://github.com/google/benchmark/archive/refs/tags/v1.9.1.tar.gz
    32131c08ee31eeff2c8968d7e874f3cb648034377dfc32a4c377fa8796d84981)
endif()

if(KRADIX_ENABLE_TOOL)
  kradix_provide(CLI11 CLI11::CLI11 2.1
    https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.4.2.tar.gz
    f2d893a65c3b1324c50d4e682c0cdc021dd0477ae2c048544f39eed6654b699a)
endif()
