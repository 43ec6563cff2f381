// Ops that make summaries: serialized Summary protocol buffers in a string scalar.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "vigil/core/io/summary.pb.h"
#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"

namespace vigil {
namespace {

absl::Status ScalarSummary(KernelContext& c) {
  const Tensor& tags = c.input(0);
  const Tensor& values = c.input(1);
  if (tags.shape() != values.shape()) {
    return InvalidArgument("tags and values are not the same shape: {} != {}", tags.shape().ToString(),
                           values.shape().ToString());
  }
  proto::Summary summary;
  ForNumeric(values.dtype(), [&]<typename T>() {
    for (std::size_t i = 0; i < tags.flat<std::string>().size(); ++i) {
      proto::Summary::Value* value = summary.add_value();
      value->set_tag(tags.flat<std::string>()[i]);
      value->set_simple_value(static_cast<float>(values.flat<T>()[i]));
    }
  });
  c.set_output(0, Tensor::Scalar<std::string>(summary.SerializeAsString()));
  return absl::OkStatus();
}

// TensorFlow's buckets: each a tenth larger than the one before, from 1e-12 to 1e20, either sign (core/lib/histogram).
const std::vector<double>& BucketLimits() {
  static const auto* const kLimits = [] {
    std::vector<double> above;
    for (double limit = 1e-12; limit < 1e20; limit *= 1.1) above.push_back(limit);
    above.push_back(std::numeric_limits<double>::max());
    auto* const all = new std::vector<double>;
    std::ranges::transform(above.rbegin(), above.rend(), std::back_inserter(*all), std::negate<>());
    all->push_back(0);
    all->insert(all->end(), above.begin(), above.end());
    return all;
  }();
  return *kLimits;
}

// Of a row of empty buckets only the last is written.
void WriteBuckets(const std::vector<double>& counts, proto::HistogramProto* out) {
  const std::vector<double>& limits = BucketLimits();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0 && i + 1 < counts.size() && counts[i + 1] == 0) continue;
    out->add_bucket_limit(limits[i]);
    out->add_bucket(counts[i]);
  }
}

template <typename T>
absl::Status FillHistogram(const KernelContext& c, std::span<const T> values, proto::HistogramProto* out) {
  const std::vector<double>& limits = BucketLimits();
  std::vector<double> counts(limits.size());
  double least = limits.back(), most = limits.front(), sum = 0, squares = 0;
  for (const T each : values) {
    const auto value = static_cast<double>(each);
    if (std::isnan(value)) return InvalidArgument("Nan in summary histogram for: {}", c.node().name);
    if (std::isinf(value)) return InvalidArgument("Infinity in summary histogram for: {}", c.node().name);
    const auto above = std::ranges::upper_bound(limits, value) - limits.begin();
    counts[std::min(static_cast<std::size_t>(above), counts.size() - 1)] += 1;
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
    squares += value * value;
  }
  out->set_min(least);
  out->set_max(most);
  out->set_num(static_cast<double>(values.size()));
  out->set_sum(sum);
  out->set_sum_squares(squares);
  WriteBuckets(counts, out);
  return absl::OkStatus();
}

absl::Status HistogramSummary(KernelContext& c) {
  const Tensor& tag = c.input(0);
  const Tensor& values = c.input(1);
  if (tag.shape().rank() != 0) return InvalidArgument("tags must be scalar");
  proto::Summary summary;
  proto::Summary::Value* const value = summary.add_value();
  value->set_tag(tag.scalar<std::string>());
  absl::Status status;
  ForNumeric(values.dtype(),
             [&]<typename T>() { status = FillHistogram<T>(c, values.flat<T>(), value->mutable_histo()); });
  if (status.ok()) c.set_output(0, Tensor::Scalar<std::string>(summary.SerializeAsString()));
  return status;
}

absl::Status MergeSummary(KernelContext& c) {
  proto::Summary merged;
  std::set<std::string> tags;
  for (int i = 0; i < c.num_inputs(); ++i) {
    for (const std::string& bytes : c.input(i).flat<std::string>()) {
      proto::Summary summary;
      if (!summary.ParseFromString(bytes)) return InvalidArgument("Could not parse one of the summary inputs");
      for (const proto::Summary::Value& value : summary.value()) {
        if (!tags.insert(value.tag()).second)
          return InvalidArgument("Duplicate tag {} found in summary inputs", value.tag());
      }
      merged.MergeFrom(summary);
    }
  }
  c.set_output(0, Tensor::Scalar<std::string>(merged.SerializeAsString()));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DType>> TaggedNumberTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kString}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64}));
  return std::vector<DType>{DType::kString};
}

absl::StatusOr<std::vector<DType>> MergeSummaryTypes(const Node& node, const std::vector<DType>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, static_cast<int>(i), {DType::kString}));
  }
  return std::vector<DType>{DType::kString};
}

}  // namespace

void RegisterSummaryOps(OpRegistry& registry) {
  registry.Register(
      {.name = "ScalarSummary", .inputs = 2, .output_types = TaggedNumberTypes, .compute = ScalarSummary});
  registry.Register(
      {.name = "HistogramSummary", .inputs = 2, .output_types = TaggedNumberTypes, .compute = HistogramSummary});
  registry.Register({.name = "MergeSummary", .inputs = -1, .output_types = MergeSummaryTypes, .compute = MergeSummary});
}

}  // namespace vigil
