// Values and words are those of TensorFlow 2.21: of two or three workers and a parameter server that made the same
// calls.
#include "vigil/core/train/optimizers/sync_replicas_optimizer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/train/optimizers/gradient_descent_optimizer.h"
#include "vigil/core/train/optimizers/momentum_optimizer.h"
#include "vigil/core/train/optimizers/testing.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SyncReplicasOptimizerTest : public testing::Test {
 protected:
  ~SyncReplicasOptimizerTest() override { fake_.tasks.EndAll(); }
  Env env() { return fake_.env(); }
  SyncReplica& Add(ReplicaOptions options) {
    replicas_.push_back(std::make_unique<SyncReplica>(env(), resources_, static_cast<int>(replicas_.size()), options));
    return *replicas_.back();
  }
  void OpenAll() {
    for (const auto& replica : replicas_) ASSERT_EQ(Text(replica->Open()), "OK");
    fake_.tasks.RunReady();
  }
  // A step in a task of its own, which writes a line when it is done; it runs until it is done or waits.
  void Start(const std::string& name, SyncReplica& replica, float gradient) {
    tasks_.push_back(
        fake_.tasks.Spawn(name, [&, name, gradient] { lines_.push_back(name + " " + Text(replica.Step(gradient))); }));
    fake_.tasks.RunReady();
  }
  // What a replica sees: "local 0 step 1 v -1 0 w 8 tokens 2 acc 0".
  std::string Look(SyncReplica& r) {
    fake_.tasks.RunReady();
    return fmt::format("local {} step {} v {} w {} tokens {} acc {}", r.LocalStep(), r.Value(r.step), r.Value(r.v),
                       r.Value(r.w), r.Tokens(), r.Accumulated());
  }

  fakes::FakeEnv fake_;
  std::shared_ptr<ResourceManager> resources_ = std::make_shared<ResourceManager>(fake_.env());
  std::vector<std::string> lines_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<std::unique_ptr<SyncReplica>> replicas_;
};

TEST_F(SyncReplicasOptimizerTest, TwoReplicasGoInStep) {
  SyncReplica& chief = Add({.num_tokens = 0});
  SyncReplica& worker = Add({.num_tokens = 0});
  OpenAll();
  EXPECT_EQ(Look(chief), "local 0 step 0 v 1 2 w 10 tokens 0 acc 0");
  Start("worker", worker, 1);
  EXPECT_THAT(lines_, IsEmpty());
  EXPECT_EQ(Look(chief), "local 0 step 0 v 1 2 w 10 tokens 0 acc 1");
  EXPECT_EQ(Text(chief.Step(3)), "OK");
  EXPECT_EQ(Look(chief), "local 1 step 1 v -1 0 w 8 tokens 0 acc 0");
  EXPECT_EQ(Look(worker), "local 1 step 1 v -1 0 w 8 tokens 0 acc 0");
  Start("chief", chief, 2);
  EXPECT_EQ(Text(worker.Step(4)), "OK");
  EXPECT_EQ(Look(chief), "local 2 step 2 v -4 -3 w 5 tokens 0 acc 0");
  EXPECT_THAT(lines_, ElementsAre("worker OK", "chief OK"));
}

// As many tokens as gradients in a step: one replica may go ahead alone, and what it pushes late is dropped.
// The slots are where the variables are, and one for all replicas.
TEST_F(SyncReplicasOptimizerTest, GoesOverOptimizersWithSlots) {
  const auto momentum = [] {
    return std::make_shared<MomentumOptimizer>(MomentumOptions{.learning_rate = 1, .momentum = 0.5});
  };
  SyncReplica& chief = Add({.num_tokens = 0, .inside = momentum()});
  SyncReplica& worker = Add({.num_tokens = 0, .inside = momentum()});
  OpenAll();
  Start("worker", worker, 1);
  Start("chief", chief, 3);
  EXPECT_EQ(Look(chief), "local 1 step 1 v -1 0 w 8 tokens 0 acc 0");
  Start("worker", worker, 1);
  Start("chief", chief, 1);
  EXPECT_EQ(Look(chief), "local 2 step 2 v -3 -2 w 6 tokens 0 acc 0");
  EXPECT_TRUE(chief.graph.Find("v/Momentum").has_value());
}

TEST_F(SyncReplicasOptimizerTest, WithTheFirstTokensOneReplicaMayTakeSeveral) {
  SyncReplica& chief = Add({});
  SyncReplica& worker = Add({});
  OpenAll();
  EXPECT_EQ(Look(chief), "local 0 step 0 v 1 2 w 10 tokens 2 acc 0");
  EXPECT_EQ(Text(chief.Step(1)), "OK");
  EXPECT_EQ(Look(chief), "local 0 step 0 v 1 2 w 10 tokens 1 acc 1");
  EXPECT_EQ(Text(chief.Step(3)), "OK");
  EXPECT_EQ(Look(chief), "local 0 step 1 v -1 0 w 8 tokens 2 acc 0");
  EXPECT_EQ(Text(chief.Step(5)), "OK");
  EXPECT_EQ(Look(chief), "local 1 step 1 v -1 0 w 8 tokens 1 acc 0");
  EXPECT_EQ(Text(worker.Step(7)), "OK");
  EXPECT_EQ(Look(worker), "local 1 step 1 v -1 0 w 8 tokens 0 acc 0");
}

TEST_F(SyncReplicasOptimizerTest, ABackupReplicaThatComesLateIsDropped) {
  SyncReplica& chief = Add({.total = 3});
  SyncReplica& worker = Add({.total = 3});
  SyncReplica& backup = Add({.total = 3});
  OpenAll();
  EXPECT_EQ(Look(chief), "local 0 step 0 v 1 2 w 10 tokens 2 acc 0");
  EXPECT_EQ(Text(chief.Step(1)), "OK");
  EXPECT_EQ(Look(chief), "local 0 step 0 v 1 2 w 10 tokens 1 acc 1");
  EXPECT_EQ(Text(worker.Step(3)), "OK");
  EXPECT_EQ(Look(worker), "local 0 step 1 v -1 0 w 8 tokens 3 acc 0");
  EXPECT_EQ(Text(backup.Step(50)), "OK");
  EXPECT_EQ(Look(backup), "local 1 step 1 v -1 0 w 8 tokens 2 acc 0");
  EXPECT_EQ(Text(chief.Step(2)), "OK");
  EXPECT_EQ(Look(chief), "local 1 step 1 v -1 0 w 8 tokens 1 acc 0");
  EXPECT_EQ(Text(backup.Step(4)), "OK");
  EXPECT_EQ(Look(backup), "local 1 step 1 v -1 0 w 8 tokens 0 acc 1");
}

// Tokens: those of the beginning and max(total, aggregate) a step go in, one for each step of a replica comes out.
TEST_F(SyncReplicasOptimizerTest, TokensAreConserved) {
  constexpr int kStepsEach = 20;
  for (int i = 0; i < 3; ++i) Add({.aggregate = 2, .total = 3});
  OpenAll();
  for (const auto& replica : replicas_) {
    tasks_.push_back(fake_.tasks.Spawn("replica", [&] {
      for (int i = 0; i < kStepsEach; ++i) lines_.push_back(Text(replica->Step(0)));
    }));
  }
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, testing::Each("OK"));
  const int steps = std::stoi(replicas_[0]->Value(replicas_[0]->step));
  const int done = static_cast<int>(lines_.size());
  EXPECT_EQ(std::stoi(replicas_[0]->Tokens()), 2 + 3 * steps - done);
  EXPECT_GT(done, kStepsEach);  // some may wait for others that have ended
  EXPECT_LE(2 * steps, done);
}

TEST_F(SyncReplicasOptimizerTest, RefusesInTensorFlowsWords) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const Output step = *GetOrCreateGlobalStep(env(), b);
  const ops::Variable v = ops::MakeVariable(b, "v", b.Const("zero", Tensor::Scalar<float>(0)));
  const Output g = b.Const("g", Tensor::Scalar<float>(1));
  const auto inner = std::make_shared<GradientDescentOptimizer>(GradientDescentOptions{.learning_rate = 1});
  EXPECT_THAT(Text(SyncReplicasOptimizer::Create(env(), {}).status()), HasSubstr("USAGE"));
  const auto sync =
      *SyncReplicasOptimizer::Create(env(), {.optimizer = inner, .replicas_to_aggregate = 3, .total_num_replicas = 2});
  EXPECT_THAT(fake_.log.lines().back().text, "SyncReplicasV2: replicas_to_aggregate=3; total_num_replicas=2");
  EXPECT_EQ(Text(sync->ApplyGradients(b, {}, step).status()), "USAGE: Must supply at least one variable");
  EXPECT_EQ(Text(sync->ApplyGradients(b, {{g, v.ref}}).status()), "USAGE: Global step is required to check staleness");
  EXPECT_EQ(Text(sync->ApplyGradients(b, {{{}, v.ref}}, step).status()),
            "USAGE: No gradients provided for any variable: ['v:0'].");
  EXPECT_EQ(Text(sync->GetChiefQueueRunner().status()), "USAGE: Should be called after apply_gradients().");
  EXPECT_EQ(Text(sync->GetInitTokensOp(b).status()),
            "USAGE: get_init_tokens_op() should be called after apply_gradients().");
  BeginContext context{env(), graph};
  EXPECT_EQ(Text(sync->MakeSessionRunHook(true)->Begin(context)),
            "USAGE: SyncReplicasOptimizer.apply_gradient should be called before using the hook.");
  ASSERT_EQ(Text(sync->ApplyGradients(b, {{g, v.ref}}, step).status()), "OK");
  EXPECT_EQ(Text(sync->GetInitTokensOp(b, 0).status()),
            "USAGE: Too few tokens to finish the first step: 0 (given) vs 1 (needed)");
  EXPECT_EQ(Text(sync->GetInitTokensOp(b, 1).status()), "OK");
  const Output foreign{9999};
  for (const GradientAndVariable& pair : {GradientAndVariable{g, foreign}, GradientAndVariable{foreign, v.ref}}) {
    Builder own(graph);
    EXPECT_EQ(Text(sync->ApplyGradients(own, {{g, v.ref}, pair}, step).status()),
              "USAGE: A gradient or a variable is not an output of a node of this graph.");
  }
  const auto few =
      *SyncReplicasOptimizer::Create(env(), {.optimizer = inner, .replicas_to_aggregate = 1, .total_num_replicas = 3});
  ASSERT_EQ(Text(few->ApplyGradients(b, {{g, v.ref}}, step).status()), "OK");
  EXPECT_EQ(Text(few->GetInitTokensOp(b, -2).status()), "OK") << "none is needed, and as many are given";
  EXPECT_EQ((*sync->GetChiefQueueRunner())->name(), "sync_token_q");
  EXPECT_EQ(sync->GetSlot(v.ref, "momentum"), std::nullopt);
  EXPECT_THAT(sync->GetSlotNames(), IsEmpty());
  EXPECT_THAT(sync->variables(), IsEmpty());
}

// An optimizer with variables of its own.
class WithSlots : public GradientDescentOptimizer {
 public:
  explicit WithSlots(Output slot) : GradientDescentOptimizer({.learning_rate = 1}), slot_(slot) {}
  std::optional<Output> GetSlot(Output, std::string_view slot) const override {
    return slot == "momentum" ? std::optional(slot_) : std::nullopt;
  }
  std::vector<std::string> GetSlotNames() const override { return {"momentum"}; }
  std::vector<Output> variables() const override { return {slot_}; }

 private:
  const Output slot_;
};

TEST_F(SyncReplicasOptimizerTest, VariablesAndSlotsAreThoseOfTheOptimizerInside) {
  const Output slot{5, 0};
  const auto sync = *SyncReplicasOptimizer::Create(env(), {.optimizer = std::make_shared<WithSlots>(slot)});
  EXPECT_EQ(sync->GetSlot({1, 0}, "momentum"), slot);
  EXPECT_EQ(sync->GetSlot({1, 0}, "rms"), std::nullopt);
  EXPECT_THAT(sync->GetSlotNames(), ElementsAre("momentum"));
  EXPECT_THAT(sync->variables(), ElementsAre(slot));
}

TEST_F(SyncReplicasOptimizerTest, AHookMayBeMadeBeforeTheGradientsAreApplied) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const auto sync = *SyncReplicasOptimizer::Create(
      env(), {.optimizer = std::make_shared<GradientDescentOptimizer>(GradientDescentOptions{})});
  const HookPtr hook = sync->MakeSessionRunHook(true);
  const ops::Variable v = ops::MakeVariable(b, "v", b.Const("zero", Tensor::Scalar<float>(0)));
  ASSERT_EQ(Text(sync->ApplyGradients(b, {{v.read, v.ref}}, *GetOrCreateGlobalStep(env(), b)).status()), "OK");
  BeginContext context{env(), graph};
  EXPECT_EQ(Text(hook->Begin(context)), "OK");
}

TEST_F(SyncReplicasOptimizerTest, WhoWaitsForEverAsksForNoTimeout) {
  SyncReplica& chief = Add({});
  for (const std::optional<Duration> max_wait :
       {std::optional<Duration>(std::chrono::seconds(3)), std::optional<Duration>()}) {
    const HookPtr hook = chief.optimizer->MakeSessionRunHook(true, -1, max_wait);
    const std::unique_ptr<Session> session = NewDirectSession(env(), chief.graph);
    const Fetches fetches;
    const Feeds feeds;
    RunContext context(fetches, feeds, *session);
    RunArgs args;
    EXPECT_EQ(Text(hook->BeforeRun(context, args)), "OK");
    ASSERT_EQ(args.options.has_value(), max_wait.has_value());
    if (max_wait.has_value()) {
      EXPECT_EQ(args.options->timeout_in_ms, 3000);
    }
  }
}

// What the chief's hook says of a model that nobody has initialised.
TEST_F(SyncReplicasOptimizerTest, TheModelMustBeReady) {
  SyncReplica& chief = Add({});
  const HookPtr hook = chief.optimizer->MakeSessionRunHook(true);
  BeginContext context{env(), chief.graph};
  ASSERT_EQ(Text(hook->Begin(context)), "OK");
  const std::shared_ptr<Session> session = NewDirectSession(env(), chief.graph);
  const auto coord = std::make_shared<Coordinator>(env());
  EXPECT_EQ(Text(hook->AfterCreateSession(session, coord)),
            "USAGE: Init operations did not make model ready for SyncReplicasOptimizer local_init. Init op: "
            "sync_replicas/group_deps, error: Variables not initialized: global_step, v, w");
}

}  // namespace
}  // namespace vigil
