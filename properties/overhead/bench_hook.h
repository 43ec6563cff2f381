// Measures hooks of one's own, in a program of a few lines:
//
//   VIGIL_BENCH_HOOK(EarlyStopping, [](vigil::HookWorld& w) {
//     return std::make_unique<MyEarlyStoppingHook>(w.loss());
//   });
//   VIGIL_BENCH_HOOKS_MAIN();
//
// It prints what each costs a run, beside a hook that does nothing and those of the library; --json and --svg write
// the same to files. The program links vigil::properties_overhead, and vigil::fakes_allocations to count allocations
// (VIGIL_BENCH_HOOKS_MAIN(&vigil::fakes::Allocations)). Build it with optimisation. docs/testing_your_code.md
// Thread safety: hooks are registered before main().
#ifndef VIGIL_PROPERTIES_OVERHEAD_BENCH_HOOK_H_
#define VIGIL_PROPERTIES_OVERHEAD_BENCH_HOOK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vigil/properties/overhead/overhead.h"

namespace vigil {

// Those of VIGIL_BENCH_HOOK, in the order of the source.
std::vector<HookToMeasure>& RegisteredHooksToMeasure();
inline bool RegisterHookToMeasure(std::string name, HookMaker make) {
  RegisteredHooksToMeasure().push_back({std::move(name), std::move(make)});
  return true;
}

// The program. `known`: what can be named; without a NAME all of them are measured. Exit codes: 0; 1 if a hook could
// not be measured; 2 misuse, or output that cannot be written.
int BenchHooks(int argc, const char* const* argv, const std::vector<HookToMeasure>& known,
               std::function<std::uint64_t()> allocations = nullptr);

}  // namespace vigil

#define VIGIL_BENCH_HOOK(Name, ...) \
  static const bool vigil_bench_hook_##Name = vigil::RegisterHookToMeasure(#Name, __VA_ARGS__)

#define VIGIL_BENCH_HOOKS_MAIN(...)                                                                     \
  int main(int argc, char** argv) {                                                                     \
    return vigil::BenchHooks(argc, argv, vigil::RegisteredHooksToMeasure() __VA_OPT__(, ) __VA_ARGS__); \
  }                                                                                                     \
  static_assert(true, "")

#endif  // VIGIL_PROPERTIES_OVERHEAD_BENCH_HOOK_H_
