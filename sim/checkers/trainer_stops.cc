// Who trains and is told to stop (SIGTERM) ends by itself.
//
// A run that is under way is left to finish, whatever it waits for. Whoever waits for a session or for a model has
// nothing to finish: it hears of the stop, wherever it waits.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/reach.h"

namespace vigil::sim {
namespace {

// A request to a server which says nothing is given up after two minutes, and so is the goodbye to it.
constexpr std::chrono::minutes kEnds{5};

// Another fault of the plan keeps it from its end, or ends it before, which nobody notes.
bool IsDisturbed(const FaultPlan& plan, std::string_view task) {
  return std::ranges::any_of(plan.timed, [task](const TimedFault& fault) {
    using Faults = TimedFault::Kind;
    return fault.task == task && (fault.kind == Faults::kPause || fault.kind == Faults::kSlowNode ||
                                  fault.kind == Faults::kZombie || (fault.kind == Faults::kCrash && !fault.in_order));
  });
}

struct ToldLife {
  std::optional<Time> told;
  std::optional<Time> waits;  // for a session, with a model; since then
  bool reported = false;
};

class TrainerStops {
 public:
  TrainerStops(const JobRun& run, Findings& findings) : run_(run), findings_(findings) {}

  void See(const JobMoment& moment) {
    if (moment.task.empty() || IsServer(moment.task)) return;
    ToldLife& life = lives_[moment.task];
    Judge(moment, life);
    switch (moment.kind) {
      case JobMoment::Kind::kStarted:
        life = {.waits = moment.at};
        break;
      case JobMoment::Kind::kRecovery:
        life.waits = moment.at;
        break;
      case JobMoment::Kind::kSession:
        life.waits.reset();
        break;
      case JobMoment::Kind::kToldToStop:
        findings_.Arm();
        life.told = moment.at;
        break;
      case JobMoment::Kind::kEnded:
        life = {};
        break;
      default:
        break;
    }
  }
  void End(const JobMoment& last) {
    for (auto& [task, life] : lives_) {
      JobMoment moment = last;
      moment.task = task;
      Judge(moment, life);
    }
  }

 private:
  void Judge(const JobMoment& moment, ToldLife& life) {
    if (!life.told.has_value() || !life.waits.has_value() || life.reported || IsDisturbed(run_.spec.plan, moment.task))
      return;
    const Time since = std::max(*life.told, *life.waits);
    if (moment.at - since <= kEnds) return;
    life.reported = true;
    findings_.Violate(
        moment, fmt::format("an end within {:g} s of who waits for a session and is told to stop", ToSeconds(kEnds)),
        fmt::format("none in {:.0f} s", ToSeconds(moment.at - since)));
  }

  const JobRun& run_;
  Findings& findings_;
  std::map<std::string, ToldLife, std::less<>> lives_;
};

void CheckTrainerStops(const JobRun& run, Findings& findings) {
  TrainerStops stops(run, findings);
  for (const JobMoment& moment : run.history) stops.See(moment);
  if (!run.history.empty()) stops.End(run.history.back());
}

}  // namespace

const Checker kTrainerStops = {
    .id = "job.told_to_stop_ends",
    .sentence =
        "Who trains and is told to stop while it waits for a session or for a model has ended within five minutes, "
        "whatever it waits for.",
    .source = "core/env/stop_request.h: what waits hears of it, what runs is left to finish",
    .check = CheckTrainerStops,
    .excuses = "runs that are under way; tasks which another entry of the plan stops, slows, kills or takes for dead",
    .why = "a run is left to finish; a process that stands still hears of nothing, and when one is killed nobody notes",
};

}  // namespace vigil::sim
