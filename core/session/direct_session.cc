#include "vigil/core/session/direct_session.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/session/plan.h"

namespace vigil {
namespace {

// As TensorFlow does: which node it was.
absl::Status WithNode(const absl::Status& status, const Node& node) {
  return WithMessage(status, fmt::format("{}\n\t [[{{{{node {}}}}}]]", MessageOf(status), node.name));
}

std::int64_t BytesOf(const Tensor& tensor) {
  if (tensor.dtype() != DType::kString)
    return tensor.num_elements() * static_cast<std::int64_t>(DTypeSize(tensor.dtype()));
  std::int64_t bytes = 0;
  for (const std::string& text : tensor.flat<std::string>()) bytes += static_cast<std::int64_t>(text.size());
  return bytes;
}

// The memory of one run at a time of one plan in one session.
class Frame {
 public:
  Frame(const Env& env, const Graph& graph, const Plan& plan, ResourceManager& own, ResourceManager& shared,
        const Cancellation& cancellation);
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  // Runs the plan. `generation`: of the shared resources.
  absl::Status Run(const RunCall& call, Time deadline, std::uint64_t generation, std::vector<Tensor>* fetched);

 private:
  absl::Status TakeFeeds(const RunCall& call);
  absl::Status Execute(RunMetadata* trace);
  absl::Status ExecuteStep(const KernelCall& step);
  void Clean();

  const Env& env_;
  const Graph& graph_;
  const Plan& plan_;
  KernelContext context_;
  std::uint64_t generation_ = 0;
  std::vector<Tensor> slots_;
  std::vector<const Tensor*> inputs_;
  std::vector<std::shared_ptr<Resource>> cached_;  // one a step
  std::vector<KernelCall> calls_;                  // one a step
};

Frame::Frame(const Env& env, const Graph& graph, const Plan& plan, ResourceManager& own, ResourceManager& shared,
             const Cancellation& cancellation)
    : env_(env),
      graph_(graph),
      plan_(plan),
      context_(env, graph, own, shared, cancellation),
      slots_(static_cast<std::size_t>(plan.slots)),
      cached_(plan.steps.size()) {
  inputs_.reserve(plan.inputs.size());
  for (const ValueSource& source : plan.inputs)
    inputs_.push_back(source.slot < 0 ? source.constant : &slots_[static_cast<std::size_t>(source.slot)]);
  calls_.reserve(plan.steps.size());
  for (const PlanStep& step : plan.steps) {
    calls_.push_back({.node = step.node,
                      .kernel = step.kernel,
                      .holder = step.holder,
                      .inputs = inputs_.data() + step.first_input,
                      .outputs = slots_.data() + step.first_output,
                      .cached = &cached_[calls_.size()]});
  }
}

absl::Status Frame::Run(const RunCall& call, Time deadline, std::uint64_t generation, std::vector<Tensor>* fetched) {
  VIGIL_RETURN_IF_ERROR(TakeFeeds(call));
  if (generation != generation_) {
    for (std::shared_ptr<Resource>& resource : cached_) resource.reset();
    generation_ = generation;
  }
  context_.Start(deadline);
  const bool traced = call.options != nullptr && call.options->trace_level == TraceLevel::kFullTrace;
  const absl::Status status = CallGuarded([&] { return Execute(traced ? call.metadata : nullptr); });
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

absl::Status Frame::TakeFeeds(const RunCall& call) {
  const std::vector<Output>& feeds = plan_.spec.feeds;
  if (call.feed_values.size() != feeds.size()) {
    return UsageError(fmt::format("{} values are given for {} feeds.", call.feed_values.size(), feeds.size()));
  }
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    const DType wanted = graph_.TypeOf(feeds[i]);
    if (call.feed_values[i].dtype() != wanted) {
      return MakeStatus(
          Code::kInvalidArgument,
          fmt::format("Cannot feed a value of type {} for '{}', which has type {}",
                      DTypeName(call.feed_values[i].dtype()), graph_.NameOf(feeds[i]), DTypeName(wanted)));
    }
    slots_[i] = call.feed_values[i];
  }
  return absl::OkStatus();
}

absl::Status Frame::Execute(RunMetadata* trace) {
  if (trace == nullptr) {
    for (const KernelCall& step : calls_) VIGIL_RETURN_IF_ERROR(ExecuteStep(step));
    return absl::OkStatus();
  }
  for (const KernelCall& step : calls_) {
    NodeStats stats{.node_name = step.node->name, .op = step.node->op};
    stats.start_ns = env_.clock->Monotonic().since_epoch.count();
    const absl::Status status = ExecuteStep(step);
    stats.end_ns = env_.clock->Monotonic().since_epoch.count();
    if (status.ok()) {
      for (std::size_t i = 0; i < step.node->output_types.size(); ++i) stats.output_bytes += BytesOf(step.outputs[i]);
    }
    trace->step_stats.push_back(std::move(stats));
    VIGIL_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

absl::Status Frame::ExecuteStep(const KernelCall& step) {
  if (context_.cancelled()) return MakeStatus(Code::kCancelled, "Run call was cancelled");
  context_.Enter(step);
  absl::Status status = (*step.kernel)(context_);
  if (status.ok()) return status;
  return WithNode(status, *step.node);
}

// Large values are not kept from one run to the next.
void Frame::Clean() {
  for (Tensor& slot : slots_) {
    if (slot.has_buffer()) slot = Tensor();
  }
}

// What the runs of a session work with. Outlives the session as long as runs are in flight.
class Engine {
 public:
  Engine(const Env& env, const Graph& graph, DirectSessionOptions options)
      : env_(env),
        graph_(graph),
        config_(std::move(options.config)),
        own_(std::make_unique<ResourceManager>(env)),
        shared_holder_(std::move(options.shared_resources)),
        shared_(shared_holder_ == nullptr ? *own_ : *shared_holder_) {}

  const Graph& graph() const { return graph_; }
  bool closed() const { return cancellation_.cancelled(); }
  absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched);
  absl::Status Close();
  // The session is gone: deletes the engine, now or after the last run.
  void Abandon();

 private:
  // The frames of one plan.
  struct Lane {
    const Plan* plan = nullptr;
    std::vector<std::unique_ptr<Frame>> idle;
  };
  struct BySpec {
    bool operator()(const RunSpec* a, const RunSpec* b) const { return *a < *b; }
  };
  class Lease;

  Lane* FindLane(const RunSpec& spec);  // REQUIRES: lock_ is held
  absl::StatusOr<Lane*> AddLane(const RunSpec& spec);
  Time DeadlineOf(const RunOptions* options) const;

  const Env env_;
  const Graph& graph_;
  const SessionConfig config_;
  const std::unique_ptr<ResourceManager> own_;
  const std::shared_ptr<ResourceManager> shared_holder_;
  ResourceManager& shared_;
  Cancellation cancellation_;  // cancelled = closed

  SpinLock lock_;
  // Guarded by lock_.
  std::map<const RunSpec*, Lane, BySpec> lanes_;  // lanes stay until the end
  Lane* last_ = nullptr;
  int in_flight_ = 0;
  bool abandoned_ = false;
};

// A run's right to a frame. Gives everything back when destroyed, also when the task is killed.
class Engine::Lease {
 public:
  // REQUIRES: in_flight_ counts this run already.
  Lease(Engine& engine, Lane& lane, std::unique_ptr<Frame> frame)
      : engine_(engine), lane_(lane), frame_(std::move(frame)) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    bool last = false;
    {
      SpinGuard lock(engine_.lock_);
      last = --engine_.in_flight_ == 0 && engine_.abandoned_;
      if (!engine_.closed()) lane_.idle.push_back(std::move(frame_));
    }
    frame_.reset();  // if the session was closed: what it holds may be the last of a resource
    if (last) delete &engine_;
  }
  Frame& frame() { return *frame_; }

 private:
  Engine& engine_;
  Lane& lane_;
  std::unique_ptr<Frame> frame_;
};

Engine::Lane* Engine::FindLane(const RunSpec& spec) {
  if (last_ != nullptr && last_->plan->spec == spec) return last_;
  const auto it = lanes_.find(&spec);
  if (it == lanes_.end()) return nullptr;
  return last_ = &it->second;
}

absl::StatusOr<Engine::Lane*> Engine::AddLane(const RunSpec& spec) {
  VIGIL_ASSIGN_OR_RETURN(const Plan* const plan, PlanFor(graph_, spec));
  SpinGuard lock(lock_);
  const auto [it, added] = lanes_.try_emplace(&plan->spec);
  if (added) it->second.plan = plan;  // else another task was here first, with a plan of the same spec
  return last_ = &it->second;
}

Time Engine::DeadlineOf(const RunOptions* options) const {
  std::int64_t timeout = options == nullptr ? 0 : options->timeout_in_ms;
  if (timeout <= 0) timeout = config_.operation_timeout_in_ms;
  return timeout <= 0 ? kNever : DeadlineAfter(env_, std::chrono::milliseconds(timeout));
}

absl::Status Engine::Run(const RunCall& call, std::vector<Tensor>* fetched) {
  if (call.metadata != nullptr) call.metadata->Clear();
  Lane* lane = nullptr;
  std::unique_ptr<Frame> frame;
  {
    SpinGuard lock(lock_);
    if (closed()) return UsageError("Attempted to use a closed Session.");
    lane = FindLane(call.spec);
    if (lane != nullptr && !lane->idle.empty()) {
      frame = std::move(lane->idle.back());
      lane->idle.pop_back();
      ++in_flight_;
    }
  }
  if (frame == nullptr) {
    if (lane == nullptr) {
      VIGIL_ASSIGN_OR_RETURN(lane, AddLane(call.spec));
    }
    frame = std::make_unique<Frame>(env_, graph_, *lane->plan, *own_, shared_, cancellation_);
    SpinGuard lock(lock_);
    if (closed()) return UsageError("Attempted to use a closed Session.");
    ++in_flight_;
  }
  Lease lease(*this, *lane, std::move(frame));
  return lease.frame().Run(call, DeadlineOf(call.options), shared_.generation(), fetched);
}

absl::Status Engine::Close() {
  std::map<const RunSpec*, std::vector<std::unique_ptr<Frame>>> dropped;
  {
    SpinGuard lock(lock_);
    if (closed()) return absl::OkStatus();
    cancellation_.Cancel();
    for (auto& [spec, lane] : lanes_) dropped[spec] = std::exchange(lane.idle, {});
  }
  own_->CancelAll();
  if (&shared_ != own_.get()) shared_.CancelAll();
  own_->Reset("");
  return absl::OkStatus();
}

void Engine::Abandon() {
  bool last = false;
  {
    SpinGuard lock(lock_);
    cancellation_.Cancel();
    abandoned_ = true;
    last = in_flight_ == 0;
  }
  if (last) delete this;
}

class DirectSession : public Session {
 public:
  DirectSession(const Env& env, const Graph& graph, DirectSessionOptions options)
      : engine_(*new Engine(env, graph, std::move(options))), number_(NextSessionNumber(env)) {}
  ~DirectSession() override { engine_.Abandon(); }

  std::int64_t number() const override { return number_; }
  const Graph& graph() const override { return engine_.graph(); }
  bool closed() const override { return engine_.closed(); }
  absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched) override { return engine_.Run(call, fetched); }
  absl::Status Close() override { return engine_.Close(); }

 private:
  Engine& engine_;
  const std::int64_t number_;
};

}  // namespace

std::unique_ptr<Session> NewDirectSession(const Env& env, const Graph& graph, DirectSessionOptions options) {
  return std::make_unique<DirectSession>(env, graph, std::move(options));
}

DirectSessionFactory::DirectSessionFactory(const Env& env, DirectSessionOptions options)
    : env_(env), options_(std::move(options)) {}

absl::StatusOr<std::unique_ptr<Session>> DirectSessionFactory::Create(const Graph& graph, const std::string& master,
                                                                      const SessionConfig& config) {
  if (!master.empty()) {
    return MakeStatus(Code::kUnimplemented,
                      fmt::format("A direct session runs in this process: it cannot reach the master '{}'.", master));
  }
  DirectSessionOptions options = options_;
  options.config = config;
  return NewDirectSession(env_, graph, std::move(options));
}

}  // namespace vigil
