// StridedSlice: x[1:, ..., ::-1, None, 3] with its masks.
#include <algorithm>
#include <optional>

#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"

namespace vigil {
namespace {

// What is taken of one dimension of the input.
struct Stretch {
  std::int64_t begin = 0;
  std::int64_t stride = 1;
  std::int64_t count = 0;
};

struct SliceSpec {
  std::vector<std::int64_t> begin, end, strides;
  std::uint64_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;  // bit i: of entry i
  static bool Has(std::uint64_t mask, std::size_t i) { return i < 64 && (mask >> i & 1) != 0; }
};

struct TakenSlice {
  std::vector<Stretch> stretches;  // of each dimension of the input
  std::vector<std::int64_t> dims;  // of the output
};

absl::StatusOr<SliceSpec> ReadSlice(const KernelContext& c) {
  SliceSpec spec;
  for (int i = 1; i < 4; ++i) {
    if (c.input(i).shape().rank() != 1 || c.input(i).num_elements() != c.input(1).num_elements()) {
      return InvalidArgument("Expected begin, end, and strides to be 1D equal size tensors, but got shapes {}, {}, {}",
                             c.input(1).shape().ToString(), c.input(2).shape().ToString(),
                             c.input(3).shape().ToString());
    }
  }
  VIGIL_ASSIGN_OR_RETURN(spec.begin, Integers(c.input(1)));
  VIGIL_ASSIGN_OR_RETURN(spec.end, Integers(c.input(2)));
  VIGIL_ASSIGN_OR_RETURN(spec.strides, Integers(c.input(3)));
  const auto mask = [&c](std::string_view name) {
    return static_cast<std::uint64_t>(c.attr_or<std::int64_t>(name, 0));
  };
  spec.begin_mask = mask("begin_mask");
  spec.end_mask = mask("end_mask");
  spec.ellipsis_mask = mask("ellipsis_mask");
  spec.new_axis_mask = mask("new_axis_mask");
  spec.shrink_axis_mask = mask("shrink_axis_mask");
  return spec;
}

// A place as Python means it, moved to where the slice may begin or end.
std::int64_t Clamped(std::int64_t at, std::int64_t size, std::int64_t stride) {
  const std::int64_t least = stride > 0 ? 0 : -1;
  const std::int64_t most = stride > 0 ? size : size - 1;
  if (at < 0) at = at < -size ? least : at + size;
  return std::clamp(at, std::min(least, most), most);
}

absl::StatusOr<Stretch> StretchOf(const SliceSpec& spec, std::size_t i, std::int64_t size) {
  const std::int64_t stride = spec.strides[i];
  if (stride == 0) return InvalidArgument("strides[{}] must be non-zero", i);
  if (SliceSpec::Has(spec.shrink_axis_mask, i)) {
    if (stride < 0) return InvalidArgument("only stride 1 allowed on non-range indexing.");
    // x[:, 3] has a mask of its begin as little as it has an end.
    const std::int64_t wanted = spec.begin[i];
    const std::int64_t at = wanted < 0 && wanted >= -size ? wanted + size : wanted;
    if (at < 0 || at >= size) return InvalidArgument("slice index {} of dimension {} out of bounds.", wanted, i);
    return Stretch{at, 1, 1};
  }
  Stretch out{.stride = stride};
  out.begin = SliceSpec::Has(spec.begin_mask, i) ? (stride > 0 ? 0 : size - 1) : Clamped(spec.begin[i], size, stride);
  const std::int64_t end =
      SliceSpec::Has(spec.end_mask, i) ? (stride > 0 ? size : -1) : Clamped(spec.end[i], size, stride);
  const std::int64_t length = end - out.begin;
  if (length == 0 || (length < 0) != (stride < 0)) return out;
  out.count = length / stride + (length % stride != 0 ? 1 : 0);
  return out;
}

absl::StatusOr<TakenSlice> Resolve(const SliceSpec& spec, const Shape& shape) {
  TakenSlice out;
  const std::size_t entries = spec.begin.size();
  std::optional<std::size_t> ellipsis;
  std::size_t consumed = 0;  // dimensions that the entries speak of
  for (std::size_t i = 0; i < entries; ++i) {
    if (SliceSpec::Has(spec.ellipsis_mask, i)) {
      if (ellipsis.has_value()) return InvalidArgument("Multiple ellipses in slice spec not allowed");
      ellipsis = i;
    } else if (!SliceSpec::Has(spec.new_axis_mask, i)) {
      ++consumed;
    }
  }
  const auto rank = static_cast<std::size_t>(shape.rank());
  if (consumed > rank) {
    return InvalidArgument("Index out of range using input dim {}; input has only {} dims", rank, rank);
  }
  const auto take_whole = [&](std::size_t count) {
    for (; count > 0; --count) {
      const std::int64_t size = shape.dim(static_cast<int>(out.stretches.size()));
      out.stretches.push_back({0, 1, size});
      out.dims.push_back(size);
    }
  };
  for (std::size_t i = 0; i < entries; ++i) {
    if (ellipsis == i) {
      take_whole(rank - consumed);
    } else if (SliceSpec::Has(spec.new_axis_mask, i)) {
      out.dims.push_back(1);
    } else {
      const std::int64_t size = shape.dim(static_cast<int>(out.stretches.size()));
      VIGIL_ASSIGN_OR_RETURN(const Stretch stretch, StretchOf(spec, i, size));
      out.stretches.push_back(stretch);
      if (!SliceSpec::Has(spec.shrink_axis_mask, i)) out.dims.push_back(stretch.count);
    }
  }
  take_whole(rank - out.stretches.size());
  return out;
}

// Calls body(at, i) for the i-th element that is taken, which lies at `at` in the whole. REQUIRES: `count` are taken.
template <typename Body>
void ForEachTaken(const TakenSlice& slice, const Shape& whole, std::int64_t count, Body body) {
  const std::size_t rank = slice.stretches.size();
  std::vector<std::int64_t> step(rank, 1);  // elements from one index of a dimension to the next
  for (std::size_t d = rank; d-- > 1;) step[d - 1] = step[d] * whole.dim(static_cast<int>(d));
  std::int64_t from = 0;
  for (std::size_t d = 0; d < rank; ++d) from += slice.stretches[d].begin * step[d];
  std::vector<std::int64_t> index(rank, 0);
  for (std::int64_t to = 0; to < count; ++to) {
    body(from, to);
    for (std::size_t d = rank; d-- > 0;) {
      const Stretch& stretch = slice.stretches[d];
      from += stretch.stride * step[d];
      if (++index[d] < stretch.count) break;
      from -= stretch.stride * step[d] * stretch.count;
      index[d] = 0;
    }
  }
}

absl::Status StridedSlice(KernelContext& c) {
  const Tensor& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(const SliceSpec spec, ReadSlice(c));
  VIGIL_ASSIGN_OR_RETURN(const TakenSlice slice, Resolve(spec, in.shape()));
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), slice.dims));
  ForEachTaken(slice, in.shape(), out.num_elements(),
               [&](std::int64_t from, std::int64_t to) { CopyElements(in, from, out, to, 1); });
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Zeros of that shape, but for what was taken.
absl::Status StridedSliceGrad(KernelContext& c) {
  const Tensor& grad = c.input(4);
  VIGIL_ASSIGN_OR_RETURN(const SliceSpec spec, ReadSlice(c));
  VIGIL_ASSIGN_OR_RETURN(std::vector<std::int64_t> dims, Integers(c.input(0)));
  if (c.input(0).shape().rank() != 1) {
    return InvalidArgument("shape must be 1-D, got shape.shape = {}", c.input(0).shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(grad.dtype(), std::move(dims)));
  VIGIL_ASSIGN_OR_RETURN(const TakenSlice slice, Resolve(spec, out.shape()));
  if (grad.shape().dims() != slice.dims) {
    return InvalidArgument("shape of dy was {} instead of {}", grad.shape().ToString(), Shape(slice.dims).ToString());
  }
  ForEachTaken(slice, out.shape(), grad.num_elements(),
               [&](std::int64_t to, std::int64_t from) { CopyElements(grad, from, out, to, 1); });
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DType>> StridedSliceTypes(const Node& node, const std::vector<DType>& inputs) {
  for (int i = 1; i < 4; ++i) VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, i, {DType::kInt32, DType::kInt64}));
  for (const std::string_view mask : {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
    VIGIL_RETURN_IF_ERROR(AllowAttr<std::int64_t>(node, mask));
  }
  return std::vector<DType>{inputs[0]};
}

absl::StatusOr<std::vector<DType>> StridedSliceGradTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(StridedSliceTypes(node, inputs).status());
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kInt32, DType::kInt64}));
  return std::vector<DType>{inputs[4]};
}

}  // namespace

void RegisterStridedSliceOps(OpRegistry& registry) {
  registry.Register({.name = "StridedSlice", .inputs = 4, .output_types = StridedSliceTypes, .compute = StridedSlice});
  registry.Imply("StridedSlice",
                 {{"T", ImpliedAttr::Kind::kInputType, 0}, {"Index", ImpliedAttr::Kind::kInputType, 1}});
  registry.Register(
      {.name = "StridedSliceGrad", .inputs = 5, .output_types = StridedSliceGradTypes, .compute = StridedSliceGrad});
  registry.Imply("StridedSliceGrad",
                 {{"T", ImpliedAttr::Kind::kInputType, 4}, {"Index", ImpliedAttr::Kind::kInputType, 0}});
}

}  // namespace vigil
