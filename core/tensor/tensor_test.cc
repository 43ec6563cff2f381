#include "vigil/core/tensor/tensor.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "vigil/core/base/code.h"
#include "vigil/core/tensor/eigen_view.h"

namespace vigil {
namespace {

using testing::ElementsAre;

TEST(TensorTest, AScalarLivesInsideTheTensor) {
  Tensor a = Tensor::Scalar<std::int64_t>(7);
  EXPECT_FALSE(a.has_buffer());
  const Tensor b = a;
  a.mutable_flat<std::int64_t>()[0] = 8;  // its own element, not the copy's
  EXPECT_EQ(b.scalar<std::int64_t>(), 7);
  EXPECT_EQ(a.scalar<std::int64_t>(), 8);
  EXPECT_FALSE(Tensor::Scalar<bool>(true).has_buffer());
  EXPECT_TRUE(Tensor::Scalar<std::string>("x").has_buffer());
}

TEST(TensorTest, CopiesShareElementsUntilOneIsWritten) {
  Tensor a(DType::kFloat, Shape({2, 2}));
  const Tensor shared = a;
  EXPECT_EQ(shared.bytes().data(), a.bytes().data());
  EXPECT_FALSE(a.unique());
  EXPECT_NE(a.Clone().bytes().data(), a.bytes().data());
  a.mutable_flat<float>()[3] = 5;
  EXPECT_EQ(shared.flat<float>()[3], 0) << "what somebody else holds stays what it is";
  EXPECT_EQ(a.flat<float>()[3], 5);
  EXPECT_TRUE(a.unique());
  const void* const own = a.bytes().data();
  a.mutable_flat<float>()[2] = 5;
  EXPECT_EQ(a.bytes().data(), own) << "nobody shares it any more: no further copy";
  Tensor words = Tensor::Vector<std::string>({"a", "b"});
  const Tensor before = words;
  words.mutable_flat<std::string>()[0] = "c";
  EXPECT_THAT(before.flat<std::string>(), ElementsAre("a", "b"));
}

std::string Refusal(const absl::Status& status) {
  return fmt::format("{} {}", CodeName(CodeOf(status)), MessageOf(status));
}

TEST(TensorTest, ShapesThatCannotBeAreRefused) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_EQ(Refusal(Tensor::Make(DType::kFloat, {2, -1}).status()),
            "INVALID_ARGUMENT Dimension -1 of the shape [2,-1] must be >= 0.");
  for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{4, kHuge + 2},
                                                {kHuge, 4},
                                                {std::int64_t{1} << 31, std::int64_t{1} << 31, 2},
                                                {0, kHuge, 3}}) {
    EXPECT_THAT(Refusal(Tensor::Make(DType::kFloat, dims).status()), testing::HasSubstr("too many elements to count"));
    EXPECT_FALSE(Shape::Make(dims).ok());
  }
  EXPECT_TRUE(Shape::Make(std::vector<std::int64_t>(254, 1)).ok());  // TensorFlow has as many
  EXPECT_EQ(Refusal(Shape::Make(std::vector<std::int64_t>(255, 1)).status()),
            "INVALID_ARGUMENT Too many dimensions: 255, but at most 254");
  EXPECT_EQ(Refusal(Tensor::Make(DType::kUint8, {1 << 20, 1 << 20}).status()),
            "RESOURCE_EXHAUSTED OOM when allocating tensor with shape[1048576,1048576] and type uint8: it would take "
            "more than "
            "16 GiB");
  EXPECT_EQ(Refusal(Tensor::Make(DType::kResource, {2}).status()),
            "UNIMPLEMENTED There are no tensors of type resource here.");
  EXPECT_EQ(Tensor::Make(DType::kFloat, {0, kHuge})->num_elements(), 0);
  EXPECT_THAT(Tensor::Make(DType::kInt32, {2})->flat<std::int32_t>(), ElementsAre(0, 0));
  EXPECT_THAT(Tensor::MakeUnwritten(DType::kString, {1})->flat<std::string>(), ElementsAre(""));
  EXPECT_DEATH(Tensor(DType::kFloat, Shape({kHuge, 4})), "CHECK failed: The shape .* has too many elements");
}

TEST(TensorTest, AWrongTypeIsNamed) {
  const Tensor ids = Tensor::Vector<std::int64_t>({1, 2});
  EXPECT_DEATH(ids.flat<float>(), "flat<float>\\(\\) of a tensor that is int64 \\[2\\]");
  EXPECT_DEATH(static_cast<void>(ids.scalar<std::int64_t>()), "scalar<int64>\\(\\) of a tensor that is int64 \\[2\\]");
  EXPECT_DEATH(Tensor().flat<float>(), "of a tensor that is invalid");
}

TEST(TensorTest, ANewTensorIsZero) {
  EXPECT_THAT(Tensor(DType::kInt32, Shape({3})).flat<std::int32_t>(), ElementsAre(0, 0, 0));
  EXPECT_THAT(Tensor(DType::kString, Shape({2})).flat<std::string>(), ElementsAre("", ""));
  EXPECT_TRUE(Tensor(DType::kDouble, Shape({3, 0})).flat<double>().empty());
  EXPECT_FALSE(Tensor().valid());
}

TEST(TensorTest, VectorsOfEveryType) {
  EXPECT_THAT(Tensor::Vector<bool>({true, false, true}).flat<bool>(), ElementsAre(true, false, true));
  EXPECT_THAT(Tensor::Vector<std::string>({"a", "b"}).flat<std::string>(), ElementsAre("a", "b"));
  EXPECT_THAT(Tensor::Vector<std::uint8_t>({1}).flat<std::uint8_t>(), ElementsAre(1));
}

TEST(TensorTest, EqualityIsOfTypeShapeAndElements) {
  const Tensor a = Tensor::Vector<float>({1, 2});
  EXPECT_EQ(a, Tensor::Vector<float>({1, 2}));
  EXPECT_FALSE(a == Tensor::Vector<float>({1, 3}));
  EXPECT_FALSE(a == Tensor::Vector<double>({1, 2}));
  EXPECT_FALSE(a == a.Reshaped(Shape({1, 2})));
  const Tensor nan = Tensor::Scalar<float>(std::numeric_limits<float>::quiet_NaN());
  EXPECT_FALSE(nan == nan);
  EXPECT_EQ(Tensor::Vector<std::string>({"a"}), Tensor::Vector<std::string>({"a"}));
}

TEST(TensorTest, ReshapedSharesTheElements) {
  const Tensor a = Tensor::Vector<std::int64_t>({1, 2, 3, 4});
  const Tensor b = a.Reshaped(Shape({2, 2}));
  EXPECT_EQ(a.flat<std::int64_t>().data(), b.flat<std::int64_t>().data());
  EXPECT_EQ(b.Describe(), "int64 [2,2]");
}

TEST(TensorTest, NumbersOfScalars) {
  double value = 0;
  EXPECT_TRUE(Tensor::Scalar<std::int64_t>(-3).AsNumber(&value));
  EXPECT_EQ(value, -3);
  EXPECT_TRUE(Tensor::Scalar<bool>(true).AsNumber(&value));
  EXPECT_EQ(value, 1);
  EXPECT_TRUE(Tensor::Scalar<float>(0.5F).AsNumber(&value));
  EXPECT_EQ(value, 0.5);
  EXPECT_FALSE(Tensor::Vector<float>({1, 2}).AsNumber(&value));
  EXPECT_FALSE(Tensor::Scalar<std::string>("1").AsNumber(&value));
}

TEST(TensorDeathTest, TheElementTypeMustBeRight) {
  const Tensor a = Tensor::Scalar<std::int64_t>(1);
  EXPECT_DEATH(a.scalar<float>(), "CHECK failed");
  EXPECT_DEATH(a.Reshaped(Shape({2})), "CHECK failed");
}

TEST(EigenViewTest, ViewsAreTheElements) {
  Tensor a = Tensor::Vector<float>({1, 2, 3, 4, 5, 6});
  AsMutableArray<float>(a) *= 2;
  EXPECT_EQ(AsArray<float>(a).sum(), 42);
}

TEST(TensorTest, ACloneOfStringsIsACopy) {
  const Tensor words = Tensor::Vector<std::string>({"a", "b"});
  Tensor copy = words.Clone();
  copy.mutable_flat<std::string>()[0] = "changed";
  EXPECT_EQ(words.flat<std::string>()[0], "a");
  EXPECT_EQ(copy.flat<std::string>()[1], "b");
}

TEST(TensorTest, OneNumberOfAnyType) {
  double value = 0;
  const auto number = [&](const Tensor& tensor) { return tensor.AsNumber(&value) ? value : -1; };
  EXPECT_EQ(number(Tensor::Scalar<float>(0.5F)), 0.5);
  EXPECT_EQ(number(Tensor::Scalar<double>(0.25)), 0.25);
  EXPECT_EQ(number(Tensor::Scalar<std::int32_t>(3)), 3);
  EXPECT_EQ(number(Tensor::Scalar<std::int64_t>(4)), 4);
  EXPECT_EQ(number(Tensor::Scalar<std::uint8_t>(5)), 5);
  EXPECT_EQ(number(Tensor::Scalar<bool>(true)), 1);
  EXPECT_EQ(number(Tensor::Vector<std::int64_t>({6})), 6);
  EXPECT_EQ(number(Tensor::Vector<std::int64_t>({6, 7})), -1);
  EXPECT_EQ(number(Tensor::Scalar<std::string>("8")), -1);
}

}  // namespace
}  // namespace vigil
