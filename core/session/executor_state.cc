// How a plan is executed: the state turns the plan's numbers into pointers once, so that a run is a walk over `calls_`
// that looks nothing up. Step i reads through inputs_ and writes into slots_; a slot is emptied as soon as nobody looks
// at it any more (Plan::releases), and all of them at the end. What a kernel finds by name (a variable, a queue) stays
// in cached_ until the shared resources change their generation.
#include "vigil/core/session/executor_state.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/call_guarded.h"

namespace vigil {
namespace {

// As TensorFlow does: which node it was.
absl::Status WithNode(const absl::Status& status, const Node& node) {
  return WithMessage(status, fmt::format("{}\n\t [[{{{{node {}}}}}]]", MessageOf(status), node.name));
}

std::int64_t BytesOf(const Tensor& tensor) {
  if (tensor.dtype() != DType::kString) return static_cast<std::int64_t>(tensor.bytes().size());
  std::int64_t bytes = 0;
  for (const std::string& text : tensor.flat<std::string>()) bytes += static_cast<std::int64_t>(text.size());
  return bytes;
}

// Two runs in one state would read each other's values.
class Running {
 public:
  explicit Running(bool& flag) : flag_(flag) { VIGIL_CHECK(!std::exchange(flag_, true)); }
  ~Running() { flag_ = false; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  bool& flag_;
};

}  // namespace

ExecutorState::ExecutorState(const Env& env, const Graph& graph, const Plan& plan, ResourceManager& own,
                             ResourceManager& shared, const Cancellation& cancellation)
    : env_(env),
      graph_(graph),
      plan_(plan),
      context_(env, graph, own, shared, cancellation),
      slots_(static_cast<std::size_t>(plan.slots)),
      cached_(plan.steps.size()) {
  inputs_.reserve(plan.inputs.size());
  for (const ValueSource& source : plan.inputs) {
    // A reference has neither: the kernel finds it by the holder.
    VIGIL_CHECK(source.slot < plan.slots);
    inputs_.push_back(source.slot < 0 ? source.constant : &slots_[static_cast<std::size_t>(source.slot)]);
  }
  calls_.reserve(plan.steps.size());
  for (const PlanStep& step : plan.steps) {
    VIGIL_CHECK(*step.kernel != nullptr);
    VIGIL_CHECK(step.first_output >= 0 && step.first_output <= plan.slots);
    VIGIL_CHECK(step.first_input >= 0 && static_cast<std::size_t>(step.first_input) <= plan.inputs.size());
    calls_.push_back({.node = step.node,
                      .kernel = step.kernel,
                      .holder = step.holder,
                      .inputs = inputs_.data() + step.first_input,
                      .outputs = slots_.data() + step.first_output,
                      .cached = &cached_[calls_.size()]});
  }
}

absl::Status ExecutorState::Run(const RunCall& call, Time deadline, std::uint64_t generation,
                                std::vector<Tensor>* fetched, Rendezvous* rendezvous) {
  const Running running(running_);
  if (generation != generation_) {
    for (std::shared_ptr<Resource>& resource : cached_) resource.reset();
    generation_ = generation;
  }
  context_.Start(deadline, rendezvous);
  const bool traced = call.options != nullptr && (call.options->trace_level != TraceLevel::kNoTrace ||
                                                  call.options->report_tensor_allocations_upon_oom);
  absl::Status status = TakeFeeds(call);
  if (status.ok()) status = CallGuarded([&] { return Execute(traced ? call.metadata : nullptr); });
  if (status.ok() && fetched != nullptr) {
    fetched->resize(plan_.fetches.size());
    for (std::size_t i = 0; i < plan_.fetches.size(); ++i) {
      const ValueSource& source = plan_.fetches[i];
      (*fetched)[i] = source.slot < 0 ? *source.constant : slots_[static_cast<std::size_t>(source.slot)];
    }
  }
  Clean();
  return status;
}

absl::Status ExecutorState::TakeFeeds(const RunCall& call) {
  VIGIL_RETURN_IF_ERROR(CheckFeeds(graph_, plan_.spec.feeds, call.feed_values));
  VIGIL_CHECK(call.feed_values.size() <= slots_.size());  // the feeds have the first ones
  for (std::size_t i = 0; i < call.feed_values.size(); ++i) slots_[i] = call.feed_values[i];
  return absl::OkStatus();
}

absl::Status ExecutorState::Execute(RunMetadata* trace) {
  if (trace == nullptr) {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      VIGIL_RETURN_IF_ERROR(ExecuteStep(calls_[i]));
      Release(plan_.steps[i]);
    }
    return absl::OkStatus();
  }
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const KernelCall& step = calls_[i];
    NodeStats stats{.node_name = step.node->name, .op = step.node->op};
    stats.start_ns = env_.clock->Monotonic().since_epoch.count();
    const absl::Status status = ExecuteStep(step);
    stats.end_ns = env_.clock->Monotonic().since_epoch.count();
    if (status.ok()) {
      for (std::size_t k = 0; k < step.node->output_types.size(); ++k) stats.output_bytes += BytesOf(step.outputs[k]);
    }
    trace->step_stats.push_back(std::move(stats));
    VIGIL_RETURN_IF_ERROR(status);
    Release(plan_.steps[i]);
  }
  return absl::OkStatus();
}

void ExecutorState::Release(const PlanStep& step) {
  for (std::int32_t i = step.first_release; i < step.end_release; ++i) {
    Tensor& slot = slots_[static_cast<std::size_t>(plan_.releases[static_cast<std::size_t>(i)])];
    if (slot.has_buffer()) slot = Tensor();
  }
}

absl::Status ExecutorState::ExecuteStep(const KernelCall& step) {
  if (context_.cancelled()) return MakeStatus(Code::kCancelled, "Run call was cancelled");
  context_.Enter(step);
  absl::Status status = (*step.kernel)(context_);
  if (status.ok()) return status;
  return WithNode(status, *step.node);
}

// Large values are not kept from one run to the next. Most are gone already, unless the run has failed.
void ExecutorState::Clean() {
  for (Tensor& slot : slots_) {
    if (slot.has_buffer()) slot = Tensor();
  }
}

}  // namespace vigil
