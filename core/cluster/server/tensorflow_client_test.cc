// TensorFlow's client against this master: what it was seen to send (interop/record_client.py), and what TensorFlow's
// server has answered, value by value. The handle of the session and the versions of its graph are each server's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/master.pb.h"
#include "vigil/core/cluster/server/testing.h"
#include "vigil/core/tensor/tensor_proto.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

template <typename Message>
Message Parsed(const std::string& bytes) {
  Message message;
  EXPECT_TRUE(message.ParseFromString(bytes));
  return message;
}

class TensorFlowClientTest : public testing::Test {
 protected:
  std::string Ask(const Exchange& call, const std::string& body) {
    const NetworkReply reply =
        CallAndWait(cluster_.client(), {.to = call.to, .method = call.method, .body = absl::Cord(body)});
    EXPECT_TRUE(reply.ok()) << call.method << ": " << Text(reply.status());
    return std::string(reply.value_or(absl::Cord()));
  }
  template <typename Request>
  std::string AskInSession(const Exchange& call) {
    auto request = Parsed<Request>(call.request);
    request.set_session_handle(handle_);
    if constexpr (requires { request.set_current_graph_version(0); }) request.set_current_graph_version(version_);
    return Ask(call, request.SerializeAsString());
  }
  void RunsLikeRecorded(const Exchange& call) {
    const auto ours = Parsed<proto::RunStepResponse>(AskInSession<proto::RunStepRequest>(call));
    const auto theirs = Parsed<proto::RunStepResponse>(call.reply.value());
    EXPECT_EQ(ours.status_code(), theirs.status_code()) << ours.status_error_message();
    ASSERT_EQ(ours.tensor_size(), theirs.tensor_size());
    for (int i = 0; i < ours.tensor_size(); ++i) {
      EXPECT_EQ(ours.tensor(i).name(), theirs.tensor(i).name());
      const auto value = FromProto(ours.tensor(i).tensor());
      const auto expected = FromProto(theirs.tensor(i).tensor());
      ASSERT_TRUE(value.ok() && expected.ok()) << Text(value.status()) << Text(expected.status());
      EXPECT_EQ(*value, *expected) << ours.tensor(i).name() << ": " << value->Describe() << ", not "
                                   << expected->Describe();
      ++values_;
    }
  }

  fakes::FakeEnv fake_;
  TestCluster cluster_{fake_.env(), {{"worker", 1}}};
  std::string handle_;
  std::int64_t version_ = 0;
  int values_ = 0;
};

TEST_F(TensorFlowClientTest, IsAnsweredAsByItsOwnServer) {
  cluster_.StartAll();
  std::map<std::string, int> asked;
  for (const Exchange& call : ReadExchanges(VIGIL_SOURCE_DIR "/core/cluster/server/tensorflow_client/2_21.txt")) {
    SCOPED_TRACE(call.method);
    const std::string name = call.method.substr(call.method.rfind('/') + 1);
    ++asked[name];
    if (name == "CreateSession") {
      const auto response = Parsed<proto::CreateSessionResponse>(Ask(call, call.request));
      handle_ = response.session_handle();
      version_ = response.graph_version();
    } else if (name == "ExtendSession") {
      version_ =
          Parsed<proto::ExtendSessionResponse>(AskInSession<proto::ExtendSessionRequest>(call)).new_graph_version();
    } else if (name == "ListDevices") {
      const auto ours = Parsed<proto::ListDevicesResponse>(AskInSession<proto::ListDevicesRequest>(call));
      EXPECT_EQ(ours.local_device_size(), Parsed<proto::ListDevicesResponse>(call.reply.value()).local_device_size());
    } else if (name == "RunStep") {
      RunsLikeRecorded(call);
    } else {
      ASSERT_EQ(name, "CloseSession");
      AskInSession<proto::CloseSessionRequest>(call);
    }
  }
  EXPECT_EQ(asked,
            (std::map<std::string, int>{
                {"CloseSession", 1}, {"CreateSession", 1}, {"ExtendSession", 3}, {"ListDevices", 1}, {"RunStep", 8}}));
  EXPECT_EQ(values_, 8);
}

}  // namespace
}  // namespace vigil
