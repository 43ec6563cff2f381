#include "vigil/properties/explore/course_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/properties/explore/play_judgement.h"

namespace vigil::properties {
namespace {

using replays::Outcome;
using replays::Scenario;
using replays::Verdict;

// So long after the last one all faults are over, and how long the job may then take to its end: a worker may wait two
// hours for a session.
constexpr std::chrono::seconds kOver{6};
constexpr std::chrono::hours kToTheEnd{3};

}  // namespace

CourseSpace::CourseSpace(Scenario scenario) : scenario_(std::move(scenario)) {
  sim::JobSpec& job = *scenario_.job;
  job.plan.timed.clear();
  job.plan.rpcs.clear();
  job.plan.disks.clear();
  job.plan.session_calls.clear();
  job.heal_after.reset();
}

absl::Status CourseSpace::Prepare(replays::Runner& runner, const std::atomic<bool>& stop) {
  Outcome outcome = runner.Run(scenario_, {.interrupt = &stop, .quiet = false, .log_course = true});
  if (outcome.verdict == Verdict::kInterrupted) return absl::OkStatus();
  if (outcome.verdict != Verdict::kPlayed)
    return UsageError(fmt::format("Without faults the job does not come to its end: {}", outcome.reason));
  course_ = std::move(outcome.course);
  for (const sim::JobMoment& moment : outcome.history) {
    if (moment.kind == sim::JobMoment::Kind::kBegin) begin_ = moment.at - outcome.start;
  }
  const PlayJudgement play = JudgePlay(std::move(outcome), scenario_, nullptr, "");
  if (!play.kept())
    return UsageError(fmt::format("Without any fault the job breaks {}: look at that first (vigil replay)",
                                  play.rules.empty() ? play.What() : play.rules.front()));
  firsts_ = FaultsOf(course_);
  return absl::OkStatus();
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
