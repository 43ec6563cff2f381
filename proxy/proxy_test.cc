// Each thing that a plan can do to a call, between a caller and a server in this process.
#include "vigil/proxy/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/master.pb.h"
#include "vigil/core/cluster/methods.h"
#include "vigil/core/env/in_process_network.h"
#include "vigil/core/env/real/real_env.h"

namespace vigil::proxy {
namespace {

using ::testing::HasSubstr;

class ProxyTest : public ::testing::Test {
 protected:
  ProxyTest() : network_(*real_.env().tasks), env_(real_.env()) {
    env_.network = &network_;
    server_ = *network_.Listen("server:1", [this](IncomingCall& call) -> NetworkReply {
      ++served_;
      if (call.body() == "fail") return MakeStatus(Code::kNotFound, "as the server says");
      return absl::Cord("reply to " + std::string(call.body()));
    });
  }

  void Between(Plan plan) {
    proxy_.emplace(env_, ProxyOptions{.to = "server:1",
                                      .plan = std::move(plan),
                                      .told = [this](const CallRecord& call) { records_.push_back(call); }});
    listener_ = *network_.Listen("proxy:1", proxy_->handler());
  }
  NetworkReply Call(const std::string& method, const std::string& body) {
    return CallAndWait(env_, {.to = "proxy:1", .method = method, .body = absl::Cord(body)});
  }
  // A step of a session whose graph is not known.
  NetworkReply Step(bool errors_in_body = true) {
    proto::RunStepRequest step;
    step.set_session_handle("s");
    step.set_store_errors_in_response_body(errors_in_body);
    return Call(methods::kRunStep.text(), step.SerializeAsString());
  }

  RealEnv real_{{.log_to_stderr = false}};
  InProcessNetwork network_;
  Env env_;
  std::atomic<int> served_ = 0;
  std::vector<CallRecord> records_;
  std::unique_ptr<Listener> server_;
  std::optional<Proxy> proxy_;
  std::unique_ptr<Listener> listener_;
};

TEST_F(ProxyTest, WhatNoPlanNamesPassesThrough) {
  Between({{.on = CallKind::kTrain}});
  const NetworkReply reply = Call("/some.Service/Method", "bytes");
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(*reply, "reply to bytes");
  const NetworkReply failed = Call("/some.Service/Method", "fail");
  EXPECT_EQ(CodeOf(failed.status()), Code::kNotFound);
  EXPECT_EQ(MessageOf(failed.status()), "as the server says");
  EXPECT_EQ(proxy_->fired()[0].fired, 0);
  EXPECT_EQ(proxy_->calls(), (std::map<CallKind, std::int64_t>{{CallKind::kOther, 2}}));
}

TEST_F(ProxyTest, AServerThatIsNotThereFailsItsCallersOnly) {
  Between({});
  server_.reset();
  EXPECT_EQ(CodeOf(Call("/some.Service/Method", "x").status()), Code::kUnavailable);
  EXPECT_EQ(CodeOf(Call("/some.Service/Method", "x").status()), Code::kUnavailable);
}

TEST_F(ProxyTest, AnErrorBeforeTheCall) {
  Between({{.on = CallKind::kRun, .nth = 2, .times = 2, .code = Code::kAborted}});
  EXPECT_TRUE(Step().ok());
  for (int i = 0; i < 2; ++i) {
    const NetworkReply reply = Step();
    EXPECT_EQ(CodeOf(reply.status()), Code::kAborted);
    EXPECT_THAT(std::string(MessageOf(reply.status())), HasSubstr("[injected by vigil proxy: fault 1]"));
  }
  EXPECT_TRUE(Step().ok());
  EXPECT_EQ(served_, 2);
  EXPECT_EQ(proxy_->fired()[0].fired, 2);
}

TEST_F(ProxyTest, AnErrorAfterTheCall) {
  Between({{.on = CallKind::kRun, .after = true}});
  EXPECT_EQ(CodeOf(Step().status()), Code::kUnavailable);
  EXPECT_EQ(served_, 1);
}

TEST_F(ProxyTest, AnErrorInTheBodyOfAStepWhereItsCallerLooks) {
  Between({{.on = CallKind::kRun, .times = 2, .code = Code::kAborted, .in_body = true}});
  const NetworkReply reply = Step();
  ASSERT_TRUE(reply.ok()) << reply.status();
  proto::RunStepResponse step;
  ASSERT_TRUE(ParseBody(*reply, &step));
  EXPECT_EQ(step.status_code(), static_cast<int>(absl::StatusCode::kAborted));
  EXPECT_THAT(step.status_error_message(), HasSubstr("fault 1"));
  EXPECT_EQ(CodeOf(Step(/*errors_in_body=*/false).status()), Code::kAborted);
  EXPECT_EQ(served_, 0);
}

TEST_F(ProxyTest, LostRepliesAndResets) {
  Between({{.on = CallKind::kCreateSession, .effect = Effect::kLostReply},
           {.on = CallKind::kReset, .effect = Effect::kReset}});
  EXPECT_EQ(CodeOf(Call(methods::kCreateSession.text(), "").status()), Code::kUnavailable);
  EXPECT_EQ(served_, 1);
  EXPECT_EQ(CodeOf(Call(methods::kReset.text(), "").status()), Code::kUnavailable);
  EXPECT_EQ(served_, 1);
}

TEST_F(ProxyTest, WhatIsDelayedArrives) {
  Between({{.on = CallKind::kReset, .effect = Effect::kDelay, .lasts = std::chrono::milliseconds(30)}});
  EXPECT_TRUE(Call(methods::kReset.text(), "").ok());
  EXPECT_EQ(served_, 1);
  ASSERT_EQ(records_.size(), 1U);
  EXPECT_GE(records_[0].took, std::chrono::milliseconds(30));
}

TEST_F(ProxyTest, WhatIsNeverAnsweredEndsWithItsCaller) {
  Between({{.on = CallKind::kReset, .effect = Effect::kNever}});
  std::promise<NetworkReply> promise;
  const std::uint64_t call = network_.Start({.to = "proxy:1", .method = methods::kReset.text(), .body = absl::Cord("")},
                                            [&promise](NetworkReply reply) { promise.set_value(std::move(reply)); });
  std::future<NetworkReply> reply = promise.get_future();
  EXPECT_EQ(reply.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  EXPECT_EQ(served_, 1);
  network_.Cancel(call);
  EXPECT_EQ(CodeOf(reply.get().status()), Code::kCancelled);
}

TEST_F(ProxyTest, WhatIsNeverAnsweredEndsWithTheProxy) {
  Between({{.on = CallKind::kReset, .effect = Effect::kNever}});
  std::promise<NetworkReply> promise;
  network_.Start({.to = "proxy:1", .method = methods::kReset.text(), .body = absl::Cord("")},
                 [&promise](NetworkReply reply) { promise.set_value(std::move(reply)); });
  proxy_->Stop();
  EXPECT_EQ(CodeOf(promise.get_future().get().status()), Code::kUnavailable);
}

TEST_F(ProxyTest, ACallIsALineOfItsTrace) {
  Between({{.on = CallKind::kRun, .code = Code::kAborted}});
  EXPECT_FALSE(Step().ok());
  ASSERT_EQ(records_.size(), 1U);
  CallRecord record = records_[0];
  record.at = std::chrono::milliseconds(1500);
  record.took = std::chrono::milliseconds(2);
  record.info.fetches = {"loss:0"};
  EXPECT_EQ(PrintCall(record),
            R"({"call":1,"at_s":1.5,"took_s":0.002,"kind":"run","nth":1,"method":"/tensorflow.MasterService/RunStep",)"
            R"("session":"s","fetches":["loss:0"],"request_bytes":5,"reply_bytes":0,"code":"ABORTED",)"
            R"("message":"ABORTED [injected by vigil proxy: fault 1]","fault":1})");
}

}  // namespace
}  // namespace vigil::proxy
