// What a run of one spec does: the nodes that it needs in order, and a slot for each value.
//
// Nodes run in the order of their ids. Nodes without work (constants, resources, NoOp) are no steps. A variable's value
// is read by a step of its own, right before the node that wants it; values of fetched variables are read last, so that
// they show what the run has done (as TensorFlow does).
// Thread safety: immutable.
#ifndef VIGIL_CORE_SESSION_PLAN_H_
#define VIGIL_CORE_SESSION_PLAN_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/session/session.h"

namespace vigil {

// Where a value is found: in a slot of the run's ExecutorState, or in the graph.
struct ValueSource {
  std::int32_t slot = -1;
  const Tensor* constant = nullptr;
};

struct PlanStep {
  const Node* node = nullptr;
  const Kernel* kernel = nullptr;  // the node's own, or its read
  const Node* holder = nullptr;
  std::int32_t first_input = 0;   // in Plan::inputs; as many as the node has (none for a read)
  std::int32_t first_output = 0;  // slot
  // In Plan::releases: the slots that nobody looks at after this step. What they hold need not wait for the end of the
  // run: a variable that was read has its value for itself again when it is updated.
  std::int32_t first_release = 0;
  std::int32_t end_release = 0;
};

// What a step has to do with dead values (op.h, ControlFlow), in a plan that has any. Flags say what is dead: the two
// outputs of a Switch, a Merge, a _Recv. Whatever else may be dead is so because of them.
struct ControlStep {
  ControlFlow kind = ControlFlow::kNone;
  std::int32_t first_condition = 0;  // in Plan::conditions: the flags of which none may be set, else it is dead
  std::int32_t end_condition = 0;
  std::int32_t flag = -1;  // the first of its own; -1: none
};

struct Plan : Attachment {
  static constexpr std::string_view kKind = "session plan";
  Plan() : Attachment(kKind) {}

  RunSpec spec;
  std::uint64_t hash = 0;  // of the spec
  std::vector<PlanStep> steps;
  std::vector<ValueSource> inputs;
  std::vector<ValueSource> fetches;
  std::vector<std::int32_t> releases;
  std::int32_t slots = 0;  // the first ones are the feeds

  // Of a plan in which something may be dead; else empty.
  std::vector<ControlStep> control;        // one a step
  std::vector<ControlStep> fetch_control;  // one a fetch
  std::vector<std::int32_t> conditions;    // flags
  std::int32_t flags = 0;
};

// The nodes that a spec needs (by id), and what it feeds. Errors: USAGE for what the graph does not have.
struct NeededNodes {
  std::vector<bool> needed;
  std::vector<Output> fed;  // ascending
};
absl::StatusOr<NeededNodes> FindNeeded(const Graph& graph, const RunSpec& spec);

// USAGE for a wrong number of values, INVALID_ARGUMENT for one of a wrong type.
absl::Status CheckFeeds(const Graph& graph, const std::vector<Output>& feeds, std::span<const Tensor> values);

// Which of the needed nodes may be dead, by id; empty if none may. `fed`: ascending.
std::vector<bool> FindConditional(const Graph& graph, const NeededNodes& needed);

// INTERNAL for a value of another type that comes as an output of `node` from another process. No kernel brings one.
absl::Status CheckReceived(const Node& node, std::int32_t output, const Tensor& value);

// The error, and which node it was, as TensorFlow says it. REQUIRES: an error.
absl::Status WithNode(const absl::Status& status, const Node& node);

// Errors: USAGE for what the graph does not have, INVALID_ARGUMENT for feeding what is taken as a reference, and for a
// variable with names that are refused.
absl::StatusOr<std::unique_ptr<Plan>> MakePlan(const Graph& graph, const RunSpec& spec);

// The graph's plan for that spec; made and attached if there is none.
absl::StatusOr<const Plan*> PlanFor(const Graph& graph, const RunSpec& spec);

}  // namespace vigil

#endif  // VIGIL_CORE_SESSION_PLAN_H_
