#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/sim/cluster/programs.h"
#include "vigil/sim/workloads/evaluation.h"

namespace vigil::sim {
namespace {

constexpr int kStepsBetweenLooks = 5;
constexpr std::chrono::minutes kNothingNew{20};

// The graph's loss is the one that its parameters have.
absl::Status CheckLoss(const Evaluated& seen, std::uint64_t seed) {
  const double expected = LossOf(seen.parameters, RegressionTestData(seed));
  if (std::abs(seen.loss - expected) <= 1e-4 * std::max(1.0, expected)) return absl::OkStatus();
  return MakeStatus(Code::kInternal,
                    fmt::format("{} was evaluated to a loss of {}, which is {}", seen.checkpoint, seen.loss, expected));
}

}  // namespace

absl::Status Evaluate(const TrainerParts& parts) {
  Env env = parts.env;
  env.events = nullptr;  // what it restores is its own, not the training's
  Graph graph(BuiltinOps());
  Builder b(graph);
  VIGIL_ASSIGN_OR_RETURN(Evaluation evaluation, BuildEvaluation(env, b, parts.seed));
  VIGIL_RETURN_IF_ERROR(b.status());
  const std::unique_ptr<Session> session = NewDirectSession(env, graph);
  Evaluator evaluator(env, std::move(evaluation), parts.checkpoint_dir);
  parts.recorder.Opened(env.clock->Monotonic() - parts.started);
  parts.opened();
  Time last_news = env.clock->Monotonic();
  absl::Status trouble;  // of the last look: a checkpoint that is just being written anew can be read later
  while (env.clock->Monotonic() < last_news + kNothingNew) {
    const absl::StatusOr<std::optional<Evaluated>> seen = evaluator.Look(*session);
    trouble = seen.status();
    if (seen.ok() && seen->has_value()) {
      VIGIL_RETURN_IF_ERROR(CheckLoss(**seen, parts.seed));
      parts.recorder.Evaluated((*seen)->step);
      if ((*seen)->step >= LastStepOf(parts)) return absl::OkStatus();
      last_news = env.clock->Monotonic();
    }
    env.tasks->SleepUntil(DeadlineAfter(env, kStepsBetweenLooks * parts.job.workload.step));
  }
  return MakeStatus(Code::kDeadlineExceeded,
                    fmt::format("No new checkpoint for {} minutes{}{}", kNothingNew.count(),
                                trouble.ok() ? "" : "; the last look: ", trouble.ok() ? "" : MessageOf(trouble)));
}

}  // namespace vigil::sim
