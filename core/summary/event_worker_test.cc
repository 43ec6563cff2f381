#include "vigil/core/summary/event_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "vigil/core/base/code.h"
#include "vigil/core/summary/testing.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/few_threads.h"

namespace vigil {
namespace {

using fakes::FileOp;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr char kWorkerPath[] = "/logs/events.out.tfevents.0000001000.host";

class EventWorkerTest : public testing::Test {
 protected:
  std::shared_ptr<EventWorker> Start(int max_queue = 10) {
    return EventWorker::Start(fake_.env(), EventsFile(fake_.env(), "/logs", "host", ""), max_queue, seconds(120));
  }
  static std::string EventAt(std::int64_t step) {
    proto::Event event;
    event.set_step(step);
    return event.SerializeAsString();
  }
  std::size_t Written() { return EventTexts(fake_.files, kWorkerPath).size(); }
  // Opening the events file takes so long; kNever: for ever.
  void SlowOpen(Duration duration) {
    fake_.files.set_fault([this, duration](FileOp op, const std::string&) {
      if (op == FileOp::kOpen) fake_.tasks.SleepUntil(DeadlineAfter(fake_.env(), duration));
      return absl::OkStatus();
    });
  }
  void FailAppends() {
    fake_.files.set_fault([](FileOp op, const std::string& path) {
      if (op != FileOp::kAppend) return absl::OkStatus();
      return MakeStatus(Code::kResourceExhausted, "append to " + path + ": no space");
    });
  }
  Duration Elapsed() { return fake_.clock.Monotonic().since_epoch; }
  static Code CodeOfBool(const absl::StatusOr<bool>& outcome) { return CodeOf(outcome.status()); }

  fakes::FakeEnv fake_;
};

TEST_F(EventWorkerTest, ATaskThatCannotBeStartedIsWhatEveryCallSays) {
  fakes::FewThreads none(fake_.tasks, 0);
  Env env = fake_.env();
  env.tasks = &none;
  const auto worker = EventWorker::Start(env, EventsFile(env, "/logs", "host", ""), 10, seconds(120));
  EXPECT_EQ(CodeOfBool(worker->Put(EventAt(1))), Code::kResourceExhausted);
  EXPECT_EQ(CodeOfBool(worker->Flush()), Code::kResourceExhausted);
  EXPECT_EQ(CodeOf(worker->Close()), Code::kResourceExhausted);
  EXPECT_FALSE(worker->working());
  worker->Abandon();
}

TEST_F(EventWorkerTest, WritesInOrderAndFlushes) {
  const auto worker = Start();
  for (int i = 1; i <= 25; ++i) EXPECT_EQ(*worker->Put(EventAt(i)), true);
  EXPECT_EQ(*worker->Flush(), true);
  const std::vector<std::string> texts = EventTexts(fake_.files, kWorkerPath);
  ASSERT_EQ(texts.size(), 25u);
  for (int i = 1; i <= 25; ++i) EXPECT_EQ(texts[static_cast<std::size_t>(i - 1)], "step: " + std::to_string(i));
  EXPECT_TRUE(worker->Close().ok());
  EXPECT_FALSE(worker->working());
}

TEST_F(EventWorkerTest, TheFirstEventIsFlushedAtOnceAndThenOneAfterTheInterval) {
  const auto worker = Start();
  const auto put = [&](int step) {
    EXPECT_TRUE(worker->Put(EventAt(step)).ok());
    fake_.tasks.RunReady();
    return Written();
  };
  EXPECT_EQ(put(1), 1u);
  EXPECT_EQ(put(2), 1u);
  fake_.clock.Advance(seconds(120));
  EXPECT_EQ(put(3), 1u);
  fake_.clock.Advance(Duration(1));
  EXPECT_EQ(put(4), 4u);
  EXPECT_EQ(put(5), 4u);
  EXPECT_TRUE(worker->Close().ok());
  EXPECT_EQ(Written(), 5u);
}

TEST_F(EventWorkerTest, AFullQueueMakesTheCallerWait) {
  SlowOpen(seconds(10));
  const auto worker = Start(3);
  EXPECT_TRUE(worker->Put(EventAt(0)).ok());
  fake_.tasks.RunReady();  // the task has taken it
  for (int i = 1; i <= 3; ++i) EXPECT_TRUE(worker->Put(EventAt(i)).ok());
  EXPECT_EQ(Elapsed(), Duration(0));
  EXPECT_TRUE(worker->Put(EventAt(4)).ok());
  EXPECT_EQ(Elapsed(), seconds(10));
  EXPECT_TRUE(worker->Close().ok());
  EXPECT_EQ(Written(), 5u);
}

TEST_F(EventWorkerTest, AQueueWithoutBoundNeverWaits) {
  SlowOpen(seconds(10));
  const auto worker = Start(0);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(worker->Put(EventAt(i)).ok());
  EXPECT_EQ(Elapsed(), Duration(0));
  EXPECT_TRUE(worker->Close().ok());
  EXPECT_EQ(Written(), 1000u);
}

TEST_F(EventWorkerTest, AFailedWriteReachesThePutThatWaits) {
  FailAppends();
  const auto worker = Start(2);
  Code code = Code::kOk;
  int taken = 0;
  while (code == Code::kOk && taken < 100) {
    code = CodeOfBool(worker->Put(EventAt(1)));
    ++taken;
  }
  EXPECT_EQ(code, Code::kResourceExhausted);
  EXPECT_LE(taken, 4);
  EXPECT_EQ(CodeOfBool(worker->Flush()), Code::kResourceExhausted);
  EXPECT_EQ(CodeOf(worker->Close()), Code::kResourceExhausted);
  ASSERT_EQ(fake_.log.lines().size(), 1u);
  EXPECT_THAT(fake_.log.lines()[0].text, HasSubstr("no space"));
}

TEST_F(EventWorkerTest, AFailedWriteReachesTheFlushThatWaits) {
  FailAppends();
  const auto worker = Start();
  EXPECT_TRUE(worker->Put(EventAt(1)).ok());
  EXPECT_EQ(CodeOfBool(worker->Flush()), Code::kResourceExhausted);
}

TEST_F(EventWorkerTest, AFailedCloseIsSaid) {
  const auto worker = Start();
  EXPECT_TRUE(worker->Put(EventAt(1)).ok());
  EXPECT_TRUE(worker->Flush().ok());
  fake_.files.FailOnce(FileOp::kClose, 1, MakeStatus(Code::kUnknown, "EIO"));
  EXPECT_EQ(CodeOf(worker->Close()), Code::kUnknown);
}

TEST_F(EventWorkerTest, AfterCloseNothingIsTaken) {
  const auto worker = Start();
  EXPECT_TRUE(worker->Close().ok());
  EXPECT_EQ(*worker->Put(EventAt(1)), false);
  EXPECT_EQ(*worker->Flush(), false);
  EXPECT_TRUE(worker->Close().ok());
}

TEST_F(EventWorkerTest, APutThatWaitsEndsWithTheClose) {
  SlowOpen(seconds(10));
  const auto worker = Start(1);
  EXPECT_TRUE(worker->Put(EventAt(0)).ok());
  fake_.tasks.RunReady();
  EXPECT_TRUE(worker->Put(EventAt(1)).ok());
  std::optional<bool> taken;
  const auto other = fake_.tasks.Spawn("other", [&] { taken = *worker->Put(EventAt(2)); });
  fake_.tasks.RunReady();
  EXPECT_TRUE(worker->Close().ok());
  EXPECT_TRUE(other->Join(kNever));
  EXPECT_EQ(taken, false);
  EXPECT_EQ(Written(), 2u);
}

TEST_F(EventWorkerTest, AnAbandonedTaskEnds) {
  const auto worker = Start();
  EXPECT_TRUE(worker->Put(EventAt(0)).ok());
  fake_.tasks.RunReady();
  EXPECT_TRUE(worker->working());
  worker->Abandon();
  fake_.tasks.RunReady();
  EXPECT_FALSE(worker->working());
}

// These pass by not hanging: the end of the process meets the task in a file operation, and callers in each wait.
TEST_F(EventWorkerTest, TheEndOfTheProcessUnwindsWhoeverWaitsForRoomOrAFlush) {
  SlowOpen(Duration::max());
  const auto worker = Start(1);
  for (const char* name : {"a", "b", "c"}) {
    fake_.tasks.Spawn(name, [worker] {
      while (worker->Put(EventAt(1)).value_or(false)) {
      }
    });
  }
  fake_.tasks.Spawn("flush", [worker] { worker->Flush().IgnoreError(); });
  fake_.tasks.SleepUntil({seconds(2)});
  EXPECT_TRUE(worker->working());
}

TEST_F(EventWorkerTest, TheEndOfTheProcessUnwindsWhoeverWaitsForTheClose) {
  SlowOpen(Duration::max());
  const auto worker = Start(1);
  EXPECT_TRUE(worker->Put(EventAt(1)).ok());
  fake_.tasks.Spawn("close", [worker] { worker->Close().IgnoreError(); });
  fake_.tasks.Spawn("put", [worker] { EXPECT_FALSE(worker->Put(EventAt(2)).value_or(true)); });
  fake_.tasks.SleepUntil({seconds(2)});
  EXPECT_TRUE(worker->working());
}

}  // namespace
}  // namespace vigil
