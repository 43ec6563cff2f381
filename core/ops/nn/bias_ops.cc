// BiasAdd and its gradient: one number for each channel, added everywhere.
#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "vigil/core/ops/nn/elements.h"
#include "vigil/core/ops/nn/nn.h"
#include "vigil/core/ops/reduction.h"

namespace vigil {
namespace {

// Which axis the channels are on: the last one, or (NCHW) the one after the batch. REQUIRES: rank 2 or more.
int ChannelAxis(const KernelContext& c, const Shape& shape) {
  return c.attr_or<std::string>("data_format", "NHWC") == "NCHW" && shape.rank() > 2 ? 1 : shape.rank() - 1;
}

absl::Status BiasAddKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  const Tensor& bias = c.input(1);
  if (in.shape().rank() < 2) {
    return InvalidArgument("Input tensor must be at least 2D: {}", in.shape().ToString());
  }
  if (bias.shape().rank() != 1) return InvalidArgument("Biases must be 1D: {}", bias.shape().ToString());
  const int axis = ChannelAxis(c, in.shape());
  const std::int64_t channels = in.shape().dim(axis);
  if (bias.shape().dim(0) != channels) {
    return InvalidArgument("Must provide as many biases as the last dimension of the input tensor: {} vs. {}",
                           bias.shape().ToString(), in.shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), in.shape().dims()));
  if (out.num_elements() > 0) {
    const std::int64_t inner =
        ElementsOf(in.shape().dims(), static_cast<std::size_t>(axis) + 1, in.shape().dims().size());
    const bool known = ForNumeric(in.dtype(), [&]<typename T>() {
      const T* const all = in.flat<T>().data();
      const T* const by = bias.flat<T>().data();
      T* const sums = out.mutable_flat<T>().data();
      const std::int64_t block = channels * inner;
      const auto cost = static_cast<std::int64_t>(kCostOfElement * static_cast<double>(block));
      c.ParallelFor(in.num_elements() / block, cost, [=](std::int64_t begin, std::int64_t end) {
        const T* from = all + begin * block;
        T* to = sums + begin * block;
        for (std::int64_t at = begin; at < end; ++at, from += block, to += block) {
          if (inner == 1) {
            for (std::int64_t k = 0; k < channels; ++k) to[k] = WrappingSum(from[k], by[k]);
          } else {
            for (std::int64_t k = 0; k < block; ++k) to[k] = WrappingSum(from[k], by[k / inner]);
          }
        }
      });
    });
    if (!known) return NoKernel(c);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// What sums of many T are kept as (reduction.h).
template <typename T>
using LongSum = std::conditional_t<std::is_same_v<T, float>, double, T>;

// Sums of the columns of a matrix, from its first row to its last one: of so few at a time that they stay in registers.
template <typename T>
void SumColumns(const T* all, std::int64_t rows, std::int64_t step, T* to) {
  constexpr std::int64_t kBiasesTogether = 16;
  EachStretch<kBiasesTogether, kBiasesTogether / 2>(step, [=](std::int64_t begin, auto columns) {
    LongSum<T> totals[kBiasesTogether] = {};
    const T* from = all + begin;
    for (std::int64_t row = 0; row < rows;) {
      T sums[kBiasesTogether] = {};
      for (const std::int64_t end = std::min(rows, row + kMostFloatsInASum); row < end; ++row, from += step) {
        for (std::int64_t k = 0; k < columns; ++k) sums[k] = WrappingSum(sums[k], from[k]);
      }
      for (std::int64_t k = 0; k < columns; ++k) totals[k] = WrappingSum(totals[k], LongSum<T>{sums[k]});
    }
    std::transform(totals, totals + columns, to + begin, [](LongSum<T> total) { return static_cast<T>(total); });
  });
}

// The same of images, whose channels lie apart: of each there are `inner` elements side by side.
template <typename T, typename Sum>
void SumChannels(std::span<const T> all, std::int64_t channels, std::int64_t inner, Sum* to) {
  const T* from = all.data();
  const T* const end = from + all.size();
  const std::int64_t block = channels * inner;
  for (; from != end; from += block) {
    for (std::int64_t k = 0; k < block; ++k) to[k / inner] = WrappingSum(to[k / inner], Sum{from[k]});
  }
}

absl::Status BiasAddGradKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.shape().rank() < 2) {
    return InvalidArgument("Input tensor must be at least 2D: {}", in.shape().ToString());
  }
  const int axis = ChannelAxis(c, in.shape());
  const std::int64_t channels = in.shape().dim(axis);
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(in.dtype(), {channels}));
  if (in.num_elements() > 0) {
    const std::int64_t inner =
        ElementsOf(in.shape().dims(), static_cast<std::size_t>(axis) + 1, in.shape().dims().size());
    const bool known = ForNumeric(in.dtype(), [&]<typename T>() {
      const std::int64_t count = in.num_elements() / channels;
      T* const to = out.mutable_flat<T>().data();
      if (inner == 1) return SumColumns(in.flat<T>().data(), count, channels, to);
      if (count <= kMostFloatsInASum) return SumChannels(in.flat<T>(), channels, inner, to);
      std::vector<LongSum<T>> totals(static_cast<std::size_t>(channels));
      SumChannels(in.flat<T>(), channels, inner, totals.data());
      std::ranges::transform(totals, to, [](LongSum<T> total) { return static_cast<T>(total); });
    });
    if (!known) return NoKernel(c);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DType>> BiasTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, "data_format"));
  return OneTypeOf<Elements::kNumeric>(node, inputs);
}

}  // namespace

void RegisterBiasOps(OpRegistry& registry) {
  registry.Register({.name = "BiasAdd", .inputs = 2, .output_types = BiasTypes, .compute = BiasAddKernel});
  registry.Register({.name = "BiasAddGrad", .inputs = 1, .output_types = BiasTypes, .compute = BiasAddGradKernel});
}

}  // namespace vigil
