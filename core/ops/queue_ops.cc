// FIFOQueueV2 and the ops on it.
#include <algorithm>
#include <optional>

#include "vigil/core/ops/fifo_queue.h"
#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/random/random_generator.h"
#include "vigil/core/ops/registration.h"
#include "vigil/core/ops/training.h"

namespace vigil {
namespace {

using Element = FifoQueue::Element;
using ComponentTypes = std::vector<DType>;

constexpr std::int64_t kMostEmptyElements = 1 << 20;

absl::StatusOr<FifoQueue*> QueueOf(KernelContext& c) {
  return c.resource<FifoQueue>([&c] {
    const auto shared_name = c.holder_attr_or<std::string>("shared_name", "");
    return std::make_shared<FifoQueue>(c.env(), shared_name.empty() ? "_0_" + c.holder().name : shared_name,
                                       c.holder_attr_or<ComponentTypes>("component_types", {}),
                                       c.holder_attr_or<std::int64_t>("capacity", -1),
                                       FifoQueue::Shuffling::Of(c.env(), c.holder()));
  });
}

// Inputs 1, 2, ... are the components.
absl::Status CheckComponents(const KernelContext& c) {
  const auto types = c.holder_attr_or<ComponentTypes>("component_types", {});
  if (static_cast<std::size_t>(c.num_inputs()) != types.size() + 1) {
    return InvalidArgument("Wrong number of components in tuple. Expected {}, got {}", types.size(),
                           c.num_inputs() - 1);
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    const DType given = c.input(static_cast<int>(i) + 1).dtype();
    if (given != types[i]) {
      return InvalidArgument("Type mismatch in tuple component {}. Expected {}, got {}", i, DTypeName(types[i]),
                             DTypeName(given));
    }
  }
  return absl::OkStatus();
}

absl::Status Enqueue(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(FifoQueue* const queue, QueueOf(c));
  VIGIL_RETURN_IF_ERROR(CheckComponents(c));
  std::vector<Element> elements(1);
  for (int i = 1; i < c.num_inputs(); ++i) elements[0].push_back(c.input(i));
  return queue->Enqueue(c, std::move(elements));
}

absl::Status EnqueueMany(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(FifoQueue* const queue, QueueOf(c));
  VIGIL_RETURN_IF_ERROR(CheckComponents(c));
  const Shape& first = c.input(1).shape();
  std::int64_t values = 0;
  for (int i = 1; i < c.num_inputs(); ++i) {
    const Shape& shape = c.input(i).shape();
    if (shape.rank() == 0 || shape.dim(0) != first.dim(0)) {
      return InvalidArgument("All components must have the same size in dimension 0; component {} has shape {}", i - 1,
                             shape.ToString());
    }
    values = std::max(values, c.input(i).num_elements());
  }
  // Elements without values are elements, too, and a shape alone may ask for any number of them.
  if (first.dim(0) > std::max(values, kMostEmptyElements)) {
    return MakeStatus(Code::kResourceExhausted,
                      fmt::format("{} elements without a value are too many to enqueue at once (at most {})",
                                  first.dim(0), kMostEmptyElements));
  }
  std::vector<Element> elements(static_cast<std::size_t>(first.dim(0)));
  for (std::size_t row = 0; row < elements.size(); ++row) {
    for (int i = 1; i < c.num_inputs(); ++i) {
      const std::vector<std::int64_t>& dims = c.input(i).shape().dims();
      VIGIL_ASSIGN_OR_RETURN(Tensor part, Tensor::MakeUnwritten(c.input(i).dtype(), {dims.begin() + 1, dims.end()}));
      CopyElements(c.input(i), static_cast<std::int64_t>(row) * part.num_elements(), part, 0, part.num_elements());
      elements[row].push_back(std::move(part));
    }
  }
  return queue->Enqueue(c, std::move(elements), c.attr_or<bool>(ops::kRenewsQueue, false));
}

// What comes out of the queue must be what the node promises.
absl::Status CheckPromise(const KernelContext& c) {
  if (c.holder_attr_or<ComponentTypes>("component_types", {}) == c.node().output_types) return absl::OkStatus();
  return InvalidArgument("The component types of '{}' are not those of its queue '{}'", c.node().name, c.holder().name);
}

absl::Status Dequeue(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(FifoQueue* const queue, QueueOf(c));
  VIGIL_RETURN_IF_ERROR(CheckPromise(c));
  std::vector<Element> elements;
  VIGIL_RETURN_IF_ERROR(queue->Dequeue(c, 1, &elements, c.attr_or<std::string>(ops::kTaker, "")));
  for (std::size_t i = 0; i < elements[0].size(); ++i) c.set_output(static_cast<int>(i), std::move(elements[0][i]));
  return absl::OkStatus();
}

template <bool kUpTo>
absl::Status DequeueMany(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> count, Integers(c.input(1)));
  if (count.size() != 1 || count[0] < 1) {
    return InvalidArgument("{} requires one positive number of elements", kUpTo ? "DequeueUpTo" : "DequeueMany");
  }
  VIGIL_ASSIGN_OR_RETURN(FifoQueue* const queue, QueueOf(c));
  VIGIL_RETURN_IF_ERROR(CheckPromise(c));
  std::vector<Element> elements;
  VIGIL_RETURN_IF_ERROR(queue->Dequeue(c, count[0], &elements, "", kUpTo));
  for (std::size_t i = 0; i < elements[0].size(); ++i) {
    const Tensor& first = elements[0][i];
    std::vector<std::int64_t> dims = first.shape().dims();
    dims.insert(dims.begin(), static_cast<std::int64_t>(elements.size()));
    VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(first.dtype(), std::move(dims)));
    std::int64_t row = 0;
    for (const Element& element : elements) {
      if (element[i].shape() != first.shape()) {
        return InvalidArgument("Elements of different shapes, {} and {}, cannot be dequeued together",
                               first.shape().ToString(), element[i].shape().ToString());
      }
      CopyElements(element[i], 0, out, row++ * first.num_elements(), first.num_elements());
    }
    c.set_output(static_cast<int>(i), std::move(out));
  }
  return absl::OkStatus();
}

absl::Status Close(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(FifoQueue* const queue, QueueOf(c));
  return queue->Close(c, c.attr_or<bool>("cancel_pending_enqueues", false));
}

absl::Status Size(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(FifoQueue* const queue, QueueOf(c));
  if (c.attr_or<bool>(ops::kOpensQueue, false)) queue->Open();
  if (std::string taker = c.attr_or<std::string>(ops::kStopsTaker, ""); !taker.empty()) {
    queue->StopTaker(std::move(taker));
  }
  c.set_output(0, Tensor::Scalar<std::int32_t>(static_cast<std::int32_t>(queue->Size())));
  return absl::OkStatus();
}

using Types = absl::StatusOr<std::vector<DType>>;

Types QueueTypes(const Node& node, const std::vector<DType>&) {
  VIGIL_RETURN_IF_ERROR(RequireAttr<ComponentTypes>(node, "component_types"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::int64_t>(node, "capacity"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, "container"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, "shared_name"));
  return std::vector<DType>{DType::kResource};
}

Types ShuffleQueueTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(CheckSeeds(node));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::int64_t>(node, "min_after_dequeue"));
  return QueueTypes(node, inputs);
}

Types EnqueueTypes(const Node& node, const std::vector<DType>& inputs) {
  if (inputs.size() < 2) return UsageError(fmt::format("'{}' Op needs a queue and at least one component.", node.op));
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, ops::kRenewsQueue));
  return std::vector<DType>{};
}

Types DequeueTypes(const Node& node, const std::vector<DType>&) {
  VIGIL_RETURN_IF_ERROR(RequireAttr<ComponentTypes>(node, "component_types"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, ops::kTaker));
  return std::get<ComponentTypes>(node.attrs.find("component_types")->second);
}

Types CloseTypes(const Node& node, const std::vector<DType>&) {
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "cancel_pending_enqueues"));
  return std::vector<DType>{};
}

Types SizeTypes(const Node& node, const std::vector<DType>&) {
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, ops::kOpensQueue));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, ops::kStopsTaker));
  return std::vector<DType>{DType::kInt32};
}

}  // namespace

void RegisterQueueOps(OpRegistry& registry) {
  registry.Register({.name = "FIFOQueueV2",
                     .output_types = QueueTypes,
                     .is_resource = true,
                     .resource_kind = FifoQueue::kKind,
                     .names_are_checked = NamesAreChecked::kByTheNode,
                     .per_session = true});
  registry.Register({.name = "RandomShuffleQueueV2",
                     .output_types = ShuffleQueueTypes,
                     .is_resource = true,
                     .resource_kind = FifoQueue::kKind,
                     .names_are_checked = NamesAreChecked::kByTheNode,
                     .per_session = true});
  registry.Register(
      {.name = "QueueEnqueueV2", .inputs = -1, .output_types = EnqueueTypes, .compute = Enqueue, .ref_inputs = 1});
  registry.Register({.name = "QueueEnqueueManyV2",
                     .inputs = -1,
                     .output_types = EnqueueTypes,
                     .compute = EnqueueMany,
                     .ref_inputs = 1});
  registry.Register(
      {.name = "QueueDequeueV2", .inputs = 1, .output_types = DequeueTypes, .compute = Dequeue, .ref_inputs = 1});
  registry.Register({.name = "QueueDequeueManyV2",
                     .inputs = 2,
                     .output_types = DequeueTypes,
                     .compute = DequeueMany<false>,
                     .ref_inputs = 1});
  registry.Register({.name = "QueueDequeueUpToV2",
                     .inputs = 2,
                     .output_types = DequeueTypes,
                     .compute = DequeueMany<true>,
                     .ref_inputs = 1});
  registry.Register(
      {.name = "QueueCloseV2", .inputs = 1, .output_types = CloseTypes, .compute = Close, .ref_inputs = 1});
  registry.Register({.name = "QueueSizeV2", .inputs = 1, .output_types = SizeTypes, .compute = Size, .ref_inputs = 1});
}

}  // namespace vigil
