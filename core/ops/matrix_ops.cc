// MatMul and the reductions.
#include <algorithm>
#include <type_traits>

#include "vigil/core/ops/math/parallel_product.h"
#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/reduction.h"
#include "vigil/core/ops/registration.h"
#include "vigil/core/tensor/eigen_view.h"

namespace vigil {
namespace {

template <typename T>
void MultiplyInto(const KernelContext& c, const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b,
                  Tensor& out) {
  const ProductSize size{
      .rows = out.shape().dim(0), .columns = out.shape().dim(1), .depth = a.shape().dim(transpose_a ? 0 : 1)};
  Multiply(c, size, RowMajor(a.flat<T>().data(), a.shape().dim(1), transpose_a),
           RowMajor(b.flat<T>().data(), b.shape().dim(1), transpose_b), out.mutable_flat<T>().data(), size.columns);
}

absl::Status MatMul(KernelContext& c) {
  const Tensor& a = c.input(0);
  const Tensor& b = c.input(1);
  const bool transpose_a = c.attr_or<bool>("transpose_a", false);
  const bool transpose_b = c.attr_or<bool>("transpose_b", false);
  if (a.shape().rank() != b.shape().rank()) {
    return InvalidArgument("In[0] and In[1] has different ndims: {} vs. {}", a.shape().ToString(),
                           b.shape().ToString());
  }
  if (a.shape().rank() != 2) {
    return InvalidArgument("In[0] and In[1] must be matrices, got {} and {}", a.Describe(), b.Describe());
  }
  if (a.shape().dim(transpose_a ? 0 : 1) != b.shape().dim(transpose_b ? 1 : 0)) {
    return InvalidArgument("Matrix size-incompatible: In[0]: {}, In[1]: {}", a.shape().ToString(),
                           b.shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(a.dtype(), {a.shape().dim(transpose_a ? 1 : 0),
                                                                       b.shape().dim(transpose_b ? 0 : 1)}));
  if (a.dtype() == DType::kFloat) {
    MultiplyInto<float>(c, a, transpose_a, b, transpose_b, out);
  } else {
    MultiplyInto<double>(c, a, transpose_a, b, transpose_b, out);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Integers wrap around.
template <typename T>
T Added(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  } else {
    return a + b;
  }
}

// How many elements each sum is made of. REQUIRES: there is a sum.
std::int64_t CountOf(const Tensor& in, const Tensor& out) { return in.num_elements() / out.num_elements(); }

// Sums that are kept as Sum until `finish` makes elements of them.
template <typename T, typename Sum, typename Finish>
void SumAs(const Tensor& in, const std::vector<bool>& reduced, Tensor& out, Finish finish) {
  std::vector<Sum> sums(static_cast<std::size_t>(out.num_elements()));
  FoldInto<T>(in, reduced, sums.data(), [](Sum& sum, T value) { sum += value; });
  std::ranges::transform(sums, out.mutable_flat<T>().begin(), finish);
}

template <typename T>
void SumInto(const Tensor& in, const std::vector<bool>& reduced, Tensor& out) {
  if (out.num_elements() == 0) return;
  if constexpr (std::is_same_v<T, float>) {
    if (CountOf(in, out) > kMostFloatsInASum)
      return SumAs<T, double>(in, reduced, out, [](double sum) { return static_cast<T>(sum); });
  }
  FoldInto<T>(in, reduced, out.mutable_flat<T>().data(), [](T& sum, T value) { sum = Added(sum, value); });
}

template <typename T>
T SumOfAll(const Tensor& in) {
  if constexpr (std::is_integral_v<T>) {
    T sum = 0;
    for (const T value : in.flat<T>()) sum = Added(sum, value);
    return sum;
  } else {
    const auto all = AsArray<T>(in);
    return SumOfStretches<T>(
        all.size(), [&all](std::int64_t begin, std::int64_t count) { return all.segment(begin, count).sum(); });
  }
}

// Divides each sum by how many elements it is made of. Of no integers the mean is 0, of no floating-point numbers NaN.
template <typename T>
void DivideByCount(const Tensor& in, Tensor& out) {
  if (out.num_elements() == 0) return;
  const std::int64_t count = CountOf(in, out);
  if (std::is_integral_v<T> && count == 0) return;
  for (T& element : out.mutable_flat<T>()) {
    if constexpr (std::is_integral_v<T>) {
      element = static_cast<T>(element / count);
    } else {
      element = element / static_cast<T>(count);
    }
  }
}

// Whose sums may be no int32, as TensorFlow's.
void MeanOfInt32(const Tensor& in, const std::vector<bool>& reduced, bool of_all, Tensor& out) {
  if (in.num_elements() == 0) return;
  if (of_all) {
    std::int64_t sum = 0;
    for (const std::int32_t value : in.flat<std::int32_t>()) sum += value;
    out.mutable_flat<std::int32_t>()[0] = static_cast<std::int32_t>(sum / in.num_elements());
    return;
  }
  SumAs<std::int32_t, std::int64_t>(in, reduced, out, [count = CountOf(in, out)](std::int64_t sum) {
    return static_cast<std::int32_t>(sum / count);
  });
}

template <bool kMean>
absl::Status Reduce(KernelContext& c) {
  const Tensor& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedAxes(in, c.input(1)));
  std::vector<std::int64_t> dims = ReducedDims(in, reduced, c.attr_or<bool>("keep_dims", false));
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(in.dtype(), std::move(dims)));
  const bool of_all = std::ranges::find(reduced, false) == reduced.end() && in.num_elements() > 0;
  const bool known = ForNumeric(in.dtype(), [&]<typename T>() {
    if constexpr (kMean && std::is_same_v<T, std::int32_t>) return MeanOfInt32(in, reduced, of_all, out);
    if (of_all) {
      out.mutable_flat<T>()[0] = SumOfAll<T>(in);
    } else {
      SumInto<T>(in, reduced, out);
    }
    if (kMean) DivideByCount<T>(in, out);
  });
  if (!known) return NoKernel(c);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DType>> MatMulTypes(const Node& node, const std::vector<DType>& inputs) {
  for (int i = 0; i < 2; ++i) VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, i, {inputs[0]}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kFloat, DType::kDouble}));
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "transpose_a"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "transpose_b"));
  return std::vector<DType>{inputs[0]};
}

absl::StatusOr<std::vector<DType>> ReduceTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "keep_dims"));
  return std::vector<DType>{inputs[0]};
}

}  // namespace

void RegisterMatrixOps(OpRegistry& registry) {
  registry.Register({.name = "MatMul", .inputs = 2, .output_types = MatMulTypes, .compute = MatMul});
  registry.Register({.name = "Sum", .inputs = 2, .output_types = ReduceTypes, .compute = Reduce<false>});
  registry.Register({.name = "Mean", .inputs = 2, .output_types = ReduceTypes, .compute = Reduce<true>});
}

}  // namespace vigil
