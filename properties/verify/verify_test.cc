#include "vigil/properties/verify/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/properties/generators/scenarios.h"
#include "vigil/properties/verify/cases.h"
#include "vigil/properties/verify/findings.h"
#include "vigil/properties/verify/outside/outside.h"
#include "vigil/properties/verify/verify_hook.h"
#include "vigil/replays/stage/builtin_hooks.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Stops at step 4; what else it does each test says.
class StopsLate : public SessionRunHook {
 public:
  explicit StopsLate(Output step) : step_(step) {}
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args.fetches = step_;
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    if (values.results.scalar<std::int64_t>() >= 4) context.RequestStop();
    return absl::OkStatus();
  }

 private:
  const Fetches step_;
};

// Counts in BeforeRun, and so counts runs that fail.
class CountsInBeforeRun : public SessionRunHook {
 public:
  absl::Status Begin(BeginContext&) override {
    runs_ = 0;
    return absl::OkStatus();
  }
  absl::Status BeforeRun(RunContext&, RunArgs&) override {
    ++runs_;
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    if (runs_ >= 5) context.RequestStop();
    return absl::OkStatus();
  }

 private:
  int runs_ = 0;
};

std::vector<std::string_view> PromisesOf(const HookReport& report) {
  std::vector<std::string_view> ids;
  for (const HookFinding& finding : report.findings) ids.push_back(finding.promise);
  return ids;
}

absl::StatusOr<HookPtr> MakeStopsLate(HookWorld& w) { return std::make_shared<StopsLate>(w.train_op()); }
absl::StatusOr<HookPtr> MakeCounts(HookWorld&) { return std::make_shared<CountsInBeforeRun>(); }

VIGIL_VERIFY_HOOK(StopsLate, [](HookWorld& w) { return std::make_unique<StopsLate>(w.train_op()); });
VIGIL_VERIFY_HOOK(StopsLateWithoutRandom, MakeStopsLate, VerifyOptions{.scenarios = 0});

TEST(VerifyHook, FindsWhatCountsInBeforeRunAndNothingElse) {
  const HookReport report = VerifyHook(MakeCounts);
  EXPECT_EQ(report.error, "");
  ASSERT_THAT(PromisesOf(report), ElementsAre(promise::kRepeat));
  EXPECT_EQ(report.findings[0].case_name, "run_repeated_1.monitored");
  EXPECT_EQ(report.findings[0].expected, "asks for a stop after step 5, as in calm.monitored.probes");
  EXPECT_EQ(report.findings[0].actual, "asks for a stop after step 4");
}

TEST(VerifyHook, PlaysOneCaseAgainWithItsEvents) {
  const HookReport report = VerifyHook(MakeCounts, {.only = "run_repeated_1.monitored"});
  EXPECT_THAT(PromisesOf(report), ElementsAre(promise::kRepeat));
  EXPECT_EQ(report.played, 2U);  // and the calm one
  EXPECT_THAT(report.events, testing::Contains(HasSubstr("hook verified before_run")));
  EXPECT_TRUE(VerifyHook(MakeCounts, {.only = "calm.monitored.alone"}).ok());
  EXPECT_TRUE(VerifyHook(MakeStopsLate, {.only = "random_17"}).ok());
  EXPECT_EQ(VerifyHook(MakeCounts, {.only = "random_x"}).error, "there is no case 'random_x'");
}

// Gives up after the second recovery, which no enumerated case goes beyond.
class GivesUp : public SessionRunHook {
 public:
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    return context.recoveries() > 2 ? MakeStatus(Code::kInternal, "enough") : absl::OkStatus();
  }
};

TEST(VerifyHook, MakesARandomCaseSmall) {
  const HookReport report = VerifyHook([](HookWorld&) { return std::make_unique<GivesUp>(); }, {.scenarios = 3000});
  ASSERT_THAT(PromisesOf(report), ElementsAre(promise::kFails));
  EXPECT_THAT(report.findings[0].case_name, testing::StartsWith("random_"));
  EXPECT_THAT(report.findings[0].shrunk, HasSubstr("probe verified"));
  EXPECT_LT(report.findings[0].events.size(), 60U);
}

TEST(VerifyHook, SaysWhatTheMakerFailsWith) {
  const HookReport report =
      VerifyHook([](HookWorld&) -> absl::StatusOr<HookPtr> { return UsageError("no such tensor"); });
  EXPECT_THAT(report.error, HasSubstr("no such tensor"));
  EXPECT_EQ(report.played, 1U);
  EXPECT_THAT(VerifyHook([](HookWorld&) { return HookPtr(); }).error, HasSubstr("null"));
}

TEST(VerifyHook, TakesLeaveForWhatItIs) {
  EXPECT_THAT(PromisesOf(VerifyHook(MakeStopsLate, {.may_request_stop = false})), ElementsAre(promise::kStop));
}

// As a library may that samples itself. How often the machine is asked must not decide which plays there are.
class OpensAFileOnce : public StopsLate {
 public:
  OpensAFileOnce(Output step, bool& opened) : StopsLate(step), opened_(opened) {}
  absl::Status Begin(BeginContext&) override {
    if (!std::exchange(opened_, true)) std::fclose(std::fopen("/dev/null", "r"));
    return absl::OkStatus();
  }

 private:
  bool& opened_;
};

TEST(VerifyHook, LooksTwiceAtWhatIsSeenOfTheMachineAndCountsItOnce) {
  bool opened = false;
  const HookReport once = VerifyHook(
      [&opened](HookWorld& w) { return std::make_unique<OpensAFileOnce>(w.train_op(), opened); }, {.scenarios = 20});
  EXPECT_TRUE(once.ok());
  EXPECT_EQ(once.played, VerifyHook(MakeStopsLate, {.scenarios = 20}).played);
}

TEST(VerifyHook, EndsWhenItIsToldTo) {
  int asked = 0;
  const HookReport report = VerifyHook(MakeStopsLate, {}, [&asked] { return ++asked <= 3; });
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.played, 3U);
}

TEST(VerifyHook, TheReportNamesPromiseProofAndTheLineThatPlaysItAgain) {
  EXPECT_EQ(
      ReportText("counts", VerifyHook(MakeCounts, {.only = "run_repeated_1.monitored"}), "again a{}b {}"),
      "FAILED counts: 1 of 26 promises broken in 2 plays\n"
      "  hook.before_run_not_idempotent: BeforeRun may be called again for the same step: the run in between failed\n"
      "    expected  asks for a stop after step 5, as in calm.monitored.probes\n"
      "    actual    asks for a stop after step 4\n"
      "    advice    Count in AfterRun, which is called for runs that have happened.\n"
      "    again a{}b run_repeated_1.monitored\n");
}

TEST(VerifyHook, FindsWhatIsThrownAndNoException) {
  class ThrowsANumber : public SessionRunHook {
   public:
    absl::Status AfterRun(RunContext&, const RunValues&) override { throw 7; }
  };
  const HookReport report = VerifyHook([](HookWorld&) { return std::make_unique<ThrowsANumber>(); }, {.scenarios = 0});
  ASSERT_THAT(PromisesOf(report), ElementsAre(promise::kThrows));
  EXPECT_EQ(report.findings[0].actual,
            "throws \"a callback threw something that is not a std::exception\" in after_run after step 1");
}

// Tells of the first of two calls that fail.
class PassesOnTheFirst : public SessionRunHook {
 public:
  explicit PassesOnTheFirst(Output unfed) : unfed_(unfed) {}
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    const absl::Status first = RunFetch(context.session(), {.node = 1'000'000}).status();
    RunFetch(context.session(), unfed_).IgnoreError();
    return first;
  }

 private:
  const Output unfed_;
};

TEST(VerifyHook, PassesOnAnyOfWhatItsCallsHaveFailedWith) {
  const HookMaker maker = [](HookWorld& w) -> absl::StatusOr<HookPtr> {
    Builder b(w.graph());
    const Output unfed = b.Op("Placeholder", {}, {.name = "unfed", .attrs = {{"dtype", DType::kFloat}}});
    if (!b.status().ok()) return b.status();
    return std::make_shared<PassesOnTheFirst>(unfed);
  };
  EXPECT_THAT(PromisesOf(VerifyHook(maker, {.scenarios = 0})), IsEmpty());
}

// What is of another graph is an error of the session, as without a verifier.
TEST(VerifyHook, OutlivesTensorsOfAnotherGraph) {
  class FetchesAnothers : public SessionRunHook {
   public:
    absl::Status AfterRun(RunContext& context, const RunValues&) override {
      return CodeOf(RunTarget(context.session(), 1'000'000)) == Code::kUsage ? absl::OkStatus() : UsageError("it runs");
    }
  };
  class FeedsAnothers : public SessionRunHook {
   public:
    absl::Status BeforeRun(RunContext&, RunArgs& args) override {
      args.feeds = {{{.node = 1'000'000}, Tensor::Scalar<std::int64_t>(1)}};
      return absl::OkStatus();
    }
  };
  const VerifyOptions few{.scenarios = 0};
  EXPECT_THAT(PromisesOf(VerifyHook([](HookWorld&) { return std::make_unique<FetchesAnothers>(); }, few)), IsEmpty());
  EXPECT_THAT(PromisesOf(VerifyHook([](HookWorld&) { return std::make_unique<FeedsAnothers>(); }, few)), IsEmpty());
}

TEST(VerifyHook, MayWriteIntoAFolderHoweverItIsSaid) {
  class Writes : public SessionRunHook {
   public:
    explicit Writes(const Env& env) : env_(env) {}
    absl::Status Begin(BeginContext&) override { return env_.files->MakeDirectory("/notes"); }
    absl::Status End(Session*) override { return WriteAtomically(*env_.files, "/notes/end", "4"); }

   private:
    const Env env_;
  };
  const HookMaker maker = [](HookWorld& w) { return std::make_unique<Writes>(w.env()); };
  const auto promises = [&maker](const std::string& folder) {
    const HookReport report = VerifyHook(maker, {.may_write = {folder}, .only = "calm.monitored.alone"});
    return report.findings.empty() ? "" : report.findings[0].promise;
  };
  EXPECT_EQ(promises("/notes"), "");
  EXPECT_EQ(promises("/notes/"), "");
  EXPECT_EQ(promises("/"), "");
  EXPECT_EQ(promises("/note"), promise::kWrites);
}

// Two recoveries and a step later it is too much for it.
class DiesAfterTwoRecoveries : public SessionRunHook {
 public:
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    VIGIL_CHECK(context.recoveries() <= 2);
    return absl::OkStatus();
  }
};

TEST(VerifyHook, ACrashIsAFindingThatIsMadeSmallAndPlayedAgain) {
  const HookMaker maker = [](HookWorld&) { return std::make_unique<DiesAfterTwoRecoveries>(); };
  const HookReport report = VerifyHook(maker, {.scenarios = 3000});
  ASSERT_THAT(PromisesOf(report), ElementsAre("crash.check_failed"));
  const HookFinding& finding = report.findings[0];
  EXPECT_THAT(finding.case_name, testing::StartsWith("random_"));
  EXPECT_THAT(finding.shrunk, HasSubstr("probe verified"));
  EXPECT_THAT(finding.stack, testing::Contains(HasSubstr("DiesAfterTwoRecoveries")));
  const HookReport again = VerifyHook(maker, {.only = finding.case_name});
  EXPECT_THAT(PromisesOf(again), ElementsAre("crash.check_failed"));
  EXPECT_EQ(again.played, 1U);
  EXPECT_THAT(ReportText("dies", again, "again {}"),
              testing::StartsWith("FAILED dies: it crashed, 0 of 26 promises broken in 1 plays\n"
                                  "  crash.check_failed: a hook leaves its process alive"));
}

// The same process that plays right there has what the hook does to it.
TEST(VerifyHook, PlaysRightHereIfItIsToldTo) {
  int made = 0;
  const HookMaker maker = [&made](HookWorld& w) {
    ++made;
    return std::make_unique<StopsLate>(w.train_op());
  };
  EXPECT_TRUE(VerifyHook(maker, {.scenarios = 0}).ok());
  EXPECT_EQ(made, 0);
  const HookReport here = VerifyHook(maker, {.scenarios = 0, .in_process = true});
  EXPECT_TRUE(here.ok());
  EXPECT_GE(static_cast<std::uint64_t>(made), here.played);
}

TEST(VerifyHooks, FindsTheSameWithAnyNumberOfJobs) {
  const HookMaker dies = [](HookWorld&) -> absl::StatusOr<HookPtr> {
    return std::make_shared<DiesAfterTwoRecoveries>();
  };
  const std::vector<HookToVerify> hooks = {
      {MakeStopsLate, {.scenarios = 20}}, {dies, {.scenarios = 200}}, {MakeCounts, {.scenarios = 20}}};
  const auto texts = [&hooks](int jobs) {
    std::vector<std::string> told;
    const std::atomic<bool> never = false;
    VerifyHooks(hooks,
                {.jobs = jobs,
                 .on_report =
                     [&told](std::size_t i, const HookReport& report) {
                       EXPECT_EQ(i, told.size());
                       told.push_back(ReportText(std::to_string(i), report, "again {}"));
                     }},
                never);
    return told;
  };
  const std::vector<std::string> one = texts(1);
  EXPECT_EQ(one.size(), 3U);
  EXPECT_EQ(texts(3), one);
}

TEST(HookCases, HaveNamesOfTheirOwnAndComeAfterWhatTheyAreLike) {
  std::set<std::string> names;
  for (const HookCase& c : EnumeratedCases()) {
    EXPECT_TRUE(names.insert(c.name).second) << c.name;
    if (c.relation != HookRelation::kNone) {
      EXPECT_TRUE(names.contains(c.like)) << c.name << " is like " << c.like;
    }
  }
  EXPECT_GT(names.size(), 200U);
}

TEST(HookCases, HaveTheHookInEachRandomOne) {
  int supervisors = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    using replays::SessionKind;
    supervisors += properties::RandomScenario(seed).session.kind == SessionKind::kSupervisor ? 1 : 0;
    const HookCase drawn = RandomCase(seed);
    EXPECT_EQ(drawn.scenario.id, drawn.name);
    EXPECT_NE(drawn.scenario.session.kind, SessionKind::kSupervisor) << seed;
    EXPECT_EQ(std::ranges::count(drawn.scenario.hooks, replays::kForeignHook, &replays::HookSpec::hook), 1) << seed;
    EXPECT_EQ(RandomCase(seed).scenario, drawn.scenario) << seed;
  }
  EXPECT_GT(supervisors, 10);
}

TEST(Promises, AreSaidOnceEach) {
  std::set<std::string_view> ids;
  for (const HookPromise& promise : HookPromises()) {
    EXPECT_TRUE(ids.insert(promise.id).second) << promise.id;
    EXPECT_TRUE(promise.id.starts_with("hook.")) << promise.id;
    EXPECT_EQ(&FindPromise(promise.id), &promise);
  }
}

TEST(Outside, IsSeenWhileSomebodyWatches) {
  OutsideCalls calls;
  OutsideCalls* const before = WatchOutside(&calls);
  const auto seen = [&calls](OutsideKind kind) {
    return calls.first[static_cast<std::size_t>(kind)].load() != nullptr;
  };
  EXPECT_FALSE(seen(OutsideKind::kRandom));
  static_cast<void>(random());
  EXPECT_TRUE(seen(OutsideKind::kRandom));
  EXPECT_EQ(WatchOutside(before), &calls);
  EXPECT_EQ(before, nullptr);
}

}  // namespace
}  // namespace vigil
