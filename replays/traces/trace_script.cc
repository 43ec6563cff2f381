#include "vigil/replays/traces/trace_script.h"

#include <algorithm>

#include "vigil/core/base/code.h"
#include "vigil/replays/judge/compare.h"
#include "vigil/replays/show/trace_text.h"

namespace vigil::replays {
namespace {

// Emitted while the coordinator's lock is held: the request of another task can only take effect behind it.
bool IsUnderLock(const Event& event) { return event.kind == EventKind::kCoordinatorRequestStop; }

}  // namespace

const TracedEvent* TraceScript::Next() {
  if (parted_ || stopped_) return nullptr;
  if (at_ < trace_.events.size()) return &trace_.events[at_];
  if (!trace_.complete) Stop();
  return nullptr;
}

const Event* TraceScript::Ahead(std::size_t ahead) const {
  return at_ + ahead < trace_.events.size() ? &trace_.events[at_ + ahead].event : nullptr;
}

void TraceScript::Part() { parted_ = true; }

void TraceScript::Stop() {
  stopped_ = true;
  stop_();
}

std::shared_ptr<Coordinator> TraceScript::FindCoordinator(std::int64_t session) const {
  const auto it = coordinators_.find(session);
  return it == coordinators_.end() ? nullptr : it->second.lock();
}

void TraceScript::Know(std::int64_t session, const std::shared_ptr<Coordinator>& coordinator) {
  coordinators_[session] = coordinator;
  if (!parted_) ApplyRequests(/*decided=*/false);
}

void TraceScript::Emit(const Event& event) {
  // What a run is made of here is the script's own.
  if (mutes_ > 0 || stopped_ || IsDetail(event.kind)) return;
  if (!parted_) Follow(event);
  if (stopped_) return;
  inner_.Emit(event);
  lines_.push_back(TraceLine(event));
  if (!parted_) {
    time_ = std::max(time_, trace_.events[at_].time);
    ++at_;
    if (!IsUnderLock(event)) ApplyRequests(/*decided=*/false);
  } else if (++after_parting_ > kContextLines) {
    Stop();
  }
}

// Whether the layer still does what was recorded.
void TraceScript::Follow(const Event& event) {
  if (!IsUnderLock(event)) ApplyRequests(/*decided=*/true);
  if (at_ == trace_.events.size()) {
    if (!trace_.complete) return Stop();
    return Part();
  }
  if (TraceLine(event) != TraceLine(trace_.events[at_].event)) Part();
}

void TraceScript::ApplyRequests(bool decided) {
  while (next_request_ < trace_.requests.size()) {
    const TracedRequest& request = trace_.requests[next_request_];
    if (request.before > at_ || !coordinators_.contains(request.session)) return;
    const auto late = late_.find(next_request_);
    if (late != late_.end() && (late->second > at_ || (late->second == at_ && !decided))) return;
    ++next_request_;
    const std::shared_ptr<Coordinator> coordinator = FindCoordinator(request.session);
    if (coordinator == nullptr) continue;
    Mute();
    const absl::Status error =
        request.code == Code::kOk ? absl::OkStatus() : MakeStatus(request.code, "recorded: another task's error");
    coordinator->RequestStop(error).IgnoreError();
    Unmute();
  }
}

void TraceScript::SleepUntil(Time deadline) {
  const Duration recorded = at_ < trace_.events.size() ? trace_.events[at_].time : deadline.since_epoch;
  time_ = std::max(time_, std::min(deadline.since_epoch, recorded));
}

}  // namespace vigil::replays
