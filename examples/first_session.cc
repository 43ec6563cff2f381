// The README's example: a training loop with a hook that stops it after three steps. Prints the last step.
#include <cstdio>
#include <memory>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/training_util.h"

namespace vigil {
namespace {

class StopAfter : public SessionRunHook {
 public:
  StopAfter(Output train, std::int64_t last) : train_(train), last_(last) {}
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args.fetches = train_;
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    step_ = values.results.scalar<std::int64_t>();
    if (step_ >= last_) context.RequestStop();
    return absl::OkStatus();
  }
  std::int64_t step() const { return step_; }

 private:
  const Fetches train_;
  const std::int64_t last_;
  std::int64_t step_ = 0;
};

absl::Status Train(const Env& env, std::int64_t* last_step) {
  // README: begin
  Graph graph(BuiltinOps());
  Builder b(graph);
  VIGIL_ASSIGN_OR_RETURN(const Output step, GetOrCreateGlobalStep(env, b));
  const Output train = ops::AssignAdd(b, "train", step, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
  auto hook = std::make_shared<StopAfter>(train, 3);
  VIGIL_ASSIGN_OR_RETURN(auto session, MonitoredSession::Create(env, graph, {.hooks = {hook}}));
  absl::Status end = WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    for (absl::StatusOr<bool> stop = s.ShouldStop(); !stop.ok() || !*stop; stop = s.ShouldStop()) {
      VIGIL_RETURN_IF_ERROR(stop.status());
      VIGIL_RETURN_IF_ERROR(s.Run(train).status());  // survives preemption
    }
    return absl::OkStatus();
  });
  // README: end
  *last_step = hook->step();
  return end;
}

}  // namespace
}  // namespace vigil

int main() {
  vigil::RealEnv real;
  std::int64_t last_step = 0;
  const absl::Status status = vigil::Train(real.env(), &last_step);
  if (!status.ok()) {
    std::fprintf(stderr, "training failed: %s\n", std::string(vigil::MessageOf(status)).c_str());
    return 1;
  }
  std::printf("stopped after step %lld\n", static_cast<long long>(last_step));
  return 0;
}
