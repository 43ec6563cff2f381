// Checkpoints on a disk that loses what was not synced: the power goes after the first save, and at any moment of a
// later one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "vigil/core/base/code.h"
#include "vigil/core/checkpoint/model_mark.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"
#include "vigil/sim/disk.h"

namespace vigil::sim {
namespace {

// A program that trains and saves: a small graph of its own, so that hundreds of them cost what hundreds of starts do.
class Training {
 public:
  Training(const Env& env, bool sharded, bool durable)
      : graph_(BuiltinOps()), saver_(env, {.sharded = sharded, .max_to_keep = 2, .behaviour = With(durable)}) {
    Builder b(graph_);
    const ops::Variable v = ops::MakeVariable(b, "v", b.Const("zero", Tensor::Scalar<std::int64_t>(0)));
    add_ = ops::AssignAdd(b, "add", v.ref, b.Const("more", Tensor::Scalar<std::int64_t>(1)));
    b.device = "/job:ps/task:1";
    const ops::Variable w = ops::MakeVariable(b, "w", b.Const("one", Tensor::Vector<float>({1, 2})));
    EXPECT_EQ(fakes::Text(b.status()), "OK");
    EXPECT_EQ(fakes::Text(saver_.Build(graph_)), "OK");
    session_ = NewDirectSession(env, graph_);
    for (const ops::Variable& each : {v, w}) EXPECT_EQ(fakes::Text(RunTarget(*session_, each.initializer)), "OK");
  }
  std::string Save(int step) { return fakes::Text(saver_.Save(*session_, "/new/run/m", step).status()); }
  std::string Step() { return fakes::Text(RunFetch(*session_, add_).status()); }

 private:
  static Behaviour With(bool durable) {
    Behaviour out;
    out.durable_saves = durable;
    return out;
  }

  Graph graph_;
  Output add_;
  Saver saver_;
  std::unique_ptr<Session> session_;
};

class DurableSavesTest : public testing::Test {
 protected:
  Env env() {
    Env out = fake_.env();
    out.files = &disk_;
    return out;
  }
  // The newest by the state file, whole; or what is wrong.
  std::string Newest() {
    const auto newest = LatestCheckpoint(env(), "/new/run");
    if (!newest.ok()) return fakes::Text(newest.status());
    if (!newest->has_value()) return "none";
    const absl::Status whole = VerifyBundle(disk_, **newest);
    return whole.ok() ? **newest : fakes::Text(whole);
  }
  // The power goes at the `at`-th operation of a save of that step, after one of step 1. True: the save was complete
  // before.
  bool Play(bool sharded, int step, bool torn, int at) {
    disk_.Forget();
    fake_.files.Clear();
    EXPECT_EQ(fakes::Text(disk_.MakeDirectory("/new/run")), "OK");
    Training training(env(), sharded, true);
    EXPECT_EQ(training.Save(1), "OK");
    EXPECT_EQ(training.Step(), "OK");
    fake_.files.set_fault([left = at](fakes::FileOp, const std::string&) mutable {
      return --left <= 0 ? MakeStatus(Code::kUnavailable, "gone") : absl::OkStatus();
    });
    const bool done = training.Save(step) == "OK";
    fake_.files.set_fault(nullptr);
    std::size_t draws = 0;
    const Disk::Draw some = [&draws](std::span<const std::string_view> labels) { return draws++ % labels.size(); };
    EXPECT_TRUE(disk_.Cut(torn ? some : nullptr).ok());
    return done;
  }

  fakes::FakeEnv fake_;
  Disk disk_{fake_.files};
};

TEST_F(DurableSavesTest, TheFirstOneInANewDirectoryIsThere) {
  for (const bool sharded : {false, true}) {
    fake_.files.Clear();
    ASSERT_EQ(fakes::Text(disk_.MakeDirectory("/new/run")), "OK");
    Training training(env(), sharded, true);
    ASSERT_EQ(training.Save(1), "OK");
    ASSERT_TRUE(disk_.Cut().ok());
    EXPECT_EQ(Newest(), "/new/run/m-1");
  }
}

TEST_F(DurableSavesTest, WithoutSyncsItIsNot) {
  ASSERT_EQ(fakes::Text(disk_.MakeDirectory("/new/run")), "OK");
  Training training(env(), false, false);
  ASSERT_EQ(training.Save(1), "OK");
  ASSERT_TRUE(disk_.Cut().ok());
  EXPECT_EQ(Newest(), "none");
}

// Also of the same step with other values, which takes the place of what stands there.
TEST_F(DurableSavesTest, WhereverThePowerGoesTheLastCompleteOneIsThere) {
  for (const bool sharded : {false, true}) {
    for (const int step : {1, 2}) {
      for (const bool torn : {false, true}) {
        const std::string last = "/new/run/m-" + std::to_string(step);
        int at = 1;
        for (; !Play(sharded, step, torn, at); ++at) {
          EXPECT_THAT(Newest(), testing::AnyOf("/new/run/m-1", last)) << at << (sharded ? " sharded" : "");
        }
        EXPECT_EQ(Newest(), last);
        EXPECT_GT(at, 20);  // so many operations has a save
      }
    }
  }
}

// Beside checkpoints that are yet to come.
TEST_F(DurableSavesTest, AMarkInANewDirectoryIsThere) {
  for (const ModelMark mark : {ModelMark::kDiverged, ModelMark::kInitializing}) {
    disk_.Forget();
    fake_.files.Clear();
    ASSERT_EQ(fakes::Text(SetMark(disk_, "/new/run", mark)), "OK");
    ASSERT_TRUE(disk_.Cut().ok());
    EXPECT_TRUE(HasMark(disk_, "/new/run", mark).value());
  }
}

}  // namespace
}  // namespace vigil::sim
