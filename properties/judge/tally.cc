#include "vigil/properties/judge/tally.h"

#include <set>
#include <string_view>
#include <utility>

namespace vigil::properties {
namespace {

// The seam at which this event failed; "" = it did not.
std::string SeamOf(const Event& event) {
  if (event.code == Code::kOk) return "";
  switch (event.kind) {
    case EventKind::kHookReturn:
      return "hook " + std::string(HookMethodName(HookMethod{event.call}));
    case EventKind::kSessionCreateFailed:
      return "create";
    case EventKind::kSessionCall:
      return std::string(CallKindName(CallKind{event.call}));
    case EventKind::kInitFn:
      return "init_fn";
    case EventKind::kQueueRunners:
      return "queue_runners";
    default:
      return "";
  }
}

bool IsClean(Code code) { return code == Code::kOk || IsCleanEndCode(code); }

// What the distribution of scenarios is judged by.
std::string_view FeatureOf(const Event& event) {
  using replays::Note;
  switch (event.kind) {
    case EventKind::kRecovery:
      return "recovery";
    case EventKind::kCloseStart:
      return IsClean(event.code) ? "clean end" : "unclean end";
    case EventKind::kHookRequestsStop:
      return "stop request";
    case EventKind::kCoordinatorRequestStop:
      return event.code == Code::kOk ? "" : "reported error";
    case EventKind::kQueueRunners:
      return "queue runners";
    case EventKind::kShouldStop:
      return event.value != 0 ? "should_stop says yes" : "";
    case EventKind::kSessionCall:
      return event.call == static_cast<std::uint8_t>(CallKind::kRestore) ? "restore" : "";
    case EventKind::kRunStart:
      return event.call == 0 ? "run" : "step function";
    case EventKind::kNote:
      return event.call == static_cast<std::uint8_t>(Note::kConstructFailed) ? "construction failed" : "";
    default:
      return "";
  }
}

void AddAll(std::map<std::string, std::uint64_t>& to, const std::map<std::string, std::uint64_t>& from) {
  for (const auto& [name, count] : from) to[name] += count;
}

}  // namespace

Tally::Tally() : armed(AllRules().size()), violated(AllRules().size()) {}

void Tally::Add(const replays::Outcome& outcome, const Judgement& judgement) {
  ++scenarios;
  for (std::size_t i = 0; i < armed.size(); ++i) armed[i] += judgement.armed[i];
  for (const Violation& violation : judgement.violations) ++violated[violation.number];
  std::set<std::string_view> seen;
  for (const sim::TraceRecord& record : outcome.trace) {
    if (std::string seam = SeamOf(record.event); !seam.empty()) {
      ++fired[std::move(seam)];
      seen.insert("fault");
    }
    if (!IsDetail(record.event.kind)) seen.insert(FeatureOf(record.event));
  }
  seen.erase("");
  if (seen.contains("stop request") && seen.contains("recovery")) seen.insert("stop request and recovery");
  if (seen.contains("clean end") && seen.contains("fault")) seen.insert("fault and clean end");
  for (const std::string_view feature : seen) ++features[std::string(feature)];
}

void Tally::Add(const Tally& other) {
  scenarios += other.scenarios;
  for (std::size_t i = 0; i < armed.size(); ++i) {
    armed[i] += other.armed[i];
    violated[i] += other.violated[i];
  }
  AddAll(fired, other.fired);
  AddAll(features, other.features);
  modelled += other.modelled;
  AddAll(refused, other.refused);
}

void Tally::AddRules(const std::vector<std::uint64_t>& times_armed,
                     const std::map<std::string, std::uint64_t>& broken) {
  for (std::size_t i = 0; i < armed.size(); ++i) {
    armed[i] += times_armed[i];
    const auto found = broken.find(std::string(AllRules()[i]()->info().id));
    if (found != broken.end()) violated[i] += found->second;
  }
}

void Tally::Add(const ModelComparison& says) {
  if (says.refused.empty()) {
    ++modelled;
  } else {
    ++refused[says.refused];
  }
}

double Tally::Share(const std::string& feature) const {
  const auto found = features.find(feature);
  if (found == features.end() || scenarios == 0) return 0;
  return static_cast<double>(found->second) / static_cast<double>(scenarios);
}

std::vector<std::string> Seams() {
  return {"create",
          "init",
          "init_fn",
          "restore",
          "ready_for_local_init",
          "local_init",
          "ready",
          "queue_runners",
          "run",
          "read_step",
          "raw_run",
          "close",
          "hook begin",
          "hook after_create_session",
          "hook before_run",
          "hook after_run",
          "hook end"};
}

}  // namespace vigil::properties
