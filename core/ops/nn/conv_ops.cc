// Conv2D and its gradients: what TensorFlow checks, then convolution.h.
#include <algorithm>
#include <limits>
#include <vector>

#include "vigil/core/ops/nn/convolution.h"
#include "vigil/core/ops/nn/elements.h"
#include "vigil/core/ops/nn/nn.h"
#include "vigil/core/ops/nn/window.h"

namespace vigil {
namespace {

absl::Status CheckFilter(const KernelContext& c, const Shape& images, const Shape& filter) {
  if (images.rank() != 4) return InvalidArgument("input must be 4-dimensional: {}", images.ToString());
  if (filter.rank() != 4) return InvalidArgument("filter must be 4-dimensional: {}", filter.ToString());
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  for (int d = 0; d < 4; ++d) {
    if (filter.dim(d) <= 0 || filter.dim(d) > kMost) {
      return InvalidArgument("filter must not have zero elements (i.e. all dimensions must be non-zero): {}",
                             filter.ToString());
    }
  }
  if (images.dim(3) % filter.dim(2) != 0) {
    return InvalidArgument("input depth must be evenly divisible by filter depth: {} vs {}", images.dim(3),
                           filter.dim(2));
  }
  const std::int64_t groups = images.dim(3) / filter.dim(2);
  if (groups > 0 && filter.dim(3) % groups == 0) return absl::OkStatus();
  return InvalidArgument("'{}' Op: output depth must be evenly divisible by the number of groups: {} vs {}",
                         c.node().op, filter.dim(3), groups);
}

absl::StatusOr<Convolution> ConvolutionOf(const KernelContext& c, const Shape& images, const Shape& filter) {
  VIGIL_RETURN_IF_ERROR(CheckWindowAttrs(c));
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> strides, FourNumbers(c, "strides", "strides"));
  std::vector<std::int64_t> dilations(4, 1);
  if (c.node().attrs.contains("dilations")) {
    VIGIL_ASSIGN_OR_RETURN(dilations, FourNumbers(c, "dilations", "dilations"));
  }
  VIGIL_RETURN_IF_ERROR(CheckFilter(c, images, filter));
  Convolution conv{.filter_rows = filter.dim(0),
                   .filter_columns = filter.dim(1),
                   .row_dilation = dilations[1],
                   .column_dilation = dilations[2],
                   .depth = filter.dim(2),
                   .filters = filter.dim(3)};
  // No overflow: all of them are 31 bits long.
  const std::int64_t rows = (conv.filter_rows - 1) * conv.row_dilation + 1;
  const std::int64_t columns = (conv.filter_columns - 1) * conv.column_dilation + 1;
  VIGIL_ASSIGN_OR_RETURN(conv.windows, PlaceWindows(c, images, rows, columns, strides));
  conv.DrawIn();
  // What is laid out in memory: as many bytes as a tensor may have.
  const Windows& windows = conv.windows;
  for (const auto& dims :
       {std::vector<std::int64_t>{windows.rows.in + windows.rows.window, windows.columns.in + windows.columns.window,
                                  std::max(windows.channels, conv.filters)},
        std::vector<std::int64_t>{windows.rows.out, windows.columns.out, filter.dim(0), filter.dim(1),
                                  filter.dim(2)}}) {
    VIGIL_ASSIGN_OR_RETURN(const Shape laid_out, Shape::Make(dims));
    VIGIL_RETURN_IF_ERROR(Tensor::BytesOf(DType::kDouble, laid_out).status());
  }
  return conv;
}

absl::Status ConvKernel(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const Convolution conv, ConvolutionOf(c, c.input(0).shape(), c.input(1).shape()));
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(c.input(0).dtype(), conv.OutDims()));
  if (out.num_elements() > 0) {
    absl::Status status;
    ForFloating(out.dtype(), [&]<typename T>() { status = Convolve<T>(c, conv, c.input(0), c.input(1), out); });
    VIGIL_RETURN_IF_ERROR(status);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// A shape that is given as a value.
absl::StatusOr<Shape> GivenShape(const KernelContext& c, int i, const char* what) {
  if (c.input(i).shape().rank() != 1) {
    return InvalidArgument("Conv2DBackprop: {} must be 1-dim, not {}-dim", what, c.input(i).shape().rank());
  }
  VIGIL_ASSIGN_OR_RETURN(std::vector<std::int64_t> dims, Integers(c.input(i)));
  return Shape::Make(std::move(dims));
}

absl::Status CheckGrad(const Convolution& conv, const Shape& grad) {
  if (grad.dims() == conv.OutDims()) return absl::OkStatus();
  return InvalidArgument("Conv2DBackprop: the gradient has the shape {}, but the convolution gives [{}]",
                         grad.ToString(), fmt::join(conv.OutDims(), ","));
}

absl::Status ConvInputKernel(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const Shape images, GivenShape(c, 0, "input_sizes"));
  VIGIL_ASSIGN_OR_RETURN(const Convolution conv, ConvolutionOf(c, images, c.input(1).shape()));
  VIGIL_RETURN_IF_ERROR(CheckGrad(conv, c.input(2).shape()));
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(c.input(1).dtype(), images.dims()));
  if (c.input(2).num_elements() > 0) {
    absl::Status status;
    ForFloating(out.dtype(),
                [&]<typename T>() { status = ConvolveBackToInput<T>(c, conv, c.input(1), c.input(2), out); });
    VIGIL_RETURN_IF_ERROR(status);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status ConvFilterKernel(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const Shape filter, GivenShape(c, 1, "filter_sizes"));
  VIGIL_ASSIGN_OR_RETURN(const Convolution conv, ConvolutionOf(c, c.input(0).shape(), filter));
  VIGIL_RETURN_IF_ERROR(CheckGrad(conv, c.input(2).shape()));
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(c.input(0).dtype(), filter.dims()));
  if (c.input(2).num_elements() > 0) {
    absl::Status status;
    ForFloating(out.dtype(),
                [&]<typename T>() { status = ConvolveBackToFilter<T>(c, conv, c.input(0), c.input(2), out); });
    VIGIL_RETURN_IF_ERROR(status);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Input `sizes` is a shape; the others are of one floating-point type.
template <int kSizes>
absl::StatusOr<std::vector<DType>> ConvTypes(const Node& node, const std::vector<DType>& inputs) {
  constexpr int kFirst = kSizes == 0 ? 1 : 0;
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, kFirst, {DType::kFloat, DType::kDouble}));
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    if (i == kSizes) {
      VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, i, {DType::kInt32}));
    } else {
      VIGIL_RETURN_IF_ERROR(RequireSameTypes(node, inputs, kFirst, static_cast<std::size_t>(i)));
    }
  }
  return WindowTypes(node, inputs[kFirst]);
}

}  // namespace

void RegisterConvOps(OpRegistry& registry) {
  registry.Register({.name = "Conv2D", .inputs = 2, .output_types = ConvTypes<-1>, .compute = ConvKernel});
  registry.Register(
      {.name = "Conv2DBackpropInput", .inputs = 3, .output_types = ConvTypes<0>, .compute = ConvInputKernel});
  registry.Register(
      {.name = "Conv2DBackpropFilter", .inputs = 3, .output_types = ConvTypes<1>, .compute = ConvFilterKernel});
}

}  // namespace vigil
