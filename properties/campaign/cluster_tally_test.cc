#include "vigil/properties/campaign/cluster_tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "vigil/properties/judge/node_rules.h"
#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/faults/fault_kinds.h"

namespace vigil::properties {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Every kind of fault has changed something, every invariant had something to look at.
ClusterTally Complete() {
  ClusterTally tally;
  for (const sim::FaultKindInfo& kind : sim::AllFaultKinds())
    tally.faults[std::string(kind.name)] = {.jobs = 1, .planned = 3, .fired = 2, .effective = 1};
  for (const sim::Checker& checker : sim::Checkers()) tally.armed[std::string(checker.id)] = 1;
  tally.armed[std::string(kNodeRules)] = 1;
  return tally;
}

TEST(ClusterTallyTest, NothingIsMissingWhereAllHappened) { EXPECT_THAT(Complete().Incomplete(), IsEmpty()); }

TEST(ClusterTallyTest, AFaultThatNeverFiredIsMissing) {
  ClusterTally tally = Complete();
  tally.faults["cut"].fired = 0;
  tally.faults.erase("rack");
  EXPECT_THAT(tally.Incomplete(), UnorderedElementsAre("the fault rack never fired", "the fault cut never fired"));
}

TEST(ClusterTallyTest, AFaultThatNeverChangedAnythingIsMissing) {
  ClusterTally tally = Complete();
  tally.faults["cut"].effective = 0;
  EXPECT_THAT(tally.Incomplete(), ElementsAre("the fault cut fired 2 times and never changed anything"));
}

TEST(ClusterTallyTest, AnInvariantThatWasNeverArmedIsMissing) {
  ClusterTally tally = Complete();
  tally.armed["job.every_task_ends"] = 0;
  EXPECT_THAT(tally.Incomplete(), ElementsAre("invariant job.every_task_ends was never armed"));
}

}  // namespace
}  // namespace vigil::properties
