// Two savers that save the same step to the same place: two chiefs, or workers that were left alone and save for all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/checkpoint/testing.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::AnyOf;

// A model in two shards, whose values are all one number.
class Writer {
 public:
  Writer(const Env& env, std::int64_t value, bool sharded)
      : env_(env), graph_(BuiltinOps()), saver_(env, {.sharded = sharded, .max_to_keep = 3}) {
    Builder b(graph_);
    const ops::Variable v = ops::MakeVariable(b, "v", b.Const("a", Tensor::Scalar(value)));
    b.device = "/job:ps/task:1";
    const ops::Variable w = ops::MakeVariable(b, "w", b.Const("b", Tensor::Vector<std::int64_t>({value, value})));
    EXPECT_EQ(Text(b.status()), "OK");
    EXPECT_EQ(Text(saver_.Build(graph_)), "OK");
    session_ = NewDirectSession(env, graph_);
    for (const ops::Variable& each : {v, w}) EXPECT_EQ(Text(RunTarget(*session_, each.initializer)), "OK");
  }
  std::string Save(const std::string& path, int step) { return Text(saver_.Save(*session_, path, step).status()); }
  // What the newest checkpoint holds, by the state file; or what is wrong with it.
  std::string Standing(const std::string& directory) {
    const auto newest = LatestCheckpoint(env_, directory);
    if (!newest.ok() || !newest->has_value()) return "no state: " + Text(newest.status());
    absl::StatusOr<BundleReader> reader = BundleReader::Open(*env_.files, **newest);
    if (!reader.ok()) return Text(reader.status());
    const absl::StatusOr<Tensor> v = reader->Read("v");
    const absl::StatusOr<Tensor> w = reader->Read("w");
    if (!v.ok() || !w.ok()) return Text(v.ok() ? w.status() : v.status());
    const std::int64_t one = v->scalar<std::int64_t>();
    return one == w->flat<std::int64_t>()[0] ? std::to_string(one) : "torn";
  }

 private:
  const Env env_;
  Graph graph_;
  Saver saver_;
  std::unique_ptr<Session> session_;
};

// At every operation of the one the other makes its whole save.
TEST(TwoWritersTest, OneOfThemWinsWhereverTheOtherComesIn) {
  for (const bool sharded : {true, false}) {
    for (int at = 1;; ++at) {
      fakes::FakeEnv fake;
      ASSERT_EQ(Text(fake.files.MakeDirectory("/d")), "OK");
      Writer one(fake.env(), 1, sharded);
      Writer other(fake.env(), 2, sharded);
      std::string saved;
      int left = at;
      fake.files.set_fault([&](fakes::FileOp, const std::string&) {
        if (--left == 0) saved = other.Save("/d/m", 7);
        return absl::OkStatus();
      });
      ASSERT_EQ(one.Save("/d/m", 7), "OK") << at;
      fake.files.set_fault(nullptr);
      if (left > 0) break;
      EXPECT_EQ(saved, "OK") << at;
      EXPECT_THAT(one.Standing("/d"), AnyOf("1", "2")) << at;
      const std::vector<std::string> names = *fake.files.List("/d");
      for (const std::string& name : names) EXPECT_EQ(name.find("temp"), name.npos) << name;
    }
  }
}

// Processes that were given the same seed: all of their random numbers are equal.
TEST(TwoWritersTest, OfOneSeed) {
  for (int at = 1;; ++at) {
    fakes::FakeEnv fake;
    ASSERT_EQ(Text(fake.files.MakeDirectory("/d")), "OK");
    fakes::SequenceRandom same;
    Env env = fake.env();
    env.random = &same;
    Writer one(fake.env(), 1, true);
    Writer other(env, 2, true);
    std::string saved;
    int left = at;
    fake.files.set_fault([&](fakes::FileOp, const std::string&) {
      if (--left == 0) saved = other.Save("/d/m", 7);
      return absl::OkStatus();
    });
    ASSERT_EQ(one.Save("/d/m", 7), "OK") << at;
    fake.files.set_fault(nullptr);
    if (left > 0) break;
    EXPECT_EQ(saved, "OK") << at;
    EXPECT_THAT(one.Standing("/d"), AnyOf("1", "2")) << at;
  }
}

}  // namespace
}  // namespace vigil
