#include "vigil/sim/cluster/client_costs.h"

#include <mutex>
#include <set>
#include <utility>

#include "vigil/core/base/status_macros.h"

namespace vigil::sim {
namespace {

class Costs {
 public:
  Costs(const Env& env, const WorkloadSpec& workload, DrawTime draw)
      : env_(env), workload_(workload), draw_(std::move(draw)) {}

  void OfSession() const { Spend(workload_.sessions.empty() ? DrawnSession() : draw_("session", workload_.sessions)); }
  void OfSignature() const {
    Spend(workload_.signatures.empty() ? workload_.signature : draw_("signature", workload_.signatures));
  }

 private:
  void Spend(Duration time) const { env_.tasks->SleepUntil(DeadlineAfter(env_, time)); }
  Duration DrawnSession() const {
    const Duration more = workload_.most_session - workload_.least_session;
    const auto drawn = env_.random->Draw("client costs") % static_cast<std::uint64_t>(more.count() + 1);
    return workload_.least_session + Duration(static_cast<Duration::rep>(drawn));
  }

  const Env env_;
  const WorkloadSpec workload_;
  const DrawTime draw_;
};

class CostlySession final : public Session {
 public:
  CostlySession(std::shared_ptr<const Costs> costs, std::unique_ptr<Session> inner)
      : costs_(std::move(costs)), inner_(std::move(inner)) {}

  std::int64_t number() const override { return inner_->number(); }
  const Graph& graph() const override { return inner_->graph(); }
  bool closed() const override { return inner_->closed(); }
  absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched) override {
    if (IsNew(call.spec)) costs_->OfSignature();
    return inner_->Run(call, fetched);
  }
  absl::Status Close() override { return inner_->Close(); }

 private:
  bool IsNew(const RunSpec& spec) {
    const std::lock_guard lock(mutex_);
    return seen_.insert(spec).second;
  }

  const std::shared_ptr<const Costs> costs_;
  const std::unique_ptr<Session> inner_;
  std::mutex mutex_;
  std::set<RunSpec> seen_;  // guarded by mutex_
};

class CostlyFactory final : public SessionFactory {
 public:
  CostlyFactory(std::shared_ptr<const Costs> costs, std::shared_ptr<SessionFactory> inner)
      : costs_(std::move(costs)), inner_(std::move(inner)) {}

  absl::StatusOr<std::unique_ptr<Session>> Create(const Graph& graph, const std::string& master,
                                                  const SessionConfig& config) override {
    VIGIL_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, inner_->Create(graph, master, config));
    costs_->OfSession();
    return std::make_unique<CostlySession>(costs_, std::move(session));
  }

 private:
  const std::shared_ptr<const Costs> costs_;
  const std::shared_ptr<SessionFactory> inner_;
};

}  // namespace

std::shared_ptr<SessionFactory> NewCostlyFactory(const Env& env, std::shared_ptr<SessionFactory> inner,
                                                 const WorkloadSpec& costs, DrawTime draw) {
  return std::make_shared<CostlyFactory>(std::make_shared<const Costs>(env, costs, std::move(draw)), std::move(inner));
}

}  // namespace vigil::sim
