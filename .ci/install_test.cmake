# Installs the build tree into a fresh folder, then builds and runs a program that knows nothing but the package.
set(work ${BUILD}/install_test)
file(REMOVE_RECURSE ${work})
file(WRITE ${work}/CMakeLists.txt [[
cmake_minimum_required(VERSION 3.25)
project(stranger CXX)
find_package(vigil 0.1 REQUIRED COMPONENTS core_base core_env)
add_executable(stranger stranger.cc)
target_link_libraries(stranger vigil::core_env)
]])
file(WRITE ${work}/stranger.cc [[
#include <vigil/core/base/code.h>
#include <vigil/core/env/env.h>
int main() { return vigil::CodeName(vigil::Code::kAborted) == "ABORTED" ? 0 : 1; }
]])
foreach(command
    "${CMAKE_COMMAND};--install;${BUILD};--prefix;${work}/prefix"
    "${CMAKE_COMMAND};-G;Ninja;-S;${work};-B;${work}/build;-DCMAKE_PREFIX_PATH=${work}/prefix;-DCMAKE_CXX_COMPILER=${CXX}"
    "${CMAKE_COMMAND};--build;${work}/build"
    "${work}/build/stranger")
  execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
endforeach()
file(REMOVE_RECURSE ${work})
