// Savers of resource variables: under TensorFlow's names, to and from variables of the other kind, the global step too.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/checkpoint/testing.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/classify.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;

// A layer and the global step, all variables of one kind.
struct Model {
  explicit Model(bool resources) : b(graph) {
    const auto make = resources ? ops::MakeResourceVariable : ops::MakeVariable;
    weights = make(b, "layer/weights", b.Const("w0", Tensor::Vector<float>({1, 2, 3})), kGlobalVariables);
    step = make(b, "global_step", b.Const("s0", Tensor::Scalar<std::int64_t>(5)), kGlobalVariables);
    graph.AddToCollection(kGlobalStep, step.ref);
    init = ops::VariablesInitializer(b, "init", graph.Collection(kGlobalVariables)).node;
    EXPECT_EQ(Text(b.status()), "OK");
  }
  std::string Values(Session& session) const {
    const absl::StatusOr<Tensor> w = RunFetch(session, weights.read);
    const absl::StatusOr<Tensor> s = RunFetch(session, step.read);
    if (!w.ok() || !s.ok()) return Text(w.ok() ? s.status() : w.status());
    return fmt::format("{}; {}", fmt::join(w->flat<float>(), " "), s->scalar<std::int64_t>());
  }

  Graph graph{BuiltinOps()};
  Builder b;
  ops::Variable weights, step;
  NodeId init = kNoNode;
};

class ResourceSaverTest : public testing::Test {
 protected:
  ResourceSaverTest() { EXPECT_EQ(Text(fake_.files.MakeDirectory("/d")), "OK"); }

  std::string SavedBy(Model& model, SaverOptions options = {}) {
    Saver saver(fake_.env(), std::move(options));
    EXPECT_EQ(Text(saver.Build(model.graph)), "OK");
    const std::unique_ptr<Session> session = NewDirectSession(fake_.env(), model.graph);
    EXPECT_EQ(Text(RunTarget(*session, model.init)), "OK");
    const absl::StatusOr<std::string> prefix = saver.Save(*session, "/d/m", 5);
    return prefix.ok() ? *prefix : Text(prefix.status());
  }
  std::string RestoredBy(Model& model, const std::string& prefix) {
    Saver saver(fake_.env());
    EXPECT_EQ(Text(saver.Build(model.graph)), "OK");
    const std::unique_ptr<Session> session = NewDirectSession(fake_.env(), model.graph);
    EXPECT_EQ(model.Values(*session).substr(0, 5), "FAILE") << "nothing has a value yet";
    if (const absl::Status status = saver.Restore(*session, prefix); !status.ok()) return Text(status);
    return model.Values(*session);
  }

  fakes::FakeEnv fake_;
};

TEST_F(ResourceSaverTest, EitherKindRestoresWhatEitherSaved) {
  for (const bool saved : {true, false}) {
    Model writer(saved);
    ASSERT_EQ(SavedBy(writer), "/d/m-5");
    for (const bool restored : {true, false}) {
      Model reader(restored);
      EXPECT_EQ(RestoredBy(reader, "/d/m-5"), "1 2 3; 5") << saved << restored;
    }
  }
}

TEST_F(ResourceSaverTest, TheFilesHaveTheVariablesNames) {
  Model model(true);
  ASSERT_EQ(SavedBy(model, {.sharded = true}), "/d/m-5");
  const auto reader = BundleReader::Open(fake_.files, "/d/m-5");
  ASSERT_EQ(Text(reader.status()), "OK");
  std::vector<std::string> names;
  for (const auto& [name, entry] : reader->entries()) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("global_step", "layer/weights"));
}

TEST_F(ResourceSaverTest, WhatIsNotThereIsNamed) {
  Model writer(true);
  ASSERT_EQ(SavedBy(writer), "/d/m-5");
  Model reader(true);
  ops::MakeResourceVariable(reader.b, "layer/bias", reader.b.Const("b0", Tensor::Scalar<float>(0)));
  EXPECT_THAT(RestoredBy(reader, "/d/m-5"),
              testing::AllOf(testing::StartsWith("NOT_FOUND"), testing::HasSubstr("layer/bias")));
}

// Events and faults ask what a call is for: it is the same whichever kind the step is of.
TEST_F(ResourceSaverTest, ReadingTheStepIsReadingTheStep) {
  for (const bool resources : {true, false}) {
    Model model(resources);
    const auto kind = [&](std::vector<Output> fetches) {
      const RunSpec spec{.fetches = std::move(fetches)};
      return ClassifyCall({.spec = spec}, model.graph);
    };
    const Output step = resources ? model.step.read : model.step.ref;
    EXPECT_EQ(kind({step}), CallKind::kReadStep);
    EXPECT_EQ(kind({model.weights.read, step}), CallKind::kSummary);
    EXPECT_EQ(kind({model.weights.read}), CallKind::kRawRun);
    EXPECT_EQ(kind({step, model.weights.read}), CallKind::kRawRun);
  }
}

}  // namespace
}  // namespace vigil
