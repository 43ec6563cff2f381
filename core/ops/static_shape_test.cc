#include "vigil/core/ops/static_shape.h"

#include <gtest/gtest.h>

#include "vigil/core/ops/random/seeds.h"
#include "vigil/core/ops/testing.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

class StaticShapeTest : public OpsTest<fakes::FakeEnv> {
 protected:
  StaticShapeTest() { values_are_known_ = true; }

  std::string Known(Output value) {
    EXPECT_EQ(vigil::Show(b_.status()), "OK");
    const std::optional<Shape> shape = StaticShape(graph_, value);
    return shape.has_value() ? shape->ToString() : "unknown";
  }
  // What is known is what comes out.
  std::string KnownAndRight(Output value) {
    const absl::StatusOr<Tensor> made = Get(value);
    EXPECT_TRUE(made.ok()) << made.status();
    EXPECT_EQ(Known(value), made.ok() ? made->shape().ToString() : "");
    return Known(value);
  }
};

TEST_F(StaticShapeTest, OfWhatVariablesBeginWith) {
  const Output dims = Vec<std::int32_t>({3, 2});
  EXPECT_EQ(KnownAndRight(Matrix<float>(2, {1, 2, 3, 4})), "[2,2]");
  EXPECT_EQ(KnownAndRight(b_.Op("Fill", {dims, Scalar<float>(1)})), "[3,2]");
  const Output drawn = ops::TruncatedNormal(b_, "drawn", dims, DType::kFloat, 1);
  EXPECT_EQ(KnownAndRight(b_.Op("AddV2", {b_.Op("Mul", {drawn, Scalar<float>(0.1F)}), Vec<float>({1, 2})})), "[3,2]");
  EXPECT_EQ(KnownAndRight(b_.Op("Fill", {b_.Op("Shape", {b_.Op("Neg", {drawn})}), Scalar<float>(0)})), "[3,2]");
  EXPECT_EQ(KnownAndRight(b_.Op("Reshape", {drawn, Vec<std::int32_t>({-1, 3})})), "[2,3]");
  EXPECT_EQ(KnownAndRight(b_.Op("Cast", {dims}, {.attrs = {{"DstT", DType::kFloat}}})), "[2]");
}

TEST_F(StaticShapeTest, OfVariables) {
  for (const auto make : {ops::MakeVariable, ops::MakeResourceVariable}) {
    const ops::Variable v = make(b_, "v", Vec<float>({1, 2, 3}), kGlobalVariables);
    EXPECT_EQ(Known(v.read), "[3]");
    const ops::Variable w = make(b_, "w", b_.Op("Square", {v.read}), kGlobalVariables);
    EXPECT_EQ(Known(w.ref), "[3]");
  }
}

TEST_F(StaticShapeTest, WhatIsNotKnownIsNotGuessed) {
  const Output x = ops::Placeholder(b_, "x", DType::kFloat);
  EXPECT_EQ(Known(x), "unknown");
  EXPECT_EQ(Known(b_.Op("AddV2", {x, Vec<float>({1})})), "unknown");
  EXPECT_EQ(Known(b_.Op("Reshape", {x, Vec<std::int32_t>({-1, 3})})), "unknown");
  EXPECT_EQ(Known(b_.Op("Reshape", {Vec<float>({}), Vec<std::int32_t>({-1, 0})})), "unknown");
  EXPECT_EQ(Known(b_.Op("TruncatedNormal", {Vec<std::int32_t>({-1})}, {.attrs = {{"dtype", DType::kFloat}}})),
            "unknown");
}

TEST_F(StaticShapeTest, OfWhatFollowsFromConstants) {
  const Output rows = b_.Op("Size", {Vec<float>({1, 2, 3})});
  const Output twice = b_.Op("Mul", {rows, Scalar<std::int32_t>(2)});
  EXPECT_EQ(KnownAndRight(b_.Op("Fill", {b_.Op("Pack", {twice, rows}), Scalar<float>(1)})), "[6,3]");
  const Output axes = b_.Op("Range", {Scalar<std::int32_t>(0), Scalar<std::int32_t>(1), Scalar<std::int32_t>(1)});
  EXPECT_EQ(KnownAndRight(b_.Op("Sum", {Matrix<float>(2, {1, 2, 3, 4, 5, 6}), axes})), "[3]");
}

TEST_F(StaticShapeTest, AVariableOfUnknownShapeSaysThatItTakesAny) {
  const ops::Variable v = ops::MakeVariable(b_, "v", ops::Placeholder(b_, "x", DType::kFloat));
  const ops::Variable w = ops::MakeVariable(b_, "w", Scalar<float>(1));
  EXPECT_EQ(graph_.node(v.initializer).attrs.contains("validate_shape"), true);
  EXPECT_EQ(graph_.node(w.initializer).attrs.contains("validate_shape"), false);
}

}  // namespace
}  // namespace vigil
