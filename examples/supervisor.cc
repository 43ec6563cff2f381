// Supervisor, twice: with a managed session and with a loop of one's own around the pieces, which saves and writes
// summaries itself. The second goes on where the first one ended. The argument is a folder for checkpoints and events.
#include "vigil/core/train/supervisor/supervisor.h"

#include <cstdint>
#include <cstdio>
#include <string>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/training_util.h"
#include "vigil/examples/regression.h"

namespace vigil::examples {
namespace {

std::string folder;

absl::Status Report(const char* who, Session& session, const Regression& model) {
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, ReadGlobalStep(session, model.global_step));
  VIGIL_ASSIGN_OR_RETURN(const Tensor weight, RunFetch(session, model.weight));
  VIGIL_ASSIGN_OR_RETURN(const Tensor bias, RunFetch(session, model.bias));
  std::printf("%s, step %lld: ", who, static_cast<long long>(step));
  PrintModel(weight.scalar<float>(), bias.scalar<float>());
  return absl::OkStatus();
}

absl::Status Managed(const Env& env) {
  Graph graph(BuiltinOps());
  VIGIL_ASSIGN_OR_RETURN(const Regression model, BuildRegression(env, graph));
  // Saved by hand below: while a service saves, the saver is its own.
  VIGIL_ASSIGN_OR_RETURN(auto supervisor,
                         Supervisor::Create(env, graph, {.logdir = folder, .save_model_secs = Duration::zero()}));
  return supervisor->ManagedSession({}, [&](const SessionPtr& session) -> absl::Status {
    for (int i = 0; i < 60 && !supervisor->ShouldStop(); ++i) {
      VIGIL_RETURN_IF_ERROR(RunFetch(*session, model.train).status());
    }
    VIGIL_RETURN_IF_ERROR(Report("managed", *session, model));
    return supervisor->saver()->Save(*session, supervisor->save_path(), 60).status();
  });
}

absl::Status WithALoopOfOnesOwn(const Env& env) {
  Graph graph(BuiltinOps());
  VIGIL_ASSIGN_OR_RETURN(const Regression model, BuildRegression(env, graph));
  Builder b(graph);
  const Output summary = ops::ScalarSummary(b, "loss_summary", "loss", model.loss);
  VIGIL_RETURN_IF_ERROR(b.status());
  VIGIL_ASSIGN_OR_RETURN(auto supervisor,
                         Supervisor::Create(env, graph, {.logdir = folder, .summary_op = std::nullopt}));
  VIGIL_ASSIGN_OR_RETURN(const SessionPtr session,
                         supervisor->PrepareOrWaitForSession({.start_standard_services = false}));
  const absl::Status trained = supervisor->StopOnError([&]() -> absl::Status {
    for (int i = 0; i < 40 && !supervisor->ShouldStop(); ++i) {
      VIGIL_RETURN_IF_ERROR(RunFetch(*session, model.train).status());
      if (i % 10 != 0) continue;
      VIGIL_ASSIGN_OR_RETURN(const Tensor text, RunFetch(*session, summary));
      VIGIL_RETURN_IF_ERROR(supervisor->SummaryComputed(session, text.scalar<std::string>()));
    }
    return Report("own loop", *session, model);
  });
  const absl::Status stopped = supervisor->Stop();
  const absl::Status closed = session->Close();
  if (!trained.ok()) return trained;
  return stopped.ok() ? closed : stopped;
}

absl::Status Train(const Env& env) {
  VIGIL_RETURN_IF_ERROR(Managed(env));
  return WithALoopOfOnesOwn(env);
}

}  // namespace
}  // namespace vigil::examples

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER (for checkpoints and events)\n", argv[0]);
    return 2;
  }
  vigil::examples::folder = argv[1];
  return vigil::examples::Main(vigil::examples::Train);
}
