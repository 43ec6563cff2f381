// An iterator over a range: OneShotIterator with the attribute "stop" (TensorFlow's carries a dataset function
// instead), IteratorGetNext, and its state for savers: SerializeIterator, DeserializeIterator. The position belongs to
// the session.
//
// The state is the position as decimal text in a string scalar (TensorFlow: a variant that no other version is promised
// to read).
#include <atomic>
#include <charconv>

#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"

namespace vigil {
namespace {

class RangePosition : public Resource {
 public:
  static constexpr std::string_view kKind = "iterator";
  static constexpr bool kPerSession = true;

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
  std::atomic<std::int64_t> next_{0};
};

absl::StatusOr<RangePosition*> PositionOf(KernelContext& c) {
  return c.resource<RangePosition>([] { return std::make_shared<RangePosition>(); });
}

absl::Status GetNext(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(RangePosition* const position, PositionOf(c));
  std::int64_t value = 0;
  if (!position->Next(c.holder_attr_or<std::int64_t>("stop", 0), &value)) {
    return MakeStatus(Code::kOutOfRange, "End of sequence");
  }
  c.set_output(0, Tensor::Scalar<std::int64_t>(value));
  return absl::OkStatus();
}

absl::Status Serialize(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const RangePosition* const position, PositionOf(c));
  c.set_output(0, Tensor::Scalar<std::string>(fmt::format("{}", position->next())));
  return absl::OkStatus();
}

absl::Status Deserialize(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(RangePosition* const position, PositionOf(c));
  if (c.input(1).num_elements() != 1) {
    return InvalidArgument("An iterator's state must be a scalar, got {} instead.", c.input(1).Describe());
  }
  const std::string& state = c.input(1).scalar<std::string>();
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

}  // namespace

void RegisterIteratorOps(OpRegistry& registry) {
  registry.Register({.name = "OneShotIterator",
                     .output_types = IteratorTypes,
                     .is_resource = true,
                     .resource_kind = RangePosition::kKind});
  registry.Register({.name = "IteratorGetNext",
                     .inputs = 1,
                     .output_types = Always({DType::kInt64}),
                     .compute = GetNext,
                     .ref_inputs = 1});
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
