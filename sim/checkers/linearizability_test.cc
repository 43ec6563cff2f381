// Histories written by hand, some that an order explains and some that none does.
#include "vigil/sim/checkers/linearizability.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "vigil/sim/checkers/client_history.h"
#include "vigil/sim/checkers/counter_model.h"

namespace vigil::sim {
namespace {

using Counter = Linearizer<CounterModel>;
using Verdict = Counter::Verdict;
using Does = CounterModel::Operation::Does;
using testing::ElementsAre;
using testing::IsEmpty;

CounterModel::Operation Add(std::int64_t number = 1) { return {.does = Does::kAdd, .number = number}; }
CounterModel::Operation Assign(std::int64_t number) { return {.does = Does::kAssign, .number = number}; }
CounterModel::Operation Read(std::int64_t number) { return {.does = Does::kRead, .number = number}; }
CounterModel::Operation ReadGrown(std::int64_t number) { return {.does = Does::kReadGrown, .number = number}; }

// One that nothing overlaps.
Verdict Alone(Counter& counter, CounterModel::Operation operation) {
  constexpr std::int64_t kId = -1;
  counter.Call(kId, operation);
  return counter.Return(kId);
}

TEST(Linearizability, OneAfterTheOther) {
  Counter counter(5);
  EXPECT_EQ(Alone(counter, Read(5)), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Add(2)), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Read(7)), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Assign(1)), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Read(7)), Verdict::kImpossible);
  EXPECT_THAT(counter.States(), ElementsAre(1));
  EXPECT_EQ(Alone(counter, Read(1)), Verdict::kImpossible) << "it stays so";
  counter.Restart(3);
  EXPECT_EQ(Alone(counter, Read(3)), Verdict::kExplained);
}

TEST(Linearizability, AReadBesideAnUpdateSeesItOrNot) {
  for (const std::int64_t seen : {0, 1, 2}) {
    Counter counter(0);
    counter.Call(1, Add());
    counter.Call(2, Read(seen));
    EXPECT_EQ(counter.Return(2), seen == 2 ? Verdict::kImpossible : Verdict::kExplained) << seen;
    if (seen == 2) continue;
    EXPECT_EQ(counter.Return(1), Verdict::kExplained);
    EXPECT_EQ(Alone(counter, Read(1)), Verdict::kExplained);
  }
}

TEST(Linearizability, WhatIsReadFirstIsNotReadOldAfterwards) {
  Counter counter(0);
  counter.Call(1, Add());
  EXPECT_EQ(Alone(counter, Read(1)), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Read(0)), Verdict::kImpossible) << "an old copy";
}

TEST(Linearizability, TwoReadsDisagreeOnAnOrder) {
  // Two assignments under way; one reader sees 1 and then 2, the other 2 and then 1.
  Counter counter(0);
  counter.Call(1, Assign(1));
  counter.Call(2, Assign(2));
  EXPECT_EQ(Alone(counter, Read(1)), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Read(2)), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Read(1)), Verdict::kImpossible);
}

TEST(Linearizability, AnUpdateThatReturnedHasHappened) {
  Counter counter(0);
  counter.Call(1, Add());
  counter.Call(2, Add());
  EXPECT_EQ(counter.Return(1), Verdict::kExplained);
  counter.Call(3, Read(0));
  EXPECT_EQ(counter.Return(3), Verdict::kImpossible);
}

TEST(Linearizability, WhatWasLostHappensOnceOrNever) {
  Counter counter(0);
  counter.Call(1, Add());
  counter.Lose(1);
  EXPECT_EQ(Alone(counter, Read(0)), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Add()), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Read(2)), Verdict::kExplained) << "late";
  EXPECT_EQ(Alone(counter, Add()), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Read(4)), Verdict::kImpossible) << "twice";
}

TEST(Linearizability, WhatWasLostHadPerhapsHappenedBefore) {
  Counter counter(0);
  counter.Call(1, Add());
  EXPECT_EQ(Alone(counter, Read(1)), Verdict::kExplained);
  counter.Lose(1);
  EXPECT_EQ(Alone(counter, Read(1)), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Read(2)), Verdict::kImpossible);
}

TEST(Linearizability, TheFirstReadTellsAnUnknownValue) {
  Counter counter(std::nullopt);
  EXPECT_EQ(Alone(counter, Add()), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Read(41)), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Add()), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Read(42)), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Read(41)), Verdict::kImpossible);
}

TEST(Linearizability, WhatOnlyGrowsIsNeverReadLower) {
  Counter counter(std::nullopt);
  EXPECT_EQ(Alone(counter, ReadGrown(3)), Verdict::kExplained);
  counter.Call(1, ReadGrown(9));
  counter.Call(2, ReadGrown(4));
  EXPECT_EQ(counter.Return(1), Verdict::kExplained);
  EXPECT_EQ(counter.Return(2), Verdict::kExplained) << "it was the first of the two";
  EXPECT_EQ(Alone(counter, ReadGrown(8)), Verdict::kImpossible);
}

TEST(Linearizability, GivesUpWhereThereAreTooManyOrders) {
  Counter counter(0, 100);
  for (std::int64_t i = 0; i < 20; ++i) counter.Call(i, Add(std::int64_t{1} << i));
  EXPECT_EQ(Alone(counter, Read(-1)), Verdict::kGivenUp);
}

// The reads of every order of some operations are found possible, and some that no order gives are not.
TEST(Linearizability, AgreesWithTryingEveryOrder) {
  const std::vector<CounterModel::Operation> writes = {Add(1), Assign(10), Add(3), Assign(20)};
  std::vector<std::size_t> order(writes.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<bool> possible(64);
  do {
    CounterModel::State state = 0;
    for (const std::size_t i : order) state = *CounterModel::Apply(state, writes[i]);
    possible[static_cast<std::size_t>(*state)] = true;
  } while (std::ranges::next_permutation(order).found);
  for (std::int64_t seen = 0; seen < 64; ++seen) {
    Counter counter(0);
    for (std::size_t i = 0; i < writes.size(); ++i) counter.Call(static_cast<std::int64_t>(i), writes[i]);
    for (std::size_t i = 0; i < writes.size(); ++i) {
      EXPECT_EQ(counter.Return(static_cast<std::int64_t>(i)), Verdict::kExplained);
    }
    EXPECT_EQ(Alone(counter, Read(seen)) == Verdict::kExplained, possible[static_cast<std::size_t>(seen)]) << seen;
  }
}

using Kind = JobMoment::Kind;

JobMoment Of(std::string task, Kind kind, std::int64_t step = 0, Code code = Code::kOk) {
  return {.task = std::move(task), .life = 1, .kind = kind, .code = code, .step = step};
}

TEST(ClientOperations, ARunThatIsRepeatedIsTwoAttempts) {
  JobHistory history = {Of("worker:0", Kind::kStarted),
                        Of("worker:0", Kind::kRunStarted),
                        Of("worker:0", Kind::kAttempt, 0, Code::kUnavailable),
                        Of("worker:0", Kind::kRecovery, 0, Code::kUnavailable),
                        Of("worker:0", Kind::kSession),
                        Of("worker:0", Kind::kAttempt),
                        Of("worker:0", Kind::kSawStep, 7),
                        Of("worker:0", Kind::kRunReturned, 7)};
  history.back().ledger = {3};
  const std::vector<ClientOperation> operations = ClientOperations(history);
  ASSERT_EQ(operations.size(), 2U);
  EXPECT_TRUE(operations[0].lost);
  EXPECT_EQ(operations[0].call, 1U);
  EXPECT_EQ(operations[0].end, 2U);
  EXPECT_FALSE(operations[1].lost);
  EXPECT_EQ(operations[1].call, 4U);
  EXPECT_EQ(operations[1].end, 5U);
  EXPECT_THAT(operations[1].steps, ElementsAre(7));
  EXPECT_THAT(operations[1].own_counts, ElementsAre(3));
}

TEST(ClientOperations, AProcessThatDiesLosesItsAttempt) {
  const JobHistory history = {Of("worker:0", Kind::kRunStarted), Of("chief:0", Kind::kRunStarted),
                              Of("worker:0", Kind::kStarted), Of("chief:0", Kind::kRunReturned, 1)};
  const std::vector<ClientOperation> operations = ClientOperations(history);
  ASSERT_EQ(operations.size(), 2U);
  EXPECT_EQ(operations[0].replica, "worker:0");
  EXPECT_TRUE(operations[0].lost);
  EXPECT_THAT(operations[0].steps, IsEmpty());
  EXPECT_EQ(operations[1].replica, "chief:0");
  EXPECT_FALSE(operations[1].lost) << "a program without events of its attempts";
}

TEST(ClientOperations, ALookAtTheModelCountsNothing) {
  const JobHistory history = {Of("chief:0", Kind::kRunStarted), Of("chief:0", Kind::kSawStep, 4),
                              Of("chief:0", Kind::kRunStarted), Of("chief:0", Kind::kAttempt),
                              Of("chief:0", Kind::kSawStep, 5), Of("chief:0", Kind::kRunReturned, 5)};
  const std::vector<ClientOperation> operations = ClientOperations(history);
  ASSERT_EQ(operations.size(), 2U);
  EXPECT_FALSE(operations[0].adds);
  EXPECT_THAT(operations[0].steps, ElementsAre(4));
  EXPECT_TRUE(operations[1].adds);
}

}  // namespace
}  // namespace vigil::sim
