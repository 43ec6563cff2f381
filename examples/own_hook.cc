// A hook of one's own: stops the training once the loss has become small enough. The hook gets what it fetches beside
// each run.
#include <cstdint>
#include <cstdio>
#include <memory>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/examples/regression.h"

namespace vigil::examples {
namespace {

class StopWhenGoodEnough : public SessionRunHook {
 public:
  StopWhenGoodEnough(Output loss, float good_enough) : loss_(loss), good_enough_(good_enough) {}
  // A new session (the first one, or after a recovery): what was learned about the old one is forgotten.
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>&) override {
    runs_ = 0;
    return absl::OkStatus();
  }
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args.fetches = loss_;
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    ++runs_;
    if (values.results.scalar<float>() <= good_enough_) context.RequestStop();
    return absl::OkStatus();
  }
  absl::Status End(Session* session) override {
    std::printf("good enough after %d runs; the session is %s\n", runs_, session == nullptr ? "closed" : "open");
    return absl::OkStatus();
  }

 private:
  const Fetches loss_;
  const float good_enough_;
  int runs_ = 0;
};

absl::Status Train(const Env& env) {
  Graph graph(BuiltinOps());
  VIGIL_ASSIGN_OR_RETURN(const Regression model, BuildRegression(env, graph));
  auto hook = std::make_shared<StopWhenGoodEnough>(model.loss, 1e-4F);
  VIGIL_ASSIGN_OR_RETURN(auto session, MonitoredSession::Create(env, graph, {.hooks = {hook}}));
  const Fetches train = Fetches::List({model.train, model.weight, model.bias});
  return WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    RunResult result;
    for (absl::StatusOr<bool> stop = s.ShouldStop(); !stop.ok() || !*stop; stop = s.ShouldStop()) {
      VIGIL_RETURN_IF_ERROR(stop.status());
      VIGIL_RETURN_IF_ERROR(s.RunInto(&result, train));
    }
    PrintModel(result.values()[1].scalar<float>(), result.values()[2].scalar<float>());
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace vigil::examples

int main() { return vigil::examples::Main(vigil::examples::Train); }
