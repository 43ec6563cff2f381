// SaveV2, RestoreV2 and what a saver of several shards needs besides: tensors to and from a checkpoint.
//
// Files are synced before they get their names, unless the node says not to (kNotSynced).
#include <optional>

#include "vigil/core/io/tensor_bundle.h"
#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/ops/registration.h"

namespace vigil {
namespace {

Syncing SyncingOf(const KernelContext& c) {
  return c.attr_or<bool>(ops::kNotSynced, false) ? Syncing::kNo : Syncing::kYes;
}

// One text for each name.
absl::Status CheckSlices(KernelContext& c) {
  if (c.input(1).num_elements() == c.input(2).num_elements()) return absl::OkStatus();
  return InvalidArgument("tensor_names and shape_and_slices should have an equal number of elements, got {} and {}",
                         c.input(1).num_elements(), c.input(2).num_elements());
}

// Inputs: prefix, names, slices ("": the whole tensor; or its shape, and which part of it this is), then the tensors.
absl::Status Save(KernelContext& c) {
  const auto names = c.input(1).flat<std::string>();
  const auto slices = c.input(2).flat<std::string>();
  if (c.input(0).num_elements() != 1) return InvalidArgument("Input prefix should contain exactly one element");
  if (names.size() + 3 != static_cast<std::size_t>(c.num_inputs())) {
    return InvalidArgument("Got {} tensor names but {} tensors", names.size(), c.num_inputs() - 3);
  }
  VIGIL_RETURN_IF_ERROR(CheckSlices(c));
  BundleItems items;
  for (std::size_t i = 0; i < names.size(); ++i) {
    BundleItem item{.name = names[i], .value = c.input(static_cast<int>(i) + 3)};
    if (!slices[i].empty()) {
      VIGIL_ASSIGN_OR_RETURN(item.piece, ParseShapeAndSlice(slices[i]));
    }
    items.push_back(std::move(item));
  }
  const auto write = c.attr_or<bool>(ops::kWritesPart, false) ? WriteBundlePartItems : WriteBundleItems;
  return write(c.env(), c.input(0).scalar<std::string>(), items, SyncingOf(c));
}

// Inputs: prefix, names, slices (as above). Outputs: the tensors.
absl::Status Restore(KernelContext& c) {
  const auto names = c.input(1).flat<std::string>();
  const auto slices = c.input(2).flat<std::string>();
  const std::vector<DType>& types = c.node().output_types;
  if (c.input(0).num_elements() != 1) return InvalidArgument("Input prefix should contain exactly one element");
  if (names.size() != types.size())
    return InvalidArgument("Got {} tensor names but {} types", names.size(), types.size());
  VIGIL_RETURN_IF_ERROR(CheckSlices(c));
  VIGIL_ASSIGN_OR_RETURN(BundleReader reader, BundleReader::Open(*c.env().files, c.input(0).scalar<std::string>()));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto entry = reader.entries().find(names[i]);
    if (entry != reader.entries().end() && entry->second.dtype != types[i]) {
      return InvalidArgument("tensor_name = {}; expected dtype {} does not equal original dtype {}", names[i],
                             DTypeName(types[i]), DTypeName(entry->second.dtype));
    }
    std::optional<TensorPiece> piece;
    if (!slices[i].empty()) {
      VIGIL_ASSIGN_OR_RETURN(piece, ParseShapeAndSlice(slices[i]));
    }
    VIGIL_ASSIGN_OR_RETURN(Tensor value, piece.has_value() ? reader.Read(names[i], *piece) : reader.Read(names[i]));
    // Read anew meanwhile, by another writer.
    if (value.dtype() != types[i]) return InvalidArgument("tensor_name = {}; its dtype has changed", names[i]);
    c.set_output(static_cast<int>(i), std::move(value));
  }
  return absl::OkStatus();
}

// Inputs: the prefixes of the parts, the destination.
absl::Status MergeCheckpoints(KernelContext& c) {
  const auto parts = c.input(0).flat<std::string>();
  if (c.input(1).num_elements() != 1) {
    return InvalidArgument("Input destination_prefix should be a scalar tensor, got {} instead.",
                           c.input(1).Describe());
  }
  return MergeBundles(c.env(), {parts.begin(), parts.end()}, c.input(1).scalar<std::string>(), SyncingOf(c));
}

// "<base>-00003-of-00012". Inputs: base, shard, number of shards.
absl::Status ShardedFilename(KernelContext& c) {
  for (int i = 0; i < 3; ++i) {
    if (c.input(i).num_elements() != 1) return InvalidArgument("input {} must be a scalar", i);
  }
  c.set_output(0, Tensor::Scalar(fmt::format("{}-{:05}-of-{:05}", c.input(0).scalar<std::string>(),
                                             c.input(1).scalar<std::int32_t>(), c.input(2).scalar<std::int32_t>())));
  return absl::OkStatus();
}

// Element by element; a scalar goes with each.
absl::Status StringJoin(KernelContext& c) {
  Shape shape;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Shape& given = c.input(i).shape();
    if (shape.rank() == 0) shape = given;
    if (given.rank() == 0 || given == shape) continue;
    return InvalidArgument("Input shapes do not match: {} vs. {}", shape.ToString(), given.ToString());
  }
  const auto separator = c.attr_or<std::string>("separator", "");
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(DType::kString, shape.dims()));
  std::size_t at = 0;
  for (std::string& joined : out.mutable_flat<std::string>()) {
    for (int i = 0; i < c.num_inputs(); ++i) {
      if (i > 0) joined += separator;
      joined += c.input(i).flat<std::string>()[c.input(i).shape().rank() == 0 ? 0 : at];
    }
    ++at;
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status RequireStrings(const Node& node, const std::vector<DType>& inputs) {
  if (inputs.size() < 3) return UsageError(fmt::format("'{}' Op needs a prefix, names and slices.", node.op));
  for (int i = 0; i < 3; ++i) VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, i, {DType::kString}));
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, ops::kWritesPart));
  return AllowAttr<bool>(node, ops::kNotSynced);
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

absl::StatusOr<std::vector<DType>> MergeCheckpointsTypes(const Node& node, const std::vector<DType>& inputs) {
  for (int i = 0; i < 2; ++i) VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, i, {DType::kString}));
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, ops::kNotSynced));
  return std::vector<DType>{};
}

absl::StatusOr<std::vector<DType>> ShardedFilenameTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kString}));
  for (int i = 1; i < 3; ++i) VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, i, {DType::kInt32}));
  return std::vector<DType>{DType::kString};
}

absl::StatusOr<std::vector<DType>> StringJoinTypes(const Node& node, const std::vector<DType>& inputs) {
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, i, {DType::kString}));
  }
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, "separator"));
  return std::vector<DType>{DType::kString};
}

}  // namespace

void RegisterSaveRestoreOps(OpRegistry& registry) {
  registry.Register({.name = "SaveV2", .inputs = -1, .output_types = SaveTypes, .compute = Save});
  registry.Register({.name = "RestoreV2", .inputs = 3, .output_types = RestoreTypes, .compute = Restore});
  registry.Register(
      {.name = "MergeV2Checkpoints", .inputs = 2, .output_types = MergeCheckpointsTypes, .compute = MergeCheckpoints});
  registry.Register(
      {.name = "ShardedFilename", .inputs = 3, .output_types = ShardedFilenameTypes, .compute = ShardedFilename});
  registry.Register({.name = "StringJoin", .inputs = -1, .output_types = StringJoinTypes, .compute = StringJoin});
  registry.Imply("StringJoin", {{"N", ImpliedAttr::Kind::kInputCount, 0}});
}

}  // namespace vigil
