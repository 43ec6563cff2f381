// Monitored training on a cluster: a chief and a worker, their variables on a parameter server that is lost and comes
// back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/device_setter.h"
#include "vigil/core/cluster/server/server.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

constexpr char kTrainDir[] = "/train";

class ClusterTrainingTest : public testing::Test {
 protected:
  // A task: a process of its own, and the graph that its program builds.
  struct OneTask {
    Process process;
    fakes::SequenceRandom random;
    Env env;
    std::unique_ptr<Server> server;
    std::unique_ptr<Graph> graph;
    Output step;
    NodeId train = kNoNode;
  };

  ClusterTrainingTest() {
    for (const char* const job : {"ps", "chief", "worker"}) {
      OneTask& task = tasks_[job];
      task.env = fake_.env();
      task.env.process = &task.process;
      task.env.random = &task.random;
      Start(job);
    }
  }
  ~ClusterTrainingTest() override { fake_.tasks.EndAll(); }

  void Start(const std::string& job) {
    OneTask& task = tasks_[job];
    task.server = nullptr;
    task.random.Set("device incarnation", {++starts_ << 8 | 1});
    task.server = *Server::Create(task.env, {.cluster = spec_, .job_name = job});
  }

  absl::StatusOr<std::unique_ptr<MonitoredSession>> Train(const std::string& job, std::vector<HookPtr> hooks = {},
                                                          InitFn init_fn = nullptr) {
    OneTask& task = tasks_[job];
    task.graph = std::make_unique<Graph>(BuiltinOps());
    Builder b(*task.graph);
    DeviceScope scope(b, *ReplicaDeviceSetter(task.env, {.worker_device = "/job:" + job, .cluster = spec_}));
    task.step = *GetOrCreateGlobalStep(task.env, b);
    task.train =
        ops::AssignAdd(b, "train", task.step, ops::Identity(b, "one", b.Const("c", Tensor::Scalar<std::int64_t>(1))))
            .node;
    EXPECT_TRUE(b.status().ok()) << b.status();
    const auto scaffold =
        std::make_shared<Scaffold>(task.env, *task.graph, ScaffoldOptions{.init_fn = std::move(init_fn)});
    return MonitoredTrainingSession(task.env, *task.graph,
                                    {.master = task.server->target(),
                                     .is_chief = job == "chief",
                                     .checkpoint_dir = kTrainDir,
                                     .scaffold = scaffold,
                                     .hooks = std::move(hooks),
                                     .chief_only_hooks = chief_only_hooks_,
                                     .save_checkpoint_steps = save_steps_,
                                     .save_summaries_steps = std::nullopt,
                                     .config = {.device_filters = {"/job:ps", "/job:" + job}},
                                     .log_step_count_steps = std::nullopt});
  }
  // The process is gone, and what follows it on its machine starts.
  void Restart(const std::string& job, std::unique_ptr<MonitoredSession>& session) {
    session->Exit(MakeStatus(Code::kNanLoss, "NaN loss during training.")).IgnoreError();
    session = nullptr;
    Start(job);
  }
  std::string Newest() { return LatestCheckpoint(fake_.env(), kTrainDir)->value_or("none"); }
  // The global step after one more step.
  std::int64_t Step(const std::string& job, MonitoredSession& session) {
    const OneTask& task = tasks_[job];
    const auto result = session.Run(Fetches::List({Fetches(task.step), Fetches::Op(task.train)}));
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? result->values()[0].scalar<std::int64_t>() : -1;
  }

  fakes::FakeEnv fake_;
  ClusterSpec spec_ = *ClusterSpec::Create({{"ps", std::vector<std::string>{"ps0:1"}},
                                            {"chief", std::vector<std::string>{"chief0:1"}},
                                            {"worker", std::vector<std::string>{"worker0:1"}}});
  std::map<std::string, OneTask> tasks_;
  std::uint64_t starts_ = 0;
  std::int64_t save_steps_ = 2;
  std::vector<HookPtr> chief_only_hooks_;  // they come before the one that saves
};

TEST_F(ClusterTrainingTest, AllTasksTrainOneModelAndRecoverWhenItsServerRestarts) {
  auto chief = Train("chief");
  ASSERT_TRUE(chief.ok()) << chief.status();
  auto worker = Train("worker");
  ASSERT_TRUE(worker.ok()) << worker.status();
  EXPECT_EQ(Step("chief", **chief), 1);
  EXPECT_EQ(Step("worker", **worker), 2);
  EXPECT_EQ(Step("chief", **chief), 3);
  EXPECT_EQ(Step("worker", **worker), 4);
  EXPECT_EQ(Step("worker", **worker), 5);
  Start("ps");
  // From the newest checkpoint, which the chief has written at step 3.
  EXPECT_EQ(Step("chief", **chief), 4);
  EXPECT_EQ(Step("worker", **worker), 5);
  EXPECT_TRUE((*worker)->Close().ok());
  EXPECT_TRUE((*chief)->Close().ok());
}

// As NanTensorHook does when the loss is NaN.
class Diverges : public SessionRunHook {
 public:
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>& coord) override {
    coord->MarkDiverged();
    return absl::OkStatus();
  }
};

TEST_F(ClusterTrainingTest, AWorkerWhoseChiefIsGoneSavesTheLastStepButNoModelThatHasDiverged) {
  ASSERT_TRUE((*Train("chief"))->Close().ok());
  tasks_["chief"].server = nullptr;
  auto diverged = Train("worker", {std::make_shared<Diverges>()});
  ASSERT_TRUE(diverged.ok()) << diverged.status();
  EXPECT_EQ(Step("worker", **diverged), 1);
  EXPECT_TRUE((*diverged)->Close().ok());
  EXPECT_EQ(Newest(), "/train/model.ckpt-0");
  auto worker = Train("worker");
  ASSERT_TRUE(worker.ok()) << worker.status();
  EXPECT_EQ(Step("worker", **worker), 2);
  EXPECT_TRUE((*worker)->Close().ok());
  EXPECT_EQ(Newest(), "/train/model.ckpt-2");
}

// At its `at`-th run, as NanTensorHook, which sees it before any AfterRun and fails in its own.
class FailsAsNan : public SessionRunHook {
 public:
  explicit FailsAsNan(int at) : left_(at) {}
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>& coord) override {
    coord_ = coord;
    return absl::OkStatus();
  }
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args.fetches = Fetches::Named("global_step:0");
    return absl::OkStatus();
  }
  void Inspect(const FetchedValues&) override {
    if (--left_ == 0) coord_->MarkDiverged();
  }
  absl::Status AfterRun(RunContext&, const RunValues&) override {
    return left_ == 0 ? MakeStatus(Code::kNanLoss, "NaN loss during training.") : absl::OkStatus();
  }

 private:
  int left_;
  std::shared_ptr<Coordinator> coord_;
};

// The servers hold the NaN still: a chief that is started again would find its model alive.
TEST_F(ClusterTrainingTest, AChiefThatComesBackDoesNotGoOnWithAModelThatHasDiverged) {
  auto chief = Train("chief");
  ASSERT_TRUE(chief.ok()) << chief.status();
  for (int step = 1; step <= 3; ++step) EXPECT_EQ(Step("chief", **chief), step);
  Restart("chief", *chief);
  chief_only_hooks_ = {std::make_shared<FailsAsNan>(3)};
  chief = Train("chief");
  chief_only_hooks_.clear();
  ASSERT_TRUE(chief.ok()) << chief.status();
  EXPECT_EQ(Step("chief", **chief), 4) << "nothing was wrong: it goes on with what the servers hold";
  EXPECT_EQ(Step("chief", **chief), 5);
  EXPECT_EQ(CodeOf((*chief)->Run(Fetches::Op(tasks_["chief"].train)).status()), Code::kNanLoss);
  EXPECT_EQ(Newest(), "/train/model.ckpt-5");
  tasks_["chief"].server = nullptr;
  auto worker = Train("worker");
  ASSERT_TRUE(worker.ok()) << worker.status();
  EXPECT_EQ(Step("worker", **worker), 7);
  EXPECT_TRUE((*worker)->Close().ok());
  EXPECT_EQ(Newest(), "/train/model.ckpt-5") << "the last one does not save it, though it has seen nothing itself";
  Restart("chief", *chief);
  chief = Train("chief");
  ASSERT_TRUE(chief.ok()) << chief.status();
  EXPECT_EQ(Step("chief", **chief), 6) << "restored";
  Restart("chief", *chief);
  chief = Train("chief");
  ASSERT_TRUE(chief.ok()) << chief.status();
  EXPECT_EQ(Step("chief", **chief), 7) << "this model has not diverged";
  EXPECT_TRUE((*chief)->Close().ok());
}

// By then the variables are initialised, and a chief that looks finds them so.
TEST_F(ClusterTrainingTest, AnInitFnThatWasNotThroughRunsAgain) {
  int calls = 0;
  const auto train = [&](int fails) {
    return Train("chief", {}, [&calls, fails](const Scaffold&, Session&) {
      return ++calls <= fails ? MakeStatus(Code::kAborted, "a server is gone") : absl::OkStatus();
    });
  };
  auto chief = train(2);  // each time the same process tries again
  ASSERT_TRUE(chief.ok()) << chief.status();
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(Step("chief", **chief), 1);
  Restart("chief", *chief);
  chief = train(3);
  ASSERT_TRUE(chief.ok()) << chief.status();
  EXPECT_EQ(calls, 3) << "it was through";
  EXPECT_EQ(Step("chief", **chief), 2);
  EXPECT_TRUE((*chief)->Close().ok());
}

// That there is no checkpoint says nothing: it may not be saved at all.
TEST_F(ClusterTrainingTest, AModelThatIsNotSavedIsGoneOnWithToo) {
  save_steps_ = 0;
  int calls = 0;
  const auto train = [&] {
    return Train("chief", {}, [&calls](const Scaffold&, Session&) {
      ++calls;
      return absl::OkStatus();
    });
  };
  auto chief = train();
  ASSERT_TRUE(chief.ok()) << chief.status();
  EXPECT_EQ(Step("chief", **chief), 1);
  Restart("chief", *chief);
  chief = train();
  ASSERT_TRUE(chief.ok()) << chief.status();
  EXPECT_EQ(Step("chief", **chief), 2);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE((*chief)->Close().ok());
}

TEST_F(ClusterTrainingTest, AnInitFnThatWasNotThroughInAProcessThatIsGoneRunsAgain) {
  int calls = 0;
  const auto train = [&] {
    return Train("chief", {}, [&calls](const Scaffold&, Session&) {
      return ++calls == 1 ? MakeStatus(Code::kDataLoss, "no weights there") : absl::OkStatus();
    });
  };
  EXPECT_EQ(CodeOf(train().status()), Code::kDataLoss);
  Start("chief");
  const auto chief = train();
  ASSERT_TRUE(chief.ok()) << chief.status();
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE((*chief)->Close().ok());
}

}  // namespace
}  // namespace vigil
