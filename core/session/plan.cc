// From a spec to a plan: the Finder walks back from what is fetched and run to all that it needs; the Planner then goes
// over those nodes by their ids, which is an order in which every input comes before who wants it, and gives each value
// a slot. A variable has no value of its own: who wants it gets a step that reads it right then.
#include "vigil/core/session/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/session/read_behind.h"

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

// As TensorFlow's ContainerInfo::Init.
absl::Status CheckNames(const Node& resource) {
  static const std::string kNone;
  const auto begins = [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.'; };
  const auto goes_on = [&begins](char c) { return begins(c) || c == '-' || c == '/'; };
  const std::string& container = KernelContext::AttrOr(resource, "container", kNone);
  if (!container.empty() && !(begins(container[0]) && std::ranges::all_of(container, goes_on))) {
    return MakeStatus(Code::kInvalidArgument, fmt::format("container contains invalid characters: {}", container));
  }
  const std::string& shared_name = KernelContext::AttrOr(resource, "shared_name", kNone);
  if (shared_name.starts_with('_')) {
    return MakeStatus(Code::kInvalidArgument, fmt::format("shared_name cannot start with '_':{}", shared_name));
  }
  return absl::OkStatus();
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
      if (graph_.IsHandle(fetch)) {
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
    conditional_ = FindConditional(graph_, found_);
    conditions_.resize(conditional_.size());
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
  // Flags of which none may be set.
  using Flags = std::vector<std::int32_t>;

  struct NodeConditions {
    Flags needs;             // the node lives if none of these is set
    std::int32_t flag = -1;  // its own: ControlStep::flag
  };

  bool IsFed(Output output) const { return std::ranges::binary_search(found_.fed, output); }

  absl::Status AddSteps(NodeId id) {
    const Node& node = graph_.node(id);
    FindConditions(id);
    if (node.def->constant) {
      if (!Conditions(id).empty()) return AddConstantStep(id);
      values_.try_emplace({id, 0}, ValueSource{-1, &node.def->constant(node)});
      return absl::OkStatus();
    }
    if (node.def->is_resource) return AddCheckOfNames(id);
    const bool only_passes_handle = node.def->passes_handles && node.refers_to != kNoNode;
    if (only_passes_handle && node.def->control_flow == ControlFlow::kNone) return absl::OkStatus();
    if (!node.def->compute) {
      if (node.output_types.empty()) return absl::OkStatus();
      return MakeStatus(Code::kUnimplemented, fmt::format("'{}': the Op '{}' has no kernel.", node.name, node.op));
    }
    PlanStep step{.node = &node, .kernel = &node.def->compute};
    std::vector<ValueSource> inputs;
    for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
      const Output input = node.inputs[static_cast<std::size_t>(i)];
      if (!node.TakesReference(i)) {
        inputs.push_back(ValueOf(ReadBehind(graph_, found_.fed, node, input), Conditions(id)));
        continue;
      }
      if (IsFed(input)) {
        return MakeStatus(Code::kInvalidArgument, fmt::format("'{}' is fed, but '{}' takes a reference from it.",
                                                              graph_.NameOf(input), node.name));
      }
      inputs.emplace_back();
      if (step.holder == nullptr) step.holder = &graph_.node(graph_.node(input.node).refers_to);
    }
    if (node.def->fills_resource || (node.def->keeps_state && step.holder == nullptr)) step.holder = &node;
    step.first_input = static_cast<std::int32_t>(plan_->inputs.size());  // after the reads that the inputs wanted
    plan_->inputs.insert(plan_->inputs.end(), inputs.begin(), inputs.end());
    step.first_output = plan_->slots;
    plan_->slots += static_cast<std::int32_t>(node.output_types.size());
    AddStep(step, Conditions(id), OwnFlag(id));
    if (node.def->refers_by_any_output && node.refers_to != kNoNode) return absl::OkStatus();  // read by who wants it
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(node.output_types.size()); ++i) {
      values_.try_emplace({id, i}, ValueSource{step.first_output + i});  // a fed value stays what it is
    }
    return absl::OkStatus();
  }

  // A resource takes no step, but where its names are refused.
  absl::Status AddCheckOfNames(NodeId id) {
    static const Kernel kRefuse = [](KernelContext& c) { return CheckNames(c.node()); };
    const Node& node = graph_.node(id);
    if (node.def->names_are_checked == NamesAreChecked::kNot) return absl::OkStatus();
    const absl::Status status = CheckNames(node);
    if (status.ok()) return status;
    if (node.def->names_are_checked == NamesAreChecked::kBeforeTheRun) return WithNode(status, node);
    AddStep({.node = &node, .kernel = &kRefuse, .first_output = plan_->slots}, Conditions(id));
    plan_->slots += static_cast<std::int32_t>(node.output_types.size());
    return absl::OkStatus();
  }

  // One that may be dead: its value is there only if it lives.
  absl::Status AddConstantStep(NodeId id) {
    static const Kernel kGive = [](KernelContext& c) {
      c.set_output(0, c.node().def->constant(c.node()));
      return absl::OkStatus();
    };
    const std::int32_t slot = plan_->slots++;
    AddStep({.node = &graph_.node(id), .kernel = &kGive, .first_output = slot}, Conditions(id));
    values_.try_emplace({id, 0}, ValueSource{slot});
    return absl::OkStatus();
  }

  // The value of a node that has run; a variable's is read anew for each who wants it, if that one is not dead.
  ValueSource ValueOf(Output output, const Flags& conditions) {
    if (const auto it = values_.find(output); it != values_.end()) return it->second;
    const Node& from = graph_.node(output.node);
    return Read(graph_.node(from.refers_to),
                from.def->is_resource ? conditions : Joined(conditions, ConditionsOf(output)));
  }

  ValueSource Read(const Node& variable, const Flags& conditions) {
    const std::int32_t slot = plan_->slots++;
    AddStep({.node = &variable, .kernel = &variable.def->read, .holder = &variable, .first_output = slot}, conditions);
    return {slot};
  }

  void AddFetch(Output fetch) {
    const Flags conditions = ConditionsOf(fetch);
    const auto [it, added] = values_.try_emplace(fetch);
    // Once, however often it is fetched.
    if (added) it->second = Read(graph_.node(graph_.node(fetch.node).refers_to), conditions);
    plan_->fetches.push_back(it->second);
    if (!conditional_.empty()) plan_->fetch_control.push_back(ControlOf(conditions));
  }

  static Flags Joined(const Flags& a, const Flags& b) {
    Flags out;
    std::ranges::set_union(a, b, std::back_inserter(out));
    return out;
  }

  const Flags& Conditions(NodeId id) const {
    static const Flags kNone;
    return conditions_.empty() ? kNone : conditions_[static_cast<std::size_t>(id)].needs;
  }
  std::int32_t OwnFlag(NodeId id) const {
    return conditions_.empty() ? -1 : conditions_[static_cast<std::size_t>(id)].flag;
  }

  // What must live for the value to live.
  Flags ConditionsOf(Output output) const {
    if (conditions_.empty() || IsFed(output)) return {};
    if (graph_.node(output.node).def->control_flow == ControlFlow::kSwitch)
      return {OwnFlag(output.node) + output.index};
    return ConditionsAfter(output.node);
  }
  // ... for what only runs after the node.
  Flags ConditionsAfter(NodeId id) const {
    const bool is_switch = graph_.node(id).def->control_flow == ControlFlow::kSwitch;
    return OwnFlag(id) >= 0 && !is_switch ? Flags{OwnFlag(id)} : Conditions(id);
  }

  void FindConditions(NodeId id) {
    if (conditional_.empty()) return;
    const Node& node = graph_.node(id);
    NodeConditions& out = conditions_[static_cast<std::size_t>(id)];
    const ControlFlow kind = node.def->control_flow;
    if (kind != ControlFlow::kMerge) {
      for (const Output input : node.inputs) out.needs = Joined(out.needs, ConditionsOf(input));
      for (const NodeId control : node.control_inputs) out.needs = Joined(out.needs, ConditionsAfter(control));
    }
    const bool has_flag =
        kind == ControlFlow::kSwitch || (kind != ControlFlow::kNone && conditional_[static_cast<std::size_t>(id)]);
    if (has_flag) out.flag = plan_->flags;
    if (has_flag) plan_->flags += kind == ControlFlow::kSwitch ? 2 : 1;
  }

  ControlStep ControlOf(const Flags& conditions) {
    ControlStep control{.first_condition = static_cast<std::int32_t>(plan_->conditions.size())};
    plan_->conditions.insert(plan_->conditions.end(), conditions.begin(), conditions.end());
    control.end_condition = static_cast<std::int32_t>(plan_->conditions.size());
    return control;
  }

  void AddStep(const PlanStep& step, const Flags& conditions, std::int32_t flag = -1) {
    plan_->steps.push_back(step);
    if (conditional_.empty()) return;
    ControlStep control = ControlOf(conditions);
    if (step.kernel == &step.node->def->compute) control.kind = step.node->def->control_flow;
    control.flag = flag;
    plan_->control.push_back(control);
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
      const bool reads = step.kernel != &step.node->def->compute;  // a variable, or a constant
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
  std::vector<bool> conditional_;           // FindConditional
  std::vector<NodeConditions> conditions_;  // by node; empty if nothing may be dead
  std::map<Output, ValueSource> values_;    // that exist once their node has run, or were fed
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

std::vector<bool> FindConditional(const Graph& graph, const NeededNodes& needed) {
  std::vector<bool> conditional;
  const auto may_be_dead = [&](NodeId id) { return !conditional.empty() && conditional[static_cast<std::size_t>(id)]; };
  const auto value_may_be_dead = [&](Output output) {
    if (std::ranges::binary_search(needed.fed, output)) return false;
    return graph.node(output.node).def->control_flow == ControlFlow::kSwitch || may_be_dead(output.node);
  };
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!needed.needed[static_cast<std::size_t>(id)]) continue;
    const Node& node = graph.node(id);
    const ControlFlow kind = node.def->control_flow;
    bool dead = false;
    if (kind == ControlFlow::kMerge) {
      dead = std::ranges::all_of(node.inputs, value_may_be_dead);
    } else {
      dead =
          std::ranges::any_of(node.inputs, value_may_be_dead) || std::ranges::any_of(node.control_inputs, may_be_dead);
      const auto may = node.attrs.find(kMayBeDead);
      if (kind == ControlFlow::kRecv && may != node.attrs.end() && may->second == AttrValue(true)) dead = true;
    }
    if (!dead && kind != ControlFlow::kSwitch) continue;
    conditional.resize(static_cast<std::size_t>(graph.size()));
    conditional[static_cast<std::size_t>(id)] = dead;
  }
  return conditional;
}

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

absl::Status WithNode(const absl::Status& status, const Node& node) {
  return WithMessage(status, fmt::format("{}\n\t [[{{{{node {}}}}}]]", MessageOf(status), node.name));
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
