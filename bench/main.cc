// Without arguments every benchmark is run once; Google Benchmark's own flags apply. With --hook it measures hooks by
// properties/overhead instead, whose own flags apply then.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "vigil/fakes/allocations/allocations.h"
#include "vigil/properties/overhead/bench_hook.h"
#include "vigil/properties/zoo/zoo.h"

namespace {

std::vector<vigil::HookToMeasure> KnownHooks() {
  std::vector<vigil::HookToMeasure> known = vigil::BuiltInHooksToMeasure();
  for (const vigil::ZooHook& hook : vigil::Zoo()) {
    if (hook.kind == vigil::ZooKind::kRight) known.push_back({std::string(hook.name), hook.make});
  }
  return known;
}

}  // namespace

int main(int argc, char** argv) {
  if (std::any_of(argv + 1, argv + argc, [](std::string_view word) { return word.starts_with("--hook"); })) {
    return vigil::BenchHooks(argc, argv, KnownHooks(), &vigil::fakes::Allocations);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
