#include "vigil/core/cluster/worker/registered_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/methods.h"
#include "vigil/core/cluster/worker.pb.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/tensor/tensor_proto.h"
#include "vigil/core/tensor/tensor_wire.h"

namespace vigil {
namespace {

const std::string& TextAttr(const Node& node, std::string_view name) {
  return std::get<std::string>(node.attrs.find(name)->second);
}

absl::Status MalformedKey(std::string_view key) {
  return MakeStatus(Code::kInvalidArgument, fmt::format("Invalid  rendezvous key: {}", key));
}

}  // namespace

std::string RendezvousKey(const Node& node) {
  const auto incarnation = std::get<std::int64_t>(node.attrs.find("send_device_incarnation")->second);
  return fmt::format("{};{:016x};{};{};0:0", TextAttr(node, "send_device"), static_cast<std::uint64_t>(incarnation),
                     TextAttr(node, "recv_device"), TextAttr(node, "tensor_name"));
}

absl::StatusOr<ParsedRendezvousKey> ParseRendezvousKey(std::string_view key) {
  const std::size_t first = key.find(';');
  if (first == std::string_view::npos) return MalformedKey(key);
  const std::size_t second = key.find(';', first + 1);
  if (second == std::string_view::npos) return MalformedKey(key);
  ParsedRendezvousKey out{.send_device = key.substr(0, first)};
  const char* const end = key.data() + second;
  const auto [stop, error] = std::from_chars(key.data() + first + 1, end, out.send_incarnation, 16);
  if (error != std::errc() || stop != end) return MalformedKey(key);
  return out;
}

// What one run at a time works with.
class RegisteredGraph::Run final : public Rendezvous {
 public:
  Run(RegisteredGraph& graph, const Lane& lane)
      : graph_(graph),
        lane_(lane),
        state_(graph.env_, graph.graph_, *lane.plan, graph.own_ != nullptr ? *graph.own_ : graph.resources_,
               graph.resources_, cancellation_) {}

  // A run that was cancelled is not used again.
  bool reusable() const { return !cancellation_.cancelled(); }

  absl::Status Execute(StepRendezvous& step, const RunRequest& request, std::vector<Tensor>* fetched) {
    VIGIL_RETURN_IF_ERROR(step.BeginRun(&cancellation_, graph_.sends_.size()));
    const Ending ending(step);
    step_ = &step;
    for (std::size_t i = 0; i < graph_.recvs_.size(); ++i) Fetch(i, request.master);
    const RunCall call{.spec = lane_.plan->spec,
                       .feed_values = request.feeds,
                       .options = request.options,
                       .metadata = request.metadata};
    return state_.Run(call, request.deadline, graph_.resources_.generation(), fetched, this);
  }

  std::int64_t step_id() const override { return step_->step_id(); }

  absl::Status Send(const Node& send, const Tensor& value) override {
    const auto edge = std::ranges::lower_bound(graph_.sends_, &send, std::less<>(), &SendEdge::node);
    return step_->Send(edge->key, value);
  }

  absl::StatusOr<Tensor> Recv(const Node& recv, Time deadline) override {
    const auto edge = std::ranges::find(graph_.recvs_, &recv, &RecvEdge::node);
    NetworkReply reply = step_->Await(static_cast<std::size_t>(edge - graph_.recvs_.begin()), deadline);
    if (!reply.ok()) return reply.status();
    VIGIL_ASSIGN_OR_RETURN(Tensor value, ParseReply(*reply));
    if (value.valid()) VIGIL_RETURN_IF_ERROR(CheckReceived(recv, 0, value));  // else it is dead
    return value;
  }

 private:
  static absl::StatusOr<Tensor> ParseReply(const absl::Cord& reply) {
    if (std::optional<absl::StatusOr<Tensor>> value =
            ParseOnlyTensor(proto::RecvTensorResponse::kTensorFieldNumber, reply);
        value.has_value()) {
      return *std::move(value);
    }
    proto::RecvTensorResponse response;
    if (!ParseBody(reply, &response)) return MakeStatus(Code::kInternal, "RecvTensor: malformed response");
    if (response.is_dead()) return Tensor();
    return FromProto(response.tensor());
  }

  // Also when the task is killed.
  class Ending {
   public:
    explicit Ending(StepRendezvous& step) : step_(step) {}
    ~Ending() { step_.EndRun(); }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;

   private:
    StepRendezvous& step_;
  };

  void Fetch(std::size_t i, std::uint64_t master) {
    using Request = proto::RecvTensorRequest;
    const RecvEdge& edge = graph_.recvs_[i];
    std::string body;
    body.reserve(edge.request.size() + 40);
    body = edge.request;
    AppendIntegerField(Request::kStepIdFieldNumber, step_->step_id(), &body);
    AppendIntegerField(Request::kRequestIdFieldNumber, graph_.ids_.Next(), &body);
    AppendIntegerField(Request::kMasterIncarnationFieldNumber, static_cast<std::int64_t>(master), &body);
    step_->Fetch(i, {.to = edge.from->address,
                     .method = methods::kRecvTensor.text(),
                     .body = absl::Cord(std::move(body)),
                     .keepalive = graph_.keepalive_});
  }

  RegisteredGraph& graph_;
  const Lane& lane_;
  Cancellation cancellation_;
  ExecutorState state_;
  StepRendezvous* step_ = nullptr;
};

RegisteredGraph::RegisteredGraph(const Env& env, const OpRegistry& ops, ResourceManager& resources, RequestIds& ids,
                                 Duration keepalive)
    : env_(env), resources_(resources), ids_(ids), keepalive_(keepalive), graph_(ops) {}
RegisteredGraph::~RegisteredGraph() = default;

absl::StatusOr<std::shared_ptr<RegisteredGraph>> RegisteredGraph::Create(const Env& env, const OpRegistry& ops,
                                                                         const proto::GraphDef& def,
                                                                         const TaskAddresses& cluster,
                                                                         ResourceManager& resources, RequestIds& ids,
                                                                         Duration keepalive) {
  std::shared_ptr<RegisteredGraph> made(new RegisteredGraph(env, ops, resources, ids, keepalive));
  VIGIL_RETURN_IF_ERROR(ImportGraphDef(def, made->graph_));
  made->graph_.Finalize();
  VIGIL_RETURN_IF_ERROR(made->FindEdges(cluster));
  return made;
}

bool RegisteredGraph::KeepsOwn() const {
  NodeId id = 0;
  while (id < graph_.size() && !graph_.node(id).IsPerSession()) ++id;
  return id < graph_.size();
}

absl::Status RegisteredGraph::FindEdges(const TaskAddresses& cluster) {
  for (NodeId id = 0; id < graph_.size(); ++id) {
    const Node& node = graph_.node(id);
    if (node.op == "_Send") {
      sends_.push_back({&node, RendezvousKey(node)});
    } else if (node.op == "_Recv") {
      const std::string& device = TextAttr(node, "send_device");
      const TaskAddress* const from = cluster.FindByDevice(device);
      if (from == nullptr) {
        return MakeStatus(Code::kInvalidArgument, fmt::format("No worker known as {}", device));
      }
      RecvEdge& edge = recvs_.emplace_back(RecvEdge{&node, {}, from});
      AppendTextField(proto::RecvTensorRequest::kRendezvousKeyFieldNumber, RendezvousKey(node), &edge.request);
    }
  }
  std::ranges::sort(sends_, std::less<>(), &SendEdge::node);
  return absl::OkStatus();
}

absl::StatusOr<RegisteredGraph::Lane*> RegisteredGraph::AddLane(std::vector<std::string> feeds,
                                                                std::vector<std::string> fetches) {
  RunSpec spec;
  for (const std::string& name : feeds) {
    const std::optional<Output> feed = graph_.FindOutput(name);
    if (!feed.has_value()) return UsageError(fmt::format("The graph has no '{}' to feed.", name));
    spec.feeds.push_back(*feed);
  }
  for (const std::string& name : fetches) {
    const std::optional<Output> fetch = graph_.FindOutput(name);
    if (!fetch.has_value()) return UsageError(fmt::format("The graph has no '{}' to fetch.", name));
    spec.fetches.push_back(*fetch);
  }
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (std::ranges::find(spec.feeds, id, &Output::node) == spec.feeds.end()) spec.targets.push_back(id);
  }
  VIGIL_ASSIGN_OR_RETURN(std::unique_ptr<Plan> plan, MakePlan(graph_, spec));
  SpinGuard lock(lock_);
  for (Lane& lane : lanes_) {
    if (lane.feeds == feeds && lane.fetches == fetches) return &lane;  // another task was here first
  }
  lanes_.push_back({std::move(feeds), std::move(fetches), std::move(plan), {}});
  return &lanes_.back();
}

absl::Status RegisteredGraph::Execute(Lane& lane, StepRendezvous& step, const RunRequest& request,
                                      std::vector<Tensor>* fetched) {
  std::unique_ptr<Run> run;
  {
    SpinGuard lock(lock_);
    if (!lane.idle.empty()) {
      run = std::move(lane.idle.back());
      lane.idle.pop_back();
    }
  }
  if (run == nullptr) run = std::make_unique<Run>(*this, lane);
  absl::Status status = run->Execute(step, request, fetched);
  if (run->reusable()) {
    SpinGuard lock(lock_);
    lane.idle.push_back(std::move(run));
  }
  return status;
}

}  // namespace vigil
