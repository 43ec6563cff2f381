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

  absl::StatusOr<std::unique_ptr<MonitoredSession>> Train(const std::string& job, std::vector<HookPtr> hooks = {}) {
    OneTask& task = tasks_[job];
    task.graph = std::make_unique<Graph>(BuiltinOps());
    Builder b(*task.graph);
    DeviceScope scope(b, *ReplicaDeviceSetter(task.env, {.worker_device = "/job:" + job, .cluster = spec_}));
    task.step = *GetOrCreateGlobalStep(task.env, b);
    task.train =
        ops::AssignAdd(b, "train", task.step, ops::Identity(b, "one", b.Const("c", Tensor::Scalar<std::int64_t>(1))))
            .node;
    EXPECT_TRUE(b.status().ok()) << b.status();
    return MonitoredTrainingSession(task.env, *task.graph,
                                    {.master = task.server->target(),
                                     .is_chief = job == "chief",
                                     .checkpoint_dir = kTrainDir,
                                     .hooks = std::move(hooks),
                                     .save_checkpoint_steps = 2,
                                     .save_summaries_steps = std::nullopt,
                                     .config = {.device_filters = {"/job:ps", "/job:" + job}},
                                     .log_step_count_steps = std::nullopt});
  }
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
  const auto newest = [this] { return LatestCheckpoint(fake_.env(), kTrainDir)->value_or("none"); };
  EXPECT_EQ(Step("worker", **diverged), 1);
  EXPECT_TRUE((*diverged)->Close().ok());
  EXPECT_EQ(newest(), "/train/model.ckpt-0");
  auto worker = Train("worker");
  ASSERT_TRUE(worker.ok()) << worker.status();
  EXPECT_EQ(Step("worker", **worker), 2);
  EXPECT_TRUE((*worker)->Close().ok());
  EXPECT_EQ(newest(), "/train/model.ckpt-2");
}

}  // namespace
}  // namespace vigil
