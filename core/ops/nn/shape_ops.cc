// Shapes as values, and tensors made for a shape: what gradients reckon with.
#include <algorithm>
#include <limits>

#include "vigil/core/ops/nn/elements.h"
#include "vigil/core/ops/nn/nn.h"

namespace vigil {
namespace {

absl::Status SizeKernel(KernelContext& c) {
  const std::int64_t size = c.input(0).num_elements();
  if (c.attr_or<DType>("out_type", DType::kInt32) == DType::kInt64) {
    c.set_output(0, Tensor::Scalar<std::int64_t>(size));
  } else if (size > std::numeric_limits<std::int32_t>::max()) {
    return InvalidArgument("Number of elements was larger than representable by 32-bit output type");
  } else {
    c.set_output(0, Tensor::Scalar<std::int32_t>(static_cast<std::int32_t>(size)));
  }
  return absl::OkStatus();
}

absl::Status RankKernel(KernelContext& c) {
  c.set_output(0, Tensor::Scalar<std::int32_t>(c.input(0).shape().rank()));
  return absl::OkStatus();
}

// As many zeros (ones) as the input has elements.
template <int kValue>
absl::Status LikeKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  if constexpr (kValue == 0) {
    VIGIL_ASSIGN_OR_RETURN(Tensor zeros, Tensor::Make(in.dtype(), in.shape().dims()));
    c.set_output(0, std::move(zeros));
    return absl::OkStatus();
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), in.shape().dims()));
  if (in.dtype() == DType::kBool) {
    std::ranges::fill(out.mutable_flat<bool>(), true);
  } else if (!ForNumeric(in.dtype(), [&]<typename T>() { std::ranges::fill(out.mutable_flat<T>(), T(kValue)); })) {
    return NoKernel(c);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status PassKernel(KernelContext& c) {
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

absl::Status ExpandDimsKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> given, Integers(c.input(1)));
  if (given.size() != 1) return InvalidArgument("'dim' input must be a tensor with a single value");
  const std::int64_t rank = in.shape().rank();
  if (given[0] < -1 - rank || given[0] > rank) {
    return InvalidArgument("Tried to expand dim index {} for tensor with {} dimensions.", given[0], rank);
  }
  std::vector<std::int64_t> dims = in.shape().dims();
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(given[0] < 0 ? given[0] + rank + 1 : given[0]), 1);
  VIGIL_ASSIGN_OR_RETURN(Shape shape, Shape::Make(std::move(dims)));
  c.set_output(0, in.Reshaped(std::move(shape)));
  return absl::OkStatus();
}

template <typename T>
Tensor IntegersTensor(const std::vector<std::int64_t>& values) {
  return Tensor::Vector<T>(std::vector<T>(values.begin(), values.end()));
}

// For each of two shapes that broadcast to one: the axes over which its gradient is to be summed.
template <typename T>
absl::Status BroadcastArgs(KernelContext& c) {
  std::vector<std::int64_t> shapes[2];
  for (int i = 0; i < 2; ++i) {
    if (c.input(i).shape().rank() != 1) {
      return InvalidArgument("In[{}] must be a vector.{}", i, c.input(i).shape().ToString());
    }
    VIGIL_ASSIGN_OR_RETURN(shapes[i], Integers(c.input(i)));
  }
  const std::size_t rank = std::max(shapes[0].size(), shapes[1].size());
  std::vector<std::int64_t> axes[2];
  const auto dim = [&](int i, std::size_t d) {
    const std::size_t missing = rank - shapes[i].size();
    return d < missing ? std::int64_t{1} : shapes[i][d - missing];
  };
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t a = dim(0, d);
    const std::int64_t b = dim(1, d);
    if (a != b && a != 1 && b != 1) {
      return InvalidArgument("Incompatible shapes: [{}] vs. [{}]", fmt::join(shapes[0], ","),
                             fmt::join(shapes[1], ","));
    }
    // An axis of one element in both is summed over as well, as in TensorFlow: the sum takes nothing.
    if (a == 1) axes[0].push_back(static_cast<std::int64_t>(d));
    if (b == 1) axes[1].push_back(static_cast<std::int64_t>(d));
  }
  if (shapes[0] == shapes[1]) axes[0] = axes[1] = {};
  for (int i = 0; i < 2; ++i) c.set_output(i, IntegersTensor<T>(axes[i]));
  return absl::OkStatus();
}

absl::Status BroadcastArgsKernel(KernelContext& c) {
  return c.input(0).dtype() == DType::kInt32 ? BroadcastArgs<std::int32_t>(c) : BroadcastArgs<std::int64_t>(c);
}

absl::Status InvertPermutationKernel(KernelContext& c) {
  if (c.input(0).shape().rank() != 1) {
    return InvalidArgument("invert_permutation expects a 1D vector.");
  }
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> given, Integers(c.input(0)));
  const auto size = static_cast<std::int64_t>(given.size());
  std::vector<std::int64_t> inverse(given.size(), -1);
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t at = given[static_cast<std::size_t>(i)];
    if (at < 0 || at >= size) return InvalidArgument("{} is not between 0 and {}", at, size);
    if (inverse[static_cast<std::size_t>(at)] != -1) return InvalidArgument("{} is duplicated in the input.", at);
    inverse[static_cast<std::size_t>(at)] = i;
  }
  c.set_output(0, c.input(0).dtype() == DType::kInt32 ? IntegersTensor<std::int32_t>(inverse)
                                                      : IntegersTensor<std::int64_t>(inverse));
  return absl::OkStatus();
}

// Where in the concatenation each of the shapes begins.
absl::Status ConcatOffsetKernel(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> given, Integers(c.input(0)));
  if (given.size() != 1 || c.input(0).shape().rank() != 0) {
    return InvalidArgument("Concat dim tensor should be a scalar integer, but got shape {}",
                           c.input(0).shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> first, Integers(c.input(1)));
  const auto rank = static_cast<std::int64_t>(first.size());
  const std::int64_t axis = given[0] < 0 ? given[0] + rank : given[0];
  if (axis < 0 || axis >= rank) return InvalidArgument("Concat dim is out of range: {} vs. {}", given[0], rank);
  std::int32_t offset = 0;
  for (int i = 1; i < c.num_inputs(); ++i) {
    const auto shape = c.input(i).flat<std::int32_t>();
    if (c.input(i).shape().rank() != 1 || shape.size() != first.size()) {
      return InvalidArgument("input {} should contain {} elements, but got shape {}", i - 1, rank,
                             c.input(i).shape().ToString());
    }
    for (std::int64_t d = 0; d < rank; ++d) {
      if (d != axis && shape[static_cast<std::size_t>(d)] != first[static_cast<std::size_t>(d)]) {
        return InvalidArgument(
            "All dimensions except {} must match. Input {} has shape [{}] and doesn't match input "
            "0 with shape [{}].",
            axis, i - 1, fmt::join(shape, " "), fmt::join(first, " "));
      }
    }
    std::vector<std::int32_t> begin(first.size(), 0);
    begin[static_cast<std::size_t>(axis)] = offset;
    c.set_output(i - 1, Tensor::Vector<std::int32_t>(begin));
    offset = WrappingSum(offset, shape[static_cast<std::size_t>(axis)]);
  }
  return absl::OkStatus();
}

// The shape that each place of a data input has beyond its index; an error if index and data do not fit.
absl::StatusOr<std::vector<std::int64_t>> ElementDims(const Tensor& indices, const Tensor& data) {
  const std::vector<std::int64_t>& dims = data.shape().dims();
  const std::vector<std::int64_t>& begin = indices.shape().dims();
  if (dims.size() < begin.size() || !std::equal(begin.begin(), begin.end(), dims.begin())) {
    return InvalidArgument("data[0].shape = {} does not start with indices[0].shape = {}", data.shape().ToString(),
                           indices.shape().ToString());
  }
  return std::vector<std::int64_t>(dims.begin() + static_cast<std::ptrdiff_t>(begin.size()), dims.end());
}

// out[indices[m][i]] = data[m][i]; later ones win.
absl::Status DynamicStitchKernel(KernelContext& c) {
  const int n = c.num_inputs() / 2;
  std::int64_t rows = 0;
  std::vector<std::int64_t> element;
  for (int i = 0; i < n; ++i) {
    VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> here, ElementDims(c.input(i), c.input(n + i)));
    if (i > 0 && here != element) {
      return InvalidArgument(
          "Need data[0].shape[{}:] = data[{}].shape[{}:], got data[0].shape = {}, data[{}].shape "
          "= {}, indices[0].shape = {}, indices[{}].shape = {}",
          c.input(0).shape().rank(), i, c.input(i).shape().rank(), c.input(n).shape().ToString(), i,
          c.input(n + i).shape().ToString(), c.input(0).shape().ToString(), i, c.input(i).shape().ToString());
    }
    element = here;
    for (const std::int32_t at : c.input(i).flat<std::int32_t>()) {
      if (at < 0) return InvalidArgument("indices[{}] is out of range: {}", i, at);
      rows = std::max(rows, std::int64_t{at} + 1);
    }
  }
  std::vector<std::int64_t> dims = element;
  dims.insert(dims.begin(), rows);
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(c.input(n).dtype(), std::move(dims)));
  const std::int64_t size = rows == 0 ? 0 : out.num_elements() / rows;
  for (int i = 0; i < n && size > 0; ++i) {
    std::int64_t from = 0;
    for (const std::int32_t at : c.input(i).flat<std::int32_t>()) {
      CopyElements(c.input(n + i), from, out, at * size, size);
      from += size;
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

using TypesOr = absl::StatusOr<std::vector<DType>>;

TypesOr SizeTypes(const Node& node, const std::vector<DType>&) {
  return IndexTypeFrom(node, "out_type", DType::kInt32);
}

TypesOr ExpandDimsTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kInt32, DType::kInt64}));
  return std::vector<DType>{inputs[0]};
}

TypesOr BroadcastArgsTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(RequireSameTypes(node, inputs, 0, 1));
  return std::vector<DType>{inputs[0], inputs[0]};
}

TypesOr PermutationTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kInt32, DType::kInt64}));
  return std::vector<DType>{inputs[0]};
}

TypesOr ConcatOffsetTypes(const Node& node, const std::vector<DType>& inputs) {
  if (inputs.size() < 3) return UsageError("'ConcatOffset' Op needs the axis and at least two shapes.");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, static_cast<int>(i), {DType::kInt32}));
  }
  return std::vector<DType>(inputs.size() - 1, DType::kInt32);
}

TypesOr DynamicStitchTypes(const Node& node, const std::vector<DType>& inputs) {
  if (inputs.empty() || inputs.size() % 2 != 0) {
    return UsageError("'DynamicStitch' Op needs as many indices as data, and at least one of each.");
  }
  const std::size_t n = inputs.size() / 2;
  for (std::size_t i = 0; i < n; ++i) {
    VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, static_cast<int>(i), {DType::kInt32}));
    VIGIL_RETURN_IF_ERROR(RequireSameTypes(node, inputs, n, n + i));
  }
  return std::vector<DType>{inputs[n]};
}

TypesOr OnesTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(
      RequireType(node, inputs, 0, {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64, DType::kBool}));
  return std::vector<DType>{inputs[0]};
}

}  // namespace

void RegisterShapeOps(OpRegistry& registry) {
  registry.Register({.name = "Size", .inputs = 1, .output_types = SizeTypes, .compute = SizeKernel});
  registry.Register({.name = "Rank", .inputs = 1, .output_types = Always({DType::kInt32}), .compute = RankKernel});
  registry.Register({.name = "ZerosLike", .inputs = 1, .output_types = SameAsInput(0), .compute = LikeKernel<0>});
  registry.Register({.name = "OnesLike", .inputs = 1, .output_types = OnesTypes, .compute = LikeKernel<1>});
  registry.Register({.name = "StopGradient", .inputs = 1, .output_types = SameAsInput(0), .compute = PassKernel});
  registry.Register({.name = "ExpandDims", .inputs = 2, .output_types = ExpandDimsTypes, .compute = ExpandDimsKernel});
  registry.Register({.name = "BroadcastGradientArgs",
                     .inputs = 2,
                     .output_types = BroadcastArgsTypes,
                     .compute = BroadcastArgsKernel});
  registry.Register(
      {.name = "InvertPermutation", .inputs = 1, .output_types = PermutationTypes, .compute = InvertPermutationKernel});
  registry.Register(
      {.name = "ConcatOffset", .inputs = -1, .output_types = ConcatOffsetTypes, .compute = ConcatOffsetKernel});
  registry.Register(
      {.name = "DynamicStitch", .inputs = -1, .output_types = DynamicStitchTypes, .compute = DynamicStitchKernel});
}

}  // namespace vigil
