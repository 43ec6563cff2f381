# Plants what cmake/Vigil.cmake must refuse in a small tree of its own, and expects the refusal.
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
set(work ${BUILD}/helpers_test)
file(REMOVE_RECURSE ${work}_build)

function(plant)
  file(REMOVE_RECURSE ${work})
  file(COPY ${root}/CMakeLists.txt ${root}/cmake ${root}/include DESTINATION ${work})
  file(COPY ${root}/.ci/floors.txt ${root}/.ci/packages.txt DESTINATION ${work}/.ci)
  file(WRITE ${work}/.ci/CMakeLists.txt "")
  file(WRITE ${work}/core/base/a.h "")
  file(WRITE ${work}/core/base/a.cc "")
  file(WRITE ${work}/core/base/a_test.cc "")
  file(WRITE ${work}/core/base/CMakeLists.txt
    "vigil_library(core_base HEADERS a.h SOURCES a.cc DEPS absl::status)\nvigil_test(core_base TESTS a_test.cc DEPS core_base)\n")
  file(WRITE ${work}/core/env/b.h "")
  file(WRITE ${work}/core/env/CMakeLists.txt "vigil_library(core_env HEADERS b.h DEPS core_base)\n")
endfunction()

# An empty `wanted` means that the tree must be accepted. More arguments go to cmake.
function(expect name wanted)
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${work} -B ${work}_build -DCMAKE_CXX_COMPILER=${CXX} -DVIGIL_SANITIZE= ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  if("${wanted}" STREQUAL "")
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "${name}: should be accepted, but: ${output}")
    endif()
  elseif(status EQUAL 0 OR NOT output MATCHES "${wanted}")
    message(FATAL_ERROR "${name}: wanted a refusal with '${wanted}', got status ${status}: ${output}")
  endif()
endfunction()

plant()
expect("a sound tree" "")
expect("a sound tree for sanitizers" "" -DVIGIL_SANITIZE=address,undefined)

plant()
file(WRITE ${work}/core/base/forgotten_test.cc "")
file(WRITE ${work}/docs/lost_test.cc "")
expect("a test that never runs" "core/base/forgotten_test.cc: in no vigil_test.*docs/lost_test.cc: in no vigil_test")

plant()
file(WRITE ${work}/core/base/stray.cc "")
file(WRITE ${work}/core/new/stray.h "")
expect("a source that nothing compiles" "core/base/stray.cc: in no .*core/new/stray.h: in no")

plant()
file(WRITE ${work}/core/base/CMakeLists.txt
  "vigil_library(core_base HEADERS a.h SOURCES a.cc DEPS core_env)\nvigil_test(core_base TESTS a_test.cc DEPS core_base)\n")
expect("a library of a higher floor" "DEPS names vigil::core_env, which does not exist here")

plant()
file(WRITE ${work}/core/env/CMakeLists.txt "vigil_library(core_env HEADERS b.h c.h DEPS core_base)\n")
expect("a file that is not there" "names c.h, which does not exist")

plant()
file(WRITE ${work}/core/env/CMakeLists.txt "vigil_library(env HEADERS b.h DEPS core_base)\n")
expect("another name" "must be called core_env, not env")

plant()
file(WRITE ${work}/core/env/CMakeLists.txt "vigil_library(core_env HEADERS b.h DEPS core_base)\nvigil_test(core_env TESTS b.cc)\n")
file(WRITE ${work}/core/env/b.cc "")
expect("a test of another name" "b.cc is not called \\*_test.cc")

file(REMOVE_RECURSE ${work} ${work}_build)
