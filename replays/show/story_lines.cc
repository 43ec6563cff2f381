#include "vigil/replays/show/story_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/show/event_text.h"
#include "vigil/replays/show/machines.h"

namespace vigil::replays {
namespace {

// Nothing, where it is what it must be.
std::optional<std::string> AnswerText(const sim::JobMoment& moment) {
  const sim::Answer& answer = *moment.answer;
  if (!answer.wrong.empty()) return fmt::format("hears {}", answer.wrong);
  if (moment.code == Code::kOk) return std::nullopt;
  return fmt::format("hears {} after {:.3f} s: {}", CodeName(moment.code), ToSeconds(answer.took), answer.text);
}

std::optional<std::string> RestText(const sim::JobMoment& moment) {
  if (moment.subject.empty() && moment.step == 0) return std::nullopt;
  return fmt::format("its server still holds {} graphs; {}", moment.step, moment.subject);
}

std::optional<std::string> OverdueText(const sim::Overdue& overdue) {
  if (overdue.session.empty()) return std::nullopt;
  return fmt::format("its server still holds graphs of {}, which is gone", overdue.session);
}

std::string StopText(const sim::JobMoment& moment) {
  if (moment.kind == sim::JobMoment::Kind::kToldToStop) return "is told to stop";
  return moment.subject.empty() ? "has stopped" : fmt::format("has stopped, and still holds {}", moment.subject);
}

std::string FoundText(const sim::JobMoment& moment) {
  if (moment.kind == sim::JobMoment::Kind::kFoundIncomplete)
    return fmt::format("finds the index of a checkpoint of step {}, but not all that it speaks of", moment.step);
  return fmt::format("finds {} bytes in its own file{}", moment.step,
                     moment.code == Code::kOk ? "" : ", which are not what it wrote");
}

// What events do not say.
std::optional<std::string> MomentText(const sim::JobMoment& moment) {
  using Kind = sim::JobMoment::Kind;
  switch (moment.kind) {
    case Kind::kStarted:
      return fmt::format("life {} begins", moment.life);
    case Kind::kServing:
      return "serves";
    case Kind::kOpened:
      return "has an open session";
    case Kind::kRunReturned:
      return fmt::format("run came back with step {}", moment.step);
    case Kind::kReplaced:
      return fmt::format("is what {} was: a new process follows", moment.subject);
    case Kind::kSaved:
      return fmt::format("checkpoint of step {} is complete", moment.step);
    case Kind::kInitFnBegan:
      return "its init_fn begins";
    case Kind::kEvaluated:
      return fmt::format("evaluated step {}", moment.step);
    case Kind::kEnded:
      return moment.code == Code::kOk ? "life ends cleanly" : fmt::format("life ends with {}", CodeName(moment.code));
    case Kind::kTaskLeft:
      return fmt::format("still runs: {}", moment.subject);
    case Kind::kAtRestSoon:
    case Kind::kAtRest:
      return RestText(moment);
    case Kind::kHolds:
      return OverdueText(*moment.overdue);
    case Kind::kToldToStop:
    case Kind::kHasStopped:
      return StopText(moment);
    case Kind::kDiverged:
      return "sees that the loss is NaN";
    case Kind::kCameBack:
      return fmt::format("comes back to a session after {} s: {}", moment.step, CodeName(moment.code));
    case Kind::kAnswered:
      return AnswerText(moment);
    case Kind::kDiaryFound:
    case Kind::kFoundIncomplete:
      return FoundText(moment);
    case Kind::kBegin:
      return "the plan begins";
    case Kind::kSession:
    case Kind::kRunStarted:
    case Kind::kRunFailed:
    case Kind::kAttempt:
    case Kind::kRecovery:
    case Kind::kRestored:
    case Kind::kInitialised:
    case Kind::kInitFnEnded:  // an event says so
    case Kind::kSawStep:
    case Kind::kFound:
    case Kind::kLogged:
    case Kind::kSavedInPlace:
    case Kind::kStopAsked:
    case Kind::kLeaves:
    case Kind::kApplied:
    case Kind::kAssigned:
    case Kind::kWritten:
    case Kind::kQueueCalled:
    case Kind::kQueueReturned:
    case Kind::kStepMade:
    case Kind::kStepSet:
    case Kind::kDiarySynced:
    case Kind::kHealed:  // the plan's own history says so
      return std::nullopt;
  }
  return std::nullopt;
}

bool IsAnEnd(const sim::JobMoment& moment) {
  return moment.kind == sim::JobMoment::Kind::kEnded || moment.kind == sim::JobMoment::Kind::kTaskLeft;
}

// The task without its node; "" for the main one.
std::string_view TaskOnNode(const sim::Trace& trace, const sim::TraceRecord& record) {
  std::string_view label = trace.TaskLabel(record);
  const std::string_view node = trace.NodeName(record);
  if (label.starts_with(node) && label.size() > node.size()) label.remove_prefix(node.size() + 1);
  return label == "main" ? "" : label;
}

}  // namespace

std::vector<StoryLine> StoryLines(const Played& played) {
  using Source = StoryLine::Source;
  const Machines machines(played.faults);
  std::vector<StoryLine> lines;
  for (std::size_t i = 0; i < played.faults.size(); ++i) {
    const sim::FaultApplier::Entry& entry = played.faults[i];
    lines.push_back({entry.at, 0, "", "", entry.text, Source::kFault, i});
  }
  for (std::size_t i = 0; i < played.history.size(); ++i) {
    const sim::JobMoment& moment = played.history[i];
    std::optional<std::string> text = MomentText(moment);
    if (!text.has_value()) continue;
    const Duration at = moment.at - played.start;
    lines.push_back({at, IsAnEnd(moment) ? 3 : 1, machines.Of(moment.task, at), "", *text, Source::kJob, i});
  }
  for (std::size_t i = 0; i < played.trace.size(); ++i) {
    const sim::TraceRecord& record = played.trace[i];
    const std::string_view node = played.trace.NodeName(record);
    if (node.empty()) continue;
    lines.push_back({record.time - played.start, 2, std::string(node), std::string(TaskOnNode(played.trace, record)),
                     EventText(record.event), Source::kEvent, i});
  }
  for (StoryLine& line : lines) line.text = Escaped(line.text);
  std::ranges::stable_sort(
      lines, [](const StoryLine& a, const StoryLine& b) { return std::pair(a.at, a.rank) < std::pair(b.at, b.rank); });
  return lines;
}

}  // namespace vigil::replays
