// What other tasks may send to a worker and to a master: several requests, one after the other, to services of their
// own.
#include <array>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/cluster/cluster_spec.h"
#include "vigil/core/cluster/master/master.h"
#include "vigil/core/cluster/methods.h"
#include "vigil/core/cluster/task_addresses.h"
#include "vigil/core/cluster/worker/worker_service.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/tensor/tensor_proto.h"
#include "vigil/fuzz/bounded_new.h"
#include "vigil/fuzz/fuzz_env.h"
#include "vigil/fuzz/mutate.h"
#include "vigil/fuzz/targets.h"

namespace vigil::fuzz {
namespace {

constexpr int kMostRequests = 16;

// By the kind of a part: inputs that were kept name them by their places. All of the table, and one that there is not.
constexpr auto kMethods = std::to_array<std::string_view>(
    {methods::kGetStatus.path, methods::kRegisterGraph.path, methods::kRunGraph.path, methods::kRecvTensor.path,
     methods::kCleanupGraph.path, methods::kDeregisterGraph.path, methods::kCleanupAll.path,
     methods::kCreateSession.path, methods::kRunStep.path, methods::kExtendSession.path, methods::kListDevices.path,
     methods::kCloseSession.path, methods::kReset.path, "/tensorflow.WorkerService/Nothing", methods::kKeepSession.path,
     methods::kMakeCallable.path, methods::kRunCallable.path, methods::kReleaseCallable.path});
static_assert(kMethods.size() == std::size(kMethodNames) + 1, "a request that is never sent is never tried");
enum Kind : std::uint8_t {
  kRegisterGraph = 1,
  kRunGraph = 2,
  kRecvTensor = 3,
  kCleanupGraph = 4,
  kCreateSession = 7,
  kRunStep = 8,
  kCloseSession = 11
};

class Request final : public IncomingCall {
 public:
  Request(std::string_view method, std::string_view body) : method_(method), body_(std::string(body)) {}
  const std::string& method() const override { return method_; }
  const absl::Cord& body() const override { return body_; }
  bool cancelled() const override { return false; }
  void OnCancelled(std::function<void()>) override {}
  std::function<void(NetworkReply)> AnswerLater() override {
    return [](NetworkReply) {};
  }

 private:
  const std::string method_;
  const absl::Cord body_;
};

// A worker and a master, alone in their cluster.
struct Services {
  Services() {
    env = fuzz.env();
    const absl::StatusOr<ClusterSpec> cluster =
        ClusterSpec::Create(ClusterSpec::Jobs{{"worker", std::vector<std::string>{"a:1"}}});
    VIGIL_CHECK(cluster.ok());
    absl::StatusOr<TaskAddresses> addresses = TaskAddresses::Create(*cluster, "worker", 0);
    VIGIL_CHECK(addresses.ok());
    worker = std::make_shared<WorkerService>(env, BuiltinOps(), *std::move(addresses));
    master = std::make_shared<Master>(env, BuiltinOps(), worker);
  }

  NetworkReply Ask(std::uint8_t kind, std::string_view body) {
    const std::string_view method = kMethods[kind % kMethods.size()];
    Request call(method, body);
    try {
      return CallGuarded(
          [&] { return method.starts_with(kWorkerServicePrefix) ? worker->Handle(call) : master->Handle(call); });
    } catch (const TaskKilled&) {  // it would wait for ever
      return MakeStatus(Code::kDeadlineExceeded, "nothing comes");
    }
  }

  FuzzEnv fuzz;
  Env env;
  std::shared_ptr<WorkerService> worker;
  std::shared_ptr<Master> master;
};

std::string SomeGraph() {
  Graph graph(BuiltinOps());
  Builder b(graph);
  b.device = "/job:worker/replica:0/task:0/device:CPU:0";
  const Output in = ops::Placeholder(b, "in", DType::kFloat);
  const ops::Variable v = ops::MakeVariable(b, "v", b.Const("c", Tensor::Vector<float>({1, 2})));
  b.Op("AddV2", {in, v.read}, {.name = "out"});
  VIGIL_CHECK(b.status().ok());
  return **GraphDefBytes(graph);
}

}  // namespace

int FuzzWire(Bytes bytes) {
  const BoundedNew less(kMostBytesOfAKernel);
  Services services;
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::uint8_t kind = 0;
  std::string_view body;
  for (int i = 0; i < kMostRequests && TakePart(&rest, &kind, &body); ++i) services.Ask(kind, body).IgnoreError();
  services.worker->EndAllSteps(MakeStatus(Code::kCancelled, "the end"));
  services.master->CloseAll();
  return 0;
}

std::vector<std::string> WireSeeds() {
  Services services;  // gives the handles that it would give to the same requests
  std::string seed;
  const auto ask = [&](Kind kind, const google::protobuf::MessageLite& request,
                       google::protobuf::MessageLite* response) {
    const std::string body = request.SerializeAsString();
    AppendPart(kind, body, &seed);
    const NetworkReply reply = services.Ask(kind, body);
    if (reply.ok() && response != nullptr) VIGIL_CHECK(ParseBody(*reply, response));
  };
  proto::RegisterGraphRequest graph;
  graph.set_graph_def(SomeGraph());
  proto::RegisterGraphResponse registered;
  ask(kRegisterGraph, graph, &registered);
  proto::RunGraphRequest run;
  run.set_graph_handle(registered.graph_handle());
  run.set_step_id(1);
  run.set_request_id(1);
  proto::NamedTensorProto* fed = run.add_send();
  fed->set_name("in:0");
  ToProto(Tensor::Vector<float>({1, 2}), fed->mutable_tensor());
  run.add_recv_key("out:0");
  ask(kRunGraph, run, nullptr);
  proto::RecvTensorRequest receive;
  receive.set_step_id(1);
  receive.set_rendezvous_key(
      "/job:worker/replica:0/task:0/device:CPU:0;1;/job:worker/replica:0/task:0/device:CPU:0;edge;0:0");
  ask(kRecvTensor, receive, nullptr);
  proto::CleanupGraphRequest cleanup;
  cleanup.set_step_id(1);
  ask(kCleanupGraph, cleanup, nullptr);
  proto::CreateSessionRequest session;
  session.set_graph_def(SomeGraph());
  proto::CreateSessionResponse created;
  ask(kCreateSession, session, &created);
  proto::RunStepRequest step;
  step.set_session_handle(created.session_handle());
  step.set_request_id(2);
  step.add_target("v/Assign");
  ask(kRunStep, step, nullptr);
  proto::NamedTensorProto* feed = step.add_feed();
  feed->set_name("in:0");
  ToProto(Tensor::Vector<float>({1, 2}), feed->mutable_tensor());
  step.add_fetch("out:0");
  step.set_request_id(3);
  ask(kRunStep, step, nullptr);
  proto::CloseSessionRequest close;
  close.set_session_handle(created.session_handle());
  ask(kCloseSession, close, nullptr);
  return {seed};
}

}  // namespace vigil::fuzz
