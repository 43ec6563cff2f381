#include "vigil/sim/kernel/timers.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "vigil/sim/kernel/chooser.h"

namespace vigil::sim {
namespace {

TEST(Timers, EarliestFirstAndOneMomentInOrder) {
  Timers timers;
  Timer a, b, c, d;
  timers.Add(a, Duration(5));
  timers.Add(b, Duration(3));
  timers.Add(c, Duration(5));
  timers.Add(d, Duration(4));
  timers.Remove(d);
  EXPECT_FALSE(d.set());
  std::vector<Timer*> order;
  while (!timers.empty()) {
    order.push_back(&timers.next());
    timers.Remove(timers.next());
  }
  EXPECT_EQ(order, (std::vector<Timer*>{&b, &a, &c}));
}

TEST(Timers, AgreeWithAnOrderedMap) {
  constexpr int kTimers = 40;
  Timers timers;
  std::vector<Timer> all(kTimers);
  std::map<std::pair<Duration, int>, Timer*> model;
  std::map<Timer*, std::pair<Duration, int>> keys;
  for (int step = 0; step < 20'000; ++step) {
    Timer& timer = all[Bounded(HashDraw(1, "timer", static_cast<std::uint64_t>(step)), kTimers)];
    if (timer.set()) {
      timers.Remove(timer);
      model.erase(keys.at(&timer));
    } else {
      const auto at =
          Duration(static_cast<std::int64_t>(Bounded(HashDraw(1, "at", static_cast<std::uint64_t>(step)), 30)));
      timers.Add(timer, at);
      keys[&timer] = {at, step};
      model[{at, step}] = &timer;
    }
    ASSERT_EQ(timers.size(), model.size());
    if (model.empty()) continue;
    ASSERT_EQ(timers.next_time(), model.begin()->first.first);
    ASSERT_EQ(&timers.next(), model.begin()->second);
  }
}

}  // namespace
}  // namespace vigil::sim
