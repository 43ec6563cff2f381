// What becomes of workers that die, loop, leave or take too much; and that replies keep their order.
#include "vigil/replays/crew/crew.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <stdexcept>
#include <vector>

#include "fmt/format.h"
#include "vigil/core/base/check.h"
#include "vigil/replays/crew/packed.h"

namespace vigil::replays {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Heard {
  std::vector<std::string> replies;  // "crash.x" for what crashed
  std::vector<Crash> crashes;
  CrewSummary summary;
};

Heard Work(int requests, const std::function<std::string(int)>& work, CrewOptions options = {.jobs = 3},
           std::size_t stop_after = SIZE_MAX) {
  Heard heard;
  std::atomic<bool> stop{false};
  int next = 0;
  CrewCallbacks callbacks;
  callbacks.next = [&]() -> std::optional<std::string> {
    if (next == requests) return std::nullopt;
    return Packed(next++);
  };
  callbacks.new_worker = [&](const CrewView&) {
    return [&](const std::string& request) { return work(Unpacked<int>(request)); };
  };
  callbacks.on_reply = [&](const std::string& reply) {
    heard.replies.push_back(reply);
    stop = heard.replies.size() >= stop_after;
    return true;
  };
  callbacks.on_crash = [&](const std::string&, std::uint64_t, const Crash& crash) -> std::optional<std::string> {
    heard.replies.push_back(crash.rule());
    heard.crashes.push_back(crash);
    return std::nullopt;
  };
  heard.summary = RunCrew(options, callbacks, stop);
  return heard;
}

TEST(Crew, RepliesKeepTheirOrder) {
  for (const int jobs : {0, 1, 2, 5}) {
    const Heard heard = Work(2000, [](int i) { return std::to_string(i); }, {.jobs = jobs});
    ASSERT_EQ(heard.replies.size(), 2000u) << jobs;
    for (int i = 0; i < 2000; ++i) EXPECT_EQ(heard.replies[static_cast<std::size_t>(i)], std::to_string(i));
    EXPECT_FALSE(heard.summary.stopped);
  }
}

// Under a sanitizer it is the sanitizer that reports a signal, and that ends a process with a code.
#if defined(VIGIL_SANITIZES_ADDRESS) || defined(VIGIL_SANITIZES_THREAD)
constexpr std::string_view kSegv = "crash.sanitizer";
constexpr std::string_view kExit = "crash.sanitizer";
#else
constexpr std::string_view kSegv = "crash.signal_segv";
constexpr std::string_view kExit = "crash.exit";
#endif

TEST(Crew, WhoDiesIsBlamedAndTheRestIsDone) {
  const Heard heard = Work(300, [](int i) {
    if (i == 7) std::raise(SIGSEGV);
    if (i == 100) VIGIL_CHECK(i != 100);
    if (i == 200) kill(getpid(), SIGKILL);
    if (i == 299) std::_Exit(4);
    return std::to_string(i);
  });
  ASSERT_EQ(heard.replies.size(), 300u);
  for (std::size_t i = 0; i < 299; ++i) {
    if (i != 7 && i != 100 && i != 200) {
      EXPECT_EQ(heard.replies[i], std::to_string(i));
    }
  }
  ASSERT_EQ(heard.crashes.size(), 4u);
  EXPECT_EQ(heard.replies[7], kSegv);
  EXPECT_EQ(heard.replies[100], "crash.check_failed");
  EXPECT_EQ(heard.replies[200], "crash.killed");
  EXPECT_EQ(heard.crashes[3].rule(), kExit);
  EXPECT_THAT(heard.crashes[3].detail, HasSubstr("4"));
  EXPECT_FALSE(heard.summary.given_up);
}

TEST(Crew, AWorkerThatLoopsIsEnded) {
  const Heard heard = Work(3,
                           [](int i) {
                             for (volatile bool again = i == 1; again;) {
                             }
                             return std::to_string(i);
                           },
                           {.jobs = 2, .limits = {.cpu = std::chrono::milliseconds(200)}});
  EXPECT_THAT(heard.replies, ElementsAre("0", "crash.timeout", "2"));
}

// It does not even hear the question.
TEST(Crew, AWorkerThatLoopsAndIsDeafIsATimeoutAsWell) {
  const Heard heard = Work(3,
                           [](int i) {
                             sigset_t all;
                             sigfillset(&all);
                             if (i == 1) sigprocmask(SIG_BLOCK, &all, nullptr);
                             for (volatile bool again = i == 1; again;) {
                             }
                             return std::to_string(i);
                           },
                           {.jobs = 2, .limits = {.cpu = std::chrono::milliseconds(200)}});
  EXPECT_THAT(heard.replies, ElementsAre("0", "crash.timeout", "2"));
}

TEST(Crew, TooManyCrashesAndTheRestIsGivenUp) {
  const Heard heard = Work(100, [](int) -> std::string { std::_Exit(1); }, {.jobs = 2, .most_crashes = 5});
  EXPECT_TRUE(heard.summary.given_up);
  EXPECT_FALSE(heard.summary.stopped);
  EXPECT_EQ(heard.replies.size(), 5u);
}

TEST(Crew, AStopEndsItInOrder) {
  const Heard heard = Work(
      100'000, [](int i) { return std::to_string(i); }, {.jobs = 2}, 50);
  EXPECT_TRUE(heard.summary.stopped);
  EXPECT_GE(heard.replies.size(), 50u);
  EXPECT_LT(heard.replies.size(), 5000u);
  for (std::size_t i = 0; i < heard.replies.size(); ++i) EXPECT_EQ(heard.replies[i], std::to_string(i));
}

#if !defined(VIGIL_SANITIZES_ADDRESS) && !defined(VIGIL_SANITIZES_THREAD)
TEST(Crew, WhatLeaksEachTimeAndWhatTakesAllMemoryIsFound) {
  static std::vector<std::string*> kept;
  const Heard heard = Work(3,
                           [](int i) {
                             if (i == 1) kept.push_back(new std::string(std::size_t{2} << 20, 'x'));
                             if (i == 2) {
                               while (true) kept.push_back(new std::string(std::size_t{8} << 20, 'x'));
                             }
                             return std::to_string(i);
                           },
                           {.jobs = 1, .limits = {.memory = std::uint64_t{256} << 20}});
  EXPECT_THAT(heard.replies, ElementsAre("0", "crash.leak", "crash.memory"));
}

TEST(Crew, WhatIsLeftOnceIsNoLeak) {
  static std::set<int> seen;
  static std::vector<std::string*> kept;
  const Heard heard = Work(5,
                           [](int i) {
                             if (seen.insert(i).second) kept.push_back(new std::string(std::size_t{4} << 20, 'x'));
                             return std::to_string(i);
                           },
                           {.jobs = 1});
  EXPECT_TRUE(heard.crashes.empty());
}

TEST(Crew, WhatWasFreedGoesBackToTheSystem) {
  const Heard heard = Work(200,
                           [](int i) {
                             std::vector<std::string> pieces(i == 0 ? 256 : 0, std::string(std::size_t{1} << 19, 'x'));
                             long pages = 0;
                             long resident = 0;
                             std::ifstream("/proc/self/statm") >> pages >> resident;
                             return std::to_string(resident * sysconf(_SC_PAGESIZE) >> 20);
                           },
                           {.jobs = 1});
  ASSERT_EQ(heard.replies.size(), 200u);
  EXPECT_GE(std::stoi(heard.replies.front()), 128);
  EXPECT_LT(std::stoi(heard.replies.back()), 64) << "MiB";
}
#endif

TEST(Crew, PartsThatCrashAreLeftOut) {
  std::atomic<bool> stop{false};
  bool asked = false;
  std::vector<std::string> replies;
  CrewCallbacks callbacks;
  callbacks.next = [&]() -> std::optional<std::string> {
    if (std::exchange(asked, true)) return std::nullopt;
    return "all";
  };
  callbacks.new_worker = [](const CrewView& view) {
    return [part = view.part](const std::string& request) {
      for (std::uint64_t i = 1; i <= 5; ++i) {
        part(i);
        if (i == 3 && request == "all") std::abort();
      }
      return request;
    };
  };
  callbacks.on_reply = [&](const std::string& reply) {
    replies.push_back(reply);
    return true;
  };
  callbacks.on_crash = [&](const std::string&, std::uint64_t part, const Crash& crash) -> std::optional<std::string> {
    replies.push_back(fmt::format("{} in {}", crash.rule(), part));
    return "without";
  };
  RunCrew({.jobs = 2}, callbacks, stop);
  EXPECT_THAT(replies, ElementsAre("crash.abort in 3", "without"));
}

TEST(Crew, OneRequestIsMadeOnce) {
  const std::atomic<bool> stop{false};
  std::vector<std::string> heard;
  const auto work = [&](bool crashes) {
    return OneRequest(
        [crashes](const CrewView&) {
          if (crashes) std::abort();
          return std::string("done");
        },
        [&heard](const std::string& reply) { heard.push_back(reply); },
        [&heard](const Crash& crash) { heard.push_back(crash.rule()); });
  };
  for (const int jobs : {0, 1, 3}) RunCrew({.jobs = jobs}, work(false), stop);
  RunCrew({.jobs = 2}, work(true), stop);
  EXPECT_THAT(heard, ElementsAre("done", "done", "done", "crash.abort"));
}

TEST(Crew, WorkersDieWithTheirParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    close(ends[0]);
    Work(1, [](int) {
      while (true) pause();
      return std::string();
    });
    _exit(0);
  }
  close(ends[1]);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);  // its end: nobody holds the other one any more
  close(ends[0]);
}

TEST(PlayWatch, TimeInWhichItsParentStandsStillDoesNotCount) {
  const pid_t worker = fork();
  while (worker == 0) pause();
  CrashBoard board;
  board.item = 1;
  PlayWatch watch;
  watch.LookAt(worker, board, {}, {.wall_ms = 0});
  watch.LookAt(worker, board, {}, {.wall_ms = 10'000'000});
  EXPECT_EQ(board.asked, 0U);
  for (int look = 1; board.asked == 0 && look < 20'000; ++look)
    watch.LookAt(worker, board, {}, {.wall_ms = 10'000'000 + 250 * look});
  EXPECT_EQ(board.asked, PlayWatch::BeatOf(board)) << "one that waits for ever";
  kill(worker, SIGKILL);
  waitpid(worker, nullptr, 0);
}

TEST(PlayApart, SaysHowItEnded) {
  const auto well = PlayApart([](CrashBoard&) { return std::string("fine"); }, {});
  ASSERT_TRUE(std::holds_alternative<std::string>(well));
  EXPECT_EQ(std::get<std::string>(well), "fine");
  const auto late = PlayApart(
      [](CrashBoard& board) {
        board.asked = PlayWatch::BeatOf(board);
        board.part = 1;  // what was asked about is over
        std::raise(SIGUSR2);
        std::raise(SIGUSR2);
        return std::string("goes on");
      },
      {});
  ASSERT_TRUE(std::holds_alternative<std::string>(late));
  EXPECT_EQ(std::get<std::string>(late), "goes on");
  const auto asked = PlayApart(
      [](CrashBoard& board) {
        board.asked = PlayWatch::BeatOf(board);
        std::raise(SIGUSR2);
        return std::string("goes on");
      },
      {});
  ASSERT_TRUE(std::holds_alternative<Crash>(asked));
  EXPECT_EQ(std::get<Crash>(asked).rule(), "crash.timeout");
  const auto dead = PlayApart([](CrashBoard&) -> std::string { std::abort(); }, {});
  ASSERT_TRUE(std::holds_alternative<Crash>(dead));
  EXPECT_EQ(std::get<Crash>(dead).rule(), "crash.abort");
}

TEST(PlayApart, AnExceptionThatNobodyMayCatchIsToldByItsText) {
  const std::function<void()> throws = [] { throw std::runtime_error("the text"); };
  const auto dead = PlayApart(
      [&](CrashBoard&) -> std::string {
        [&]() noexcept { throws(); }();
        return "";
      },
      {});
  EXPECT_EQ(std::get<Crash>(dead).rule(), "crash.uncaught_exception");
  EXPECT_EQ(std::get<Crash>(dead).detail, "the text");
}

}  // namespace
}  // namespace vigil::replays
