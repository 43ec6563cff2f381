#include "vigil/sim/faults/faulty_session.h"

#include <algorithm>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/session/classify.h"

namespace vigil::sim {
namespace {

class FaultySession : public Session {
 public:
  FaultySession(std::shared_ptr<Session> inner, std::shared_ptr<const SessionFaultPlan> plan)
      : inner_(std::move(inner)), plan_(std::move(plan)), graph_(inner_->graph().Share()) {}

  std::int64_t number() const override { return inner_->number(); }
  const Graph& graph() const override { return inner_->graph(); }
  bool closed() const override { return inner_->closed(); }

  absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched) override {
    if (plan_->applies != nullptr && !plan_->applies()) return RunElsewhere(call, fetched);
    const CallKind kind = ClassifyCall(call, *graph_);
    const SessionFault fault = plan_->next(kind, inner_);
    const bool before = !fault.error.ok() && !fault.lost_reply;
    const absl::Status status = before ? fault.error : inner_->Run(call, fetched);
    if (kind == CallKind::kRun && plan_->after_run != nullptr) plan_->after_run();
    return status.ok() ? fault.error : status;
  }

  // A run of another task: only a queue runner's can fail.
  absl::Status RunElsewhere(const RunCall& call, std::vector<Tensor>* fetched) {
    if (plan_->next_elsewhere == nullptr || !Enqueues(call)) return inner_->Run(call, fetched);
    const SessionFault fault = plan_->next_elsewhere();
    if (!fault.error.ok() && !fault.lost_reply) return fault.error;
    const absl::Status status = inner_->Run(call, fetched);
    return status.ok() ? fault.error : status;
  }

  absl::Status Close() override {
    if (inner_->closed() || (plan_->applies != nullptr && !plan_->applies())) return inner_->Close();
    const SessionFault fault = plan_->next(CallKind::kClose, inner_);
    const absl::Status status = inner_->Close();
    return status.ok() ? fault.error : status;
  }

 private:
  bool Enqueues(const RunCall& call) const {
    return std::ranges::any_of(call.spec.targets,
                               [this](NodeId target) { return graph_->node(target).op.starts_with("QueueEnqueue"); });
  }

  const std::shared_ptr<Session> inner_;
  const std::shared_ptr<const SessionFaultPlan> plan_;
  const std::shared_ptr<const Graph> graph_;  // a task that goes on may run the session when its graph is gone
};

class FaultyFactory : public SessionFactory {
 public:
  FaultyFactory(std::shared_ptr<SessionFactory> inner, SessionFaultPlan plan)
      : inner_(std::move(inner)), plan_(std::make_shared<const SessionFaultPlan>(std::move(plan))) {}

  absl::StatusOr<std::unique_ptr<Session>> Create(const Graph& graph, const std::string& master,
                                                  const SessionConfig& config) override {
    if (plan_->applies == nullptr || plan_->applies()) {
      VIGIL_RETURN_IF_ERROR(plan_->next(CallKind::kCreate, nullptr).error);
    }
    VIGIL_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, inner_->Create(graph, master, config));
    return std::unique_ptr<Session>(new FaultySession(std::move(session), plan_));
  }

 private:
  const std::shared_ptr<SessionFactory> inner_;
  const std::shared_ptr<const SessionFaultPlan> plan_;
};

}  // namespace

std::shared_ptr<SessionFactory> NewFaultyFactory(std::shared_ptr<SessionFactory> inner, SessionFaultPlan plan) {
  return std::make_shared<FaultyFactory>(std::move(inner), std::move(plan));
}

}  // namespace vigil::sim
