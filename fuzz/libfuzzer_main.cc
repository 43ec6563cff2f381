// One program for each target (VIGIL_FUZZ_TARGET is its name): libFuzzer calls it with what it makes of the corpus.
// Without an input of its own it begins with the target's good ones: `program --write-seeds DIR` writes them there.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "vigil/core/env/tasks.h"
#include "vigil/fuzz/mutate.h"
#include "vigil/fuzz/targets.h"

namespace {

const vigil::fuzz::Target& TheTarget() {
  for (const vigil::fuzz::Target& target : vigil::fuzz::Targets()) {
    if (target.name == VIGIL_FUZZ_TARGET) return target;
  }
  std::fprintf(stderr, "no target is called %s\n", VIGIL_FUZZ_TARGET);
  std::abort();
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc != 3 || std::strcmp((*argv)[1], "--write-seeds") != 0) return 0;
  const std::filesystem::path directory((*argv)[2]);
  std::filesystem::create_directories(directory);
  int n = 0;
  for (const std::string& seed : TheTarget().seeds()) {
    std::ofstream(directory / ("seed" + std::to_string(n++)), std::ios::binary) << seed;
  }
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return vigil::fuzz::RunTarget(TheTarget(), {data, size});
}

// By turns libFuzzer's changes, which coverage steers, and ours, which keep an input nearly good.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned int seed) {
  vigil::fuzz::Dice dice(seed);
  if (dice.Below(2) == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string changed =
      vigil::fuzz::Mutate(TheTarget().form, {reinterpret_cast<const char*>(data), size}, dice).substr(0, most);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
