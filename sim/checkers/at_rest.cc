// What a job leaves behind on servers that live on.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "vigil/core/base/code.h"
#include "vigil/sim/checkers/checker.h"

namespace vigil::sim {
namespace {

constexpr std::string_view kLoseRequests[] = {"cut",          "one_way_cut",    "message_loss", "refused_rpc",
                                              "lost_request", "never_answered", "reset"};

// A master that died, or whose words were lost, cannot tell the other servers which graphs and values it does
// not need any more.
bool EveryGoodbyeWasHeard(const JobRun& run) {
  std::map<std::string, int, std::less<>> lives;  // that have begun and not ended
  for (const JobMoment& moment : run.history) {
    if (moment.task.starts_with("ps")) continue;
    if (moment.kind == JobMoment::Kind::kStarted) ++lives[moment.task];
    if (moment.kind == JobMoment::Kind::kEnded) --lives[moment.task];
  }
  return std::ranges::all_of(lives, [](const auto& entry) { return entry.second == 0; }) &&
         std::ranges::none_of(run.facts.faults, [](const FaultCount& fault) {
           return fault.fired > 0 && std::ranges::find(kLoseRequests, fault.kind) != std::end(kLoseRequests);
         });
}

void CheckAtRest(const JobRun& run, Findings& findings) {
  const bool all = EveryGoodbyeWasHeard(run);
  std::map<std::string, Code, std::less<>> ends;  // of the last life
  for (const JobMoment& moment : run.history) {
    if (moment.kind == JobMoment::Kind::kEnded) ends[moment.task] = moment.code;
  }
  for (const JobMoment& moment : run.history) {
    if (moment.kind != JobMoment::Kind::kAtRest) continue;
    // Of a program that fails a last step may still be on its way out.
    if (moment.task.starts_with("ps") ? !all : ends[moment.task] != Code::kOk) continue;
    findings.Arm();
    if (!moment.subject.empty()) findings.Violate(moment, "a server that holds nothing for anybody", moment.subject);
    if (moment.step > 0)
      findings.Violate(moment, "a server that keeps no graph", fmt::format("{} graphs", moment.step));
  }
}

}  // namespace

const Checker kResourcesReturn = {
    .id = "job.resources_return",
    .sentence =
        "A program that ends cleanly leaves no step and no session on its server; when every fault has ended and every "
        "training task has gone, the servers that live on keep no step, graph or request of anybody.",
    .source = "MasterSession::Close: tells the workers to forget the graphs; TensorFlow's CleanupGraph",
    .check = CheckAtRest,
    .excuses =
        "servers that live on where a training task died without a word, or a fault took a request away; programs that "
        "end with an error",
    .why = "nobody tells the servers again what is not needed any more; a step that failed may still be on its way out",
};

}  // namespace vigil::sim
