#include "vigil/properties/judge/node_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "vigil/properties/rules/stream.h"

namespace vigil::properties {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

replays::Scenario AnyJob() {
  replays::Scenario scenario;
  scenario.behaviour.name = "default";
  scenario.job.emplace();
  return scenario;
}

// A job of which every life of each node made these events, in the words of stream.h.
class NodeStory {
 public:
  NodeStory() { outcome_.job.emplace(); }
  NodeStory& Life(const std::string& node, std::string_view words) {
    sim::TaskFacts& task = outcome_.job->tasks[node];
    task.first_events.push_back(outcome_.trace.size());
    task.outcome = "clean";
    const std::uint32_t number = outcome_.trace.AddNode(node);
    const std::uint32_t main = outcome_.trace.AddTask(node + "/main");
    const Stream stream = ParseStream(words);
    for (const sim::TraceRecord& record : stream.trace) outcome_.trace.Append(number, main, record.time, record.event);
    return *this;
  }
  std::vector<std::string> Broken(const replays::Scenario& scenario = AnyJob()) {
    AddNodeRules(scenario, outcome_);
    std::vector<std::string> texts;
    for (const sim::JobViolation& violation : outcome_.job->violations) {
      EXPECT_EQ(violation.rule, kNodeRules);
      EXPECT_THAT(violation.text, testing::StartsWith(violation.task + " (life "));
      EXPECT_LT(violation.event.value_or(outcome_.trace.size()), outcome_.trace.size()) << violation.text;
      texts.push_back(violation.text);
    }
    return texts;
  }
  std::int64_t armed() const { return outcome_.job->armed.at(std::string(kNodeRules)); }

 private:
  replays::Outcome outcome_;
};

TEST(NodeRulesTest, GoodLivesBreakNothing) {
  NodeStory story;
  story.Life("chief:0", "open go exit").Life("worker:0", "worker go exit").Life("worker:0", "worker go");
  EXPECT_THAT(story.Broken(), IsEmpty());
  EXPECT_GT(story.armed(), 20);
}

TEST(NodeRulesTest, AViolationNamesNodeLifeRuleAndEvents) {
  NodeStory story;
  story.Life("chief:0", "open go exit").Life("worker:0", "worker go").Life("worker:0", "worker run( before1 before0");
  const std::vector<std::string> broken = story.Broken();
  ASSERT_EQ(broken.size(), 1U);
  EXPECT_THAT(broken[0], AllOf(HasSubstr("worker:0 (life 2) order.before_run: expected"), HasSubstr("before_run")));
}

TEST(NodeRulesTest, EachLifeBeginsAnew) {
  NodeStory story;
  story.Life("chief:0", "begin0 begin1 finalized").Life("chief:0", "open exit");
  EXPECT_THAT(story.Broken(), IsEmpty());
}

TEST(NodeRulesTest, AnErrorOfTheDiskComesOutOfARecoveryOnlyWhereDisksFail) {
  constexpr std::string_view kLife =
      "open run( before0 before1 run!ABORTED recovery!ABORTED@1 giveup sleep +1 created run)!UNKNOWN";
  replays::Scenario scenario = AnyJob();
  EXPECT_THAT(NodeStory().Life("chief:0", kLife).Broken(scenario), Not(IsEmpty()));
  scenario.job->plan.disks.push_back({.task = "chief:0", .op = "read"});
  EXPECT_THAT(NodeStory().Life("chief:0", kLife).Broken(scenario), IsEmpty());
  EXPECT_THAT(NodeStory().Life("chief:0", "begin0 begin1 finalized created close constructed!UNKNOWN").Broken(scenario),
              IsEmpty());
  scenario.job->plan.disks[0].task = "ps:0";
  EXPECT_THAT(NodeStory().Life("chief:0", "begin0 begin1 finalized created close constructed!UNKNOWN").Broken(scenario),
              Not(IsEmpty()));
  EXPECT_THAT(NodeStory().Life("chief:0", kLife).Broken(scenario), Not(IsEmpty()));
}

TEST(NodeRulesTest, AWorkerThatInitialisesIsFound) {
  NodeStory story;
  story.Life("worker:0", "open go exit");
  const std::vector<std::string> broken = story.Broken();
  ASSERT_EQ(broken.size(), 1U);
  EXPECT_THAT(broken[0], HasSubstr("worker.never_initialises"));
}

TEST(NodeRulesTest, TheSupervisorsWorkloadAndEvaluatorsAreNotJudged) {
  replays::Scenario scenario = AnyJob();
  scenario.job->workload.kind = sim::WorkloadKind::kSupervisor;
  EXPECT_THAT(NodeStory().Life("chief:0", "begin1 begin0").Broken(scenario), IsEmpty());
  EXPECT_THAT(NodeStory().Life("evaluator:0", "begin1 begin0").Broken(), IsEmpty());
  EXPECT_THAT(NodeStory().Life("chief:0", "begin1 begin0").Broken(), ::testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace vigil::properties
