// Reductions beside Sum and Mean: Max, Min, Prod, All, Any, ArgMax, ArgMin, L2Loss.
#include <algorithm>
#include <limits>

#include "vigil/core/ops/nn/elements.h"
#include "vigil/core/ops/nn/nn.h"
#include "vigil/core/ops/reduction.h"

namespace vigil {
namespace {

// What the fold begins with, and its step. What is not a number stays the largest, and the least.
struct MaxFold {
  template <typename T>
  static constexpr T kFirst = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                                   : std::numeric_limits<T>::lowest();
  template <typename T>
  void operator()(T& all, T value) const {
    all = all < value || IsNaN(value) ? value : all;
  }
};
struct MinFold {
  template <typename T>
  static constexpr T kFirst = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                                   : std::numeric_limits<T>::max();
  template <typename T>
  void operator()(T& all, T value) const {
    all = value < all || IsNaN(value) ? value : all;
  }
};
struct ProdFold {
  template <typename T>
  static constexpr T kFirst = T(1);
  template <typename T>
  void operator()(T& all, T value) const {
    all = WrappingProduct(all, value);
  }
};
struct AllFold {
  template <typename T>
  static constexpr T kFirst = true;
  void operator()(bool& all, bool value) const { all = all && value; }
};
struct AnyFold {
  template <typename T>
  static constexpr T kFirst = false;
  void operator()(bool& all, bool value) const { all = all || value; }
};

template <typename T, typename Fold>
absl::Status FoldTo(KernelContext& c) {
  const Tensor& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedAxes(in, c.input(1)));
  VIGIL_ASSIGN_OR_RETURN(
      Tensor out, Tensor::MakeUnwritten(in.dtype(), ReducedDims(in, reduced, c.attr_or<bool>("keep_dims", false))));
  std::ranges::fill(out.mutable_flat<T>(), Fold::template kFirst<T>);
  FoldInto<T>(in, reduced, out.mutable_flat<T>().data(), Fold());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

template <typename Fold>
absl::Status NumericFold(KernelContext& c) {
  absl::Status status;
  if (!ForNumeric(c.input(0).dtype(), [&]<typename T>() { status = FoldTo<T, Fold>(c); })) return NoKernel(c);
  return status;
}

// The first of the largest (smallest) elements along an axis. As TensorFlow's, only what is above (below) the lowest
// (largest) finite number is any: where there is none, the first element stands for it.
template <typename T, typename Index, bool kLargest>
void WriteBest(const Tensor& in, std::int64_t outer, std::int64_t size, std::int64_t inner, Tensor& out) {
  const T* const from = in.flat<T>().data();
  Index* to = out.mutable_flat<Index>().data();
  for (std::int64_t i = 0; i < outer; ++i) {
    for (std::int64_t k = 0; k < inner; ++k) {
      const T* const first = from + i * size * inner + k;
      T extreme = kLargest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
      std::int64_t best = 0;
      for (std::int64_t j = 0; j < size; ++j) {
        const T element = first[j * inner];
        if (!(kLargest ? element > extreme : element < extreme)) continue;  // nor what is not a number
        extreme = element;
        best = j;
      }
      *to++ = static_cast<Index>(best);
    }
  }
}

template <bool kLargest>
absl::Status BestKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  const char* const what = kLargest ? "ArgMax" : "ArgMin";
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> given, Integers(c.input(1)));
  if (given.size() != 1 || c.input(1).shape().rank() != 0) {
    return InvalidArgument("dim must be a scalar, but received tensor of shape: {}", c.input(1).shape().ToString());
  }
  const std::int64_t rank = in.shape().rank();
  const std::int64_t axis = given[0] < 0 ? given[0] + rank : given[0];
  if (axis < 0 || axis >= rank) {
    return InvalidArgument("Expected dimension in the range [{}, {}), but got {}", -rank, rank, given[0]);
  }
  std::vector<std::int64_t> dims = in.shape().dims();
  const std::int64_t size = dims[static_cast<std::size_t>(axis)];
  if (size == 0)
    return InvalidArgument("Reduction axis {} is empty in shape {} of '{}'", given[0], in.shape().ToString(), what);
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  const DType type = c.attr_or<DType>("output_type", DType::kInt64);
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(type, dims));
  if (out.num_elements() > 0) {
    const std::vector<std::int64_t>& from = in.shape().dims();
    const std::int64_t outer = ElementsOf(from, 0, static_cast<std::size_t>(axis));
    const std::int64_t inner = ElementsOf(from, static_cast<std::size_t>(axis) + 1, from.size());
    const bool known = ForNumeric(in.dtype(), [&]<typename T>() {
      if (type == DType::kInt32) {
        WriteBest<T, std::int32_t, kLargest>(in, outer, size, inner, out);
      } else {
        WriteBest<T, std::int64_t, kLargest>(in, outer, size, inner, out);
      }
    });
    if (!known) return NoKernel(c);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Half the sum of the squares.
absl::Status L2LossKernel(KernelContext& c) {
  absl::Status status;
  const bool known = ForFloating(c.input(0).dtype(), [&]<typename T>() {
    const auto all = AsArray<T>(c.input(0));
    const T sum = SumOfStretches<T>(all.size(), [&all](std::int64_t begin, std::int64_t count) {
      return count == 0 ? T(0) : all.segment(begin, count).square().sum();
    });
    c.set_output(0, Tensor::Scalar<T>(sum * T(0.5)));
  });
  return known ? status : NoKernel(c);
}

absl::StatusOr<std::vector<DType>> FoldTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "keep_dims"));
  return std::vector<DType>{inputs[0]};
}

absl::StatusOr<std::vector<DType>> BoolFoldTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kBool}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "keep_dims"));
  return std::vector<DType>{DType::kBool};
}

absl::StatusOr<std::vector<DType>> BestTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kInt32, DType::kInt64}));
  return IndexTypeFrom(node, "output_type", DType::kInt64);
}

}  // namespace

void RegisterReductionOps(OpRegistry& registry) {
  registry.Register({.name = "Max", .inputs = 2, .output_types = FoldTypes, .compute = NumericFold<MaxFold>});
  registry.Register({.name = "Min", .inputs = 2, .output_types = FoldTypes, .compute = NumericFold<MinFold>});
  registry.Register({.name = "Prod", .inputs = 2, .output_types = FoldTypes, .compute = NumericFold<ProdFold>});
  registry.Register({.name = "All", .inputs = 2, .output_types = BoolFoldTypes, .compute = FoldTo<bool, AllFold>});
  registry.Register({.name = "Any", .inputs = 2, .output_types = BoolFoldTypes, .compute = FoldTo<bool, AnyFold>});
  registry.Register({.name = "ArgMax", .inputs = 2, .output_types = BestTypes, .compute = BestKernel<true>});
  registry.Register({.name = "ArgMin", .inputs = 2, .output_types = BestTypes, .compute = BestKernel<false>});
  registry.Register(
      {.name = "L2Loss", .inputs = 1, .output_types = OneTypeOf<Elements::kFloating>, .compute = L2LossKernel});
}

}  // namespace vigil
