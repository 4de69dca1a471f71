# The package Kradix: headers, what was built of the library and the tool, and KradixConfig.cmake.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(kradix_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Kradix)

install(DIRECTORY include/kradix DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
if(TARGET kradix_mpi)  # targets of their own file, so that only who asks for the component needs MPI
  install(TARGETS kradix_mpi EXPORT KradixMpiTargets)
  install(EXPORT KradixMpiTargets NAMESPACE Kradix:: DESTINATION ${kradix_package_dir})
endif()
install(TARGETS kradix EXPORT KradixTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET kradix_simd AND NOT KRADIX_BUILT_SIMD)
  install(TARGETS kradix_simd EXPORT KradixTargets)
endif()
if(TARGET kradix_compiled AND NOT KRADIX_BUILT_COMPILED)
  install(TARGETS kradix_compiled EXPORT KradixTargets)
endif()
if(TARGET kradix_tool)
  install(TARGETS kradix_tool)
endif()

install(EXPORT KradixTargets NAMESPACE Kradix:: DESTINATION ${kradix_package_dir})
configure_package_config_file(cmake/KradixConfig.cmake.in
  ${PROJECT_BINARY_DIR}/KradixConfig.cmake INSTALL_DESTINATION ${kradix_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/KradixConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/KradixConfig.cmake ${PROJECT_BINARY_DIR}/KradixConfigVersion.cmake
  DESTINATION ${kradix_package_dir})
