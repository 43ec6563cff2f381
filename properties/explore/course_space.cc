#include "vigil/properties/explore/course_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/properties/explore/play_judgement.h"
#include "vigil/replays/crew/crew.h"
#include "vigil/replays/crew/packed.h"

namespace vigil::properties {
namespace {

using replays::Outcome;
using replays::Scenario;
using replays::Verdict;

// So long after the last one all faults are over, and how long the job may then take to its end: a worker may wait two
// hours for a session.
constexpr std::chrono::seconds kOver{6};
constexpr std::chrono::hours kToTheEnd{3};

// What a worker sends back.
struct PlayWithoutFaults {
  std::string wrong;  // why no faults are put into it; "" = nothing, and if there is no course it was interrupted
  sim::CourseLog course;
  Duration begin{0};
};
template <typename Archive>
void PackFields(Archive& archive, PlayWithoutFaults& play) {
  archive(play.wrong, play.course, play.begin);
}

PlayWithoutFaults PlayScenario(const Scenario& scenario, const std::atomic<bool>& stop) {
  PlayWithoutFaults without;
  replays::Runner runner;
  Outcome outcome = runner.Run(scenario, {.interrupt = &stop, .quiet = false, .log_course = true});
  if (outcome.verdict == Verdict::kInterrupted) return without;
  if (outcome.verdict != Verdict::kPlayed) {
    without.wrong = fmt::format("Without faults the job does not come to its end: {}", outcome.reason);
    return without;
  }
  without.course = std::move(outcome.course);
  for (const sim::JobMoment& moment : outcome.history) {
    if (moment.kind == sim::JobMoment::Kind::kBegin) without.begin = moment.at - outcome.start;
  }
  const PlayJudgement play = JudgePlay(std::move(outcome), scenario, nullptr, "");
  if (!play.kept()) {
    without.wrong = fmt::format("Without any fault the job breaks {}: look at that first (vigil replay)",
                                play.rules.empty() ? play.What() : play.rules.front());
  }
  return without;
}

}  // namespace

CourseSpace::CourseSpace(Scenario scenario) : scenario_(std::move(scenario)) {
  sim::JobSpec& job = *scenario_.job;
  job.plan.timed.clear();
  job.plan.rpcs.clear();
  job.plan.disks.clear();
  job.plan.session_calls.clear();
  job.heal_after.reset();
}

absl::StatusOr<std::optional<replays::Crash>> CourseSpace::Prepare(int jobs, const replays::PlayLimits& limits,
                                                                   const std::atomic<bool>& stop) {
  PlayWithoutFaults play;
  std::optional<replays::Crash> crashed;
  const replays::CrewCallbacks crew = replays::OneRequest(
      [this](const replays::CrewView& view) { return replays::Packed(PlayScenario(scenario_, *view.stop)); },
      [&play](const std::string& reply) { play = replays::Unpacked<PlayWithoutFaults>(reply); },
      [&crashed](const replays::Crash& crash) { crashed = crash; });
  const replays::CrewSummary worked =
      replays::RunCrew({.jobs = std::min(jobs, 1), .ahead = 1, .limits = limits, .leaks = false}, crew, stop);
  if (worked.given_up)
    return MakeStatus(Code::kInternal, "The job could not be played without faults: its process ended time and again.");
  if (!play.wrong.empty()) return UsageError(play.wrong);
  course_ = std::move(play.course);
  begin_ = play.begin;
  firsts_ = FaultsOf(course_);
  return crashed;
}

Scenario CourseSpace::With(const FaultChain& chain) const {
  Scenario scenario = scenario_;
  sim::JobSpec& job = *scenario.job;
  for (const CourseFault& fault : chain) {
    AddTo(job.plan, fault);
    job.heal_after = std::max(Duration(0), fault.point.time - begin_) + kOver;
    job.limit = *job.heal_after + kToTheEnd;
    scenario.id += "_" + NameOf(fault);
  }
  return scenario;
}

sim::CourseLog CourseSpace::After(const FaultChain& chain, sim::CourseLog course) {
  if (chain.empty()) return course;
  const auto at = std::ranges::find(course, chain.back().point.at, &sim::CoursePoint::at);
  if (at == course.end()) return {};
  course.erase(course.begin(), at + 1);
  return course;
}

std::vector<CourseFault> CourseSpace::Next(const FaultChain& chain, replays::Runner& runner,
                                           const std::atomic<bool>& stop) const {
  Outcome outcome = runner.Run(With(chain), {.interrupt = &stop, .quiet = false, .log_course = true});
  if (outcome.verdict == Verdict::kInterrupted) return {};
  return FaultsOf(After(chain, std::move(outcome.course)));
}

}  // namespace vigil::properties
