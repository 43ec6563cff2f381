# Flags of every target of this tree. None of them is exported.

if(PROJECT_IS_TOP_LEVEL)
  add_compile_options(
    -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual -Werror
    # Clang finds that names of two files shadow each other where these are compiled together.
    $<$<CXX_COMPILER_ID:GNU>:-Wshadow>
    # Designated initializers name what differs from the default; the rest is meant to be left out.
    -Wno-missing-field-initializers)
endif()
if(VIGIL_FUZZ)
  # The code is held to warnings elsewhere; these programs only run.
  add_compile_options(-w)
endif()
add_compile_options(
  # A fused multiply-add rounds once where two operations round twice: results would depend on the machine.
  -ffp-contract=off
  # So that a profile and a crash report show the callers.
  -fno-omit-frame-pointer)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports std::string's operator+ as overlapping memory (GCC bug 105651).
  add_compile_options(-Wno-restrict)
  # GCC looks for garbage from 128 MiB on, over and over in the precompiled headers: a tenth of what a batch of files takes.
  add_compile_options(--param=ggc-min-heapsize=524288)
  if(VIGIL_FEWER_PASSES)
    # Together they take more than a seventh of a batch, a tenth of a build; what is compiled without them plays a sixth slower. (-Og: the
    # same, and two thirds slower.)
    add_compile_options(-fno-inline-functions-called-once -fno-ipa-modref -fno-ipa-profile -fno-ipa-pure-const -fno-ipa-reference
      -fno-tree-bit-ccp -fno-tree-builtin-call-dce -fno-tree-ch -fno-tree-copy-prop -fno-tree-dominator-opts -fno-tree-dse
      -fno-tree-loop-optimize -fno-tree-phiprop -fno-tree-pta -fno-tree-scev-cprop -fno-tree-sink -fno-tree-slsr -fno-tree-sra -fno-ivopts
      -fno-ssa-backprop -fno-ssa-phiopt -fno-guess-branch-probability -fno-if-conversion -fno-if-conversion2 -fno-thread-jumps
      -fno-branch-count-reg -fno-combine-stack-adjustments -fno-compare-elim -fno-cprop-registers -fno-dse -fno-forward-propagate
      -fno-move-loop-invariants -fno-reorder-blocks -fno-shrink-wrap -fno-split-wide-types -fira-algorithm=priority)
    # Without them this warning is of what cannot happen (clang's own, in dev, is not).
    add_compile_options(-Wno-maybe-uninitialized)
    # A fiftieth more. Format strings are checked by clang, in dev.
    add_compile_definitions(FMT_CONSTEVAL=)
  endif()
endif()

if(VIGIL_SANITIZE)
  add_compile_options(-fsanitize=${VIGIL_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${VIGIL_SANITIZE})
  # Each compiler says it in a way of its own.
  if(VIGIL_SANITIZE MATCHES address)
    add_compile_definitions(VIGIL_SANITIZES_ADDRESS)
  elseif(VIGIL_SANITIZE MATCHES thread)
    add_compile_definitions(VIGIL_SANITIZES_THREAD)
  endif()
  if(VIGIL_SANITIZE MATCHES undefined)
    # A test file compiles four times as long with these, and what they find the address sanitizer mostly finds too.
    add_compile_options(-fno-sanitize=null,vptr,object-size,alignment)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The instrumentation hides initialisations from this warning, and -Wtsan reports std::atomic_thread_fence in system headers.
    add_compile_options(-Wno-maybe-uninitialized -Wno-tsan)
  endif()
endif()

# A hundred programs are linked; lld takes a quarter of the time.
find_program(VIGIL_LLD ld.lld)
mark_as_advanced(VIGIL_LLD)
if(VIGIL_LLD)
  add_link_options(-fuse-ld=lld)
endif()

if(VIGIL_COVERAGE)
  # Tasks of several threads count the same lines.
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

find_program(VIGIL_CCACHE ccache)
if(VIGIL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${VIGIL_CCACHE})
endif()
