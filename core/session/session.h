// The raw session: runs parts of one graph. Everything above (hooks, recovery) is made of calls on this interface.
//
// A run is described by a RunSpec (what is fed, fetched and run) and the fed values. A session prepares a plan for each
// spec it meets: a repeated spec costs no planning and no allocation.
// Errors are TensorFlow's: FAILED_PRECONDITION "Attempting to use uninitialized value x", OUT_OF_RANGE at the end of an
// input, CANCELLED when the session was closed meanwhile, USAGE for names that are not in the graph or a closed session
// ("Attempted to use a closed Session.").
// Thread safety: all methods from any task. Ownership: the graph must outlive the session, but for runs
// in flight and tasks that still hold it: what they use of the graph is kept (Graph::Share). The registry of ops
// outlives them all.
#ifndef VIGIL_CORE_SESSION_SESSION_H_
#define VIGIL_CORE_SESSION_SESSION_H_

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/session/run_options.h"

namespace vigil {

struct RunSpec {
  std::vector<Output> feeds;
  std::vector<Output> fetches;          // values wanted, in order; may repeat
  std::vector<NodeId> targets;          // nodes to run for their effect
  std::vector<std::string> unresolved;  // names that the graph does not have: the run fails with USAGE
  friend bool operator==(const RunSpec&, const RunSpec&) = default;
  friend auto operator<=>(const RunSpec&, const RunSpec&) = default;
  void Clear() { feeds.clear(), fetches.clear(), targets.clear(), unresolved.clear(); }
};

struct RunCall {
  const RunSpec& spec;
  std::span<const Tensor> feed_values = {};  // as spec.feeds
  const RunOptions* options = nullptr;       // null = defaults
  RunMetadata* metadata = nullptr;           // null = not wanted
  // For ClassifyCall; they change nothing else.
  bool with_hooks = false;  // the run of a hooked session
  bool evaluates = false;   // looks at tensors for their own sake: kRawRun, even if one of them is the global step
};

// Of a prepared run whose session is closed, as TensorFlow's say it: CANCELLED, "Session has been closed.".
absl::Status ClosedMeanwhile();

// What MakeCallable() is told, by names: "node:0", "node" (output 0); targets are nodes.
struct CallableOptions {
  std::vector<std::string> feed = {};
  std::vector<std::string> fetch = {};
  std::vector<std::string> target = {};
  RunOptions run_options = {};
};
using CallableHandle = std::int64_t;
class CallableTable;

class Session {
 public:
  Session();
  virtual ~Session();
  // The number of this session in its process: created sessions are counted from 1.
  virtual std::int64_t number() const = 0;
  virtual const Graph& graph() const = 0;  // the one it was made with: while that lives
  virtual bool closed() const = 0;
  // Runs what the spec needs, once, in the calling task, which it blocks until then (or until the timeout of the
  // options: DEADLINE_EXCEEDED). `fetched` gets one tensor for each fetch, in their order; its storage is reused; after
  // an error it holds nothing that means anything, and what the run did before failing stays done. INVALID_ARGUMENT: a
  // feed of another type; UNIMPLEMENTED: an option that there is none of. What a user's op throws is OTHER. On a
  // cluster also ABORTED and UNAVAILABLE.
  virtual absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched) = 0;
  // Cancels what runs (those calls return CANCELLED, maybe after this has returned), frees what the session alone
  // holds. It is closed then, also if this fails; errors come from the servers of a cluster only. A second close does
  // nothing.
  virtual absl::Status Close() = 0;

  // A run that is prepared once: names and options are looked at here. USAGE: names that the graph does not have;
  // UNIMPLEMENTED: an option that no session has; one that only this kind has not (output_partition_graphs on a
  // cluster) is told by the run. Handles count from 0.
  absl::StatusOr<CallableHandle> MakeCallable(CallableOptions options);
  // One such run, as Run(): `feeds` in the order of `feed`. INVALID_ARGUMENT: another number of feeds, a handle that
  // was released or never given. CANCELLED, not USAGE: the session is closed.
  absl::Status RunCallable(CallableHandle handle, std::span<const Tensor> feeds, std::vector<Tensor>* fetched,
                           RunMetadata* metadata = nullptr);
  // Runs under way end as they would. INVALID_ARGUMENT: a handle that was never given.
  absl::Status ReleaseCallable(CallableHandle handle);

  // Partial runs (TensorFlow's PRunSetup): UNIMPLEMENTED, always.
  absl::Status PRunSetup(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                         const std::vector<std::string>& targets, std::string* handle);

 private:
  const std::unique_ptr<CallableTable> callables_;
};

struct SessionConfig {
  std::vector<std::string> device_filters;
  std::int64_t operation_timeout_in_ms = 0;  // of each run that says no other: then DEADLINE_EXCEEDED; 0 = none
  std::int32_t inter_op_parallelism_threads = 0;
  // Of sessions on a cluster. How long a creation waits for tasks that do not answer: then UNAVAILABLE, which names
  // them; 0 = for ever. For a master that says nothing at all: see remote_master.h.
  Duration create_timeout{0};
  Duration keepalive{0};  // UNAVAILABLE when nothing was heard of a task for so long; 0 = never
  // As TensorFlow: Close() waits until every task has forgotten the steps that failed, for a dead one until it is there
  // again, however long that takes; and a creation learns at once that a task is there. Otherwise Close() waits for
  // nobody, and a creation asks every second.
  bool waits_for_tasks = false;
};

// Makes raw sessions. The simulator and traces decorate it.
class SessionFactory {
 public:
  virtual ~SessionFactory() = default;
  // Blocks until there is one. `master`: "" = this process. UNIMPLEMENTED or NOT_FOUND: a master that cannot be reached
  // this way; UNAVAILABLE: servers that do not answer. The graph must outlive the session.
  virtual absl::StatusOr<std::unique_ptr<Session>> Create(const Graph& graph, const std::string& master,
                                                          const SessionConfig& config) = 0;
};

// The number of a session that was just created in this process.
std::int64_t NextSessionNumber(const Env& env);

// The number in a fetched global step. USAGE for anything but one int64 or int32: a graph from elsewhere may say that
// something else is its step.
absl::StatusOr<std::int64_t> StepOf(const Tensor& fetched);

// Shorthands. Each is one run.
absl::StatusOr<Tensor> RunFetch(Session& session, Output fetch);
absl::Status RunTarget(Session& session, NodeId target);

}  // namespace vigil

#endif  // VIGIL_CORE_SESSION_SESSION_H_
