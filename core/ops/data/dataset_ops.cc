// The ops that make datasets. A dataset is no tensor: its node fills a resource of its own when it runs, which others
// take as a reference.
#include <functional>
#include <utility>

#include "vigil/core/ops/data/dataset.h"
#include "vigil/core/ops/data/dataset_resource.h"
#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/random/random_generator.h"
#include "vigil/core/ops/registration.h"

namespace vigil {
namespace {

using Types = absl::StatusOr<std::vector<DType>>;

absl::StatusOr<DatasetPtr> InputDataset(KernelContext& c) { return DatasetResource::At(c, 0); }

// The one number that an input gives.
absl::StatusOr<std::int64_t> NumberAt(const KernelContext& c, int i, std::string_view name) {
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> numbers, Integers(c.input(i)));
  if (numbers.size() != 1) return InvalidArgument("{} must be a scalar, got {}", name, c.input(i).Describe());
  return numbers[0];
}

std::vector<Tensor> Components(const KernelContext& c) {
  std::vector<Tensor> components;
  for (int i = 0; i < c.num_inputs(); ++i) components.push_back(c.input(i));
  return components;
}

absl::StatusOr<DatasetPtr> RangeOfInputs(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t start, NumberAt(c, 0, "start"));
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t stop, NumberAt(c, 1, "stop"));
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, NumberAt(c, 2, "step"));
  if (step == 0) return InvalidArgument("step must be a non-zero integer.");
  const auto types = c.attr_or<std::vector<DType>>("output_types", {DType::kInt64});
  if (types != std::vector<DType>{DType::kInt64} && types != std::vector<DType>{DType::kInt32}) {
    return MakeStatus(Code::kUnimplemented, "A range here is one of int64 or int32.");
  }
  return MakeRangeDataset(start, stop, step, types[0]);
}

absl::StatusOr<DatasetPtr> TensorSlices(KernelContext& c) {
  std::vector<Tensor> components = Components(c);
  for (std::size_t i = 0; i < components.size(); ++i) {
    const Shape& shape = components[i].shape();
    if (shape.rank() == 0) return InvalidArgument("All components must be at least 1-dimensional");
    if (shape.dim(0) != components[0].shape().dim(0)) {
      return InvalidArgument("All components must have the same size in the 0th dimension");
    }
  }
  return MakeTensorSliceDataset(std::move(components));
}

absl::StatusOr<DatasetPtr> TensorsOnce(KernelContext& c) { return MakeTensorDataset(Components(c)); }

template <DatasetPtr (*kMake)(DatasetPtr, std::int64_t)>
absl::StatusOr<DatasetPtr> Counted(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(DatasetPtr input, InputDataset(c));
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t count, NumberAt(c, 1, "count"));
  return kMake(std::move(input), count);
}

absl::StatusOr<DatasetPtr> Batch(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(DatasetPtr input, InputDataset(c));
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t size, NumberAt(c, 1, "batch_size"));
  if (size <= 0) return InvalidArgument("Batch size must be greater than zero.");
  if (c.input(2).num_elements() != 1) return InvalidArgument("drop_remainder must be a scalar");
  return MakeBatchDataset(std::move(input), size, c.input(2).scalar<bool>());
}

absl::StatusOr<DatasetPtr> Shuffle(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(DatasetPtr input, InputDataset(c));
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t buffer_size, NumberAt(c, 1, "buffer_size"));
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t given, NumberAt(c, 2, "seed"));
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t given2, NumberAt(c, 3, "seed2"));
  if (buffer_size <= 0) return InvalidArgument("buffer_size must be greater than zero.");
  auto seed = static_cast<std::uint64_t>(given);
  auto seed2 = static_cast<std::uint64_t>(given2);
  const bool drawn = seed == 0 && seed2 == 0;
  if (drawn) {
    seed = c.env().random->Draw("random op");
    seed2 = c.env().random->Draw("random op");
  }
  return MakeShuffleDataset(std::move(input), buffer_size, seed, seed2,
                            c.attr_or<bool>("reshuffle_each_iteration", true), drawn);
}

// What is taken before somebody asks for it is nobody's business but time's.
absl::StatusOr<DatasetPtr> Prefetch(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(DatasetPtr input, InputDataset(c));
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t buffer_size, NumberAt(c, 1, "buffer_size"));
  if (buffer_size < -1) return InvalidArgument("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning");
  return input;
}

absl::StatusOr<DatasetPtr> Records(KernelContext& c) {
  if (c.input(0).shape().rank() > 1) return InvalidArgument("`filenames` must be a scalar or a vector.");
  if (c.input(1).num_elements() != 1) return InvalidArgument("compression_type must be a scalar");
  if (!c.input(1).scalar<std::string>().empty()) {
    return MakeStatus(Code::kUnimplemented, fmt::format("Records that are compressed ({}) cannot be read here.",
                                                        c.input(1).scalar<std::string>()));
  }
  const auto files = c.input(0).flat<std::string>();
  return MakeRecordDataset(c.env(), {files.begin(), files.end()});
}

using MakeDataset = absl::StatusOr<DatasetPtr> (*)(KernelContext&);

Kernel Filling(MakeDataset make) {
  return [make](KernelContext& c) {
    VIGIL_ASSIGN_OR_RETURN(DatasetPtr dataset, make(c));
    return DatasetResource::Fill(c, std::move(dataset));
  };
}

const std::vector<DType> kHandle{DType::kResource};

Types AllIntegers(const Node& node, const std::vector<DType>& inputs, int first) {
  for (int i = first; i < static_cast<int>(inputs.size()); ++i) {
    VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, i, {DType::kInt32, DType::kInt64}));
  }
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::vector<DType>>(node, "output_types"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "reshuffle_each_iteration"));
  return kHandle;
}

Types RangeDatasetTypes(const Node& node, const std::vector<DType>& inputs) { return AllIntegers(node, inputs, 0); }
Types CountedTypes(const Node& node, const std::vector<DType>& inputs) { return AllIntegers(node, inputs, 1); }

Types TensorsTypes(const Node& node, const std::vector<DType>& inputs) {
  if (inputs.empty()) return UsageError(fmt::format("'{}' Op needs at least one component.", node.op));
  return kHandle;
}

Types BatchTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 2, {DType::kBool}));
  return kHandle;
}

Types RecordTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kString}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kString}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 2, {DType::kInt64}));
  return kHandle;
}

}  // namespace

void RegisterDatasetOps(OpRegistry& registry) {
  const auto add = [&registry](std::string name, int inputs, std::uint32_t references, OutputTypesFn types,
                               MakeDataset make) {
    registry.Register({.name = std::move(name),
                       .inputs = inputs,
                       .output_types = std::move(types),
                       .compute = Filling(make),
                       .ref_inputs = references,
                       .resource_kind = DatasetResource::kKind,
                       .per_session = true,
                       .keeps_state = true,
                       .fills_resource = true});
  };
  add("RangeDataset", 3, 0, RangeDatasetTypes, RangeOfInputs);
  add("TensorSliceDataset", -1, 0, TensorsTypes, TensorSlices);
  add("TensorDataset", -1, 0, TensorsTypes, TensorsOnce);
  add("RepeatDataset", 2, 1, CountedTypes, Counted<MakeRepeatDataset>);
  add("TakeDataset", 2, 1, CountedTypes, Counted<MakeTakeDataset>);
  add("SkipDataset", 2, 1, CountedTypes, Counted<MakeSkipDataset>);
  add("BatchDatasetV2", 3, 1, BatchTypes, Batch);
  add("ShuffleDataset", 4, 1, CountedTypes, Shuffle);
  add("PrefetchDataset", 2, 1, CountedTypes, Prefetch);
  add("TFRecordDataset", 3, 0, RecordTypes, Records);
}

}  // namespace vigil
