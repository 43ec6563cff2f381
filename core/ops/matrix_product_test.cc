// Products held against three plain loops, to the bit.
#include "vigil/core/ops/math/matrix_product.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "vigil/core/base/splitmix64.h"

namespace vigil {
namespace {

template <typename T>
std::vector<T> Numbers(std::int64_t n, std::uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<T> out(static_cast<std::size_t>(n));
  for (T& value : out) value = static_cast<T>(random.Below(2000001)) / T(1000000) - T(1);
  return out;
}

template <typename T>
std::vector<T> PlainProduct(const ProductSize& size, const MatrixOperand<T>& left, const MatrixOperand<T>& right,
                            std::vector<T> out, std::int64_t out_step, bool add) {
  for (std::int64_t i = 0; i < size.rows; ++i) {
    for (std::int64_t j = 0; j < size.columns; ++j) {
      T& sum = out[static_cast<std::size_t>(i * out_step + j)];
      if (!add) sum = 0;
      T stretch = 0;
      for (std::int64_t k = 0; k < size.depth; ++k) {
        const T product = left.data[left.rows[i] + left.columns[k]] * right.data[right.rows[k] + right.columns[j]];
        stretch = stretch + product;
        if ((k + 1) % kProductStretch<T> != 0 && k + 1 < size.depth) continue;
        sum = sum + stretch;
        stretch = 0;
      }
    }
  }
  return out;
}

template <typename T>
void ExpectSame(const ProductSize& size, const MatrixOperand<T>& left, const MatrixOperand<T>& right) {
  const std::int64_t out_step = size.columns + 3;
  const std::vector<T> before = Numbers<T>(size.rows * out_step, 3);
  for (const bool add : {false, true}) {
    const std::vector<T> wanted = PlainProduct(size, left, right, before, out_step, add);
    for (const Registers registers : {Registers::kWidest, Registers::kOf32Bytes, Registers::kPortable}) {
      std::vector<T> out = before;
      Multiply(size, left, right, out.data(), out_step, add, registers);
      EXPECT_EQ(out, wanted) << size.rows << " x " << size.depth << " x " << size.columns << ", add " << add
                             << ", registers " << static_cast<int>(registers);
    }
  }
}

template <typename T>
void TryAllLayouts(const ProductSize& size) {
  const std::vector<T> a = Numbers<T>(size.rows * size.depth, 1);
  const std::vector<T> b = Numbers<T>(size.depth * size.columns, 2);
  for (const bool left_transposed : {false, true}) {
    for (const bool right_transposed : {false, true}) {
      ExpectSame(size, RowMajor(a.data(), left_transposed ? size.rows : size.depth, left_transposed),
                 RowMajor(b.data(), right_transposed ? size.depth : size.columns, right_transposed));
    }
  }
}

TEST(MatrixProductTest, EverySmallSizeInEveryLayout) {
  for (std::int64_t rows = 0; rows <= 13; ++rows) {
    for (std::int64_t columns = 0; columns <= 18; ++columns) {
      for (const std::int64_t depth : {0, 1, 5}) {
        TryAllLayouts<float>({rows, columns, depth});
        TryAllLayouts<double>({rows, columns, depth});
      }
    }
  }
}

TEST(MatrixProductTest, DepthsOfSeveralStretches) {
  TryAllLayouts<float>({7, 33, 700});
  TryAllLayouts<float>({20, 40, 513});
  TryAllLayouts<double>({19, 21, 300});
}

TEST(MatrixProductTest, ListedRowsAndColumns) {
  const std::vector<float> numbers = Numbers<float>(1000, 4);
  SplitMix64 random(5);
  const auto list = [&random](std::int64_t n) {
    std::vector<std::int64_t> out(static_cast<std::size_t>(n));
    for (std::int64_t& at : out) at = static_cast<std::int64_t>(random.Below(500));
    return out;
  };
  const ProductSize size{15, 19, 300};
  const std::vector<std::int64_t> rows = list(15), depth = list(300), columns = list(19);
  const MatrixOperand<float> left{numbers.data(), {.at = rows.data()}, {.at = depth.data()}};
  const MatrixOperand<float> right{numbers.data(), {.at = depth.data()}, {.at = columns.data()}};
  const MatrixOperand<float> plain{numbers.data(), {.step = 2}, {.step = 1}};
  ExpectSame(size, left, right);
  ExpectSame(size, left, plain);
  ExpectSame(size, plain, right);
}

}  // namespace
}  // namespace vigil
