// What recordings (replays/graphs) do not show of the random ops: seeds that nobody has given, sessions, odd inputs.
#include <gtest/gtest.h>

#include "vigil/core/ops/random/philox.h"
#include "vigil/core/ops/random/seeds.h"
#include "vigil/core/ops/testing.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

class RandomOpsTest : public OpsTest<fakes::FakeEnv> {
 protected:
  Output Uniform(Attrs seeds) {
    seeds.emplace("dtype", DType::kFloat);
    return b_.Op("RandomUniform", {Vec<std::int32_t>({4})}, {.attrs = std::move(seeds)});
  }
};

TEST_F(RandomOpsTest, WithoutSeedsTheEnvironmentIsAsked) {
  const Output a = Uniform({});
  const Output b = Uniform({{"seed", std::int64_t{0}}, {"seed2", std::int64_t{0}}});
  const std::string first = Show(a);
  EXPECT_NE(first, Show(a)) << "the stream goes on";
  EXPECT_NE(first, Show(b)) << "each node has its own";
}

TEST_F(RandomOpsTest, EachNodeHasAStreamOfItsOwn) {
  const Output a = Uniform({{"seed", std::int64_t{5}}});
  const Output b = Uniform({{"seed", std::int64_t{5}}});
  const std::string first = Show(a);
  EXPECT_NE(first, Show(a));
  EXPECT_EQ(first, Show(b));
  resources_.Reset("");
  EXPECT_EQ(first, Show(a)) << "another session begins anew";
}

TEST_F(RandomOpsTest, OddShapesAreErrors) {
  const auto of = [this](Output shape) {
    return Show(b_.Op("RandomUniform", {shape}, {.attrs = {{"dtype", DType::kFloat}, {"seed", std::int64_t{1}}}}));
  };
  EXPECT_EQ(of(Vec<std::int32_t>({-1})), "INVALID_ARGUMENT: Dimension -1 must be >= 0");
  EXPECT_EQ(of(Matrix<std::int32_t>(1, {2, 2})),
            "INVALID_ARGUMENT: shape must be a vector of {int32,int64}, got shape [1,2]");
  EXPECT_EQ(of(Vec<std::int64_t>({0, 7})), "float [0,7]");
}

TEST_F(RandomOpsTest, OnlyFloatsAreDrawn) {
  b_.Op("RandomUniform", {Vec<std::int32_t>({1})}, {.attrs = {{"dtype", DType::kInt32}}});
  EXPECT_EQ(vigil::Show(b_.status()),
            "USAGE: 'RandomUniform' Op gives float or double; its attribute 'dtype' is int32.");
}

TEST(Philox, SkipIsManyTimesNext) {
  Philox a(1, ~std::uint64_t{0});
  Philox b = a;
  a.Skip(1000);
  for (int i = 0; i < 1000; ++i) b.Next();
  EXPECT_EQ(a.Next(), b.Next());
  a.Skip(~std::uint64_t{0} - 1000);  // carries into the upper half
  a.Skip(0);
  Philox c(1, 0);
  c.Skip(std::uint64_t{1});
  a.Skip(1);
  EXPECT_EQ(a.Next(), c.Next());
}

TEST(Philox, NumbersAreSkippedInsideOfSamples) {
  for (std::uint64_t first = 0; first < 6; ++first) {
    for (std::uint64_t count = 0; count < 12; ++count) {
      PhiloxNumbers a(Philox(9));
      PhiloxNumbers b(Philox(9));
      for (std::uint64_t i = 0; i < first; ++i) a.Next(), b.Next();
      a.Skip(count);
      for (std::uint64_t i = 0; i < count; ++i) b.Next();
      EXPECT_EQ(a.Next(), b.Next()) << first << " " << count;
    }
  }
}

}  // namespace
}  // namespace vigil
