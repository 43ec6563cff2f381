// Graphs, with what belongs to them: read, run, written, read again.
#include <string>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/checkpoint/saver_meta_graph.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/coord/queue_runner_def.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/graph/meta_graph.pb.h"
#include "vigil/core/graph/saver.pb.h"
#include "vigil/core/ops/meta_graph.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/ops/training.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/tensor/proto_util.h"
#include "vigil/fuzz/bounded_new.h"
#include "vigil/fuzz/fuzz_env.h"
#include "vigil/fuzz/targets.h"

namespace vigil::fuzz {
namespace {

constexpr int kMostNodesRun = 40;

bool Parse(Bytes bytes, google::protobuf::MessageLite* message) {
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// What one run may end with: anything. Waiting ends at once.
absl::Status RunNode(Session& session, NodeId node) {
  RunSpec spec;
  spec.targets.push_back(node);
  const RunOptions options{.timeout_in_ms = 1};
  std::vector<Tensor> fetched;
  return session.Run({.spec = spec, .options = &options}, &fetched);
}

void RunAll(const Env& env, const Graph& graph) {
  const BoundedNew less(kMostBytesOfAKernel);
  const std::unique_ptr<Session> session = NewDirectSession(env, graph);
  // Twice: what was assigned in the first round is read in the second.
  for (int round = 0; round < 2; ++round) {
    for (NodeId node = 0; node < graph.size() && node < kMostNodesRun; ++node) RunNode(*session, node).IgnoreError();
  }
  session->Close().IgnoreError();
}

// A little of everything.
void Build(Graph& graph) {
  Builder b(graph);
  const Output numbers = b.Const("numbers", Tensor::Vector<float>({1, 2, 3, 4}));
  const Output sizes = b.Const("sizes", Tensor::Vector<std::int64_t>({2, 2}));
  const Output axis = b.Const("axis", Tensor::Scalar<std::int32_t>(0));
  const ops::Variable v = ops::MakeVariable(b, "v", numbers);
  const ops::Variable step = ops::MakeVariable(b, "step", b.Const("zero", Tensor::Scalar<std::int64_t>(0)));
  b.graph().AddToCollection(kGlobalStep, step.ref);
  const Output square = b.Op("Reshape", {v.read, sizes}, {.name = "square"});
  const Output product = b.Op("MatMul", {square, square}, {.name = "product", .attrs = {{"transpose_a", true}}});
  const Output mean = b.Op("Mean", {product, axis}, {.name = "mean", .attrs = {{"keep_dims", true}}});
  b.Op("ApplyGradientDescent", {v.ref, b.Const("half", Tensor::Scalar<float>(0.5F)), b.Op("Square", {v.read})},
       {.name = "train"});
  b.Op("GatherV2", {product, b.Const("index", Tensor::Vector<std::int32_t>({1, 0})), axis}, {.name = "rows"});
  b.Op("ConcatV2", {mean, product, axis}, {.name = "more"});
  b.Op("Fill", {sizes, b.Const("one", Tensor::Scalar<float>(1))}, {.name = "ones"});
  b.Op("Range",
       {axis, b.Const("five", Tensor::Scalar<std::int32_t>(5)), b.Const("two", Tensor::Scalar<std::int32_t>(2))},
       {.name = "range"});
  b.Op("Cast", {mean}, {.name = "cast", .attrs = {{"DstT", DType::kInt32}}});
  b.Op("Select", {b.Op("Less", {product, product}), product, product}, {.name = "select"});
  ops::ScalarSummary(b, "summary", "tag", b.Const("loss", Tensor::Scalar<float>(1)));
  const ops::Queue queue = ops::FifoQueue(b, "queue", 4);
  ops::EnqueueMany(b, "enqueue", queue, b.Const("values", Tensor::Vector<std::int64_t>({1, 2, 3})));
  ops::Dequeue(b, "dequeue", queue);
  ops::RangeIterator(b, "input", 3);
  const Output accumulator = ops::ConditionalAccumulator(b, "accumulator", DType::kFloat, Shape({4}));
  ops::AccumulatorApplyGradient(b, "apply", accumulator, step.read, v.read);
  ops::AccumulatorTakeGradient(b, "take", accumulator, 1, DType::kFloat);
  ops::ReportUninitializedVariables(b, "report", {v.ref, step.ref});
  VIGIL_CHECK(b.status().ok());
}

std::vector<CollectionCodec> Codecs(const Env& env) { return {QueueRunnerCodec(env), SaverCodec(env)}; }

// The same with a saver and a queue runner.
proto::MetaGraphDef SomeMetaGraph() {
  FuzzEnv fuzz;
  const Env env = fuzz.env();
  Graph graph(BuiltinOps());
  Build(graph);
  const SaverPtr saver = std::make_shared<Saver>(env);
  VIGIL_CHECK(saver->Build(graph).ok());
  graph.AddToCollection(kSavers, saver);
  absl::StatusOr<QueueRunnerPtr> runner =
      QueueRunner::Create(env, {.queue_name = "queue", .enqueue_ops = {*graph.Find("enqueue")}});
  VIGIL_CHECK(runner.ok());
  graph.AddToCollection(kQueueRunners, *runner);
  absl::StatusOr<proto::MetaGraphDef> def =
      ExportMetaGraph(graph, {.saver_def = *saver->AsSaverDef(), .codecs = Codecs(env)});
  VIGIL_CHECK(def.ok());
  return *std::move(def);
}

void UseMetaGraph(const Env& env, const proto::MetaGraphDef& def) {
  Graph graph(BuiltinOps());
  const absl::StatusOr<SaverPtr> saver =
      ImportMetaGraphWithSaver(env, def, graph, {.meta_graph = {.codecs = Codecs(env)}});
  if (!saver.ok()) {
    VIGIL_CHECK(graph.size() == 0 || !graph.CollectionNames().empty() || def.graph_def().node_size() > 0);
    return;
  }
  Builder b(graph);
  const Output init = ops::VariablesInitializer(b, "init_all", graph.Collection(kGlobalVariables));
  ops::MergeAllSummaries(b);
  ExportMetaGraph(graph, {.codecs = Codecs(env)}).IgnoreError();
  const BoundedNew less(kMostBytesOfAKernel);
  const std::unique_ptr<Session> session = NewDirectSession(env, graph);
  if (init.node != kNoNode) RunNode(*session, init.node).IgnoreError();
  if (*saver == nullptr) return;
  CallGuarded([&] { return (*saver)->Save(*session, "/model", 1).status(); }).IgnoreError();
}

}  // namespace

int FuzzGraphDef(Bytes bytes) {
  proto::GraphDef def;
  if (!Parse(bytes, &def)) return 0;
  Graph graph(BuiltinOps());
  if (!ImportGraphDef(def, graph).ok()) {
    VIGIL_CHECK(graph.size() == 0);
    return 0;
  }
  // What is written is read again, and then written as before.
  const proto::GraphDef written = ToGraphDef(graph);
  Graph again(BuiltinOps());
  VIGIL_CHECK(ImportGraphDef(written, again).ok());
  VIGIL_CHECK(*SerializeDeterministically(ToGraphDef(again)) == *SerializeDeterministically(written));
  return 0;
}

int FuzzGraphRun(Bytes bytes) {
  proto::GraphDef def;
  if (!Parse(bytes, &def)) return 0;
  FuzzEnv fuzz;
  Graph graph(BuiltinOps());
  if (ImportGraphDef(def, graph).ok()) RunAll(fuzz.env(), graph);
  return 0;
}

int FuzzMetaGraph(Bytes bytes) {
  proto::MetaGraphDef def;
  if (!Parse(bytes, &def)) return 0;
  FuzzEnv fuzz;
  UseMetaGraph(fuzz.env(), def);
  return 0;
}

int FuzzMetaText(Bytes bytes) {
  FuzzEnv fuzz;
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  VIGIL_CHECK(WriteAtomically(fuzz.files, "/a.meta", text).ok());
  const absl::StatusOr<proto::MetaGraphDef> def = ReadMetaGraph(fuzz.env(), "/a.meta");
  if (def.ok()) UseMetaGraph(fuzz.env(), *def);
  return 0;
}

int FuzzSaverDef(Bytes bytes) {
  proto::SaverDef def;
  if (!Parse(bytes, &def)) return 0;
  FuzzEnv fuzz;
  const Env env = fuzz.env();
  Graph graph(BuiltinOps());
  Build(graph);
  const SaverPtr first = std::make_shared<Saver>(env);
  VIGIL_CHECK(first->Build(graph).ok());
  const absl::StatusOr<SaverPtr> saver = Saver::FromDef(env, graph, def);
  if (!saver.ok()) return 0;
  const std::unique_ptr<Session> session = NewDirectSession(env, graph);
  for (const ops::Variable& variable : graph.Collection(ops::kVariables))
    RunNode(*session, variable.initializer).IgnoreError();
  for (std::int64_t step = 1; step < 4; ++step) (*saver)->Save(*session, "/model", step).IgnoreError();
  (*saver)->Restore(*session, "/model-3").IgnoreError();
  return 0;
}

std::vector<std::string> GraphSeeds() {
  Graph graph(BuiltinOps());
  Build(graph);
  return {ToGraphDef(graph).SerializeAsString()};
}

std::vector<std::string> MetaGraphSeeds() { return {*SerializeDeterministically(SomeMetaGraph())}; }
std::vector<std::string> MetaTextSeeds() { return {PrintProtoText(SomeMetaGraph())}; }
std::vector<std::string> SaverDefSeeds() { return {SomeMetaGraph().saver_def().SerializeAsString()}; }

}  // namespace vigil::fuzz
