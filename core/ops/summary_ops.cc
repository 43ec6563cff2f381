// Ops that make summaries: serialized Summary protocol buffers in a string scalar.
#include <set>

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

absl::StatusOr<std::vector<DType>> ScalarSummaryTypes(const Node& node, const std::vector<DType>& inputs) {
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
      {.name = "ScalarSummary", .inputs = 2, .output_types = ScalarSummaryTypes, .compute = ScalarSummary});
  registry.Register({.name = "MergeSummary", .inputs = -1, .output_types = MergeSummaryTypes, .compute = MergeSummary});
}

}  // namespace vigil
