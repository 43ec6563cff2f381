// What a conversation asks of queues and accumulators. What must come of it is said here, as it is few: these are what
// several runs meet at, which one process cannot be asked run by run.
#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/sim/cluster/conversation.h"

namespace vigil::sim {
namespace {

using fakes::RandomStep;

RandomStep Step(std::string text, RunSpec spec, std::vector<Tensor> feeds = {}) {
  return {.spec = std::move(spec), .feeds = std::move(feeds), .text = std::move(text)};
}

Tensor Number(std::int64_t number) { return Tensor::Scalar<std::int64_t>(number); }

}  // namespace

bool Conversation::Expect(const Line& line, const RandomStep& step, std::vector<Tensor> values) {
  Heard must;
  must.values = std::move(values);
  return Judge(line, step, must, RunBy(*line.cluster, step, RunStep)) == Outcome::kAnswered;
}

std::string Conversation::StandOnAServer(Builder& b) {
  b.container = container_;
  const auto servers = parts_.job.tasks.find("ps");
  b.device = fmt::format("/job:ps/task:{}", Below(static_cast<std::uint64_t>(servers->second)));
  size_ += 2;
  return fmt::format("meeting_{}_{}_{}_{}_{}", parts_.job_name, parts_.index, parts_.recorder.life(), graphs_,
                     ++meetings_);
}

// Who waits for three where there are fewer gives up and gives back what it held; who stands behind it, and was to wait
// for one, gets that.
absl::Status Conversation::AskQueue(Line& line) {
  if (size_ >= kLargestGraph) return Anew();
  Builder b(graph_->graph);
  const std::string name = StandOnAServer(b);
  const Attrs types{{"component_types", std::vector<DType>{DType::kInt64}}};
  const Output element = ops::Placeholder(b, name + "/element", DType::kInt64);
  Attrs queued = types;
  queued.emplace("shapes", std::vector<Shape>{Shape{}});
  const Output queue = b.Op("FIFOQueueV2", {}, {.name = name, .attrs = std::move(queued)});
  const NodeId put = b.Op("QueueEnqueueV2", {queue, element}, {.name = name + "/put"}).node;
  const Output take = b.Op("QueueDequeueV2", {queue}, {.name = name + "/take", .attrs = types});
  const Output three = b.Const(name + "/three", Tensor::Scalar<std::int32_t>(3));
  const Output many = b.Op("QueueDequeueManyV2", {queue, three}, {.name = name + "/many", .attrs = types});
  const Output size = b.Op("QueueSizeV2", {queue}, {.name = name + "/size"});
  if (!b.status().ok()) return b.status();
  const auto count = static_cast<std::int64_t>(1 + Below(2));
  for (std::int64_t i = 0; i < count; ++i) {
    if (!Expect(line, Step("a put", {.feeds = {element}, .targets = {put}}, {Number(10 + i)}), {})) return Anew();
  }
  const Tensor counted = Tensor::Scalar<std::int32_t>(static_cast<std::int32_t>(count));
  if (!Expect(line, Step("its size", {.fetches = {size}}), {counted})) return Anew();
  // It has no shared name: another session of the same graph has another one.
  const Tensor none = Tensor::Scalar<std::int32_t>(0);
  for (const auto& other : lines_) {
    if (other.get() != &line && !Expect(*other, Step("its size in another session", {.fetches = {size}}), {none}))
      return Anew();
  }
  const auto gives_up = std::make_shared<Heard>();
  const std::int64_t patience = 500 + static_cast<std::int64_t>(Below(4000));
  const RandomStep taking_many = Step("a take of three", {.fetches = {many}});
  const std::unique_ptr<Task> first = RunBeside(line, taking_many, gives_up, patience);
  Sleep(std::chrono::milliseconds(Below(500)));
  const bool taken = Expect(line, Step("a take behind it", {.fetches = {take}}), {Number(10)});
  first->Join(kNever);
  Heard nothing;
  nothing.status = MakeStatus(Code::kDeadlineExceeded, "");
  const Outcome given_up = Judge(line, taking_many, nothing, *gives_up, std::chrono::milliseconds(patience));
  if (!taken || given_up == Outcome::kBroken) return Anew();
  for (std::int64_t i = 1; i < count; ++i) {
    if (!Expect(line, Step("a take", {.fetches = {take}}), {Number(10 + i)})) return Anew();
  }
  return absl::OkStatus();
}

// A mean is of all that has come, also of more than was asked for; what is older than the last one is dropped.
absl::Status Conversation::AskAccumulator(Line& line) {
  if (size_ >= kLargestGraph) return Anew();
  Builder b(graph_->graph);
  const std::string name = StandOnAServer(b);
  const Output step = ops::Placeholder(b, name + "/step", DType::kInt64);
  const Output gradient = ops::Placeholder(b, name + "/gradient", DType::kDouble);
  const Output accumulator =
      b.Op("ConditionalAccumulator", {}, {.name = name, .attrs = {{"dtype", DType::kDouble}, {"shape", Shape{}}}});
  const NodeId apply = b.Op("AccumulatorApplyGradient", {accumulator, step, gradient}, {.name = name + "/apply"}).node;
  const Output required = ops::Placeholder(b, name + "/required", DType::kInt32);
  const Output take = b.Op("AccumulatorTakeGradient", {accumulator, required},
                           {.name = name + "/take", .attrs = {{"dtype", DType::kDouble}}});
  if (!b.status().ok()) return b.status();
  const auto add = [&](std::int64_t at, double value) {
    return Expect(line,
                  Step("a gradient", {.feeds = {step, gradient}, .targets = {apply}},
                       {Number(at), Tensor::Scalar<double>(value)}),
                  {});
  };
  for (std::int64_t round = 0; round < 2; ++round) {
    const auto count = static_cast<std::int32_t>(1 + Below(4));
    double sum = 0;
    for (std::int32_t i = 0; i < count; ++i) {
      const auto value = static_cast<double>(Below(16));
      sum += value;
      if (!add(round, value)) return Anew();
    }
    if (round > 0 && !add(round - 1, 100)) return Anew();
    const auto asked = static_cast<std::int32_t>(1 + Below(static_cast<std::uint64_t>(count)));
    if (!Expect(line, Step("a mean", {.feeds = {required}, .fetches = {take}}, {Tensor::Scalar<std::int32_t>(asked)}),
                {Tensor::Scalar<double>(sum / count)}))
      return Anew();
  }
  return absl::OkStatus();
}

}  // namespace vigil::sim
