// Conv2D and its gradients: what lies under the filter at each place is laid out as a row of a matrix, which is then
// multiplied (one image at a time, so the matrix stays small).
#include <algorithm>
#include <vector>

#include "vigil/core/ops/nn/elements.h"
#include "vigil/core/ops/nn/nn.h"
#include "vigil/core/ops/nn/window.h"

namespace vigil {
namespace {

struct Convolution {
  Windows windows;
  std::int64_t filters = 0;

  std::int64_t places() const { return windows.rows.out * windows.columns.out; }
  std::int64_t patch() const { return windows.rows.window * windows.columns.window * windows.channels; }
  std::int64_t image() const { return windows.rows.in * windows.columns.in * windows.channels; }
  std::vector<std::int64_t> OutDims() const { return {windows.batch, windows.rows.out, windows.columns.out, filters}; }
};

// Calls visit(row of the image, first column, columns, offset in the patch) for each stretch of the patch at a place
// that lies on the image.
template <typename Visit>
void EachStretch(const Windows& windows, std::int64_t place, Visit visit) {
  const std::int64_t top = windows.rows.Begin(place / windows.columns.out);
  const std::int64_t left = windows.columns.Begin(place % windows.columns.out);
  const std::int64_t from = std::max<std::int64_t>(0, -left);
  const std::int64_t to = std::min(windows.columns.window, windows.columns.in - left);
  if (from >= to) return;
  for (std::int64_t r = 0; r < windows.rows.window; ++r) {
    const std::int64_t row = top + r;
    if (row < 0 || row >= windows.rows.in) continue;
    const std::int64_t on_image = (row * windows.columns.in + left + from) * windows.channels;
    visit(on_image, (r * windows.columns.window + from) * windows.channels, (to - from) * windows.channels);
  }
}

template <typename T>
void TakePatches(const Convolution& conv, const T* image, RowMajorMatrix<T>& patches) {
  patches.setZero(conv.places(), conv.patch());
  for (std::int64_t place = 0; place < conv.places(); ++place) {
    T* const patch = patches.data() + place * conv.patch();
    EachStretch(conv.windows, place, [&](std::int64_t on_image, std::int64_t in_patch, std::int64_t n) {
      std::copy(image + on_image, image + on_image + n, patch + in_patch);
    });
  }
}

template <typename T>
void AddPatches(const Convolution& conv, const RowMajorMatrix<T>& patches, T* image) {
  for (std::int64_t place = 0; place < conv.places(); ++place) {
    const T* const patch = patches.data() + place * conv.patch();
    EachStretch(conv.windows, place, [&](std::int64_t on_image, std::int64_t in_patch, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) image[on_image + i] += patch[in_patch + i];
    });
  }
}

template <typename T>
void Forward(const Convolution& conv, const Tensor& images, const Tensor& filter, Tensor& out) {
  const ConstMatrixView<T> weights(filter.flat<T>().data(), conv.patch(), conv.filters);
  RowMajorMatrix<T> patches;
  for (std::int64_t i = 0; i < conv.windows.batch; ++i) {
    TakePatches<T>(conv, images.flat<T>().data() + i * conv.image(), patches);
    MatrixView<T> to(out.mutable_flat<T>().data() + i * conv.places() * conv.filters, conv.places(), conv.filters);
    to.noalias() = patches * weights;
  }
}

template <typename T>
void BackToInput(const Convolution& conv, const Tensor& filter, const Tensor& grad, Tensor& out) {
  const ConstMatrixView<T> weights(filter.flat<T>().data(), conv.patch(), conv.filters);
  RowMajorMatrix<T> patches;
  for (std::int64_t i = 0; i < conv.windows.batch; ++i) {
    const ConstMatrixView<T> from(grad.flat<T>().data() + i * conv.places() * conv.filters, conv.places(),
                                  conv.filters);
    patches.noalias() = from * weights.transpose();
    AddPatches<T>(conv, patches, out.mutable_flat<T>().data() + i * conv.image());
  }
}

template <typename T>
void BackToFilter(const Convolution& conv, const Tensor& images, const Tensor& grad, Tensor& out) {
  MatrixView<T> weights(out.mutable_flat<T>().data(), conv.patch(), conv.filters);
  RowMajorMatrix<T> patches;
  for (std::int64_t i = 0; i < conv.windows.batch; ++i) {
    TakePatches<T>(conv, images.flat<T>().data() + i * conv.image(), patches);
    const ConstMatrixView<T> from(grad.flat<T>().data() + i * conv.places() * conv.filters, conv.places(),
                                  conv.filters);
    weights.noalias() += patches.transpose() * from;
  }
}

absl::StatusOr<Convolution> Convolve(const KernelContext& c, const Shape& images, const Shape& filter) {
  VIGIL_RETURN_IF_ERROR(CheckWindowAttrs(c));
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> strides, FourNumbers(c, "strides", "strides"));
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
  if (images.dim(3) != filter.dim(2)) {
    return MakeStatus(Code::kUnimplemented, fmt::format("'{}' Op: no groups (the depth of the input is {}, of the "
                                                        "filter {})",
                                                        c.node().op, images.dim(3), filter.dim(2)));
  }
  Convolution conv{.filters = filter.dim(3)};
  VIGIL_ASSIGN_OR_RETURN(conv.windows, PlaceWindows(c, images, filter.dim(0), filter.dim(1), strides));
  // What is laid out in memory: as many bytes as a tensor may have.
  const Windows& windows = conv.windows;
  VIGIL_ASSIGN_OR_RETURN(const Shape patches, Shape::Make({windows.rows.out, windows.columns.out, filter.dim(0),
                                                           filter.dim(1), filter.dim(2)}));
  VIGIL_RETURN_IF_ERROR(Tensor::BytesOf(DType::kDouble, patches).status());
  return conv;
}

absl::Status ConvKernel(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const Convolution conv, Convolve(c, c.input(0).shape(), c.input(1).shape()));
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(c.input(0).dtype(), conv.OutDims()));
  if (out.num_elements() > 0) {
    ForFloating(out.dtype(), [&]<typename T>() { Forward<T>(conv, c.input(0), c.input(1), out); });
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
  VIGIL_ASSIGN_OR_RETURN(const Convolution conv, Convolve(c, images, c.input(1).shape()));
  VIGIL_RETURN_IF_ERROR(CheckGrad(conv, c.input(2).shape()));
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(c.input(1).dtype(), images.dims()));
  if (c.input(2).num_elements() > 0) {
    ForFloating(out.dtype(), [&]<typename T>() { BackToInput<T>(conv, c.input(1), c.input(2), out); });
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status ConvFilterKernel(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const Shape filter, GivenShape(c, 1, "filter_sizes"));
  VIGIL_ASSIGN_OR_RETURN(const Convolution conv, Convolve(c, c.input(0).shape(), filter));
  VIGIL_RETURN_IF_ERROR(CheckGrad(conv, c.input(2).shape()));
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(c.input(0).dtype(), filter.dims()));
  if (c.input(2).num_elements() > 0) {
    ForFloating(out.dtype(), [&]<typename T>() { BackToFilter<T>(conv, c.input(0), c.input(2), out); });
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
