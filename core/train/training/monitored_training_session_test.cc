// Ports MonitoredTrainingSessionTest of monitored_session_test.py (its sister with a distribute coordinator context has no
// counterpart: there is no such context), and what monitored_session.py says of defaults and order.
#include "vigil/core/train/training/monitored_training_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Options = MonitoredTrainingSessionOptions;

// A monitored session has started its queue runners itself and saves through its hooks: it is no Session.
static_assert(!std::is_invocable_v<decltype(&StartQueueRunners), std::shared_ptr<MonitoredSession>, std::nullptr_t>);
static_assert(!std::is_convertible_v<MonitoredSession&, Session&>);
static_assert(!std::is_invocable_v<decltype(&Saver::Save), Saver&, MonitoredSession&, std::string, std::int64_t>);

// Counts its calls.
class Probe : public SessionRunHook {
 public:
  absl::Status Begin(BeginContext&) override { return ++begun, absl::OkStatus(); }
  absl::Status AfterRun(RunContext&, const RunValues&) override { return ++runs, absl::OkStatus(); }
  int begun = 0;
  int runs = 0;
};

// Each Train() is a process of its own over the same files: a new graph, a new writer cache.
class MonitoredTrainingSessionTest : public testing::Test {
 protected:
  // Makes a session and runs `runs` steps in its scope, one every `each`.
  absl::Status Train(const Options& options, int runs, Duration each = Duration::zero()) {
    Process process;
    Env env = fake_.env();
    env.process = &process;
    Graph graph(BuiltinOps());
    Builder b(graph);
    const Output step = *GetOrCreateGlobalStep(env, b);
    const Output train = ops::AssignAdd(b, "train", step, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
    ops::ScalarSummary(b, "my_summary", "my_summary_tag", b.Const("half", Tensor::Scalar<float>(0.5F)));
    VIGIL_RETURN_IF_ERROR(b.status());
    fake_.events.Clear();
    VIGIL_ASSIGN_OR_RETURN(const auto session, MonitoredTrainingSession(env, graph, options));
    return WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
      for (int i = 0; i < runs; ++i) {
        VIGIL_ASSIGN_OR_RETURN(const RunResult result, s.Run(train));
        last_step_ = result.values().scalar<std::int64_t>();
        fake_.clock.Advance(each);
      }
      return absl::OkStatus();
    });
  }
  // The steps that a session has behind it when it starts.
  std::int64_t StepsBefore(const Options& options) {
    const absl::Status status = Train(options, 1);
    EXPECT_TRUE(status.ok()) << status;
    return last_step_ - 1;
  }
  // Tags of the summaries that were written in the last Train(), and what else was done to writers.
  std::vector<std::string> WriterCalls() {
    std::vector<std::string> out;
    for (const Event& event : fake_.events.events()) {
      if (event.kind != EventKind::kWriterCall) continue;
      std::string what(WriterCallName(static_cast<WriterCall>(event.call)));
      for (const std::string_view tag : {"my_summary_tag", "global_step/sec"}) {
        if (event.subject.find(tag) != std::string_view::npos) what = tag;
      }
      out.push_back(what + (event.has_value ? " " + std::to_string(static_cast<std::int64_t>(event.value)) : ""));
    }
    return out;
  }
  // Saves made in the last Train().
  int Saves() {
    int saves = 0;
    for (const Event& event : fake_.events.events()) {
      saves += event.kind == EventKind::kSessionCall && event.call == static_cast<std::uint8_t>(CallKind::kSave);
    }
    return saves;
  }

  fakes::FakeEnv fake_;
  std::int64_t last_step_ = -1;
};

TEST_F(MonitoredTrainingSessionTest, SavesAndRestoresACheckpoint) {
  const Options options{.checkpoint_dir = "/run"};
  ASSERT_TRUE(Train(options, 2).ok());
  EXPECT_EQ(last_step_, 2);
  EXPECT_EQ(StepsBefore(options), 2) << "saved at the end";
}

TEST_F(MonitoredTrainingSessionTest, SaveCheckpointSteps) {
  const Options options{.checkpoint_dir = "/run", .save_checkpoint_steps = 100};
  ASSERT_TRUE(Train(options, 100).ok());
  EXPECT_EQ(Saves(), 2) << "the first and the last";
  EXPECT_EQ(StepsBefore(options), 100);
}

TEST_F(MonitoredTrainingSessionTest, SaveCheckpointSecs) {
  const Options options{.checkpoint_dir = "/run", .save_checkpoint_secs = milliseconds(100)};
  ASSERT_TRUE(Train(options, 11, milliseconds(50)).ok());
  EXPECT_EQ(Saves(), 7) << "the first, after 2, 4, ... 10 steps, the last";
  EXPECT_EQ(StepsBefore(options), 11);
}

TEST_F(MonitoredTrainingSessionTest, CheckpointsAreSavedEveryTenMinutesUnlessSomethingElseIsSaid) {
  ASSERT_TRUE(Train({.checkpoint_dir = "/run"}, 4, seconds(300)).ok());
  EXPECT_EQ(Saves(), 3) << "at 0, after 600 s, in the end";
}

TEST_F(MonitoredTrainingSessionTest, SummariesSteps) {
  const Options options{.checkpoint_dir = "/run", .save_summaries_steps = 100, .log_step_count_steps = 10};
  ASSERT_TRUE(Train(options, 101, milliseconds(10)).ok());
  EXPECT_THAT(WriterCalls(), Contains("my_summary_tag 1"));
  EXPECT_THAT(WriterCalls(), Contains("my_summary_tag 101"));
  EXPECT_THAT(WriterCalls(), Contains("global_step/sec 11"));
  EXPECT_THAT(WriterCalls(), testing::Not(Contains("my_summary_tag 100")));
}

TEST_F(MonitoredTrainingSessionTest, SummariesSecs) {
  const Options options{.checkpoint_dir = "/run",
                        .save_summaries_steps = std::nullopt,
                        .save_summaries_secs = milliseconds(100),
                        .log_step_count_steps = 10};
  ASSERT_TRUE(Train(options, 101, milliseconds(50)).ok());
  EXPECT_THAT(WriterCalls(), Contains("my_summary_tag 3"));
  EXPECT_THAT(WriterCalls(), Contains("my_summary_tag 5"));
  EXPECT_THAT(WriterCalls(), testing::Not(Contains("my_summary_tag 4")));
  EXPECT_THAT(WriterCalls(), Contains("global_step/sec 11"));
}

TEST_F(MonitoredTrainingSessionTest, SummariesAreWrittenEveryHundredStepsUnlessSomethingElseIsSaid) {
  ASSERT_TRUE(Train({.checkpoint_dir = "/run", .save_checkpoint_secs = std::nullopt}, 101, seconds(1)).ok());
  EXPECT_THAT(WriterCalls(),
              ElementsAre("session_log 1", "my_summary_tag 1", "my_summary_tag 101", "global_step/sec 101", "flush"));
}

// test_custom_saving
TEST_F(MonitoredTrainingSessionTest, SavingCanBeLeftToAChiefOnlyHook) {
  const auto probe = std::make_shared<Probe>();
  const Options options{.checkpoint_dir = "/run", .chief_only_hooks = {probe}, .save_checkpoint_secs = seconds(0)};
  ASSERT_TRUE(Train(options, 11).ok());
  EXPECT_EQ(probe->begun, 1);
  EXPECT_EQ(probe->runs, 11);
  EXPECT_EQ(Saves(), 0);
  EXPECT_EQ(StepsBefore({.checkpoint_dir = "/run", .save_checkpoint_secs = seconds(0)}), 0);
}

TEST_F(MonitoredTrainingSessionTest, ExplicitNoneCountsAsGiven) {
  ASSERT_TRUE(Train({.checkpoint_dir = "/run", .save_checkpoint_steps = std::nullopt}, 3).ok());
  EXPECT_EQ(Saves(), 0);
  ASSERT_TRUE(Train({.checkpoint_dir = "/run", .save_summaries_secs = std::nullopt}, 3).ok());
  EXPECT_THAT(WriterCalls(), testing::Not(Contains(HasSubstr("my_summary_tag"))));
  EXPECT_EQ(Saves(), 2);
}

TEST_F(MonitoredTrainingSessionTest, RestoresAlsoWhenSavingIsOff) {
  ASSERT_TRUE(Train({.checkpoint_dir = "/run"}, 5).ok());
  EXPECT_EQ(StepsBefore({.checkpoint_dir = "/run", .save_checkpoint_steps = std::nullopt}), 5);
  EXPECT_EQ(Saves(), 0);
}

TEST_F(MonitoredTrainingSessionTest, PeriodsInBothUnitsAreRefused) {
  const auto refusal = [this](const Options& options) {
    const absl::Status status = Train(options, 1);
    EXPECT_EQ(CodeOf(status), Code::kUsage);
    return std::string(MessageOf(status));
  };
  EXPECT_THAT(refusal({.checkpoint_dir = "/run", .save_checkpoint_secs = seconds(5), .save_checkpoint_steps = 2}),
              HasSubstr("Can not provide both"));
  EXPECT_THAT(refusal({.checkpoint_dir = "/run", .save_summaries_steps = 2, .save_summaries_secs = seconds(5)}),
              HasSubstr("Can not provide both"));
  EXPECT_TRUE(Train({.save_checkpoint_secs = seconds(5), .save_checkpoint_steps = 2}, 1).ok())
      << "without a directory nobody looks at them";
}

TEST_F(MonitoredTrainingSessionTest, SummariesMayHaveADirectoryOfTheirOwn) {
  const Options options{.save_summaries_steps = 1, .log_step_count_steps = 1, .summary_dir = "/summaries"};
  ASSERT_TRUE(Train(options, 2, seconds(1)).ok());
  EXPECT_THAT(WriterCalls(),
              ElementsAre("session_log 1", "my_summary_tag 1", "global_step/sec 2", "my_summary_tag 2", "flush"))
      << "the step counter comes before the summary saver";
  EXPECT_EQ(Saves(), 0);
}

TEST_F(MonitoredTrainingSessionTest, StepsAreNotCountedWhenToldSo) {
  for (const std::optional<std::int64_t> never : {std::optional<std::int64_t>(), std::optional<std::int64_t>(0)}) {
    const Options options{.save_summaries_steps = 1, .log_step_count_steps = never, .summary_dir = "/summaries"};
    ASSERT_TRUE(Train(options, 3, seconds(1)).ok());
    EXPECT_THAT(WriterCalls(), testing::Not(Contains(HasSubstr("global_step/sec"))));
  }
}

TEST_F(MonitoredTrainingSessionTest, GraphAndMetaGraphCanBeLeftOut) {
  ASSERT_TRUE(Train({.checkpoint_dir = "/with"}, 1).ok());
  EXPECT_TRUE(Exists(fake_.files, "/with/graph.pbtxt"));
  ASSERT_TRUE(Train({.checkpoint_dir = "/without", .save_graph_def = false}, 1).ok());
  EXPECT_FALSE(Exists(fake_.files, "/without/graph.pbtxt"));
  EXPECT_FALSE(Exists(fake_.files, "/without/model.ckpt-1.meta"));
  EXPECT_TRUE(Exists(fake_.files, "/without/model.ckpt-1.index"));
}

TEST_F(MonitoredTrainingSessionTest, ChiefOnlyHooksComeFirstAndTheUsersLast) {
  // At the end of a session each hook says what it finds in the directory: the saver has its turn in between.
  class Looker : public SessionRunHook {
   public:
    Looker(Files& files, std::vector<bool>& seen) : files_(files), seen_(seen) {}
    absl::Status End(Session*) override {
      seen_.push_back(Exists(files_, "/run/model.ckpt-3.index"));
      return absl::OkStatus();
    }

   private:
    Files& files_;
    std::vector<bool>& seen_;
  };
  std::vector<bool> seen;
  const Options options{.checkpoint_dir = "/run",
                        .hooks = {std::make_shared<Looker>(fake_.files, seen)},
                        .chief_only_hooks = {std::make_shared<Looker>(fake_.files, seen)}};
  ASSERT_TRUE(Train(options, 3).ok());
  EXPECT_THAT(seen, ElementsAre(false, true));
}

TEST_F(MonitoredTrainingSessionTest, AWorkerHasTheUsersHooksOnly) {
  const auto shared = std::make_shared<ResourceManager>(fake_.env());
  const auto factory =
      std::make_shared<DirectSessionFactory>(fake_.env(), DirectSessionOptions{.shared_resources = shared});
  ASSERT_TRUE(Train({.factory = factory}, 4).ok()) << "the chief";
  const auto of_user = std::make_shared<Probe>();
  const auto of_chief = std::make_shared<Probe>();
  const Options options{.is_chief = false,
                        .checkpoint_dir = "/run",
                        .hooks = {of_user},
                        .chief_only_hooks = {of_chief},
                        .save_checkpoint_secs = seconds(5),
                        .save_checkpoint_steps = 2,  // refused of a chief
                        .save_summaries_steps = 1,
                        .factory = factory};
  ASSERT_TRUE(Train(options, 2).ok());
  EXPECT_EQ(last_step_, 6) << "goes on where the model stands";
  EXPECT_EQ(of_user->runs, 2);
  EXPECT_EQ(of_chief->begun, 0);
  EXPECT_THAT(WriterCalls(), IsEmpty());
  EXPECT_EQ(Saves(), 0);
}

TEST_F(MonitoredTrainingSessionTest, AWorkerGivesUpAfterMaxWait) {
  const auto shared = std::make_shared<ResourceManager>(fake_.env());
  const auto factory =
      std::make_shared<DirectSessionFactory>(fake_.env(), DirectSessionOptions{.shared_resources = shared});
  Options options{.is_chief = false, .behaviour = Behaviour::TensorFlow(), .factory = factory};
  const absl::Status status = Train(options, 1);
  EXPECT_EQ(CodeOf(status), Code::kDeadlineExceeded);
  EXPECT_EQ(MessageOf(status), "Session was not ready after waiting 7200 secs.");
  EXPECT_EQ(ToSeconds(fake_.clock.Monotonic().since_epoch), 7200);
  options.max_wait = seconds(70);
  EXPECT_EQ(MessageOf(Train(options, 1)), "Session was not ready after waiting 70 secs.");
}

TEST_F(MonitoredTrainingSessionTest, MastersOtherThanThisProcessAreRefusedByName) {
  for (const bool is_chief : {true, false}) {
    const absl::Status status = Train({.master = "grpc://w0:2222", .is_chief = is_chief}, 1);
    EXPECT_EQ(CodeOf(status), Code::kUnimplemented);
    EXPECT_THAT(std::string(MessageOf(status)), HasSubstr("'grpc://w0:2222'"));
  }
}

TEST_F(MonitoredTrainingSessionTest, TheConfigurationReachesTheSession) {
  class Factory : public SessionFactory {
   public:
    explicit Factory(const Env& env) : inner_(env) {}
    absl::StatusOr<std::unique_ptr<Session>> Create(const Graph& graph, const std::string& master,
                                                    const SessionConfig& config) override {
      timeouts.push_back(config.operation_timeout_in_ms);
      return inner_.Create(graph, master, config);
    }
    std::vector<std::int64_t> timeouts;

   private:
    DirectSessionFactory inner_;
  };
  const auto factory = std::make_shared<Factory>(fake_.env());
  const SessionConfig config{.operation_timeout_in_ms = 1234};
  ASSERT_TRUE(Train({.config = config, .factory = factory}, 1).ok());
  EXPECT_FALSE(Train({.is_chief = false, .config = config, .max_wait = seconds(1), .factory = factory}, 1).ok());
  EXPECT_THAT(factory->timeouts, Contains(1234).Times(static_cast<int>(factory->timeouts.size())));
  EXPECT_GE(factory->timeouts.size(), 2U);
}

}  // namespace
}  // namespace vigil
