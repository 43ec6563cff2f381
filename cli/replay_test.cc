// The program as its users meet it: exit codes, streams, files, pipes, signals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fmt/format.h"
#include "vigil/cli/run_program.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/play/runner.h"

namespace vigil::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ReplayTest : public ::testing::Test {
 protected:
  ReplayTest() {
    folder_.Write("bad.jsonl", "{\"id\":7}\n");
    // What really happens, from the program itself: these tests are about the program, not about sessions.
    const std::string trace = Run("echo '{\"id\":\"good\",\"drive\":[]}' | $VIGIL replay - --trace").out;
    std::string events;
    std::size_t at = trace.find('\n') + 1;
    while (at < trace.size() && !trace.substr(at).starts_with("FAILED")) {
      const std::size_t end = trace.find('\n', at);
      events += (events.empty() ? "\"" : ",\"") + trace.substr(at, end - at) + "\"";
      at = end + 1;
    }
    good_ = fmt::format(R"({{"id":"good","title":"a quiet life","drive":[],"expect":{{"events":[{}]}}}})", events);
    folder_.Write("good.jsonl", good_ + "\n");
    folder_.Write("wrong.jsonl", R"({"id":"wrong","drive":[],"expect":{"events":["never happens"]}})");
  }

  Ran Run(const std::string& command) { return RunShell(folder_.path(), command); }

  TemporaryFolder folder_;
  std::string good_;
};

TEST_F(ReplayTest, PassesQuietly) {
  const Ran ran = Run("$VIGIL replay good.jsonl");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "1 passed, 0 failed\n");
  EXPECT_EQ(ran.err, "");
}

TEST_F(ReplayTest, AFailureEndsWithItsReplayLineThatFailsAgain) {
  const Ran ran = Run("$VIGIL replay good.jsonl wrong.jsonl");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, StartsWith("FAILED wrong\n  wrong.jsonl:1\n  event 1 differs\n"));
  EXPECT_THAT(ran.out, EndsWith("\n  ./vigil replay wrong.jsonl --only wrong\n\n1 passed, 1 failed\n"));
  const Ran again = Run("$VIGIL replay wrong.jsonl --only wrong");
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.out, EndsWith("0 passed, 1 failed\n"));
}

TEST_F(ReplayTest, WhatCannotBeReadIsAnErrorWhateverElsePasses) {
  const Ran ran = Run("$VIGIL replay bad.jsonl good.jsonl gone.jsonl wrong.jsonl");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "error: bad.jsonl:1: /id: expected a string, got 7\nerror: gone.jsonl: no such file or folder\n");
  EXPECT_THAT(ran.out, EndsWith("2 inputs could not be read\n1 passed, 1 failed\n"));
}

TEST_F(ReplayTest, OnlyTheNamedOnes) {
  EXPECT_EQ(Run("$VIGIL replay --only good good.jsonl wrong.jsonl").out, "1 passed, 0 failed\n");
  const Ran ran = Run("$VIGIL replay good.jsonl wrong.jsonl --only nobody --only good");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "1 passed, 0 failed\n");
  EXPECT_EQ(ran.err, "error: no scenario is called 'nobody'\n");
}

TEST_F(ReplayTest, OneScenarioOfAFile) {
  folder_.Write("both.jsonl", good_ + "\n" + folder_.Read("wrong.jsonl") + "\n");
  EXPECT_EQ(Run("$VIGIL replay both.jsonl#good").out, "1 passed, 0 failed\n");
  EXPECT_THAT(Run("$VIGIL replay both.jsonl#wrong").out, EndsWith("\n0 passed, 1 failed\n"));
  const Ran each = Run("$VIGIL replay good.jsonl both.jsonl#good wrong.jsonl --hashes /dev/stderr");
  EXPECT_EQ(each.code, 1);
  EXPECT_THAT(each.out, EndsWith("\n2 passed, 1 failed\n"));
  EXPECT_THAT(each.err, ::testing::MatchesRegex("good [0-9a-f]+\ngood [0-9a-f]+\nwrong [0-9a-f]+\n"));
  EXPECT_EQ(Run("mkdir d; cp both.jsonl d; $VIGIL replay d#good").out, "1 passed, 0 failed\n");
  const Ran none = Run("$VIGIL replay both.jsonl#none good.jsonl");
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.out, "1 passed, 0 failed\n");
  EXPECT_EQ(none.err, "error: 'both.jsonl' holds no scenario called 'none'\n");
  const Ran twice = Run("$VIGIL replay both.jsonl#good --only good");
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("error: FILE#ID and --only exclude each other"));
  folder_.Write("odd#name.jsonl", good_);
  EXPECT_EQ(Run("$VIGIL replay odd#name.jsonl").out, "1 passed, 0 failed\n");
  EXPECT_EQ(Run("$VIGIL replay odd#name.jsonl#good").out, "1 passed, 0 failed\n");
}

TEST_F(ReplayTest, TracesAndFailsWhereNothingIsExpected) {
  folder_.Write("open.json", "{\n \"id\": \"open\",\n \"drive\": []\n}\n");
  const Ran ran = Run("$VIGIL replay open.json --trace");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, StartsWith("== open (open.json:1)\n"));
  EXPECT_THAT(ran.out, HasSubstr("\nsession 1 created\n"));
  EXPECT_THAT(ran.out, HasSubstr("\n  nothing to compare: the record has no 'expect'; it breaks no rule\n"));
}

// Whoever writes a scenario by hand hears of what it breaks.
TEST_F(ReplayTest, WhereNothingIsExpectedTheRulesAreHeldAgainstIt) {
  folder_.Write("open.json", R"({"id":"open","format":2,"behaviour":"default","seed":1,
      "cluster":{"tasks":{"chief":1,"ps":1}},"workload":{"name":"async_regression","last_step":4000},
      "plan":[],"heal_s":20,"limit_s":30})");
  const Ran ran = Run("$VIGIL replay open.json");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("\n  violates job.every_task_ends, "));
  EXPECT_THAT(ran.out, HasSubstr("\n  job.every_task_ends: chief:0: expected an end within"));
}

// What servers hold is looked at for minutes after the last task has ended.
TEST_F(ReplayTest, AJobThatEndsJustBeforeItsLimitIsNoRunaway) {
  folder_.Write("short.json", R"({"id":"short","format":2,"behaviour":"default","cluster":{"tasks":{"chief":1,"ps":1}},
      "workload":{"name":"async_regression","last_step":10},"plan":[],"heal_s":1,"limit_s":30})");
  EXPECT_THAT(Run("$VIGIL replay short.json").out, HasSubstr("it breaks no rule\n"));
}

TEST_F(ReplayTest, ARunawayNamesTheLimitThatItMet) {
  folder_.Write("loop.json", R"({"id":"loop","drive":[{"op":"loop","max":9999,"body":[{"op":"run"}]}]})");
  EXPECT_THAT(Run("$VIGIL replay loop.json").out, HasSubstr(": 4800 events, 8 for each of limits.events = 600\n"));
}

TEST_F(ReplayTest, ReadsStandardInputAndFolders) {
  EXPECT_EQ(Run("cat good.jsonl | $VIGIL replay -").out, "1 passed, 0 failed\n");
  EXPECT_EQ(Run("sed 's/,/,\\n/g' good.jsonl | $VIGIL replay -").out, "1 passed, 0 failed\n");
  EXPECT_EQ(Run("mkdir -p d/e && cp good.jsonl d && cp good.jsonl d/e && $VIGIL replay d").out, "2 passed, 0 failed\n");
  const Ran empty = Run("$VIGIL replay - </dev/null");
  EXPECT_EQ(empty.code, 2);
  EXPECT_EQ(empty.err, "error: -: holds no scenario\n");
}

TEST_F(ReplayTest, TracesOfProductionRuns) {
  const auto recording = replays::ParseRecording(
      R"({"id":"x","hooks":[{"hook":"probe","name":"a"}],"faults":[{"at":"run","call":1,"code":"ABORTED"}],"drive":[{"op":"run"}]})");
  ASSERT_TRUE(recording.ok()) << recording.status();
  const std::string trace = replays::Runner().Run(recording->scenario, {.write_trace = true}).written_trace;
  ASSERT_FALSE(trace.empty());
  folder_.Write("whole.trace", trace);
  folder_.Write("torn.trace", trace.substr(0, trace.size() - 5));
  folder_.Write("damaged.trace", trace.substr(0, trace.size() / 2) + "?" + trace.substr(trace.size() / 2 + 1));
  folder_.Write("empty.trace", "");
  const Ran whole = Run("$VIGIL replay whole.trace --trace");
  EXPECT_EQ(whole.code, 0);
  EXPECT_EQ(whole.err, "");
  EXPECT_THAT(whole.out, StartsWith("== whole.trace (whole.trace:1)\nhook a begin session=none\n"));
  EXPECT_THAT(whole.out, HasSubstr("\nrecovery from ABORTED\n"));
  const Ran torn = Run("xz -k torn.trace; $VIGIL replay torn.trace.xz --only torn.trace.xz");
  EXPECT_EQ(torn.code, 0);
  EXPECT_EQ(torn.out, "1 passed, 0 failed\n");
  EXPECT_THAT(torn.err, StartsWith("note: torn.trace.xz: the last "));
  const Ran damaged = Run("$VIGIL replay damaged.trace");
  EXPECT_EQ(damaged.code, 2);
  EXPECT_THAT(damaged.err, StartsWith("error: damaged.trace: damaged at byte "));
  EXPECT_EQ(Run("$VIGIL replay empty.trace").err, "error: empty.trace: an empty file\n");
  const Ran folder = Run("$VIGIL replay .");
  EXPECT_EQ(folder.code, 2);
  EXPECT_THAT(folder.err, HasSubstr("error: ./empty.trace: an empty file\n"));
}

TEST_F(ReplayTest, APipeAmongFilesIsAnErrorNotAWait) {
  const Ran ran = Run("mkdir p; mkfifo p/a.json; cp good.jsonl p/b.jsonl; timeout -s KILL 20 $VIGIL replay p");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "error: p/a.json: open p/a.json: a pipe, which has no offsets to read at\n");
  EXPECT_EQ(ran.out, "1 input could not be read\n1 passed, 0 failed\n");
}

TEST_F(ReplayTest, JsonToAFileOrStandardOutput) {
  const Ran ran = Run("$VIGIL replay good.jsonl wrong.jsonl --json report.json");
  EXPECT_EQ(ran.code, 1);
  const std::string json = folder_.Read("report.json");
  EXPECT_THAT(json, StartsWith(R"({"passed":1,"failed":1,"unreadable":0,"interrupted":false,"scenarios":[)"));
  EXPECT_THAT(folder_.Names(), Not(::testing::Contains("report.json.tmp")));
  const Ran streamed = Run("$VIGIL replay good.jsonl wrong.jsonl --json -");
  EXPECT_EQ(streamed.out, json);
  EXPECT_THAT(streamed.err, EndsWith("1 passed, 1 failed\n"));
}

TEST_F(ReplayTest, OutputThatCannotBeWrittenIsAnErrorBeforeAnythingIsPlayed) {
  for (const char* command : {"replay good.jsonl --json", "replay good.jsonl --hashes", "check --json"}) {
    const Ran missing = Run(fmt::format("timeout -s KILL 20 $VIGIL {} no/such/folder/x", command));
    EXPECT_EQ(missing.code, 2) << command;
    EXPECT_EQ(missing.out, "");
    EXPECT_THAT(missing.err, StartsWith("error: cannot write 'no/such/folder/x': "));
    const Ran folder = Run(fmt::format("mkdir -p d; touch d/x; timeout -s KILL 20 $VIGIL {} d", command));
    EXPECT_EQ(folder.code, 2) << command;
    EXPECT_EQ(folder.out, "");
    EXPECT_EQ(folder.err, "error: cannot write 'd': it is a folder\n");
    EXPECT_THAT(folder_.Names(), Not(::testing::Contains("d.tmp")));
  }
  folder_.Write("old.json", "old");
  EXPECT_EQ(Run("$VIGIL replay gone.jsonl --json old.json").code, 2);
  EXPECT_NE(folder_.Read("old.json"), "old") << "what can be written is, whatever the results";
}

TEST_F(ReplayTest, AClosedStreamIsAnErrorNotAWait) {
  for (const char* const words : {"replay - --jobs 2 <&-", "replay good.jsonl wrong.jsonl --jobs 2 <&- >&-",
                                  "replay good.jsonl - --jobs 2 <&- 2>&-", "check --suite random --seeds 1..9 >&-"}) {
    EXPECT_EQ(Run(fmt::format("timeout -k 1 30 $VIGIL {}", words)).code, 2) << words;
  }
  EXPECT_THAT(Run("$VIGIL replay - --jobs 2 <&-").err, HasSubstr("Bad file descriptor"));
  EXPECT_EQ(Run("$VIGIL replay good.jsonl --jobs 2 <&-").code, 0) << "nobody asked for it";
}

TEST_F(ReplayTest, APipeThatNobodyReadsIsAnErrorNotAWait) {
  const Ran ran = Run("mkfifo p; timeout -s KILL 20 $VIGIL replay good.jsonl --json p");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "1 passed, 0 failed\n");
  EXPECT_EQ(ran.err, "error: cannot write 'p': nobody reads from it\n");
  const Ran read = Run("mkfifo q; cat q >read.json & timeout -s KILL 20 $VIGIL replay good.jsonl --json q; wait");
  EXPECT_EQ(read.code, 0);
  EXPECT_THAT(folder_.Read("read.json"), HasSubstr("\"passed\":1"));
}

TEST_F(ReplayTest, OutputThatFailsLaterIsAnErrorAfterTheResults) {
  for (const char* option : {"--json", "--hashes"}) {
    const Ran full = Run(fmt::format(
        "$VIGIL replay good.jsonl {} /dev/full; code=$?; test -c /dev/full || exit 99; exit $code", option));
    EXPECT_EQ(full.code, 2);
    EXPECT_EQ(full.out, "1 passed, 0 failed\n");
    EXPECT_THAT(full.err, HasSubstr("No space left on device"));
  }
  const Ran output = Run("$VIGIL replay good.jsonl >/dev/full");
  EXPECT_EQ(output.code, 2);
  EXPECT_EQ(output.err, "error: write to standard output: No space left on device\n");
}

TEST_F(ReplayTest, AnOutputNeverOverwritesAnInputOrAnother) {
  folder_.Write("link.sh", "mkdir d; cp good.jsonl d/good.jsonl; ln -s good.jsonl in.jsonl; ln good.jsonl hard.jsonl");
  EXPECT_EQ(Run("sh link.sh").code, 0);
  const std::pair<const char*, const char*> rows[] = {
      {"replay good.jsonl --json good.jsonl", "--json 'good.jsonl' would overwrite what is read: 'good.jsonl'"},
      {"replay good.jsonl --json ./good.jsonl", "--json './good.jsonl' would overwrite what is read: 'good.jsonl'"},
      {"replay good.jsonl --hashes in.jsonl", "--hashes 'in.jsonl' would overwrite what is read: 'good.jsonl'"},
      {"replay good.jsonl --hashes hard.jsonl", "--hashes 'hard.jsonl' would overwrite what is read: 'good.jsonl'"},
      {"replay d --timeline d/good.jsonl", "--timeline 'd/good.jsonl' would overwrite what is read: 'd'"},
      {"replay good.jsonl --timeline x --perfetto x", "--timeline and --perfetto name the same file"},
      {"check --suite random --json x --junit ./x", "--json and --junit name the same file"},
      {"check --suite recorded --recordings d --junit d/good.jsonl", "would overwrite what is read: 'd'"},
      {"check --suite random --failures d --json d/good.jsonl", "would overwrite what is read: 'd'"},
      {"check --suite random --failures new --json new", "--json 'new' would overwrite what is read: 'new'"},
      {"replay d --json d/new.json", "--json 'd/new.json' would be read as a scenario: 'd'"},
      {"check --suite random --failures new --json new/all.json",
       "--json 'new/all.json' would be read as a scenario: 'new'"},
      {"explore good.jsonl --json good.jsonl", "--json 'good.jsonl' would overwrite what is read: 'good.jsonl'"},
      {"explore good.jsonl#good --json d/../good.jsonl", "would overwrite what is read: 'good.jsonl'"},
      {"explore --hooks 1 --json x --state x", "--json and --state name the same file"},
      {"verify naps --json x --junit x", "--json and --junit name the same file"},
  };
  for (const auto& [words, error] : rows) {
    const Ran ran = Run(fmt::format("$VIGIL {}", words));
    EXPECT_EQ(ran.code, 2) << words;
    EXPECT_EQ(ran.out, "") << words;
    EXPECT_THAT(ran.err, HasSubstr(error)) << words;
  }
  EXPECT_EQ(folder_.Read("good.jsonl"), good_ + "\n");
  EXPECT_EQ(Run("$VIGIL replay d --json d/new.txt").code, 0) << "it is not read";
  const Ran twice = Run("$VIGIL replay good.jsonl --json /dev/stdout --hashes /dev/stdout >both; cat both");
  EXPECT_THAT(twice.out, ::testing::MatchesRegex("1 passed, 0 failed\n\\{[^ ]+\\}\ngood [0-9a-f]+\n")) << twice.err;
}

TEST_F(ReplayTest, WhatCannotBeMeantIsRefused) {
  folder_.Write("rule.json", R"({"id":"rule","drive":[],"expect":{"violates":"no.such.rule"}})");
  const Ran rule = Run("$VIGIL replay rule.json");
  EXPECT_EQ(rule.code, 1);
  EXPECT_THAT(rule.out, HasSubstr("/expect/violates: no rule is called 'no.such.rule'; vigil rules lists them"));
  for (const char* const option : {"--timeline", "--perfetto", "--hashes"}) {
    const Ran ran = Run(fmt::format("$VIGIL replay good.jsonl {} -", option));
    EXPECT_EQ(ran.code, 2) << option;
    EXPECT_THAT(ran.err, HasSubstr(fmt::format("{}: - is no file", option)));
  }
}

TEST_F(ReplayTest, ChoicesThatNothingAskedForAreTold) {
  folder_.Write("stale.json", R"({"id":"stale","drive":[],"choices":{"a/b":["x","y"]},)"
                              R"("expect":{"violates":"end.only_on_clean_exit"}})");
  const Ran ran = Run("$VIGIL replay stale.json");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("note: stale: nothing asked for"));
}

// Also what is asked of the program itself.
TEST_F(ReplayTest, WhatCannotBePrintedIsAnError) {
  for (const char* const words : {"--help", "--version", "replay --help", "check --help", "check --list-rules", "rules",
                                  "verify --list", "check --planted list", "diff good.jsonl good.jsonl"}) {
    const Ran ran = Run(fmt::format("$VIGIL {} >/dev/full", words));
    EXPECT_EQ(ran.code, 2) << words;
    EXPECT_EQ(ran.err, "error: write to standard output: No space left on device\n") << words;
  }
}

TEST_F(ReplayTest, WritesThroughLinksAndKeepsThem) {
  EXPECT_EQ(
      Run("touch real.json; ln -s real.json link.json; $VIGIL replay good.jsonl --json link.json; test -L link.json")
          .code,
      0);
  EXPECT_THAT(folder_.Read("real.json"), HasSubstr("\"passed\":1"));
}

TEST_F(ReplayTest, ALinkThatLeadsBackPlaysNothingTwice) {
  const Ran ran = Run("mkdir d; cp good.jsonl d; ln -s . d/loop; ln -s good.jsonl d/same.jsonl; $VIGIL replay d");
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out, "1 passed, 0 failed\n");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(Run("$VIGIL replay d d/same.jsonl").out, "2 passed, 0 failed\n") << "each path that is named counts";
}

TEST_F(ReplayTest, HashesAndOutputDoNotDependOnJobs) {
  const std::string replay = fmt::format("$VIGIL replay {}/replays/tensorflow/random.jsonl --jobs ", VIGIL_SOURCE_DIR);
  const Ran one = Run(replay + "1 --hashes one.txt");
  const Ran three = Run(replay + "3 --hashes three.txt");
  EXPECT_EQ(one.out, three.out);
  EXPECT_EQ(one.code, three.code);
  EXPECT_EQ(folder_.Read("one.txt"), folder_.Read("three.txt"));
  EXPECT_THAT(folder_.Read("one.txt"), ::testing::ContainsRegex("^random_[a-z0-9_]+ [0-9a-f]{16}\n"));
}

// Two scenarios have been played and the reader waits for more (descriptor 3 holds the fifo open) when the signal
// comes.
std::string InterruptedBy(const std::string& kill) {
  return "mkfifo pipe; exec 3<>pipe; cat good.jsonl good.jsonl >&3; touch out\n"
         "$VIGIL replay - --trace --json report.json <pipe 3>&- >out & pid=$!\n"
         "until [[ $(grep -c '^== good' out) == 2 ]]; do sleep 0.05; done\n" +
         kill + "; wait $pid; code=$?; tail -n 2 out; exit $code";
}

TEST_F(ReplayTest, CtrlCPrintsWhatWasFound) {
  const Ran ran = Run(InterruptedBy("kill -INT $pid"));
  EXPECT_EQ(ran.code, 130);
  EXPECT_EQ(ran.out, "interrupted: this is what was found so far\n2 passed, 0 failed\n");
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(folder_.Read("report.json"), HasSubstr("\"interrupted\":true"));
}

TEST_F(ReplayTest, SoDoesTermination) {
  const Ran ran = Run(InterruptedBy("kill -TERM $pid"));
  EXPECT_EQ(ran.code, 143);
  EXPECT_THAT(ran.out, EndsWith("2 passed, 0 failed\n"));
}

TEST_F(ReplayTest, AClosedPipeEndsItQuietly) {
  const Ran ran = Run(fmt::format(
      "trap '' PIPE; $VIGIL replay --trace {}/replays/tensorflow/pairs.jsonl.xz | head -n 1; echo ${{PIPESTATUS[0]}}",
      VIGIL_SOURCE_DIR));
  EXPECT_THAT(ran.out, ::testing::MatchesRegex("== [^\n]*\n141\n"));
  EXPECT_EQ(ran.err, "");
}

TEST_F(ReplayTest, AHugeLineIsRefusedWithBoundedMemory) {
  const Ran ran =
      Run("ulimit -v 500000; { cat good.jsonl; head -c 209715200 /dev/zero | tr '\\0' x; } | $VIGIL replay - --jobs 1");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "1 input could not be read\n1 passed, 0 failed\n");
  EXPECT_THAT(ran.err, HasSubstr("error: -:2: a line longer than 16 MiB; the rest is not read\n"));
}

TEST_F(ReplayTest, ColoursAreForTerminals) {
  const std::string terminal = "script -qec \"$VIGIL replay wrong.jsonl\" /dev/null";
  EXPECT_THAT(Run("TERM=xterm $VIGIL replay wrong.jsonl").out, Not(HasSubstr("\x1b")));
  if (Run("script -qec true /dev/null").code != 0)
    return;  // a bare chroot has no pseudo terminals: nothing more to see
  EXPECT_THAT(Run("TERM=xterm " + terminal).out, StartsWith("\x1b[31mFAILED\x1b[0m wrong"));
  EXPECT_THAT(Run("TERM=xterm NO_COLOR=1 " + terminal).out, StartsWith("FAILED wrong"));
  EXPECT_THAT(Run("TERM=dumb " + terminal).out, StartsWith("FAILED wrong"));
}

TEST_F(ReplayTest, MisuseSaysWhatIsWrongAndWhereToLook) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"$VIGIL", "error: A subcommand is required\nSee vigil --help\n"},
      {"$VIGIL reply x",
       "error: no command is called 'reply'; there are replay, check, explore, diff, rules, judge, verify, campaign, "
       "merge, "
       "player and bench\nSee vigil --help\n"},
      {"$VIGIL replay", "error: PATH is required\nSee vigil replay --help\n"},
      {"$VIGIL replay good.jsonl --jbs 2", "See vigil replay --help\n"},
      {"$VIGIL replay good.jsonl --jobs -1", "See vigil replay --help\n"},
      {"$VIGIL replay good.jsonl --jobs two", "See vigil replay --help\n"},
      {"$VIGIL replay good.jsonl --json x --hashes x",
       "error: --json and --hashes name the same file\nSee vigil replay --help\n"},
      {"$VIGIL replay good.jsonl --json x --hashes ./x",
       "error: --json and --hashes name the same file\nSee vigil replay --help\n"},
      {"touch y; ln -s y z; $VIGIL replay good.jsonl --json y --hashes z",
       "error: --json and --hashes name the same file\nSee vigil replay --help\n"},
      {"$VIGIL replay --real good.jsonl --trace",
       "error: --real and --trace exclude each other\nSee vigil replay --help\n"},
      {"$VIGIL replay --real good.jsonl --seed 7",
       "error: --real and --seed exclude each other\nSee vigil replay --help\n"},
      {"$VIGIL replay good.jsonl --keep x", "error: --keep requires --real\nSee vigil replay --help\n"},
      {"$VIGIL replay good.jsonl --hashes -",
       "error: --hashes: - is no file; for standard output say /dev/stdout\nSee vigil replay --help\n"},
  };
  for (const auto& [command, err] : rows) {
    const Ran ran = Run(command);
    EXPECT_EQ(ran.code, 2) << command;
    EXPECT_EQ(ran.out, "") << command;
    EXPECT_THAT(ran.err, EndsWith(err)) << command;
  }
}

// What is asked for and does not apply is not passed over.
TEST_F(ReplayTest, OptionsThatAreAboutNothingAreAnError) {
  const std::pair<const char*, const char*> rows[] = {
      {"replay good.jsonl --seed 7", "error: --seed: nothing was played that real clusters did\n"},
      {"replay good.jsonl --seeds 7", "error: --seeds: nothing was played that real clusters did\n"},
      {"replay good.jsonl --trace --until 7", "error: --until: no cluster was played\n"},
      {"replay good.jsonl --trace --seeds 7",
       "error: --seeds: with --trace, --timeline and --perfetto one play is told; say --seed\nSee vigil replay "
       "--help\n"},
      {"check --suite recorded --seeds 1..2",
       "error: --seeds: it needs the suite random or cluster\nSee vigil check --help\n"},
      {"check --suite saved --time 1s",
       "error: --time: it needs the suite random or cluster\nSee vigil check --help\n"},
      {"check --suite random --recordings good.jsonl",
       "error: --recordings: it needs the suite recorded\nSee vigil check --help\n"},
      {"verify --list naps", "error: NAME: not with --list, which verifies nothing\nSee vigil verify --help\n"},
      {"verify naps --case random_3 --seed 3",
       "error: --seed: not with --case, which plays that one case\nSee vigil verify --help\n"},
      {"check --planted a --seeds 2..3",
       "error: --seeds: with --planted expected 1..N, got '2..3'\nSee vigil check --help\n"},
      {"check --planted a --junit x", "error: --junit: not with --planted, "},
      {"check --planted a --shard 1/2", "error: --shard: not with --planted, "},
      {"check --planted a --time 1s", "error: --time: not with --planted, "},
      {"check --planted a --failures x", "error: --failures: not with --planted, "},
      {"check --planted a --plant b", "error: --plant: not with --planted, "},
      {"check --planted a --corpus c", "error: --corpus: not with --planted, "},
      {"check --planted a --kills 3", "error: --kills: not with --planted, "},
      {"check --planted a --keep k", "error: --keep: not with --planted, "},
      {"check --suite planted --junit x", "error: --junit: not with --planted, "},
      {"check --planted a --suite saved",
       "error: --suite: with --planted random or cluster, which each bug is then played in\n"},
      {"check --planted list --shrink", "error: --shrink: not with --planted list, which plays nothing\n"},
      {"check --planted all,session.end_twice", "error: --planted: all stands alone, without further ids\n"},
      {"check --planted list --planted x", "error: --planted: list stands alone, without further ids\n"},
  };
  for (const auto& [words, error] : rows) {
    const Ran ran = Run(fmt::format("$VIGIL {}", words));
    EXPECT_EQ(ran.code, 2) << words;
    EXPECT_THAT(ran.err, StartsWith(error)) << words;
  }
  const Ran unknown = Run("$VIGIL check --planted no.such,session.end_twice,nor.this");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, ::testing::AnyOf(HasSubstr("There is no planted bug 'no.such' or 'nor.this'."),
                                            HasSubstr("This build has no planted bugs")));
}

TEST_F(ReplayTest, SeedsHave64Bits) {
  for (const char* const seed : {"18446744073709551616", "-1", "1e3", "0x10", "007", "+1", "99999999999999999999999"}) {
    for (const char* const words :
         {"replay good.jsonl", "verify stops_early --scenarios 1", "explore --cluster chief --guided 1"}) {
      const Ran ran = Run(fmt::format("$VIGIL {} --seed={}", words, seed));
      EXPECT_EQ(ran.code, 2) << words << seed;
      EXPECT_THAT(ran.err, HasSubstr("--seed: expected a whole number from 0 to 18446744073709551615, got '"))
          << words << seed;
    }
  }
  EXPECT_EQ(Run("$VIGIL verify stops_early --scenarios 1 --seed 18446744073709551615").code, 0);
  const Ran beyond = Run("$VIGIL verify stops_early --scenarios 2 --seed 18446744073709551615");
  EXPECT_EQ(beyond.code, 2);
  EXPECT_THAT(beyond.err, StartsWith("error: --seed and --scenarios: seeds have 64 bits"));
  for (const char* const seeds : {"01..2", "1..18446744073709551616", " 1..2", "1..2 ", "-1..2"}) {
    const Ran ran = Run(fmt::format("$VIGIL check --suite random --seeds '{}'", seeds));
    EXPECT_EQ(ran.code, 2) << seeds;
    EXPECT_THAT(ran.err, HasSubstr("--seeds: expected A..B with A <= B, got '")) << seeds;
  }
}

// Nobody means the octal 8.
TEST_F(ReplayTest, NumbersBeginWithNoZero) {
  for (const char* const words :
       {"replay good.jsonl --jobs", "replay good.jsonl --seeds", "replay good.jsonl --why", "check --jobs",
        "check --suite real-cluster --kills", "explore --hooks", "explore --runs", "explore --faults",
        "explore good.jsonl --limit", "explore good.jsonl --changes", "explore good.jsonl --choices",
        "explore good.jsonl --depth", "explore --cluster chief --guided", "explore --cluster chief --guided 1 --chain",
        "verify stops_early --scenarios", "campaign --engine parallel --suite random --seeds 1..9 --out o --shards",
        "campaign --engine parallel --suite random --seeds 1..9 --out o --shards 1 --jobs"}) {
    for (const char* const number : {"010", "0x1", "+1", "''"}) {
      const Ran ran = Run(fmt::format("$VIGIL {} {}", words, number));
      EXPECT_EQ(ran.code, 2) << words << number;
      EXPECT_THAT(ran.err, ::testing::AnyOf(HasSubstr(": expected a whole number from "), HasSubstr("value is empty")))
          << words << number;
    }
  }
}

TEST_F(ReplayTest, HelpAndVersion) {
  for (const char* command : {"$VIGIL --help", "$VIGIL replay --help"}) {
    const Ran ran = Run(command);
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, HasSubstr("Examples:\n"));
    EXPECT_THAT(ran.out, HasSubstr("Exit codes:\n"));
  }
  EXPECT_THAT(Run("$VIGIL --version").out, ::testing::MatchesRegex("vigil [0-9.]+\n"));
}

TEST_F(ReplayTest, ACheckOfAFewRecordingsFailsOnlyIfOneOfThemDoes) {
  const Ran few = Run("$VIGIL check --suite recorded --recordings good.jsonl --json few.json && cat few.json");
  EXPECT_EQ(few.code, 0);
  EXPECT_THAT(few.out, HasSubstr("\"rule recovery.has_a_cause was never armed\""));
  EXPECT_THAT(few.out, ContainsRegex("\ntoo few scenarios to tell: rule [a-z_.]+ was never armed\n"
                                     "too few scenarios to tell: rule [a-z_.]+ was never armed\n"
                                     "too few scenarios to tell: [0-9]+ more, which --json names\n"
                                     "1 passed, 0 failed\n"));
  const Ran wrong = Run("$VIGIL check --suite recorded --recordings good.jsonl --recordings wrong.jsonl");
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.out, EndsWith("1 passed, 1 failed\n"));
  const Ran input = Run("$VIGIL check --recordings -");
  EXPECT_EQ(input.code, 2);
  EXPECT_THAT(input.err, StartsWith("error: --recordings: - is no file"));
}

// ./vigil, which builds first: misuse must not cost a build.
TEST_F(ReplayTest, TheEntryTellsMisuseBeforeItBuilds) {
  const std::string entry = fmt::format("VIGIL_SKIP_PACKAGES=1 PATH=/usr/bin:/bin '{}/vigil' ", VIGIL_SOURCE_DIR);
  const Ran unknown = Run(entry + "reply x");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.err,
            "error: no command is called 'reply'; there are campaign, check, diff, explore, judge, merge, player, "
            "replay, rules, "
            "verify, bench, interop, proxy, serve and test\nSee ./vigil --help\n");
  const Ran preset = Run("VIGIL_PRESET=fast " + entry + "check");
  EXPECT_EQ(preset.code, 2);
  EXPECT_THAT(preset.err, StartsWith("error: VIGIL_PRESET: no preset is called 'fast'; there are dev, "));
  for (const char* help : {"--help", "test --help", "bench --help", "interop --help"}) {
    const Ran ran = Run(entry + help);
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, HasSubstr("Examples:\n"));
    EXPECT_EQ(ran.err, "");
  }
}

TEST_F(ReplayTest, TheScenariosThatHelpNamesAreThere) {
  const Ran ran =
      Run(fmt::format("cd '{}'; for f in $({{ ./vigil --help; $VIGIL --help; $VIGIL replay --help; }} | grep -oE "
                      "'(replays|examples)/[a-z_./]+');"
                      " do test -e $f || echo $f is not there; echo >&2 $f; done",
                      VIGIL_SOURCE_DIR));
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("replays/tensorflow\n"));
}

TEST_F(ReplayTest, BenchRunsTheProgramNextDoor) {
  folder_.Write("vigil_bench", "#!/bin/sh\necho \"$@\"\nexit 7\n");
  const Ran ran =
      Run("mkdir cli bench; mv vigil_bench bench; chmod +x bench/vigil_bench; cp $VIGIL cli; cli/vigil bench --x=1 'a "
          "b' --help");
  EXPECT_EQ(ran.code, 7);
  EXPECT_EQ(ran.out, "--x=1 a b --help\n");
  const Ran missing = Run("rm -r bench; cli/vigil bench");
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("vigil_bench: No such file or directory\n"));
}

// After 25 crashes: what was not played has not passed.
TEST_F(ReplayTest, SaysThatItGivesUp) {
  std::string crashing;
  for (int i = 1; i <= 30; ++i) {
    crashing +=
        fmt::format(R"({{"id":"r{}","hooks":[{{"hook":"stop_at_step","last_step":3}}],"drive":[{{"op":"run"}}]}})", i);
    crashing += "\n";
  }
  folder_.Write("crashing.jsonl", crashing);
  const std::string plant = " --plant session.null_in_after_run --json out.json";
  const Ran ran = Run("$VIGIL replay crashing.jsonl" + plant);
  if (ran.err.find("This build has no planted bugs") != std::string::npos) return;
  const std::string given_up = "given up: too many of them crash, or do not end; the rest was not played\n";
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, EndsWith("\n" + given_up + "0 passed, 25 failed\n"));
  EXPECT_THAT(folder_.Read("out.json"), HasSubstr("\"interrupted\":false,\"given_up\":true,"));
  const Ran check = Run("$VIGIL check --suite recorded --recordings crashing.jsonl --junit out.xml" + plant);
  EXPECT_EQ(check.code, 1);
  EXPECT_THAT(check.out, HasSubstr("\n  " + given_up));
  EXPECT_THAT(folder_.Read("out.json"), HasSubstr("\"recorded\":{\"passed\":0,\"failed\":25,\"given_up\":true}"));
  EXPECT_THAT(folder_.Read("out.xml"),
              HasSubstr("name=\"given up\">\n      <error message=\"the rest was not played\"/>"));
}

}  // namespace
}  // namespace vigil::cli
