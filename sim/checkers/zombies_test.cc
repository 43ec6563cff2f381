// What a replica of two processes is excused, one that was taken for dead and the one that follows it: and no more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/cluster/job_history.h"

namespace vigil::sim {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using Kind = JobMoment::Kind;

constexpr std::string_view kOld = "zombie of chief:0";
constexpr std::string_view kNew = "chief:0";

class ZombiesTest : public testing::Test {
 protected:
  JobMoment& Tell(std::string_view task, Kind kind, std::int64_t step = 0, std::vector<float> ledger = {}) {
    return history_.emplace_back(JobMoment{.at = Time{std::chrono::seconds(history_.size())},
                                           .task = std::string(task),
                                           .life = 1,
                                           .kind = kind,
                                           .step = step,
                                           .ledger = std::move(ledger)});
  }
  void Replace() {
    Tell(kOld, Kind::kReplaced).subject = kNew;
    Tell(kNew, Kind::kStarted).life = 2;
  }
  void Run(std::string_view task, float count) {
    Tell(task, Kind::kRunStarted);
    Tell(task, Kind::kRunReturned, 1, {count});
  }
  void Applied(std::int64_t count, std::int64_t attempt) {
    JobMoment& moment = Tell("ps:0", Kind::kApplied, count);
    moment.subject = kNew;
    moment.attempt = attempt;
  }
  // The server of the successor was asked for an element, of a queue in which just this one was put.
  void Took(std::int64_t element) {
    for (const auto what : {QueueOp::What::kPut, QueueOp::What::kTake}) {
      const auto place = static_cast<std::int64_t>(history_.size());
      const auto op = std::make_shared<const QueueOp>(QueueOp{.what = what, .queue = "q", .elements = {element}});
      Tell(kNew, Kind::kQueueCalled, place).queue = op;
      Tell(kNew, Kind::kQueueReturned, place).queue = op;
    }
  }
  std::vector<std::string> Broken(const JobSpec& spec = JobSpec()) const {
    std::vector<std::string> rules;
    const JobFacts facts;
    const Behaviour behaviour = Behaviour::Default();
    for (const JobViolation& violation :
         CheckJob({.spec = spec, .history = history_, .facts = facts, .behaviour = behaviour}).violations) {
      rules.push_back(violation.rule);
    }
    return rules;
  }

  JobHistory history_;
};

TEST_F(ZombiesTest, BothCountForTheReplica) {
  Tell(kNew, Kind::kStarted);
  Run(kNew, 1);
  Replace();
  Run(kNew, 2);
  Run(kOld, 4);
  Run(kNew, 5);
  Run(kOld, 7);
  EXPECT_THAT(Broken(), IsEmpty());
}

TEST_F(ZombiesTest, NoneLosesItsOwnUpdate) {
  Tell(kNew, Kind::kStarted);
  Run(kNew, 5);
  Replace();
  Run(kOld, 5);
  EXPECT_THAT(Broken(), Contains("updates.exactly_once"));
}

TEST_F(ZombiesTest, NothingIsExcusedOnceOneHasReturnedAfterTheHealing) {
  Tell(kNew, Kind::kStarted);
  Run(kNew, 1);
  Replace();
  Run(kNew, 2);
  Tell("", Kind::kHealed);
  Run(kNew, 9);
  EXPECT_THAT(Broken(), IsEmpty());
  Run(kNew, 19);
  EXPECT_THAT(Broken(), ElementsAre("updates.exactly_once"));
}

TEST_F(ZombiesTest, EachAttemptAppliesOnceAllTheSame) {
  Tell("ps:0", Kind::kStarted);
  JobMoment& set = Tell("ps:0", Kind::kAssigned, 0);
  set.subject = kNew;
  Tell(kNew, Kind::kStarted);
  Tell(kNew, Kind::kRunStarted);
  Replace();
  Applied(1, 7);
  Tell(kOld, Kind::kAttempt);
  Tell(kOld, Kind::kRunReturned, 1, {1});
  Tell(kNew, Kind::kRunStarted);
  Applied(2, 8);
  Tell(kNew, Kind::kAttempt);
  Tell(kNew, Kind::kRunReturned, 1, {2});
  EXPECT_THAT(Broken(), IsEmpty());
  Tell(kOld, Kind::kRunStarted);
  Applied(3, 7);
  EXPECT_THAT(Broken(), ElementsAre("updates.as_applied"));
}

// A master of another task finds the server of a replica by its name, which is the successor's.
TEST_F(ZombiesTest, AMasterOfAnotherTaskTakesElementsForEitherFromTheServerOfTheSuccessor) {
  JobSpec spec;
  spec.workload.kind = WorkloadKind::kInputPipeline;
  Tell(kNew, Kind::kStarted);
  Replace();
  for (const std::string_view task : {kOld, kNew}) {
    Tell(task, Kind::kRunStarted);
    Tell(task, Kind::kAttempt);
    Took(task == kOld ? 1 : 2);
    Tell(task, Kind::kRunReturned, task == kOld ? 1 : 2);
  }
  EXPECT_THAT(Broken(spec), Contains("queues.in_order_once"));
  spec.workload.master = "ps:0";
  EXPECT_THAT(Broken(spec), IsEmpty());
  Tell(kOld, Kind::kRunStarted);
  Tell(kOld, Kind::kAttempt);
  Tell(kOld, Kind::kRunReturned, 3);
  EXPECT_THAT(Broken(spec), ElementsAre("queues.in_order_once"));
}

// The run that was under way goes on as the zombie's, and is none of its successor.
TEST_F(ZombiesTest, ItsStepsAreItsOwn) {
  Tell(kNew, Kind::kStarted);
  Tell(kNew, Kind::kSession);
  Tell(kNew, Kind::kSawStep, 10);
  Replace();
  Tell(kNew, Kind::kSession);
  Tell(kNew, Kind::kSawStep, 3);
  Tell(kOld, Kind::kSawStep, 11);
  EXPECT_THAT(Broken(), IsEmpty());
  Tell(kOld, Kind::kSawStep, 4);
  EXPECT_THAT(Broken(), ElementsAre("step.goes_back_only_with_a_recovery"));
}

TEST_F(ZombiesTest, OneThatWasAskedToStopMakesNoOtherRun) {
  Tell(kNew, Kind::kStarted);
  Tell(kNew, Kind::kRunStarted);
  Tell(kNew, Kind::kStopAsked);
  Replace();
  Tell(kNew, Kind::kRunStarted);
  Tell(kOld, Kind::kRunReturned, 1);
  EXPECT_THAT(Broken(), IsEmpty());
  Tell(kOld, Kind::kRunStarted);
  EXPECT_THAT(Broken(), ElementsAre("stop.no_run_after_it_in_a_job"));
}

}  // namespace
}  // namespace vigil::sim
