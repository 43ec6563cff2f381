# The package as a stranger uses it: examples/consumer, built against the installed tree, against the contents of the .deb, and
# configured with the source (which would take minutes to build).
unset(ENV{GTEST_BRIEF})  # the names of tests that pass are looked for
set(work ${BUILD}/install_test)
set(consumer ${SOURCE}/examples/consumer)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Against what is installed under `prefix`; nothing else may be found.
function(use prefix name)
  run(${CMAKE_COMMAND} -G Ninja -S ${consumer} -B ${work}/${name} -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX})
  run(${CMAKE_COMMAND} --build ${work}/${name})
  run(${work}/${name}/consumer)
  if(NOT output MATCHES "step 3\n")
    message(FATAL_ERROR "${name}: the consumer printed\n${output}")
  endif()
  run(${work}/${name}/my_hook)
  if(NOT output MATCHES "VigilVerify.EarlyStopping")
    message(FATAL_ERROR "${name}: the test of a right hook printed\n${output}")
  endif()
  execute_process(COMMAND ${work}/${name}/wrong_hook RESULT_VARIABLE status OUTPUT_VARIABLE output)
  if(status EQUAL 0 OR NOT output MATCHES "hook.state_survives_session")
    message(FATAL_ERROR "${name}: the test of a wrong hook ended with ${status} and printed\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${work})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
use(${work}/prefix installed)

run(${CMAKE_CPACK_COMMAND} --config ${BUILD}/CPackConfig.cmake -B ${work}/deb)
file(GLOB deb ${work}/deb/vigil_*.deb)
run(dpkg-deb --extract ${deb} ${work}/extracted)
use(${work}/extracted/usr from_deb)

run(${CMAKE_COMMAND} -G Ninja -S ${consumer} -B ${work}/fetched -DVIGIL_SOURCE=${SOURCE} -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${work}/fetched --target core_base)

# The project of docs/tutorial.md, beside vigil: set up only, for building vigil takes minutes.
file(COPY ${SOURCE}/examples/tutorial/ DESTINATION ${work}/tutorial)
file(COPY ${work}/tutorial/first_try/target_loss.h DESTINATION ${work}/tutorial)
run(${CMAKE_COMMAND} -G Ninja -S ${work}/tutorial -B ${work}/tutorial/build -DVIGIL_SOURCE=${SOURCE} -DCMAKE_CXX_COMPILER=${CXX})
file(REMOVE_RECURSE ${work})
