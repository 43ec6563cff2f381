#include "vigil/core/cluster/client/remote_master.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/master.pb.h"
#include "vigil/core/cluster/step_errors.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// Whoever is asked says nothing: a call ends with its deadline or its keepalive. Whoever calls waits for it here.
class SilentNetwork final : public Network {
 public:
  explicit SilentNetwork(const Env& env) : env_(env) {}
  absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string&, RequestHandler) override {
    return MakeStatus(Code::kUnimplemented, "nobody serves here");
  }
  std::uint64_t Start(NetworkRequest request, std::function<void(NetworkReply)> done) override {
    if (request.method.find("CloseSession") != std::string::npos && !counts_closes) return ++calls_;
    ++calls;
    const Time silent = request.keepalive > Duration::zero() ? DeadlineAfter(env_, request.keepalive) : kNever;
    env_.tasks->SleepUntil(std::min(request.deadline, silent));
    done(silent < request.deadline ? MakeStatus(Code::kUnavailable, "keepalive watchdog timeout")
                                   : MakeStatus(Code::kDeadlineExceeded, "Deadline Exceeded"));
    return ++calls_;
  }
  void Cancel(std::uint64_t) override {}

  int calls = 0;
  bool counts_closes = false;

 private:
  const Env env_;
  std::uint64_t calls_ = 0;
};

class SilentMasterTest : public testing::Test {
 protected:
  std::shared_ptr<MasterInterface> Master(const SessionConfig& config) {
    Env env = fake_.env();
    env.network = &network_;
    return NewRemoteMaster(env, "worker0:2222", config);
  }
  Duration Took() { return fake_.clock.Monotonic() - start_; }

  fakes::FakeEnv fake_;
  SilentNetwork network_{fake_.env()};
  const Time start_ = fake_.clock.Monotonic();
};

TEST_F(SilentMasterTest, ACreationIsGivenUpFiveSecondsAfterItsTimeout) {
  const auto session = Master({.create_timeout = seconds(30)})->CreateSession({});
  EXPECT_EQ(fakes::Text(session.status()),
            "UNAVAILABLE: CreateSession got no response within 30 s from master: worker0:2222");
  EXPECT_EQ(Took(), seconds(35));
  EXPECT_EQ(network_.calls, 1);
}

TEST_F(SilentMasterTest, ACreationIsGivenUpAfterItsTimeoutIfAKeepaliveIsShorter) {
  const auto session = Master({.create_timeout = seconds(30), .keepalive = seconds(10)})->CreateSession({});
  EXPECT_EQ(fakes::Text(session.status()),
            "UNAVAILABLE: CreateSession got no response within 30 s from master: worker0:2222");
  EXPECT_LT(Took(), seconds(40));
}

TEST_F(SilentMasterTest, ACreationEndsWithItsDeadline) {
  const auto session = Master({.operation_timeout_in_ms = 3000, .create_timeout = seconds(30)})->CreateSession({});
  EXPECT_EQ(fakes::Text(session.status()), "DEADLINE_EXCEEDED: Deadline Exceeded");
  EXPECT_EQ(Took(), seconds(3));
}

TEST_F(SilentMasterTest, WhatHasTakenAKeepaliveIsNotAskedAgain) {
  network_.counts_closes = true;
  const auto master = Master({.keepalive = minutes(2)});
  EXPECT_EQ(CodeOf(master->ListDevices("a session").status()), Code::kUnavailable);
  EXPECT_EQ(Took(), minutes(2));
  EXPECT_EQ(network_.calls, 1);
}

}  // namespace
}  // namespace vigil
