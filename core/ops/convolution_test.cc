// Convolutions held against plain loops over what the words mean: groups, dilations, strides, both paddings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/splitmix64.h"
#include "vigil/core/ops/testing.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

struct Case {
  std::int64_t rows, columns, groups, depth, filters;  // of the image; depth and filters of each group
  std::int64_t filter_rows, filter_columns;
  std::int64_t row_stride, column_stride, row_dilation, column_dilation;
  std::string padding;
};

constexpr std::int64_t kBatch = 2;

Tensor Numbers(const std::vector<std::int64_t>& dims, std::uint64_t seed) {
  Tensor out(DType::kDouble, Shape(dims));
  SplitMix64 random(seed);
  for (double& value : out.mutable_flat<double>()) value = static_cast<double>(random.Below(2001)) / 1000 - 1;
  return out;
}

class PlainConvolution {
 public:
  explicit PlainConvolution(const Case& given) : c(given) {
    const std::int64_t high = (c.filter_rows - 1) * c.row_dilation + 1;
    const std::int64_t wide = (c.filter_columns - 1) * c.column_dilation + 1;
    if (c.padding == "VALID") {
      out_rows = (c.rows - high) / c.row_stride + 1;
      out_columns = (c.columns - wide) / c.column_stride + 1;
      return;
    }
    out_rows = (c.rows + c.row_stride - 1) / c.row_stride;
    out_columns = (c.columns + c.column_stride - 1) / c.column_stride;
    top = std::max<std::int64_t>(0, (out_rows - 1) * c.row_stride + high - c.rows) / 2;
    left = std::max<std::int64_t>(0, (out_columns - 1) * c.column_stride + wide - c.columns) / 2;
  }

  std::vector<std::int64_t> images() const { return {kBatch, c.rows, c.columns, c.groups * c.depth}; }
  std::vector<std::int64_t> filter() const { return {c.filter_rows, c.filter_columns, c.depth, c.groups * c.filters}; }
  std::vector<std::int64_t> out() const { return {kBatch, out_rows, out_columns, c.groups * c.filters}; }

  // Calls visit(element of the images, of the filter, of the result) for each product that there is.
  template <typename Visit>
  void EachProduct(Visit visit) const {
    for (std::int64_t b = 0; b < kBatch; ++b) {
      for (std::int64_t y = 0; y < out_rows; ++y) {
        for (std::int64_t x = 0; x < out_columns; ++x) EachAt(b, y, x, visit);
      }
    }
  }

 private:
  template <typename Visit>
  void EachAt(std::int64_t b, std::int64_t y, std::int64_t x, Visit visit) const {
    const std::int64_t all = c.groups * c.filters;
    for (std::int64_t r = 0; r < c.filter_rows; ++r) {
      for (std::int64_t k = 0; k < c.filter_columns; ++k) {
        const std::int64_t row = y * c.row_stride - top + r * c.row_dilation;
        const std::int64_t column = x * c.column_stride - left + k * c.column_dilation;
        if (row < 0 || row >= c.rows || column < 0 || column >= c.columns) continue;
        for (std::int64_t f = 0; f < all; ++f) {
          for (std::int64_t d = 0; d < c.depth; ++d) {
            const std::int64_t channel = f / c.filters * c.depth + d;
            visit(((b * c.rows + row) * c.columns + column) * c.groups * c.depth + channel,
                  ((r * c.filter_columns + k) * c.depth + d) * all + f,
                  ((b * out_rows + y) * out_columns + x) * all + f);
          }
        }
      }
    }
  }

  const Case c;
  std::int64_t out_rows = 0, out_columns = 0, top = 0, left = 0;
};

class ConvolutionTest : public OpsTest<fakes::FakeEnv> {
 protected:
  void ExpectNear(const Tensor& got, const Tensor& wanted, const std::string& what) {
    ASSERT_EQ(got.shape(), wanted.shape()) << what;
    for (std::size_t i = 0; i < wanted.flat<double>().size(); ++i) {
      ASSERT_NEAR(got.flat<double>()[i], wanted.flat<double>()[i], 1e-9) << what << ", element " << i;
    }
  }

  void Try(const Case& c, const std::string& what) {
    const PlainConvolution plain(c);
    const Tensor images = Numbers(plain.images(), 1), filter = Numbers(plain.filter(), 2);
    const Tensor grad = Numbers(plain.out(), 3);
    Tensor out(DType::kDouble, Shape(plain.out()));
    Tensor to_images(DType::kDouble, images.shape()), to_filter(DType::kDouble, filter.shape());
    plain.EachProduct([&](std::int64_t i, std::int64_t f, std::int64_t o) {
      const auto at = [](const Tensor& of, std::int64_t k) { return of.flat<double>()[static_cast<std::size_t>(k)]; };
      out.mutable_flat<double>()[static_cast<std::size_t>(o)] += at(images, i) * at(filter, f);
      to_images.mutable_flat<double>()[static_cast<std::size_t>(i)] += at(grad, o) * at(filter, f);
      to_filter.mutable_flat<double>()[static_cast<std::size_t>(f)] += at(grad, o) * at(images, i);
    });
    const Attrs attrs{{"strides", std::vector<std::int64_t>{1, c.row_stride, c.column_stride, 1}},
                      {"dilations", std::vector<std::int64_t>{1, c.row_dilation, c.column_dilation, 1}},
                      {"padding", c.padding}};
    const auto sizes = [](const Tensor& of) {
      return Tensor::Vector<std::int32_t>({of.shape().dims().begin(), of.shape().dims().end()});
    };
    ExpectNear(Compute("Conv2D", {images, filter}, attrs), out, what);
    ExpectNear(Compute("Conv2DBackpropInput", {sizes(images), filter, grad}, attrs), to_images, what + ", input");
    ExpectNear(Compute("Conv2DBackpropFilter", {images, sizes(filter), grad}, attrs), to_filter, what + ", filter");
  }

  Tensor Compute(const std::string& op, const std::vector<Tensor>& inputs, const Attrs& attrs) {
    std::vector<Output> outputs;
    for (const Tensor& input : inputs) outputs.push_back(b_.Const("input", input));
    const absl::StatusOr<Tensor> value = Get(b_.Op(op, outputs, {.attrs = attrs}));
    EXPECT_TRUE(value.ok()) << value.status();
    return value.ok() ? *value : Tensor();
  }
};

TEST_F(ConvolutionTest, IsWhatPlainLoopsGive) {
  // Groups and their depths: too few channels for the columns of a product, and enough.
  constexpr std::pair<std::int64_t, std::int64_t> kChannels[] = {{1, 2}, {3, 2}, {1, 9}, {2, 8}};
  int tried = 0;
  for (const char* const padding : {"SAME", "VALID"}) {
    for (const auto& [groups, depth] : kChannels) {
      for (const std::int64_t stride : {1, 2, 3}) {
        for (const std::int64_t dilation : {1, 2}) {
          Case c{.rows = 7,
                 .columns = 9,
                 .groups = groups,
                 .depth = depth,
                 .filters = 3,
                 .filter_rows = 3,
                 .filter_columns = 2,
                 .row_stride = stride,
                 .column_stride = stride,
                 .row_dilation = dilation,
                 .column_dilation = dilation,
                 .padding = padding};
          const std::string what = padding + std::string(", groups, depth, stride, dilation ") +
                                   std::to_string(groups) + std::to_string(depth) + std::to_string(stride) +
                                   std::to_string(dilation);
          Try(c, what);
          c.column_stride = 1;
          c.row_dilation = 1;
          Try(c, what + ", of one axis");
          tried += 2;
        }
      }
    }
  }
  EXPECT_EQ(tried, 96);
}

TEST_F(ConvolutionTest, AFilterLargerThanTheImage) {
  Case c{.rows = 3,
         .columns = 2,
         .groups = 1,
         .depth = 1,
         .filters = 1,
         .filter_rows = 5,
         .filter_columns = 4,
         .row_stride = 1,
         .column_stride = 1,
         .row_dilation = 2,
         .column_dilation = 1,
         .padding = "SAME"};
  Try(c, "larger");
  c.row_stride = 2;
  Try(c, "larger, stride 2");
}

// With an even and an odd number of rows, of which some never lie on the image, and strides beyond it.
TEST_F(ConvolutionTest, ADilationBeyondTheImageIsWhatPlainLoopsGive) {
  for (const std::int64_t filter_rows : {2, 3, 4, 5}) {
    for (const std::int64_t dilation : {3, 5, 6, 8, 9, 1000}) {
      for (const std::int64_t stride : {1, 2, 3, 7}) {
        for (const std::int64_t depth : {1, 9}) {
          Try({.rows = 5,
               .columns = 3,
               .groups = 1,
               .depth = depth,
               .filters = 2,
               .filter_rows = filter_rows,
               .filter_columns = 2,
               .row_stride = stride,
               .column_stride = 1,
               .row_dilation = dilation,
               .column_dilation = dilation / 2,
               .padding = "SAME"},
              "rows, dilation, stride, depth " + std::to_string(filter_rows) + " " + std::to_string(dilation) + " " +
                  std::to_string(stride) + " " + std::to_string(depth));
        }
      }
    }
  }
}

// Laid out whole, the image with what is around it would be larger than any tensor.
TEST_F(ConvolutionTest, ADilationFarBeyondTheImageTakesNoMemoryForWhatIsBetween) {
  constexpr std::int64_t kFar = 2'000'000'000;
  for (const std::int64_t stride : {1, 2}) {
    Try({.rows = 5,
         .columns = 4,
         .groups = 2,
         .depth = 2,
         .filters = 3,
         .filter_rows = 3,
         .filter_columns = 4,
         .row_stride = stride,
         .column_stride = stride,
         .row_dilation = kFar,
         .column_dilation = kFar,
         .padding = "SAME"},
        "stride " + std::to_string(stride));
  }
}

}  // namespace
}  // namespace vigil
