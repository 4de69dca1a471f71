# Highway, whose SIMD finishes sorts of keys alone on hosts: part of Kradix::kradix where it is enabled. Older
# releases are slower at few keys than radix passes are.
set(KRADIX_HIGHWAY_MINIMUM 1.2)

if(PROJECT_IS_TOP_LEVEL AND NOT TARGET hwy::hwy_contrib)
  find_package(hwy ${KRADIX_HIGHWAY_MINIMUM} QUIET CONFIG)
endif()
set(highway_found OFF)
if(PROJECT_IS_TOP_LEVEL AND TARGET hwy::hwy_contrib)
  set(highway_found ON)
endif()
option(KRADIX_ENABLE_HIGHWAY "Finish host sorts of keys alone by Highway's SIMD" ${highway_found})

if(KRADIX_ENABLE_HIGHWAY AND NOT TARGET hwy::hwy_contrib)
  find_package(hwy ${KRADIX_HIGHWAY_MINIMUM} REQUIRED CONFIG)
  # Who adds Kradix as a sub-directory links it as well.
  set_target_properties(hwy::hwy hwy::hwy_contrib PROPERTIES IMPORTED_GLOBAL TRUE)
endif()
if(KRADIX_ENABLE_HIGHWAY)
  message(STATUS "Kradix: Highway ${hwy_VERSION} ${hwy_DIR}")
  target_link_libraries(kradix INTERFACE hwy::hwy_contrib hwy::hwy)
  target_compile_definitions(kradix INTERFACE KRADIX_ENABLE_HIGHWAY)
endif()
