#include "vigil/core/cluster/goodbye.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/step_errors.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

// Keeps what is asked, until the test answers.
class HeldNetwork final : public Network {
 public:
  absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string&, RequestHandler) override {
    return MakeStatus(Code::kUnimplemented, "nobody serves here");
  }
  std::uint64_t Start(NetworkRequest request, std::function<void(NetworkReply)> done) override {
    requests.push_back(std::move(request));
    done_.push_back(std::move(done));
    return requests.size();
  }
  void Cancel(std::uint64_t) override {}

  void Answer(NetworkReply reply) { done_.back()(std::move(reply)); }

  std::vector<NetworkRequest> requests;

 private:
  std::vector<std::function<void(NetworkReply)>> done_;
};

class GoodbyeTest : public testing::Test {
 protected:
  void Say() {
    Env env = fake_.env();
    env.network = &network_;
    SayGoodbye(env, {.to = "ps0:2222", .method = "/service/Forget", .body = absl::Cord("graph 7")});
  }
  Duration Left() { return network_.requests.back().deadline - fake_.clock.Monotonic(); }

  fakes::FakeEnv fake_;
  HeldNetwork network_;
};

TEST_F(GoodbyeTest, WhatGetsLostIsSaidThreeTimesInAll) {
  Say();
  EXPECT_EQ(Left(), std::chrono::seconds(10));
  fake_.env().tasks->SleepUntil({std::chrono::seconds(10)});
  network_.Answer(MakeStatus(Code::kDeadlineExceeded, "Deadline Exceeded"));
  ASSERT_EQ(network_.requests.size(), 2u);
  EXPECT_EQ(network_.requests.back().to, "ps0:2222");
  EXPECT_EQ(network_.requests.back().body, "graph 7");
  EXPECT_EQ(Left(), std::chrono::seconds(10));
  network_.Answer(MakeStatus(Code::kAborted, "refused by who is between"));
  ASSERT_EQ(network_.requests.size(), 3u);
  network_.Answer(MakeStatus(Code::kUnavailable, "Connection reset by peer"));
  EXPECT_EQ(network_.requests.size(), 3u);
}

TEST_F(GoodbyeTest, AnyAnswerOfTheServerIsEnough) {
  for (const absl::Status& answer :
       {ByPeer(MakeStatus(Code::kUnavailable, "the server stops")), ByPeer(MakeStatus(Code::kAborted, "no such graph")),
        MakeStatus(Code::kCancelled, "Cancelled by the caller")}) {
    Say();
    const std::size_t said = network_.requests.size();
    network_.Answer(answer);
    EXPECT_EQ(network_.requests.size(), said) << answer;
  }
  Say();
  network_.Answer(absl::Cord());
  EXPECT_EQ(network_.requests.size(), 4u);
}

// A connection that is down loses all three at once.
TEST_F(GoodbyeTest, WhatGotLostIsOwedAndSaidOnceTheServerIsHeardOf) {
  Env env = fake_.env();
  env.network = &network_;
  const auto owed = std::make_shared<OwedGoodbyes>();
  const auto lose = [&](int times) {
    for (int i = 0; i < times; ++i) network_.Answer(MakeStatus(Code::kUnavailable, "Connection refused"));
  };
  SayGoodbye(env, {.to = "ps0:2222", .method = "/service/Forget", .body = absl::Cord("graph 7")}, owed);
  lose(3);
  EXPECT_EQ(owed->size(), 1u);
  EXPECT_EQ(network_.requests.size(), 3u);
  owed->HeardOf(env, "ps1:2222");
  EXPECT_EQ(network_.requests.size(), 3u);
  owed->HeardOf(env, "ps0:2222");
  ASSERT_EQ(network_.requests.size(), 4u);
  EXPECT_EQ(network_.requests.back().body, "graph 7");
  EXPECT_EQ(Left(), std::chrono::seconds(10));
  lose(3);
  EXPECT_EQ(owed->size(), 1u);
  owed->HeardOf(env, "ps0:2222");
  network_.Answer(absl::Cord());
  EXPECT_EQ(owed->size(), 0u);
  EXPECT_EQ(network_.requests.size(), 7u);
}

TEST_F(GoodbyeTest, WhatIsOwedIsBounded) {
  OwedGoodbyes owed;
  for (std::size_t i = 0; i < 2 * OwedGoodbyes::kMost; ++i)
    owed.Add({.to = "ps0:2222", .body = absl::Cord(std::to_string(i))});
  EXPECT_EQ(owed.size(), OwedGoodbyes::kMost);
}

}  // namespace
}  // namespace vigil
