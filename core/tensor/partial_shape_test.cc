#include "vigil/core/tensor/partial_shape.h"

#include <gtest/gtest.h>

namespace vigil {
namespace {

TEST(PartialShapeTest, SaysWhatIsKnown) {
  EXPECT_EQ(PartialShape().ToString(), "?");
  EXPECT_EQ(PartialShape::Scalar().ToString(), "[]");
  EXPECT_EQ(PartialShape::OfRank(2).ToString(), "[?,?]");
  EXPECT_EQ((PartialShape{2, -1}).ToString(), "[2,?]");
  EXPECT_EQ(PartialShape(Shape({3})).ToString(), "[3]");
  EXPECT_NE(PartialShape(), PartialShape::Scalar());
}

TEST(PartialShapeTest, CountsOnlyWhatIsFullyKnown) {
  EXPECT_EQ((PartialShape{2, 3}).num_elements(), 6);
  EXPECT_EQ(PartialShape::Scalar().num_elements(), 1);
  EXPECT_EQ((PartialShape{2, -1}).num_elements(), std::nullopt);
  EXPECT_EQ(PartialShape().num_elements(), std::nullopt);
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_EQ((PartialShape{huge, huge}).num_elements(), std::nullopt);
  EXPECT_EQ((PartialShape{huge, huge}).ToShape(), std::nullopt);
  EXPECT_EQ((PartialShape{2, 3}).ToShape(), Shape({2, 3}));
  EXPECT_EQ((PartialShape{2, -1}).ToShape(), std::nullopt);
}

TEST(PartialShapeTest, DimensionsCountFromTheEnd) {
  PartialShape shape{2, 3};
  EXPECT_EQ(shape.dim(-1), 3);
  shape.set_dim(-2, 5);
  EXPECT_EQ(shape.ToString(), "[5,3]");
}

}  // namespace
}  // namespace vigil
