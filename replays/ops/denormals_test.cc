// Denormal numbers, fed to ops: what TensorFlow 2.21 gave for them (compat.v1, one thread or several), to the bit.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil::replays {
namespace {

class DenormalsTest : public ::testing::Test {
 protected:
  // The bits of each element, since 0 and -0 are equal.
  std::vector<std::uint32_t> Run(Output fetch) {
    EXPECT_TRUE(b_.status().ok()) << b_.status();
    const std::unique_ptr<Session> session = NewDirectSession(fake_.env(), graph_);
    std::vector<Tensor> values;
    const Tensor fed = Tensor::Vector<float>(kFed);
    const absl::Status status =
        session->Run({.spec = {.feeds = {given_}, .fetches = {fetch}}, .feed_values = {&fed, 1}}, &values);
    EXPECT_TRUE(status.ok()) << status;
    return Bits({values.at(0).flat<float>().begin(), values.at(0).flat<float>().end()});
  }
  static std::vector<std::uint32_t> Bits(const std::vector<float>& values) {
    std::vector<std::uint32_t> bits;
    for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
    return bits;
  }
  Output Scalar(float value) { return b_.Const("c", Tensor::Scalar(value)); }

  const std::vector<float> kFed = {1e-39F, 1.4e-45F, -1e-40F, 1, 1.2e-38F};
  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
  const Output given_ = ops::Placeholder(b_, "given", DType::kFloat);
};

TEST_F(DenormalsTest, ArithmeticTakesThemForZero) {
  EXPECT_EQ(Run(b_.Op("Mul", {given_, Scalar(1)})), Bits({0, 0, -0.0F, 1, 1.2e-38F}));
  EXPECT_EQ(Run(b_.Op("AddV2", {given_, given_})), Bits({0, 0, -0.0F, 2, 2.4e-38F}));
  EXPECT_EQ(Run(b_.Op("AddV2", {given_, Scalar(0)})), Bits({0, 0, 0, 1, 1.2e-38F}));
  EXPECT_EQ(Run(b_.Op("RealDiv", {given_, Scalar(1)})), Bits({0, 0, -0.0F, 1, 1.2e-38F}));
  const Output axis = b_.Const("axis", Tensor::Vector<std::int32_t>({0}));
  EXPECT_EQ(Run(b_.Op("Sum", {given_, axis})), Bits({1}));
}

TEST_F(DenormalsTest, WhatWouldBeOneIsZero) {
  EXPECT_EQ(Run(b_.Op("Mul", {given_, Scalar(1e-3F)})), Bits({0, 0, -0.0F, 1e-3F, 0}));
  const Output tiny = b_.Op("Mul", {Scalar(1e-20F), Scalar(1e-20F)});
  EXPECT_EQ(Run(tiny), Bits({0}));
}

TEST_F(DenormalsTest, WhatOnlyMovesBitsLeavesThem) {
  EXPECT_EQ(Run(b_.Op("Identity", {given_})), Bits(kFed));
  EXPECT_EQ(Run(b_.Op("Neg", {given_})), Bits({-1e-39F, -1.4e-45F, 1e-40F, -1, -1.2e-38F}));
  EXPECT_EQ(Run(b_.Op("Neg", {b_.Op("ZerosLike", {given_})})), Bits({-0.0F, -0.0F, -0.0F, -0.0F, -0.0F}));
}

TEST_F(DenormalsTest, TheCallersArithmeticStaysAsItWas) {
  Run(b_.Op("Identity", {given_}));
  volatile float tiny = 1e-39F;
  tiny = tiny * 1.0F;
  EXPECT_GT(tiny, 0);
}

}  // namespace
}  // namespace vigil::replays
