// Iterators: over a range, OneShotIterator with the attribute "stop" (TensorFlow's carries a dataset function instead);
// over a dataset, IteratorV2 with MakeIterator. IteratorGetNext, and their state for savers: SerializeIterator,
// DeserializeIterator. The position belongs to the session.
//
// The state is the position as decimal text in a string scalar (TensorFlow: a variant that no other version is promised
// to read).
#include <charconv>

#include "vigil/core/base/atomic.h"
#include "vigil/core/ops/data/dataset_resource.h"
#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"

namespace vigil {
namespace {

class RangePosition : public Resource {
 public:
  static constexpr std::string_view kKind = "iterator";

  // Thread safety: safe from any task. False: at the end.
  bool Next(std::int64_t stop, std::int64_t* value) {
    *value = next_.load(std::memory_order_relaxed);
    while (*value < stop) {
      if (next_.compare_exchange_weak(*value, *value + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }
  std::int64_t next() const { return next_.load(std::memory_order_acquire); }
  void Set(std::int64_t next) { next_.store(next, std::memory_order_release); }

 private:
  Atomic<std::int64_t> next_{0};
};

absl::StatusOr<RangePosition*> PositionOf(KernelContext& c) {
  return c.resource<RangePosition>([] { return std::make_shared<RangePosition>(); });
}

bool IsOverDataset(const KernelContext& c) { return c.holder().def->resource_kind == IteratorResource::kKind; }

absl::Status GetNextOfDataset(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(IteratorResource* const iterator, IteratorResource::Of(c));
  if (std::get<std::vector<DType>>(c.holder().attrs.find("output_types")->second) != c.node().output_types) {
    return InvalidArgument("The types of '{}' are not those of its iterator '{}'", c.node().name, c.holder().name);
  }
  DatasetElement element;
  VIGIL_RETURN_IF_ERROR(iterator->Next(&element));
  for (std::size_t i = 0; i < element.size(); ++i) c.set_output(static_cast<int>(i), std::move(element[i]));
  return absl::OkStatus();
}

absl::Status BeginIterator(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(DatasetPtr dataset, DatasetResource::At(c, 0));
  VIGIL_ASSIGN_OR_RETURN(const std::shared_ptr<IteratorResource> iterator, IteratorResource::At(c, 1));
  return iterator->Begin(std::move(dataset));
}

absl::Status NameOfIterator(KernelContext& c) {
  c.set_output(0, Tensor::Scalar<std::string>(c.holder().name));
  return absl::OkStatus();
}

absl::Status GetNext(KernelContext& c) {
  if (IsOverDataset(c)) return GetNextOfDataset(c);
  const std::vector<DType>& types = c.node().output_types;
  if (types.size() != 1 || types[0] != DType::kInt64) {
    return InvalidArgument("The types of '{}' are not those of its iterator '{}'", c.node().name, c.holder().name);
  }
  VIGIL_ASSIGN_OR_RETURN(RangePosition* const position, PositionOf(c));
  std::int64_t value = 0;
  if (!position->Next(c.holder_attr_or<std::int64_t>("stop", 0), &value)) {
    return MakeStatus(Code::kOutOfRange, "End of sequence");
  }
  c.set_output(0, Tensor::Scalar<std::int64_t>(value));
  return absl::OkStatus();
}

absl::Status Serialize(KernelContext& c) {
  if (IsOverDataset(c)) {
    VIGIL_ASSIGN_OR_RETURN(IteratorResource* const iterator, IteratorResource::Of(c));
    VIGIL_ASSIGN_OR_RETURN(std::string state, iterator->State());
    c.set_output(0, Tensor::Scalar<std::string>(std::move(state)));
    return absl::OkStatus();
  }
  VIGIL_ASSIGN_OR_RETURN(const RangePosition* const position, PositionOf(c));
  c.set_output(0, Tensor::Scalar<std::string>(fmt::format("{}", position->next())));
  return absl::OkStatus();
}

absl::Status Deserialize(KernelContext& c) {
  if (c.input(1).num_elements() != 1) {
    return InvalidArgument("An iterator's state must be a scalar, got {} instead.", c.input(1).Describe());
  }
  const std::string& state = c.input(1).scalar<std::string>();
  if (IsOverDataset(c)) {
    VIGIL_ASSIGN_OR_RETURN(IteratorResource* const iterator, IteratorResource::Of(c));
    return iterator->Restore(c, state);
  }
  VIGIL_ASSIGN_OR_RETURN(RangePosition* const position, PositionOf(c));
  std::int64_t next = 0;
  const auto [end, error] = std::from_chars(state.data(), state.data() + state.size(), next);
  if (error != std::errc() || end != state.data() + state.size() || next < 0) {
    return InvalidArgument("'{}' is no state of the iterator '{}'.", state, c.holder().name);
  }
  position->Set(next);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DType>> SerializeTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kResource}));
  return std::vector<DType>{DType::kString};
}

absl::StatusOr<std::vector<DType>> DeserializeTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kResource}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kString}));
  return std::vector<DType>{};
}

absl::StatusOr<std::vector<DType>> IteratorTypes(const Node& node, const std::vector<DType>&) {
  VIGIL_RETURN_IF_ERROR(RequireAttr<std::int64_t>(node, "stop"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, "container"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, "shared_name"));
  return std::vector<DType>{DType::kResource};
}

absl::StatusOr<std::vector<DType>> DatasetIteratorTypes(const Node& node, const std::vector<DType>&) {
  VIGIL_RETURN_IF_ERROR(RequireAttr<std::vector<DType>>(node, "output_types"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, "container"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, "shared_name"));
  return std::vector<DType>{DType::kResource};
}

absl::StatusOr<std::vector<DType>> GetNextTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kResource}));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::vector<DType>>(node, "output_types"));
  const auto types = node.attrs.find("output_types");
  if (types == node.attrs.end()) return std::vector<DType>{DType::kInt64};
  for (const DType type : std::get<std::vector<DType>>(types->second)) {
    if (type != DType::kInvalid && type != DType::kResource) continue;
    return UsageError(
        fmt::format("'{}' Op has an attribute 'output_types' with what is no type of a tensor.", node.op));
  }
  return std::get<std::vector<DType>>(types->second);
}

absl::StatusOr<std::vector<DType>> BeginTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kResource}));
  return std::vector<DType>{};
}

}  // namespace

void RegisterIteratorOps(OpRegistry& registry) {
  registry.Register({.name = "IteratorV2",
                     .output_types = DatasetIteratorTypes,
                     .is_resource = true,
                     .resource_kind = IteratorResource::kKind,
                     .names_are_checked = NamesAreChecked::kByTheNode,
                     .per_session = true});
  registry.Register(
      {.name = "MakeIterator", .inputs = 2, .output_types = BeginTypes, .compute = BeginIterator, .ref_inputs = 3});
  registry.Register({.name = "IteratorToStringHandle",
                     .inputs = 1,
                     .output_types = Always({DType::kString}),
                     .compute = NameOfIterator,
                     .ref_inputs = 1});
  registry.Register({.name = "OneShotIterator",
                     .output_types = IteratorTypes,
                     .is_resource = true,
                     .resource_kind = RangePosition::kKind,
                     .names_are_checked = NamesAreChecked::kByTheNode,
                     .per_session = true});
  registry.Register(
      {.name = "IteratorGetNext", .inputs = 1, .output_types = GetNextTypes, .compute = GetNext, .ref_inputs = 1});
  registry.Register({.name = "SerializeIterator",
                     .inputs = 1,
                     .output_types = SerializeTypes,
                     .compute = Serialize,
                     .ref_inputs = 1});
  registry.Register({.name = "DeserializeIterator",
                     .inputs = 2,
                     .output_types = DeserializeTypes,
                     .compute = Deserialize,
                     .ref_inputs = 1});
}

}  // namespace vigil
