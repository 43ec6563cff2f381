# The toolchain of the preset `fuzz`: the clang of this machine, also where it has the name of its version only (Debian: clang-14).
# Another one: cmake --preset fuzz -D VIGIL_CLANG=/path/of/clang++

find_program(VIGIL_CLANG NAMES clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14
  DOC "clang++ with libFuzzer" REQUIRED)
set(CMAKE_CXX_COMPILER ${VIGIL_CLANG})
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES VIGIL_CLANG)
