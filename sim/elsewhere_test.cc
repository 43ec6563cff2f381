// Tasks that come back on another machine: where their names lead meanwhile, and old processes that live on.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/sim/alarm.h"
#include "vigil/sim/fault_applier.h"

namespace vigil::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using Kind = TimedFault::Kind;

// A server that says on which machine it is, and a chief that asks it once a second; each has another machine to come
// to.
class ElsewhereTest : public testing::Test {
 protected:
  ElsewhereTest() {
    other_chief_.set_task("chief:0");
    other_ps_.set_task("ps:0");
    world_.network().NameAddress("ps:1", "ps:0");
    world_.network().NameAddress("chief:1", "chief:0");
  }

  void Play(const FaultPlan& plan, Duration heal = seconds(100)) {
    applier_ = std::make_unique<FaultApplier>(
        world_, FaultApplier::Tasks{{"chief:0", &chief_}, {"ps:0", &ps_}}, plan, [this](Node& node) { Boot(node); },
        FaultApplier::Spares{{"chief:0", {&other_chief_}}, {"ps:0", {&other_ps_}}});
    Boot(ps_);
    Boot(chief_);
    Alarm heals(world_.scheduler(), [this] { applier_->HealAll(); });
    heals.SetAt(heal);
    Alarm end(world_.scheduler(), [this] { world_.Stop(); });
    end.SetAt(heal + seconds(10));
    applier_->Begin();
    world_.Run();
  }
  void Boot(Node& node) {
    node.Spawn("main", [this, &node, env = node.env()] { node.task() == "ps:0" ? Serve(node, env) : Ask(node, env); });
  }
  void Serve(const Node& node, const Env& env) {
    const auto listener =
        env.network->Listen("ps:1", [&node](IncomingCall&) -> NetworkReply { return absl::Cord(node.name()); });
    ASSERT_TRUE(listener.ok());
    env.tasks->SleepUntil(kNever);
  }
  void Ask(const Node& node, const Env& env) {
    const auto listener =
        env.network->Listen("chief:1", [&node](IncomingCall&) -> NetworkReply { return absl::Cord(node.name()); });
    ASSERT_TRUE(listener.ok());
    while (true) {
      env.tasks->SleepUntil(DeadlineAfter(env, seconds(1)));
      const NetworkReply reply = CallAndWait(env, {.to = "ps:1", .method = "/vigil.Test/Who", .keepalive = seconds(4)});
      const auto now = world_.scheduler().now() / seconds(1);
      const std::string answer(reply.ok() ? std::string(*reply) : std::string(CodeName(CodeOf(reply.status()))));
      heard_.push_back(fmt::format("{} {}: {}", now, node.name(), answer));
      const NetworkReply own = CallAndWait(env, {.to = "chief:1", .method = "/vigil.Test/Who"});
      own_.emplace_back(own.value_or(absl::Cord("nobody")));
    }
  }
  std::vector<std::string> HeardBy(std::string_view node, std::int64_t from, std::int64_t to) const {
    std::vector<std::string> heard;
    for (const std::string& line : heard_) {
      const std::int64_t at = std::stoll(line);
      const std::string rest = line.substr(line.find(' ') + 1);
      if (at >= from && at < to && rest.starts_with(fmt::format("{}:", node)) && rest[node.size()] == ':')
        heard.push_back(rest.substr(node.size() + 2));
    }
    return heard;
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
  Node& other_chief_ = world_.AddNode("chief:0~2");
  Node& other_ps_ = world_.AddNode("ps:0~2");
  std::vector<std::string> heard_;  // "7 chief:0: ps:0", by second
  std::vector<std::string> own_;    // who answers at the chief's own address
  std::unique_ptr<FaultApplier> applier_;
};

constexpr FaultTally kTold{1, 1, 1};
constexpr FaultTally kUntold{1, 1, 0};

TEST_F(ElsewhereTest, WhoAsksIsRefusedAtTheOldAddressUntilTheNameLeadsToTheNewOne) {
  Play({.timed = {{.kind = Kind::kCrash,
                   .at = milliseconds(5500),
                   .task = "ps:0",
                   .restart_after = seconds(3),
                   .elsewhere = seconds(10)}}});
  EXPECT_THAT(Happened(), ElementsAre("5 crash ps:0", "8 ps:0~2 starts on another machine",
                                      "18 the name of ps:0 leads to its new machine", "100 all faults end"));
  EXPECT_THAT(HeardBy("chief:0", 1, 5), Each("ps:0"));
  EXPECT_THAT(HeardBy("chief:0", 6, 18), Each("UNAVAILABLE"));  // at once: its machine is there
  EXPECT_GE(HeardBy("chief:0", 6, 18).size(), 11U);
  EXPECT_THAT(HeardBy("chief:0", 19, 90), Each("ps:0~2"));
  EXPECT_EQ(TallyOf(FaultKind::kNewAddress), kTold);
  EXPECT_EQ(TallyOf(FaultKind::kCrashRestart), kTold);
}

TEST_F(ElsewhereTest, AMachineThatIsGoneStaysSilent) {
  Play({.timed = {{.kind = Kind::kCrash,
                   .at = milliseconds(5500),
                   .task = "ps:0",
                   .restart_after = seconds(3),
                   .silently = true,
                   .elsewhere = seconds(10)}}});
  EXPECT_THAT(HeardBy("chief:0", 6, 18), Each("UNAVAILABLE"));
  EXPECT_LE(HeardBy("chief:0", 6, 18).size(), 3U);  // only the keepalive, of four seconds, tells
  EXPECT_THAT(HeardBy("chief:0", 24, 90), Each("ps:0~2"));
  EXPECT_EQ(TallyOf(FaultKind::kNewAddress), kTold);
}

TEST_F(ElsewhereTest, WhoIsCalledByNobodyMeanwhileHasNoOldAddress) {
  Play({.timed = {{.kind = Kind::kCrash,
                   .at = milliseconds(5500),
                   .task = "ps:0",
                   .restart_after = milliseconds(100),
                   .elsewhere = milliseconds(100)}}});
  EXPECT_THAT(HeardBy("chief:0", 6, 90), Each("ps:0~2"));
  EXPECT_EQ(TallyOf(FaultKind::kNewAddress), kUntold);
}

TEST_F(ElsewhereTest, AHealedNameLeadsThereAtOnce) {
  Play({.timed = {{.kind = Kind::kCrash,
                   .at = milliseconds(5500),
                   .task = "ps:0",
                   .restart_after = seconds(3),
                   .elsewhere = seconds(1000)}}},
       seconds(20));
  EXPECT_THAT(HeardBy("chief:0", 6, 20), Each("UNAVAILABLE"));
  EXPECT_THAT(HeardBy("chief:0", 21, 30), Each("ps:0~2"));
}

// Both ask the same server; each finds itself at the address of its task.
TEST_F(ElsewhereTest, AZombieGoesOnBesideItsSuccessorUntilAllFaultsEnd) {
  Play({.timed = {{.kind = Kind::kZombie,
                   .at = milliseconds(5500),
                   .task = "chief:0",
                   .lasts = seconds(20),
                   .restart_after = seconds(10)}}},
       seconds(50));
  EXPECT_THAT(Happened(),
              ElementsAre("5 chief:0 stands still and is taken for dead", "15 chief:0~2 starts on another machine",
                          "15 the name of chief:0 leads to its new machine",
                          "25 the process of chief:0 that was taken for dead goes on", "50 all faults end",
                          "50 the process of chief:0 that was taken for dead is ended"));
  EXPECT_THAT(HeardBy("chief:0", 6, 25), IsEmpty());
  EXPECT_THAT(HeardBy("chief:0", 26, 50), Each("ps:0"));
  EXPECT_GE(HeardBy("chief:0", 26, 50).size(), 20U);
  EXPECT_THAT(HeardBy("chief:0", 51, 60), IsEmpty());
  EXPECT_THAT(HeardBy("chief:0~2", 16, 60), Each("ps:0"));
  EXPECT_GE(HeardBy("chief:0~2", 16, 60).size(), 40U);
  EXPECT_THAT(own_, Contains("chief:0"));
  EXPECT_THAT(own_, Contains("chief:0~2"));
  EXPECT_THAT(own_, Not(Contains("nobody")));
  EXPECT_EQ(TallyOf(FaultKind::kZombie), kTold);
}

TEST_F(ElsewhereTest, AZombieThatIsCutOffIsBusyMeanwhile) {
  Play({.timed = {{.kind = Kind::kZombie,
                   .at = milliseconds(5500),
                   .task = "chief:0",
                   .lasts = seconds(20),
                   .restart_after = seconds(10),
                   .silently = true}}},
       seconds(50));
  EXPECT_THAT(HeardBy("chief:0", 7, 25), Each("UNAVAILABLE"));
  EXPECT_THAT(HeardBy("chief:0", 7, 25), Not(IsEmpty()));
  EXPECT_THAT(HeardBy("chief:0", 30, 50), Each("ps:0"));
  EXPECT_EQ(TallyOf(FaultKind::kZombie), kTold);
}

TEST_F(ElsewhereTest, OneThatIsKilledBeforeItIsTakenForDeadIsNone) {
  Play({.timed = {{.kind = Kind::kZombie,
                   .at = seconds(5),
                   .task = "chief:0",
                   .lasts = seconds(20),
                   .restart_after = seconds(10)},
                  {.kind = Kind::kCrash, .at = seconds(7), .task = "chief:0", .restart_after = seconds(2)}}});
  EXPECT_EQ(TallyOf(FaultKind::kZombie), kUntold);
  EXPECT_THAT(HeardBy("chief:0", 11, 90), Each("ps:0"));
  EXPECT_THAT(HeardBy("chief:0~2", 0, 110), IsEmpty());
}

// Two that start the same task again, each where it thinks best, would be two tasks.
TEST_F(ElsewhereTest, OneThatIsFollowedWhileItDiesDoesNotStartAgain) {
  Play({.timed = {{.kind = Kind::kZombie,
                   .at = milliseconds(5500),
                   .task = "chief:0",
                   .lasts = seconds(1),
                   .restart_after = seconds(2)},
                  {.kind = Kind::kCrash, .at = milliseconds(7499), .task = "chief:0", .restart_after = seconds(3)}}});
  EXPECT_THAT(Happened(), ElementsAre("5 chief:0 stands still and is taken for dead",
                                      "6 the process of chief:0 that was taken for dead goes on", "7 crash chief:0",
                                      "7 chief:0~2 starts on another machine",
                                      "7 the name of chief:0 leads to its new machine", "100 all faults end"));
  EXPECT_THAT(HeardBy("chief:0", 8, 110), IsEmpty());
  EXPECT_THAT(HeardBy("chief:0~2", 9, 110), Each("ps:0"));
}

// Who has a connection goes on with it, wherever the name leads.
TEST_F(ElsewhereTest, AConnectionThatHoldsOutlivesTheName) {
  Play({.timed = {{.kind = Kind::kZombie,
                   .at = milliseconds(5500),
                   .task = "ps:0",
                   .lasts = seconds(2),
                   .restart_after = seconds(1)},
                  {.kind = Kind::kCut, .at = seconds(30), .task = "chief:0", .peer = "ps:0", .lasts = seconds(1)}}},
       seconds(40));
  EXPECT_THAT(HeardBy("chief:0", 7, 40), Each("ps:0"));  // the cut is of the new machine
  EXPECT_THAT(HeardBy("chief:0", 42, 50), Each("ps:0~2"));
}

TEST_F(ElsewhereTest, AConnectionThatBreaksIsMadeAnewWhereTheNameLeads) {
  FaultPlan plan{.timed = {{.kind = Kind::kZombie,
                            .at = milliseconds(5500),
                            .task = "ps:0",
                            .lasts = seconds(2),
                            .restart_after = seconds(1)}}};
  Alarm reset(world_.scheduler(), [this] { world_.network().Reset("chief:0", "ps:0"); });
  reset.SetAt(milliseconds(20500));
  Play(plan, seconds(40));
  EXPECT_THAT(HeardBy("chief:0", 7, 20), Each("ps:0"));
  EXPECT_THAT(HeardBy("chief:0", 21, 40), Each("ps:0~2"));
}

TEST_F(ElsewhereTest, FaultsOfATaskGoWithItToItsNewMachine) {
  Play({.timed = {{.kind = Kind::kCrash,
                   .at = milliseconds(5500),
                   .task = "ps:0",
                   .restart_after = seconds(1),
                   .elsewhere = seconds(0)},
                  {.kind = Kind::kCut, .at = seconds(20), .task = "chief:0", .peer = "ps:0", .lasts = seconds(10)}},
        .rpcs = {{.effect = RpcFault::Effect::kError, .to = "ps:0", .call = 35, .code = Code::kAborted}}});
  EXPECT_THAT(HeardBy("chief:0", 21, 30), Each("UNAVAILABLE"));
  EXPECT_THAT(HeardBy("chief:0", 32, 90), Contains("ABORTED"));
}

}  // namespace
}  // namespace vigil::sim
