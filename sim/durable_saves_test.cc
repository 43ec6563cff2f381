// Checkpoints on a disk that loses what was not synced: the power goes after the first save, and at any moment of a later one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vigil/core/base/code.h"
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

class DurableSavesTest : public testing::Test {
 protected:
  DurableSavesTest() : graph_(BuiltinOps()) {
    Builder b(graph_);
    v_ = ops::MakeVariable(b, "v", b.Const("zero", Tensor::Scalar<std::int64_t>(0)));
    add_ = ops::AssignAdd(b, "add", v_.ref, b.Const("more", Tensor::Scalar<std::int64_t>(1)));
    b.device = "/job:ps/task:1";
    const ops::Variable w = ops::MakeVariable(b, "w", b.Const("one", Tensor::Vector<float>({1, 2})));
    EXPECT_EQ(fakes::Text(b.status()), "OK");
    session_ = NewDirectSession(env(), graph_);
    for (const ops::Variable& each : {v_, w}) EXPECT_EQ(fakes::Text(RunTarget(*session_, each.initializer)), "OK");
  }
  Env env() {
    Env out = fake_.env();
    out.files = &disk_;
    return out;
  }
  Saver NewSaver(bool sharded, bool durable = true) {
    Behaviour behaviour;
    behaviour.durable_saves = durable;
    Saver saver(env(), {.sharded = sharded, .max_to_keep = 2, .behaviour = behaviour});
    EXPECT_EQ(fakes::Text(saver.Build(graph_)), "OK");
    return saver;
  }
  // The newest by the state file, whole; or what is wrong.
  std::string Newest() {
    const auto newest = LatestCheckpoint(env(), "/new/run");
    if (!newest.ok()) return fakes::Text(newest.status());
    if (!newest->has_value()) return "none";
    const absl::Status whole = VerifyBundle(disk_, **newest);
    return whole.ok() ? **newest : fakes::Text(whole);
  }

  fakes::FakeEnv fake_;
  Disk disk_{fake_.files};
  Graph graph_;
  ops::Variable v_;
  Output add_;
  std::unique_ptr<Session> session_;
};

TEST_F(DurableSavesTest, TheFirstOneInANewDirectoryIsThere) {
  for (const bool sharded : {false, true}) {
    fake_.files.Clear();
    ASSERT_EQ(fakes::Text(disk_.MakeDirectory("/new/run")), "OK");
    Saver saver = NewSaver(sharded);
    ASSERT_EQ(fakes::Text(saver.Save(*session_, "/new/run/m", 1).status()), "OK");
    ASSERT_TRUE(disk_.Cut().ok());
    EXPECT_EQ(Newest(), "/new/run/m-1");
  }
}

TEST_F(DurableSavesTest, WithoutSyncsItIsNot) {
  ASSERT_EQ(fakes::Text(disk_.MakeDirectory("/new/run")), "OK");
  Saver saver = NewSaver(false, false);
  ASSERT_EQ(fakes::Text(saver.Save(*session_, "/new/run/m", 1).status()), "OK");
  ASSERT_TRUE(disk_.Cut().ok());
  EXPECT_EQ(Newest(), "none");
}

// Also of the same step with other values, which takes the place of what stands there.
TEST_F(DurableSavesTest, WhereverThePowerGoesTheLastCompleteOneIsThere) {
  for (const bool sharded : {false, true}) {
    for (const int step : {1, 2}) {
      for (const bool torn : {false, true}) {
        bool done = false;
        for (int at = 1; !done; ++at) {
          disk_.Forget();
          fake_.files.Clear();
          ASSERT_EQ(fakes::Text(disk_.MakeDirectory("/new/run")), "OK");
          Saver saver = NewSaver(sharded);
          ASSERT_EQ(fakes::Text(saver.Save(*session_, "/new/run/m", 1).status()), "OK");
          ASSERT_EQ(fakes::Text(RunFetch(*session_, add_).status()), "OK");
          fake_.files.set_fault([left = at](fakes::FileOp, const std::string&) mutable {
            return --left <= 0 ? MakeStatus(Code::kUnavailable, "gone") : absl::OkStatus();
          });
          done = saver.Save(*session_, "/new/run/m", step).ok();
          fake_.files.set_fault(nullptr);
          std::size_t draws = 0;
          const Disk::Draw some = [&draws](std::span<const std::string_view> labels) {
            return draws++ % labels.size();
          };
          ASSERT_TRUE(disk_.Cut(torn ? some : nullptr).ok());
          const std::string last = "/new/run/m-" + std::to_string(step);
          if (done) {
            EXPECT_EQ(Newest(), last);
          } else {
            EXPECT_THAT(Newest(), testing::AnyOf("/new/run/m-1", last)) << at << (sharded ? " sharded" : "");
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace vigil::sim
