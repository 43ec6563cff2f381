// `vigil check` as its users meet it: what it writes, and for how long it goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fmt/format.h"
#include "vigil/cli/run_program.h"

namespace vigil::cli {
namespace {

using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CheckTest : public ::testing::Test {
 protected:
  Ran Run(const std::string& command) { return RunShell(folder_.path(), command); }

  TemporaryFolder folder_;
};

// Prints what Python reads.
constexpr char kReadXml[] = R"(python3 -c '
import xml.etree.ElementTree as tree
for suite in tree.parse("out.xml").getroot():
    print(suite.tag, *[suite.get(k) for k in ("name", "tests", "failures", "errors", "skipped")])
    for p in suite.iter("property"): print(" ", p.get("name"), p.get("value"))
    for case in suite.iter("testcase"):
        print(" ", case.get("classname"), ascii(case.get("name")))
        for f in case: print("   ", f.tag, ascii(f.get("message")), ascii(f.text))
')";

TEST_F(CheckTest, JUnitIsXmlWhateverAScenarioIsCalled) {
  folder_.Write("odd.jsonl", R"({"id":"<a> & \"b\" ]]>\uffff\u00e9","drive":[],"expect":{"events":["never"]}})"
                             "\n{\"id\":7}\n");
  const Ran ran = Run("$VIGIL check --suite recorded --recordings odd.jsonl --junit out.xml >out; echo $?; " +
                      std::string(kReadXml));
  EXPECT_THAT(ran.out, ::testing::StartsWith("2\ntestsuite vigil.recorded 2 1 1 0\n"
                                             "  vigil.recorded '<a> & \"b\" ]]>\\ufffd\\xe9'\n"));
  EXPECT_THAT(ran.out, HasSubstr("\n    failure 'failed' 'FAILED <a> & \"b\" ]]>\\ufffd\\xe9\\n"));
  EXPECT_THAT(ran.out, EndsWith("  vigil.recorded '1 could not be read'\n    error 'see standard error' None\n"));
}

// A scenario that cannot be set up is red everywhere, also where nothing is expected to happen.
TEST_F(CheckTest, WhatCannotBeSetUpFails) {
  folder_.Write("unit.jsonl", R"({"id":"broken","unit":"looper","args":{},"ops":[],"expect":{"events":[]}})");
  const Ran replayed = Run("$VIGIL replay unit.jsonl");
  EXPECT_EQ(replayed.code, 1) << replayed.err;
  EXPECT_THAT(replayed.out, HasSubstr("\n  not set up: A looper needs a pass"));
  EXPECT_THAT(replayed.out, EndsWith("\n0 passed, 1 failed\n"));
  const Ran checked = Run("$VIGIL check --suite recorded --recordings unit.jsonl --junit out.xml >out; echo $?; " +
                          std::string(kReadXml) + "; tail -n 1 out");
  EXPECT_THAT(checked.out, StartsWith("1\ntestsuite vigil.recorded 1 1 0 0\n")) << checked.err;
  EXPECT_THAT(checked.out, EndsWith("0 passed, 1 failed\n"));
  const Ran saved = Run("mkdir failures && cp unit.jsonl failures && $VIGIL check --suite saved");
  EXPECT_EQ(saved.code, 1);
  EXPECT_THAT(saved.out, HasSubstr("\n  not set up: "));
}

TEST_F(CheckTest, JUnitCountsWhatPassed) {
  const Ran ran =
      Run("$VIGIL check --suite random --seeds 3..42 --junit out.xml >out; echo $?; " + std::string(kReadXml));
  EXPECT_EQ(ran.out, "0\ntestsuite vigil.random 40 0 0 0\n  seeds 3..42\n  vigil.random '40 passed'\n");
}

TEST_F(CheckTest, ExploresASmallScopeUntilCtrlC) {
  const Ran ran = Run("timeout --preserve-status -s INT 1 $VIGIL check --suite explore");
  EXPECT_THAT(ran.code, ::testing::AnyOf(0, 130)) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("suite explore: --hooks 2 --runs 2 --faults 2\n"));
  EXPECT_THAT(ran.out, ContainsRegex("\nsuite explore: [1-9][0-9]* passed, 0 failed\n"));
}

// What was saved is played first, and is a failure as long as it fails: here it expects what never happens.
TEST_F(CheckTest, PlaysWhatFailedBefore) {
  EXPECT_EQ(Run("mkdir failures").code, 0);
  folder_.Write("failures/old.json", R"({"id":"old","drive":[],"expect":{"violates":"end.only_on_clean_exit"}})");
  const Ran mended = Run("$VIGIL check --suite saved");
  EXPECT_EQ(mended.code, 0) << mended.err;
  EXPECT_THAT(mended.out, HasSubstr("suite saved: 1 passed, 0 failed\n"));
  folder_.Write("failures/new.json", R"({"id":"new","drive":[],"expect":{"events":["never"]}})");
  const Ran failing = Run("$VIGIL check --suite saved --annotations github --jobs 1");
  EXPECT_EQ(failing.code, 1);
  EXPECT_THAT(failing.out, HasSubstr("\n::error title=vigil saved%3A new::FAILED new%0A"));
  EXPECT_THAT(failing.out, HasSubstr("suite saved: 1 passed, 1 failed\n"));
  EXPECT_THAT(Run("GITHUB_ACTIONS=true $VIGIL check --suite saved").out, HasSubstr("\n::error title="));
  EXPECT_THAT(Run("$VIGIL check --suite saved --annotations teamcity").out,
              HasSubstr("\n##teamcity[message text='vigil saved: new' errorDetails='FAILED new|n"));
  EXPECT_THAT(Run("TF_BUILD=1 $VIGIL check --suite saved").out, HasSubstr("\n##vso[task.logissue type=error]"));
  EXPECT_THAT(Run("$VIGIL check --suite saved --annotations none").out, Not(HasSubstr("##")));
}

TEST_F(CheckTest, ShardsAreParts) {
  const Ran ran = Run("$VIGIL check --suite random --seeds 1..10 --shard 2/4");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("shard 2/4\n"));
  EXPECT_THAT(ran.out, HasSubstr("suite random: 3 passed, 0 failed\n  seeds 1..10, of which shard 2/4\n"));
  const Ran empty = Run("$VIGIL check --suite random --seeds 1..3 --shard 4/4");
  EXPECT_EQ(empty.code, 0);
  EXPECT_THAT(empty.out, HasSubstr("suite random: 0 passed, 0 failed\n  shard 4/4 holds none of it\n"));
  for (const char* const shard : {"0/4", "5/4", "1", "1/", "a/b", "1/0", "01/2", "1/02", "' 1/2'", "'1/2 '", "+1/2"}) {
    const Ran misuse = Run(fmt::format("$VIGIL check --shard {}", shard));
    EXPECT_EQ(misuse.code, 2) << shard;
    EXPECT_THAT(misuse.err, HasSubstr("--shard: expected I/N with I between 1 and N"));
  }
}

TEST_F(CheckTest, GoesOnUntilTheTimeIsOver) {
  const Ran ran = Run("$VIGIL check --suite random --time 1s --jobs 1 --json out.json");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("suite random: --seeds 1..1 and on for 1s\n"));
  EXPECT_THAT(ran.out, ContainsRegex("\n  seeds 1\\.\\.[0-9][0-9]+\n"));
  EXPECT_THAT(folder_.Read("out.json"), ContainsRegex("\"seeds\":\"1\\.\\.[0-9][0-9]+\""));
}

TEST_F(CheckTest, SaysWhereThereIsNothing) {
  const Ran none = Run("$VIGIL check --suite saved");
  EXPECT_EQ(none.code, 0);
  EXPECT_EQ(none.out, "\nsuite saved: there is no folder 'failures'\n0 passed, 0 failed\n");
  for (const char* const make : {"mkdir there", "echo hi >there/notes.txt", "echo hi >there/.hidden.json"}) {
    const Ran empty = Run(fmt::format("{} && $VIGIL check --suite saved --failures there", make));
    EXPECT_EQ(empty.code, 0) << make;
    EXPECT_EQ(empty.out, "\nsuite saved: 0 passed, 0 failed\n  nothing is saved in 'there'\n0 passed, 0 failed\n")
        << make;
  }
  EXPECT_EQ(Run("mkdir there/below; $VIGIL check --suite saved --failures there").code, 2) << "below there may be some";
}

TEST_F(CheckTest, LooksAtTheFolderOfFailuresBeforeTheWork) {
  folder_.Write("file", "x");
  for (const char* const folder : {"file", "file/below", "/proc/none"}) {
    for (const char* const command : {"check --suite random --seeds 1..3", "explore --hooks 1"}) {
      const Ran ran = Run(fmt::format("$VIGIL {} --failures {}", command, folder));
      EXPECT_EQ(ran.code, 2) << command << folder;
      EXPECT_EQ(ran.out, "") << command << folder;
      EXPECT_THAT(ran.err, HasSubstr("error: cannot write '")) << command << folder;
    }
  }
  for (const char* const words :
       {"check --failures", "check --json", "check --seeds", "explore --state", "explore --json",
        "replay good.jsonl --json", "replay good.jsonl --plant", "verify --junit"}) {
    const Ran ran = Run(fmt::format("$VIGIL {} ''", words));
    EXPECT_EQ(ran.code, 2) << words;
    EXPECT_THAT(ran.err, HasSubstr("the value is empty")) << words;
  }
  const Ran fine = Run("$VIGIL check --suite random --seeds 1..3 --failures a/b");
  EXPECT_EQ(fine.code, 0) << fine.err;
  EXPECT_THAT(folder_.Names(), Not(Contains("a"))) << "it is made when there is something to save";
}

// Who only plays what was saved needs no folder that can be written to, but one that is there.
TEST_F(CheckTest, FailuresThatAreNotToldAreNamed) {
  std::string records;
  for (int i = 1; i <= 7; ++i)
    records += fmt::format("{{\"id\":\"wrong_{}\",\"drive\":[],\"expect\":{{\"events\":[\"never\"]}}}}\n", i);
  folder_.Write("seven.jsonl", records);
  const Ran ran = Run("$VIGIL check --suite recorded --recordings seven.jsonl");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("suite recorded: 0 passed, 7 failed\n  2 of them are not told: wrong_6, wrong_7\n"));
}

TEST_F(CheckTest, OfSavedFailuresTheFolderIsOnlyRead) {
  EXPECT_EQ(Run("mkdir ro").code, 0);
  folder_.Write("ro/old.json", R"({"id":"old","drive":[],"expect":{"violates":"end.only_on_clean_exit"}})");
  const Ran ran = Run("ln -s /proc/self/fdinfo unwritable; $VIGIL check --suite saved --failures unwritable");
  EXPECT_THAT(ran.err, Not(HasSubstr("cannot write"))) << "nobody writes to /proc";
  EXPECT_EQ(Run("chmod 555 ro; $VIGIL check --suite saved --failures ro; code=$?; chmod 755 ro; exit $code").code, 0);
  for (const char* const folder : {"mistyped", "ro/old.json"}) {
    const Ran missing = Run(fmt::format("$VIGIL check --suite saved --failures {}", folder));
    EXPECT_EQ(missing.code, 2);
    EXPECT_EQ(missing.err, fmt::format("error: --failures: there is no folder '{}'\n", folder));
  }
  folder_.Write("failures", "no folder");
  const Ran file = Run("$VIGIL check --suite saved --suite random --seeds 1..1");
  EXPECT_EQ(file.code, 2);
  EXPECT_THAT(file.err, HasSubstr("error: cannot read 'failures': "));
}

TEST_F(CheckTest, AnInterruptedReportSaysSo) {
  const Ran ran =
      Run("timeout --preserve-status -s INT 1 $VIGIL check --suite random --time 1h --junit out.xml >out; "
          "echo $?; " +
          std::string(kReadXml));
  EXPECT_THAT(ran.out, StartsWith("130\ntestsuite vigil.random "));
  EXPECT_THAT(ran.out, EndsWith("testsuite vigil.campaign 1 0 1 0\n  vigil.campaign 'interrupted'\n"
                                "    error 'this is what was found until then' None\n"));
}

TEST_F(CheckTest, SuitesWithoutRulesHaveNoTableOfThem) {
  const Ran cluster = Run("$VIGIL check --suite cluster --seeds 1..2");
  EXPECT_EQ(cluster.code, 0) << cluster.out;
  EXPECT_THAT(cluster.out, Not(HasSubstr("end.only_on_clean_exit")));
  EXPECT_THAT(cluster.out, Not(HasSubstr("\nseam ")));
  const Ran random = Run("$VIGIL check --suite random --seeds 1..3");
  EXPECT_THAT(random.out, HasSubstr("end.only_on_clean_exit"));
  EXPECT_THAT(random.out, HasSubstr("\nseam "));
}

// The same in other processes, in another order and number of them; another one for other seeds.
TEST_F(CheckTest, AllPlaysOfClustersTogetherHaveAHash) {
  const auto hash_of = [this](const char* arguments) {
    const std::string out = Run(std::string("$VIGIL check --suite cluster ") + arguments).out;
    const std::size_t at = out.find("all plays together have the hash ");
    return at == std::string::npos ? out : out.substr(at, out.find('\n', at) - at);
  };
  const std::string one = hash_of("--seeds 1..3 --jobs 1");
  EXPECT_THAT(one, ::testing::MatchesRegex("all plays together have the hash [0-9a-f]{16}"));
  EXPECT_EQ(hash_of("--seeds 1..3 --jobs 3"), one);
  EXPECT_NE(hash_of("--seeds 2..4 --jobs 1"), one);
}

TEST_F(CheckTest, TellsMisuse) {
  EXPECT_EQ(Run("$VIGIL check --shrink").code, 2);
  for (const char* const time : {"10", "m", "0s", "-1s", "10 m", "10min", "9999999999h", "1.5h"}) {
    const Ran ran = Run(fmt::format("$VIGIL check --suite random --time '{}'", time));
    EXPECT_EQ(ran.code, 2) << time;
    EXPECT_THAT(ran.err, HasSubstr(fmt::format("--time: expected a time as 30s, 10m or 1h, got '{}'", time)));
  }
  EXPECT_THAT(Run("$VIGIL check --suite random --faults-document x.md").err, HasSubstr("it needs the suite cluster"));
  EXPECT_THAT(Run("$VIGIL check --kills 3").err, HasSubstr("--kills and --keep: they need --suite real-cluster"));
  EXPECT_THAT(Run("$VIGIL check --suite real-cluster --suite random").err, HasSubstr("real-cluster: it plays alone"));
  EXPECT_THAT(Run("$VIGIL check --suite real-cluster --corpus c").err,
              HasSubstr("--corpus: not with --suite real-cluster"));
  const Ran missing = Run("$VIGIL check --suite random --seeds 1..1 --junit no/such/folder/x.xml");
  EXPECT_EQ(missing.code, 2);
  EXPECT_EQ(missing.out, "");
  EXPECT_THAT(missing.err, HasSubstr("cannot write 'no/such/folder/x.xml'"));
}

TEST_F(CheckTest, WritesWhatTheFaultsDid) {
  const Ran ran = Run("$VIGIL check --suite cluster --seeds 5..9 --faults-document faults.md");
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_THAT(folder_.Read("faults.md"), HasSubstr("`./vigil check --suite cluster --seeds 5..9 --faults-document "));
  EXPECT_THAT(folder_.Read("faults.md"), ContainsRegex("\n- In the campaign: planned [1-9]"));
}

// The line that a failure ends with, of a planted bug, too.
TEST_F(CheckTest, WhatAPlantedBugBrokeIsReplayedWithIt) {
  const Ran ran = Run("$VIGIL check --suite random --seeds 41..41 --plant recovery.once_a_call --annotations none");
  if (ran.err.find("This build has no planted bugs") != std::string::npos) return;
  EXPECT_EQ(ran.code, 1) << ran.err;
  const std::string file = "failures/recovery.preemption_never_leaves_run-random_41.json";
  EXPECT_THAT(ran.out, HasSubstr("\n  VIGIL_PRESET=dev ./vigil replay " + file + " --plant recovery.once_a_call\n"));
  EXPECT_THAT(ran.out, HasSubstr("\n  what is in its past, oldest first:\n"));
  const Ran planted = Run("$VIGIL replay " + file + " --plant recovery.once_a_call");
  EXPECT_EQ(planted.code, 1);
  EXPECT_THAT(planted.out, HasSubstr("\n  what is in its past, oldest first:\n"));
  for (const std::string& command : {"replay " + file, std::string("check --suite random --seeds 41..41")}) {
    EXPECT_THAT(Run("$VIGIL " + command + " --plant recovery.once_a_call --json -").out,
                ContainsRegex(R"("why":\[\{"at_s":[0-9.]+,"kind":"fault",.*"kind":"violation",)"));
  }
  EXPECT_THAT(planted.out, HasSubstr("\n  VIGIL_PRESET=dev ./vigil replay " + file +
                                     " --only random_41 --plant recovery.once_a_call\n"));
  EXPECT_EQ(Run("$VIGIL replay " + file).code, 0) << "it is mended without";
  EXPECT_THAT(Run("$VIGIL check --suite saved --plant recovery.once_a_call").out,
              HasSubstr(" --only random_41 --plant recovery.once_a_call\n"));
  const Ran unknown = Run("$VIGIL replay " + file + " --plant no.such");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("error: --plant: no planted bug is called 'no.such'"));
  // One id, two files, one rule: neither takes the other's place.
  EXPECT_EQ(Run("mv failures one; cp -r one other").code, 0);
  const Ran twice =
      Run("$VIGIL check --suite recorded --recordings one --recordings other --plant recovery.once_a_call");
  EXPECT_THAT(twice.out, HasSubstr("./vigil replay failures/recovery.preemption_never_leaves_run-random_41.json "));
  EXPECT_THAT(twice.out, HasSubstr("./vigil replay failures/recovery.preemption_never_leaves_run-random_41-2.json "));
}

// What is saved of it takes as long as it did, and its line says how long it may take.
TEST_F(CheckTest, WhatTakesTooLongIsSavedAsItWasPlayed) {
  folder_.Write("long.json",
                R"({"id":"long","hooks":[{"hook":"probe","name":"a"}],"drive":[{"op":"loop","max":1000000,"body":)"
                R"([{"op":"run"}]}],"limits":{"events":10000000}})");
  const Ran ran = Run("$VIGIL check --suite recorded --recordings long.json --play-limit 1s --annotations none");
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("FAILED long: crash.timeout\n"));
  EXPECT_THAT(ran.out, ContainsRegex("\n  crash\\.timeout( in .*)?\n"));
  EXPECT_THAT(ran.out, HasSubstr("\n  not shrunk: what takes too much is saved as it was played\n"));
  const std::string line = "./vigil replay failures/crash.timeout-long.json --play-limit 1s\n";
  EXPECT_THAT(ran.out, HasSubstr("\n  " + line));
  const Ran replayed = Run("$VIGIL replay failures/crash.timeout-long.json --play-limit 1s");
  EXPECT_EQ(replayed.code, 1) << replayed.out;
  EXPECT_THAT(replayed.out, HasSubstr("crash.timeout"));
  EXPECT_THAT(replayed.out, HasSubstr("failures/crash.timeout-long.json --only long --play-limit 1s\n"));
  const Ran saved = Run("$VIGIL check --suite saved --play-limit 1s --annotations none");
  EXPECT_EQ(saved.code, 1) << saved.err;
  EXPECT_THAT(saved.out, HasSubstr("failures/crash.timeout-long.json --only long --play-limit 1s\n"));
  EXPECT_THAT(Run("$VIGIL replay long.json --play-limit soon").err, HasSubstr("--play-limit: expected a time"));
}

// It breaks a rule; without some of its hooks a check fails, which ends the process.
TEST_F(CheckTest, WhatIsLeftOfAFailingScenarioMayCrash) {
  const std::string bug = " --plant hooks.before_run_swaps_the_last_two --annotations none";
  const Ran ran = Run("$VIGIL check --suite random --seeds 26..26" + bug);
  if (ran.err.find("This build has no planted bugs") != std::string::npos) return;
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("FAILED random_26: order.before_run\n"));
  EXPECT_THAT(ran.out, HasSubstr("\n  shrunk from "));
}

TEST_F(CheckTest, WhatOneSeedOfAClusterShowedIsReplayedWithIt) {
  const Ran made =
      Run(fmt::format("grep '\"cluster_short_job\"' {}/replays/cluster/cluster.jsonl | "
                      "sed 's/\"outcome\": *\\[\"clean\"\\]/\"outcome\":[\"never\"]/' >never.jsonl",
                      VIGIL_SOURCE_DIR));
  ASSERT_EQ(made.code, 0);
  const Ran ran = Run("$VIGIL replay never.jsonl --seed 7");
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\n  ./vigil replay never.jsonl --only cluster_short_job --seed 7\n"));
  EXPECT_THAT(Run("$VIGIL replay never.jsonl --seeds 2").out, HasSubstr(" --only cluster_short_job --seeds 2\n"));
  EXPECT_THAT(Run("$VIGIL replay never.jsonl --seed 7 --trace").out, HasSubstr(" --only cluster_short_job --seed 7\n"));
  // A check holds it against the recording, too.
  const Ran check = Run("$VIGIL check --suite recorded --recordings never.jsonl");
  EXPECT_EQ(check.code, 1);
  EXPECT_THAT(check.out,
              HasSubstr("\n  not like the recording: seed 1: chief:0 outcome: recorded never, seen clean\n"));
  EXPECT_THAT(check.out, HasSubstr("\n  ./vigil replay never.jsonl --only cluster_short_job\n"));
}

constexpr char kCrash[] =
    R"({"id":"small","cluster":{"tasks":{"chief":1,"ps":1,"worker":1}},"workload":{"name":"async_regression","last_step":400},)"
    R"("plan":[{"at_s":2,"crash":"worker:0"},{"at_s":4,"pause":"worker:0","for_s":1}],"limit_s":600})";

TEST_F(CheckTest, ReplayShowsACluster) {
  folder_.Write("small.json", kCrash);
  const Ran ran = Run("$VIGIL replay small.json --trace --until 60 --only-node chief:0 --only-node ps:0");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, ContainsRegex("\n      time \\| chief:0 +\\| ps:0\n"));
  EXPECT_THAT(ran.out, HasSubstr(" == crash worker:0 ==\n"));
  EXPECT_THAT(ran.out, HasSubstr("\ninert: {\"at_s\":4,"));
  const Ran quiet = Run("$VIGIL replay small.json");
  EXPECT_THAT(quiet.out, Not(HasSubstr(" | ")));
  EXPECT_THAT(quiet.out, HasSubstr("\n  inert: {\"at_s\":4,"));
  EXPECT_EQ(Run("$VIGIL replay small.json --until 60").code, 2);
}

TEST_F(CheckTest, ReplayWalksBackFromAnEvent) {
  folder_.Write("small.json", kCrash);
  const Ran trace = Run("$VIGIL replay small.json --trace --numbers --only-node worker:0");
  EXPECT_THAT(trace.out, ContainsRegex("\n +[1-9][0-9]* +[0-9]+\\.[0-9]+ \\| "));
  const Ran ran = Run("$VIGIL replay small.json --why 2");
  EXPECT_THAT(ran.out, HasSubstr("why event 2 of small:\n"));
  EXPECT_THAT(ran.out, ContainsRegex("\n +[0-9]+\\.[0-9]{3}  (event|error|decision)  "));
  for (const char* const event : {"0", "99999999"}) {
    const Ran none = Run(fmt::format("$VIGIL replay small.json --why {}", event));
    EXPECT_EQ(none.code, 2);
    EXPECT_THAT(none.err, ContainsRegex(fmt::format(
                              "error: --why: there is no event {}: those of 'small' are 1 to [0-9]+\n", event)));
  }
  const Ran word = Run("$VIGIL replay small.json --why soon");
  EXPECT_EQ(word.code, 2);
  EXPECT_THAT(word.err, HasSubstr("--why: expected a whole number from 0 to 18446744073709551615, got 'soon'"));
}

// One job that would train for a very long time.
TEST_F(CheckTest, CtrlCEndsAPlayThatIsUnderWay) {
  folder_.Write(
      "long.json",
      R"({"id":"long","cluster":{"tasks":{"chief":1,"ps":1,"worker":2}},"workload":{"name":"async_regression",)"
      R"("last_step":1000000000},"limit_s":1000000})");
  const Ran ran = Run("timeout --preserve-status -k 30 -s INT 1 $VIGIL replay long.json");
  EXPECT_EQ(ran.code, 130) << ran.err;
  EXPECT_THAT(ran.out, EndsWith("interrupted: this is what was found so far\n0 passed, 0 failed\n"))
      << "what was cut off says nothing";
}

TEST_F(CheckTest, ReplayRefusesWhatItCannotShow) {
  folder_.Write("small.json", kCrash);
  const Ran node = Run("$VIGIL replay small.json --trace --only-node nope --only-node ps:0");
  EXPECT_EQ(node.code, 2);
  EXPECT_EQ(node.err, "error: --only-node: no node is called 'nope'; there are chief:0, ps:0, worker:0\n");
  EXPECT_THAT(Run("$VIGIL replay small.json --trace --only-node nope").out, Not(HasSubstr("---")));
  for (const char* const until : {"nan", "-1", "inf", "soon"}) {
    const Ran ran = Run(fmt::format("$VIGIL replay small.json --trace --until={}", until));
    EXPECT_EQ(ran.code, 2) << until;
    EXPECT_THAT(ran.err, HasSubstr(fmt::format("expected seconds from 0 to 1e+09, got '{}'", until)));
  }
}

TEST_F(CheckTest, ATraceOfWhatARealClusterDidIsOfSeedOne) {
  const Ran ran =
      Run(fmt::format("$VIGIL replay {}/replays/cluster --trace --jobs 1 | grep -c '^      time'; exit "
                      "${{PIPESTATUS[0]}}",
                      VIGIL_SOURCE_DIR));
  EXPECT_EQ(ran.code, 0) << "a single play need not take every way that was recorded";
  EXPECT_EQ(ran.out, "69\n");
}

}  // namespace
}  // namespace vigil::cli
