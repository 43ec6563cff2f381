// SaveV2 and RestoreV2: tensors to and from a checkpoint.
#include <map>

#include "vigil/core/io/tensor_bundle.h"
#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"

namespace vigil {
namespace {

// Inputs: prefix, names, slices (only "": whole tensors), then the tensors.
absl::Status Save(KernelContext& c) {
  const auto names = c.input(1).flat<std::string>();
  if (c.input(0).num_elements() != 1) return InvalidArgument("Input prefix should contain exactly one element");
  if (names.size() + 3 != static_cast<std::size_t>(c.num_inputs())) {
    return InvalidArgument("Got {} tensor names but {} tensors", names.size(), c.num_inputs() - 3);
  }
  std::map<std::string, Tensor> tensors;
  for (std::size_t i = 0; i < names.size(); ++i) tensors.insert_or_assign(names[i], c.input(static_cast<int>(i) + 3));
  return WriteBundle(c.env(), c.input(0).scalar<std::string>(), tensors);
}

// Inputs: prefix, names, slices (only ""). Outputs: the tensors.
absl::Status Restore(KernelContext& c) {
  const auto names = c.input(1).flat<std::string>();
  const std::vector<DType>& types = c.node().output_types;
  if (c.input(0).num_elements() != 1) return InvalidArgument("Input prefix should contain exactly one element");
  if (names.size() != types.size())
    return InvalidArgument("Got {} tensor names but {} types", names.size(), types.size());
  VIGIL_ASSIGN_OR_RETURN(BundleReader reader, BundleReader::Open(*c.env().files, c.input(0).scalar<std::string>()));
  for (std::size_t i = 0; i < names.size(); ++i) {
    VIGIL_ASSIGN_OR_RETURN(Tensor value, reader.Read(names[i]));
    if (value.dtype() != types[i]) {
      return InvalidArgument("tensor_name = {}; expected dtype {} does not equal original dtype {}", names[i],
                             DTypeName(types[i]), DTypeName(value.dtype()));
    }
    c.set_output(static_cast<int>(i), std::move(value));
  }
  return absl::OkStatus();
}

absl::Status RequireStrings(const Node& node, const std::vector<DType>& inputs) {
  if (inputs.size() < 3) return UsageError(fmt::format("'{}' Op needs a prefix, names and slices.", node.op));
  for (int i = 0; i < 3; ++i) VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, i, {DType::kString}));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DType>> SaveTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireStrings(node, inputs));
  return std::vector<DType>{};
}

absl::StatusOr<std::vector<DType>> RestoreTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireStrings(node, inputs));
  VIGIL_RETURN_IF_ERROR(RequireAttr<std::vector<DType>>(node, "dtypes"));
  return std::get<std::vector<DType>>(node.attrs.find("dtypes")->second);
}

}  // namespace

void RegisterSaveRestoreOps(OpRegistry& registry) {
  registry.Register({.name = "SaveV2", .inputs = -1, .output_types = SaveTypes, .compute = Save});
  registry.Register({.name = "RestoreV2", .inputs = 3, .output_types = RestoreTypes, .compute = Restore});
}

}  // namespace vigil
