# How a folder describes itself:
#
#   vigil_library(core_base                 # the folder core/base; others link it as core_base (alias vigil::core_base)
#     HEADERS a.h b.h                       # included as "vigil/core/base/a.h"; each is checked to be self-contained
#     SOURCES a.cc                          # none: a header-only library
#     PROTOS x.proto                        # generates "vigil/core/base/x.pb.h"
#     DEPS absl::status core_env)           # public; own libraries by their bare name, only from floors below
#   vigil_test(core_base                    # executable core_base_test, one ctest entry of that name, labelled core/base
#     TESTS a_test.cc b_test.cc             # GoogleTest and GoogleMock with their main() are linked
#     HEADERS util.h SOURCES util.cc        # helpers, not tests
#     DEPS core_base fakes
#     LABELS real                           # needs real time or processes
#     TIMEOUT 30                            # seconds; 600 if not given, four times as many under a sanitizer
#     SHARDS 2                              # takes long: started first, in so many parts, core_base_test.1 and so on
#     ISOLATED)                             # every TEST is a ctest entry and a process of its own
#   vigil_bench(vigil_bench SOURCES x.cc HEADERS x.h DEPS ...)       # Google Benchmark, without its main()
#   vigil_program(vigil_cli OUTPUT vigil SOURCES main.cc DEPS ... [INSTALL])

include(GoogleTest)
include(CMakePackageConfigHelpers)

# Sets `out` to the folders of .ci/floors.txt, lowest floor first.
function(vigil_read_floors out)
  set(file ${PROJECT_SOURCE_DIR}/.ci/floors.txt)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} lines REGEX "^[^#]")
  list(REVERSE lines)
  set(folders)
  foreach(line IN LISTS lines)
    separate_arguments(line)
    list(APPEND folders ${line})
  endforeach()
  set(${out} ${folders} PARENT_SCOPE)
endfunction()

# Compiles a target with the headers that nearly every source reads (the C++ library, fmt, absl's status, protobuf's): read once,
# they cost a third. A source still includes what it needs (.ci/check_includes.py), and each header is compiled without them when
# it is looked at by itself. `kind`: sources or tests, which differ in their flags; or protos: generated code, which reads only
# protobuf's.
function(vigil_precompile target kind)
  if(NOT PROJECT_IS_TOP_LEVEL OR NOT VIGIL_PRECOMPILE)
    return()
  endif()
  set(shared vigil_precompiled_${kind})
  if(NOT TARGET ${shared})
    set(source ${PROJECT_BINARY_DIR}/${shared}.cc)
    if(NOT EXISTS ${source})
      file(WRITE ${source} "// Only so that there is something to compile.\n")
    endif()
    add_library(${shared} OBJECT ${source})
    set(protobuf <google/protobuf/extension_set.h> <google/protobuf/generated_enum_reflection.h>
      <google/protobuf/generated_message_reflection.h> <google/protobuf/io/coded_stream.h> <google/protobuf/map_entry.h>
      <google/protobuf/map_field_inl.h> <google/protobuf/message.h>)
    if(kind STREQUAL protos)
      set(headers ${protobuf} <google/protobuf/reflection_ops.h> <google/protobuf/wire_format.h>)
      target_link_libraries(${shared} PRIVATE protobuf::libprotobuf)
      target_compile_options(${shared} PRIVATE -w)
    else()
      set(headers <algorithm> <any> <array> <atomic> <charconv> <chrono> <condition_variable> <cstdint> <deque> <functional> <map> <memory>
        <mutex> <optional> <set> <span> <string> <string_view> <unordered_map> <unordered_set> <utility> <variant> <vector>
        <absl/status/status.h> <absl/status/statusor.h> <fmt/format.h> ${protobuf})
      target_link_libraries(${shared} PRIVATE absl::status absl::statusor fmt::fmt protobuf::libprotobuf)
    endif()
    if(kind STREQUAL tests)
      list(APPEND headers <gmock/gmock.h> <gtest/gtest.h>)
      target_link_libraries(${shared} PRIVATE GTest::gmock GTest::gtest)
      vigil_test_flags(${shared})
    endif()
    target_compile_features(${shared} PRIVATE cxx_std_20)
    target_precompile_headers(${shared} PRIVATE ${headers})
  endif()
  if(NOT kind STREQUAL protos)
    # What they were compiled with, a target must have, too.
    target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()

# The flags of what vigil_compile_as_test() compiles. Matchers and assertions are slow to optimise: under the sanitizers that is
# nearly half of a test's compile time. What is tested stays optimised. An assertion that fails names its line itself: without a
# sanitizer, whose reports need them, lines are left out, which are another tenth.
function(vigil_test_flags target)
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    target_compile_options(${target} PRIVATE -O0)
    if(NOT VIGIL_SANITIZE AND NOT VIGIL_COVERAGE)
      target_compile_options(${target} PRIVATE -g0)
    endif()
  endif()
endfunction()

# Tests, and programs that nobody installs (examples, benchmarks, tools): flags and precompiled headers belong together.
function(vigil_compile_as_test target)
  vigil_test_flags(${target})
  vigil_precompile(${target} tests)
endfunction()

# As many batches of the unity build as before, but of equal size: of 24 files 12 and 12, not 20 and 4. The longest is what another
# core waits for, and what a change of one file compiles.
function(vigil_balance_batches target)
  if(CMAKE_UNITY_BUILD AND CMAKE_UNITY_BUILD_BATCH_SIZE GREATER 1)
    list(LENGTH ARGN count)
    math(EXPR batches "(${count} + ${CMAKE_UNITY_BUILD_BATCH_SIZE} - 1) / ${CMAKE_UNITY_BUILD_BATCH_SIZE}")
    math(EXPR size "(${count} + ${batches} - 1) / ${batches}")
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${size})
  endif()
endfunction()

# Notes that a target compiles or installs these files of the current folder.
function(vigil_register)
  foreach(file IN LISTS ARGN)
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
      message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt names ${file}, which does not exist.")
    endif()
    set_property(GLOBAL APPEND PROPERTY VIGIL_REGISTERED ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
endfunction()

# Sets `out` to link names. A bare name must be one of our libraries or an imported target, so that a misspelt one
# is an error here instead of a missing -l at the end of the link.
function(vigil_resolve_deps out target)
  set(resolved)
  foreach(dep IN LISTS ARGN)
    if(dep MATCHES "::" OR (TARGET ${dep} AND NOT TARGET vigil::${dep}))
      list(APPEND resolved ${dep})
    else()
      list(APPEND resolved vigil::${dep})
    endif()
  endforeach()
  set(${out} ${resolved} PARENT_SCOPE)
endfunction()

function(vigil_require_known target)
  foreach(name IN LISTS ARGN)
    if(NOT TARGET ${name})
      message(FATAL_ERROR "${target}: DEPS names ${name}, which does not exist here. "
        "A library may only name libraries of lower floors (.ci/floors.txt) and imported targets.")
    endif()
  endforeach()
endfunction()

# The folder of the current CMakeLists.txt, relative to the root.
function(vigil_folder out)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(${out} ${folder} PARENT_SCOPE)
endfunction()

function(vigil_refuse_unparsed target)
  if(ARGN)
    message(FATAL_ERROR "${target}: unexpected arguments: ${ARGN}")
  endif()
endfunction()

# A static library <name>_proto of generated code, which need not be free of warnings.
function(vigil_protos name folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "PROTOS;DEPS")
  set(root ${PROJECT_BINARY_DIR}/proto)
  set(generated)
  foreach(proto IN LISTS arg_PROTOS)
    string(REGEX REPLACE "\\.proto$" "" stem vigil/${folder}/${proto})
    set(outputs ${root}/${stem}.pb.cc ${root}/${stem}.pb.h)
    add_custom_command(OUTPUT ${outputs}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${root}
      COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR}/include --cpp_out=${root} vigil/${folder}/${proto}
        --dependency_out=${root}/${stem}.d
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${proto} protobuf::protoc
      DEPFILE ${root}/${stem}.d
      VERBATIM)
    list(APPEND generated ${outputs})
    install(FILES ${root}/${stem}.pb.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/vigil/${folder})
  endforeach()
  add_library(${name}_proto STATIC ${generated})
  add_library(vigil::${name}_proto ALIAS ${name}_proto)
  target_compile_options(${name}_proto PRIVATE -w)
  vigil_precompile(${name}_proto protos)
  set_target_properties(${name}_proto PROPERTIES UNITY_BUILD OFF)  # generated files have statics of the same name
  target_include_directories(${name}_proto SYSTEM PUBLIC
    $<BUILD_INTERFACE:${root}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name}_proto PUBLIC protobuf::libprotobuf)
  foreach(dep IN LISTS arg_DEPS)
    if(TARGET ${dep}_proto)  # a proto may import those of the libraries below
      target_link_libraries(${name}_proto PUBLIC vigil::${dep}_proto)
    endif()
  endforeach()
  install(TARGETS ${name}_proto EXPORT vigilTargets)
endfunction()

function(vigil_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;SOURCES;PROTOS;DEPS")
  vigil_refuse_unparsed(${name} ${arg_UNPARSED_ARGUMENTS})
  vigil_folder(folder)
  string(REPLACE "/" "_" expected ${folder})
  if(NOT name STREQUAL expected)
    message(FATAL_ERROR "${folder}: its library must be called ${expected}, not ${name}.")
  endif()
  vigil_register(${arg_HEADERS} ${arg_SOURCES} ${arg_PROTOS})
  vigil_resolve_deps(deps ${name} ${arg_DEPS})
  vigil_require_known(${name} ${deps})
  if(arg_PROTOS)
    vigil_protos(${name} ${folder} PROTOS ${arg_PROTOS} DEPS ${arg_DEPS})
    list(APPEND deps vigil::${name}_proto)
  endif()

  set(scope INTERFACE)
  if(arg_SOURCES)
    set(scope PUBLIC)
    set(sources ${arg_SOURCES})
    if(VIGIL_PLANTED_BUGS)
      vigil_weave(sources ${folder} ${arg_SOURCES})
    endif()
    add_library(${name} STATIC ${sources})
    if(NOT "${sources}" STREQUAL "${arg_SOURCES}")
      target_link_libraries(${name} PRIVATE planted_switches)
    endif()
    vigil_precompile(${name} sources)
    vigil_balance_batches(${name} ${sources})
  else()
    add_library(${name} INTERFACE)
  endif()
  add_library(vigil::${name} ALIAS ${name})

  # include/vigil is a link to the root: the same include lines work in this tree and in an installed one.
  list(TRANSFORM arg_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/vigil/${folder}/)
  target_sources(${name} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${arg_HEADERS})
  target_compile_features(${name} ${scope} cxx_std_20)
  target_link_libraries(${name} ${scope} ${deps})
  if(VIGIL_PLANTED_BUGS)
    target_compile_definitions(${name} ${scope} VIGIL_PLANTED_BUGS=1)
  endif()
  install(TARGETS ${name} EXPORT vigilTargets FILE_SET HEADERS)
endfunction()

# What tests, benchmarks and programs have in common.
function(vigil_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;SOURCES;DEPS")
  vigil_register(${arg_HEADERS} ${arg_SOURCES})
  vigil_resolve_deps(deps ${target} ${arg_DEPS})
  add_executable(${target} ${arg_SOURCES})
  if(VIGIL_SANITIZE MATCHES thread)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/stress/threads/tsan_suppressions.cc)
    target_link_libraries(${target} PRIVATE absl::cord absl::status)  # which it stands before
  endif()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE ${deps})
endfunction()

function(vigil_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ISOLATED" "TIMEOUT;SHARDS" "TESTS;HEADERS;SOURCES;DEPS;LABELS")
  vigil_refuse_unparsed(${name} ${arg_UNPARSED_ARGUMENTS})
  if(NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  vigil_folder(folder)
  set(target ${name}_test)
  if(NOT arg_TIMEOUT)
    # Only for what hangs: machines differ by a factor of three from hour to hour.
    set(arg_TIMEOUT 600)
  endif()
  if(VIGIL_SANITIZE)
    math(EXPR arg_TIMEOUT "4 * ${arg_TIMEOUT}")
  endif()
  set(labels ${folder} ${arg_LABELS})
  foreach(test IN LISTS arg_TESTS)
    if(NOT test MATCHES "_test\\.cc$")
      message(FATAL_ERROR "${target}: ${test} is not called *_test.cc.")
    endif()
  endforeach()
  list(TRANSFORM arg_TESTS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE absolute)
  set_property(GLOBAL APPEND PROPERTY VIGIL_REGISTERED_TESTS ${absolute})
  vigil_executable(${target}
    HEADERS ${arg_HEADERS} SOURCES ${arg_TESTS} ${arg_SOURCES} DEPS ${arg_DEPS} GTest::gmock GTest::gtest)
  # By its name alone: it is made with fakes/, above core/. Sanitizers report crashes themselves.
  set(main test_main)
  if(VIGIL_SANITIZE)
    set(main GTest::gmock_main)
  endif()
  target_link_libraries(${target} PRIVATE ${main})
  vigil_compile_as_test(${target})
  if(arg_ISOLATED)
    gtest_discover_tests(${target} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${arg_TIMEOUT})
    # Not by PROPERTIES above: gtest_discover_tests() reads a second label as the name of the next property.
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_labels.cmake)
    file(WRITE ${file} "if(${target}_TESTS)\n"
      "  set_tests_properties(\${${target}_TESTS} PROPERTIES LABELS \"${labels}\")\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
  elseif(arg_SHARDS)
    math(EXPR last "${arg_SHARDS} - 1")
    foreach(shard RANGE ${last})
      math(EXPR part "${shard} + 1")
      add_test(NAME ${target}.${part} COMMAND ${target})
      set_tests_properties(${target}.${part} PROPERTIES LABELS "${labels}" TIMEOUT ${arg_TIMEOUT} COST 100
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${shard}")
    endforeach()
  else()
    add_test(NAME ${target} COMMAND ${target})
    set_tests_properties(${target} PROPERTIES LABELS "${labels}" TIMEOUT ${arg_TIMEOUT})
  endif()
endfunction()

function(vigil_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;SOURCES;DEPS")
  vigil_refuse_unparsed(${name} ${arg_UNPARSED_ARGUMENTS})
  vigil_executable(${name} HEADERS ${arg_HEADERS} SOURCES ${arg_SOURCES} DEPS ${arg_DEPS} benchmark::benchmark)
  vigil_compile_as_test(${name})
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)  # what is measured stands in a file of its own
endfunction()

function(vigil_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INSTALL" "OUTPUT" "HEADERS;SOURCES;DEPS")
  vigil_refuse_unparsed(${name} ${arg_UNPARSED_ARGUMENTS})
  vigil_executable(${name} HEADERS ${arg_HEADERS} SOURCES ${arg_SOURCES} DEPS ${arg_DEPS})
  if(arg_OUTPUT)
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${arg_OUTPUT})
  endif()
  if(arg_INSTALL)
    vigil_precompile(${name} sources)
    install(TARGETS ${name})
  else()
    vigil_compile_as_test(${name})
  endif()
endfunction()

# Stops when a test would silently never run or a source silently never be compiled. CONFIGURE_DEPENDS: each build
# looks again, so a new file is noticed without configuring by hand.
function(vigil_refuse_strays)
  file(GLOB entries CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/*)
  set(tests)
  set(sources)
  foreach(entry IN LISTS entries)
    get_filename_component(base ${entry} NAME)
    if(entry MATCHES "_test\\.cc$")
      list(APPEND tests ${entry})
    elseif(IS_DIRECTORY ${entry} AND NOT base MATCHES "^(build|include)$")
      file(GLOB_RECURSE found CONFIGURE_DEPENDS ${entry}/*_test.cc)
      list(APPEND tests ${found})
      if(base MATCHES "^(core|fakes|fuzz|sim|replays|properties|bench|examples|cli|proxy|stress)$")
        file(GLOB_RECURSE found CONFIGURE_DEPENDS ${entry}/*.cc ${entry}/*.h ${entry}/*.proto)
        list(FILTER found EXCLUDE REGEX "_test\\.cc$")
        list(APPEND sources ${found})
      endif()
    endif()
  endforeach()

  get_property(registered_tests GLOBAL PROPERTY VIGIL_REGISTERED_TESTS)
  get_property(registered GLOBAL PROPERTY VIGIL_REGISTERED)
  list(REMOVE_ITEM tests "" ${registered_tests})
  list(REMOVE_ITEM sources "" ${registered})
  list(TRANSFORM tests REPLACE "^${PROJECT_SOURCE_DIR}/(.*)" "  \\1: in no vigil_test()\n")
  list(TRANSFORM sources REPLACE "^${PROJECT_SOURCE_DIR}/(.*)" "  \\1: in no vigil_library(), _test(), _bench() or _program()\n")
  if(tests OR sources)
    list(JOIN tests "" tests)
    list(JOIN sources "" sources)
    set(level WARNING)
    if(VIGIL_STRAYS_ARE_ERRORS)
      set(level FATAL_ERROR)
    endif()
    message(${level} "Files that nothing builds (a warning only with -DVIGIL_STRAYS_ARE_ERRORS=OFF):\n${tests}${sources}")
  endif()
endfunction()

function(vigil_install_package)
  get_property(registered GLOBAL PROPERTY VIGIL_REGISTERED)
  if(NOT registered)
    return()
  endif()
  set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/vigil)
  install(EXPORT vigilTargets NAMESPACE vigil:: DESTINATION ${destination})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/vigilConfig.cmake.in ${PROJECT_BINARY_DIR}/vigilConfig.cmake
    INSTALL_DESTINATION ${destination})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/vigilConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/vigilConfig.cmake ${PROJECT_BINARY_DIR}/vigilConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/VigilDependencies.cmake DESTINATION ${destination})
endfunction()
