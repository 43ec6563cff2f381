#include "vigil/replays/trace_script.h"

#include <algorithm>

#include "vigil/core/base/code.h"
#include "vigil/replays/compare.h"
#include "vigil/replays/trace_text.h"

namespace vigil::replays {

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
  if (!parted_) ApplyRequests(LateInGap());
}

std::size_t TraceScript::LateInGap() const {
  const auto late = late_.find(at_);
  return late == late_.end() ? 0 : late->second;
}

void TraceScript::Emit(const Event& event) {
  if (mutes_ > 0 || stopped_) return;
  if (!parted_) Follow(event);
  if (stopped_) return;
  inner_.Emit(event);
  lines_.push_back(TraceLine(event));
  if (!parted_) {
    time_ = std::max(time_, trace_.events[at_].time);
    ++at_;
    ApplyRequests(LateInGap());
  } else if (++after_parting_ > kContextLines) {
    Stop();
  }
}

// Whether the layer still does what was recorded.
void TraceScript::Follow(const Event& event) {
  ApplyRequests(0);
  if (at_ == trace_.events.size()) {
    if (!trace_.complete) return Stop();
    return Part();
  }
  if (TraceLine(event) != TraceLine(trace_.events[at_].event)) Part();
}

std::size_t TraceScript::RequestsInGap() const {
  std::size_t count = 0;
  while (next_request_ + count < trace_.requests.size() && trace_.requests[next_request_ + count].before <= at_)
    ++count;
  return count;
}

void TraceScript::ApplyRequests(std::size_t late) {
  for (std::size_t left = RequestsInGap(); left > late; --left) {
    const TracedRequest& request = trace_.requests[next_request_];
    if (!coordinators_.contains(request.session)) return;
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
