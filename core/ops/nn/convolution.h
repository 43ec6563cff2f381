// A convolution of a batch of images with filters, and its two gradients.
//
// Each is a product of matrices (math/matrix_product.h) whose operands are read where they lie: a row of the one is
// what lies under the filter at one place of the image. Only an image that the filter sticks out of is copied, with
// zeros around it. Groups are products of their own, of some channels with some filters.
// The images of a batch, or the rows of a filter's gradient, are shared out over the threads that the process has for
// one op; what comes out is the same to the bit.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_OPS_NN_CONVOLUTION_H_
#define VIGIL_CORE_OPS_NN_CONVOLUTION_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/ops/nn/window.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

struct Convolution {
  Windows windows;  // as large as what the filter spans, drawn in
  std::int64_t filter_rows = 0;
  std::int64_t filter_columns = 0;
  std::int64_t row_dilation = 1;
  std::int64_t column_dilation = 1;
  std::int64_t row_cut = 0;  // by how much it is drawn in, before the image
  std::int64_t column_cut = 0;
  std::int64_t depth = 0;    // channels of a filter
  std::int64_t filters = 0;  // of all groups

  // Where in a window a row (or a column) of the filter lies.
  std::int64_t Row(std::int64_t r) const {
    return std::clamp<std::int64_t>(r * row_dilation - row_cut, 0, windows.rows.window - 1);
  }
  std::int64_t Column(std::int64_t k) const {
    return std::clamp<std::int64_t>(k * column_dilation - column_cut, 0, windows.columns.window - 1);
  }
  // What of the filter never lies on the image lies just beside it: no memory goes by how far away it would be.
  // REQUIRES: called once, when the windows are placed.
  void DrawIn();

  std::int64_t groups() const { return windows.channels / depth; }
  std::int64_t group_filters() const { return filters / groups(); }
  std::int64_t places() const { return windows.rows.out * windows.columns.out; }
  std::int64_t patch() const { return filter_rows * filter_columns * depth; }
  std::int64_t image() const { return windows.rows.in * windows.columns.in * windows.channels; }
  std::vector<std::int64_t> OutDims() const { return {windows.batch, windows.rows.out, windows.columns.out, filters}; }
};

// Images are [batch, rows, columns, channels], filters [rows, columns, depth, filters], gradients as OutDims(). Each
// writes all of `out`. REQUIRES: tensors of type T (float or double) and of these shapes, none of them empty.
// RESOURCE_EXHAUSTED: no memory for what is laid out beside them.
template <typename T>
absl::Status Convolve(const KernelContext& c, const Convolution& conv, const Tensor& images, const Tensor& filter,
                      Tensor& out);
template <typename T>
absl::Status ConvolveBackToInput(const KernelContext& c, const Convolution& conv, const Tensor& filter,
                                 const Tensor& grad, Tensor& out);
template <typename T>
absl::Status ConvolveBackToFilter(const KernelContext& c, const Convolution& conv, const Tensor& images,
                                  const Tensor& grad, Tensor& out);

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_NN_CONVOLUTION_H_
