#include "vigil/core/cluster/parallel_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using fakes::Text;
using testing::ElementsAre;
using testing::IsEmpty;

// Answers when the test says so. Who is cancelled is noted, and not answered.
class PatientNetwork final : public Network {
 public:
  absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string&, RequestHandler) override {
    return std::unique_ptr<Listener>();
  }
  std::uint64_t Start(NetworkRequest request, std::function<void(NetworkReply)> done) override {
    started.emplace_back(request.body);
    waiting_.emplace(started.size(), std::move(done));
    return started.size();
  }
  void Cancel(std::uint64_t call) override { cancelled.push_back(call); }
  void Answer(std::uint64_t call, NetworkReply reply) { waiting_.extract(call).mapped()(std::move(reply)); }

  std::vector<std::string> started;
  std::vector<std::uint64_t> cancelled;

 private:
  std::map<std::uint64_t, std::function<void(NetworkReply)>> waiting_;
};

class ParallelCallsTest : public testing::Test {
 protected:
  ParallelCallsTest() : calls_(New()) {}
  std::shared_ptr<ParallelCalls> New() {
    Env env = fake_.env();
    env.network = &network_;
    return std::make_shared<ParallelCalls>(env);
  }
  static absl::Status Broken(const std::string& text) { return MakeStatus(Code::kInternal, text); }

  fakes::FakeEnv fake_;
  PatientNetwork network_;
  const std::shared_ptr<ParallelCalls> calls_;
};

TEST_F(ParallelCallsTest, EachIsAnsweredForItself) {
  calls_->Reuse(2);
  calls_->Start(0, {.body = absl::Cord("a")});
  calls_->Start(1, {.body = absl::Cord("b")});
  network_.Answer(2, absl::Cord("two"));
  EXPECT_FALSE(calls_->answered(0));
  EXPECT_TRUE(calls_->answered(1));
  EXPECT_FALSE(calls_->Wait(fake_.clock.Monotonic()));
  network_.Answer(1, Broken("one"));
  EXPECT_TRUE(calls_->Wait(fake_.clock.Monotonic()));
  EXPECT_EQ(Text(calls_->reply(0).status()), "INTERNAL: one");
  EXPECT_EQ(*calls_->reply(1), "two");
  EXPECT_EQ(Text(calls_->failed()), "OK") << "of Fail() only";
}

TEST_F(ParallelCallsTest, OnlyWhatIsNotAnsweredIsCancelled) {
  calls_->Reuse(3);
  calls_->Start(0, {.body = absl::Cord("a")});
  calls_->Start(1, {.body = absl::Cord("b")});
  network_.Answer(1, absl::Cord("one"));
  calls_->CancelAll();
  EXPECT_THAT(network_.cancelled, ElementsAre(2u));
  calls_->Start(2, {.body = absl::Cord("c")});  // is not made any more
  EXPECT_THAT(network_.started, ElementsAre("a", "b"));
  EXPECT_EQ(CodeOf(calls_->reply(2).status()), Code::kCancelled);
  network_.Answer(2, MakeStatus(Code::kCancelled, "CANCELLED"));
  EXPECT_TRUE(calls_->Wait(kNever));
}

TEST_F(ParallelCallsTest, TheFirstReasonCountsUntilTheNextSet) {
  calls_->Reuse(1);
  calls_->Start(0, {.body = absl::Cord("a")});
  calls_->Fail(Broken("first"));
  calls_->Fail(Broken("second"));
  EXPECT_EQ(Text(calls_->failed()), "INTERNAL: first");
  network_.Answer(1, MakeStatus(Code::kCancelled, "CANCELLED"));
  calls_->Reuse(1);
  EXPECT_EQ(Text(calls_->failed()), "OK");
  EXPECT_FALSE(calls_->answered(0));
  calls_->Start(0, {.body = absl::Cord("b")});
  EXPECT_THAT(network_.started, ElementsAre("a", "b"));
  network_.Answer(2, absl::Cord("two"));
  EXPECT_EQ(*calls_->reply(0), "two");
}

TEST_F(ParallelCallsTest, WhatIsInFlightFailsWithWhoHasIt) {
  CallsInFlight in_flight;
  const auto other = New();
  for (const auto& each : {calls_, other}) {
    each->Reuse(1);
    EXPECT_TRUE(in_flight.Add(each).ok());
    each->Start(0, {});
  }
  in_flight.Fail(Broken("a moment"));
  EXPECT_EQ(Text(calls_->failed()), "INTERNAL: a moment");
  EXPECT_EQ(Text(other->failed()), "INTERNAL: a moment");
  EXPECT_EQ(in_flight.size(), 2u);
  in_flight.Remove(other.get());
  in_flight.Remove(calls_.get());
  EXPECT_EQ(in_flight.size(), 0u);
  network_.Answer(1, absl::Cord());
  network_.Answer(2, absl::Cord());
}

TEST_F(ParallelCallsTest, AfterTheCloseNothingBeginsAndOnlyTheFirstCounts) {
  CallsInFlight in_flight;
  calls_->Reuse(1);
  EXPECT_TRUE(in_flight.Add(calls_).ok());
  calls_->Start(0, {});
  in_flight.Close(Broken("closed"));
  EXPECT_THAT(network_.cancelled, ElementsAre(1u));
  in_flight.Close(Broken("closed again"));
  EXPECT_THAT(network_.cancelled, ElementsAre(1u)) << "nobody is told twice";
  EXPECT_EQ(Text(calls_->failed()), "INTERNAL: closed");
  const auto late = New();
  late->Reuse(1);
  EXPECT_EQ(Text(in_flight.Add(late)), "INTERNAL: closed");
  in_flight.Fail(Broken("whoever is there"));
  EXPECT_EQ(Text(late->failed()), "OK") << "it was not taken in";
  network_.Answer(1, absl::Cord());
}

}  // namespace
}  // namespace vigil
