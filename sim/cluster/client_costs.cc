#include "vigil/sim/cluster/client_costs.h"

#include <mutex>
#include <set>
#include <utility>

#include "vigil/core/base/status_macros.h"

namespace vigil::sim {
namespace {

class CostlySession final : public Session {
 public:
  CostlySession(const Env& env, std::unique_ptr<Session> inner, Duration signature)
      : env_(env), inner_(std::move(inner)), signature_(signature) {}

  std::int64_t number() const override { return inner_->number(); }
  const Graph& graph() const override { return inner_->graph(); }
  bool closed() const override { return inner_->closed(); }
  absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched) override {
    if (IsNew(call.spec)) env_.tasks->SleepUntil(DeadlineAfter(env_, signature_));
    return inner_->Run(call, fetched);
  }
  absl::Status Close() override { return inner_->Close(); }

 private:
  bool IsNew(const RunSpec& spec) {
    const std::lock_guard lock(mutex_);
    return seen_.insert(spec).second;
  }

  const Env env_;
  const std::unique_ptr<Session> inner_;
  const Duration signature_;
  std::mutex mutex_;
  std::set<RunSpec> seen_;  // guarded by mutex_
};

class CostlyFactory final : public SessionFactory {
 public:
  CostlyFactory(const Env& env, std::shared_ptr<SessionFactory> inner, const WorkloadSpec& costs)
      : env_(env), inner_(std::move(inner)), costs_(costs) {}

  absl::StatusOr<std::unique_ptr<Session>> Create(const Graph& graph, const std::string& master,
                                                  const SessionConfig& config) override {
    VIGIL_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, inner_->Create(graph, master, config));
    const Duration more = costs_.most_session - costs_.least_session;
    const auto drawn = env_.random->Draw("client costs") % static_cast<std::uint64_t>(more.count() + 1);
    env_.tasks->SleepUntil(DeadlineAfter(env_, costs_.least_session + Duration(static_cast<Duration::rep>(drawn))));
    return std::make_unique<CostlySession>(env_, std::move(session), costs_.signature);
  }

 private:
  const Env env_;
  const std::shared_ptr<SessionFactory> inner_;
  const WorkloadSpec costs_;
};

}  // namespace

std::shared_ptr<SessionFactory> NewCostlyFactory(const Env& env, std::shared_ptr<SessionFactory> inner,
                                                 const WorkloadSpec& costs) {
  return std::make_shared<CostlyFactory>(env, std::move(inner), costs);
}

}  // namespace vigil::sim
