// What a listener of a saver may do to the monitored session around it: each act from each of its methods, by both
// behaviours. It works or is refused by a status that says why. And what hooks make of runs inside of a run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
#include "vigil/core/train/hooks/logging_tensor_hook.h"
#include "vigil/core/train/hooks/profiler_hook.h"
#include "vigil/core/train/hooks/summary_saver_hook.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"
#include "vigil/fakes/summary/scribe_writer.h"

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

// Runs the session some times, some seconds later, from inside of the next run's AfterRun.
class NestingHook : public SessionRunHook {
 public:
  explicit NestingHook(fakes::FakeEnv& fake) : fake_(fake) {}
  absl::Status AfterRun(RunContext&, const RunValues&) override {
    const int runs = std::exchange(nested_runs, 0);
    if (runs > 0) fake_.clock.Advance(std::chrono::seconds(2));
    for (int i = 0; i < runs; ++i) VIGIL_RETURN_IF_ERROR(session->Run(fetch).status());
    return absl::OkStatus();
  }
  MonitoredSession* session = nullptr;
  Output fetch;
  int nested_runs = 0;

 private:
  fakes::FakeEnv& fake_;
};

// A model whose runs train, in a session with a NestingHook and then the hook of the test.
class NestedRuns : public testing::Test {
 protected:
  NestedRuns() {
    step_ = *GetOrCreateGlobalStep(fake_.env(), b_);
    train_ = ops::AssignAdd(b_, "train", step_, b_.Const("one", Tensor::Scalar<std::int64_t>(1)));
    nesting_ = std::make_shared<NestingHook>(fake_);
  }
  void Open(HookPtr hook) {
    session_ = MonitoredSession::Create(fake_.env(), graph_, {.hooks = {nesting_, std::move(hook)}}).value();
    nesting_->session = session_.get();
    nesting_->fetch = train_;
    EXPECT_EQ(fakes::Text(session_->Run(train_).status()), "OK");
  }
  void RunWith(int nested_runs) {
    nesting_->nested_runs = nested_runs;
    EXPECT_EQ(fakes::Text(session_->Run(train_).status()), "OK");
  }
  void TearDown() override { EXPECT_EQ(fakes::Text(session_->Close()), "OK"); }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
  Output step_, train_;
  std::shared_ptr<NestingHook> nesting_;
  std::unique_ptr<MonitoredSession> session_;
};

TEST_F(NestedRuns, AreLoggedEachForItself) {
  Open(*LoggingTensorHook::Create(fake_.env(),
                                  {.tensors = ListedTensors{std::string("global_step:0")}, .every_n_iter = 2}));
  // The outer one is not to be logged, the second one inside of it is.
  RunWith(2);
  std::vector<std::string> lines;
  for (const auto& line : fake_.log.lines()) {
    if (line.text.starts_with("global_step:0 = ")) lines.push_back(line.text);
  }
  EXPECT_EQ(lines.size(), 2U) << testing::PrintToString(lines);
}

TEST_F(NestedRuns, AreTracedEachForItself) {
  Open(*ProfilerHook::Create(fake_.env(), {.save_secs = std::chrono::seconds(10), .output_dir = "/p"}));
  fake_.clock.Advance(std::chrono::seconds(10));
  // The outer one and the first one inside of it are to be traced. Each trace has the step at which its run ends.
  RunWith(2);
  std::vector<std::string> traces;
  const std::vector<std::string> names = fake_.files.List("/p").value();
  for (const std::string& name : names) {
    if (name.starts_with("timeline")) traces.push_back(name);
  }
  EXPECT_THAT(traces, testing::ElementsAre("timeline-3.json", "timeline-4.json"));
}

TEST_F(NestedRuns, AreSummarizedEachForItself) {
  const Output summary =
      ops::ScalarSummary(b_, "summary", "step", b_.Op("Cast", {step_}, {.attrs = {{"DstT", DType::kFloat}}}));
  const auto writer = std::make_shared<fakes::ScribeWriter>();
  Open(*SummarySaverHook::Create(
      fake_.env(), {.save_secs = std::chrono::seconds(10), .summary_writer = writer, .summary_op = {summary}}));
  fake_.clock.Advance(std::chrono::seconds(10));
  RunWith(2);
  // Of the first run, the first one inside of the second, and the second.
  EXPECT_EQ(std::ranges::count_if(writer->lines, [](const auto& line) { return line.starts_with("summary "); }), 3);
}

}  // namespace
}  // namespace vigil
