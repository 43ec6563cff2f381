#include "vigil/core/coord/queue_runner_def.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/graph/meta_graph.pb.h"
#include "vigil/core/graph/queue_runner.pb.h"
#include "vigil/core/ops/ops.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class QueueRunnerDefTest : public testing::Test {
 protected:
  QueueRunnerDefTest() : graph_(BuiltinOps()), codec_(QueueRunnerCodec(fake_.env())) {
    Builder b(graph_);
    const ops::Queue queue = ops::FifoQueue(b, "queue", 10);
    const Output values = b.Const("values", Tensor::Vector<std::int64_t>({1, 2}));
    const NodeId enqueue = ops::EnqueueMany(b, "enqueue", queue, values);
    EXPECT_TRUE(b.status().ok());
    graph_.AddToCollection(kQueueRunners, *QueueRunner::Create(fake_.env(), {.queue_name = "queue",
                                                                             .enqueue_ops = {enqueue, enqueue},
                                                                             .close_op = queue.close,
                                                                             .cancel_op = kNoNode}));
  }
  std::string ErrorOf(const proto::QueueRunnerDef& def) {
    const absl::Status status = codec_.read(graph_, {def.SerializeAsString()}, "");
    return std::string(CodeName(CodeOf(status))) + ": " + std::string(MessageOf(status));
  }

  fakes::FakeEnv fake_;
  Graph graph_;
  const CollectionCodec codec_;
};

// testQueueRunnerSerializationRoundTrip
TEST_F(QueueRunnerDefTest, GoesIntoAMetaGraphAndComesBack) {
  const absl::StatusOr<proto::MetaGraphDef> def = ExportMetaGraph(graph_, {.codecs = {codec_}});
  ASSERT_TRUE(def.ok());
  proto::QueueRunnerDef written;
  ASSERT_TRUE(written.ParseFromString(def->collection_def().at("queue_runners").bytes_list().value(0)));
  EXPECT_EQ(written.ShortDebugString(), R"(queue_name: "queue" enqueue_op_name: "enqueue" enqueue_op_name: "enqueue" )"
                                        R"(close_op_name: "queue_Close" queue_closed_exception_types: 11)");
  for (const std::string scope : {"", "s"}) {
    Graph other(BuiltinOps());
    ASSERT_TRUE(ImportMetaGraph(*def, other, {.graph = {.scope = scope}, .codecs = {codec_}}).ok());
    ASSERT_EQ(other.Collection(kQueueRunners).size(), 1u);
    const QueueRunnerOptions& read = other.Collection(kQueueRunners)[0]->options();
    const std::string prefix = scope.empty() ? "" : scope + "/";
    EXPECT_EQ(read.queue_name, prefix + "queue");
    ASSERT_EQ(read.enqueue_ops.size(), 2u);
    EXPECT_EQ(other.node(read.enqueue_ops[1]).name, prefix + "enqueue");
    EXPECT_EQ(other.node(read.close_op).name, prefix + "queue_Close");
    EXPECT_EQ(read.cancel_op, kNoNode);
    EXPECT_THAT(read.queue_closed_codes, ElementsAre(Code::kOutOfRange));
  }
}

// UNAUTHENTICATED is TensorFlow's last code; of ours behind it TensorFlow reads none.
TEST_F(QueueRunnerDefTest, ItsCancelOpAndTensorFlowsCodesAreWritten) {
  const QueueRunnerOptions& first = graph_.Collection(kQueueRunners)[0]->options();
  graph_.AddToCollection(
      kQueueRunners, *QueueRunner::Create(fake_.env(), {.queue_name = "queue",
                                                        .enqueue_ops = first.enqueue_ops,
                                                        .cancel_op = first.close_op,
                                                        .queue_closed_codes = {Code::kUnauthenticated, Code::kUsage}}));
  proto::QueueRunnerDef written;
  ASSERT_TRUE(written.ParseFromString(codec_.write(graph_).back()));
  EXPECT_EQ(written.cancel_op_name(), "queue_Close");
  EXPECT_THAT(written.queue_closed_exception_types(), ElementsAre(16));
}

TEST_F(QueueRunnerDefTest, WithoutClosedCodesAnOldMessageMeansTheDefault) {
  proto::QueueRunnerDef def;
  def.set_queue_name("queue");
  def.add_enqueue_op_name("enqueue");
  ASSERT_TRUE(codec_.read(graph_, {def.SerializeAsString()}, "").ok());
  EXPECT_THAT(graph_.Collection(kQueueRunners).back()->options().queue_closed_codes, ElementsAre(Code::kOutOfRange));
}

TEST_F(QueueRunnerDefTest, RefusesWhatItCannotRead) {
  proto::QueueRunnerDef def;
  EXPECT_EQ(ErrorOf(def), "USAGE: Must provide queue and enqueue_ops.");
  def.set_queue_name("queue");
  def.add_enqueue_op_name("nowhere");
  EXPECT_EQ(ErrorOf(def), "INVALID_ARGUMENT: 'nowhere' is not in the graph");
  def.set_enqueue_op_name(0, "");
  EXPECT_EQ(ErrorOf(def), "INVALID_ARGUMENT: an enqueue op of the queue runner 'queue' has no name");
  def.set_enqueue_op_name(0, "enqueue");
  def.add_queue_closed_exception_types(4711);
  EXPECT_EQ(ErrorOf(def), "INVALID_ARGUMENT: 4711 is no code of an error");
  EXPECT_EQ(CodeOf(codec_.read(graph_, {"\xff"}, "")), Code::kInvalidArgument);
}

}  // namespace
}  // namespace vigil
