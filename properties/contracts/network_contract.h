// What every Network promises (core/env/network.h), as far as one process that calls itself can tell.
#ifndef VIGIL_PROPERTIES_CONTRACTS_NETWORK_CONTRACT_H_
#define VIGIL_PROPERTIES_CONTRACTS_NETWORK_CONTRACT_H_

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "vigil/core/base/code.h"
#include "vigil/core/env/env.h"
#include "vigil/core/env/notification.h"

namespace vigil::contracts {

inline constexpr char kContractAddress[] = "contract:1";
// Of the networks that are tested, so that a test can go beyond.
inline constexpr NetworkLimits kContractLimits = {.message_bytes = 100000, .bytes_in_flight = 150000};

// A handler that waits until it is told to go on or that nobody waits any more.
struct SlowHandler {
  explicit SlowHandler(const Env& env)
      : entered(*env.tasks, "entered"), go(*env.tasks, "go"), left(*env.tasks, "left") {}

  static RequestHandler Of(const std::shared_ptr<SlowHandler>& self) {
    return [self](IncomingCall& call) -> NetworkReply {
      call.OnCancelled([self] { self->go.Notify(); });
      self->entered.Notify();
      self->go.Wait(kNever);
      self->told = call.cancelled();
      self->left.Notify();
      return absl::Cord("late");
    };
  }

  Notification entered;
  Notification go;
  Notification left;
  std::atomic<bool> told{false};
};

// A call whose answer is kept.
struct StartedCall {
  explicit StartedCall(const Env& env) : answered(*env.tasks, "answered") {}

  static std::shared_ptr<StartedCall> Start(const Env& env, NetworkRequest request) {
    const auto call = std::make_shared<StartedCall>(env);
    call->number = env.network->Start(std::move(request), [call](NetworkReply reply) {
      ++call->answers;
      call->reply = std::move(reply);
      call->answered.Notify();
    });
    return call;
  }
  // The code of the answer.
  Code Wait() {
    answered.Wait(kNever);
    return CodeOf(reply->status());
  }

  Notification answered;
  std::optional<NetworkReply> reply;
  std::atomic<int> answers{0};
  std::uint64_t number = 0;
};

template <typename Place>
class NetworkContract : public testing::Test {
 protected:
  Place place_;
};
TYPED_TEST_SUITE_P(NetworkContract);

TYPED_TEST_P(NetworkContract, CarriesRequestsAndAnswersAsTheyAre) {
  this->place_.Run([](const Env& env) {
    const std::string bytes("a\0b\xff", 4);
    const auto listener = env.network->Listen(kContractAddress, [](IncomingCall& call) -> NetworkReply {
      return absl::Cord(call.method() + "/" + std::string(call.body()) + (call.cancelled() ? "cancelled" : ""));
    });
    ASSERT_TRUE(listener.ok()) << listener.status();
    const NetworkReply reply = CallAndWait(env, {.to = kContractAddress, .method = "/s/M", .body = absl::Cord(bytes)});
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(*reply, "/s/M/" + bytes);
  });
}

TYPED_TEST_P(NetworkContract, AnErrorOfTheHandlerArrivesWithCodeMessageAndPayloads) {
  this->place_.Run([](const Env& env) {
    const auto listener = env.network->Listen(kContractAddress, [](IncomingCall&) -> NetworkReply {
      return WithOrigin(MakeStatus(Code::kStopIteration, "no more"), "there");
    });
    const absl::Status status = CallAndWait(env, {.to = kContractAddress}).status();
    EXPECT_EQ(CodeOf(status), Code::kStopIteration);
    EXPECT_EQ(MessageOf(status), "no more");
    EXPECT_EQ(OriginOf(status), "there");
  });
}

TYPED_TEST_P(NetworkContract, ARequestThatIsTooLargeIsNotSentAndItsMethodNamed) {
  this->place_.Run([](const Env& env) {
    const auto served = std::make_shared<std::atomic<int>>(0);
    const auto listener = env.network->Listen(kContractAddress, [served](IncomingCall& call) -> NetworkReply {
      ++*served;
      return call.body().Subcord(1, call.body().size() - 1);
    });
    ASSERT_EQ(env.network->limits().message_bytes, kContractLimits.message_bytes);
    const std::string largest(static_cast<std::size_t>(kContractLimits.message_bytes), 'x');
    const absl::Status status =
        CallAndWait(env, {.to = kContractAddress, .method = "/s/Large", .body = absl::Cord(largest + "x")}).status();
    EXPECT_EQ(CodeOf(status), Code::kResourceExhausted);
    EXPECT_EQ(MessageOf(status),
              "A request of /s/Large has 100001 bytes, the most is 100000: send a large tensor in parts.");
    EXPECT_EQ(*served, 0);
    const NetworkReply reply =
        CallAndWait(env, {.to = kContractAddress, .method = "/s/Large", .body = absl::Cord(largest)});
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->size(), largest.size() - 1);
  });
}

TYPED_TEST_P(NetworkContract, AnAnswerThatIsTooLargeIsAnErrorThatNamesTheMethod) {
  this->place_.Run([](const Env& env) {
    const auto listener = env.network->Listen(kContractAddress, [](IncomingCall& call) -> NetworkReply {
      return absl::Cord(std::string(static_cast<std::size_t>(kContractLimits.message_bytes), 'x') +
                        std::string(call.body()));
    });
    const absl::Status status =
        CallAndWait(env, {.to = kContractAddress, .method = "/s/Large", .body = absl::Cord("y")}).status();
    EXPECT_EQ(CodeOf(status), Code::kResourceExhausted);
    EXPECT_EQ(MessageOf(status),
              "The answer of /s/Large has 100001 bytes, the most is 100000: send a large tensor in parts.");
    EXPECT_TRUE(CallAndWait(env, {.to = kContractAddress, .method = "/s/Large"}).ok());
  });
}

// Two are more than what may be in flight. Each is answered only when the last has come.
TYPED_TEST_P(NetworkContract, WhatThePeerHasTakenHoldsNobodyBack) {
  this->place_.Run([](const Env& env) {
    constexpr int kCalls = 4;
    ASSERT_EQ(env.network->limits().bytes_in_flight, kContractLimits.bytes_in_flight);
    const auto all = std::make_shared<Notification>(*env.tasks, "all have come");
    const auto come = std::make_shared<std::atomic<int>>(0);
    const auto listener = env.network->Listen(kContractAddress, [all, come](IncomingCall& call) -> NetworkReply {
      if (++*come == kCalls) all->Notify();
      all->Wait(kNever);
      return call.body();
    });
    const std::string large(static_cast<std::size_t>(kContractLimits.message_bytes), 'x');
    std::vector<std::shared_ptr<StartedCall>> calls;
    for (int i = 0; i < kCalls; ++i)
      calls.push_back(StartedCall::Start(env, {.to = kContractAddress, .method = "/s/M", .body = absl::Cord(large)}));
    for (const auto& call : calls) {
      EXPECT_EQ(call->Wait(), Code::kOk);
      EXPECT_EQ((*call->reply)->size(), large.size());
    }
  });
}

// Whether it is on its way, waits for its turn, or is being handled.
TYPED_TEST_P(NetworkContract, OfManyLargeRequestsEachHasOneEndAndNoneHoldsUpTheNext) {
  this->place_.Run([](const Env& env) {
    const auto go = std::make_shared<Notification>(*env.tasks, "go");
    const auto listener = env.network->Listen(kContractAddress, [go](IncomingCall& call) -> NetworkReply {
      if (call.method() == "/s/Slow") go->Wait(kNever);
      return absl::Cord("here");
    });
    const absl::Cord large(std::string(static_cast<std::size_t>(kContractLimits.message_bytes), 'x'));
    std::vector<std::shared_ptr<StartedCall>> cancelled, late;
    const Time deadline = DeadlineAfter(env, 3 * TypeParam::Tick());
    for (int i = 0; i < 4; ++i) {
      cancelled.push_back(StartedCall::Start(env, {.to = kContractAddress, .method = "/s/Slow", .body = large}));
      late.push_back(
          StartedCall::Start(env, {.to = kContractAddress, .method = "/s/Slow", .body = large, .deadline = deadline}));
    }
    for (const auto& call : cancelled) env.network->Cancel(call->number);
    for (const auto& call : cancelled) EXPECT_EQ(call->Wait(), Code::kCancelled);
    for (const auto& call : late) EXPECT_EQ(call->Wait(), Code::kDeadlineExceeded);
    const NetworkReply next = CallAndWait(env, {.to = kContractAddress, .method = "/s/Quick", .body = large});
    ASSERT_TRUE(next.ok()) << next.status();
    EXPECT_EQ(*next, "here");
    go->Notify();
    env.tasks->SleepUntil(DeadlineAfter(env, TypeParam::Tick()));
    for (const auto& call : cancelled) EXPECT_EQ(call->answers, 1);
    for (const auto& call : late) EXPECT_EQ(call->answers, 1);
  });
}

TYPED_TEST_P(NetworkContract, OfALongErrorArrivesWhatFits) {
  this->place_.Run([](const Env& env) {
    const auto listener = env.network->Listen(kContractAddress, [](IncomingCall&) -> NetworkReply {
      absl::Status status = WithOrigin(MakeStatus(Code::kStopIteration, std::string(100000, 'm')), "there");
      status.SetPayload("large", absl::Cord(std::string(100000, 'p')));
      return status;
    });
    const absl::Status status = CallAndWait(env, {.to = kContractAddress}).status();
    EXPECT_EQ(CodeOf(status), Code::kStopIteration);
    EXPECT_LE(MessageOf(status).size(), kMostStatusMessageBytes);
    EXPECT_TRUE(MessageOf(status).starts_with("mmm")) << MessageOf(status);
    EXPECT_TRUE(MessageOf(status).ends_with(" bytes that were not sent]")) << MessageOf(status);
    EXPECT_EQ(OriginOf(status), "there");
    EXPECT_FALSE(status.GetPayload("large").has_value());
    EXPECT_EQ(status.GetPayload(kLeftOutPayload), absl::Cord("large"));
  });
}

TYPED_TEST_P(NetworkContract, WhereNobodyServesACallIsUnavailable) {
  this->place_.Run([](const Env& env) {
    EXPECT_EQ(CodeOf(CallAndWait(env, {.to = kContractAddress}).status()), Code::kUnavailable);
    {
      const auto listener =
          env.network->Listen(kContractAddress, [](IncomingCall&) -> NetworkReply { return absl::Cord(""); });
      EXPECT_TRUE(CallAndWait(env, {.to = kContractAddress}).ok());
    }
    EXPECT_EQ(CodeOf(CallAndWait(env, {.to = kContractAddress}).status()), Code::kUnavailable);
  });
}

TYPED_TEST_P(NetworkContract, AnAddressHasOneListenerAtATime) {
  this->place_.Run([](const Env& env) {
    auto first =
        env.network->Listen(kContractAddress, [](IncomingCall&) -> NetworkReply { return absl::Cord("first"); });
    const auto serve = [](IncomingCall&) -> NetworkReply { return absl::Cord("second"); };
    EXPECT_EQ(CodeOf(env.network->Listen(kContractAddress, serve).status()), Code::kAlreadyExists);
    EXPECT_EQ(*CallAndWait(env, {.to = kContractAddress}), "first");
    *first = nullptr;
    const auto second = env.network->Listen(kContractAddress, serve);
    ASSERT_TRUE(second.ok()) << second.status();
    EXPECT_EQ(*CallAndWait(env, {.to = kContractAddress}), "second");
  });
}

TYPED_TEST_P(NetworkContract, AFreePortIsFoundForWhoAsksForNone) {
  this->place_.Run([](const Env& env) {
    const auto serve = [](IncomingCall& call) -> NetworkReply { return call.body(); };
    const auto first = env.network->Listen("localhost:0", serve);
    ASSERT_TRUE(first.ok()) << first.status();
    const auto second = env.network->Listen("localhost:0", serve);
    ASSERT_TRUE(second.ok()) << second.status();
    EXPECT_NE((*first)->address(), (*second)->address());
    for (const auto& each : {&*first, &*second}) {
      EXPECT_TRUE((*each)->address().starts_with("localhost:")) << (*each)->address();
      EXPECT_FALSE((*each)->address().ends_with(":0"));
      EXPECT_EQ(*CallAndWait(env, {.to = (*each)->address(), .method = "/s/M", .body = absl::Cord("here")}), "here");
    }
    const auto named = env.network->Listen(kContractAddress, serve);
    ASSERT_TRUE(named.ok()) << named.status();
  });
}

TYPED_TEST_P(NetworkContract, HandlersRunAtTheSameTime) {
  this->place_.Run([](const Env& env) {
    const auto slow = std::make_shared<SlowHandler>(env);
    const auto listener = env.network->Listen(
        kContractAddress, [slow, serve = SlowHandler::Of(slow)](IncomingCall& call) -> NetworkReply {
          if (call.method() == "slow") return serve(call);
          slow->go.Notify();
          return absl::Cord("quick");
        });
    const auto call = StartedCall::Start(env, {.to = kContractAddress, .method = "slow"});
    slow->entered.Wait(kNever);
    EXPECT_EQ(*CallAndWait(env, {.to = kContractAddress, .method = "quick"}), "quick");
    EXPECT_EQ(call->Wait(), Code::kOk);
    EXPECT_EQ(**call->reply, "late");
    EXPECT_FALSE(slow->told);
  });
}

TYPED_TEST_P(NetworkContract, ADeadlineEndsTheWaitAndTellsTheHandler) {
  this->place_.Run([](const Env& env) {
    const auto slow = std::make_shared<SlowHandler>(env);
    const auto listener = env.network->Listen(kContractAddress, SlowHandler::Of(slow));
    const Time deadline = DeadlineAfter(env, 3 * TypeParam::Tick());
    EXPECT_EQ(CodeOf(CallAndWait(env, {.to = kContractAddress, .deadline = deadline}).status()),
              Code::kDeadlineExceeded);
    EXPECT_GE(env.clock->Monotonic(), deadline);
    slow->left.Wait(kNever);
    EXPECT_TRUE(slow->told);
  });
}

TYPED_TEST_P(NetworkContract, ADeadlineThatIsMetDoesNothing) {
  this->place_.Run([](const Env& env) {
    const auto listener =
        env.network->Listen(kContractAddress, [](IncomingCall&) -> NetworkReply { return absl::Cord("here"); });
    const Time deadline = DeadlineAfter(env, 3 * TypeParam::Tick());
    const auto call = StartedCall::Start(env, {.to = kContractAddress, .deadline = deadline});
    EXPECT_EQ(call->Wait(), Code::kOk);
    env.tasks->SleepUntil(deadline + TypeParam::Tick());
    EXPECT_EQ(call->answers, 1);
  });
}

TYPED_TEST_P(NetworkContract, ACancelledCallIsAnsweredOnceAndItsHandlerTold) {
  this->place_.Run([](const Env& env) {
    const auto slow = std::make_shared<SlowHandler>(env);
    const auto listener = env.network->Listen(kContractAddress, SlowHandler::Of(slow));
    const auto call = StartedCall::Start(env, {.to = kContractAddress});
    slow->entered.Wait(kNever);
    EXPECT_NE(call->number, 0u);
    env.network->Cancel(call->number);
    EXPECT_EQ(call->Wait(), Code::kCancelled);
    slow->left.Wait(kNever);
    EXPECT_TRUE(slow->told);
    env.network->Cancel(call->number);
    env.network->Cancel(call->number + 1000);
    env.tasks->SleepUntil(DeadlineAfter(env, TypeParam::Tick()));
    EXPECT_EQ(call->answers, 1);
  });
}

TYPED_TEST_P(NetworkContract, AHandlerThatAsksLateIsToldAtOnce) {
  this->place_.Run([](const Env& env) {
    const auto slow = std::make_shared<SlowHandler>(env);
    const auto told_late = std::make_shared<Notification>(*env.tasks, "told late");
    const auto listener = env.network->Listen(kContractAddress, [slow, told_late](IncomingCall& call) -> NetworkReply {
      slow->entered.Notify();
      slow->go.Wait(kNever);
      call.OnCancelled([told_late] { told_late->Notify(); });
      return absl::Cord();
    });
    const auto call = StartedCall::Start(env, {.to = kContractAddress});
    slow->entered.Wait(kNever);
    env.network->Cancel(call->number);
    call->Wait();
    env.tasks->SleepUntil(DeadlineAfter(env, TypeParam::Tick()));  // until the handler's side knows
    slow->go.Notify();
    EXPECT_TRUE(told_late->Wait(kNever));
  });
}

TYPED_TEST_P(NetworkContract, CallsUnderWayEndWithTheirListener) {
  this->place_.Run([](const Env& env) {
    const auto slow = std::make_shared<SlowHandler>(env);
    auto listener = env.network->Listen(kContractAddress, SlowHandler::Of(slow));
    const auto call = StartedCall::Start(env, {.to = kContractAddress});
    slow->entered.Wait(kNever);
    *listener = nullptr;
    EXPECT_EQ(call->Wait(), Code::kUnavailable);
    slow->left.Wait(kNever);
    EXPECT_TRUE(slow->told);
  });
}

// A handler that leaves the answer to whoever has it.
struct LateHandler {
  explicit LateHandler(const Env& env)
      : put_off(*env.tasks, "put off"), told(*env.tasks, "told"), go(*env.tasks, "go") {}

  // `waits`: before it puts off, until `go`.
  static RequestHandler Of(const std::shared_ptr<LateHandler>& self, bool waits = false) {
    return [self, waits](IncomingCall& call) -> NetworkReply {
      if (waits) {
        self->put_off.Notify();
        self->go.Wait(kNever);
        self->put_off.Clear();
      }
      self->answer = call.AnswerLater();
      call.OnCancelled([self] { self->told.Notify(); });
      self->put_off.Notify();
      return MakeStatus(Code::kInternal, "nobody looks at this");
    };
  }

  Notification put_off, told, go;
  std::function<void(NetworkReply)> answer;
};

TYPED_TEST_P(NetworkContract, AnAnswerMayComeLaterAndTheFirstCounts) {
  this->place_.Run([](const Env& env) {
    const auto late = std::make_shared<LateHandler>(env);
    const auto listener = env.network->Listen(kContractAddress, LateHandler::Of(late));
    const auto call = StartedCall::Start(env, {.to = kContractAddress, .method = "/s/Late"});
    late->put_off.Wait(kNever);
    env.tasks->SleepUntil(DeadlineAfter(env, TypeParam::Tick()));
    EXPECT_EQ(call->answers, 0);
    late->answer(absl::Cord("first"));
    late->answer(absl::Cord("second"));
    EXPECT_EQ(call->Wait(), Code::kOk);
    EXPECT_EQ(**call->reply, "first");
    late->answer(MakeStatus(Code::kInternal, "third"));
    env.tasks->SleepUntil(DeadlineAfter(env, TypeParam::Tick()));
    EXPECT_EQ(call->answers, 1);
    EXPECT_FALSE(late->told.IsSet());

    late->put_off.Clear();
    const auto too_large = StartedCall::Start(env, {.to = kContractAddress, .method = "/s/Late"});
    late->put_off.Wait(kNever);
    late->answer(absl::Cord(std::string(static_cast<std::size_t>(kContractLimits.message_bytes) + 1, 'x')));
    EXPECT_EQ(too_large->Wait(), Code::kResourceExhausted);
  });
}

TYPED_TEST_P(NetworkContract, WhoAnswersLaterIsToldThatNobodyWaits) {
  this->place_.Run([](const Env& env) {
    const auto late = std::make_shared<LateHandler>(env);
    const auto listener = env.network->Listen(kContractAddress, LateHandler::Of(late));
    const auto call = StartedCall::Start(env, {.to = kContractAddress});
    late->put_off.Wait(kNever);
    env.network->Cancel(call->number);
    EXPECT_EQ(call->Wait(), Code::kCancelled);
    late->told.Wait(kNever);
    late->answer(absl::Cord("late"));
    env.tasks->SleepUntil(DeadlineAfter(env, TypeParam::Tick()));
    EXPECT_EQ(call->answers, 1);
  });
}

TYPED_TEST_P(NetworkContract, WhoPutsOffWhatNobodyWaitsForIsToldAtOnce) {
  this->place_.Run([](const Env& env) {
    const auto late = std::make_shared<LateHandler>(env);
    const auto listener = env.network->Listen(kContractAddress, LateHandler::Of(late, true));
    const auto call = StartedCall::Start(env, {.to = kContractAddress});
    late->put_off.Wait(kNever);
    env.network->Cancel(call->number);
    call->Wait();
    env.tasks->SleepUntil(DeadlineAfter(env, TypeParam::Tick()));  // until the handler's side knows
    late->go.Notify();
    late->told.Wait(kNever);
    late->put_off.Wait(kNever);
    late->answer(absl::Cord("late"));
    const auto next = StartedCall::Start(env, {.to = kContractAddress});
    env.network->Cancel(next->number);
    EXPECT_EQ(next->Wait(), Code::kCancelled);
  });
}

TYPED_TEST_P(NetworkContract, CallsThatAreAnsweredLaterEndWithTheirListener) {
  this->place_.Run([](const Env& env) {
    const auto late = std::make_shared<LateHandler>(env);
    auto listener = env.network->Listen(kContractAddress, LateHandler::Of(late));
    const auto call = StartedCall::Start(env, {.to = kContractAddress});
    late->put_off.Wait(kNever);
    *listener = nullptr;
    EXPECT_EQ(call->Wait(), Code::kUnavailable);
    late->told.Wait(kNever);
    late->answer(absl::Cord("late"));
    EXPECT_EQ(call->answers, 1);
  });
}

TYPED_TEST_P(NetworkContract, AnAnswerMayStartAnotherCall) {
  this->place_.Run([](const Env& env) {
    const auto listener = env.network->Listen(kContractAddress, [](IncomingCall& call) -> NetworkReply {
      return absl::Cord(std::string(call.body()) + "!");
    });
    const auto last = std::make_shared<StartedCall>(env);
    env.network->Start({.to = kContractAddress, .body = absl::Cord("a")}, [env, last](NetworkReply first) {
      env.network->Start({.to = kContractAddress, .body = *first}, [last](NetworkReply second) {
        last->reply = std::move(second);
        last->answered.Notify();
      });
    });
    EXPECT_EQ(last->Wait(), Code::kOk);
    EXPECT_EQ(**last->reply, "a!!");
  });
}

REGISTER_TYPED_TEST_SUITE_P(NetworkContract, CarriesRequestsAndAnswersAsTheyAre,
                            AnErrorOfTheHandlerArrivesWithCodeMessageAndPayloads,
                            ARequestThatIsTooLargeIsNotSentAndItsMethodNamed,
                            AnAnswerThatIsTooLargeIsAnErrorThatNamesTheMethod, WhatThePeerHasTakenHoldsNobodyBack,
                            OfManyLargeRequestsEachHasOneEndAndNoneHoldsUpTheNext, OfALongErrorArrivesWhatFits,
                            WhereNobodyServesACallIsUnavailable, AnAddressHasOneListenerAtATime,
                            AFreePortIsFoundForWhoAsksForNone, HandlersRunAtTheSameTime,
                            ADeadlineEndsTheWaitAndTellsTheHandler, ADeadlineThatIsMetDoesNothing,
                            ACancelledCallIsAnsweredOnceAndItsHandlerTold, AHandlerThatAsksLateIsToldAtOnce,
                            CallsUnderWayEndWithTheirListener, AnAnswerMayComeLaterAndTheFirstCounts,
                            WhoAnswersLaterIsToldThatNobodyWaits, WhoPutsOffWhatNobodyWaitsForIsToldAtOnce,
                            CallsThatAreAnsweredLaterEndWithTheirListener, AnAnswerMayStartAnotherCall);

}  // namespace vigil::contracts

#endif  // VIGIL_PROPERTIES_CONTRACTS_NETWORK_CONTRACT_H_
