# Every library that vigil needs, as imported targets. The build and the installed package both read this file.
# VIGIL_TEST_DEPENDENCIES=OFF leaves out what only tests and benchmarks link.

include(CMakeFindDependencyMacro)
if(NOT DEFINED VIGIL_TEST_DEPENDENCIES)
  set(VIGIL_TEST_DEPENDENCIES ON)
endif()

find_dependency(Threads)
find_dependency(absl CONFIG)
find_dependency(fmt CONFIG)
find_dependency(Eigen3 CONFIG)
find_dependency(Protobuf MODULE)
find_dependency(Boost 1.74 COMPONENTS context)
find_dependency(nlohmann_json CONFIG)
find_dependency(CLI11 CONFIG)
find_dependency(LibLZMA MODULE)

# vigil_plain_library(target library header): for libraries that come without a usable CMake package.
function(vigil_plain_library target library header)
  if(TARGET ${target})
    return()
  endif()
  find_library(VIGIL_${library}_LIBRARY ${library} REQUIRED)
  find_path(VIGIL_${library}_INCLUDE ${header} REQUIRED)
  mark_as_advanced(VIGIL_${library}_LIBRARY VIGIL_${library}_INCLUDE)
  add_library(${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION ${VIGIL_${library}_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${VIGIL_${library}_INCLUDE})
endfunction()

vigil_plain_library(vigil_xxhash xxhash xxhash.h)
vigil_plain_library(vigil_isal isal isa-l.h)
vigil_plain_library(vigil_jemalloc jemalloc jemalloc/jemalloc.h)

# Of core/env/grpc, which is left out without it. Debian's gRPCConfig.cmake fails where only the library is installed, without the
# compiler's plugins.
find_library(VIGIL_grpc_LIBRARY grpc)
find_library(VIGIL_gpr_LIBRARY gpr)
find_path(VIGIL_grpc++_INCLUDE grpcpp/grpcpp.h)
mark_as_advanced(VIGIL_grpc_LIBRARY VIGIL_gpr_LIBRARY VIGIL_grpc++_INCLUDE)
if(VIGIL_grpc_LIBRARY AND VIGIL_gpr_LIBRARY AND VIGIL_grpc++_INCLUDE AND NOT TARGET vigil_grpc)
  vigil_plain_library(vigil_grpc grpc++ grpcpp/grpcpp.h)
  set_property(TARGET vigil_grpc APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${VIGIL_grpc_LIBRARY} ${VIGIL_gpr_LIBRARY})
endif()

if(VIGIL_TEST_DEPENDENCIES)
  find_dependency(GTest CONFIG)
  find_dependency(benchmark CONFIG)
  # Debian's rapidcheckConfig.cmake computes its prefix from the wrong folder and fails.
  vigil_plain_library(rapidcheck rapidcheck rapidcheck/gtest.h)
endif()
