# The toolchain of the presets `dev`, `release`, `asan-ubsan` and `fuzz`: the clang of this machine, also where it has the name of its
# version only (Debian: clang-14). It compiles tests in half of the time that GCC takes; the same seeds play the same as with `quick`,
# which is GCC's. Where there is none, or the environment names another compiler (CXX=g++), the first three are that one's; `fuzz` needs
# clang's libFuzzer. Another clang: cmake --preset fuzz -D VIGIL_CLANG=/path/of/clang++

find_program(VIGIL_CLANG NAMES clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14 DOC "clang++")
if(VIGIL_CLANG AND (VIGIL_FUZZ OR NOT DEFINED ENV{CXX}))
  set(CMAKE_CXX_COMPILER ${VIGIL_CLANG})
elseif(VIGIL_FUZZ)
  message(FATAL_ERROR "There is no clang++, whose libFuzzer the preset fuzz needs. Debian: apt-get install clang")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES VIGIL_CLANG VIGIL_FUZZ)
