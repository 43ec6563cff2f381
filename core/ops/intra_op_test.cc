// What several threads share out among them is the same to the bit as what one computes.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vigil/core/base/splitmix64.h"
#include "vigil/core/ops/testing.h"
#include "vigil/fakes/cut_up.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using Dims = std::vector<std::int64_t>;

Tensor Numbers(DType dtype, const Dims& dims, std::uint64_t seed) {
  Tensor out(dtype, Shape(dims));
  SplitMix64 random(seed);
  const auto next = [&random] { return static_cast<double>(random.Below(2'000'001)) / 1e6 - 1; };
  if (dtype == DType::kFloat) {
    for (float& value : out.mutable_flat<float>()) value = static_cast<float>(next());
  } else if (dtype == DType::kDouble) {
    for (double& value : out.mutable_flat<double>()) value = next();
  } else {
    for (std::int32_t& value : out.mutable_flat<std::int32_t>()) value = static_cast<std::int32_t>(random.Next());
  }
  return out;
}

struct SharedOp {
  std::string op;
  std::vector<Tensor> inputs;
  Attrs attrs = {};
};

class SharedOpPlayer : OpRunner {
 public:
  explicit SharedOpPlayer(const Env& env) : OpRunner(env) {}

  // The bytes of the first output; or, of an op that changes variables, of all of these.
  std::string Play(const SharedOp& each, int variables) {
    std::vector<Output> inputs;
    std::vector<Output> reads;
    for (int i = 0; i < static_cast<int>(each.inputs.size()); ++i) {
      const Output value = Value(each.inputs[static_cast<std::size_t>(i)]);
      if (i >= variables) {
        inputs.push_back(value);
        continue;
      }
      const ops::Variable variable = ops::MakeVariable(b_, "v" + std::to_string(i), value);
      EXPECT_TRUE(Run(variable.initializer).ok());
      inputs.push_back(variable.ref);
      reads.push_back(variable.read);
    }
    const Output out = b_.Op(each.op, inputs, {.attrs = each.attrs});
    if (reads.empty()) return Bytes(out);
    EXPECT_TRUE(Run(out.node).ok());
    std::string all;
    for (const Output read : reads) all += Bytes(read);
    return all;
  }

 private:
  std::string Bytes(Output output) {
    const absl::StatusOr<Tensor> value = Get(output);
    EXPECT_TRUE(value.ok()) << value.status();
    if (!value.ok()) return "";
    const auto bytes = value->bytes();
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
};

// `variables`: how many of the inputs are.
void ExpectSame(const SharedOp& each, int variables = 0) {
  fakes::FakeEnv fake;
  const std::string wanted = SharedOpPlayer(fake.env()).Play(each, variables);
  fakes::CutUp pool;
  Env env = fake.env();
  env.intra_op = &pool;
  EXPECT_TRUE(SharedOpPlayer(env).Play(each, variables) == wanted) << each.op;
  EXPECT_GT(pool.parts, 1) << each.op << " was not shared out";
}

TEST(IntraOpTest, Products) {
  for (const DType dtype : {DType::kFloat, DType::kDouble}) {
    for (const Dims& size : {Dims{50, 33, 7}, Dims{7, 33, 100}, Dims{40, 600, 40}}) {
      for (const bool transpose_a : {false, true}) {
        for (const bool transpose_b : {false, true}) {
          const Dims a = transpose_a ? Dims{size[1], size[0]} : Dims{size[0], size[1]};
          const Dims b = transpose_b ? Dims{size[2], size[1]} : Dims{size[1], size[2]};
          ExpectSame({.op = "MatMul",
                      .inputs = {Numbers(dtype, a, 1), Numbers(dtype, b, 2)},
                      .attrs = {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}}});
        }
      }
    }
  }
}

TEST(IntraOpTest, ConvolutionsAndTheirGradients) {
  for (const std::int64_t stride : {1, 2}) {
    const Attrs attrs{{"strides", Dims{1, stride, stride, 1}}, {"padding", std::string("SAME")}};
    const Dims images{3, 8, 8, 4}, filter{3, 3, 2, 6}, grad{3, 8 / stride, 8 / stride, 6};
    const auto shape = [](const Dims& dims) {
      return Tensor::Vector<std::int32_t>(std::vector<std::int32_t>(dims.begin(), dims.end()));
    };
    const DType type = DType::kFloat;
    ExpectSame({"Conv2D", {Numbers(type, images, 1), Numbers(type, filter, 2)}, attrs});
    ExpectSame({"Conv2DBackpropInput", {shape(images), Numbers(type, filter, 2), Numbers(type, grad, 3)}, attrs});
    ExpectSame({"Conv2DBackpropFilter", {Numbers(type, images, 1), shape(filter), Numbers(type, grad, 3)}, attrs});
  }
}

TEST(IntraOpTest, PoolsAndTheirGradients) {
  const Attrs attrs{{"ksize", Dims{1, 3, 3, 1}}, {"strides", Dims{1, 2, 2, 1}}, {"padding", std::string("SAME")}};
  const Tensor images = Numbers(DType::kFloat, {3, 7, 7, 2}, 1), pooled = Numbers(DType::kFloat, {3, 4, 4, 2}, 2);
  ExpectSame({"MaxPool", {images}, attrs});
  ExpectSame({"MaxPoolGrad", {images, pooled, pooled}, attrs});
  ExpectSame({"MaxPoolGradGrad", {images, pooled, images}, attrs});
  ExpectSame({"AvgPool", {images}, attrs});
  ExpectSame({"AvgPoolGrad", {Tensor::Vector<std::int32_t>({3, 7, 7, 2}), pooled}, attrs});
}

TEST(IntraOpTest, ElementByElement) {
  for (const DType type : {DType::kFloat, DType::kDouble}) {
    const Tensor x = Numbers(type, {1003}, 1), y = Numbers(type, {1003}, 2);
    for (const char* op : {"Exp", "Tanh", "Sigmoid", "Log1p", "Sin", "Relu", "Neg", "Abs", "Square", "Sign"})
      ExpectSame({op, {x}});
    for (const char* op : {"AddV2", "Sub", "Mul", "RealDiv", "Less", "Equal", "ReluGrad", "TanhGrad"})
      ExpectSame({op, {x, y}});
  }
  const Tensor x = Numbers(DType::kInt32, {1003}, 1), y = Numbers(DType::kInt32, {1003}, 2);
  for (const char* op : {"AddV2", "Mul", "Less"}) ExpectSame({op, {x, y}});
  ExpectSame({"BiasAdd", {Numbers(DType::kFloat, {9, 5}, 1), Numbers(DType::kFloat, {5}, 2)}});
}

TEST(IntraOpTest, OptimizersSteps) {
  const Dims dims{17, 23};
  const Tensor var = Numbers(DType::kFloat, dims, 1), grad = Numbers(DType::kFloat, dims, 2);
  const auto one = [](float value) { return Tensor::Scalar<float>(value); };
  Tensor positive = Numbers(DType::kFloat, dims, 3);
  for (float& value : positive.mutable_flat<float>()) value = value * value;
  ExpectSame({"ApplyMomentum", {var, positive, one(0.1F), grad, one(0.9F)}}, 2);
  ExpectSame(
      {"ApplyAdam", {var, grad, positive, one(0.9F), one(0.99F), one(0.1F), one(0.9F), one(0.99F), one(1e-8F), grad}},
      3);
  ExpectSame({"ApplyRMSProp", {var, positive, grad, one(0.1F), one(0.9F), one(0.5F), one(1e-8F), grad}}, 3);
}

}  // namespace
}  // namespace vigil
