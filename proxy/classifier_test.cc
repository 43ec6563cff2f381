// By a conversation of TensorFlow's own client and server (core/cluster/server/tensorflow_client), and by graphs of our
// own.
#include "vigil/proxy/classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <tuple>

#include "vigil/core/cluster/master.pb.h"
#include "vigil/core/cluster/methods.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/fakes/exchanges.h"

namespace vigil::proxy {
namespace {

using Nodes = std::vector<std::tuple<std::string, std::string, std::vector<std::string>>>;

class ClassifierTest : public ::testing::Test {
 protected:
  void Create(const std::string& session, const Nodes& nodes) {
    proto::GraphDef graph;
    for (const auto& [name, op, inputs] : nodes) {
      proto::NodeDef& node = *graph.add_node();
      node.set_name(name);
      node.set_op(op);
      for (const std::string& input : inputs) node.add_input(input);
    }
    proto::CreateSessionRequest request;
    request.set_graph_def(graph.SerializeAsString());
    proto::CreateSessionResponse reply;
    reply.set_session_handle(session);
    classifier_.Answered(methods::kCreateSession.path, absl::Cord(request.SerializeAsString()),
                         absl::Cord(reply.SerializeAsString()));
  }
  CallKind Step(const std::string& session, const std::vector<std::string>& fetches,
                const std::vector<std::string>& targets, const std::vector<std::string>& feeds = {}) {
    proto::RunStepRequest step;
    step.set_session_handle(session);
    for (const std::string& fetch : fetches) step.add_fetch(fetch);
    for (const std::string& target : targets) step.add_target(target);
    for (const std::string& feed : feeds) step.add_feed()->set_name(feed);
    return classifier_.Look(methods::kRunStep.path, absl::Cord(step.SerializeAsString())).kind;
  }

  RealEnv real_{{.log_to_stderr = false}};
  Classifier classifier_{*real_.env().tasks};
};

TEST_F(ClassifierTest, StepsByWhatTheyNeed) {
  Create("s", {{"global_step", "VariableV2", {}},
               {"step", "Identity", {"global_step"}},
               {"zero", "Const", {}},
               {"set", "Assign", {"global_step", "zero"}},
               {"count", "AssignAdd", {"global_step", "zero"}},
               {"w", "VariableV2", {}},
               {"descend", "ApplyGradientDescent", {"w", "zero", "zero"}},
               {"train", "NoOp", {"^descend", "^count"}},
               {"init", "NoOp", {"^set"}},
               {"prefix", "Const", {}},
               {"read", "RestoreV2", {"prefix"}},
               {"put", "Assign", {"w", "read:1"}},
               {"write", "SaveV2", {"prefix", "w"}},
               {"asked", "IsVariableInitialized", {"w"}},
               {"missing", "Where", {"asked"}},
               {"step_asked", "IsVariableInitialized", {"global_step"}},
               {"checked", "Switch", {"step", "step_asked"}},
               {"average", "Assign", {"w", "asked"}},
               {"queue", "FIFOQueueV2", {}},
               {"enqueue", "QueueEnqueueV2", {"queue", "zero"}},
               {"loss", "Mean", {"w"}},
               {"saved", "Identity", {"prefix", "^write"}}});
  EXPECT_EQ(Step("s", {"step:0"}, {"train"}), CallKind::kTrain);
  EXPECT_EQ(Step("s", {}, {"init"}), CallKind::kInit);
  EXPECT_EQ(Step("s", {}, {"average"}), CallKind::kInit);  // of a value that is there already
  EXPECT_EQ(Step("s", {}, {"put"}), CallKind::kRestore);
  EXPECT_EQ(Step("s", {"saved:0"}, {}), CallKind::kSave);
  EXPECT_EQ(Step("s", {"missing:0"}, {}), CallKind::kReady);
  EXPECT_EQ(Step("s", {"step:0"}, {}), CallKind::kReadStep);
  EXPECT_EQ(Step("s", {"checked:0"}, {}), CallKind::kReadStep);
  EXPECT_EQ(Step("s", {}, {"enqueue"}), CallKind::kEnqueue);
  EXPECT_EQ(Step("s", {"loss:0"}, {}), CallKind::kRun);
  EXPECT_EQ(Step("s", {"w:0"}, {}), CallKind::kRun);
  // Not past what is fed.
  EXPECT_EQ(Step("s", {"saved:0"}, {}, {"saved:0"}), CallKind::kRun);
  EXPECT_EQ(Step("s", {"saved:0"}, {}, {"saved"}), CallKind::kRun);
  // Of a session that nobody has seen, nothing is known.
  EXPECT_EQ(Step("t", {}, {"train"}), CallKind::kRun);
}

TEST_F(ClassifierTest, AGraphGrowsAndGoesWithItsSession) {
  Create("s", {});
  EXPECT_EQ(Step("s", {}, {"train"}), CallKind::kRun);
  proto::ExtendSessionRequest more;
  more.set_session_handle("s");
  proto::NodeDef& node = *more.mutable_graph_def()->add_node();
  node.set_name("train");
  node.set_op("ResourceApplyAdam");
  classifier_.Answered(methods::kExtendSession.path, absl::Cord(more.SerializeAsString()), {});
  EXPECT_EQ(Step("s", {}, {"train"}), CallKind::kTrain);
  proto::CloseSessionRequest close;
  close.set_session_handle("s");
  classifier_.Answered(methods::kCloseSession.path, absl::Cord(close.SerializeAsString()), {});
  EXPECT_EQ(Step("s", {}, {"train"}), CallKind::kRun);
}

TEST_F(ClassifierTest, WhatIsNoRequestIsOther) {
  EXPECT_EQ(classifier_.Look(methods::kRunStep.path, absl::Cord("\xff\xff")).kind, CallKind::kOther);
  EXPECT_EQ(classifier_.Look("/tensorflow.MasterService/MakeCallable", {}).kind, CallKind::kOther);
  EXPECT_EQ(classifier_.Look("/tensorflow.WorkerService/GetStatus", {}).kind, CallKind::kOther);
  classifier_.Answered(methods::kCreateSession.path, absl::Cord("\xff\xff"), absl::Cord("\xff"));
  classifier_.Answered(methods::kExtendSession.path, absl::Cord("\xff\xff"), absl::Cord("\xff"));
}

TEST_F(ClassifierTest, WhatTensorFlowsClientAsks) {
  std::vector<std::string_view> kinds;
  for (const Exchange& each :
       ReadExchanges(std::string(VIGIL_SOURCE_DIR) + "/core/cluster/server/tensorflow_client/2_21.txt")) {
    kinds.push_back(NameOf(classifier_.Look(each.method, absl::Cord(each.request)).kind));
    ASSERT_TRUE(each.reply.has_value());
    classifier_.Answered(each.method, absl::Cord(each.request), absl::Cord(*each.reply));
  }
  EXPECT_THAT(kinds, ::testing::ElementsAre("create_session", "list_devices", "extend_session", "ready",
                                            "extend_session", "init", "ready", "train", "train", "train",
                                            "extend_session", "run", "run", "close_session"));
}

}  // namespace
}  // namespace vigil::proxy
