#include "vigil/sim/cluster/orphans.h"

#include <gtest/gtest.h>

#include <chrono>

namespace vigil::sim {
namespace {

using std::chrono::minutes;

// A master of incarnation 1, with one session, and a server that holds graphs for it.
std::map<std::string, Server::Load> MasterAndServer() {
  return {{"chief:0", {.calls = 1, .incarnation = 1, .running = {{"open", 1}}}},
          {"ps:0", {.incarnation = 2, .registered_by = {{"open", 1}}}}};
}

TEST(Orphans, GraphsOfAnOpenSessionAreNone) {
  Orphans orphans;
  for (const int minute : {0, 10})
    EXPECT_EQ(orphans.Look(MasterAndServer(), Time{minutes(minute)})["ps:0"].session, "");
}

TEST(Orphans, GraphsOfAClosedSessionAreAsOldAsTheyAreSeen) {
  Orphans orphans;
  auto servers = MasterAndServer();
  servers["ps:0"].registered_by["closed"] = 1;
  EXPECT_EQ(orphans.Look(servers, Time{minutes(1)})["ps:0"].session_for, minutes(0));
  servers["ps:0"].registered_by["closed later"] = 1;
  const Overdue found = orphans.Look(servers, Time{minutes(4)})["ps:0"];
  EXPECT_EQ(found.session, "closed");
  EXPECT_EQ(found.session_for, minutes(3));
  servers["ps:0"].incarnation = 3;  // it was started anew
  EXPECT_EQ(orphans.Look(servers, Time{minutes(5)})["ps:0"].session_for, minutes(0));
  EXPECT_EQ(orphans.Look(MasterAndServer(), Time{minutes(6)})["ps:0"].session, "");
}

TEST(Orphans, NobodySaysGoodbyeForAMasterThatIsGone) {
  Orphans orphans;
  auto servers = MasterAndServer();
  servers["ps:0"].registered_by["of a dead one"] = 9;
  for (const int minute : {0, 10}) EXPECT_EQ(orphans.Look(servers, Time{minutes(minute)})["ps:0"].session, "");
}

TEST(Orphans, StepsOfAMasterThatIsGoneGrowOld) {
  Orphans orphans;
  auto servers = MasterAndServer();
  servers["ps:0"].steps_of = {1, 9};
  EXPECT_EQ(orphans.Look(servers, Time{minutes(1)})["ps:0"].dead_for, minutes(0));
  EXPECT_EQ(orphans.Look(servers, Time{minutes(3)})["ps:0"].dead_for, minutes(2));
  servers["ps:0"].steps_of = {1};
  EXPECT_EQ(orphans.Look(servers, Time{minutes(4)})["ps:0"].dead_for, minutes(0));
}

TEST(Orphans, StepsThatAreListedAndDoNotRunAreStale) {
  const auto stale = [](const Server::Load& load) {
    return Orphans().Look({{"chief:0", load}}, Time{})["chief:0"].stale_steps;
  };
  EXPECT_EQ(stale({.calls = 3, .running = {{"a", 1}, {"b", 2}}}), 0u);
  EXPECT_EQ(stale({.calls = 1, .running = {{"a", 3}, {"b", 2}}}), 4u);
  EXPECT_EQ(stale({.calls = 2}), 0u);
}

}  // namespace
}  // namespace vigil::sim
