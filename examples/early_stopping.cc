// Training that stops when it does not get better any more: each checkpoint is tried on digits that are not trained on,
// by an evaluation with a graph and a session of its own, and after three that are no better than the best before them
// the training ends.
//
//   example_early_stopping /tmp/model
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
#include "vigil/core/train/optimizers/adam_optimizer.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/examples/network.h"
#include "vigil/examples/regression.h"

namespace vigil::examples {
namespace {

std::string folder;

constexpr std::int64_t kBatch = 50;
constexpr int kPatience = 3;

// Says of a checkpoint which share of the held-out digits it reads.
class Evaluation {
 public:
  static absl::StatusOr<std::unique_ptr<Evaluation>> Make(const Env& env) {
    std::unique_ptr<Evaluation> out(new Evaluation(env));
    Builder b(out->graph_);
    out->model_ = MakeClassifier(b, TwoLayers);
    VIGIL_RETURN_IF_ERROR(b.status());
    VIGIL_RETURN_IF_ERROR(out->saver_->Build(out->graph_));
    return out;
  }

  absl::StatusOr<float> Try(const std::string& checkpoint) {
    const std::unique_ptr<Session> session = NewDirectSession(env_, graph_);
    VIGIL_RETURN_IF_ERROR(saver_->Restore(*session, checkpoint));
    const RunSpec spec{
        .feeds = {model_.images, model_.labels}, .fetches = {model_.accuracy}, .targets = {}, .unresolved = {}};
    const std::vector<Tensor> fed = {held_out_.images, held_out_.labels};
    std::vector<Tensor> fetched;
    VIGIL_RETURN_IF_ERROR(session->Run({.spec = spec, .feed_values = fed}, &fetched));
    return fetched[0].scalar<float>();
  }

 private:
  explicit Evaluation(const Env& env) : env_(env), graph_(BuiltinOps()), saver_(std::make_shared<Saver>(env)) {}

  const Env env_;
  const Digits held_out_ = DrawDigits(2, 500);
  Graph graph_;
  SaverPtr saver_;
  Classifier model_;
};

class StopEarly : public CheckpointSaverListener {
 public:
  StopEarly(const Env& env, std::unique_ptr<Evaluation> evaluation) : env_(env), evaluation_(std::move(evaluation)) {}

  absl::StatusOr<bool> AfterSave(Session&, std::int64_t step) override {
    VIGIL_ASSIGN_OR_RETURN(const std::optional<std::string> newest, LatestCheckpoint(env_, folder));
    if (!newest.has_value()) return false;
    VIGIL_ASSIGN_OR_RETURN(const float accuracy, evaluation_->Try(*newest));
    std::printf("step %lld: %.1f %%\n", static_cast<long long>(step), 100.0 * accuracy);
    no_better_ = accuracy > best_ ? 0 : no_better_ + 1;
    if (accuracy > best_) best_ = accuracy;
    return no_better_ >= kPatience;
  }
  float best() const { return best_; }

 private:
  const Env env_;
  const std::unique_ptr<Evaluation> evaluation_;
  float best_ = 0;
  int no_better_ = 0;
};

absl::Status Train(const Env& env) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  VIGIL_ASSIGN_OR_RETURN(const Output step, GetOrCreateGlobalStep(env, b));
  const Classifier model = MakeClassifier(b, TwoLayers);
  AdamOptimizer optimizer({.learning_rate = 0.002});
  VIGIL_ASSIGN_OR_RETURN(const Output train, optimizer.Minimize(b, model.loss, step));

  VIGIL_ASSIGN_OR_RETURN(std::unique_ptr<Evaluation> evaluation, Evaluation::Make(env));
  const auto stop_early = std::make_shared<StopEarly>(env, std::move(evaluation));
  const auto scaffold = std::make_shared<Scaffold>(env, graph);
  VIGIL_ASSIGN_OR_RETURN(
      auto save,
      CheckpointSaverHook::Create(
          env, {.checkpoint_dir = folder, .save_steps = 50, .scaffold = scaffold, .listeners = {stop_early}}));
  // The hook above saves, so the session has none of its own.
  VIGIL_ASSIGN_OR_RETURN(auto session, MonitoredTrainingSession(env, graph,
                                                                {.checkpoint_dir = folder,
                                                                 .scaffold = scaffold,
                                                                 .chief_only_hooks = {save},
                                                                 .save_checkpoint_secs = std::nullopt,
                                                                 .save_checkpoint_steps = std::nullopt}));
  const Digits digits = DrawDigits(1, 2000);
  VIGIL_RETURN_IF_ERROR(WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    for (std::int64_t i = 0;; ++i) {
      VIGIL_ASSIGN_OR_RETURN(const bool stops, s.ShouldStop());
      if (stops) return absl::OkStatus();
      const Digits batch = BatchOf(digits, i, kBatch);
      VIGIL_RETURN_IF_ERROR(s.Run(train, {{model.images, batch.images}, {model.labels, batch.labels}}).status());
    }
  }));
  std::printf("stopped early; the best read %.1f %% of the held-out digits\n", 100.0 * stop_early->best());
  return absl::OkStatus();
}

}  // namespace
}  // namespace vigil::examples

int main(int argc, char** argv) {
  if (argc > 1) vigil::examples::folder = argv[1];
  return vigil::examples::Main(vigil::examples::Train);
}
