// What SyncReplicasOptimizer adds to a graph: names, places and edges are those of TensorFlow 2.21's graph.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/cluster/device_setter.h"
#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/train/optimizers/gradient_descent_optimizer.h"
#include "vigil/core/train/optimizers/sync_replicas_optimizer.h"
#include "vigil/core/train/optimizers/testing.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;

class SyncReplicasGraphTest : public testing::Test {
 protected:
  // "name (op) device inputs ^controls" of what ApplyGradients and the chief's hook add for one of two parameters
  // servers' clients.
  std::vector<std::string> Build(const Behaviour& behaviour) {
    Builder b(graph_);
    const auto cluster = ClusterSpec::Create(
        {{"chief", std::vector<std::string>{"a:1"}}, {"ps", std::vector<std::string>{"p:1", "p:2"}}});
    const DeviceScope scope(
        b, *ReplicaDeviceSetter(fake_.env(), {.worker_device = "/job:chief/task:0", .cluster = *cluster}));
    const Output step = *GetOrCreateGlobalStep(fake_.env(), b);
    const ops::Variable w = ops::MakeVariable(b, "w", b.Const("zeros", Tensor::Vector<float>({0, 0, 0})));
    const ops::Variable v = ops::MakeVariable(b, "b", b.Const("zero", Tensor::Vector<float>({0})));
    const Output dw = b.Const("dw", Tensor::Vector<float>({1, 1, 1}));
    const Output db = b.Const("db", Tensor::Vector<float>({1}));
    const NodeId first = graph_.size();
    sync_ = *SyncReplicasOptimizer::Create(
        fake_.env(),
        {.optimizer = std::make_shared<GradientDescentOptimizer>(GradientDescentOptions{.learning_rate = 0.5F}),
         .replicas_to_aggregate = 2,
         .behaviour = behaviour});
    const auto made = sync_->ApplyGradients(b, {{dw, w.ref}, {db, v.ref}}, step);
    EXPECT_EQ(Text(made.status()), "OK");
    train_op_ = graph_.node(made->node).name;
    BeginContext context{fake_.env(), graph_};
    EXPECT_EQ(Text(sync_->MakeSessionRunHook(true)->Begin(context)), "OK");
    std::vector<std::string> lines;
    for (NodeId id = first; id < graph_.size(); ++id) {
      const Node& node = graph_.node(id);
      if (node.name.starts_with("report_uninitialized_variables")) continue;
      std::string line = fmt::format("{} ({}) {}", node.name, node.op, node.device);
      for (const Output input : node.inputs) line += " " + graph_.NameOf(input);
      for (const NodeId control : node.control_inputs) line += " ^" + graph_.node(control).name;
      lines.push_back(line);
    }
    return lines;
  }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  std::shared_ptr<SyncReplicasOptimizer> sync_;
  std::string train_op_;
};

TEST_F(SyncReplicasGraphTest, IsTensorFlows) {
  const std::string chief = "/job:chief/task:0";
  const std::string ps0 = "/job:ps/task:0";
  const std::string ps1 = "/job:ps/task:1";
  const std::string s = "sync_replicas/";
  const std::string gd = "GradientDescent";
  EXPECT_THAT(
      Build(Behaviour::TensorFlow()),
      ElementsAre(
          "NoOp (NoOp) " + chief, "sync_rep_local_step/initial_value (Const) " + chief,
          "sync_rep_local_step (VariableV2) " + chief,
          "sync_rep_local_step/Assign (Assign) " + chief + " sync_rep_local_step:0 sync_rep_local_step/initial_value:0",
          "sync_rep_local_step/read (Identity) " + chief + " sync_rep_local_step:0",
          "Assign (Assign) " + chief + " sync_rep_local_step:0 global_step/read:0",
          s + "conditional_accumulator (ResourceConditionalAccumulator) " + ps1,
          s + "ResourceAccumulatorApplyGradient (ResourceAccumulatorApplyGradient) " + ps1 + " " + s +
              "conditional_accumulator:0 sync_rep_local_step/read:0 dw:0",
          s + "ResourceAccumulatorTakeGradient/num_required (Const) " + ps1,
          s + "ResourceAccumulatorTakeGradient (ResourceAccumulatorTakeGradient) " + ps1 + " " + s +
              "conditional_accumulator:0 " + s + "ResourceAccumulatorTakeGradient/num_required:0",
          s + "conditional_accumulator_1 (ResourceConditionalAccumulator) " + ps0,
          s + "ResourceAccumulatorApplyGradient_1 (ResourceAccumulatorApplyGradient) " + ps0 + " " + s +
              "conditional_accumulator_1:0 sync_rep_local_step/read:0 db:0",
          s + "ResourceAccumulatorTakeGradient_1/num_required (Const) " + ps0,
          s + "ResourceAccumulatorTakeGradient_1 (ResourceAccumulatorTakeGradient) " + ps0 + " " + s +
              "conditional_accumulator_1:0 " + s + "ResourceAccumulatorTakeGradient_1/num_required:0",
          gd + "/learning_rate (Const) " + ps0,
          gd + "/update_w/ApplyGradientDescent (ApplyGradientDescent) " + ps1 + " w:0 " + gd + "/learning_rate:0 " + s +
              "ResourceAccumulatorTakeGradient:0",
          gd + "/update_b/ApplyGradientDescent (ApplyGradientDescent) " + ps0 + " b:0 " + gd + "/learning_rate:0 " + s +
              "ResourceAccumulatorTakeGradient_1:0",
          gd + "/update/NoOp (NoOp) " + ps0 + " ^" + gd + "/update_b/ApplyGradientDescent",
          gd + "/update/NoOp_1 (NoOp) " + ps1 + " ^" + gd + "/update_w/ApplyGradientDescent",
          gd + "/update (NoOp) " + ps0 + " ^" + gd + "/update/NoOp ^" + gd + "/update/NoOp_1",
          gd + "/value (Const) " + ps0 + " ^" + gd + "/update",
          gd + " (AssignAdd) " + ps0 + " global_step:0 " + gd + "/value:0 ^" + gd + "/update",
          "sync_token_q (FIFOQueueV2) " + ps0,
          "sync_token_q_Dequeue (QueueDequeueV2) " + ps0 + " sync_token_q:0 ^" + s +
              "ResourceAccumulatorApplyGradient ^" + s + "ResourceAccumulatorApplyGradient_1",
          "Assign_1 (Assign) " + chief + " sync_rep_local_step:0 sync_token_q_Dequeue:0",
          "Fill/dims (Const) " + ps0,  // there it is the dims that wait for the update, and the step is its read
          "Fill (Fill) " + ps0 + " Fill/dims:0 global_step:0 ^" + gd,
          "sync_token_q_EnqueueMany (QueueEnqueueManyV2) " + ps0 + " sync_token_q:0 Fill:0",
          "sync_token_q_Close (QueueCloseV2) " + ps0 + " sync_token_q:0",
          "sync_token_q_Close_1 (QueueCloseV2) " + ps0 + " sync_token_q:0",
          s + "SetGlobalStep (ResourceAccumulatorSetGlobalStep) " + ps1 + " " + s +
              "conditional_accumulator:0 global_step/read:0",
          s + "SetGlobalStep_1 (ResourceAccumulatorSetGlobalStep) " + ps0 + " " + s +
              "conditional_accumulator_1:0 global_step/read:0",
          s + "group_deps/NoOp (NoOp) " + chief + " ^Assign",
          s + "group_deps/NoOp_1 (NoOp) " + ps0 + " ^" + s + "SetGlobalStep_1",
          s + "group_deps/NoOp_2 (NoOp) " + ps1 + " ^" + s + "SetGlobalStep",
          s + "group_deps (NoOp) " + chief + " ^" + s + "group_deps/NoOp ^" + s + "group_deps/NoOp_1 ^" + s +
              "group_deps/NoOp_2",
          "Fill_1/dims (Const) " + ps0, "Fill_1 (Fill) " + ps0 + " Fill_1/dims:0 global_step/read:0",
          "sync_token_q_EnqueueMany_1 (QueueEnqueueManyV2) " + ps0 + " sync_token_q:0 Fill_1:0"));
  EXPECT_EQ(train_op_, "Assign_1");
  const auto name_of = [&](std::string_view node, std::string_view attr) {
    return std::get<std::string>(graph_.node(*graph_.Find(node)).attrs.find(attr)->second);
  };
  EXPECT_EQ(name_of("sync_replicas/conditional_accumulator", "shared_name"), "w:0/grad_accum");
  EXPECT_EQ(name_of("sync_token_q", "shared_name"), "sync_token_q");
  const QueueRunnerOptions& runner = (*sync_->GetChiefQueueRunner())->options();
  EXPECT_EQ(graph_.node(runner.cancel_op).name, "sync_token_q_Close_1");
  EXPECT_EQ(graph_.node(runner.close_op).name, "sync_token_q_Close");
}

TEST_F(SyncReplicasGraphTest, AStepWithAHandleIsReadAfterTheUpdate) {
  Builder b(graph_);
  const ops::Variable step =
      ops::MakeResourceVariable(b, "global_step", b.Const("zero", Tensor::Scalar<std::int64_t>(0)));
  graph_.AddToCollection(kGlobalStep, step.ref);
  const ops::Variable w = ops::MakeVariable(b, "w", b.Const("zeros", Tensor::Vector<float>({0, 0})));
  const Output dw = b.Const("dw", Tensor::Vector<float>({1, 1}));
  const auto sync = *SyncReplicasOptimizer::Create(
      fake_.env(),
      {.optimizer = std::make_shared<GradientDescentOptimizer>(GradientDescentOptions{.learning_rate = 0.5F})});
  const auto train = sync->ApplyGradients(b, {{dw, w.ref}}, step.ref);
  ASSERT_EQ(Text(train.status()), "OK");
  EXPECT_EQ(graph_.TypeOf(*graph_.FindOutput("sync_rep_local_step")), DType::kInt64);
  const Node& tokens = graph_.node(*graph_.Find("Fill"));
  const Node& read = graph_.node(tokens.inputs[1].node);
  EXPECT_EQ(read.op, "ReadVariableOp");
  EXPECT_THAT(read.control_inputs, ElementsAre(*graph_.Find("GradientDescent")));
  const auto session = MonitoredSession::Create(fake_.env(), graph_, {.hooks = {sync->MakeSessionRunHook(true)}});
  ASSERT_EQ(Text(session.status()), "OK");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Text((*session)->Run(*train).status()), "OK");
  // The first token is of step 0.
  EXPECT_EQ((*session)->RunWithoutHooks(sync->local_step().ref)->values().scalar<std::int64_t>(), 2);
  EXPECT_EQ(Text((*session)->Close()), "OK");
  fake_.tasks.EndAll();
}

// Our own additions are attributes of TensorFlow's ops: it can read the graph.
TEST_F(SyncReplicasGraphTest, ByDefaultTheStopCancelsTheTakes) {
  const std::vector<std::string> lines = Build(Behaviour::Default());
  EXPECT_THAT(lines, testing::Contains("sync_replicas/cancel (NoOp) /job:chief/task:0 ^sync_replicas/cancel/NoOp "
                                       "^sync_replicas/cancel/NoOp_1"));
  const QueueRunnerOptions& runner = (*sync_->GetChiefQueueRunner())->options();
  EXPECT_EQ(graph_.node(runner.cancel_op).name, "sync_replicas/cancel");
  Graph again(BuiltinOps());
  ASSERT_TRUE(ImportGraphDef(ToGraphDef(graph_), again).ok());
  EXPECT_EQ(ToGraphDef(again).DebugString(), ToGraphDef(graph_).DebugString());
}

}  // namespace
}  // namespace vigil
