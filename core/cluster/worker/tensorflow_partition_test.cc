#include "vigil/core/cluster/worker/tensorflow_partition.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

#include "vigil/core/graph/graph.pb.h"

namespace vigil {
namespace {

proto::GraphDef Parsed(const std::string& text) {
  proto::GraphDef def;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &def));
  return def;
}

TEST(TensorFlowPartition, NamesThatAreTensorFlowsOwnChangeWhereverTheyStand) {
  proto::GraphDef def = Parsed(R"(
      node { name: "_recv_x_0" op: "_HostRecv" }
      node { name: "a" op: "Identity" input: "_recv_x_0:0" input: "^_recv_x_0" input: "_other" }
      node { name: "tensorflow_recv_x_0" op: "NoOp" input: "^a" }
      node { name: "s" op: "_HostSend" input: "a" })");
  NameAsOurs(def);
  EXPECT_EQ(def.DebugString(), Parsed(R"(
      node { name: "tensorflow_recv_x_0_1" op: "_Recv" }
      node { name: "a" op: "Identity" input: "tensorflow_recv_x_0_1:0" input: "^tensorflow_recv_x_0_1" input: "_other" }
      node { name: "tensorflow_recv_x_0" op: "NoOp" input: "^a" }
      node { name: "s" op: "_Send" input: "a" })")
                                   .DebugString());
}

TEST(TensorFlowPartition, OursStayAsTheyAre) {
  const proto::GraphDef def =
      Parsed(R"(node { name: "a/_3" op: "_Recv" } node { name: "b" op: "NoOp" input: "^a/_3" })");
  proto::GraphDef same = def;
  NameAsOurs(same);
  EXPECT_EQ(same.SerializeAsString(), def.SerializeAsString());
}

}  // namespace
}  // namespace vigil
