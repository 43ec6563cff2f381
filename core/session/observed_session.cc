#include "vigil/core/session/observed_session.h"

#include <utility>

#include "vigil/core/base/atomic.h"
#include "vigil/core/base/code.h"
#include "vigil/core/session/classify.h"

namespace vigil {
namespace {

// Readiness is told by a list of names: nobody is missing.
bool IsReady(const std::vector<Tensor>& fetched) {
  return fetched.empty() || fetched[0].dtype() != DType::kString || fetched[0].num_elements() == 0;
}

void AddAnswer(CallKind kind, const std::vector<Tensor>& fetched, Event& event) {
  if (kind == CallKind::kReady || kind == CallKind::kReadyForLocalInit) {
    event.has_value = true;
    event.value = IsReady(fetched) ? 1 : 0;
  } else if (kind == CallKind::kReadStep && !fetched.empty()) {
    event.has_value = fetched[0].AsNumber(&event.value);
  }
}

// An op may say "not ready" by failing, which is told from other failures by its text alone.
void AddRefusal(CallKind kind, const absl::Status& status, Event& event) {
  if (kind != CallKind::kReady && kind != CallKind::kReadyForLocalInit) return;
  event.has_value = MessageOf(status).find("uninitialized") != std::string_view::npos;
}

class ObservedSession : public Session {
 public:
  ObservedSession(EventSink& events, std::unique_ptr<Session> inner)
      : events_(events), inner_(std::move(inner)), graph_(inner_->graph().Share()) {}

  std::int64_t number() const override { return inner_->number(); }
  const Graph& graph() const override { return inner_->graph(); }
  bool closed() const override { return inner_->closed(); }

  absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched) override {
    // Nothing of this object is used after the run: it may have been destroyed meanwhile.
    EventSink& events = events_;
    const CallKind kind = ClassifyCall(call, *graph_);
    Event event{.kind = EventKind::kSessionCall, .call = static_cast<std::uint8_t>(kind), .session = number()};
    absl::Status status = inner_->Run(call, fetched);
    event.code = CodeOf(status);
    if (status.ok() && fetched != nullptr) AddAnswer(kind, *fetched, event);
    if (!status.ok()) AddRefusal(kind, status, event);
    events.Emit(event);
    return status;
  }

  absl::Status Close() override {
    const bool first = !close_seen_.exchange(true);
    absl::Status status = inner_->Close();
    if (first) {
      events_.Emit({.kind = EventKind::kSessionCall,
                    .code = CodeOf(status),
                    .call = static_cast<std::uint8_t>(CallKind::kClose),
                    .session = number()});
    }
    return status;
  }

 private:
  EventSink& events_;
  const std::unique_ptr<Session> inner_;
  const std::shared_ptr<const Graph> graph_;  // a task that goes on may run the session when its graph is gone
  Atomic<bool> close_seen_{false};
};

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> CreateObserved(const Env& env, SessionFactory& factory, const Graph& graph,
                                                        const std::string& master, const SessionConfig& config) {
  absl::StatusOr<std::unique_ptr<Session>> session = factory.Create(graph, master, config);
  if (env.events == nullptr) return session;
  if (!session.ok()) {
    env.Emit({.kind = EventKind::kSessionCreateFailed, .code = CodeOf(session.status())});
    return session;
  }
  env.Emit({.kind = EventKind::kSessionCreated, .session = (*session)->number()});
  return std::make_unique<ObservedSession>(*env.events, *std::move(session));
}

}  // namespace vigil
