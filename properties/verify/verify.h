// Verifies a hook: drives it through faults and finds which promise it breaks.
//
//   const HookReport report = VerifyHook(maker, options);
//   if (!report.ok()) puts(ReportText("mine", report, {.replay = "vigil verify mine --case {}"}).c_str());
//
// Every play is a simulated session: virtual time, files in memory, faults as planned. The hook is made anew for each.
// A process of its own plays: what crashes there is a finding.
// Thread safety: one verification at a time in a process (outside/outside.h).
#ifndef VIGIL_PROPERTIES_VERIFY_VERIFY_H_
#define VIGIL_PROPERTIES_VERIFY_VERIFY_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/properties/verify/hook_world.h"
#include "vigil/properties/verify/options.h"

namespace vigil {

struct HookFinding {
  std::string promise;    // id; or how the process died: "crash.signal_segv" (replays/crew/crash.h)
  std::string case_name;  // the first case in which it was broken: the smallest one
  std::string expected;   // "" = the promise says it
  std::string actual;
  std::string shrunk;  // of a random case: the least of it that is needed, in words; the probe "verified" is the hook
  std::vector<std::string> events;  // of that case, as `vigil replay --trace` shows them
  std::vector<std::string> stack;   // of a crash: functions, the innermost first
};

struct HookReport {
  std::vector<HookFinding> findings;  // one a promise, in the order of HookPromises()
  std::uint64_t played = 0;
  std::string error;                // the hook could not be made, or there is no such case
  std::vector<std::string> events;  // of the only case, if it was one
  bool stopped = false;
  bool ok() const { return findings.empty() && error.empty(); }
};

// `go_on` (may be null) is asked before each play, in the process that plays.
HookReport VerifyHook(const HookMaker& maker, const VerifyOptions& options = {},
                      const std::function<bool()>& go_on = nullptr);

struct HookToVerify {
  HookMaker maker;
  VerifyOptions options = {};
};
struct VerifyCrew {
  int jobs = 1;  // hooks at a time, a process each; 0 = none, a crash is one of the caller
  std::chrono::milliseconds play_limit = VerifyOptions().play_limit;   // for all of them
  std::function<void(std::size_t hook, HookReport report)> on_report;  // in order
  std::function<void(std::uint64_t plays)> on_tick = nullptr;          // a few times a second
};
// Each of them, with the same result for any number of jobs. `stop` may be set at any time: those under way report what
// they have found, others are not begun. REQUIRES: the process has one thread, or jobs is 0.
void VerifyHooks(const std::vector<HookToVerify>& hooks, const VerifyCrew& crew, const std::atomic<bool>& stop);

// Lines, each with its newline. `replay`: the line that plays a case again, the last "{}" in it stands for the case.
std::string ReportText(std::string_view name, const HookReport& report, std::string_view replay);

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_VERIFY_VERIFY_H_
