// The random ops. Their numbers are TensorFlow's for the same seeds, run after run.
#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/random/distributions.h"
#include "vigil/core/ops/random/random_generator.h"
#include "vigil/core/ops/registration.h"

namespace vigil {
namespace {

using Types = absl::StatusOr<std::vector<DType>>;

// Elements yet to be written, of the shape that the first input says.
absl::StatusOr<Tensor> Wanted(const KernelContext& c, DType dtype) {
  const Tensor& shape = c.input(0);
  if (shape.shape().rank() != 1) {
    return InvalidArgument("shape must be a vector of {{int32,int64}}, got shape {}", shape.shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(std::vector<std::int64_t> dims, Integers(shape));
  for (const std::int64_t dim : dims) {
    if (dim < 0) return InvalidArgument("Dimension {} must be >= 0", dim);
  }
  return Tensor::MakeUnwritten(dtype, std::move(dims));
}

// Draws as many numbers as are wanted, after setting aside what they may need.
template <typename Draw>
absl::Status Give(KernelContext& c, Tensor out, Draw draw) {
  VIGIL_ASSIGN_OR_RETURN(RandomGenerator* const generator, RandomGenerator::Of(c));
  draw(generator->Reserve(static_cast<std::uint64_t>(out.num_elements()) * kSamplesPerNumber), out);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Of an op that gives float or double.
template <void (*kFloats)(Philox, std::span<float>), void (*kDoubles)(Philox, std::span<double>)>
absl::Status RandomNumbers(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Wanted(c, c.node().output_types[0]));
  return Give(c, std::move(out), [](const Philox& generator, Tensor& to) {
    if (to.dtype() == DType::kFloat) {
      kFloats(generator, to.mutable_flat<float>());
    } else {
      kDoubles(generator, to.mutable_flat<double>());
    }
  });
}

template <typename T>
void FillTruncated(Philox generator, std::span<T> out) {
  FillTruncatedNormal(generator, out);
}

template <typename T>
absl::Status UniformInt(KernelContext& c) {
  const Tensor& least = c.input(1);
  const Tensor& end = c.input(2);
  if (least.shape().rank() != 0) return InvalidArgument("minval must be 0-D, got shape {}", least.shape().ToString());
  if (end.shape().rank() != 0) return InvalidArgument("maxval must be 0-D, got shape {}", end.shape().ToString());
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Wanted(c, DTypeOf<T>()));
  const T low = least.scalar<T>();
  const T high = end.scalar<T>();
  if (out.num_elements() > 0 && low >= high) {
    return InvalidArgument("Need minval < maxval, got {} >= {}", low, high);
  }
  return Give(c, std::move(out), [low, high](const Philox& generator, Tensor& to) {
    if (to.num_elements() > 0) FillUniformInt(generator, low, high, to.mutable_flat<T>());
  });
}

absl::Status RandomUniformInt(KernelContext& c) {
  return c.input(1).dtype() == DType::kInt32 ? UniformInt<std::int32_t>(c) : UniformInt<std::int64_t>(c);
}

// Each row changes places with one of those from it on. Takes one number fewer than there are rows.
absl::Status RandomShuffle(KernelContext& c) {
  const Tensor& in = c.input(0);
  const std::int64_t rows = in.shape().rank() == 0 ? 1 : in.shape().dim(0);
  if (in.num_elements() <= 1 || rows <= 1) {
    c.set_output(0, in);
    return absl::OkStatus();
  }
  VIGIL_ASSIGN_OR_RETURN(RandomGenerator* const generator, RandomGenerator::Of(c));
  PhiloxNumbers numbers(generator->Reserve((static_cast<std::uint64_t>(rows) - 1 + 3) / 4));
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    std::swap(order[i], order[i + numbers.Next() % static_cast<std::uint32_t>(order.size() - i)]);
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), in.shape().dims()));
  const std::int64_t size = in.num_elements() / rows;
  for (std::int64_t to = 0; to < rows; ++to) {
    CopyElements(in, order[static_cast<std::size_t>(to)] * size, out, to * size, size);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

Types RandomTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(CheckSeeds(node));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kInt32, DType::kInt64}));
  VIGIL_ASSIGN_OR_RETURN(std::vector<DType> types, FromAttr("dtype")(node, inputs));
  if (types[0] == DType::kFloat || types[0] == DType::kDouble) return types;
  return UsageError(
      fmt::format("'{}' Op gives float or double; its attribute 'dtype' is {}.", node.op, DTypeName(types[0])));
}

Types UniformIntTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(CheckSeeds(node));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(RequireSameTypes(node, inputs, 1, 2));
  return std::vector<DType>{inputs[1]};
}

Types ShuffleTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(CheckSeeds(node));
  return std::vector<DType>{inputs[0]};
}

}  // namespace

void RegisterRandomOps(OpRegistry& registry) {
  const auto add = [&registry](std::string name, int inputs, OutputTypesFn types, Kernel compute) {
    registry.Register({.name = std::move(name),
                       .inputs = inputs,
                       .output_types = std::move(types),
                       .compute = std::move(compute),
                       .resource_kind = RandomGenerator::kKind,
                       .per_session = true,
                       .keeps_state = true});
  };
  add("RandomUniform", 1, RandomTypes, RandomNumbers<FillUniform, FillUniform>);
  add("RandomStandardNormal", 1, RandomTypes, RandomNumbers<FillNormal, FillNormal>);
  add("TruncatedNormal", 1, RandomTypes, RandomNumbers<FillTruncated<float>, FillTruncated<double>>);
  add("RandomUniformInt", 3, UniformIntTypes, RandomUniformInt);
  add("RandomShuffle", 1, ShuffleTypes, RandomShuffle);
}

}  // namespace vigil
