// Elements moved, repeated, cut out and put between others: Transpose, Tile, BroadcastTo, Slice, Pad, Unpack, OneHot.
#include <algorithm>

#include "vigil/core/ops/nn/elements.h"
#include "vigil/core/ops/nn/nn.h"

namespace vigil {
namespace {

std::vector<std::int64_t> RowMajorSteps(const std::vector<std::int64_t>& dims) {
  std::vector<std::int64_t> steps(dims.size(), 1);
  for (std::size_t d = dims.size(); d-- > 1;) steps[d - 1] = steps[d] * dims[d];
  return steps;
}

// Calls visit(offset) for each place of a tensor of shape `dims`, in row-major order; one step along axis d moves the
// offset by steps[d].
template <typename Visit>
void WalkPlaces(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& steps, std::int64_t offset,
                Visit visit) {
  std::int64_t places = 1;
  for (const std::int64_t dim : dims) places *= dim;
  std::vector<std::int64_t> index(dims.size(), 0);
  for (std::int64_t i = 0; i < places; ++i) {
    visit(offset);
    for (std::size_t d = dims.size(); d-- > 0;) {
      offset += steps[d];
      if (++index[d] < dims[d]) break;
      offset -= steps[d] * dims[d];
      index[d] = 0;
    }
  }
}

// The element type's own walk: out's elements in order, each from where the steps lead in `in`.
absl::Status PickElements(const Tensor& in, const std::vector<std::int64_t>& steps, Tensor& out) {
  const std::vector<std::int64_t>& dims = out.shape().dims();
  if (out.num_elements() == 0) return absl::OkStatus();
  const bool known = ForNumeric(in.dtype(), [&]<typename T>() {
    const T* const from = in.flat<T>().data();
    T* to = out.mutable_flat<T>().data();
    WalkPlaces(dims, steps, 0, [&](std::int64_t at) { *to++ = from[at]; });
  });
  if (known) return absl::OkStatus();
  std::int64_t place = 0;
  WalkPlaces(dims, steps, 0, [&](std::int64_t at) { CopyElements(in, at, out, place++, 1); });
  return absl::OkStatus();
}

absl::Status TransposeKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (c.input(1).shape().rank() != 1) {
    return InvalidArgument("perm must be rank 1, got shape {}", c.input(1).shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> perm, Integers(c.input(1)));
  const std::int64_t rank = in.shape().rank();
  if (static_cast<std::int64_t>(perm.size()) != rank) {
    return InvalidArgument("transpose expects a vector of size {}. But input(1) is a vector of size {}", rank,
                           perm.size());
  }
  const std::vector<std::int64_t> from = RowMajorSteps(in.shape().dims());
  std::vector<bool> seen(perm.size(), false);
  std::vector<std::int64_t> dims, steps, positive;
  for (const std::int64_t given : perm) {
    const std::int64_t axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank) return InvalidArgument("{} is out of range [0 .. {})", given, rank);
    seen[static_cast<std::size_t>(axis)] = true;
    positive.push_back(axis);
    dims.push_back(in.shape().dim(static_cast<int>(axis)));
    steps.push_back(from[static_cast<std::size_t>(axis)]);
  }
  for (std::size_t d = 0; d < seen.size(); ++d) {
    if (!seen[d]) return InvalidArgument("{} is missing from {{{}}}.", d, fmt::join(positive, ","));
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), std::move(dims)));
  VIGIL_RETURN_IF_ERROR(PickElements(in, steps, out));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status TileKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (c.input(1).shape().rank() != 1) {
    return InvalidArgument("Expected multiples to be 1-D, but got shape {}", c.input(1).shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> times, Integers(c.input(1)));
  if (static_cast<int>(times.size()) != in.shape().rank()) {
    return InvalidArgument("Expected multiples argument to be a vector of length {} but got length {}",
                           in.shape().rank(), times.size());
  }
  std::vector<std::int64_t> dims, walk, steps;
  const std::vector<std::int64_t> from = RowMajorSteps(in.shape().dims());
  for (std::size_t d = 0; d < times.size(); ++d) {
    const std::int64_t dim = in.shape().dim(static_cast<int>(d));
    if (times[d] < 0) return InvalidArgument("Expected multiples[{}] >= 0, but got {}", d, times[d]);
    const std::optional<std::int64_t> size = CheckedProduct(dim, times[d]);
    if (!size.has_value()) return InvalidArgument("Expected multiples[{}] to fit, but got {}", d, times[d]);
    dims.push_back(*size);
    walk.insert(walk.end(), {times[d], dim});
    steps.insert(steps.end(), {0, from[d]});
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), std::move(dims)));
  if (out.num_elements() > 0) {
    std::int64_t place = 0;
    const bool known = ForNumeric(in.dtype(), [&]<typename T>() {
      const T* const source = in.flat<T>().data();
      T* to = out.mutable_flat<T>().data();
      WalkPlaces(walk, steps, 0, [&](std::int64_t at) { *to++ = source[at]; });
    });
    if (!known) WalkPlaces(walk, steps, 0, [&](std::int64_t at) { CopyElements(in, at, out, place++, 1); });
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status BroadcastToKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (c.input(1).shape().rank() != 1) {
    return InvalidArgument("shape must be a vector of {{int32,int64}}, got shape {}", c.input(1).shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(std::vector<std::int64_t> dims, Integers(c.input(1)));
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), dims));
  std::vector<std::int64_t> both;
  if (in.shape().rank() > static_cast<int>(dims.size())) {
    return InvalidArgument("Rank of input ({}) must be no greater than rank of output shape ({}).", in.shape().rank(),
                           dims.size());
  }
  if (!BroadcastShape(in.shape(), out.shape(), &both)) {
    return InvalidArgument("Incompatible shapes: {} vs. {}", in.shape().ToString(), out.shape().ToString());
  }
  if (both != dims) {
    return InvalidArgument("Unable to broadcast tensor of shape {} to tensor of shape {}", in.shape().ToString(),
                           out.shape().ToString());
  }
  VIGIL_RETURN_IF_ERROR(PickElements(in, BroadcastStrides(in.shape(), dims), out));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status SliceKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> begin, Integers(c.input(1)));
  VIGIL_ASSIGN_OR_RETURN(std::vector<std::int64_t> size, Integers(c.input(2)));
  const auto rank = static_cast<std::size_t>(in.shape().rank());
  if (c.input(1).shape().rank() != 1 || c.input(2).shape().rank() != 1 || begin.size() != rank || size.size() != rank) {
    return InvalidArgument(
        "Expected begin and size arguments to be 1-D tensors of size {}, but got shapes {} and {} "
        "instead.",
        rank, c.input(1).shape().ToString(), c.input(2).shape().ToString());
  }
  const std::vector<std::int64_t> steps = RowMajorSteps(in.shape().dims());
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t dim = in.shape().dim(static_cast<int>(d));
    if (begin[d] < 0 || begin[d] > dim) {
      return InvalidArgument("Expected begin[{}] in [0, {}], but got {}", d, dim, begin[d]);
    }
    if (size[d] == -1) size[d] = dim - begin[d];
    if (size[d] < 0 || size[d] > dim - begin[d]) {
      return InvalidArgument("Expected size[{}] in [0, {}], but got {}", d, dim - begin[d], size[d]);
    }
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), size));
  if (out.num_elements() > 0) {
    for (std::size_t d = 0; d < rank; ++d) offset += begin[d] * steps[d];
    std::int64_t place = 0;
    const bool known = ForNumeric(in.dtype(), [&]<typename T>() {
      const T* const source = in.flat<T>().data();
      T* to = out.mutable_flat<T>().data();
      WalkPlaces(size, steps, offset, [&](std::int64_t at) { *to++ = source[at]; });
    });
    if (!known) WalkPlaces(size, steps, offset, [&](std::int64_t at) { CopyElements(in, at, out, place++, 1); });
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Zeros around.
absl::Status PadKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  const int rank = in.shape().rank();
  const Shape& paddings = c.input(1).shape();
  if (paddings.rank() != 2 || paddings.dim(1) != 2) {
    return InvalidArgument("paddings must be a matrix with 2 columns: {}", paddings.ToString());
  }
  if (paddings.dim(0) != rank) {
    return InvalidArgument("The first dimension of paddings must be the rank of inputs{} {}", paddings.ToString(),
                           in.shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> around, Integers(c.input(1)));
  std::vector<std::int64_t> dims;
  for (std::size_t d = 0; d < static_cast<std::size_t>(rank); ++d) {
    const std::int64_t before = around[2 * d];
    const std::int64_t after = around[2 * d + 1];
    if (before < 0 || after < 0) return InvalidArgument("Paddings must be non-negative: {} {}", before, after);
    const auto both = CheckedSum(before, after);
    const auto size = both.has_value() ? CheckedSum(*both, in.shape().dim(static_cast<int>(d))) : both;
    if (!size.has_value()) return InvalidArgument("Paddings are too large: {} {}", before, after);
    dims.push_back(*size);
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(in.dtype(), dims));
  if (in.num_elements() > 0) {
    const std::vector<std::int64_t> steps = RowMajorSteps(dims);
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) offset += around[2 * d] * steps[d];
    std::int64_t place = 0;
    WalkPlaces(in.shape().dims(), steps, offset, [&](std::int64_t at) { CopyElements(in, place++, out, at, 1); });
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status UnpackKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  const std::int64_t given = c.attr_or<std::int64_t>("axis", 0);
  const std::int64_t rank = in.shape().rank();
  const std::int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) return InvalidArgument("axis = {} not in [{}, {})", given, -rank, rank);
  std::vector<std::int64_t> dims = in.shape().dims();
  const std::int64_t n = c.attr<std::int64_t>("num");
  if (dims[static_cast<std::size_t>(axis)] != n) {
    return InvalidArgument("Input shape axis {} must equal {}, got shape {}", axis, n, in.shape().ToString());
  }
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  const std::int64_t inner = ElementsOf(dims, static_cast<std::size_t>(axis), dims.size());
  for (std::int64_t i = 0; i < n; ++i) {
    VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), dims));
    if (out.num_elements() > 0) {
      const std::int64_t blocks = out.num_elements() / inner;
      for (std::int64_t block = 0; block < blocks; ++block) {
        CopyElements(in, (block * n + i) * inner, out, block * inner, inner);
      }
    }
    c.set_output(static_cast<int>(i), std::move(out));
  }
  return absl::OkStatus();
}

template <typename T>
void WriteOneHot(const std::vector<std::int64_t>& indices, std::int64_t depth, std::int64_t inner, const Tensor& on,
                 const Tensor& off, Tensor& out) {
  const T* const hot = on.flat<T>().data();
  std::ranges::fill(out.mutable_flat<T>(), *off.flat<T>().data());
  T* const to = out.mutable_flat<T>().data();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= depth) continue;
    const auto at = static_cast<std::int64_t>(i);
    to[(at / inner * depth + indices[i]) * inner + at % inner] = *hot;
  }
}

absl::Status OneHotKernel(KernelContext& c) {
  const Tensor& indices = c.input(0);
  for (int i = 1; i < 4; ++i) {
    if (c.input(i).shape().rank() == 0) continue;
    return InvalidArgument("{} must be a scalar, but got: {}",
                           i == 1   ? "depth"
                           : i == 2 ? "on_value"
                                    : "off_value",
                           c.input(i).shape().ToString());
  }
  const std::int64_t depth = c.input(1).scalar<std::int32_t>();
  if (depth < 0) return InvalidArgument("depth must be non-negative, got: {}", depth);
  const std::int64_t rank = indices.shape().rank();
  const std::int64_t given = c.attr_or<std::int64_t>("axis", -1);
  if (given < -1 || given > rank) {
    return InvalidArgument("Expected axis to be -1 or between [0, {}).  But received: {}", rank + 1, given);
  }
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> hot, Integers(indices));
  std::vector<std::int64_t> dims = indices.shape().dims();
  const auto axis = static_cast<std::size_t>(given == -1 ? rank : given);
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(c.input(2).dtype(), dims));
  if (out.num_elements() > 0) {
    const std::int64_t inner = ElementsOf(dims, axis + 1, dims.size());
    if (out.dtype() == DType::kBool) {
      WriteOneHot<bool>(hot, depth, inner, c.input(2), c.input(3), out);
    } else if (!ForNumeric(out.dtype(),
                           [&]<typename T>() { WriteOneHot<T>(hot, depth, inner, c.input(2), c.input(3), out); })) {
      return NoKernel(c);
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

using LayoutTypes = absl::StatusOr<std::vector<DType>>;

// The first input's type; the others are int32 or int64.
LayoutTypes ByIndices(const Node& node, const std::vector<DType>& inputs) {
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, static_cast<int>(i), {DType::kInt32, DType::kInt64}));
    VIGIL_RETURN_IF_ERROR(RequireSameTypes(node, inputs, 1, i));
  }
  return std::vector<DType>{inputs[0]};
}

LayoutTypes UnpackTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireAttr<std::int64_t>(node, "num"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::int64_t>(node, "axis"));
  const std::int64_t n = std::get<std::int64_t>(node.attrs.find("num")->second);
  constexpr std::int64_t kMostOutputs = 4096;
  if (n < 0 || n > kMostOutputs) {
    return UsageError(fmt::format("'Unpack' Op: its attribute 'num' is {}, not 0 to {}.", n, kMostOutputs));
  }
  return std::vector<DType>(static_cast<std::size_t>(n), inputs[0]);
}

LayoutTypes OneHotTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kInt32}));
  VIGIL_RETURN_IF_ERROR(
      RequireType(node, inputs, 2, {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64, DType::kBool}));
  VIGIL_RETURN_IF_ERROR(RequireSameTypes(node, inputs, 2, 3));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::int64_t>(node, "axis"));
  return std::vector<DType>{inputs[2]};
}

}  // namespace

void RegisterLayoutOps(OpRegistry& registry) {
  registry.Register({.name = "Transpose", .inputs = 2, .output_types = ByIndices, .compute = TransposeKernel});
  registry.Register({.name = "Tile", .inputs = 2, .output_types = ByIndices, .compute = TileKernel});
  registry.Register({.name = "BroadcastTo", .inputs = 2, .output_types = ByIndices, .compute = BroadcastToKernel});
  registry.Register({.name = "Slice", .inputs = 3, .output_types = ByIndices, .compute = SliceKernel});
  registry.Register({.name = "Pad", .inputs = 2, .output_types = ByIndices, .compute = PadKernel});
  registry.Register({.name = "Unpack", .inputs = 1, .output_types = UnpackTypes, .compute = UnpackKernel});
  registry.Register({.name = "OneHot", .inputs = 4, .output_types = OneHotTypes, .compute = OneHotKernel});
}

}  // namespace vigil
