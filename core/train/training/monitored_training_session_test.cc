#include "vigil/core/train/training/monitored_training_session.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/notification.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/io/event.pb.h"
#include "vigil/core/io/record_reader.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/classify.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using fakes::Text;

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr char kDir[] = "/run";

// Counts what it is called for.
class CountingHook : public SessionRunHook {
 public:
  absl::Status Begin(BeginContext&) override { return Count(begun); }
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>&) override {
    return Count(created);
  }
  absl::Status BeforeRun(RunContext&, RunArgs&) override { return Count(runs); }
  absl::Status End(Session*) override { return Count(ended); }

  int begun = 0, created = 0, runs = 0, ended = 0;

 private:
  static absl::Status Count(int& what) {
    ++what;
    return absl::OkStatus();
  }
};

// Each NewGraph() is the same program started again.
class MonitoredTrainingSessionTest : public testing::Test {
 protected:
  MonitoredTrainingSessionTest() { NewGraph(); }
  Env env() { return fake_.env(); }
  void NewGraph() {
    graphs_.push_back(std::make_unique<Graph>(BuiltinOps()));
    graph_ = graphs_.back().get();
    Builder b(*graph_);
    step_ = *GetOrCreateGlobalStep(env(), b);
    train_ = ops::AssignAdd(b, "train", step_, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
    ops::ScalarSummary(b, "my_summary", "my_summary_tag", b.Const("two", Tensor::Scalar<float>(2)));
    EXPECT_EQ(Text(b.status()), "OK");
  }
  std::unique_ptr<MonitoredSession> Open(MonitoredTrainingSessionOptions options) {
    auto made = MonitoredTrainingSession(env(), *graph_, std::move(options));
    EXPECT_EQ(Text(made.status()), "OK");
    return *std::move(made);
  }
  // That many runs, `each` apart in time.
  void Train(MonitoredSession& session, int runs, Duration each = 0s) {
    for (int i = 0; i < runs; ++i) {
      EXPECT_EQ(Text(session.Run(train_).status()), "OK");
      fake_.clock.Advance(each);
    }
  }
  void TrainOnce(MonitoredTrainingSessionOptions options, int runs, Duration each = 0s) {
    const auto session = Open(std::move(options));
    Train(*session, runs, each);
    EXPECT_EQ(Text(session->Close()), "OK");
  }
  // Where the same program goes on from.
  std::int64_t StepAfterRestart() {
    NewGraph();
    const auto session = Open({.checkpoint_dir = kDir});
    const auto result = session->RunWithoutHooks(step_);
    EXPECT_EQ(Text(result.status()), "OK");
    EXPECT_EQ(Text(session->Close()), "OK");
    return result->values().scalar<std::int64_t>();
  }
  // Names in a directory that begin with that.
  std::vector<std::string> Names(const std::string& beginning, const std::string& directory = kDir) {
    std::vector<std::string> names;
    const auto all = fake_.files.List(directory);
    if (!all.ok()) return names;
    for (const std::string& name : *all) {
      if (name.starts_with(beginning)) names.push_back(name);
    }
    return names;
  }
  // "tag@step" of each value in the summaries of all events files.
  std::vector<std::string> Summaries(const std::string& directory = kDir) {
    std::vector<std::string> out;
    for (const std::string& name : Names("events.out", directory)) {
      const auto content = ReadAll(fake_.files, JoinPath(directory, name));
      EXPECT_EQ(Text(content.status()), "OK");
      RecordReader reader(*content);
      for (auto record = reader.Next(); record.ok() && record->has_value(); record = reader.Next()) {
        proto::Event event;
        EXPECT_TRUE(event.ParseFromArray((*record)->data(), static_cast<int>((*record)->size())));
        for (const auto& value : event.summary().value()) {
          out.push_back(fmt::format("{}@{}", value.tag(), event.step()));
        }
      }
    }
    return out;
  }

  fakes::FakeEnv fake_;
  std::vector<std::unique_ptr<Graph>> graphs_;  // all of them: sessions of the one before may still be there
  Graph* graph_ = nullptr;                      // the last one
  Output step_, train_;
};

// test_saving_restoring_checkpoint
TEST_F(MonitoredTrainingSessionTest, GoesOnWhereItEnded) {
  TrainOnce({.checkpoint_dir = kDir}, 2);
  EXPECT_EQ(StepAfterRestart(), 2);
}

// test_save_checkpoint_steps
TEST_F(MonitoredTrainingSessionTest, SavesBySteps) {
  const auto session = Open({.checkpoint_dir = kDir, .save_checkpoint_steps = 100});
  Train(*session, 100);
  EXPECT_THAT(Names("model.ckpt-100"), Not(IsEmpty())) << "before the end";
  EXPECT_EQ(StepAfterRestart(), 100);
}

// test_save_checkpoint_secs
TEST_F(MonitoredTrainingSessionTest, SavesBySeconds) {
  const auto session = Open({.checkpoint_dir = kDir, .save_checkpoint_secs = Duration(100ms)});
  Train(*session, 11, 200ms);
  EXPECT_THAT(Names("model.ckpt-11"), Not(IsEmpty())) << "before the end";
  EXPECT_EQ(StepAfterRestart(), 11);
}

TEST_F(MonitoredTrainingSessionTest, SavesEveryTenMinutesUnlessSaidOtherwise) {
  const auto session = Open({.checkpoint_dir = kDir});
  Train(*session, 3, 599s);
  EXPECT_THAT(Names("model.ckpt-2"), IsEmpty());
  EXPECT_THAT(Names("model.ckpt-3"), Not(IsEmpty()));
}

// test_summaries_steps
TEST_F(MonitoredTrainingSessionTest, WritesSummariesBySteps) {
  TrainOnce({.checkpoint_dir = kDir, .save_summaries_steps = 100, .log_step_count_steps = 10}, 101, 10ms);
  EXPECT_THAT(Summaries(), IsSupersetOf({"my_summary_tag@1", "my_summary_tag@101", "global_step/sec@101"}));
  EXPECT_THAT(Summaries(), Not(Contains("my_summary_tag@2")));
}

// test_summaries_secs
TEST_F(MonitoredTrainingSessionTest, WritesSummariesBySeconds) {
  TrainOnce({.checkpoint_dir = kDir,
             .save_summaries_steps = std::nullopt,
             .save_summaries_secs = Duration(100ms),
             .log_step_count_steps = 10},
            11, 200ms);
  EXPECT_THAT(Summaries(),
              IsSupersetOf({"my_summary_tag@1", "my_summary_tag@2", "my_summary_tag@11", "global_step/sec@11"}));
}

TEST_F(MonitoredTrainingSessionTest, WritesSummariesEveryHundredStepsUnlessSaidOtherwise) {
  TrainOnce({.checkpoint_dir = kDir}, 201, 10ms);
  EXPECT_THAT(Summaries(), UnorderedElementsAre("my_summary_tag@1", "my_summary_tag@101", "my_summary_tag@201",
                                                "global_step/sec@101", "global_step/sec@201"));
}

TEST_F(MonitoredTrainingSessionTest, SummariesMayHaveADirectoryOfTheirOwnAndBeOff) {
  TrainOnce({.checkpoint_dir = kDir, .save_summaries_steps = 1, .summary_dir = "/summaries"}, 2, 1s);
  EXPECT_THAT(Summaries(), IsEmpty());
  EXPECT_THAT(Summaries("/summaries"), ElementsAre("my_summary_tag@1", "my_summary_tag@2"));
  NewGraph();
  TrainOnce({.save_summaries_steps = std::nullopt, .log_step_count_steps = std::nullopt, .summary_dir = "/off"}, 200,
            1s);
  EXPECT_THAT(Names("", "/off"), IsEmpty());
}

// test_custom_saving
TEST_F(MonitoredTrainingSessionTest, WithoutSavingTheHooksOfTheChiefAreStillCalled) {
  const auto hook = std::make_shared<CountingHook>();
  TrainOnce({.checkpoint_dir = kDir, .chief_only_hooks = {hook}, .save_checkpoint_secs = Duration(0s)}, 10);
  EXPECT_EQ(hook->begun, 1);
  EXPECT_EQ(hook->runs, 10);
  EXPECT_EQ(StepAfterRestart(), 0);
}

TEST_F(MonitoredTrainingSessionTest, TheGraphIsWrittenUnlessSaidOtherwise) {
  TrainOnce({.checkpoint_dir = kDir}, 1);
  EXPECT_THAT(Names("graph.pbtxt"), ElementsAre("graph.pbtxt"));
  NewGraph();
  TrainOnce({.checkpoint_dir = "/bare", .save_graph_def = false}, 1);
  EXPECT_THAT(Names("graph.pbtxt", "/bare"), IsEmpty());
}

TEST_F(MonitoredTrainingSessionTest, OneOfTheTwoPeriodsAtMost) {
  const auto both = MonitoredTrainingSession(
      env(), *graph_, {.checkpoint_dir = kDir, .save_checkpoint_secs = Duration(1s), .save_checkpoint_steps = 1});
  EXPECT_EQ(Text(both.status()), "USAGE: Can not provide both every_secs and every_steps.");
}

TEST_F(MonitoredTrainingSessionTest, AScaffoldOfOnesOwnIsUsed) {
  ScaffoldOptions pieces;
  bool called = false;
  pieces.init_fn = [&](Scaffold&, Session&) {
    called = true;
    return absl::OkStatus();
  };
  TrainOnce({.scaffold = std::make_shared<Scaffold>(env(), *graph_, pieces)}, 1);
  EXPECT_TRUE(called);
}

TEST_F(MonitoredTrainingSessionTest, AMasterThatIsNoneIsRefusedByName) {
  const auto made = MonitoredTrainingSession(env(), *graph_, {.master = "gopher://host:2222"});
  EXPECT_THAT(Text(made.status()), AllOf(HasSubstr("NOT_FOUND"), HasSubstr("gopher://host:2222")));
}

// A chief and a worker of one graph over shared variables.
TEST_F(MonitoredTrainingSessionTest, AWorkerWaitsForItsChiefAndHasItsOwnHooksOnly) {
  const auto factory = std::make_shared<DirectSessionFactory>(
      env(), DirectSessionOptions{.shared_resources = std::make_shared<ResourceManager>(env())});
  const auto scaffold = std::make_shared<Scaffold>(env(), *graph_);
  const auto ours = std::make_shared<CountingHook>();
  const auto the_chiefs = std::make_shared<CountingHook>();
  const MonitoredTrainingSessionOptions worker{.is_chief = false,
                                               .checkpoint_dir = kDir,
                                               .scaffold = scaffold,
                                               .hooks = {ours},
                                               .chief_only_hooks = {the_chiefs},
                                               .max_wait = Duration(10s),
                                               .factory = factory};
  EXPECT_EQ(Text(MonitoredTrainingSession(env(), *graph_, worker).status()),
            "DEADLINE_EXCEEDED: Session was not ready after waiting 10 secs.");

  const auto chief = Open({.scaffold = scaffold, .factory = factory});
  Train(*chief, 3);
  const auto session = Open(worker);
  EXPECT_EQ(session->RunWithoutHooks(step_)->values().scalar<std::int64_t>(), 3);
  Train(*session, 1);
  EXPECT_EQ(ours->runs, 1);
  EXPECT_EQ(the_chiefs->begun, 0);
  EXPECT_THAT(Names(""), IsEmpty()) << "checkpoints and summaries are the chief's";
}

// Signalled at step 3, with nothing due before step 1000.
TEST_F(MonitoredTrainingSessionTest, ASignalBringsALastCheckpoint) {
  const auto session = Open({.checkpoint_dir = kDir, .save_checkpoint_steps = 1000, .stop_on_sigterm = true});
  int runs = 0;
  const absl::Status end = WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    while (!*s.ShouldStop()) {
      VIGIL_RETURN_IF_ERROR(s.Run(train_).status());
      if (++runs == 3) fake_.signals.Raise();
    }
    return absl::OkStatus();
  });
  EXPECT_EQ(Text(end), "OK");
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(StepAfterRestart(), 3);
}

TEST_F(MonitoredTrainingSessionTest, WithStepsPerRunTheStepIsReadWhenSomethingIsDueOnly) {
  const auto reads_of = [this](std::optional<std::int64_t> steps_per_run) {
    NewGraph();
    const auto session = Open({.checkpoint_dir = fmt::format("/run{}", steps_per_run.value_or(0)),
                               .save_checkpoint_steps = 10,
                               .steps_per_run = steps_per_run});
    fake_.events.Clear();
    Train(*session, 20);
    int reads = 0;
    for (const Event& event : fake_.events.events()) {
      const bool read = event.kind == EventKind::kSessionCall && event.call == static_cast<int>(CallKind::kReadStep);
      reads += read ? 1 : 0;
    }
    EXPECT_EQ(Text(session->Close()), "OK");
    return reads;
  };
  EXPECT_GE(reads_of(std::nullopt), 20);
  EXPECT_LE(reads_of(1), 4) << "the step counter at its first run, the saver at steps 10 and 20";
  EXPECT_EQ(CodeOf(MonitoredTrainingSession(env(), *graph_, {.steps_per_run = 0}).status()), Code::kUsage);
}

// What is written beside the training is there when the session has ended, however it ended.
TEST_F(MonitoredTrainingSessionTest, AsynchronousSavesAreThereWhenTheSessionHasEnded) {
  const MonitoredTrainingSessionOptions options{
      .checkpoint_dir = kDir, .save_checkpoint_steps = std::int64_t{2}, .async_saves = true};
  TrainOnce(options, 5);
  EXPECT_THAT(Names("model.ckpt-5.index"), ElementsAre("model.ckpt-5.index"));
  EXPECT_EQ(StepAfterRestart(), 5);
  {
    NewGraph();
    const auto session = Open(options);
    Train(*session, 2);
    EXPECT_THAT(Names("model.ckpt-7"), IsEmpty()) << "it waits for its task";
    EXPECT_THAT(Text(session->Exit(MakeStatus(Code::kInternal, "the caller's own"))), HasSubstr("the caller's own"));
    EXPECT_THAT(Names("model.ckpt-7.index"), ElementsAre("model.ckpt-7.index"));
  }
  EXPECT_EQ(StepAfterRestart(), 7);
  {
    NewGraph();
    const auto dropped = Open(options);
    Train(*dropped, 2);
  }
  EXPECT_EQ(StepAfterRestart(), 9);
}

TEST_F(MonitoredTrainingSessionTest, TheSaverThatIsMadeHasTheBehaviourOfTheSession) {
  int syncs = 0;
  fake_.files.set_fault([&](fakes::FileOp op, const std::string& path) {
    if (op == fakes::FileOp::kSync && path.find("model.ckpt") != path.npos) ++syncs;
    return absl::OkStatus();
  });
  Behaviour behaviour;
  behaviour.durable_saves = false;
  const auto session = Open({.checkpoint_dir = kDir, .behaviour = behaviour});
  Train(*session, 1);
  EXPECT_EQ(Text(session->Close()), "OK");
  EXPECT_THAT(Names("model.ckpt-"), Not(IsEmpty()));
  EXPECT_EQ(syncs, 0);
}

// Aborts a run when it is told to.
class AbortingHook : public SessionRunHook {
 public:
  absl::Status AfterRun(RunContext&, const RunValues&) override {
    return std::exchange(abort, false) ? MakeStatus(Code::kAborted, "the worker went") : absl::OkStatus();
  }
  bool abort = false;
};

TEST_F(MonitoredTrainingSessionTest, ARecoveryFindsWhatWasStillBeingWritten) {
  const auto aborting = std::make_shared<AbortingHook>();
  const auto session = Open({.checkpoint_dir = kDir,
                             .hooks = {aborting},
                             .save_checkpoint_steps = std::int64_t{2},
                             .give_up_recovery_after = Duration::max(),
                             .async_saves = true});
  Train(*session, 3);
  aborting->abort = true;
  Train(*session, 1);  // step 4 is handed over, then the run is given up and made again
  EXPECT_EQ(session->recoveries(), 1);
  EXPECT_EQ(session->RunWithoutHooks(step_)->values().scalar<std::int64_t>(), 5);
  EXPECT_EQ(Text(session->Close()), "OK");
  EXPECT_THAT(Names("model.ckpt-"), Contains("model.ckpt-4.index"));
}

// The disk is stuck: the end of the session waits for its grace period, and says for what.
TEST_F(MonitoredTrainingSessionTest, AStuckAsynchronousSaveIsNamedOnceTheGracePeriodIsOver) {
  Notification held(fake_.tasks, "the disk");
  const auto session = Open(
      {.checkpoint_dir = kDir, .save_checkpoint_steps = std::int64_t{2}, .stop_grace_period = 9s, .async_saves = true});
  fake_.tasks.RunReady();
  fake_.files.set_fault([&held](fakes::FileOp op, const std::string& path) {
    if (op == fakes::FileOp::kAppend && path.find("model.ckpt-") != path.npos) held.Wait(kNever);
    return absl::OkStatus();
  });
  Train(*session, 2);
  const Time before = fake_.clock.Monotonic();
  EXPECT_THAT(Text(session->Exit(MakeStatus(Code::kInternal, "the caller's own"))), HasSubstr("the caller's own"));
  EXPECT_GE(fake_.clock.Monotonic() - before, 9s);
  EXPECT_THAT(session->stragglers(), ElementsAre("saving beside the training into /run/model.ckpt"));
  held.Notify();
  fake_.tasks.RunReady();
  EXPECT_THAT(Names("model.ckpt-2.index"), ElementsAre("model.ckpt-2.index"));
}

}  // namespace
}  // namespace vigil
