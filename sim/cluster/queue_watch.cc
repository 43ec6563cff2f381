#include "vigil/sim/cluster/queue_watch.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/ops/training.h"

namespace vigil::sim {
namespace {

// "/job:worker/replica:0/task:1/device:CPU:0 local_step:0" is of worker:1; "" if it names no task.
std::string TaskInDevice(std::string_view device) {
  const auto part = [device](std::string_view name) {
    const std::size_t at = device.find(name);
    if (at == std::string_view::npos) return std::string_view();
    const std::string_view rest = device.substr(at + name.size());
    return rest.substr(0, rest.find_first_of("/ "));
  };
  const std::string_view job = part("/job:");
  const std::string_view task = part("/task:");
  return job.empty() || task.empty() ? "" : fmt::format("{}:{}", job, task);
}

void AddElements(const Tensor& value, std::vector<std::int64_t>& elements) {
  if (value.dtype() != DType::kInt64) return;
  const auto values = value.flat<std::int64_t>();
  elements.insert(elements.end(), values.begin(), values.end());
}

bool OfWholeNumbers(const KernelContext& c) {
  return c.holder_attr_or<std::vector<DType>>("component_types", {}) == std::vector<DType>{DType::kInt64};
}

QueueOp Described(const KernelContext& c, QueueOp::What what) {
  QueueOp op{.what = what};
  const auto shared_name = c.holder_attr_or<std::string>("shared_name", "");
  op.queue = shared_name.empty() ? c.holder().name : shared_name;
  // One of that name for each session.
  if (const std::string& session = c.own_session(c.holder()); !session.empty()) op.queue += " of " + session;
  op.capacity = c.holder_attr_or<std::int64_t>("capacity", -1);
  if (c.holder().op == "RandomShuffleQueueV2")
    op.shuffled_above = c.holder_attr_or<std::int64_t>("min_after_dequeue", 0);
  switch (what) {
    case QueueOp::What::kPut:
      AddElements(c.input(1), op.elements);
      if (c.attr_or<bool>(ops::kRenewsQueue, false)) op.what = QueueOp::What::kRenew;
      break;
    case QueueOp::What::kTake:
      op.taker = TaskInDevice(c.attr_or<std::string>(ops::kTaker, ""));
      if (c.num_inputs() > 1 && c.input(1).dtype() == DType::kInt32 && c.input(1).num_elements() == 1)
        op.most = c.input(1).flat<std::int32_t>()[0];
      op.least = c.node().op == "QueueDequeueUpToV2" ? 1 : op.most;
      break;
    case QueueOp::What::kSize:
      op.opens = c.attr_or<bool>(ops::kOpensQueue, false);
      break;
    default:
      break;
  }
  return op;
}

Kernel WatchedQueue(Kernel right, QueueOp::What what, QueueTold told) {
  return [right = std::move(right), what, told = std::move(told)](KernelContext& c) -> absl::Status {
    if (!OfWholeNumbers(c)) return right(c);
    const auto op = std::make_shared<QueueOp>(Described(c, what));
    const auto ended = told(op);
    absl::Status status = right(c);
    if (status.ok() && what == QueueOp::What::kTake) AddElements(c.output(0), op->elements);
    if (status.ok() && what == QueueOp::What::kSize) op->size = c.output(0).scalar<std::int32_t>();
    ended(status);
    return status;
  };
}

}  // namespace

std::unique_ptr<OpRegistry> WatchQueues(const OpRegistry& ops, QueueTold told) {
  const std::map<std::string_view, QueueOp::What> kinds = {
      {"QueueEnqueueV2", QueueOp::What::kPut},      {"QueueEnqueueManyV2", QueueOp::What::kPut},
      {"QueueDequeueV2", QueueOp::What::kTake},     {"QueueDequeueManyV2", QueueOp::What::kTake},
      {"QueueDequeueUpToV2", QueueOp::What::kTake}, {"QueueCloseV2", QueueOp::What::kClose},
      {"QueueSizeV2", QueueOp::What::kSize}};
  auto watched = std::make_unique<OpRegistry>();
  for (const auto& [name, def] : ops.all()) {
    OpDef own = def;
    const auto kind = kinds.find(name);
    if (kind != kinds.end()) own.compute = WatchedQueue(def.compute, kind->second, told);
    watched->Register(std::move(own));
  }
  return watched;
}

}  // namespace vigil::sim
