// An iterator over a range: OneShotIterator with the attribute "stop" (TensorFlow's carries a dataset function instead), and
// IteratorGetNext. The position belongs to the session.
#include <atomic>

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

 private:
  std::atomic<std::int64_t> next_{0};
};

absl::Status GetNext(KernelContext& c) {
  RangePosition& position = c.resource<RangePosition>([] { return std::make_shared<RangePosition>(); });
  std::int64_t value = 0;
  if (!position.Next(c.holder_attr_or<std::int64_t>("stop", 0), &value)) {
    return MakeStatus(Code::kOutOfRange, "End of sequence");
  }
  c.set_output(0, Tensor::Scalar<std::int64_t>(value));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DType>> IteratorTypes(const Node& node, const std::vector<DType>&) {
  VIGIL_RETURN_IF_ERROR(RequireAttr<std::int64_t>(node, "stop"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, "container"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, "shared_name"));
  return std::vector<DType>{DType::kResource};
}

}  // namespace

void RegisterIteratorOps(OpRegistry& registry) {
  registry.Register({.name = "OneShotIterator", .output_types = IteratorTypes, .is_resource = true});
  registry.Register({.name = "IteratorGetNext",
                     .inputs = 1,
                     .output_types = Always({DType::kInt64}),
                     .compute = GetNext,
                     .ref_inputs = 1});
}

}  // namespace vigil
