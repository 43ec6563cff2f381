// Rows by their numbers: Gather, UnsortedSegmentSum, Unique, and the updates of single rows of a variable.
#include <algorithm>
#include <map>

#include "vigil/core/ops/nn/elements.h"
#include "vigil/core/ops/nn/nn.h"
#include "vigil/core/ops/variable.h"

namespace vigil {
namespace {

// How many elements one row has: what follows the first axis.
std::int64_t RowSize(const Shape& shape) { return ElementsOf(shape.dims(), 1, shape.dims().size()); }

absl::Status GatherKernel(KernelContext& c) {
  const Tensor& params = c.input(0);
  if (params.shape().rank() < 1) return InvalidArgument("params must be at least 1 dimensional");
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> indices, Integers(c.input(1)));
  const std::int64_t rows = params.shape().dim(0);
  const std::int64_t size = RowSize(params.shape());
  for (std::size_t i = 0; i < indices.size() && size > 0; ++i) {
    if (indices[i] < 0 || indices[i] >= rows) {
      return InvalidArgument("{} = {} is not in [0, {})", ElementName("indices", c.input(1).shape(), i), indices[i],
                             rows);
    }
  }
  std::vector<std::int64_t> dims = c.input(1).shape().dims();
  dims.insert(dims.end(), params.shape().dims().begin() + 1, params.shape().dims().end());
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(params.dtype(), std::move(dims)));
  std::int64_t to = 0;
  for (std::size_t i = 0; i < indices.size() && size > 0; ++i, to += size) {
    CopyElements(params, indices[i] * size, out, to, size);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// out[segment_ids[i]] += data[i]; a negative id drops its row.
absl::Status UnsortedSegmentSumKernel(KernelContext& c) {
  const Tensor& data = c.input(0);
  const std::vector<std::int64_t>& dims = data.shape().dims();
  const std::vector<std::int64_t>& of_ids = c.input(1).shape().dims();
  if (c.input(2).shape().rank() != 0) {
    return InvalidArgument("num_segments should be a scalar, not shape {}", c.input(2).shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> count, Integers(c.input(2)));
  if (count[0] < 0) return InvalidArgument("Input num_segments == {} must not be negative.", count[0]);
  if (of_ids.size() > dims.size() || !std::equal(of_ids.begin(), of_ids.end(), dims.begin())) {
    return InvalidArgument("data.shape = {} does not start with segment_ids.shape = {}", data.shape().ToString(),
                           c.input(1).shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> ids, Integers(c.input(1)));
  for (std::size_t i = 0; i < ids.size() && data.num_elements() > 0; ++i) {
    if (ids[i] >= count[0]) {
      return InvalidArgument("{} = {} is out of range [0, {})", ElementName("segment_ids", c.input(1).shape(), i),
                             ids[i], count[0]);
    }
  }
  std::vector<std::int64_t> out_dims(dims.begin() + static_cast<std::ptrdiff_t>(of_ids.size()), dims.end());
  out_dims.insert(out_dims.begin(), count[0]);
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(data.dtype(), std::move(out_dims)));
  if (data.num_elements() > 0 && out.num_elements() > 0) {
    const std::int64_t size = out.num_elements() / count[0];
    const bool known = ForNumeric(data.dtype(), [&]<typename T>() {
      const T* from = data.flat<T>().data();
      T* const to = out.mutable_flat<T>().data();
      for (const std::int64_t id : ids) {
        for (std::int64_t i = 0; i < size && id >= 0; ++i) {
          to[id * size + i] = WrappingSum(to[id * size + i], from[i]);
        }
        from += size;
      }
    });
    if (!known) return NoKernel(c);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// The distinct elements in the order in which they come first, and which of them each element is.
template <typename T>
absl::Status UniqueElements(KernelContext& c) {
  std::map<T, std::int64_t> known;
  std::vector<T> distinct;
  std::vector<std::int64_t> which;
  for (const T value : c.input(0).flat<T>()) {
    const auto [it, is_new] = known.emplace(value, static_cast<std::int64_t>(distinct.size()));
    if (is_new) distinct.push_back(value);
    which.push_back(it->second);
  }
  c.set_output(0, Tensor::Vector<T>(distinct));
  if (c.attr_or<DType>("out_idx", DType::kInt32) == DType::kInt32) {
    c.set_output(1, Tensor::Vector<std::int32_t>(std::vector<std::int32_t>(which.begin(), which.end())));
  } else {
    c.set_output(1, Tensor::Vector<std::int64_t>(which));
  }
  return absl::OkStatus();
}

absl::Status UniqueKernel(KernelContext& c) {
  if (c.input(0).shape().rank() != 1) {
    return InvalidArgument("unique expects a 1D vector.");
  }
  return c.input(0).dtype() == DType::kInt32 ? UniqueElements<std::int32_t>(c) : UniqueElements<std::int64_t>(c);
}

struct ScatterAddition {
  template <typename T>
  void operator()(T& to, T by) const {
    to = WrappingSum(to, by);
  }
};
struct ScatterSubtraction {
  template <typename T>
  void operator()(T& to, T by) const {
    to = WrappingDifference(to, by);
  }
};
struct ScatterReplacement {
  template <typename T>
  void operator()(T& to, T by) const {
    to = by;
  }
};

// The updates have the shape of the indices and then that of a row, or are one number.
absl::Status CheckScatter(const Tensor& value, const Tensor& indices, const Tensor& updates,
                          const std::vector<std::int64_t>& rows) {
  if (value.shape().rank() < 1) return InvalidArgument("params must be at least 1-D, got shape []");
  std::vector<std::int64_t> wanted = indices.shape().dims();
  wanted.insert(wanted.end(), value.shape().dims().begin() + 1, value.shape().dims().end());
  if (updates.shape().rank() != 0 && updates.shape().dims() != wanted) {
    return InvalidArgument(
        "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape {}, "
        "indices.shape {}, params.shape {}",
        updates.shape().ToString(), indices.shape().ToString(), value.shape().ToString());
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < 0 || rows[i] >= value.shape().dim(0)) {
      return InvalidArgument("{} = {} is not in [0, {})", ElementName("indices", indices.shape(), i), rows[i],
                             value.shape().dim(0));
    }
  }
  return absl::OkStatus();
}

template <typename Combine>
absl::Status ScatterKernel(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(vigil::Variable* const variable, vigil::Variable::Of(c));
  const Tensor& updates = c.input(2);
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> rows, Integers(c.input(1)));
  return variable->Update([&](Tensor* value) {
    if (!value->valid()) {
      return MakeStatus(Code::kFailedPrecondition,
                        fmt::format("Attempting to use uninitialized value {}", c.holder().name));
    }
    VIGIL_RETURN_IF_ERROR(CheckScatter(*value, c.input(1), updates, rows));
    const std::int64_t size = value->num_elements() == 0 ? 0 : RowSize(value->shape());
    const bool known = ForNumeric(value->dtype(), [&]<typename T>() {
      T* const to = value->mutable_flat<T>().data();
      const T* by = updates.flat<T>().data();
      const std::int64_t step = updates.shape().rank() == 0 ? 0 : 1;
      for (const std::int64_t row : rows) {
        for (std::int64_t i = 0; i < size; ++i, by += step) Combine()(to[row * size + i], *by);
      }
    });
    if (!known) return NoKernel(c);
    c.set_output(0, *value);
    return absl::OkStatus();
  });
}

using RowTypes = absl::StatusOr<std::vector<DType>>;

RowTypes GatherTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kInt32, DType::kInt64}));
  return std::vector<DType>{inputs[0]};
}

RowTypes SegmentTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 2, {DType::kInt32, DType::kInt64}));
  return std::vector<DType>{inputs[0]};
}

RowTypes UniqueTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kInt32, DType::kInt64}));
  VIGIL_ASSIGN_OR_RETURN(const std::vector<DType> index, IndexTypeFrom(node, "out_idx", DType::kInt32));
  return std::vector<DType>{inputs[0], index[0]};
}

RowTypes ScatterTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(RequireSameTypes(node, inputs, 0, 2));
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "use_locking"));
  return std::vector<DType>{inputs[0]};
}

}  // namespace

void RegisterRowOps(OpRegistry& registry) {
  registry.Register({.name = "Gather", .inputs = 2, .output_types = GatherTypes, .compute = GatherKernel});
  registry.Register(
      {.name = "UnsortedSegmentSum", .inputs = 3, .output_types = SegmentTypes, .compute = UnsortedSegmentSumKernel});
  registry.Register({.name = "Unique", .inputs = 1, .output_types = UniqueTypes, .compute = UniqueKernel});
  const auto scatter = [&registry](const char* name, Kernel kernel) {
    registry.Register({.name = name,
                       .inputs = 3,
                       .output_types = ScatterTypes,
                       .compute = std::move(kernel),
                       .ref_inputs = 1,
                       .forwards_ref = true});
  };
  scatter("ScatterAdd", ScatterKernel<ScatterAddition>);
  scatter("ScatterSub", ScatterKernel<ScatterSubtraction>);
  scatter("ScatterUpdate", ScatterKernel<ScatterReplacement>);
}

}  // namespace vigil
