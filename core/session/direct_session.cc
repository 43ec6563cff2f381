// A session without a cluster. Each spec that is run has a lane: its plan and the states (ExecutorState: the
// memory of a run) that are idle. A run takes one, or makes one if all are in use, runs it without a lock, and gives it
// back: so runs of one spec can go on at once, and a run that repeats an earlier one allocates nothing. Close() cancels
// what is under way and drops the idle states; the engine lives until the last run has left.
#include "vigil/core/session/direct_session.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/session/executor_state.h"
#include "vigil/core/session/plan.h"
#include "vigil/core/tensor/proto_util.h"

namespace vigil {
namespace {

// Adds the part of the graph that a run of the spec needs to what comes back beside its values.
absl::Status AddGraph(const Graph& graph, const RunSpec& spec, RunMetadata* metadata) {
  VIGIL_ASSIGN_OR_RETURN(const NeededNodes found, FindNeeded(graph, spec));
  proto::GraphDef def;
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (found.needed[static_cast<std::size_t>(id)]) ToProto(graph, graph.node(id), def.add_node());
  }
  def.mutable_versions()->set_producer(kGraphDefVersion);
  VIGIL_ASSIGN_OR_RETURN(metadata->partition_graphs.emplace_back(), SerializeDeterministically(def));
  return absl::OkStatus();
}

// What the runs of a session work with. Outlives the session as long as runs are in flight.
class Engine {
 public:
  Engine(const Env& env, const Graph& graph, DirectSessionOptions options)
      : env_(env),
        given_graph_(graph),
        shared_graph_(graph.Share()),
        graph_(*shared_graph_),
        config_(std::move(options.config)),
        traces_as_on_server_(options.traces_as_on_server),
        own_(std::make_unique<ResourceManager>(env)),
        shared_holder_(std::move(options.shared_resources)),
        shared_(shared_holder_ == nullptr ? *own_ : *shared_holder_) {}

  const Graph& graph() const { return given_graph_; }
  bool closed() const { return cancellation_.cancelled(); }
  absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched);
  absl::Status Close();
  // The session is gone: deletes the engine, now or after the last run.
  void Abandon();

 private:
  // The states of one plan.
  struct Lane {
    const Plan* plan = nullptr;
    std::vector<std::unique_ptr<ExecutorState>> idle;
  };
  struct BySpec {
    bool operator()(const RunSpec* a, const RunSpec* b) const { return *a < *b; }
  };
  class Lease;

  void LeaveClosed();                   // a run does; it may be the end of the engine
  Lane* FindLane(const RunSpec& spec);  // REQUIRES: lock_ is held
  absl::StatusOr<Lane*> AddLane(const RunSpec& spec);
  Time DeadlineOf(const RunOptions* options) const;

  const Env env_;
  const Graph& given_graph_;  // may be gone before the last run
  const std::shared_ptr<const Graph> shared_graph_;
  const Graph& graph_;
  const SessionConfig config_;
  const bool traces_as_on_server_;
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

// A run in flight and its state. Gives everything back when destroyed, also when the task is killed.
class Engine::Lease {
 public:
  // REQUIRES: in_flight_ counts this run already.
  // A lane and a state may be missing: they are put in later.
  Lease(Engine& engine, Lane* known, std::unique_ptr<ExecutorState> idle)
      : lane(known), state(std::move(idle)), engine_(engine) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    {
      SpinGuard lock(engine_.lock_);
      VIGIL_CHECK(engine_.in_flight_ > 0 && (state == nullptr || lane != nullptr));
      if (!engine_.closed()) {
        if (state != nullptr) lane->idle.push_back(std::move(state));
        --engine_.in_flight_;
        return;
      }
    }
    state.reset();  // what it holds may be the last of a resource
    engine_.LeaveClosed();
  }

  Lane* lane;
  std::unique_ptr<ExecutorState> state;

 private:
  Engine& engine_;
};

// No further run begins: who is alone is the last.
void Engine::LeaveClosed() {
  {
    SpinGuard lock(lock_);
    if (in_flight_ > 1) {
      --in_flight_;
      return;
    }
  }
  own_->Reset("");
  bool last = false;
  {
    SpinGuard lock(lock_);
    --in_flight_;
    last = abandoned_;
  }
  if (last) delete this;
}

Engine::Lane* Engine::FindLane(const RunSpec& spec) {
  if (last_ != nullptr && last_->plan->spec == spec) return last_;
  const auto it = lanes_.find(&spec);
  if (it == lanes_.end()) return nullptr;
  return last_ = &it->second;
}

absl::StatusOr<Engine::Lane*> Engine::AddLane(const RunSpec& spec) {
  VIGIL_ASSIGN_OR_RETURN(const Plan* const plan, PlanFor(graph_, spec));
  VIGIL_CHECK(plan->spec == spec);  // another's plan would give another's values
  SpinGuard lock(lock_);
  const auto [it, added] = lanes_.try_emplace(&plan->spec);
  if (added) it->second.plan = plan;  // else another task was here first, with a plan of the same spec
  return last_ = &it->second;
}

Time Engine::DeadlineOf(const RunOptions* options) const {
  std::int64_t timeout = options == nullptr ? 0 : options->timeout_in_ms;
  if (timeout <= 0) timeout = config_.operation_timeout_in_ms;
  return timeout <= 0 ? kNever : DeadlineAfter(env_, Milliseconds(timeout));
}

absl::Status Engine::Run(const RunCall& call, std::vector<Tensor>* fetched) {
  if (call.metadata != nullptr) call.metadata->Clear();
  Lane* known = nullptr;
  std::unique_ptr<ExecutorState> idle;
  {
    SpinGuard lock(lock_);
    if (closed()) return UsageError("Attempted to use a closed Session.");
    ++in_flight_;
    known = FindLane(call.spec);
    if (known != nullptr && !known->idle.empty()) {
      idle = std::move(known->idle.back());
      known->idle.pop_back();
    }
  }
  Lease lease(*this, known, std::move(idle));
  VIGIL_RETURN_IF_ERROR(CheckRunOptions(call.options, /*gives_partition_graphs=*/true));
  if (lease.lane == nullptr) {
    VIGIL_ASSIGN_OR_RETURN(lease.lane, AddLane(call.spec));
  }
  if (lease.state == nullptr) {
    lease.state = std::make_unique<ExecutorState>(env_, graph_, *lease.lane->plan, *own_, shared_, cancellation_);
  }
  RunCall traced = call;
  if (traces_as_on_server_ && !IsTracedOnServer(call.options)) traced.metadata = nullptr;
  VIGIL_RETURN_IF_ERROR(lease.state->Run(traced, DeadlineOf(call.options), shared_.generation(), fetched));
  if (call.metadata == nullptr || call.options == nullptr || !call.options->output_partition_graphs)
    return absl::OkStatus();
  return AddGraph(graph_, call.spec, call.metadata);
}

absl::Status Engine::Close() {
  std::map<const RunSpec*, std::vector<std::unique_ptr<ExecutorState>>> dropped;
  bool idle = false;
  {
    SpinGuard lock(lock_);
    if (closed()) return absl::OkStatus();
    cancellation_.Cancel();
    idle = in_flight_ == 0;
    for (auto& [spec, lane] : lanes_) dropped[spec] = std::exchange(lane.idle, {});
  }
  own_->CancelAll();
  if (&shared_ != own_.get()) shared_.CancelAll();
  // Else the last run under way drops it: a variable that is gone would be one that nobody has initialised.
  if (idle) own_->Reset("");
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
