// The points of a course are counted, and what happens at one of them happens there and not a step later.
#include "vigil/sim/course.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/env/network.h"
#include "vigil/sim/alarm.h"
#include "vigil/sim/fault_applier.h"
#include "vigil/sim/world.h"

namespace vigil::sim {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using PointKind = FaultPoint::Kind;

struct CoursePlay {
  CourseLog log;
  std::vector<std::string> heard;  // by the chief, over all its lives
  int counted = 0;                 // by the server, over all its lives
  std::string file;                // what is left of the chief's
  FaultTallies tallies;
  std::uint64_t hash = 0;
};

// A server that counts, and a chief that makes it count twice, writes down what it heard, and syncs it.
CoursePlay PlayCourse(std::vector<TimedFault> faults) {
  CoursePlay play;
  World world{WorldOptions{}};
  Node& chief = world.AddNode("chief:0");
  Node& ps = world.AddNode("ps:0");
  world.course().LogTo(&play.log);
  const auto serve = [&play](const Env& env) {
    const auto listener = env.network->Listen(
        "ps:1", [&play](IncomingCall&) -> NetworkReply { return absl::Cord(std::to_string(++play.counted)); });
    env.tasks->SleepUntil(kNever);
  };
  const auto train = [&play](const Env& env) {
    env.tasks->SleepUntil(DeadlineAfter(env, seconds(1)));
    for (int i = 0; i < 2; ++i) {
      const NetworkReply reply = CallAndWait(env, {.to = "ps:1", .method = "/vigil.Test/Count"});
      play.heard.push_back(reply.ok() ? std::string(*reply) : std::string(CodeName(CodeOf(reply.status()))));
      const auto file = env.files->Open("/heard", OpenMode::kAppend);
      if (!file.ok()) return;
      (*file)->Append(play.heard.back()).IgnoreError();
      (*file)->Sync().IgnoreError();
      env.files->SyncDirectory("/").IgnoreError();
      (*file)->Close().IgnoreError();
    }
  };
  FaultPlan plan;
  plan.timed = std::move(faults);
  FaultApplier applier(world, {{"chief:0", &chief}, {"ps:0", &ps}}, plan, [&](Node& node) {
    node.Spawn("main", [&, env = node.env()] { node.name() == "ps:0" ? serve(env) : train(env); });
  });
  for (Node* const node : {&ps, &chief}) {
    node->Spawn("main", [&, node, env = node->env()] { node->name() == "ps:0" ? serve(env) : train(env); });
  }
  Alarm end(world.scheduler(), [&world] { world.Stop(); });
  end.SetAt(seconds(60));
  applier.Begin();
  world.Run();
  play.tallies = applier.Tallies();
  play.hash = world.hash();
  const auto contents = chief.disk().Contents();
  if (const auto found = contents.find("/heard"); found != contents.end()) play.file = found->second;
  return play;
}

TimedFault CrashAt(PointKind kind, std::int64_t n, std::string task, std::optional<Duration> back = std::nullopt) {
  TimedFault fault;
  fault.task = std::move(task);
  fault.point = FaultPoint{kind, n};
  fault.restart_after = back;
  return fault;
}

TEST(CourseTest, CountsWhatHappens) {
  const CoursePlay play = PlayCourse({});
  std::vector<std::string> points;
  for (const CoursePoint& point : play.log) {
    points.push_back(fmt::format("{}{} {} {}{}{}", "sdf"[static_cast<std::size_t>(point.at.kind)], point.at.n,
                                 point.task, point.what, point.request ? " asks " : " ", point.peer));
  }
  points.resize(10);
  EXPECT_THAT(points,
              ElementsAre("s1 chief:0 /vigil.Test/Count asks ps:0", "d1 ps:0 /vigil.Test/Count asks chief:0",
                          "s2 ps:0 /vigil.Test/Count chief:0", "d2 chief:0 /vigil.Test/Count ps:0",
                          "f1 chief:0 open /heard ", "f2 chief:0 append /heard ", "f3 chief:0 sync /heard ",
                          "f4 chief:0 sync / ", "f5 chief:0 close /heard ", "s3 chief:0 /vigil.Test/Count asks ps:0"));
  EXPECT_THAT(play.heard, ElementsAre("1", "2"));
  EXPECT_EQ(PlayCourse({}).hash, play.hash);
}

TEST(CourseTest, WhoDiesWhenItsMessageIsSentHasSentIt) {
  const CoursePlay play = PlayCourse({CrashAt(PointKind::kSent, 1, "chief:0")});
  EXPECT_EQ(play.counted, 1);
  EXPECT_THAT(play.heard, IsEmpty());
  EXPECT_EQ(play.tallies[FaultKind::kCrashForGood], (FaultTally{1, 1, 1}));
}

TEST(CourseTest, WhoDiesWhenARequestArrivesHasNotServedIt) {
  const CoursePlay play = PlayCourse({CrashAt(PointKind::kDelivered, 1, "ps:0")});
  EXPECT_EQ(play.counted, 0);
  EXPECT_THAT(play.heard, ElementsAre("UNAVAILABLE", "UNAVAILABLE"));
}

TEST(CourseTest, WhoDiesWhenItsReplyIsSentHasServedAndIsHeard) {
  const CoursePlay play = PlayCourse({CrashAt(PointKind::kSent, 2, "ps:0", seconds(1))});
  EXPECT_THAT(play.heard, ElementsAre("1", "UNAVAILABLE"));
  EXPECT_EQ(play.counted, 1);
}

TEST(CourseTest, AnOperationBeforeWhichItsTaskDiesHasNoEffect) {
  EXPECT_EQ(PlayCourse({CrashAt(PointKind::kFileOp, 2, "chief:0")}).file, "");
  EXPECT_EQ(PlayCourse({CrashAt(PointKind::kFileOp, 3, "chief:0")}).file, "1");
  // It starts again, and does what is left to do.
  const CoursePlay again = PlayCourse({CrashAt(PointKind::kFileOp, 2, "chief:0", seconds(1))});
  EXPECT_EQ(again.file, "23");
  EXPECT_THAT(again.heard, ElementsAre("1", "2", "3"));
}

TEST(CourseTest, APowerCutTakesWhatIsNotSyncedYet) {
  TimedFault cut = CrashAt(PointKind::kFileOp, 3, "chief:0");
  cut.disk = DiskLoss::kUnsynced;
  EXPECT_EQ(PlayCourse({cut}).file, "");  // before the sync
  cut.point->n = 5;
  const CoursePlay synced = PlayCourse({cut});
  EXPECT_EQ(synced.file, "1");
  EXPECT_EQ(synced.tallies[FaultKind::kPowerCut].fired, 1);
}

TEST(CourseTest, ALinkThatIsCutAsAMessageIsSentLosesIt) {
  TimedFault cut;
  cut.kind = TimedFault::Kind::kCut;
  cut.task = "chief:0";
  cut.peer = "ps:0";
  cut.lasts = seconds(5);
  cut.point = FaultPoint{PointKind::kSent, 1};
  EXPECT_EQ(PlayCourse({cut}).counted, 0);
  cut.point = FaultPoint{PointKind::kDelivered, 1};
  EXPECT_EQ(PlayCourse({cut}).counted, 1);  // it is served; nobody hears of it
  cut.point = FaultPoint{PointKind::kSent, 100};
  EXPECT_EQ(PlayCourse({cut}).tallies[FaultKind::kCut], (FaultTally{1, 0, 0}));
}

}  // namespace
}  // namespace vigil::sim
