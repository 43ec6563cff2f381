// Histories written by hand, some that an order explains and some that none does.
#include "vigil/sim/checkers/linearizability.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "vigil/core/base/splitmix64.h"
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
  counter.Call(kId, operation, kId);
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
    counter.Call(1, Add(), 1);
    counter.Call(2, Read(seen), 2);
    EXPECT_EQ(counter.Return(2), seen == 2 ? Verdict::kImpossible : Verdict::kExplained) << seen;
    if (seen == 2) continue;
    EXPECT_EQ(counter.Return(1), Verdict::kExplained);
    EXPECT_EQ(Alone(counter, Read(1)), Verdict::kExplained);
  }
}

TEST(Linearizability, WhatIsReadFirstIsNotReadOldAfterwards) {
  Counter counter(0);
  counter.Call(1, Add(), 1);
  EXPECT_EQ(Alone(counter, Read(1)), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Read(0)), Verdict::kImpossible) << "an old copy";
}

TEST(Linearizability, TwoReadsDisagreeOnAnOrder) {
  // Two assignments under way; one reader sees 1 and then 2, the other 2 and then 1.
  Counter counter(0);
  counter.Call(1, Assign(1), 1);
  counter.Call(2, Assign(2), 2);
  EXPECT_EQ(Alone(counter, Read(1)), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Read(2)), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Read(1)), Verdict::kImpossible);
}

TEST(Linearizability, AnUpdateThatReturnedHasHappened) {
  Counter counter(0);
  counter.Call(1, Add(), 1);
  counter.Call(2, Add(), 2);
  EXPECT_EQ(counter.Return(1), Verdict::kExplained);
  counter.Call(3, Read(0), 3);
  EXPECT_EQ(counter.Return(3), Verdict::kImpossible);
}

TEST(Linearizability, WhatWasLostHappensOnceOrNever) {
  Counter counter(0);
  counter.Call(1, Add(), Counter::kNeverReturns);
  counter.Lose(1);
  EXPECT_EQ(Alone(counter, Read(0)), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Add()), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Read(2)), Verdict::kExplained) << "late";
  EXPECT_EQ(Alone(counter, Add()), Verdict::kExplained);
  EXPECT_EQ(Alone(counter, Read(4)), Verdict::kImpossible) << "twice";
}

TEST(Linearizability, WhatWasLostHadPerhapsHappenedBefore) {
  Counter counter(0);
  counter.Call(1, Add(), Counter::kNeverReturns);
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
  counter.Call(1, ReadGrown(9), 1);
  counter.Call(2, ReadGrown(4), 2);
  EXPECT_EQ(counter.Return(1), Verdict::kExplained);
  EXPECT_EQ(counter.Return(2), Verdict::kExplained) << "it was the first of the two";
  EXPECT_EQ(Alone(counter, ReadGrown(8)), Verdict::kImpossible);
}

TEST(Linearizability, GivesUpWhereAllReturnsTogetherTakeTooLong) {
  Counter counter(0, 100, 30);
  Verdict verdict = Verdict::kExplained;
  int returns = 0;
  for (; verdict == Verdict::kExplained && returns < 100; ++returns) {
    counter.Call(-1 - returns, Add(), Counter::kNeverReturns);
    counter.Lose(-1 - returns);
    verdict = Alone(counter, Add(2));
  }
  EXPECT_EQ(verdict, Verdict::kGivenUp);
  EXPECT_GT(returns, 2);
}

TEST(Linearizability, GivesUpWhereThereAreTooManyOrders) {
  Counter counter(0, 100);
  for (std::int64_t i = 0; i < 20; ++i) counter.Call(i, Add(std::int64_t{1} << i), i);
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
    for (std::size_t i = 0; i < writes.size(); ++i) counter.Call(static_cast<std::int64_t>(i), writes[i], 0);
    for (std::size_t i = 0; i < writes.size(); ++i) {
      EXPECT_EQ(counter.Return(static_cast<std::int64_t>(i)), Verdict::kExplained);
    }
    EXPECT_EQ(Alone(counter, Read(seen)) == Verdict::kExplained, possible[static_cast<std::size_t>(seen)]) << seen;
  }
}

TEST(Linearizability, TwentyEqualUpdatesUnderWayAreNotAMillionOrders) {
  for (const bool possible : {true, false}) {
    Counter counter(0);
    for (std::int64_t i = 0; i < 20; ++i) {
      counter.Call(2 * i, Add(), 100 - i);
      counter.Call(2 * i + 1, Read(possible ? i : i / 2 + 12), 100 - i);
    }
    Verdict verdict = Verdict::kExplained;
    for (std::int64_t i = 20; i-- > 0;) {
      counter.Return(2 * i + 1);
      verdict = counter.Return(2 * i);
    }
    EXPECT_EQ(verdict, possible ? Verdict::kExplained : Verdict::kImpossible);
  }
}

// Operations that overlap at random, and the slow way to judge them: every order that calls and returns leave.
struct Overlapping {
  struct One {
    CounterModel::Operation operation;
    int call = 0;
    int end = 0;
    bool lost = false;
  };
  std::vector<One> all;

  explicit Overlapping(SplitMix64& random) {
    const auto draw = [&random](int below) { return static_cast<int>(random.Below(static_cast<std::size_t>(below))); };
    const int count = 2 + draw(4);
    std::vector<int> places(static_cast<std::size_t>(2 * count));
    std::iota(places.begin(), places.end(), 0);
    for (int i = 2 * count; i > 1; --i)
      std::swap(places[static_cast<std::size_t>(i - 1)], places[static_cast<std::size_t>(draw(i))]);
    for (int i = 0; i < count; ++i) {
      One& one = all.emplace_back();
      const std::array<CounterModel::Operation, 4> kinds = {Add(), Add(), Read(draw(4)), Assign(draw(2))};
      one.operation = kinds[static_cast<std::size_t>(draw(4))];
      one.lost = one.operation.does != Does::kRead && draw(3) == 0;
      const auto at = static_cast<std::size_t>(2 * i);
      one.call = std::min(places[at], places[at + 1]);
      one.end = std::max(places[at], places[at + 1]);
    }
  }

  Verdict Judged() const {
    Counter counter(0);
    for (int place = 0; place < 2 * static_cast<int>(all.size()); ++place) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        const auto id = static_cast<std::int64_t>(i);
        if (all[i].call == place) counter.Call(id, all[i].operation, all[i].lost ? Counter::kNeverReturns : all[i].end);
        if (all[i].end != place) continue;
        if (all[i].lost) counter.Lose(id);
        if (!all[i].lost) counter.Return(id);
      }
    }
    return counter.verdict();
  }

  // `happened`: a bit of each. A next one has been called before any that has not happened has returned.
  bool Explained(CounterModel::State state, unsigned happened) const {
    int first_return = std::numeric_limits<int>::max();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((happened >> i & 1) == 0 && !all[i].lost) first_return = std::min(first_return, all[i].end);
    }
    if (first_return == std::numeric_limits<int>::max()) return true;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((happened >> i & 1) != 0 || all[i].call > first_return) continue;
      const auto next = CounterModel::Apply(state, all[i].operation);
      if (next.has_value() && Explained(*next, happened | 1U << i)) return true;
    }
    return false;
  }
};

TEST(Linearizability, AgreesWithTryingEveryOrderOfWhatOverlapsAtRandom) {
  SplitMix64 random(1);
  int explained = 0;
  constexpr int kHistories = 5'000;
  for (int i = 0; i < kHistories; ++i) {
    const Overlapping history(random);
    const bool possible = history.Explained(0, 0);
    explained += possible ? 1 : 0;
    ASSERT_EQ(history.Judged(), possible ? Verdict::kExplained : Verdict::kImpossible) << i;
  }
  EXPECT_GT(explained, kHistories / 10);
  EXPECT_LT(explained, kHistories - kHistories / 10);
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
