# The planted bugs (properties/planted/README.md). Only with VIGIL_PLANTED_BUGS does a library compile anything of them: a copy of each
# source that a bug names, with the bugs woven in, in place of the source itself. Nothing in core/ or sim/ knows.

set(VIGIL_PLANT_FILE "" CACHE FILEPATH "A planted bug of your own, beside those of properties/planted/bugs")

set(VIGIL_WEAVE ${PROJECT_SOURCE_DIR}/properties/planted/weave.py)
if(NOT EXISTS ${VIGIL_WEAVE})
  return()
endif()
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)  # it reads TOML
file(GLOB VIGIL_PLANTED CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/properties/planted/bugs/*.toml)
list(APPEND VIGIL_PLANTED ${VIGIL_PLANT_FILE})
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${VIGIL_PLANTED} ${VIGIL_PLANTED_LIST} ${VIGIL_WEAVE})
# Which they are, so that one that is taken away is noticed, too: it leaves nothing behind that is newer.
set(VIGIL_PLANTED_LIST ${PROJECT_BINARY_DIR}/planted/bugs.txt)
file(CONFIGURE OUTPUT ${VIGIL_PLANTED_LIST} CONTENT "${VIGIL_PLANTED}\n" @ONLY)
set(VIGIL_WEAVE_COMMAND ${Python3_EXECUTABLE} ${VIGIL_WEAVE} --extra=${VIGIL_PLANT_FILE})

execute_process(COMMAND ${VIGIL_WEAVE_COMMAND} --files
  RESULT_VARIABLE status OUTPUT_VARIABLE VIGIL_PLANTED_SOURCES ERROR_VARIABLE wrong OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${wrong}")
endif()
string(REPLACE "\n" ";" VIGIL_PLANTED_SOURCES "${VIGIL_PLANTED_SOURCES}")

# A file that the script makes of all bugs: what is --switches or --registry.
function(vigil_make_of_planted_bugs what file)
  add_custom_command(OUTPUT ${file} COMMAND ${VIGIL_WEAVE_COMMAND} --${what} --out ${file}
    DEPENDS ${VIGIL_PLANTED} ${VIGIL_PLANTED_LIST} ${VIGIL_WEAVE} VERBATIM)
endfunction()

if(VIGIL_PLANTED_BUGS)
  set(switches ${PROJECT_BINARY_DIR}/planted/switches.cc)
  vigil_make_of_planted_bugs(switches ${switches})
  add_library(planted_switches STATIC ${switches})
  add_library(vigil::planted_switches ALIAS planted_switches)
  target_include_directories(planted_switches PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_compile_features(planted_switches PRIVATE cxx_std_20)
  install(TARGETS planted_switches EXPORT vigilTargets)
endif()

# Sets `out` to `sources` of the current folder, those with planted bugs replaced by woven copies.
function(vigil_weave out folder)
  set(woven)
  foreach(source IN LISTS ARGN)
    if(NOT VIGIL_PLANTED_BUGS OR NOT ${folder}/${source} IN_LIST VIGIL_PLANTED_SOURCES)
      list(APPEND woven ${source})
      continue()
    endif()
    set(copy ${PROJECT_BINARY_DIR}/planted/${folder}/${source})
    add_custom_command(OUTPUT ${copy} COMMAND ${VIGIL_WEAVE_COMMAND} --weave ${folder}/${source} --out ${copy}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} ${VIGIL_PLANTED} ${VIGIL_PLANTED_LIST} ${VIGIL_WEAVE} VERBATIM)
    list(APPEND woven ${copy})
  endforeach()
  set(${out} ${woven} PARENT_SCOPE)
endfunction()
