// Ops that rearrange elements without computing with them; for every element type.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"

namespace vigil {
namespace {

// An axis that may count from the end.
absl::StatusOr<std::size_t> Axis(std::int64_t axis, std::int64_t rank) {
  const std::int64_t at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank) return InvalidArgument("axis = {} not in [{}, {})", axis, -rank, rank);
  return static_cast<std::size_t>(at);
}

// Lays the inputs side by side along an axis: each is `outer` blocks.
void Interleave(const std::vector<const Tensor*>& parts, std::int64_t outer, Tensor& out) {
  std::int64_t to = 0;
  for (std::int64_t block = 0; block < outer; ++block) {
    for (const Tensor* part : parts) {
      const std::int64_t size = part->num_elements() / outer;
      CopyElements(*part, block * size, out, to, size);
      to += size;
    }
  }
}

absl::Status Pack(KernelContext& c) {
  std::vector<const Tensor*> parts;
  for (int i = 0; i < c.num_inputs(); ++i) {
    parts.push_back(&c.input(i));
    if (c.input(i).shape() != c.input(0).shape()) {
      return InvalidArgument("Shapes of all inputs must match: values[0].shape = {} != values[{}].shape = {}",
                             c.input(0).shape().ToString(), i, c.input(i).shape().ToString());
    }
  }
  std::vector<std::int64_t> dims = c.input(0).shape().dims();
  VIGIL_ASSIGN_OR_RETURN(const std::size_t axis,
                         Axis(c.attr_or<std::int64_t>("axis", 0), static_cast<std::int64_t>(dims.size()) + 1));
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), c.num_inputs());
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(c.input(0).dtype(), dims));
  if (out.num_elements() > 0) Interleave(parts, ElementsOf(dims, 0, axis), out);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Whether input i goes with input 0 along that axis.
absl::Status CheckJoins(const KernelContext& c, int i, std::size_t axis) {
  const std::vector<std::int64_t>& first = c.input(0).shape().dims();
  const std::vector<std::int64_t>& here = c.input(i).shape().dims();
  const auto shapes = [&] {
    return fmt::format("shape[0] = {} vs. shape[{}] = {}", c.input(0).shape().ToString(), i,
                       c.input(i).shape().ToString());
  };
  if (here.size() != first.size()) {
    return InvalidArgument("ConcatOp : Ranks of all input tensors should match: {}", shapes());
  }
  for (std::size_t d = 0; d < first.size(); ++d) {
    if (d == axis || here[d] == first[d]) continue;
    return InvalidArgument("ConcatOp : Dimension {} in both shapes must be equal: {}", d, shapes());
  }
  return absl::OkStatus();
}

absl::Status ConcatV2(KernelContext& c) {
  const int n = c.num_inputs() - 1;
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> given, Integers(c.input(n)));
  if (given.size() != 1 || c.input(n).shape().rank() > 1) {
    return InvalidArgument("axis tensor should be a scalar integer, but got shape {}", c.input(n).shape().ToString());
  }
  std::vector<std::int64_t> dims = c.input(0).shape().dims();
  const auto rank = static_cast<std::int64_t>(dims.size());
  if (given[0] < -rank || given[0] >= rank) {
    return InvalidArgument("ConcatOp : Expected concatenating dimensions in the range [{}, {}), but got {}", -rank,
                           rank, given[0]);
  }
  const auto axis = static_cast<std::size_t>(given[0] < 0 ? given[0] + rank : given[0]);
  std::vector<const Tensor*> parts;
  std::int64_t total = 0;
  for (int i = 0; i < n; ++i) {
    const std::vector<std::int64_t>& here = c.input(i).shape().dims();
    VIGIL_RETURN_IF_ERROR(CheckJoins(c, i, axis));
    const std::optional<std::int64_t> sum = CheckedSum(total, here[axis]);
    if (!sum.has_value()) return InvalidArgument("ConcatOp : the inputs are too long together along axis {}", axis);
    total = *sum;
    parts.push_back(&c.input(i));
  }
  dims[axis] = total;
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(c.input(0).dtype(), dims));
  if (out.num_elements() > 0) Interleave(parts, ElementsOf(dims, 0, axis), out);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// The coordinates of the true elements, one row each.
absl::Status Where(KernelContext& c) {
  const Tensor& condition = c.input(0);
  const Shape& shape = condition.shape();
  const auto all = condition.flat<bool>();
  const std::int64_t count = std::ranges::count(all, true);
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(DType::kInt64, {count, shape.rank()}));
  std::int64_t* row = out.mutable_flat<std::int64_t>().data();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i]) continue;
    auto rest = static_cast<std::int64_t>(i);
    for (int d = shape.rank() - 1; d >= 0; --d) {
      row[d] = rest % shape.dim(d);
      rest /= shape.dim(d);
    }
    row += shape.rank();
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// How many leading dimensions the params and the indices share: row i of one goes with row i of the other.
absl::StatusOr<std::size_t> BatchDims(const KernelContext& c, std::size_t axis) {
  const std::vector<std::int64_t>& params = c.input(0).shape().dims();
  const std::vector<std::int64_t>& indices = c.input(1).shape().dims();
  const auto given = c.attr_or<std::int64_t>("batch_dims", 0);
  const auto most = static_cast<std::int64_t>(indices.size());
  if (given < -most || given > most) {
    return InvalidArgument("Expected batch_dims in the range [{}, {}], but got {}", -most, most, given);
  }
  const auto batch_dims = static_cast<std::size_t>(given < 0 ? given + most : given);
  if (batch_dims >= params.size()) {
    return InvalidArgument("batch_dims ({}) must be less than rank(params) ({}).", batch_dims, params.size());
  }
  if (batch_dims > axis) {
    return InvalidArgument("batch_dims ({}) must be less than or equal to axis ({}).", batch_dims, axis);
  }
  for (std::size_t d = 0; d < batch_dims; ++d) {
    if (params[d] == indices[d]) continue;
    return InvalidArgument("params.shape[{}]: {} should be equal to indices.shape[{}]: {}", d, params[d], d,
                           indices[d]);
  }
  return batch_dims;
}

absl::Status GatherV2(KernelContext& c) {
  const Tensor& params = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> indices, Integers(c.input(1)));
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> given, Integers(c.input(2)));
  if (c.input(2).shape().rank() != 0) return InvalidArgument("axis must be scalar");
  const std::vector<std::int64_t>& from = params.shape().dims();
  VIGIL_ASSIGN_OR_RETURN(const std::size_t axis, Axis(given[0], params.shape().rank()));
  VIGIL_ASSIGN_OR_RETURN(const std::size_t batch_dims, BatchDims(c, axis));
  std::vector<std::int64_t> dims(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(axis));
  const std::vector<std::int64_t>& middle = c.input(1).shape().dims();
  dims.insert(dims.end(), middle.begin() + static_cast<std::ptrdiff_t>(batch_dims), middle.end());
  dims.insert(dims.end(), from.begin() + static_cast<std::ptrdiff_t>(axis) + 1, from.end());
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(params.dtype(), std::move(dims)));
  if (out.num_elements() == 0) {  // then it does not matter what the indices are
    c.set_output(0, std::move(out));
    return absl::OkStatus();
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= from[axis]) {
      return InvalidArgument("{} = {} is not in [0, {})", ElementName("indices", c.input(1).shape(), i), indices[i],
                             from[axis]);
    }
  }
  const std::int64_t blocks = ElementsOf(from, 0, axis);
  const std::int64_t blocks_of_batch = ElementsOf(from, batch_dims, axis);
  const std::int64_t inner = ElementsOf(from, axis + 1, from.size());
  const auto picked = static_cast<std::size_t>(ElementsOf(middle, batch_dims, middle.size()));
  std::int64_t to = 0;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::size_t first = static_cast<std::size_t>(block / blocks_of_batch) * picked;
    for (std::size_t i = first; i < first + picked; ++i) {
      CopyElements(params, (block * from[axis] + indices[i]) * inner, out, to, inner);
      to += inner;
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status Squeeze(KernelContext& c) {
  const std::vector<std::int64_t>& from = c.input(0).shape().dims();
  std::vector<bool> drop(from.size(), false);
  const auto wanted = c.attr_or<std::vector<std::int64_t>>("squeeze_dims", {});
  for (const std::int64_t given : wanted) {
    VIGIL_ASSIGN_OR_RETURN(const std::size_t axis, Axis(given, static_cast<std::int64_t>(from.size())));
    if (from[axis] != 1)
      return InvalidArgument("Can not squeeze dim[{}], expected a dimension of 1, got {}", given, from[axis]);
    drop[axis] = true;
  }
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (wanted.empty() ? from[i] != 1 : !drop[i]) dims.push_back(from[i]);
  }
  c.set_output(0, c.input(0).Reshaped(Shape(dims)));
  return absl::OkStatus();
}

// The size for which a shape is open, whose others make `known` elements, zeros left out. Where one of them is 0
// (`has_zero`), neither do those of the input count: [2,0,3] as [-1,0] is [6,0].
absl::StatusOr<std::int64_t> MissingSize(const Shape& in, std::int64_t known, bool has_zero) {
  std::int64_t n = 1;
  bool left_out = false;
  for (const std::int64_t dim : in.dims()) {
    if (dim == 0 && has_zero) {
      left_out = true;
    } else {
      n *= dim;
    }
  }
  if (n % known == 0 || left_out) return n / known;
  return InvalidArgument(
      "Input to reshape is a tensor with {} values, but the requested shape requires a multiple of {}", n, known);
}

absl::Status Reshape(KernelContext& c) {
  const std::int64_t n = c.input(0).num_elements();
  if (c.input(1).shape().rank() > 1) {
    return InvalidArgument("sizes input must be 1-D, not {}", c.input(1).shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(std::vector<std::int64_t> dims, Integers(c.input(1)));
  std::int64_t known = 1;
  bool has_zero = false;
  std::int64_t* unknown = nullptr;
  for (std::int64_t& dim : dims) {
    if (dim < -1) return InvalidArgument("Size {} must be non-negative, not {}", &dim - dims.data(), dim);
    if (dim == -1 && unknown != nullptr)
      return InvalidArgument("Only one input size may be -1, not both {} and {}", unknown - dims.data(),
                             &dim - dims.data());
    if (dim == -1) {
      unknown = &dim;
    } else if (dim == 0) {
      has_zero = true;
    } else {
      const std::optional<std::int64_t> product = CheckedProduct(known, dim);
      if (!product.has_value())
        return InvalidArgument("The shape [{}] has too many elements to count.", fmt::join(dims, ","));
      known = *product;
    }
  }
  if (unknown != nullptr) {
    VIGIL_ASSIGN_OR_RETURN(*unknown, MissingSize(c.input(0).shape(), known, has_zero));
  }
  VIGIL_ASSIGN_OR_RETURN(Shape shape, Shape::Make(std::move(dims)));
  if (shape.num_elements() != n) {
    return InvalidArgument("Input to reshape is a tensor with {} values, but the requested shape has {}", n,
                           shape.num_elements());
  }
  c.set_output(0, c.input(0).Reshaped(std::move(shape)));
  return absl::OkStatus();
}

// Of each input.
absl::Status ShapeOf(KernelContext& c) {
  const bool is_long = c.attr_or<DType>("out_type", DType::kInt32) == DType::kInt64;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const std::vector<std::int64_t>& dims = c.input(i).shape().dims();
    if (is_long) {
      c.set_output(i, Tensor::Vector<std::int64_t>(dims));
      continue;
    }
    for (const std::int64_t dim : dims) {
      if (dim > std::numeric_limits<std::int32_t>::max()) {
        return InvalidArgument("Shape output type is 32-bit but a dimension of {} is {}", c.input(i).shape().ToString(),
                               dim);
      }
    }
    c.set_output(i, Tensor::Vector<std::int32_t>(std::vector<std::int32_t>(dims.begin(), dims.end())));
  }
  return absl::OkStatus();
}

absl::Status Fill(KernelContext& c) {
  if (c.input(0).shape().rank() > 1) {
    return InvalidArgument("dims must represent a vector, got shape {}", c.input(0).shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(std::vector<std::int64_t> dims, Integers(c.input(0)));
  const auto negative = std::ranges::find_if(dims, [](std::int64_t dim) { return dim < 0; });
  if (negative != dims.end()) return InvalidArgument("Dimension {} must be >= 0", *negative);
  const Tensor& value = c.input(1);
  if (value.num_elements() != 1 || value.shape().rank() > 1) {
    return InvalidArgument("value must represent a scalar, got shape {}", value.shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(value.dtype(), std::move(dims)));
  const auto fill = [&]<typename T>() { std::ranges::fill(out.mutable_flat<T>(), value.scalar<T>()); };
  if (value.dtype() == DType::kString) {
    fill.template operator()<std::string>();
  } else if (value.dtype() == DType::kBool) {
    fill.template operator()<bool>();
  } else if (value.dtype() == DType::kUint8) {
    fill.template operator()<std::uint8_t>();
  } else if (!ForNumeric(value.dtype(), fill)) {
    return NoKernel(c);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// How many steps of `delta` lead from `start` up to (but not to) `limit`, counted in T as TensorFlow does. REQUIRES:
// delta leads there. Above what a tensor can hold it is any such number.
template <typename T>
absl::StatusOr<std::int64_t> StepsBetween(T start, T limit, T delta) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    const auto distance = [](T from, T to) {
      return static_cast<Unsigned>(static_cast<Unsigned>(to) - static_cast<Unsigned>(from));
    };
    const Unsigned length = delta > 0 ? distance(start, limit) : distance(limit, start);
    const Unsigned step = delta > 0 ? distance(0, delta) : distance(delta, 0);
    const std::uint64_t count = std::uint64_t{length / step} + (length % step == 0 ? 0 : 1);
    return count > std::uint64_t{kMost} ? kMost : static_cast<std::int64_t>(count);
  } else {
    const T count = std::ceil(std::abs((limit - start) / delta));
    if (count < static_cast<T>(kMost)) return static_cast<std::int64_t>(count);
    return InvalidArgument("Requires ((limit - start) / delta) <= {}", kMost);
  }
}

template <typename T>
absl::Status RangeOf(KernelContext& c) {
  static constexpr const char* kNames[] = {"start", "limit", "delta"};
  for (int i = 0; i < 3; ++i) {
    const Shape& shape = c.input(i).shape();
    if (shape.num_elements() != 1 || shape.rank() > 1) {
      return InvalidArgument("{} must be a scalar, not shape {}", kNames[i], shape.ToString());
    }
  }
  const T start = c.input(0).scalar<T>();
  const T limit = c.input(1).scalar<T>();
  const T delta = c.input(2).scalar<T>();
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(start) || !std::isfinite(limit) || !std::isfinite(delta)) {
      return InvalidArgument("start, limit and delta must be finite: {}, {}, {}", start, limit, delta);
    }
  }
  if (delta == 0) return InvalidArgument("Requires delta != 0: {}", delta);
  if (delta > 0 ? start > limit : start < limit) {
    return InvalidArgument("Requires start {} limit when delta {} 0: {}/{}",
                           delta > 0 ? "<=" : ">=", delta > 0 ? ">" : "<", start, limit);
  }
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t steps, StepsBetween(start, limit, delta));
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(DTypeOf<T>(), {steps}));
  std::int64_t i = 0;
  for (T& element : out.mutable_flat<T>()) {
    if constexpr (std::is_integral_v<T>) {  // the product may wrap around, and the sum back
      using Unsigned = std::make_unsigned_t<T>;
      element =
          static_cast<T>(static_cast<Unsigned>(start) + static_cast<Unsigned>(i++) * static_cast<Unsigned>(delta));
    } else {
      element = start + static_cast<T>(i++) * delta;
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status Range(KernelContext& c) {
  absl::Status status;
  ForNumeric(c.input(0).dtype(), [&]<typename T>() { status = RangeOf<T>(c); });
  return status;
}

using Types = absl::StatusOr<std::vector<DType>>;

// Inputs [0, n) have one type, which is the output's.
absl::Status RequireOneType(const Node& node, const std::vector<DType>& inputs, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (inputs[i] == inputs[0]) continue;
    return UsageError(fmt::format("Input {} of '{}' Op has type {} that does not match type {} of input 0.", i, node.op,
                                  DTypeName(inputs[i]), DTypeName(inputs[0])));
  }
  return absl::OkStatus();
}

Types PackTypes(const Node& node, const std::vector<DType>& inputs) {
  if (inputs.empty()) return UsageError("'Pack' Op needs at least one input.");
  VIGIL_RETURN_IF_ERROR(RequireOneType(node, inputs, inputs.size()));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::int64_t>(node, "axis"));
  return std::vector<DType>{inputs[0]};
}

Types ConcatTypes(const Node& node, const std::vector<DType>& inputs) {
  if (inputs.size() < 3) return UsageError("'ConcatV2' Op needs at least two values and the axis.");
  VIGIL_RETURN_IF_ERROR(RequireOneType(node, inputs, inputs.size() - 1));
  return std::vector<DType>{inputs[0]};
}

Types WhereTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kBool}));
  return std::vector<DType>{DType::kInt64};
}

Types GatherTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::int64_t>(node, "batch_dims"));
  return std::vector<DType>{inputs[0]};
}

Types SqueezeTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::vector<std::int64_t>>(node, "squeeze_dims"));
  return std::vector<DType>{inputs[0]};
}

Types ShapeTypes(const Node& node, const std::vector<DType>& inputs) {
  if (inputs.empty()) return UsageError(fmt::format("'{}' Op needs at least one input.", node.op));
  if (!node.attrs.contains("out_type")) return std::vector<DType>(inputs.size(), DType::kInt32);
  VIGIL_RETURN_IF_ERROR(RequireAttr<DType>(node, "out_type"));
  const DType type = std::get<DType>(node.attrs.find("out_type")->second);
  if (type == DType::kInt32 || type == DType::kInt64) return std::vector<DType>(inputs.size(), type);
  return UsageError(fmt::format("'Shape' Op gives int32 or int64, not {}.", DTypeName(type)));
}

Types RangeTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kInt32, DType::kInt64, DType::kFloat, DType::kDouble}));
  VIGIL_RETURN_IF_ERROR(RequireOneType(node, inputs, 3));
  return std::vector<DType>{inputs[0]};
}

}  // namespace

void RegisterArrayOps(OpRegistry& registry) {
  registry.Register({.name = "Pack", .inputs = -1, .output_types = PackTypes, .compute = Pack});
  registry.Register({.name = "ConcatV2", .inputs = -1, .output_types = ConcatTypes, .compute = ConcatV2});
  registry.Register({.name = "Where", .inputs = 1, .output_types = WhereTypes, .compute = Where});
  registry.Register({.name = "GatherV2", .inputs = 3, .output_types = GatherTypes, .compute = GatherV2});
  registry.Register({.name = "Squeeze", .inputs = 1, .output_types = SqueezeTypes, .compute = Squeeze});
  registry.Register({.name = "Reshape", .inputs = 2, .output_types = SameAsInput(0), .compute = Reshape});
  registry.Register({.name = "Shape", .inputs = 1, .output_types = ShapeTypes, .compute = ShapeOf});
  registry.Register({.name = "ShapeN", .inputs = -1, .output_types = ShapeTypes, .compute = ShapeOf});
  registry.Register({.name = "Fill", .inputs = 2, .output_types = SameAsInput(1), .compute = Fill});
  registry.Register({.name = "Range", .inputs = 3, .output_types = RangeTypes, .compute = Range});
}

}  // namespace vigil
