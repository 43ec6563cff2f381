#include "vigil/replays/play/play.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <span>

#include "fmt/format.h"
#include "vigil/replays/crew/shared_memory.h"
#include "vigil/replays/play/report.h"
#include "vigil/replays/play/testing.h"

namespace vigil::replays {
namespace {

// A stand-in for the runner: expects nothing, says what the scenario is called; its answer takes longer for some.
PlainOutcome Echo(const Recording& recording) {
  volatile unsigned spin = recording.scenario.id.size() % 3 == 0 ? 20'000 : 0;
  while (spin > 0) spin = spin - 1;
  PlainOutcome outcome;
  outcome.events = {recording.scenario.id};
  outcome.hash = recording.scenario.seed;
  return outcome;
}

std::string Record(int i, std::string_view event) {
  const std::string id(static_cast<std::size_t>(1 + i % 7), static_cast<char>('a' + i % 26));
  return fmt::format(R"({{"id":"{}{}","seed":{},"drive":[],"expect":{{"events":["{}"]}}}})", id, i, i,
                     event.empty() ? fmt::format("{}{}", id, i) : event);
}

struct PlayedRecords {
  PlaySummary summary;
  std::string out;
  std::string err;
  std::string hashes;
  std::size_t results = 0;
};

PlayedRecords Play(const std::string& text, PlayOptions options, std::size_t stop_after = SIZE_MAX) {
  FilesWith files{{"x.jsonl", text}};
  std::atomic<bool> stop{false};
  PlayedRecords played;
  Reporter reporter(
      {.hashes = true}, [&](std::string_view t) { played.out += t; }, [&](std::string_view t) { played.err += t; });
  PlayCallbacks callbacks;
  callbacks.read = [&](const OnRecord& on_record) { ReadRecords(files, nullptr, {"x.jsonl"}, on_record); };
  callbacks.new_player = [](const std::atomic<bool>*) { return Player(Echo); };
  callbacks.on_result = [&](const Result& result) {
    reporter.Add(result);
    if (++played.results == stop_after) stop = true;
  };
  played.summary = PlayAll(options, callbacks, stop);
  reporter.Finish(played.summary.stopped);
  played.hashes = reporter.TakeHashes();
  return played;
}

std::string ManyRecords(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i % 50 == 17 ? "{\"id\":7}" : Record(i, i % 40 == 9 ? "other" : "")) + "\n";
  return text;
}

TEST(Play, ResultsDoNotDependOnTheNumberOfJobs) {
  const std::string text = ManyRecords(1000);
  const PlayedRecords one = Play(text, {.jobs = 1});
  EXPECT_EQ(one.results, 1000u);
  EXPECT_TRUE(one.out.ends_with("20 inputs could not be read\n955 passed, 25 failed\n")) << one.out;
  EXPECT_FALSE(one.summary.stopped);
  for (const int jobs : {2, 3, 8}) {
    const PlayedRecords many = Play(text, {.jobs = jobs});
    EXPECT_EQ(one.out, many.out);
    EXPECT_EQ(one.err, many.err);
    EXPECT_EQ(one.hashes, many.hashes);
  }
}

TEST(Play, OnlyTheNamedOnes) {
  const PlayedRecords played = Play(ManyRecords(10), {.jobs = 2, .only = {"dddd3", "nobody", "f5", "ffffff5"}});
  EXPECT_EQ(played.hashes, "dddd3 0000000000000003\nffffff5 0000000000000005\n");
  EXPECT_EQ(played.summary.unknown_ids, (std::vector<std::string>{"f5", "nobody"}));
}

TEST(Play, StopsInOrder) {
  const std::string text = ManyRecords(5000);
  const PlayedRecords all = Play(text, {.jobs = 2});
  const PlayedRecords stopped = Play(text, {.jobs = 2}, 100);
  EXPECT_TRUE(stopped.summary.stopped);
  EXPECT_GE(stopped.results, 100u);
  EXPECT_LT(stopped.results, 1000u);
  EXPECT_TRUE(all.hashes.starts_with(stopped.hashes));
  EXPECT_TRUE(stopped.summary.unknown_ids.empty());
}

TEST(Play, StoppedBeforeItBegan) {
  std::atomic<bool> stop{true};
  PlayCallbacks callbacks;
  FilesWith files{{"x.jsonl", ManyRecords(5000)}};
  callbacks.read = [&](const OnRecord& on_record) { ReadRecords(files, nullptr, {"x.jsonl"}, on_record); };
  callbacks.new_player = [](const std::atomic<bool>*) { return Player(Echo); };
  std::size_t results = 0;
  callbacks.on_result = [&](const Result&) { ++results; };
  EXPECT_TRUE(PlayAll({.jobs = 3}, callbacks, stop).stopped);
  EXPECT_LT(results, 1000u);
}

TEST(Play, HoldsABoundedNumberOfRecords) {
  std::atomic<bool> stop{false};
  const auto shared = NewSharedMemory<std::atomic<int>>();  // with the processes that play and read
  std::atomic<int>& read = *shared;
  int most = 0;
  int handed_out = 0;
  PlayCallbacks callbacks;
  callbacks.read = [&](const OnRecord& on_record) {
    for (int i = 0; i < 3000; ++i) {
      ++read;
      on_record({"x.jsonl", i + 1, Record(i, ""), {}});
    }
  };
  callbacks.new_player = [](const std::atomic<bool>*) { return Player(Echo); };
  callbacks.on_result = [&](const Result&) {
    ++handed_out;
    most = std::max(most, read.load() - handed_out);
  };
  PlayAll({.jobs = 2}, callbacks, stop);
  EXPECT_EQ(handed_out, 3000);
  EXPECT_LT(most, 200);
  // Fewer, if that is asked for: four, as many that are on their way out, one that is on its way in.
  read = most = handed_out = 0;
  PlayAll({.jobs = 2, .ahead = 2}, callbacks, stop);
  EXPECT_EQ(handed_out, 3000);
  EXPECT_LE(most, 9);
}

// The records that are handed out, of 300, if playing the sixth is interrupted.
std::vector<std::int64_t> HandedOutBeforeTheSixth(int jobs) {
  const auto shared = NewSharedMemory<std::atomic<bool>>();
  std::atomic<bool>& stop = *shared;
  PlayCallbacks callbacks;
  callbacks.read = [&](const OnRecord& on_record) {
    for (int i = 0; i < 300 && on_record({"x.jsonl", i + 1, Record(i, ""), {}}); ++i) {
    }
  };
  callbacks.new_player = [&stop](const std::atomic<bool>*) {
    return [&stop](const Recording& recording) {
      PlainOutcome outcome = Echo(recording);
      if (recording.record == 6) {
        stop = true;
        outcome.verdict = Verdict::kInterrupted;
      }
      return outcome;
    };
  };
  std::vector<std::int64_t> handed_out;
  callbacks.on_result = [&](const Result& result) { handed_out.push_back(result.record); };
  EXPECT_TRUE(PlayAll({.jobs = jobs}, callbacks, stop).stopped);
  return handed_out;
}

TEST(Play, WhatWasInterruptedIsNotHandedOutNorWhatCameAfterIt) {
  const std::vector<std::int64_t> before = {1, 2, 3, 4, 5};
  EXPECT_EQ(HandedOutBeforeTheSixth(1), before);
  // Which of those before it another process has begun by then, only the machine knows.
  const std::vector<std::int64_t> handed_out = HandedOutBeforeTheSixth(3);
  ASSERT_LE(handed_out.size(), before.size());
  EXPECT_TRUE(std::ranges::equal(handed_out, std::span(before).first(handed_out.size())));
}

TEST(Play, HoldsABoundedNumberOfBytes) {
  std::atomic<bool> stop{false};
  const auto shared = NewSharedMemory<std::array<std::atomic<int>, 3>>();
  std::atomic<int>& read = (*shared)[0];
  std::atomic<int>& played = (*shared)[1];
  std::atomic<int>& most = (*shared)[2];
  PlayCallbacks callbacks;
  callbacks.read = [&](const OnRecord& on_record) {
    const std::string text = Record(1, "") + std::string(15 << 20, ' ');
    for (int i = 0; i < 40; ++i) {
      ++read;
      on_record({"x.jsonl", i + 1, text, {}});
    }
  };
  callbacks.new_player = [&](const std::atomic<bool>*) {
    return [&](const Recording& recording) {
      most = std::max(most.load(), read.load() - played.load());
      ++played;
      return Echo(recording);
    };
  };
  int results = 0;
  callbacks.on_result = [&](const Result&) { ++results; };
  PlayAll({.jobs = 2}, callbacks, stop);
  EXPECT_EQ(results, 40);
  EXPECT_GE(played, 40);  // what has grown the heap may be played again, to see whether it leaks
  EXPECT_LT(most.load(), 12);
}

TEST(Play, TicksWhileTheReaderIsStuckAndEndsWithoutIt) {
  std::atomic<bool> stop{false};
  int ticks = 0;
  PlayCallbacks callbacks;
  callbacks.read = [&](const OnRecord&) { stop.wait(false); };  // for ever: what is set elsewhere is not seen there
  callbacks.new_player = [](const std::atomic<bool>*) { return Player(Echo); };
  callbacks.on_result = [](const Result&) {};
  callbacks.on_tick = [&] { stop = ++ticks >= 4; };
  EXPECT_TRUE(PlayAll({.jobs = 2}, callbacks, stop).stopped);
  EXPECT_GE(ticks, 4);
}

TEST(Play, EachWorkerHasItsOwnPlayer) {
  std::atomic<bool> stop{false};
  const auto shared = NewSharedMemory<std::atomic<int>>();  // with the processes that play and read
  std::atomic<int>& players = *shared;
  PlayCallbacks callbacks;
  callbacks.read = [&](const OnRecord& on_record) { on_record({"x.jsonl", 1, Record(1, ""), {}}); };
  callbacks.new_player = [&](const std::atomic<bool>*) {
    ++players;
    return Player(Echo);
  };
  callbacks.on_result = [](const Result&) {};
  PlayAll({.jobs = 3}, callbacks, stop);
  EXPECT_EQ(players, 3);
}

}  // namespace
}  // namespace vigil::replays
