// What a listener of a saver may do to the monitored session around it: each act from each of its methods, by both
// behaviours. It works or is refused by a status that says why.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

class ActingListener : public CheckpointSaverListener {
 public:
  explicit ActingListener(ListenerMethod place) : place_(place) {}
  absl::Status BeforeSave(Session&, std::int64_t) override { return At(ListenerMethod::kBeforeSave); }
  absl::StatusOr<bool> AfterSave(Session&, std::int64_t) override {
    At(ListenerMethod::kAfterSave).IgnoreError();
    return false;
  }
  absl::Status End(Session&, std::int64_t) override { return At(ListenerMethod::kEnd); }

  std::function<void()> act;  // once

 private:
  absl::Status At(ListenerMethod place) {
    if (place != place_) return absl::OkStatus();
    if (const auto once = std::exchange(act, nullptr)) once();
    return absl::OkStatus();
  }
  const ListenerMethod place_;
};

TEST(ListenerReentrance, EveryActFromEveryMethodWorksOrIsRefused) {
  using S = MonitoredSession;
  std::shared_ptr<Scaffold> scaffold;
  StopRequestPtr stop;
  const std::vector<std::pair<std::string, std::function<absl::Status(S&, Output)>>> acts = {
      {"Run", [](S& s, Output train) { return s.Run(train).status(); }},
      {"RunStepFn",
       [](S& s, Output train) {
         return s.RunStepFn([train](StepContext& c) { return c.RunWithHooks(train).status(); });
       }},
      {"RunWithoutHooks", [](S& s, Output train) { return s.RunWithoutHooks(train).status(); }},
      {"ShouldStop", [](S& s, Output) { return s.ShouldStop().status(); }},
      {"stop",
       [&stop](S&, Output) {
         stop->Request("a listener");
         return absl::OkStatus();
       }},
      {"save",
       [&scaffold](S& s, Output) {
         return s.RunStepFn([&](StepContext& c) { return scaffold->saver()->Save(c.session(), "/dir/x", 1).status(); });
       }},
      {"Close", [](S& s, Output) { return s.Close(); }},
      {"Exit", [](S& s, Output) { return s.Exit(MakeStatus(Code::kInternal, "mine")); }},
  };
  for (const auto& [name, act] : acts) {
    for (const ListenerMethod place : {ListenerMethod::kBeforeSave, ListenerMethod::kAfterSave, ListenerMethod::kEnd}) {
      for (const Behaviour& behaviour : {Behaviour::Default(), Behaviour::TensorFlow()}) {
        SCOPED_TRACE(fmt::format("{} from method {}, {}", name, static_cast<int>(place),
                                 behaviour.bounded_recovery ? "default" : "tensorflow"));
        fakes::FakeEnv fake;
        Graph graph(BuiltinOps());
        Builder b(graph);
        const Output step = *GetOrCreateGlobalStep(fake.env(), b);
        const Output train = ops::AssignAdd(b, "train", step, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
        ASSERT_TRUE(b.status().ok()) << b.status();
        ASSERT_TRUE(fake.files.MakeDirectory("/dir").ok());
        stop = std::make_shared<StopRequest>(fake.env());
        scaffold = std::make_shared<Scaffold>(fake.env(), graph);
        const auto listener = std::make_shared<ActingListener>(place);
        const auto hook = CheckpointSaverHook::Create(fake.env(), {.checkpoint_dir = "/dir",
                                                                   .save_steps = 1,
                                                                   .scaffold = scaffold,
                                                                   .listeners = {listener},
                                                                   .behaviour = behaviour});
        ASSERT_TRUE(hook.ok()) << hook.status();
        const auto session =
            MonitoredSession::Create(fake.env(), graph,
                                     {.session_creator = std::make_shared<ChiefSessionCreator>(
                                          fake.env(), graph, ChiefSessionCreatorOptions{.scaffold = scaffold}),
                                      .hooks = {*hook},
                                      .behaviour = behaviour,
                                      .stop = stop})
                .value();
        absl::Status acted = MakeStatus(Code::kUnknown, "never called");
        listener->act = [&, &play = act] { acted = play(*session, train); };
        EXPECT_TRUE(session->Run(train).ok());
        EXPECT_TRUE(session->Run(train).ok());
        EXPECT_TRUE(session->Close().ok());
        EXPECT_TRUE(session->closed());
        const bool closes = name == "Close" || name == "Exit";
        EXPECT_EQ(CodeOf(acted), closes ? Code::kUsage : Code::kOk) << acted;
      }
    }
  }
}

}  // namespace
}  // namespace vigil
