#include "vigil/stress/threads/training.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/core/train/training_util.h"

namespace vigil::stress {

Training::Training(const Env& env) : graph(BuiltinOps()) {
  Builder b(graph);
  step = *GetOrCreateGlobalStep(env, b);
  total = ops::MakeVariable(b, "total", b.Const("zero", Tensor::Scalar<std::int64_t>(0))).ref;
  const Output ones = b.Const("ones", Tensor::Vector<std::int64_t>({1, 1, 1}));
  const ops::Queue queue = ops::FifoQueue(b, "queue", 4);
  std::vector<NodeId> enqueues;
  for (const char* const name : {"one", "other"}) enqueues.push_back(ops::EnqueueMany(b, name, queue, ones));
  const auto runner = QueueRunner::Create(
      env, {.queue_name = "queue", .enqueue_ops = enqueues, .close_op = queue.close, .cancel_op = queue.cancel});
  EXPECT_TRUE(runner.ok()) << runner.status();
  graph.AddToCollection(kQueueRunners, *runner);
  const Output item = ops::Dequeue(b, "item", queue);
  train = b.Group(
      "train", {ops::AssignAdd(b, "more_steps", step, item).node, ops::AssignAdd(b, "more_items", total, item).node});
  ops::ScalarSummary(b, "summary", "items", b.Op("Cast", {total}, {.attrs = {{"DstT", DType::kFloat}}}));
  EXPECT_TRUE(b.status().ok()) << b.status();
}

std::int64_t SavedStep(const Env& env, const std::string& folder, bool exact) {
  const auto newest = LatestCheckpoint(env, folder);
  EXPECT_TRUE(newest.ok()) << newest.status();
  if (!newest.ok() || !newest->has_value()) return 0;
  absl::StatusOr<BundleReader> reader = BundleReader::Open(*env.files, **newest);
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return 0;
  const absl::StatusOr<Tensor> step = reader->Read("global_step");
  const absl::StatusOr<Tensor> total = reader->Read("total");
  EXPECT_TRUE(step.ok() && total.ok()) << step.status() << " " << total.status();
  if (!step.ok() || !total.ok()) return 0;
  if (exact) {
    EXPECT_EQ(step->scalar<std::int64_t>(), total->scalar<std::int64_t>());
  }
  return step->scalar<std::int64_t>();
}

}  // namespace vigil::stress
