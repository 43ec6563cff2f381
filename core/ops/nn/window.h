// Where a window (a filter, a pool) lies on an image as it moves: TensorFlow's padding "VALID" and "SAME".
// Thread safety: pure functions. Source: GetWindowedOutputSize (kernel_shape_util.cc).
#ifndef VIGIL_CORE_OPS_NN_WINDOW_H_
#define VIGIL_CORE_OPS_NN_WINDOW_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/ops/op_util.h"

namespace vigil {

// Along one axis.
struct WindowAxis {
  std::int64_t in = 0;      // elements of the image
  std::int64_t window = 0;  // of the window
  std::int64_t stride = 1;
  std::int64_t out = 0;     // places of the window
  std::int64_t before = 0;  // how far the first window begins before the image

  std::int64_t Begin(std::int64_t place) const { return place * stride - before; }
};

// Both axes of a batch of images, [batch, rows, columns, channels].
struct Windows {
  std::int64_t batch = 0;
  std::int64_t channels = 0;
  WindowAxis rows;
  WindowAxis columns;
};

// REQUIRES: window and stride are above 0. INVALID_ARGUMENT where the window has no place.
inline absl::StatusOr<WindowAxis> PlaceWindow(std::int64_t in, std::int64_t window, std::int64_t stride, bool same) {
  WindowAxis axis{.in = in, .window = window, .stride = stride};
  if (same) {
    axis.out = in / stride + (in % stride == 0 ? 0 : 1);
    // REQUIRES above: no overflow, since (out - 1) * stride < in.
    const std::int64_t covered = axis.out == 0 ? 0 : (axis.out - 1) * stride;
    const std::int64_t missing = std::max<std::int64_t>(0, window - (in - covered));
    axis.before = axis.out == 0 ? 0 : missing / 2;
  } else {
    axis.out = (in - window + stride) / stride;  // none, if the window is larger than the image by less than a step
    if (axis.out < 0) {
      return InvalidArgument(
          "Computed output size would be negative: {} [input_size: {}, effective_filter_size: {}, "
          "stride: {}]",
          axis.out, in, window, stride);
    }
  }
  return axis;
}

// An attribute of four numbers, one for each axis, of which batch and channels are 1; all above 0.
inline absl::StatusOr<std::vector<std::int64_t>> FourNumbers(const KernelContext& c, const char* attr,
                                                             const char* what) {
  const auto four = c.attr_or<std::vector<std::int64_t>>(attr, {});
  if (four.size() != 4) return InvalidArgument("Sliding window {} field must specify 4 dimensions", what);
  if (four[0] != 1 || four[3] != 1) {
    return InvalidArgument("'{}' Op: '{}' in the batch and depth dimensions must be 1: [{}]", c.node().op, attr,
                           fmt::join(four, ", "));
  }
  if (four[1] <= 0 || four[2] <= 0) {
    return InvalidArgument("Sliding window {} must be greater than 0: [{}]", what, fmt::join(four, ", "));
  }
  // So that no sum or product of a window and an image overflows.
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (four[1] > kMost || four[2] > kMost) return InvalidArgument("Sliding window {} is too large", what);
  return four;
}

inline absl::Status CheckWindowAttrs(const KernelContext& c) {
  const std::string padding = c.attr_or<std::string>("padding", "");
  if (padding != "VALID" && padding != "SAME") {
    return InvalidArgument("'{}' Op: the padding is \"VALID\" or \"SAME\", not \"{}\"", c.node().op, padding);
  }
  const std::string format = c.attr_or<std::string>("data_format", "NHWC");
  if (format != "NHWC") {
    return MakeStatus(Code::kUnimplemented,
                      fmt::format("'{}' Op: the data_format is NHWC on the CPU, not {}", c.node().op, format));
  }
  return absl::OkStatus();
}

// `image`: [batch, rows, columns, channels]. REQUIRES: rank 4; the attributes are checked.
inline absl::StatusOr<Windows> PlaceWindows(const KernelContext& c, const Shape& image, std::int64_t rows,
                                            std::int64_t columns, const std::vector<std::int64_t>& strides) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  for (int d = 0; d < 4; ++d) {
    if (image.dim(d) > kMost)
      return InvalidArgument("'{}' Op: the input is too large: {}", c.node().op, image.ToString());
  }
  const bool same = c.attr_or<std::string>("padding", "") == "SAME";
  Windows windows{.batch = image.dim(0), .channels = image.dim(3)};
  VIGIL_ASSIGN_OR_RETURN(windows.rows, PlaceWindow(image.dim(1), rows, strides[1], same));
  VIGIL_ASSIGN_OR_RETURN(windows.columns, PlaceWindow(image.dim(2), columns, strides[2], same));
  return windows;
}

inline absl::StatusOr<std::vector<DType>> WindowTypes(const Node& node, DType type) {
  VIGIL_RETURN_IF_ERROR(RequireAttr<std::vector<std::int64_t>>(node, "strides"));
  VIGIL_RETURN_IF_ERROR(RequireAttr<std::string>(node, "padding"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, "data_format"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::vector<std::int64_t>>(node, "dilations"));
  return std::vector<DType>{type};
}

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_NN_WINDOW_H_
