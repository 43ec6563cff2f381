#include "vigil/replays/stage/listener.h"

#include <algorithm>
#include <string>

#include "vigil/replays/stage/notes.h"

namespace vigil::replays {

absl::StatusOr<bool> Listener::Act(ListenerMethod method) {
  const std::int64_t call = ++calls_[static_cast<std::size_t>(method)];
  for (const PlanEntry& entry : spec_.plan) {
    if (entry.method != ListenerMethodName(method)) continue;
    if (std::ranges::find(entry.calls, call) == entry.calls.end()) continue;
    const bool raises = entry.action == Action::kRaise;
    const Note note = raises ? Note::kListenerRaises : Note::kListenerRequestsStop;
    env_.Emit(
        {.kind = EventKind::kNote, .code = entry.code, .call = static_cast<std::uint8_t>(note), .subject = spec_.name});
    if (raises) return MakeStatus(entry.code, "scenario " + std::string(CodeName(entry.code)));
    return true;
  }
  return false;
}

absl::Status Listener::Begin(BeginContext&) { return Act(ListenerMethod::kBegin).status(); }

absl::Status Listener::BeforeSave(Session&, std::int64_t) { return Act(ListenerMethod::kBeforeSave).status(); }

absl::StatusOr<bool> Listener::AfterSave(Session&, std::int64_t) { return Act(ListenerMethod::kAfterSave); }

absl::Status Listener::End(Session&, std::int64_t) { return Act(ListenerMethod::kEnd).status(); }

}  // namespace vigil::replays
