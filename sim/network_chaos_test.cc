// Many nodes that call each other under drawn faults: equal seeds give equal runs, recorded choices replay, every call
// of a living process has exactly one end, and nothing dangles (run it under the address sanitizer).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/env/notification.h"
#include "vigil/sim/alarm.h"
#include "vigil/sim/fault_applier.h"

namespace vigil::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::IsEmpty;

constexpr std::array<const char*, 4> kNames = {"chief:0", "ps:0", "ps:1", "worker:0"};

// Small numbers drawn from a seed.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  int Roll(int sides) {
    return static_cast<int>(Bounded(HashDraw(seed_, "dice", count_++), static_cast<std::uint64_t>(sides)));
  }
  std::string Name() { return kNames[static_cast<std::size_t>(Roll(kNames.size()))]; }

 private:
  const std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

FaultPlan DrawPlan(std::uint64_t seed) {
  Dice dice(seed);
  FaultPlan plan;
  for (int i = dice.Roll(8); i > 0; --i) {
    TimedFault fault;
    fault.kind = static_cast<TimedFault::Kind>(dice.Roll(8));
    fault.at = milliseconds(dice.Roll(20'000));
    fault.task = dice.Name();
    do {
      fault.peer = dice.Name();
    } while (fault.peer == fault.task);
    fault.one_way = dice.Roll(2) == 0;
    if (dice.Roll(4) != 0) fault.lasts = milliseconds(dice.Roll(5000));
    if (dice.Roll(4) != 0) fault.restart_after = milliseconds(dice.Roll(5000));
    fault.disk = static_cast<DiskLoss>(dice.Roll(4));
    fault.by = milliseconds(dice.Roll(1000));
    fault.rate = 0.5 + dice.Roll(3);
    if (fault.kind == TimedFault::Kind::kStart) fault.kind = TimedFault::Kind::kCrash;
    plan.timed.push_back(fault);
  }
  for (int i = dice.Roll(6); i > 0; --i) {
    RpcFault fault;
    fault.effect = static_cast<RpcFault::Effect>(dice.Roll(7));
    if (dice.Roll(2) == 0) fault.from = dice.Name();
    if (dice.Roll(2) == 0) fault.to = dice.Name();
    fault.call = dice.Roll(30);
    if (fault.call == 0 && dice.Roll(4) != 0) fault.call = 1;
    fault.by = milliseconds(dice.Roll(1000));
    plan.rpcs.push_back(fault);
  }
  if (dice.Roll(2) == 0) plan.disks.push_back({.effect = DiskFault::Effect::kSlow, .call = 3, .by = seconds(1)});
  plan.default_link.most_latency = milliseconds(1 + dice.Roll(200));
  if (dice.Roll(3) == 0) plan.default_link.loss = 0.05;
  if (dice.Roll(3) == 0) plan.default_link.duplication = 0.1;
  if (dice.Roll(3) == 0) plan.default_link.reordering = 0.1;
  if (dice.Roll(3) == 0) plan.default_link.bytes_per_s = 10'000;
  if (dice.Roll(3) == 0) plan.default_link.bytes_in_flight = 1 + dice.Roll(10);
  return plan;
}

struct Outcome {
  std::uint64_t hash = 0;
  ChoiceMap choices;
  FaultTallies tallies;
  NetworkCounts counts;
  int open_calls = 0;  // of processes that lived to the end
  std::int64_t in_flight = 0;
  int callbacks = 0;  // closures of calls that were not destroyed
  std::vector<std::string> refused;
};

class Chaos {
 public:
  Chaos(std::uint64_t seed, Chooser& chooser, StackPool* stacks)
      : plan_(DrawPlan(seed)),
        world_({.chooser = &chooser,
                .seed = seed,
                .stacks = stacks,
                .preempt = seed % 3 == 0 ? Preempt::kAtCalls : Preempt::kNowhere}) {}

  Outcome Play() {
    FaultApplier::Tasks tasks;
    for (const char* const name : kNames) tasks[name] = &world_.AddNode(name);
    FaultApplier applier(world_, tasks, plan_, [this](Node& node) { Boot(node); });
    for (const auto& [name, node] : tasks) Boot(*node);
    Alarm heal(world_.scheduler(), [&] { applier.HealAll(); });
    heal.SetAt(seconds(25));
    // All have an end by then, and nothing strikes any more.
    Alarm count(world_.scheduler(), [&] { CountOpen(); });
    count.SetAt(seconds(60));
    Alarm end(world_.scheduler(), [&] { world_.Stop(); });
    end.SetAt(seconds(61));
    applier.Begin();
    world_.Run();
    outcome_.hash = world_.hash();
    outcome_.choices = world_.ChoicesMade();
    outcome_.tallies = applier.Tallies();
    outcome_.counts = world_.network().counts();
    outcome_.callbacks = static_cast<int>(live_.use_count()) - 1;
    return outcome_;
  }

 private:
  void Boot(Node& node) {
    open_[node.name()] = 0;
    node.Spawn("main", [this, &node, env = node.env()] { Main(node, env); });
    node.Spawn("caller", [this, &node, env = node.env()] { CallOthers(node, env); });
  }

  void Main(Node& node, const Env& env) {
    const auto listener =
        env.network->Listen(node.name(), [this, &node, env](IncomingCall& call) { return Handle(node, env, call); });
    ASSERT_TRUE(listener.ok()) << listener.status();
    env.tasks->SleepUntil(kNever);
  }

  // Blocks, asks another node, is told when nobody waits any more, leaves the answer to another task or to a callback.
  NetworkReply Handle(Node& node, const Env& env, IncomingCall& call) {
    const auto told = std::make_shared<Notification>(*env.tasks, "told");
    call.OnCancelled([told, alive = live_] { told->Notify(); });
    switch (env.random->Draw("handle") % 6) {
      case 0:
        return absl::Cord(std::string(1000, 'x'));
      case 1:
        told->Wait(DeadlineAfter(env, milliseconds(700)));
        return absl::Cord(call.cancelled() ? "nobody reads this" : "slow");
      case 2:
        if (call.body() == "nested") return absl::Cord("deep enough");
        return Ask(node, env, "nested");
      case 3:
        node.Spawn("later", [env, answer = call.AnswerLater(), told, alive = live_] {
          told->Wait(DeadlineAfter(env, milliseconds(env.random->Draw("later") % 700)));
          answer(absl::Cord("later"));
          answer(absl::Cord("once more"));
        });
        return absl::Cord("not looked at");
      case 4:
        if (call.body() == "nested") return absl::Cord("deep enough");
        env.network->Start({.to = kNames[env.random->Draw("to") % kNames.size()],
                            .method = "/t/Ask",
                            .body = absl::Cord("nested"),
                            .keepalive = seconds(3)},
                           [answer = call.AnswerLater(), alive = live_](NetworkReply reply) { answer(reply); });
        return absl::Cord("not looked at");
      default:
        return MakeStatus(Code::kAborted, "by the handler");
    }
  }

  NetworkReply Ask(Node& node, const Env& env, const std::string& body) {
    NetworkRequest request{
        .to = kNames[env.random->Draw("to") % kNames.size()], .method = "/t/Ask", .body = absl::Cord(body)};
    if (env.random->Draw("deadline") % 3 == 0) request.deadline = DeadlineAfter(env, milliseconds(500));
    request.keepalive = seconds(3);
    struct Waiting {
      explicit Waiting(Tasks& tasks) : answered(tasks, "reply") {}
      Notification answered;
      NetworkReply reply;
      int calls = 0;
    };
    const auto waiting = std::make_shared<Waiting>(*env.tasks);
    ++open_[node.name()];
    const int life = node.restarts();
    const std::uint64_t number =
        env.network->Start(std::move(request), [this, waiting, &node, life, alive = live_](NetworkReply reply) {
          EXPECT_FALSE(node.killed());
          EXPECT_EQ(node.restarts(), life);
          EXPECT_EQ(++waiting->calls, 1);
          --open_[node.name()];
          waiting->reply = std::move(reply);
          waiting->answered.Notify();
        });
    if (env.random->Draw("cancel") % 8 == 0) {
      env.tasks->SleepUntil(DeadlineAfter(env, milliseconds(env.random->Draw("cancel") % 100)));
      env.network->Cancel(number);
    }
    waiting->answered.Wait(kNever);
    return waiting->reply;
  }

  void CallOthers(Node& node, const Env& env) {
    while (env.clock->Monotonic() < Time{seconds(30)}) {
      env.tasks->SleepUntil(DeadlineAfter(env, milliseconds(env.random->Draw("nap") % 300)));
      const NetworkReply reply = Ask(node, env, "top");
      WriteAtomically(*env.files, "/last", reply.ok() ? std::string(*reply) : "failed",
                      env.random->Draw("sync") % 2 == 0)
          .IgnoreError();
      if (env.random->Draw("suicide") % 200 == 0) node.Kill();
    }
  }

  void CountOpen() {
    for (const char* const name : kNames) {
      outcome_.in_flight += world_.network().BytesInFlight(name);
      if (!world_.FindNode(name)->killed()) outcome_.open_calls += open_[name];
    }
  }

  const FaultPlan plan_;
  const std::shared_ptr<int> live_ = std::make_shared<int>(0);  // held by every callback
  std::map<std::string, int> open_;                             // calls without an end, of the present life
  Outcome outcome_;
  World world_;  // last: goes first
};

TEST(NetworkChaos, ASeedGivesOneRunAndEveryCallOneEnd) {
  StackPool stacks;
  FaultTallies all;
  std::map<std::uint64_t, int> hashes;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomChooser first(seed);
    RandomChooser second(seed);
    const Outcome a = Chaos(seed, first, &stacks).Play();
    const Outcome b = Chaos(seed, second, nullptr).Play();
    ASSERT_EQ(a.hash, b.hash) << seed;
    ASSERT_EQ(a.choices, b.choices) << seed;
    EXPECT_EQ(a.open_calls, 0) << seed;
    EXPECT_EQ(a.in_flight, 0) << seed;
    EXPECT_EQ(a.callbacks, 0) << seed;
    ++hashes[a.hash];
    all.Add(a.tallies);
    if (seed % 10 != 0) continue;
    ReplayChooser replay(a.choices);
    EXPECT_EQ(Chaos(seed, replay, &stacks).Play().hash, a.hash) << seed;
    EXPECT_THAT(replay.UnusedEntries(), IsEmpty());
    EXPECT_THAT(replay.RefusedEntries(), IsEmpty());
  }
  EXPECT_EQ(hashes.size(), 200u);
  for (const FaultKindInfo& info : AllFaultKinds()) {
    const FaultTally& tally = all[info.kind];
    EXPECT_LE(tally.effective, tally.fired) << info.name;
    if (tally.planned > 0) {
      EXPECT_GT(tally.effective, 0) << info.name;
    }
  }
}

}  // namespace
}  // namespace vigil::sim
