#include "vigil/sim/cluster/restore_watch.h"

#include <charconv>
#include <string>
#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/session/classify.h"

namespace vigil::sim {
namespace {

using Restoring = std::function<void(std::int64_t step)>;

class RestoreWatch final : public Session {
 public:
  RestoreWatch(std::unique_ptr<Session> inner, Restoring restoring)
      : inner_(std::move(inner)), restoring_(std::move(restoring)), graph_(inner_->graph().Share()) {}

  std::int64_t number() const override { return inner_->number(); }
  const Graph& graph() const override { return inner_->graph(); }
  bool closed() const override { return inner_->closed(); }
  absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched) override {
    if (!call.feed_values.empty() && ClassifyCall(call, *graph_) == CallKind::kRestore) {
      const Tensor& name = call.feed_values.front();
      const std::int64_t step = name.dtype() == DType::kString ? StepInName(name.scalar<std::string>()) : -1;
      if (step >= 0) restoring_(step);
    }
    return inner_->Run(call, fetched);
  }
  absl::Status Close() override { return inner_->Close(); }

 private:
  const std::unique_ptr<Session> inner_;
  const Restoring restoring_;
  const std::shared_ptr<const Graph> graph_;  // a task that goes on may run the session when its graph is gone
};

class RestoreWatchFactory final : public SessionFactory {
 public:
  RestoreWatchFactory(std::shared_ptr<SessionFactory> inner, Restoring restoring)
      : inner_(std::move(inner)), restoring_(std::move(restoring)) {}

  absl::StatusOr<std::unique_ptr<Session>> Create(const Graph& graph, const std::string& master,
                                                  const SessionConfig& config) override {
    VIGIL_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, inner_->Create(graph, master, config));
    return std::make_unique<RestoreWatch>(std::move(session), restoring_);
  }

 private:
  const std::shared_ptr<SessionFactory> inner_;
  const Restoring restoring_;
};

}  // namespace

std::int64_t StepInName(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos) return -1;
  std::int64_t step = -1;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + dash + 1, end, step);
  return error == std::errc() && rest == end ? step : -1;
}

std::shared_ptr<SessionFactory> WatchRestores(std::shared_ptr<SessionFactory> inner, Restoring restoring) {
  return std::make_shared<RestoreWatchFactory>(std::move(inner), std::move(restoring));
}

}  // namespace vigil::sim
