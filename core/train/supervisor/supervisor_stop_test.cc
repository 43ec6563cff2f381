// The arguments of Supervisor::Stop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "vigil/core/train/supervisor/testing.h"

namespace vigil {
namespace {

using std::chrono::seconds;
using testing::Contains;
using testing::Not;
using testing::StartsWith;

class SupervisorStopTest : public SupervisorTest {
 protected:
  TaskPtr Sleeper(double secs) {
    return env().tasks->Spawn("sleeper", [this, secs] { SleepUntil(secs); });
  }
};

TEST_F(SupervisorStopTest, JoinsTheTasksThatItIsGiven) {
  const auto sv = Make({.stop_grace_secs = seconds(5)});
  const SessionPtr session = Prepare(*sv);
  const TaskPtr task = Sleeper(3);
  EXPECT_EQ(Text(sv->Stop({.tasks = {task}})), "OK");
  EXPECT_TRUE(task->done());
  EXPECT_EQ(Now(), 3);
}

TEST_F(SupervisorStopTest, LiveTasksMayBeIgnored) {
  const auto sv = Make({.stop_grace_secs = seconds(5)});
  const SessionPtr session = Prepare(*sv);
  EXPECT_EQ(Text(sv->Stop({.tasks = {Sleeper(1000)}})),
            "USAGE: Coordinator stopped with threads still running: sleeper");
  const auto other = Make({.stop_grace_secs = seconds(5)});
  EXPECT_EQ(Text(other->Stop({.tasks = {Sleeper(1000)}, .ignore_live_tasks = true})), "OK");
}

TEST_F(SupervisorStopTest, TheWriterMayStayOpen) {
  const auto sv = Make({.logdir = kLogdir, .save_summaries_secs = {}, .save_model_secs = {}});
  const SessionPtr session = Prepare(*sv);
  EXPECT_EQ(Text(sv->Stop({.close_summary_writer = false})), "OK");
  EXPECT_EQ(Text(sv->summary_writer()->Flush()), "OK");
  ASSERT_EQ(EventsFiles().size(), 1u);
  EXPECT_THAT(Events(EventsFiles()[0]), Not(Contains(StartsWith("STOP"))));
  EXPECT_EQ(Text(sv->Stop()), "OK");
  EXPECT_THAT(Events(EventsFiles()[0]), Contains(StartsWith("STOP")));
}

}  // namespace
}  // namespace vigil
