// Which of a window's elements is the largest, held against plain loops: of more channels than are looked at together,
// with windows that overlap and stick out, and many that are equal.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "vigil/core/base/splitmix64.h"
#include "vigil/core/ops/testing.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

constexpr std::int64_t kRows = 5, kColumns = 4, kChannels = 19, kWindow = 3;

// Every window of kWindow by kWindow has its middle on the image.
class LargestTest : public OpsTest<fakes::FakeEnv> {
 protected:
  static Tensor Numbers(std::uint64_t below, std::uint64_t seed) {
    Tensor out(DType::kFloat, Shape({1, kRows, kColumns, kChannels}));
    SplitMix64 random(seed);
    for (float& value : out.mutable_flat<float>()) value = static_cast<float>(random.Below(below));
    return out;
  }
  static std::size_t At(std::int64_t row, std::int64_t column, std::int64_t channel) {
    return static_cast<std::size_t>((row * kColumns + column) * kChannels + channel);
  }
  // Calls visit(element of the pool, the first of the largest elements in its window).
  template <typename Visit>
  static void EachLargest(const Tensor& images, Visit visit) {
    for (std::int64_t row = 0; row < kRows; ++row) {
      for (std::int64_t column = 0; column < kColumns; ++column) {
        for (std::int64_t channel = 0; channel < kChannels; ++channel) {
          std::vector<std::size_t> window;
          for (std::int64_t r = std::max<std::int64_t>(0, row - 1); r < std::min(kRows, row + 2); ++r) {
            for (std::int64_t k = std::max<std::int64_t>(0, column - 1); k < std::min(kColumns, column + 2); ++k) {
              window.push_back(At(r, k, channel));
            }
          }
          const auto values = images.flat<float>();
          visit(At(row, column, channel),
                *std::ranges::max_element(window, {}, [&](std::size_t i) { return values[i]; }));
        }
      }
    }
  }
  Tensor Compute(const std::string& op, const std::vector<Tensor>& inputs) {
    std::vector<Output> outputs;
    for (const Tensor& input : inputs) outputs.push_back(b_.Const("input", input));
    const std::vector<std::int64_t> window{1, kWindow, kWindow, 1};
    const absl::StatusOr<Tensor> value = Get(b_.Op(op, outputs,
                                                   {.attrs = {{"ksize", window},
                                                              {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                                                              {"padding", std::string("SAME")}}}));
    EXPECT_TRUE(value.ok()) << value.status();
    return value.ok() ? *value : Tensor();
  }
  static std::vector<float> Values(const Tensor& of) { return {of.flat<float>().begin(), of.flat<float>().end()}; }

  const Tensor images_ = Numbers(4, 1);
  const Tensor given_ = Numbers(1000, 2);
  const Tensor pooled_ = Compute("MaxPool", {images_});
};

TEST_F(LargestTest, GetsTheGradientOfItsWindow) {
  std::vector<float> wanted(given_.flat<float>().size());
  EachLargest(images_, [&](std::size_t pool, std::size_t largest) { wanted[largest] += given_.flat<float>()[pool]; });
  EXPECT_EQ(Values(Compute("MaxPoolGrad", {images_, pooled_, given_})), wanted);
}

TEST_F(LargestTest, GivesWhatItGets) {
  std::vector<float> pooled(given_.flat<float>().size()), wanted(pooled.size());
  EachLargest(images_, [&](std::size_t pool, std::size_t largest) {
    pooled[pool] = images_.flat<float>()[largest];
    wanted[pool] = given_.flat<float>()[largest];
  });
  EXPECT_EQ(Values(pooled_), pooled);
  EXPECT_EQ(Values(Compute("MaxPoolGradGrad", {images_, pooled_, given_})), wanted);
}

}  // namespace
}  // namespace vigil
