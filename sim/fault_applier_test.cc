// A plan happens as it says, to tasks that call each other; what had no effect is told from what had.
#include "vigil/sim/fault_applier.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/sim/alarm.h"

namespace vigil::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::SizeIs;
using Kind = TimedFault::Kind;

// A parameter server that counts, and a chief that makes it count once a second and writes what it heard.
class FaultApplierTest : public testing::Test {
 protected:
  void Make(FaultPlan plan, Duration chief_ends = seconds(100)) {
    chief_ends_ = chief_ends;
    applier_ = std::make_unique<FaultApplier>(world_, FaultApplier::Tasks{{"chief:0", &chief_}, {"ps:0", &ps_}}, plan,
                                              [this](Node& node) { Boot(node); });
    for (Node* const node : {&ps_, &chief_}) {
      if (!applier_->StartsLate(node->name())) Boot(*node);
    }
  }
  void Boot(Node& node) {
    node.Spawn("main", [this, &node, env = node.env()] { node.name() == "ps:0" ? Serve(env) : Train(env); });
  }
  void Serve(const Env& env) {
    ++starts_;
    const auto listener = env.network->Listen("ps:1", [this](IncomingCall&) -> NetworkReply {
      if (handling_ > Duration(0)) world_.AdvanceBy(handling_);
      return absl::Cord(std::to_string(++counted_));
    });
    env.tasks->SleepUntil(kNever);
  }
  void Train(const Env& env) {
    ++chief_starts_;
    const auto file = env.files->Open("/heard", OpenMode::kAppend);
    while (env.clock->Monotonic() < Time{chief_ends_}) {
      env.tasks->SleepUntil(DeadlineAfter(env, seconds(1)));
      const NetworkReply reply =
          CallAndWait(env, {.to = "ps:1", .method = "/vigil.Test/Count", .keepalive = seconds(4)});
      heard_.push_back(fmt::format("{} {}", env.clock->Now().since_epoch / milliseconds(1),
                                   reply.ok() ? std::string(*reply) : std::string(CodeName(CodeOf(reply.status())))));
      if (file.ok()) (*file)->Append("x").IgnoreError();
    }
    env.files->Remove("/heard").IgnoreError();
  }
  void Run(Duration until = seconds(200)) {
    Alarm end(world_.scheduler(), [this] { world_.Stop(); });
    end.SetAt(until);
    applier_->Begin();
    world_.Run();
  }
  FaultTally TallyOf(FaultKind kind) const { return applier_->Tallies()[kind]; }
  std::vector<std::string> Happened() const {
    std::vector<std::string> out;
    for (const auto& entry : applier_->history())
      out.push_back(fmt::format("{} {}", entry.at / seconds(1), entry.text));
    return out;
  }

  World world_{WorldOptions{}};
  Node& chief_ = world_.AddNode("chief:0");
  Node& ps_ = world_.AddNode("ps:0");
  Duration chief_ends_{0};
  Duration handling_{0};  // what a request takes
  int starts_ = 0;
  int chief_starts_ = 0;
  int counted_ = 0;
  std::vector<std::string> heard_;
  std::unique_ptr<FaultApplier> applier_;
};

constexpr FaultTally kEffective{1, 1, 1};
constexpr FaultTally kInert{1, 1, 0};
constexpr FaultTally kUnfired{1, 0, 0};

TEST_F(FaultApplierTest, ACrashedTaskStartsAgain) {
  Make({.timed = {{.kind = Kind::kCrash, .at = seconds(5), .task = "ps:0", .restart_after = seconds(3)}}});
  EXPECT_EQ(applier_->LastStart(), seconds(8));
  Run();
  EXPECT_THAT(Happened(), ElementsAre("5 crash ps:0", "8 ps:0 starts again"));
  EXPECT_EQ(starts_, 2);
  EXPECT_EQ(ps_.restarts(), 1);
  EXPECT_THAT(heard_, Contains(HasSubstr("UNAVAILABLE")));
  EXPECT_GT(counted_, 90);
  EXPECT_EQ(TallyOf(FaultKind::kCrashRestart), kEffective);
  EXPECT_FALSE(applier_->StaysAway("ps:0"));
}

TEST_F(FaultApplierTest, ACrashOfWhatHasEndedIsInert) {
  Make({.timed = {{.kind = Kind::kCrash, .at = seconds(50), .task = "chief:0", .restart_after = seconds(3)},
                  {.kind = Kind::kPause, .at = seconds(50), .task = "chief:0", .lasts = seconds(3)}}},
       seconds(10));
  Run();
  EXPECT_EQ(chief_starts_, 1);
  EXPECT_EQ(TallyOf(FaultKind::kCrashRestart), kInert);
  EXPECT_EQ(TallyOf(FaultKind::kPause), kInert);
}

TEST_F(FaultApplierTest, ACrashForGoodStaysAwayAfterHealing) {
  Make({.timed = {{.kind = Kind::kCrash, .at = seconds(5), .task = "ps:0"},
                  {.kind = Kind::kCrash, .at = seconds(6), .task = "chief:0", .restart_after = seconds(1000)},
                  {.kind = Kind::kCrash, .at = seconds(30), .task = "chief:0"}}});
  Alarm heal(world_.scheduler(), [this] { applier_->HealAll(); });
  heal.SetAt(seconds(20));
  Run();
  EXPECT_TRUE(applier_->StaysAway("ps:0"));
  EXPECT_FALSE(applier_->StaysAway("chief:0"));
  EXPECT_THAT(Happened(),
              ElementsAre("5 crash ps:0", "6 crash chief:0", "20 all faults end", "20 chief:0 starts again"));
  EXPECT_EQ(TallyOf(FaultKind::kCrashForGood), (FaultTally{2, 1, 1}));
  EXPECT_EQ(chief_starts_, 2);
}

TEST_F(FaultApplierTest, APowerCutTakesWhatWasNotSynced) {
  Make({.timed = {{.kind = Kind::kCrash, .at = seconds(5), .task = "chief:0", .disk = DiskLoss::kUnsynced},
                  {.kind = Kind::kCrash, .at = seconds(6), .task = "ps:0", .disk = DiskLoss::kTorn}}});
  Run();
  EXPECT_THAT(chief_.disk().Contents(), IsEmpty());
  EXPECT_EQ(TallyOf(FaultKind::kCrashForGood), (FaultTally{2, 2, 2}));
  EXPECT_EQ(TallyOf(FaultKind::kPowerCut), kEffective);
  EXPECT_EQ(TallyOf(FaultKind::kTornWrite), kInert);  // it had written nothing
}

// What waits for it goes on waiting until it starts again, when what it does not know any more is refused.
TEST_F(FaultApplierTest, ASilentDeath) {
  Make({.timed = {
            {.kind = Kind::kCrash, .at = seconds(5), .task = "ps:0", .restart_after = seconds(30), .silently = true}}});
  Run();
  EXPECT_THAT(Happened(), ElementsAre("5 crash ps:0 silently", "35 ps:0 starts again"));
  EXPECT_EQ(TallyOf(FaultKind::kCrashRestart), kEffective);
  EXPECT_EQ(TallyOf(FaultKind::kSilentDeath), kEffective);
  // Only its keepalive tells the chief; a process that died would have been told of within 0.1 s.
  EXPECT_EQ(heard_[3], "1004008 4");
  EXPECT_EQ(heard_[4], "1009008 UNAVAILABLE");
  EXPECT_EQ(heard_[9], "1034008 UNAVAILABLE");
  EXPECT_EQ(heard_[10], "1035010 5");
}

TEST_F(FaultApplierTest, ASilentDeathForGoodIsKnownWhenAllHasHealed) {
  Make({.timed = {{.kind = Kind::kCrash, .at = seconds(5), .task = "ps:0", .silently = true}}});
  Alarm heal(world_.scheduler(), [this] { applier_->HealAll(); });
  heal.SetAt(seconds(20));
  Run();
  EXPECT_TRUE(applier_->StaysAway("ps:0"));
  EXPECT_EQ(heard_[4], "1009008 UNAVAILABLE");
  EXPECT_EQ(heard_[6], "1019008 UNAVAILABLE");
  EXPECT_EQ(heard_[7], "1020009 UNAVAILABLE");
  EXPECT_EQ(heard_[8], "1021010 UNAVAILABLE");
  EXPECT_EQ(TallyOf(FaultKind::kCrashForGood), kEffective);
  EXPECT_EQ(TallyOf(FaultKind::kSilentDeath), kEffective);
}

// Neither is told of the other's end: they go at one moment, and what the chief had written goes with it.
TEST_F(FaultApplierTest, ARackLosesItsPower) {
  const TimedFault part = {.kind = Kind::kCrash,
                           .at = milliseconds(5000),
                           .restart_after = seconds(2),
                           .disk = DiskLoss::kUnsynced,
                           .part_of = TimedFault::Whole::kRack};
  FaultPlan plan;
  for (const char* const task : {"chief:0", "ps:0"}) {
    plan.timed.push_back(part);
    plan.timed.back().task = task;
  }
  Make(plan, seconds(20));
  Run(seconds(15));
  EXPECT_THAT(Happened(),
              ElementsAre("5 crash chief:0", "5 crash ps:0", "7 chief:0 starts again", "7 ps:0 starts again"));
  EXPECT_THAT(heard_, Not(Contains(HasSubstr("UNAVAILABLE"))));
  EXPECT_EQ(starts_, 2);
  EXPECT_EQ(chief_starts_, 2);
  EXPECT_LT(chief_.disk().Contents().at("/heard").size(), heard_.size());
  EXPECT_EQ(TallyOf(FaultKind::kRack), (FaultTally{2, 2, 2}));
  EXPECT_EQ(TallyOf(FaultKind::kCrashRestart), (FaultTally{2, 2, 2}));
}

TEST_F(FaultApplierTest, ARackOfOneThatStandsIsNone) {
  Make({.timed = {{.kind = Kind::kCrash,
                   .at = seconds(30),
                   .task = "chief:0",
                   .disk = DiskLoss::kUnsynced,
                   .part_of = TimedFault::Whole::kRack},
                  {.kind = Kind::kCrash,
                   .at = seconds(30),
                   .task = "ps:0",
                   .disk = DiskLoss::kUnsynced,
                   .part_of = TimedFault::Whole::kRack}}},
       seconds(10));
  Run();
  EXPECT_EQ(TallyOf(FaultKind::kRack), (FaultTally{2, 2, 0}));  // the chief has ended
  EXPECT_EQ(TallyOf(FaultKind::kCrashForGood), (FaultTally{2, 2, 1}));
}

TEST_F(FaultApplierTest, ARollingRestart) {
  FaultPlan plan;
  for (const char* const task : {"chief:0", "ps:0"}) {
    plan.timed.push_back({.kind = Kind::kCrash,
                          .at = seconds(5 + 10 * static_cast<int>(plan.timed.size())),
                          .task = task,
                          .restart_after = seconds(1),
                          .part_of = TimedFault::Whole::kRollingRestart});
  }
  Make(plan, seconds(30));
  Run();
  EXPECT_THAT(Happened(),
              ElementsAre("5 crash chief:0", "6 chief:0 starts again", "15 crash ps:0", "16 ps:0 starts again"));
  EXPECT_EQ(TallyOf(FaultKind::kRollingRestart), (FaultTally{2, 2, 2}));
}

// Two workers' machines and the server's are three; the chief is on neither side and hears the server all the time.
TEST(FaultApplierPartitionTest, WhoIsOnNeitherSideReachesAll) {
  World world{WorldOptions{}};
  FaultApplier::Tasks tasks;
  for (const char* const name : {"chief:0", "ps:0", "worker:0", "worker:1"}) tasks[name] = &world.AddNode(name);
  FaultPlan plan;
  for (const char* const task : {"worker:0", "worker:1"}) {
    plan.timed.push_back({.kind = Kind::kCut,
                          .at = milliseconds(5500),
                          .task = task,
                          .peer = "ps:0",
                          .one_way = true,
                          .lasts = seconds(3),
                          .part_of = TimedFault::Whole::kPartition});
  }
  std::map<std::string, std::string> heard;
  FaultApplier applier(world, tasks, plan, [](Node&) {});
  for (const auto& [name, node] : tasks) {
    node->Spawn("main", [&heard, &name = name, env = node->env()] {
      const auto listener =
          env.network->Listen(name + ":1", [](IncomingCall&) -> NetworkReply { return absl::Cord("yes"); });
      for (int i = 0; i < 10; ++i) {
        env.tasks->SleepUntil(Time{seconds(1 + i)});
        const std::string to = name == "ps:0" ? "worker:0:1" : "ps:0:1";
        heard[name] += CallAndWait(env, {.to = to, .method = "/vigil.Test/Count"}).ok() ? '+' : '-';
      }
    });
  }
  applier.Begin();
  world.Run();
  EXPECT_EQ(heard["worker:0"], "+++++---++");
  EXPECT_EQ(heard["worker:1"], "+++++---++");
  EXPECT_EQ(heard["chief:0"], "++++++++++");
  EXPECT_EQ(heard["ps:0"], "++++++++++");  // the other way
  EXPECT_EQ(applier.Tallies()[FaultKind::kPartition], (FaultTally{2, 2, 2}));
  EXPECT_EQ(applier.Tallies()[FaultKind::kOneWayCut], (FaultTally{2, 2, 2}));
}

TEST_F(FaultApplierTest, ALostDisk) {
  Make({.timed = {{.kind = Kind::kCrash,
                   .at = seconds(5),
                   .task = "chief:0",
                   .restart_after = seconds(1),
                   .disk = DiskLoss::kAll}}});
  Run(seconds(20));
  EXPECT_LT(chief_.disk().Contents().at("/heard").size(), 15u);
  EXPECT_EQ(TallyOf(FaultKind::kLostDisk), kEffective);
}

TEST_F(FaultApplierTest, PausesOverlap) {
  Make({.timed = {{.kind = Kind::kPause, .at = seconds(5), .task = "ps:0", .lasts = seconds(2)},
                  {.kind = Kind::kPause, .at = seconds(6), .task = "ps:0", .lasts = seconds(2)}}},
       seconds(10));
  Run();
  EXPECT_THAT(Happened(), ElementsAre("5 pause ps:0", "6 pause ps:0", "8 resume ps:0"));
  EXPECT_EQ(TallyOf(FaultKind::kPause), (FaultTally{2, 2, 2}));
}

TEST_F(FaultApplierTest, WhatEndsWhatIsTold) {
  Make({.timed = {{.kind = Kind::kPause, .at = seconds(5), .task = "ps:0", .lasts = seconds(2)},
                  {.kind = Kind::kPause, .at = seconds(6), .task = "ps:0", .lasts = seconds(2)},
                  {.kind = Kind::kCut, .at = seconds(9), .task = "chief:0", .peer = "ps:0", .lasts = seconds(9)},
                  {.kind = Kind::kCut, .at = seconds(10), .task = "chief:0", .peer = "ps:0", .lasts = seconds(1)}}},
       seconds(20));
  Run();
  const std::vector<FaultApplier::Entry>& told = applier_->history();
  ASSERT_THAT(told, SizeIs(7));  // two pauses, their end, two cuts, the end of the second, that of the first
  EXPECT_TRUE(told[2].Ends(told[0]) && told[2].Ends(told[1]));
  EXPECT_TRUE(told[5].Ends(told[4]) && !told[5].Ends(told[3]));
  EXPECT_TRUE(told[6].Ends(told[3]) && !told[6].Ends(told[0]));
}

TEST_F(FaultApplierTest, APauseOutlivesItsProcessByNothing) {
  Make({.timed = {{.kind = Kind::kPause, .at = seconds(5), .task = "ps:0", .lasts = seconds(20)},
                  {.kind = Kind::kCrash, .at = seconds(6), .task = "ps:0", .restart_after = seconds(1)}}},
       seconds(40));
  Run();
  EXPECT_GT(counted_, 30);
  EXPECT_FALSE(ps_.paused());
  EXPECT_THAT(Happened(), SizeIs(3));
}

TEST_F(FaultApplierTest, ATaskStartsLate) {
  Make({.timed = {{.kind = Kind::kStart, .at = seconds(8), .task = "ps:0"}}}, seconds(20));
  Run();
  EXPECT_EQ(starts_, 1);
  EXPECT_THAT(heard_[5], HasSubstr("UNAVAILABLE"));
  EXPECT_THAT(heard_, Contains(testing::EndsWith(" 1")));
  EXPECT_EQ(TallyOf(FaultKind::kLateStart), kEffective);
}

TEST_F(FaultApplierTest, LinksAreCutSilentAndSlow) {
  Make({.timed = {{.kind = Kind::kCut, .at = seconds(5), .task = "chief:0", .peer = "ps:0", .lasts = seconds(2)},
                  {.kind = Kind::kCut,
                   .at = seconds(5),
                   .task = "ps:0",
                   .peer = "chief:0",
                   .one_way = true,
                   .lasts = seconds(2)},
                  {.kind = Kind::kSilent, .at = seconds(10), .task = "chief:0", .peer = "ps:0", .lasts = seconds(20)},
                  {.kind = Kind::kSilent,
                   .at = seconds(40),
                   .task = "ps:0",
                   .peer = "chief:0",
                   .one_way = true,
                   .lasts = seconds(2)},
                  {.kind = Kind::kSlowLink,
                   .at = seconds(50),
                   .task = "chief:0",
                   .peer = "ps:0",
                   .lasts = seconds(2),
                   .by = seconds(1)},
                  {.kind = Kind::kCut, .at = seconds(150), .task = "ps:0", .peer = "chief:0", .lasts = seconds(2)}}});
  Run();
  EXPECT_EQ(TallyOf(FaultKind::kCut), (FaultTally{2, 2, 1}));  // nobody calls at the end
  EXPECT_EQ(TallyOf(FaultKind::kOneWayCut), kInert);           // nobody calls in that direction
  EXPECT_EQ(TallyOf(FaultKind::kSilent), kEffective);
  EXPECT_EQ(TallyOf(FaultKind::kOneWaySilent), kEffective);
  EXPECT_EQ(TallyOf(FaultKind::kSlowLink), kEffective);
  EXPECT_EQ(applier_->LastChange(), seconds(152));
}

// A request to it takes 2 ms more for each time that it is slower, so the chief's next one comes later; and its work.
TEST_F(FaultApplierTest, ANodeIsSlow) {
  FaultPlan plan;
  plan.timed = {{.kind = Kind::kSlowNode, .at = milliseconds(5500), .task = "ps:0", .lasts = seconds(4), .rate = 51},
                {.kind = Kind::kSlowNode, .at = milliseconds(6500), .task = "ps:0", .lasts = seconds(1), .rate = 3},
                {.kind = Kind::kSlowNode, .at = seconds(50), .task = "chief:0", .lasts = seconds(2), .rate = 2}};
  Make(plan, seconds(20));
  std::vector<Duration> takes;
  std::vector<std::unique_ptr<Alarm>> looks;
  for (const int second : {1, 6, 7, 8, 11}) {
    looks.push_back(
        std::make_unique<Alarm>(world_.scheduler(), [&] { takes.push_back(ps_.Takes(milliseconds(100))); }));
    looks.back()->SetAt(seconds(second));
  }
  Run(seconds(100));
  EXPECT_THAT(takes, ElementsAre(milliseconds(100), milliseconds(5100), milliseconds(5100), milliseconds(5100),
                                 milliseconds(100)));
  EXPECT_EQ(heard_[4], "1005010 5");
  EXPECT_EQ(heard_[5], "1006112 6");
  EXPECT_EQ(TallyOf(FaultKind::kSlowNode), (FaultTally{3, 3, 2}));  // the chief has ended by then
  EXPECT_THAT(Happened(), Contains("9 ps:0 is as fast as before"));
}

// Three ask at once, each for a second of work: the tightest of the faults that hold decides.
TEST_F(FaultApplierTest, AServerIsOverloaded) {
  handling_ = seconds(1);
  FaultPlan plan;
  plan.timed = {{.kind = Kind::kOverload, .at = seconds(2), .task = "ps:0", .lasts = seconds(18), .at_once = 2},
                {.kind = Kind::kOverload, .at = seconds(5), .task = "ps:0", .lasts = seconds(5), .at_once = 1},
                {.kind = Kind::kOverload, .at = seconds(30), .task = "ps:0", .at_once = 1},
                {.kind = Kind::kOverload, .at = seconds(50), .task = "chief:0", .lasts = seconds(2)}};
  Make(plan, seconds(0));
  std::map<int, std::vector<int>> takes;  // milliseconds, by the second in which they ask
  for (const int second : {1, 3, 6, 11, 25, 31}) {
    for (int i = 0; i < 3; ++i) {
      chief_.Spawn("asks", [this, &times = takes[second], second, env = chief_.env()] {
        env.tasks->SleepUntil(DeadlineAfter(env, seconds(second)));
        ASSERT_TRUE(CallAndWait(env, {.to = "ps:1", .method = "/vigil.Test/Count"}).ok());
        times.push_back(static_cast<int>((world_.scheduler().now() - seconds(second)) / milliseconds(1)));
      });
    }
  }
  Alarm heals(world_.scheduler(), [this] { applier_->HealAll(); });
  heals.SetAt(milliseconds(31'500));
  Run(seconds(100));
  EXPECT_THAT(takes[1], ElementsAre(1002, 1002, 1002));
  EXPECT_THAT(takes[3], ElementsAre(1002, 1002, 2002));
  EXPECT_THAT(takes[6], ElementsAre(1002, 2002, 3002));
  EXPECT_THAT(takes[11], ElementsAre(1002, 1002, 2002));
  EXPECT_THAT(takes[25], ElementsAre(1002, 1002, 1002));
  EXPECT_THAT(takes[31], ElementsAre(1002, 1501, 1501));
  EXPECT_THAT(Happened(),
              IsSupersetOf({"2 ps:0 handles 2 requests at a time", "5 ps:0 handles 1 request at a time",
                            "10 ps:0 handles 2 requests at a time", "20 ps:0 handles as many requests as come"}));
  EXPECT_EQ(TallyOf(FaultKind::kOverload), (FaultTally{4, 3, 3}));  // healed before the last
}

TEST_F(FaultApplierTest, ClocksJumpAndDrift) {
  Make({.timed = {{.kind = Kind::kClockJump, .at = seconds(2), .task = "chief:0", .by = seconds(-100)},
                  {.kind = Kind::kClockDrift, .at = seconds(10), .task = "chief:0", .lasts = seconds(10), .rate = 1.5},
                  {.kind = Kind::kClockJump, .at = seconds(3), .task = "ps:0", .by = seconds(1)}}},
       seconds(20));
  Run(seconds(30));
  EXPECT_THAT(heard_[4], testing::StartsWith("905"));
  EXPECT_EQ(chief_.env().clock->Now(), Time{seconds(1030 - 100 + 5)});
  EXPECT_EQ(TallyOf(FaultKind::kClockJump), (FaultTally{2, 2, 1}));  // the server never looks
  EXPECT_EQ(TallyOf(FaultKind::kClockDrift), kEffective);
}

TEST_F(FaultApplierTest, RequestsAndDisksAreStruckFromTheStart) {
  FaultPlan plan;
  plan.rpcs = {{.effect = RpcFault::Effect::kError, .method = "Count", .call = 2, .code = Code::kAborted},
               {.effect = RpcFault::Effect::kReset, .from = "ps:0"}};
  plan.disks = {{.effect = DiskFault::Effect::kNoSpace, .op = "append", .call = 0}};
  plan.default_link.duplication = 1;
  Make(plan, seconds(10));
  Run();
  EXPECT_THAT(heard_[1], HasSubstr("ABORTED"));
  EXPECT_EQ(TallyOf(FaultKind::kRefusedRpc), kEffective);
  EXPECT_EQ(TallyOf(FaultKind::kReset), kUnfired);
  EXPECT_EQ(TallyOf(FaultKind::kNoSpace).planned, 1);
  EXPECT_THAT(TallyOf(FaultKind::kNoSpace).effective, Ge(9));
  const std::vector<FaultApplier::DiskEntry> disks = applier_->DiskHistory();
  EXPECT_EQ(std::ssize(disks), TallyOf(FaultKind::kNoSpace).fired);
  EXPECT_TRUE(std::ranges::is_sorted(disks, {}, &FaultApplier::DiskEntry::at));
  EXPECT_EQ(disks.front().task, "chief:0");
  EXPECT_EQ(disks.front().fault, 0U);
  EXPECT_EQ(TallyOf(FaultKind::kLatencySpread).planned, 1);
  EXPECT_EQ(TallyOf(FaultKind::kLatencySpread).fired, 0);  // all choices are calm
}

// What the chief writes once a second fails from the sixth to the tenth, and then no more; the server's does not.
TEST_F(FaultApplierTest, ADiskIsFullForAWhile) {
  FaultPlan plan;
  plan.disks = {{.effect = DiskFault::Effect::kNoSpace,
                 .task = "chief:0",
                 .op = "append",
                 .call = 0,
                 .at = milliseconds(5500),
                 .lasts = seconds(5)},
                {.effect = DiskFault::Effect::kIoError,
                 .task = "chief:0",
                 .call = 1,
                 .at = milliseconds(15500),
                 .lasts = seconds(5)}};
  Make(plan, seconds(100));
  EXPECT_EQ(applier_->LastChange(), milliseconds(20500));
  Run(seconds(30));
  EXPECT_EQ(chief_.disk().Contents().at("/heard").size(), heard_.size() - 5 - 1);
  EXPECT_EQ(TallyOf(FaultKind::kFullDisk), (FaultTally{1, 5, 5}));
  EXPECT_EQ(TallyOf(FaultKind::kBadDisk), kEffective);  // the first of those operations alone
  EXPECT_EQ(TallyOf(FaultKind::kNoSpace), FaultTally());
  EXPECT_THAT(Happened(),
              ElementsAre("5 the files of chief:0 begin to fail", "10 the files of chief:0 are as before",
                          "15 the files of chief:0 begin to fail", "20 the files of chief:0 are as before"));
}

TEST_F(FaultApplierTest, AFullDiskHasSpaceAgainWhenAllHasHealed) {
  FaultPlan plan;
  plan.disks = {{.effect = DiskFault::Effect::kNoSpace,
                 .task = "chief:0",
                 .op = "append",
                 .call = 0,
                 .at = milliseconds(5500),
                 .lasts = seconds(50)}};
  Make(plan, seconds(100));
  Alarm heal(world_.scheduler(), [this] { applier_->HealAll(); });
  heal.SetAt(milliseconds(8500));
  Run(seconds(30));
  EXPECT_EQ(chief_.disk().Contents().at("/heard").size(), heard_.size() - 3);
  EXPECT_EQ(TallyOf(FaultKind::kFullDisk), (FaultTally{1, 3, 3}));
}

// Each list of a plan with one entry that changed something and one that did not, whether it had happened or not.
TEST_F(FaultApplierTest, WhatChangedNothingIsInertByItsPlaceInThePlan) {
  FaultPlan plan;
  plan.timed = {{.kind = Kind::kCrash, .at = seconds(50), .task = "chief:0", .restart_after = seconds(3)},
                {.kind = Kind::kCrash, .at = seconds(5), .task = "ps:0", .restart_after = seconds(1)},
                {.kind = Kind::kPause, .at = seconds(500), .task = "ps:0", .lasts = seconds(1)}};
  plan.rpcs = {{.effect = RpcFault::Effect::kError, .method = "Count", .call = 2, .code = Code::kAborted},
               {.effect = RpcFault::Effect::kDelayed, .method = "Count", .call = 3, .by = Duration::zero()},
               {.effect = RpcFault::Effect::kReset, .from = "ps:0"}};
  plan.disks = {{.effect = DiskFault::Effect::kNoSpace, .op = "append", .call = 2},
                {.effect = DiskFault::Effect::kNoSpace, .op = "rename", .call = 1}};
  plan.session_calls = {{.task = "chief:0", .at = CallKind::kSave, .call = 1}};
  Make(plan, seconds(10));
  Run();
  using List = InertFault::List;
  EXPECT_THAT(applier_->Inert(),
              ElementsAre(InertFault{List::kTimed, 0, true}, InertFault{List::kTimed, 2, false},
                          InertFault{List::kRpcs, 1, true}, InertFault{List::kRpcs, 2, false},
                          InertFault{List::kDisks, 1, false}, InertFault{List::kSessionCalls, 0, false}));
}

TEST_F(FaultApplierTest, HealingEndsEverything) {
  FaultPlan plan;
  plan.timed = {{.kind = Kind::kCut, .at = seconds(1), .task = "chief:0", .peer = "ps:0"},
                {.kind = Kind::kPause, .at = seconds(2), .task = "chief:0"},
                {.kind = Kind::kClockDrift, .at = seconds(2), .task = "chief:0", .rate = 2},
                {.kind = Kind::kCrash, .at = seconds(500), .task = "chief:0"}};
  plan.rpcs = {{.effect = RpcFault::Effect::kError, .call = 0}};
  plan.disks = {{.effect = DiskFault::Effect::kIoError, .op = "remove", .call = 0}};
  Make(plan);
  Alarm heal(world_.scheduler(), [this] { applier_->HealAll(); });
  heal.SetAt(seconds(20));
  Run();
  EXPECT_TRUE(applier_->healed());
  EXPECT_GT(counted_, 70);
  EXPECT_THAT(chief_.disk().Contents(), IsEmpty());
  EXPECT_EQ(chief_.env().clock->Now(), Time{seconds(1200 + 18)});
  EXPECT_EQ(TallyOf(FaultKind::kCrashForGood), kUnfired);
}

TEST(SessionCallFaults, CountForTheirTaskAndKind) {
  SessionCallFaults faults({{.task = "chief:0", .at = CallKind::kSave, .call = 2, .code = Code::kUnavailable},
                            {.at = CallKind::kSave, .call = 3, .code = Code::kAborted, .lost_reply = true},
                            {.at = CallKind::kSave, .call = 0, .code = Code::kInternal}});
  const auto next = [&](const char* task, CallKind kind) {
    const SessionFault fault = faults.Next(task, kind);
    return std::string(CodeName(CodeOf(fault.error))) + (fault.lost_reply ? " after" : "");
  };
  EXPECT_EQ(next("chief:0", CallKind::kRun), "OK");
  EXPECT_EQ(next("chief:0", CallKind::kSave), "INTERNAL");
  EXPECT_EQ(next("worker:0", CallKind::kSave), "INTERNAL");
  EXPECT_EQ(next("chief:0", CallKind::kSave), "UNAVAILABLE");  // the other's third, too; the first wins
  EXPECT_EQ(next("chief:0", CallKind::kSave), "INTERNAL");
  faults.Clear();
  EXPECT_EQ(next("chief:0", CallKind::kSave), "OK");
  EXPECT_EQ(faults.states()[0].fired, 1);
  EXPECT_EQ(faults.states()[1].fired, 0);
  EXPECT_EQ(faults.states()[2].fired, 3);
  EXPECT_EQ(faults.states()[2].matched, 4);
}

TEST(FaultKinds, EachHasANameAndSaysWhatItDoes) {
  std::set<std::string_view> names;
  for (const FaultKindInfo& info : AllFaultKinds()) {
    names.insert(info.name);
    EXPECT_EQ(FaultKindFromName(info.name), info.kind);
    EXPECT_TRUE(info.does.ends_with('.')) << info.name;
    EXPECT_TRUE(info.origin.ends_with('.')) << info.name;
  }
  EXPECT_EQ(names.size(), kFaultKinds);
  EXPECT_EQ(FaultKindFromName("rain"), std::nullopt);
}

}  // namespace
}  // namespace vigil::sim
