// Shape functions of layers: biases, convolutions, pools, losses.
#include <string>
#include <vector>

#include "vigil/core/ops/shapes/shape_fns.h"

namespace vigil::shapes {
namespace {

bool IsChannelsFirst(const InferenceContext& c) {
  const std::string* const format = c.attr<std::string>("data_format");
  return format != nullptr && *format == "NCHW";
}

absl::Status BiasAddShape(InferenceContext& c) {
  const bool channels_first = IsChannelsFirst(c);
  VIGIL_ASSIGN_OR_RETURN(const PartialShape in, WithRankAtLeast(c.input(0), channels_first ? 3 : 2));
  VIGIL_ASSIGN_OR_RETURN(const PartialShape bias, WithRank(c.input(1), 1));
  if (!in.has_rank()) return absl::OkStatus();
  const int channel = channels_first ? 1 : -1;
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t channels, MergeDims(in.dim(channel), bias.dim(0)));
  c.set_output(0, WithDim(in, channel, channels));
  return absl::OkStatus();
}

absl::Status BiasAddGradShape(InferenceContext& c) {
  const bool channels_first = IsChannelsFirst(c);
  VIGIL_ASSIGN_OR_RETURN(const PartialShape in, WithRankAtLeast(c.input(0), channels_first ? 3 : 2));
  c.set_output(0, {DimOf(in, channels_first ? -3 : -1)});
  return absl::OkStatus();
}

// How often a window fits along one dimension.
struct Window {
  std::int64_t size = kUnknownDim;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  bool same = false;  // padding "SAME"
};

absl::StatusOr<std::int64_t> Places(std::int64_t in, const Window& window) {
  if (window.stride <= 0) return InvalidArgument("Stride must be > 0, but got {}", window.stride);
  if (window.same) {
    VIGIL_ASSIGN_OR_RETURN(const std::int64_t padded, AddDims(in, window.stride - 1));
    return padded < 0 ? kUnknownDim : padded / window.stride;
  }
  if (window.dilation < 1) return InvalidArgument("Dilation rate must be >= 1, but got {}", window.dilation);
  std::int64_t reach = window.size;
  if (window.dilation > 1 && reach >= 0) {
    VIGIL_ASSIGN_OR_RETURN(reach, SubtractDims(reach, 1));
    VIGIL_ASSIGN_OR_RETURN(reach, MultiplyDims(reach, window.dilation));
    VIGIL_ASSIGN_OR_RETURN(reach, AddDims(reach, 1));
  }
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t rest, SubtractDims(in, reach));
  return rest < 0 ? kUnknownDim : rest / window.stride + 1;
}

// An attribute of four numbers, by dimension of the input.
absl::StatusOr<std::vector<std::int64_t>> FourOf(InferenceContext& c, std::string_view name,
                                                 std::string_view wrong_size) {
  auto values = c.attr_or<std::vector<std::int64_t>>(name, {1, 1, 1, 1});
  if (values.size() == 4) return values;
  return InvalidArgument("{}{}", wrong_size, values.size());
}

absl::Status Conv2DShape(InferenceContext& c) {
  const bool channels_first = IsChannelsFirst(c);
  const int channel = channels_first ? 1 : 3;
  const int row = channels_first ? 2 : 1;
  VIGIL_ASSIGN_OR_RETURN(const PartialShape in, WithRank(c.input(0), 4));
  VIGIL_ASSIGN_OR_RETURN(const PartialShape filter, WithRank(c.input(1), 4));
  VIGIL_ASSIGN_OR_RETURN(
      const auto dilations,
      FourOf(c, "dilations", "Conv2D requires the dilation attribute to contain 4 values, but got: "));
  VIGIL_ASSIGN_OR_RETURN(
      const auto strides,
      FourOf(c, "strides",
             fmt::format("Conv2D on data format {} requires the stride attribute to contain 4 values, but got: ",
                         channels_first ? "NCHW" : "NHWC")));
  if (in.dim(channel) >= 0 && filter.dim(2) > 0) {
    if (in.dim(channel) % filter.dim(2) != 0) {
      return InvalidArgument("Depth of input ({}) is not a multiple of input depth of filter ({})", in.dim(channel),
                             filter.dim(2));
    }
    const std::int64_t groups = in.dim(channel) / filter.dim(2);
    if (groups > 1 && filter.dim(3) >= 0 && filter.dim(3) % groups != 0) {
      return InvalidArgument("Depth of output ({}) is not a multiple of the number of groups ({})", filter.dim(3),
                             groups);
    }
  }
  PartialShape out = PartialShape::OfRank(4);
  out.set_dim(0, in.dim(0));
  out.set_dim(channel, filter.dim(3));
  for (int i = 0; i < 2; ++i) {
    const auto at = static_cast<std::size_t>(row + i);
    VIGIL_ASSIGN_OR_RETURN(const std::int64_t dim,
                           Places(in.dim(row + i), {.size = filter.dim(i),
                                                    .stride = strides[at],
                                                    .dilation = dilations[at],
                                                    .same = c.attr_or<std::string>("padding", "") == "SAME"}));
    out.set_dim(row + i, dim);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// What the derivative is taken by says its shape in input `kTold`.
template <int kTold>
absl::Status ToldOfRank4(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(PartialShape shape, c.ShapeFromInput(kTold));
  VIGIL_ASSIGN_OR_RETURN(shape, WithRank(shape, 4));
  c.set_output(0, std::move(shape));
  return absl::OkStatus();
}

// The derivative by the images; the batch is that of the gradient.
absl::Status Conv2DBackpropInputShape(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const PartialShape grad, WithRank(c.input(2), 4));
  VIGIL_ASSIGN_OR_RETURN(const PartialShape filter, WithRank(c.input(1), 4));
  VIGIL_RETURN_IF_ERROR(MergeDims(grad.dim(IsChannelsFirst(c) ? 1 : 3), filter.dim(3)).status());
  VIGIL_ASSIGN_OR_RETURN(PartialShape shape, c.ShapeFromInput(0));
  if (!shape.has_rank()) shape = PartialShape::OfRank(4);
  if (shape.rank() != 4 && shape.rank() != 2) {
    return InvalidArgument("Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: {}",
                           shape.rank());
  }
  if (shape.rank() == 2) return absl::OkStatus();  // no run here takes it
  VIGIL_RETURN_IF_ERROR(MergeDims(shape.dim(0), grad.dim(0)).status());
  shape.set_dim(0, grad.dim(0));
  c.set_output(0, std::move(shape));
  return absl::OkStatus();
}

absl::StatusOr<PartialShape> Pooled(InferenceContext& c, bool over_depth) {
  const bool channels_first = IsChannelsFirst(c);
  const int channel = channels_first ? 1 : 3;
  const int row = channels_first ? 2 : 1;
  const char* const name = over_depth ? "MaxPool" : "AvgPool";
  const auto explicit_paddings = c.attr_or<std::vector<std::int64_t>>("explicit_paddings", {});
  if (c.attr_or<std::string>("padding", "") != "EXPLICIT" && !explicit_paddings.empty()) {
    return InvalidArgument("explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT");
  }
  VIGIL_ASSIGN_OR_RETURN(PartialShape out, WithRank(c.input(0), 4));
  VIGIL_ASSIGN_OR_RETURN(
      const auto strides,
      FourOf(c, "strides", fmt::format("{} requires the stride attribute to contain 4 values, but got {}", name, "")));
  VIGIL_ASSIGN_OR_RETURN(
      const auto sizes,
      FourOf(c, "ksize", fmt::format("{} requires the ksize attribute to contain 4 values, but got {}", name, "")));
  for (int i = row; i < row + 2; ++i) {
    const auto at = static_cast<std::size_t>(i);
    VIGIL_ASSIGN_OR_RETURN(
        const std::int64_t dim,
        Places(out.dim(i),
               {.size = sizes[at], .stride = strides[at], .same = c.attr_or<std::string>("padding", "") == "SAME"}));
    out.set_dim(i, dim);
  }
  if (over_depth && sizes[static_cast<std::size_t>(channel)] > 0) {
    VIGIL_ASSIGN_OR_RETURN(const std::int64_t depth,
                           DivideEvenly(out.dim(channel), sizes[static_cast<std::size_t>(channel)]));
    out.set_dim(channel, depth);
  }
  return out;
}

template <bool kOverDepth>
absl::Status PoolShape(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(PartialShape out, Pooled(c, kOverDepth));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status MaxPoolGradGradShape(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(PartialShape out, Pooled(c, true));
  VIGIL_RETURN_IF_ERROR(Merge(c.input(0), c.input(2)).status());
  VIGIL_RETURN_IF_ERROR(Merge(c.input(1), out).status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status CrossEntropyShape(InferenceContext& c) {
  PartialShape both;
  absl::StatusOr<PartialShape> matrix = WithRank(c.input(0), 2);
  if (matrix.ok()) matrix = Merge(*matrix, c.input(1));
  if (matrix.ok()) {
    both = *std::move(matrix);
  } else {
    VIGIL_ASSIGN_OR_RETURN(both, BroadcastShapes(c.input(0), c.input(1)));
    if (!both.has_rank()) return InvalidArgument("Shape must be broadcasted with rank 2, but is rank is unknown.");
    if (both.rank() != 2) {
      return InvalidArgument("Shape must be broadcasted with rank 2, but is rank {}", both.rank());
    }
  }
  c.set_output(0, {both.dim(0)});
  c.set_output(1, std::move(both));
  return absl::OkStatus();
}

absl::Status SparseCrossEntropyShape(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(PartialShape features, WithRank(c.input(0), 2));
  VIGIL_ASSIGN_OR_RETURN(const PartialShape labels, WithRank(c.input(1), 1));
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t batch, MergeDims(features.dim(0), labels.dim(0)));
  features.set_dim(0, batch);
  c.set_output(0, {batch});
  c.set_output(1, std::move(features));
  return absl::OkStatus();
}

}  // namespace

void RegisterNnShapes(OpRegistry& registry) {
  Register(registry, {{"BiasAdd", BiasAddShape},
                      {"BiasAddGrad", BiasAddGradShape},
                      {"Conv2D", Conv2DShape},
                      {"Conv2DBackpropInput", Conv2DBackpropInputShape},
                      {"Conv2DBackpropFilter", ToldOfRank4<1>},
                      {"MaxPool", PoolShape<true>},
                      {"MaxPoolGrad", UnchangedWithRank<4>},
                      {"MaxPoolGradGrad", MaxPoolGradGradShape},
                      {"AvgPool", PoolShape<false>},
                      {"AvgPoolGrad", ToldOfRank4<0>},
                      {"Softmax", UnchangedWithRankAtLeast<1>},
                      {"LogSoftmax", UnchangedWithRankAtLeast<1>},
                      {"SoftmaxCrossEntropyWithLogits", CrossEntropyShape},
                      {"SparseSoftmaxCrossEntropyWithLogits", SparseCrossEntropyShape}});
}

}  // namespace vigil::shapes
