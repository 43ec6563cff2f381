#include "vigil/sim/cluster/held.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vigil::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kReceive[] = "/tensorflow.WorkerService/RecvTensor";

TEST(Held, WhatIsThereIsNamed) {
  EXPECT_EQ(Held({}, {}), "");
  EXPECT_EQ(Held({.graphs = 3}, {}), "");
  EXPECT_EQ(Held({.steps = 2, .sessions = 1, .calls = 1, .under_way = {{kReceive, 1}}},
                 {.open_files = 1, .bytes_in_flight = 9}),
            "1 open files, 9 bytes in flight, 2 steps, 1 sessions, 1 calls, 1 of /tensorflow.WorkerService/RecvTensor");
  EXPECT_EQ(Held({.steps = 2, .calls = 1, .under_way = {{kReceive, 1}}}, {.requests = false}), "2 steps");
}

TEST(Held, WhatIsASessionsAloneIsHeldForNobodyOnceNobodyUsesIt) {
  EXPECT_EQ(Held({.graphs = 1, .with_own = 1}, {}), "");
  EXPECT_EQ(Held({.steps = 1, .with_own = 1}, {.tasks = 1}), "");
  EXPECT_EQ(Held({.with_own = 1}, {}), "1 own resource sets");
}

TEST(Held, WhoStandsInALineIsInAStep) {
  EXPECT_EQ(Held({.steps = 1}, {.in_line = 1, .tasks = 1}), "");
  EXPECT_EQ(Held({.under_way = {{kReceive, 1}}}, {.requests = false, .in_line = 1}), "");
  EXPECT_EQ(Held({}, {.in_line = 2}), "2 places in lines");
  EXPECT_EQ(Held({.steps = 1}, {.in_line = 2, .tasks = 1}), "1 places in lines");
}

TEST(Held, ATaskThatRunsIsInOneStepAtTheMost) {
  EXPECT_EQ(Held({.steps = 1}, {.tasks = 1}), "");
  EXPECT_EQ(Held({.steps = 1}, {.tasks = 2}), "");
  EXPECT_EQ(Held({.steps = 2}, {.tasks = 1}), "1 steps");
  EXPECT_EQ(Held({.steps = 1, .sessions = 1}, {.tasks = 2}), "1 sessions");
}

TEST(Held, NeitherTheServersTasksNorThoseThatOutliveAProgramAreTheProgramsOwn) {
  const Server::Load load{.under_way = {{"watch tasks", 1}, {"cancel step", 1}}};
  EXPECT_THAT(ProgramTasks({"main", "serve#3", "event_writer", "watch tasks#1", "cancel step#12"}, load), IsEmpty());
  EXPECT_THAT(ProgramTasks({"main", "QueueRunnerThread-input-close_on_stop#4", "close session#1"}, load),
              ElementsAre("QueueRunnerThread-input-close_on_stop#4", "close session#1"));
}

}  // namespace
}  // namespace vigil::sim
