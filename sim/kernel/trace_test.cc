#include "vigil/sim/kernel/trace.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "vigil/sim/kernel/running_hash.h"

namespace vigil::sim {
namespace {

Event SomeEvent() {
  return {.kind = EventKind::kHookReturn,
          .code = Code::kAborted,
          .call = 2,
          .index = 3,
          .session = 4,
          .value = 5,
          .subject = "hook"};
}

TEST(Trace, KeepsItsOwnCopyOfSubjects) {
  Trace trace;
  const std::uint32_t node = trace.AddNode("chief");
  const std::uint32_t task = trace.AddTask("chief/main");
  std::string subject = "a subject that is longer than a small string";
  Event event = SomeEvent();
  event.subject = subject;
  trace.Append(node, task, Time{Duration(1)}, event);
  trace.Append(0, 0, Time{Duration(2)}, {.kind = EventKind::kNote});
  subject.assign(subject.size(), 'x');

  const Trace moved = std::move(trace);
  ASSERT_EQ(moved.size(), 2u);
  EXPECT_EQ(moved[0].event.subject, "a subject that is longer than a small string");
  EXPECT_EQ(moved[0].event.kind, EventKind::kHookReturn);
  EXPECT_EQ(moved[0].event.index, 3);
  EXPECT_EQ(moved[0].time, Time{Duration(1)});
  EXPECT_EQ(moved.NodeName(moved[0]), "chief");
  EXPECT_EQ(moved.TaskLabel(moved[0]), "chief/main");
  EXPECT_EQ(moved.NodeName(moved[1]), "");
  EXPECT_EQ(moved.TaskLabel(moved[1]), "");
  EXPECT_EQ(moved[1].event.subject, "");
}

std::uint64_t HashOf(const std::function<void(RunningHash&)>& add) {
  RunningHash hash;
  add(hash);
  return hash.value();
}

std::uint64_t HashOf(const Event& event) {
  return HashOf([&](RunningHash& hash) { hash.AddEvent(event); });
}

TEST(RunningHash, EveryFieldOfAnEventCounts) {
  const std::function<void(Event&)> changes[] = {
      [](Event&) {},
      [](Event& e) { e.kind = EventKind::kHookCall; },
      [](Event& e) { e.code = Code::kUnavailable; },
      [](Event& e) { e.call = 1; },
      [](Event& e) { e.closed = true; },
      [](Event& e) { e.has_value = true; },
      [](Event& e) { e.index = 4; },
      [](Event& e) { e.session = 5; },
      [](Event& e) { e.value = 6; },
      [](Event& e) { e.value = 0.5; },
      [](Event& e) { e.subject = "hoop"; },
      [](Event& e) { e.subject = ""; },
  };
  std::set<std::uint64_t> hashes;
  for (const auto& change : changes) {
    Event event = SomeEvent();
    change(event);
    hashes.insert(HashOf(event));
  }
  EXPECT_EQ(hashes.size(), std::size(changes));
}

TEST(RunningHash, DigitsOfAFloatingPointResultDoNotCountButThoseOfASleepDo) {
  Event event = SomeEvent();
  event.value = 0.1;
  const std::uint64_t hash = HashOf(event);
  event.value = 0.1 + 1e-16;
  EXPECT_EQ(HashOf(event), hash);
  event.value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(HashOf(event), hash);
  event.value = 1e300;
  EXPECT_EQ(HashOf(event), hash);

  event.kind = EventKind::kSleep;
  event.value = 0.1;
  const std::uint64_t sleep = HashOf(event);
  event.value = 0.100000001;
  EXPECT_NE(HashOf(event), sleep);
}

TEST(RunningHash, OrderAndKindOfEverythingCount) {
  const std::function<void(RunningHash&)> runs[] = {
      [](RunningHash&) {},
      [](RunningHash& h) { h.AddSwitch(1); },
      [](RunningHash& h) { h.AddSwitch(2); },
      [](RunningHash& h) { h.AddSwitch(1), h.AddSwitch(2); },
      [](RunningHash& h) { h.AddSwitch(2), h.AddSwitch(1); },
      [](RunningHash& h) { h.AddTime(Duration(1)); },
      [](RunningHash& h) { h.AddTime(Duration(2)); },
      [](RunningHash& h) { h.AddTask(1, "a"); },
      [](RunningHash& h) { h.AddChoice("k", "a", 2); },
      [](RunningHash& h) { h.AddChoice("k", "a", 3); },
      [](RunningHash& h) { h.AddChoice("k", "b", 2); },
      [](RunningHash& h) { h.AddChoice("ka", "", 2); },
  };
  std::set<std::uint64_t> hashes;
  for (const auto& run : runs) hashes.insert(HashOf(run));
  EXPECT_EQ(hashes.size(), std::size(runs));
}

TEST(RunningHash, LongRunsAndLongNamesAreHashedWhole) {
  const std::string name(5000, 'n');
  std::string other = name;
  other.back() = 'm';
  const auto run = [](const std::string& label, int last) {
    return HashOf([&](RunningHash& hash) {
      for (std::uint32_t i = 0; i < 1000; ++i) hash.AddSwitch(i);
      hash.AddTask(1, label);
      for (std::uint32_t i = 0; i < 1000; ++i) hash.AddTime(Duration(i));
      hash.AddTime(Duration(last));
    });
  };
  EXPECT_EQ(run(name, 1), run(name, 1));
  EXPECT_NE(run(name, 1), run(other, 1));
  EXPECT_NE(run(name, 1), run(name, 2));
}

TEST(RunningHash, CanBeReadInBetween) {
  RunningHash hash;
  hash.AddSwitch(1);
  const std::uint64_t first = hash.value();
  EXPECT_EQ(hash.value(), first);
  hash.AddSwitch(2);
  EXPECT_EQ(hash.value(), HashOf([](RunningHash& h) { h.AddSwitch(1), h.AddSwitch(2); }));
}

}  // namespace
}  // namespace vigil::sim
