#include "vigil/proxy/classifier.h"

#include <algorithm>
#include <set>
#include <utility>

#include "vigil/core/cluster/master.pb.h"
#include "vigil/core/cluster/methods.h"
#include "vigil/core/graph/graph.pb.h"

namespace vigil::proxy {
namespace {

using Names = std::set<std::string_view>;

bool Has(const Names& ops, std::initializer_list<std::string_view> wanted) {
  return std::ranges::any_of(wanted, [&ops](std::string_view op) { return ops.contains(op); });
}

bool HasPrefix(const Names& ops, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(ops, [prefixes](std::string_view op) {
    return std::ranges::any_of(prefixes, [op](std::string_view prefix) { return op.starts_with(prefix); });
  });
}

bool Trains(const Names& ops) {
  return HasPrefix(ops, {"Apply", "ResourceApply", "SparseApply", "ResourceSparseApply", "AssignAdd", "AssignSub",
                         "Scatter", "ResourceScatter"}) ||
         Has(ops, {"AccumulatorApplyGradient", "AccumulatorTakeGradient", "SparseAccumulatorApplyGradient",
                   "SparseAccumulatorTakeGradient"});
}

// TensorFlow reads the global step through a check that it is initialised, and adds nothing to it.
bool ReadsOnly(const Names& ops) {
  static constexpr std::string_view kReads[] = {"Add",
                                                "AddV2",
                                                "Const",
                                                "Identity",
                                                "If",
                                                "IsVariableInitialized",
                                                "Merge",
                                                "ReadVariableOp",
                                                "RefSwitch",
                                                "StatelessIf",
                                                "Switch",
                                                "VarHandleOp",
                                                "VarIsInitializedOp",
                                                "Variable",
                                                "VariableV2"};
  return std::ranges::all_of(ops, [](std::string_view op) { return std::ranges::binary_search(kReads, op); });
}

// "^name", "name:1", "name".
std::string NodeOf(std::string_view tensor) {
  if (tensor.starts_with('^')) tensor.remove_prefix(1);
  return std::string(tensor.substr(0, tensor.find(':')));
}

// With its output, as a feed names it.
std::string TensorOf(std::string_view tensor) {
  return tensor.find(':') == std::string_view::npos ? std::string(tensor) + ":0" : std::string(tensor);
}

}  // namespace

struct Classifier::Graph {
  struct Node {
    std::string op;
    std::vector<std::string> inputs;
  };
  std::map<std::string, Node, std::less<>> nodes;

  void Add(const proto::GraphDef& graph) {
    for (const proto::NodeDef& node : graph.node())
      nodes[node.name()] = {node.op(), {node.input().begin(), node.input().end()}};
  }

  CallKind KindOf(const proto::RunStepRequest& step) const;
};

CallKind Classifier::Graph::KindOf(const proto::RunStepRequest& step) const {
  std::set<std::string> fed;
  for (const proto::NamedTensorProto& feed : step.feed()) fed.insert(TensorOf(feed.name()));
  std::vector<std::string> waiting;
  const auto want = [&](const std::string& tensor) {
    if (!fed.contains(TensorOf(tensor))) waiting.push_back(NodeOf(tensor));
  };
  for (const std::string& fetch : step.fetch()) want(fetch);
  for (const std::string& target : step.target()) waiting.push_back(NodeOf(target));
  std::set<std::string> seen;
  Names ops;
  bool reads_step = false;
  while (!waiting.empty()) {
    const auto node = nodes.find(waiting.back());
    waiting.pop_back();
    if (node == nodes.end() || !seen.insert(node->first).second) continue;
    ops.insert(node->second.op);
    reads_step = reads_step || node->first == "global_step" || node->first.ends_with("/global_step");
    for (const std::string& input : node->second.inputs) want(input);
  }
  if (HasPrefix(ops, {"Restore"})) return CallKind::kRestore;
  if (HasPrefix(ops, {"Save", "MergeV2Checkpoints"})) return CallKind::kSave;
  if (Trains(ops)) return CallKind::kTrain;
  if (HasPrefix(ops, {"QueueEnqueue"})) return CallKind::kEnqueue;
  if (Has(ops, {"Assign", "AssignVariableOp", "InitializeTable", "InitializeTableV2", "LookupTableImportV2"}))
    return CallKind::kInit;
  if (reads_step && ReadsOnly(ops)) return CallKind::kReadStep;
  if (Has(ops, {"ReportUninitializedVariables", "IsVariableInitialized", "VarIsInitializedOp"}))
    return CallKind::kReady;
  return CallKind::kRun;
}

Classifier::Classifier(Tasks& tasks) : mutex_(tasks.NewMutex("classifier")) {}
Classifier::~Classifier() = default;

std::shared_ptr<const Classifier::Graph> Classifier::GraphOf(const std::string& session) const {
  const MutexLock lock(*mutex_);
  const auto graph = graphs_.find(session);
  return graph == graphs_.end() ? std::make_shared<const Graph>() : graph->second;
}

CallInfo Classifier::Look(std::string_view method, const absl::Cord& request) const {
  CallInfo info;
  const auto session_of = [&](auto message, CallKind kind) {
    if (!ParseBody(request, &message)) return;
    info.kind = kind;
    info.session = message.session_handle();
  };
  if (method == methods::kCreateSession.path) {
    info.kind = CallKind::kCreateSession;
  } else if (method == methods::kReset.path) {
    info.kind = CallKind::kReset;
  } else if (method == methods::kExtendSession.path) {
    session_of(proto::ExtendSessionRequest(), CallKind::kExtendSession);
  } else if (method == methods::kCloseSession.path) {
    session_of(proto::CloseSessionRequest(), CallKind::kCloseSession);
  } else if (method == methods::kListDevices.path) {
    session_of(proto::ListDevicesRequest(), CallKind::kListDevices);
  } else if (method == methods::kRunStep.path) {
    proto::RunStepRequest step;
    if (!ParseBody(request, &step)) return info;
    info.session = step.session_handle();
    info.kind = GraphOf(info.session)->KindOf(step);
    info.fetches = {step.fetch().begin(), step.fetch().end()};
    info.targets = {step.target().begin(), step.target().end()};
    info.takes_errors_in_body = step.store_errors_in_response_body();
  }
  return info;
}

void Classifier::Answered(std::string_view method, const absl::Cord& request, const absl::Cord& reply) {
  const auto grow = [this](const std::string& session, const proto::GraphDef& more) {
    auto grown = std::make_shared<Graph>(*GraphOf(session));
    grown->Add(more);
    const MutexLock lock(*mutex_);
    graphs_[session] = std::move(grown);
  };
  if (method == methods::kCreateSession.path) {
    proto::CreateSessionRequest asked;
    proto::CreateSessionResponse answer;
    proto::GraphDef graph;
    if (ParseBody(request, &asked) && ParseBody(reply, &answer) && graph.ParseFromString(asked.graph_def()))
      grow(answer.session_handle(), graph);
  } else if (method == methods::kExtendSession.path) {
    proto::ExtendSessionRequest asked;
    if (ParseBody(request, &asked)) grow(asked.session_handle(), asked.graph_def());
  } else if (method == methods::kCloseSession.path) {
    proto::CloseSessionRequest asked;
    if (!ParseBody(request, &asked)) return;
    const MutexLock lock(*mutex_);
    graphs_.erase(asked.session_handle());
  }
}

}  // namespace vigil::proxy
