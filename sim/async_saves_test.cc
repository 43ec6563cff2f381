// Saves beside the training on a disk that loses what was not synced: whenever the power goes, the last complete one is
// there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
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

// A model of which step 1 is saved, and then steps 2 and 3 beside the training. The power goes at the `at`-th operation
// on files of the two.
class PowerCutBeside {
 public:
  explicit PowerCutBeside(int at) : graph_(BuiltinOps()) {
    Env env = fake_.env();
    env.files = &disk_;
    Builder b(graph_);
    const ops::Variable v = ops::MakeVariable(b, "v", b.Const("zero", Tensor::Scalar<std::int64_t>(0)));
    const Output add = ops::AssignAdd(b, "add", v.ref, b.Const("more", Tensor::Scalar<std::int64_t>(1)));
    EXPECT_EQ(fakes::Text(b.status()), "OK");
    const auto saver = std::make_shared<Saver>(env, SaverOptions{.max_to_keep = 2});
    EXPECT_EQ(fakes::Text(saver->Build(graph_)), "OK");
    const std::unique_ptr<Session> session = NewDirectSession(env, graph_);
    EXPECT_EQ(fakes::Text(RunTarget(*session, v.initializer)), "OK");
    EXPECT_EQ(fakes::Text(disk_.MakeDirectory("/new/run")), "OK");
    EXPECT_EQ(fakes::Text(saver->Save(*session, "/new/run/m", 1).status()), "OK");
    for (const int step : {2, 3}) {
      EXPECT_EQ(fakes::Text(RunFetch(*session, add).status()), "OK");
      auto save = saver->SaveBeside(*session, "/new/run/m", step);
      EXPECT_EQ(fakes::Text(save.status()), "OK");
      saves_.push_back(*std::move(save));
    }
    fake_.files.set_fault([left = at](fakes::FileOp, const std::string&) mutable {
      return --left <= 0 ? MakeStatus(Code::kUnavailable, "gone") : absl::OkStatus();
    });
    saver->WaitForSaves();
    fake_.files.set_fault(nullptr);
    EXPECT_TRUE(disk_.Cut().ok());
    const auto newest = LatestCheckpoint(env, "/new/run");
    if (!newest.ok() || !newest->has_value()) return;
    const absl::Status whole = VerifyBundle(disk_, **newest);
    newest_ = whole.ok() ? **newest : fakes::Text(whole);
  }
  // Whether the save of step 2 or 3 was reported complete.
  bool saved(int step) const { return saves_[static_cast<std::size_t>(step) - 2]->status().ok(); }
  const std::string& newest() const { return newest_; }

 private:
  fakes::FakeEnv fake_;
  Disk disk_{fake_.files};
  Graph graph_;
  std::vector<PendingSavePtr> saves_;
  std::string newest_ = "none";
};

TEST(AsyncSavesOnDisksTest, WhereverThePowerGoesTheLastCompleteOneIsThere) {
  bool done = false;
  int first_only = 0;
  for (int at = 1; !done; at += 3) {
    const PowerCutBeside cut(at);
    done = cut.saved(3);
    if (done) {
      EXPECT_EQ(cut.newest(), "/new/run/m-3");
    } else if (cut.saved(2)) {
      ++first_only;
      EXPECT_THAT(cut.newest(), testing::AnyOf("/new/run/m-2", "/new/run/m-3")) << at;
    } else {
      EXPECT_THAT(cut.newest(), testing::AnyOf("/new/run/m-1", "/new/run/m-2")) << at;
    }
  }
  EXPECT_GT(first_only, 2);
}

}  // namespace
}  // namespace vigil::sim
