// How a plan is executed: the state turns the plan's numbers into pointers once, so that a run is a walk over `calls_`
// that looks nothing up. Step i reads through inputs_ and writes into slots_; a slot is emptied as soon as nobody looks
// at it any more (Plan::releases), and all of them at the end. What a kernel finds by name (a variable, a queue) stays
// in cached_ until the shared resources change their generation.
#include "vigil/core/session/executor_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/flush_denormals.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/graph/graph_def.h"

namespace vigil {
namespace {

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
      cached_(plan.steps.size()),
      dead_(static_cast<std::size_t>(plan.flags)) {
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
  const ScopedFlushDenormals flush;
  absl::Status status = TakeFeeds(call);
  if (status.ok()) status = CallGuarded([&] { return Execute(IsTracedAlone(call.options) ? call.metadata : nullptr); });
  if (status.ok()) status = CheckTime();
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
  if (!plan_.control.empty()) return ExecuteWithDead(trace);
  if (trace == nullptr) {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      VIGIL_RETURN_IF_ERROR(ExecuteStep(calls_[i]));
      Release(plan_.steps[i]);
    }
    return absl::OkStatus();
  }
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    VIGIL_RETURN_IF_ERROR(ExecuteTraced(i, trace));
    Release(plan_.steps[i]);
  }
  return absl::OkStatus();
}

absl::Status ExecutorState::ExecuteTraced(std::size_t i, RunMetadata* trace) {
  const KernelCall& step = calls_[i];
  NodeStats stats{.node_name = step.node->name, .op = step.node->op, .inputs = InputTexts(graph_, *step.node)};
  stats.start_ns = env_.clock->Now().since_epoch.count();
  const Time start = env_.clock->Monotonic();
  const absl::Status status = ExecuteStep(step);
  stats.end_ns = stats.start_ns + (env_.clock->Monotonic() - start).count();
  if (status.ok()) {
    for (std::size_t k = 0; k < step.node->output_types.size(); ++k) {
      if (step.outputs[k].valid()) stats.output_bytes += BytesOf(step.outputs[k]);
    }
  }
  trace->step_stats.push_back(std::move(stats));
  return status;
}

bool ExecutorState::IsDead(const ControlStep& control) const {
  for (std::int32_t k = control.first_condition; k < control.end_condition; ++k) {
    if (dead_[static_cast<std::size_t>(plan_.conditions[static_cast<std::size_t>(k)])] != 0) return true;
  }
  return false;
}

// A step that is dead is not run, and its outputs are invalid, so that a Merge sees which of its inputs lives. What an
// earlier run has left in them must not be taken for values of this one.
absl::Status ExecutorState::ExecuteWithDead(RunMetadata* trace) {
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const ControlStep& control = plan_.control[i];
    const KernelCall& step = calls_[i];
    char* const flags = control.flag < 0 ? nullptr : &dead_[static_cast<std::size_t>(control.flag)];
    const bool is_value = step.kernel != &step.node->def->compute;  // of a variable or a constant: one
    const std::size_t outputs = is_value ? 1 : step.node->output_types.size();
    for (std::size_t k = 0; k < outputs; ++k) step.outputs[k] = Tensor();
    bool dead = IsDead(control);
    if (control.kind == ControlFlow::kMerge) {
      dead = std::none_of(step.inputs, step.inputs + step.node->inputs.size(),
                          [](const Tensor* input) { return input->valid(); });
    }
    if (flags != nullptr) flags[0] = dead ? 1 : 0;
    if (flags != nullptr && control.kind == ControlFlow::kSwitch) flags[1] = flags[0];
    if (!dead || control.kind == ControlFlow::kSend) {
      context_.set_dead(dead);
      VIGIL_RETURN_IF_ERROR(trace == nullptr ? ExecuteStep(step) : ExecuteTraced(i, trace));
      if (control.kind == ControlFlow::kSwitch) {
        const bool taken = step.inputs[1]->scalar<bool>();
        flags[0] = taken ? 1 : 0;
        flags[1] = taken ? 0 : 1;
      } else if (control.kind == ControlFlow::kRecv && flags != nullptr) {
        flags[0] = step.outputs[0].valid() ? 0 : 1;
      }
    }
    Release(plan_.steps[i]);
  }
  return CheckFetchesLive();
}

absl::Status ExecutorState::CheckFetchesLive() const {
  for (std::size_t i = 0; i < plan_.fetch_control.size(); ++i) {
    if (!IsDead(plan_.fetch_control[i])) continue;
    return MakeStatus(Code::kInvalidArgument,
                      fmt::format("Retval[{}] does not have value: '{}' is in a branch that was not taken", i,
                                  graph_.NameOf(plan_.spec.fetches[i])));
  }
  return absl::OkStatus();
}

void ExecutorState::Release(const PlanStep& step) {
  for (std::int32_t i = step.first_release; i < step.end_release; ++i) {
    Tensor& slot = slots_[static_cast<std::size_t>(plan_.releases[static_cast<std::size_t>(i)])];
    if (slot.has_buffer()) slot = Tensor();
  }
}

// Of the last kernel. Whoever is cancelled by then has come to its end all the same.
absl::Status ExecutorState::CheckTime() const {
  absl::Status over = context_.CheckGoesOn();
  return CodeOf(over) == Code::kDeadlineExceeded ? over : absl::OkStatus();
}

absl::Status ExecutorState::ExecuteStep(const KernelCall& step) {
  VIGIL_RETURN_IF_ERROR(context_.CheckGoesOn());  // a kernel that only computes does not know how long it may take
  context_.Enter(step);
  absl::Status status;
  try {
    status = (*step.kernel)(context_);
  } catch (const std::bad_alloc&) {
    status = MakeStatus(Code::kResourceExhausted, fmt::format("OOM: no memory for '{}' Op", step.node->op));
  }
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
