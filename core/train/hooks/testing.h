// For tests of hooks: one hook on its own around a small model, no monitored session.
#ifndef VIGIL_CORE_TRAIN_HOOKS_TESTING_H_
#define VIGIL_CORE_TRAIN_HOOKS_TESTING_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/coord/coordinator.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/session.h"
#include "vigil/core/train/fetches.h"
#include "vigil/core/train/hooked_session.h"
#include "vigil/core/train/scaffold.h"
#include "vigil/core/train/session_run_hook.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {

// A model with a global step that `train` moves by one, a float `loss`, an int64 `fed`.
class HookTest : public testing::Test {
 protected:
  HookTest();
  ~HookTest() override;

  // Everything here works in this env: without an event sink once watched_ is false.
  Env env() {
    Env env = fake_.env();
    if (!watched_) env.events = nullptr;
    return env;
  }
  Builder& b() { return builder_; }

  // Begin of the hook; what follows is about this one.
  absl::Status Begin(HookPtr hook);
  // A new session with its variables initialised. AfterCreateSession of the hook unless it shall not be told.
  absl::Status NewSession(bool tell_hook = true);
  // One run with the hook around it: of `train`, or what is given. The hook is the only one.
  absl::Status Run() { return Run(train_); }
  absl::Status Run(const Fetches& fetches, const RunOptions& options = {});
  absl::Status End() { return hook_->End(session_.get()); }
  // Begin, new session.
  void Start(HookPtr hook);

  // One of each kind that ships with the library, by a name; but LastOneSavesHook, which needs a cluster. `scaffold` is
  // that of the session in which it will be. (every_hook.cc)
  std::vector<std::pair<std::string, HookPtr>> EveryHook(const std::shared_ptr<Scaffold>& scaffold);

  bool should_stop() const { return hooked_->should_stop(); }
  std::int64_t step();
  // Also what a hook can see changing from run to run, if the runs do not train.
  void SetStep(std::int64_t step);
  // Lines of that severity that were logged since the last call.
  std::vector<std::string> TakeLog(Severity severity = Severity::kInfo);
  // Steps of the checkpoints in a directory, in order of the step.
  std::vector<std::int64_t> SavedSteps(const std::string& directory);
  // The value of each detail of that kind that hooks have told.
  std::vector<double> Details(HookDetail what) const {
    std::vector<double> values;
    for (const Event& event : fake_.events.events()) {
      if (event.kind == EventKind::kHookDetail && event.call == static_cast<std::uint8_t>(what)) {
        values.push_back(event.value);
      }
    }
    return values;
  }
  // What was called on writers of the cache since the last call, with its step.
  std::vector<std::string> TakeWriterCalls();

  fakes::FakeEnv fake_;
  bool watched_ = true;
  Graph graph_{BuiltinOps()};
  Builder builder_{graph_};
  Output global_step_, train_, loss_, fed_;
  std::shared_ptr<Coordinator> coord_;
  std::shared_ptr<Session> session_;
  RunResult result_;
  RunOptions merged_options_;  // of the last run

 private:
  HookPtr hook_;
  std::vector<HookPtr> hooks_;
  SessionLife life_;
  std::unique_ptr<HookedSession> hooked_;
  Output new_step_;
  NodeId set_step_ = kNoNode;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_TESTING_H_
