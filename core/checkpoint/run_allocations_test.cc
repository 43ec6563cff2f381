// A repeated run of a graph of scalars allocates nothing. This program counts all allocations of the process.
#include <gtest/gtest.h>

#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/session/observed_session.h"
#include "vigil/fakes/allocations/allocations.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

class RunAllocationsTest : public testing::Test {
 protected:
  RunAllocationsTest() : graph_(BuiltinOps()) {
    Builder b(graph_);
    const Output zero = b.Const("zero", Tensor::Scalar<std::int64_t>(0));
    step_ = ops::MakeVariable(b, "global_step", zero);
    feed_me_ = ops::PlaceholderWithDefault(b, "feed_me", zero);
    fed_ = ops::Identity(b, "fed", feed_me_);
    b.control_inputs = {step_.read.node, ops::RangeIterator(b, "input", 1000000).node};
    train_ = ops::AssignAdd(b, "train", step_.ref, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
    b.control_inputs.clear();
    const Output half = b.Const("half", Tensor::Scalar<float>(0.5F));
    const Output limit = b.Const("limit", Tensor::Scalar<std::int64_t>(100));
    loss_ = b.Op("SelectV2", {b.Op("GreaterEqual", {train_, limit}), half, b.Op("Mul", {half, half})});
    nothing_ = b.Group("nothing", {});
    EXPECT_TRUE(b.status().ok()) << b.status();
    graph_.Finalize();
  }

  // Allocations in 100 runs of each spec in turn, once everything has been run twice.
  std::uint64_t Allocations(Session& session, const std::vector<RunSpec>& specs, std::span<const Tensor> feeds = {}) {
    std::vector<Tensor> fetched;
    std::uint64_t before = 0;
    for (int round = 0; round < 102; ++round) {
      if (round == 2) before = fakes::Allocations();
      for (const RunSpec& spec : specs) {
        if (!session.Run({.spec = spec, .feed_values = feeds}, &fetched).ok()) return ~std::uint64_t{0};
      }
    }
    return fakes::Allocations() - before;
  }
  std::unique_ptr<Session> NewSession() {
    std::unique_ptr<Session> session = NewDirectSession(fake_.env(), graph_);
    EXPECT_TRUE(RunTarget(*session, step_.initializer).ok());
    return session;
  }

  fakes::FakeEnv fake_;
  Graph graph_;
  ops::Variable step_;
  Output feed_me_, fed_, train_, loss_, nothing_;
};

TEST_F(RunAllocationsTest, TheCounterCounts) {
  const std::uint64_t before = fakes::Allocations();
  const auto p = std::make_unique<int>(1);
  EXPECT_EQ(fakes::Allocations(), before + 1);
}

TEST_F(RunAllocationsTest, ARepeatedRun) {
  const std::unique_ptr<Session> session = NewSession();
  EXPECT_EQ(Allocations(*session, {{.targets = {nothing_.node}}}), 0u);
  EXPECT_EQ(Allocations(*session, {{.fetches = {train_, fed_}}}), 0u);
  EXPECT_EQ(Allocations(*session, {{.fetches = {train_, fed_, loss_, step_.read, step_.ref}}}), 0u);
}

TEST_F(RunAllocationsTest, ARunWithAFeed) {
  const std::unique_ptr<Session> session = NewSession();
  const Tensor seven = Tensor::Scalar<std::int64_t>(7);
  EXPECT_EQ(Allocations(*session, {{.feeds = {feed_me_}, .fetches = {train_, fed_}}}, {&seven, 1}), 0u);
}

TEST_F(RunAllocationsTest, RunsOfSeveralKindsInTurn) {
  const std::unique_ptr<Session> session = NewSession();
  EXPECT_EQ(
      Allocations(*session, {{.fetches = {train_, fed_}}, {.fetches = {step_.read}}, {.targets = {nothing_.node}}}),
      0u);
}

TEST_F(RunAllocationsTest, AnObservedRun) {
  struct Sink : EventSink {
    void Emit(const Event&) override { ++events; }
    int events = 0;
  } sink;
  Env env = fake_.env();
  env.events = &sink;
  DirectSessionFactory factory(env);
  const std::unique_ptr<Session> session = *CreateObserved(env, factory, graph_, "", {});
  ASSERT_TRUE(RunTarget(*session, step_.initializer).ok());
  EXPECT_EQ(Allocations(*session, {{.fetches = {train_, fed_}}, {.fetches = {step_.read}}}), 0u);
  EXPECT_GT(sink.events, 200);
}

}  // namespace
}  // namespace vigil
