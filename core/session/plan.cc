// From a spec to a plan: the Finder walks back from what is fetched and run to all that it needs; the Planner then goes
// over those nodes by their ids, which is an order in which every input comes before who wants it, and gives each value
// a slot. A variable has no value of its own: who wants it gets a step that reads it right then.
#include "vigil/core/session/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {
namespace {

absl::Status NotInGraph(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string::npos)
    return UsageError(fmt::format("The name '{}' refers to an Operation not in the graph.", name));
  return UsageError(fmt::format(
      "The name '{}' refers to a Tensor which does not exist. The operation, '{}', does not exist in the graph.", name,
      name.substr(0, colon)));
}

// What a spec needs: what is fetched or run, and what that needs, up to what is fed.
class Finder {
 public:
  Finder(const Graph& graph, const RunSpec& spec) : graph_(graph), spec_(spec) {}

  absl::StatusOr<NeededNodes> Find() {
    VIGIL_RETURN_IF_ERROR(TakeFeeds());
    VIGIL_RETURN_IF_ERROR(FindNeeded());
    return std::move(found_);
  }

 private:
  absl::Status TakeFeeds() {
    for (const Output feed : spec_.feeds) {
      if (!graph_.Has(feed)) return UsageError("A feed is not an output of a node of the session's graph.");
      found_.fed.push_back(feed);
    }
    std::ranges::sort(found_.fed);
    if (const auto twice = std::ranges::adjacent_find(found_.fed); twice != found_.fed.end()) {
      return UsageError(fmt::format("'{}' is fed twice.", graph_.NameOf(*twice)));
    }
    return absl::OkStatus();
  }

  bool IsFed(Output output) const { return std::ranges::binary_search(found_.fed, output); }

  absl::Status FindNeeded() {
    found_.needed.assign(static_cast<std::size_t>(graph_.size()), false);
    for (const std::string& name : spec_.unresolved) return NotInGraph(name);
    for (const Output fetch : spec_.fetches) {
      if (!graph_.Has(fetch)) return UsageError("A fetch is not an output of a node of the session's graph.");
      const Node& node = graph_.node(fetch.node);
      if (IsFed(fetch)) continue;
      if (node.def->is_resource && !node.def->read) {
        return UsageError(
            fmt::format("'{}' ({}) is a handle: it has no value to fetch.", graph_.NameOf(fetch), node.op));
      }
      Need(fetch.node);
    }
    for (const NodeId target : spec_.targets) {
      if (target < 0 || target >= graph_.size()) return UsageError("A target is not a node of the session's graph.");
      Need(target);
    }
    while (!waiting_.empty()) {
      const Node& node = graph_.node(waiting_.back());
      waiting_.pop_back();
      for (const Output input : node.inputs) {
        if (!IsFed(input)) Need(input.node);
      }
      for (const NodeId control : node.control_inputs) Need(control);
    }
    return absl::OkStatus();
  }

  void Need(NodeId id) {
    const auto at = static_cast<std::size_t>(id);
    if (found_.needed[at]) return;
    found_.needed[at] = true;
    waiting_.push_back(id);
  }

  const Graph& graph_;
  const RunSpec& spec_;
  NeededNodes found_;
  std::vector<NodeId> waiting_;
};

class Planner {
 public:
  Planner(const Graph& graph, const RunSpec& spec) : graph_(graph), spec_(spec), plan_(std::make_unique<Plan>()) {}

  absl::StatusOr<std::unique_ptr<Plan>> Make() {
    VIGIL_ASSIGN_OR_RETURN(found_, FindNeeded(graph_, spec_));
    for (const Output feed : spec_.feeds) values_.emplace(feed, ValueSource{plan_->slots++});
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (found_.needed[static_cast<std::size_t>(id)]) VIGIL_RETURN_IF_ERROR(AddSteps(id));
    }
    for (const Output fetch : spec_.fetches) AddFetch(fetch);
    AddReleases();
    VIGIL_CHECK(plan_->fetches.size() == spec_.fetches.size());
    plan_->spec = spec_;
    return std::move(plan_);
  }

 private:
  bool IsFed(Output output) const { return std::ranges::binary_search(found_.fed, output); }

  absl::Status AddSteps(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.def->constant) {
      values_.try_emplace({id, 0}, ValueSource{-1, &node.def->constant(node)});
      return absl::OkStatus();
    }
    if (node.def->is_resource) return absl::OkStatus();
    if (!node.def->compute) {
      if (node.output_types.empty()) return absl::OkStatus();
      return MakeStatus(Code::kUnimplemented, fmt::format("'{}': the Op '{}' has no kernel.", node.name, node.op));
    }
    PlanStep step{.node = &node, .kernel = &node.def->compute};
    std::vector<ValueSource> inputs;
    for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
      const Output input = node.inputs[static_cast<std::size_t>(i)];
      if (!node.def->TakesReference(i)) {
        inputs.push_back(ValueOf(input));
        continue;
      }
      if (IsFed(input)) {
        return MakeStatus(Code::kInvalidArgument, fmt::format("'{}' is fed, but '{}' takes a reference from it.",
                                                              graph_.NameOf(input), node.name));
      }
      inputs.emplace_back();
      if (step.holder == nullptr) step.holder = &HolderOf(input.node);
    }
    if (node.def->keeps_state && step.holder == nullptr) step.holder = &node;
    step.first_input = static_cast<std::int32_t>(plan_->inputs.size());  // after the reads that the inputs wanted
    plan_->inputs.insert(plan_->inputs.end(), inputs.begin(), inputs.end());
    step.first_output = plan_->slots;
    plan_->slots += static_cast<std::int32_t>(node.output_types.size());
    plan_->steps.push_back(step);
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(node.output_types.size()); ++i) {
      values_.try_emplace({id, i}, ValueSource{step.first_output + i});  // a fed value stays what it is
    }
    return absl::OkStatus();
  }

  // The value of a node that has run; a variable's is read anew for each who wants it.
  ValueSource ValueOf(Output output) {
    if (const auto it = values_.find(output); it != values_.end()) return it->second;
    return Read(graph_.node(output.node));
  }

  ValueSource Read(const Node& variable) {
    const std::int32_t slot = plan_->slots++;
    plan_->steps.push_back(
        {.node = &variable, .kernel = &variable.def->read, .holder = &variable, .first_output = slot});
    return {slot};
  }

  // What a reference refers to: the node itself, or what its own first input refers to.
  const Node& HolderOf(NodeId id) const {
    const Node* node = &graph_.node(id);
    while (node->def->forwards_ref) {
      VIGIL_CHECK(!node->inputs.empty());
      node = &graph_.node(node->inputs[0].node);
    }
    return *node;
  }

  void AddFetch(Output fetch) {
    const auto [it, added] = values_.try_emplace(fetch);
    if (added) it->second = Read(graph_.node(fetch.node));  // once, however often it is fetched
    plan_->fetches.push_back(it->second);
  }

  // Each slot belongs to the last step that reads or fills it, unless it is fetched.
  void AddReleases() {
    constexpr std::int32_t kNobody = -1;
    std::vector<std::int32_t> last(static_cast<std::size_t>(plan_->slots), kNobody);
    for (std::size_t i = 0; i < plan_->steps.size(); ++i) {
      const PlanStep& step = plan_->steps[i];
      const auto use = [&](std::int32_t slot) {
        if (slot >= 0) last[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(i);
      };
      const bool reads = step.kernel == &step.node->def->read;
      const std::size_t inputs = reads ? 0 : step.node->inputs.size();
      for (std::size_t k = 0; k < inputs; ++k) use(plan_->inputs[static_cast<std::size_t>(step.first_input) + k].slot);
      const std::size_t outputs = reads ? 1 : step.node->output_types.size();
      for (std::size_t k = 0; k < outputs; ++k) use(step.first_output + static_cast<std::int32_t>(k));
    }
    for (const ValueSource& fetch : plan_->fetches) {
      if (fetch.slot >= 0) last[static_cast<std::size_t>(fetch.slot)] = kNobody;
    }
    std::vector<std::vector<std::int32_t>> by_step(plan_->steps.size());
    for (std::size_t slot = 0; slot < last.size(); ++slot) {
      if (last[slot] != kNobody)
        by_step[static_cast<std::size_t>(last[slot])].push_back(static_cast<std::int32_t>(slot));
    }
    for (std::size_t i = 0; i < by_step.size(); ++i) {
      plan_->steps[i].first_release = static_cast<std::int32_t>(plan_->releases.size());
      plan_->releases.insert(plan_->releases.end(), by_step[i].begin(), by_step[i].end());
      plan_->steps[i].end_release = static_cast<std::int32_t>(plan_->releases.size());
    }
  }

  const Graph& graph_;
  const RunSpec& spec_;
  std::unique_ptr<Plan> plan_;
  NeededNodes found_;
  std::map<Output, ValueSource> values_;  // that exist once their node has run, or were fed
};

std::uint64_t HashOf(const RunSpec& spec) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](std::int64_t value) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15;
  };
  for (const Output feed : spec.feeds) mix(feed.node), mix(feed.index);
  mix(-1);
  for (const Output fetch : spec.fetches) mix(fetch.node), mix(fetch.index);
  mix(-2);
  for (const NodeId target : spec.targets) mix(target);
  return hash;
}

}  // namespace

absl::StatusOr<NeededNodes> FindNeeded(const Graph& graph, const RunSpec& spec) { return Finder(graph, spec).Find(); }

absl::Status CheckFeeds(const Graph& graph, const std::vector<Output>& feeds, std::span<const Tensor> values) {
  if (values.size() != feeds.size()) {
    return UsageError(fmt::format("{} values are given for {} feeds.", values.size(), feeds.size()));
  }
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    const DType wanted = graph.TypeOf(feeds[i]);
    if (values[i].dtype() == wanted) continue;
    return MakeStatus(Code::kInvalidArgument,
                      fmt::format("Cannot feed a value of type {} for '{}', which has type {}",
                                  DTypeName(values[i].dtype()), graph.NameOf(feeds[i]), DTypeName(wanted)));
  }
  return absl::OkStatus();
}

absl::Status CheckReceived(const Node& node, std::int32_t output, const Tensor& value) {
  const DType declared = node.output_types[static_cast<std::size_t>(output)];
  if (value.dtype() == declared) return absl::OkStatus();
  return MakeStatus(Code::kInternal,
                    fmt::format("Output {} of type {} does not match declared output type {} for node {{{{node {}}}}}",
                                output, DTypeName(value.dtype()), DTypeName(declared), node.name));
}

absl::StatusOr<std::unique_ptr<Plan>> MakePlan(const Graph& graph, const RunSpec& spec) {
  return Planner(graph, spec).Make();
}

absl::StatusOr<const Plan*> PlanFor(const Graph& graph, const RunSpec& spec) {
  const std::uint64_t hash = HashOf(spec);
  for (const Attachment* at = graph.attachments(); at != nullptr; at = at->next()) {
    if (at->kind() != Plan::kKind) continue;
    const auto* const plan = static_cast<const Plan*>(at);
    if (plan->hash == hash && plan->spec == spec) return plan;
  }
  VIGIL_ASSIGN_OR_RETURN(std::unique_ptr<Plan> plan, MakePlan(graph, spec));
  plan->hash = hash;
  const Plan* const kept = plan.get();
  graph.Attach(std::move(plan));
  return kept;
}

}  // namespace vigil
