#include "vigil/properties/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "vigil/core/base/check.h"
#include "vigil/properties/verify/cases.h"
#include "vigil/properties/verify/findings.h"
#include "vigil/properties/verify/play_hook.h"
#include "vigil/properties/verify/verification.h"
#include "vigil/replays/crew/crash.h"
#include "vigil/replays/crew/crew.h"
#include "vigil/replays/crew/packed.h"
#include "vigil/replays/crew/shared_memory.h"
#include "vigil/replays/format/escape.h"

namespace vigil {

template <typename Archive>
void PackFields(Archive& archive, HookFinding& finding) {
  archive(finding.promise, finding.case_name, finding.expected, finding.actual, finding.shrunk, finding.events,
          finding.stack);
}
template <typename Archive>
void PackFields(Archive& archive, HookReport& report) {
  archive(report.findings, report.played, report.error, report.events, report.stopped);
}

namespace {

using replays::Crash;

// After so many, what else the hook may do is not asked any more; a play that does not end takes long enough alone.
constexpr std::size_t kMostHookCrashes = 3;
constexpr std::size_t kMostRestarts = 10;
constexpr std::uint64_t kMostCrashPlays = 100;  // to make a crash small
constexpr std::uint64_t kMostLongPlays = 10;    // each takes seconds
constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

bool TakesLong(const Crash& crash) { return crash.what == "timeout" || crash.what == "memory"; }

// A hook, and what is known of it by now.
struct HookRequest {
  std::uint64_t hook = 0;
  std::map<std::uint64_t, Crash> crashes;  // by play
  bool crashed_enough = false;
};

}  // namespace
}  // namespace vigil

namespace vigil::replays {

template <typename Archive>
void PackFields(Archive& archive, Crash& crash) {
  archive(crash.what, crash.detail, crash.frames);
}

}  // namespace vigil::replays

namespace vigil {
namespace {

template <typename Archive>
void PackFields(Archive& archive, HookRequest& request) {
  archive(request.hook, request.crashes, request.crashed_enough);
}

// A worker verifies a hook. If it dies at the so-manyth play, another one does it all again and leaves that play out:
// which plays there are depends on nothing else.
class VerifyingCrew {
 public:
  VerifyingCrew(const std::vector<HookToVerify>& hooks, const VerifyCrew& crew, const std::function<bool()>& go_on,
                const std::atomic<bool>& stop)
      : hooks_(hooks), crew_(crew), go_on_(go_on), stop_(stop) {}

  void Run() {
    EnumeratedCases();  // all workers have them then
    std::uint64_t next = 0;
    replays::CrewCallbacks callbacks;
    callbacks.next = [&]() -> std::optional<std::string> {
      if (next == hooks_.size()) return std::nullopt;
      return replays::Packed(HookRequest{.hook = next++});
    };
    callbacks.new_worker = [this](const replays::CrewView& view) -> replays::CrewWorker {
      return [this, view](const std::string& request) {
        return replays::Packed(Verify(view, replays::Unpacked<HookRequest>(request)));
      };
    };
    callbacks.on_reply = [this](const std::string& reply) {
      auto report = replays::Unpacked<HookReport>(reply);
      for (HookFinding& finding : report.findings) MakeSmall(finding);
      crew_.on_report(reported_++, std::move(report));
      return true;
    };
    callbacks.on_crash = [this](const std::string& bytes, std::uint64_t part, const Crash& crash) {
      return AddCrash(replays::Unpacked<HookRequest>(bytes), part, crash);
    };
    callbacks.on_tick = [this] {
      if (crew_.on_tick) crew_.on_tick(*plays_);
    };
    const replays::CrewOptions options{.jobs = crew_.jobs,
                                       .ahead = 2,
                                       .limits = Limits(),
                                       .most_crashes = kNoLimit,
                                       .most_timeouts = kNoLimit,
                                       .leaks = false};
    replays::RunCrew(options, callbacks, stop_);
  }

 private:
  replays::PlayLimits Limits() const {
    replays::PlayLimits limits;
    limits.cpu = crew_.play_limit;
    return limits;
  }

  HookReport Verify(const replays::CrewView& view, HookRequest request) {
    VerificationView how;
    how.go_on = [this, &view] { return !*view.stop && (go_on_ == nullptr || go_on_()); };
    how.playing = [this, &view](std::uint64_t play) {
      ++*plays_;
      view.part(play);
    };
    how.crashes = std::move(request.crashes);
    how.crashed_enough = request.crashed_enough;
    const HookToVerify& hook = hooks_[request.hook];
    return VerifyHere(hook.maker, hook.options, how);
  }

  std::optional<std::string> AddCrash(HookRequest request, std::uint64_t part, const Crash& crash) {
    if (part == 0 || request.crashes.size() >= kMostRestarts) {
      HookReport report;
      report.error = fmt::format("it crashes, each time in another place: {}", crash.Line());
      crew_.on_report(reported_++, std::move(report));
      return std::nullopt;
    }
    request.crashes[part] = crash;
    request.crashed_enough = request.crashes.size() >= kMostHookCrashes || TakesLong(crash);
    crashes_[reported_].try_emplace(crash.rule(), crash);
    return replays::Packed(request);
  }

  // A crash of a random case; other findings have been made small where they were found.
  void MakeSmall(HookFinding& finding) {
    if (!replays::IsCrashRule(finding.promise)) return;
    const Crash& crash = crashes_[reported_][finding.promise];
    const HookToVerify& hook = hooks_[reported_];
    if (!hook.options.player.command.empty()) return;
    const auto on_tick = [this] { return !stop_; };
    const auto fails = [&](const HookCase& candidate) {
      const auto play = [&](replays::CrashBoard&) {
        HookPlayer(hook.maker, hook.options).Play(candidate);
        return std::string();
      };
      const std::variant<std::string, Crash> end = replays::PlayApart(play, Limits(), on_tick);
      const Crash* const died = std::get_if<Crash>(&end);
      return died != nullptr && died->Signature() == crash.Signature();
    };
    finding.shrunk = ShrunkCase(finding.case_name, TakesLong(crash) ? kMostLongPlays : kMostCrashPlays, fails,
                                [this] { return stop_.load(); });
  }

  const std::vector<HookToVerify>& hooks_;
  const VerifyCrew& crew_;
  const std::function<bool()>& go_on_;
  const std::atomic<bool>& stop_;
  const replays::SharedMemory<std::atomic<std::uint64_t>> plays_ =
      replays::NewSharedMemory<std::atomic<std::uint64_t>>();  // counted in all processes
  std::size_t reported_ = 0;
  std::map<std::size_t, std::map<std::string, Crash>> crashes_;  // of a hook, the first of each kind
};

}  // namespace

HookReport VerifyHook(const HookMaker& maker, const VerifyOptions& options, const std::function<bool()>& go_on) {
  if (options.in_process || !replays::HasOneThread()) return VerifyHere(maker, options, {.go_on = go_on});
  HookReport report;
  const VerifyCrew crew{.jobs = 1,
                        .play_limit = options.play_limit,
                        .on_report = [&report](std::size_t, HookReport found) { report = std::move(found); }};
  const std::atomic<bool> never = false;
  VerifyingCrew({{maker, options}}, crew, go_on, never).Run();
  return report;
}

void VerifyHooks(const std::vector<HookToVerify>& hooks, const VerifyCrew& crew, const std::atomic<bool>& stop) {
  VerifyingCrew(hooks, crew, nullptr, stop).Run();
}

std::string ReportText(std::string_view name, const HookReport& report, std::string_view replay) {
  if (!report.error.empty()) return fmt::format("FAILED {}: {}\n", name, replays::Escaped(report.error));
  if (report.findings.empty() && report.stopped)
    return fmt::format("interrupted {}: nothing was found in {} plays\n", name, report.played);
  if (report.findings.empty()) return fmt::format("PASSED {}: {} plays\n", name, report.played);
  const auto crashes =
      static_cast<std::size_t>(std::ranges::count_if(report.findings, &replays::IsCrashRule, &HookFinding::promise));
  std::string text =
      fmt::format("FAILED {}: {}{} of {} promises broken in {} plays\n", name, crashes > 0 ? "it crashed, " : "",
                  report.findings.size() - crashes, HookPromises().size(), report.played);
  for (const HookFinding& finding : report.findings) {
    const HookPromise& promise = FindPromise(finding.promise);
    text += fmt::format("  {}: {}\n", finding.promise, promise.sentence);
    if (!finding.expected.empty()) text += fmt::format("    expected  {}\n", replays::Escaped(finding.expected));
    text += fmt::format("    actual    {}\n", replays::Escaped(finding.actual));
    for (const std::string& frame : finding.stack) text += fmt::format("    in        {}\n", replays::Escaped(frame));
    text += fmt::format("    advice    {}\n", promise.advice);
    if (!finding.shrunk.empty()) text += fmt::format("    shrunk    {}\n", replays::Escaped(finding.shrunk));
    const std::size_t place = replay.rfind("{}");  // a command before it may have braces in a path
    if (place == replay.npos) continue;
    text += fmt::format("    {}{}{}\n", replay.substr(0, place), replays::ShellWord(finding.case_name),
                        replay.substr(place + 2));
  }
  return text;
}

}  // namespace vigil
