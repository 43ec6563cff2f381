// `vigil explore` as its users meet it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "fmt/format.h"
#include "vigil/cli/run_program.h"

namespace vigil::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ExploreProgramTest : public ::testing::Test {
 protected:
  Ran Run(const std::string& command) { return RunShell(folder_.path(), command); }

  TemporaryFolder folder_;
};

TEST_F(ExploreProgramTest, PlaysEveryScenarioOfAScope) {
  const Ran ran = Run("$VIGIL explore --hooks 1 --runs 2 --faults 1 --json out.json");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("2 kinds x 5 stop requests x (1 + 68) sets of faults = 690 scenarios\n\n"
                                  "         690  scenarios played by the core and by the model\n"));
  EXPECT_THAT(ran.out, HasSubstr("  exit clean\n"));
  EXPECT_THAT(ran.out, EndsWith("\n0 disagreements of core and model, 0 scenarios broke a rule\n"));
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(folder_.Read("out.json"), HasSubstr("\"scenarios\":690,\"planned\":690,\"played\":690,"));
}

TEST_F(ExploreProgramTest, SaysTheSameWhateverTheNumberOfJobs) {
  const Ran one = Run("$VIGIL explore --hooks 2 --runs 1 --faults 1 --jobs 1 --json -");
  const Ran many = Run("$VIGIL explore --hooks 2 --runs 1 --faults 1 --jobs 7 --json -");
  EXPECT_EQ(one.code, 0);
  EXPECT_EQ(one.out, many.out);
  EXPECT_EQ(one.err, many.err);
}

TEST_F(ExploreProgramTest, PlaysASmallJobWithAFaultAtEveryPoint) {
  const Ran ran = Run("$VIGIL explore --cluster chief --crash-every --shard 3/80 --json out.json");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, StartsWith("chief, without faults\n"));
  EXPECT_THAT(ran.out, ContainsRegex("operations on files\nfaults at them\n"));
  EXPECT_THAT(ran.out, ContainsRegex("\nshard 3/80: [0-9]+ faults\n"));
  EXPECT_THAT(ran.out, EndsWith(" passed, 0 failed\n"));
  EXPECT_THAT(folder_.Read("out.json"), StartsWith("{\"cluster\":\"chief\",\"pairs\":false,\"shard\":\"3/80\""));
}

TEST_F(ExploreProgramTest, PlaysChainsOfFaultsInASmallJob) {
  const Ran ran = Run("$VIGIL explore --cluster chief --guided 40 --seed 3 --json out.json");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, StartsWith("chief, chains of faults, seed 3\n          40  plays\n"));
  EXPECT_THAT(ran.out,
              ContainsRegex("pairs of fault and state\n(.*\n)* +[0-9]+  by 32 plays\n +[0-9]+  by 40 plays\n"));
  EXPECT_THAT(ran.out, EndsWith("\n40 passed, 0 failed\n"));
  EXPECT_THAT(folder_.Read("out.json"), StartsWith("{\"cluster\":\"chief\",\"seed\":3,\"blind\":false"));
  EXPECT_THAT(Run("$VIGIL explore --cluster chief --guided 40 --shard 1/2").err,
              HasSubstr("--shard: it is not of --guided"));
  EXPECT_THAT(Run("$VIGIL explore --cluster chief --crash-every --chain 2").err,
              HasSubstr("--chain: it is not of --crash-every"));
  EXPECT_EQ(Run("$VIGIL explore --cluster chief --guided 0").code, 2);
}

TEST_F(ExploreProgramTest, RefusesWhatIsNoFaultOfAJob) {
  const char* const together = "--cluster SPEC and --crash-every (or --guided N) go together";
  EXPECT_THAT(Run("$VIGIL explore --cluster chief").err, HasSubstr(together));
  EXPECT_THAT(Run("$VIGIL explore --crash-every").err, HasSubstr(together));
  EXPECT_THAT(Run("$VIGIL explore --cluster chief --crash-every --guided 2").err,
              HasSubstr("--crash-every and --guided N exclude each other"));
  EXPECT_THAT(Run("$VIGIL explore --cluster chief --crash-every --hooks 2").err,
              HasSubstr("--hooks: it is not of --crash-every"));
  EXPECT_THAT(Run("$VIGIL explore --cluster chief --guided 3 --guarded").err, HasSubstr("--guarded: it is not of"));
  const Ran unknown = Run("$VIGIL explore --cluster no_such_file --crash-every");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err,
              HasSubstr("no small job is called so either: those are chief, worker, sync, input, conversation, tiny"));
}

TEST_F(ExploreProgramTest, PlaysAShard) {
  const Ran ran = Run("$VIGIL explore --hooks 3 --runs 4 --faults 2 --shard 2/2000");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("2 kinds x 25 stop requests x (1 + 188 + 17,296) sets of faults = 874,250 scenarios\n"
                                  "shard 2/2000\n\n"
                                  "         438  scenarios"));
}

TEST_F(ExploreProgramTest, GoesOnAfterCtrlC) {
  const std::string command =
      "timeout --preserve-status -s INT 1 $VIGIL explore --hooks 3 --runs 4 --faults 2 --state s";
  const Ran first = Run(command);
  EXPECT_EQ(first.code, 130);
  EXPECT_THAT(first.out,
              ContainsRegex("interrupted: [0-9,]+ scenarios were left out\nthe same command goes on from here\n"));
  const Ran second = Run(command);
  EXPECT_EQ(second.code, 130);
  EXPECT_THAT(second.out, ContainsRegex("\n +[1-9][0-9,]*  of them before, as the state file says\n"));
  const Ran other = Run("$VIGIL explore --hooks 1 --state s");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("The state file s cannot be used: it was not kept by an exploration with these"));
}

// What one core has kept says nothing of another one.
TEST_F(ExploreProgramTest, GoesOnWithTheSamePlayerOnly) {
  const std::string scope = "$VIGIL explore --hooks 1 --runs 1 --faults 1 --state s";
  EXPECT_EQ(Run(scope).code, 0);
  EXPECT_EQ(Run(scope).code, 0);
  const Ran player = Run(scope + " --player \"$VIGIL player\"");
  EXPECT_EQ(player.code, 2) << player.out;
  EXPECT_THAT(player.err, HasSubstr("The state file s cannot be used: it was not kept by an exploration with these"));
  const std::string job = "$VIGIL explore --cluster tiny --crash-every --shard 1/200 --state j";
  EXPECT_EQ(Run(job).code, 0);
  const Ran plant = Run(job + " --plant init.throws_through");
  EXPECT_EQ(plant.code, 2) << plant.out;
  if (plant.err.find("This build has no planted bugs") != std::string::npos) return;
  EXPECT_THAT(plant.err, HasSubstr("The state file j cannot be used: it was not kept by an exploration with these"));
}

TEST_F(ExploreProgramTest, AFirstFaultThatCrashesAloneIsFoundOnce) {
  const Ran ran = Run(
      "$VIGIL explore --cluster tiny --crash-every --pairs --shard 20/1000000 --plant init.throws_through --state s");
  if (ran.err.find("This build has no planted bugs") != std::string::npos) return;
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_THAT(ran.out, ContainsRegex("\n  VIGIL_PRESET=dev ./vigil replay failures/crash.uncaught_exception-tiny_.* "
                                     "--plant init.throws_through\n"));
  EXPECT_THAT(ran.out, HasSubstr("\n           1  first faults, each with all that can follow\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("given up")));
  EXPECT_THAT(ran.out, EndsWith("\nFAILED crash.uncaught_exception: 1 plays\n0 passed, 1 failed\n"));
  EXPECT_EQ(Run("ls failures | wc -l").out, "1\n");
}

TEST_F(ExploreProgramTest, AJobThatCrashesWithoutFaultsIsAFinding) {
  for (const char* const how : {"--crash-every", "--guided 10"}) {
    const Ran ran =
        Run(fmt::format("rm -rf failures; $VIGIL explore --cluster tiny {} --json out.json "
                        "--plant session.null_in_after_run",
                        how));
    if (ran.err.find("This build has no planted bugs") != std::string::npos) return;
    EXPECT_EQ(ran.code, 1) << how << ran.err;
    EXPECT_THAT(ran.out, ContainsRegex("^FAILED tiny: crash\\.(signal_segv|sanitizer)\n")) << how;
    EXPECT_THAT(ran.out, EndsWith("\n0 passed, 1 failed\n")) << how;
    EXPECT_THAT(folder_.Read("out.json"), ContainsRegex("\"file\":\"failures/crash\\.[a-z_]+-tiny\\.json\"")) << how;
    EXPECT_EQ(Run("ls failures | wc -l").out, "1\n") << how;
  }
}

TEST_F(ExploreProgramTest, TellsMisuse) {
  for (const char* const shard : {"0/1", "3/2", "1", "1/", "/1", "-1/2", "1/2/3"}) {
    const Ran ran = Run(std::string("$VIGIL explore --shard ") + shard);
    EXPECT_EQ(ran.code, 2) << shard;
    EXPECT_THAT(ran.err, HasSubstr("--shard: expected I/N with I between 1 and N"));
  }
  EXPECT_THAT(Run("$VIGIL explore --hooks 27").err,
              HasSubstr("--hooks: expected a whole number from 0 to 26, got '27'"));
  EXPECT_THAT(Run("$VIGIL explore --hooks 20 --runs 40 --faults 9").err, HasSubstr("too many scenarios in this scope"));
  EXPECT_THAT(Run("$VIGIL explore --runs 41").err, HasSubstr("--runs: expected a whole number from 0 to 40, got '41'"));
  EXPECT_THAT(Run("$VIGIL explore --faults -1").err, HasSubstr("--faults: expected a whole number from 0 to "));
  EXPECT_THAT(Run("$VIGIL explore --hook 2").err, HasSubstr("See vigil explore --help"));
  const Ran state = Run("$VIGIL explore --hooks 1 --state -");
  EXPECT_EQ(state.code, 2);
  EXPECT_THAT(state.err, HasSubstr("is no file in which something can be kept"));
}

// Two threads that hear of no stop: six schedules (properties/planted/schedules_test.cc).
constexpr char kTwoThreads[] =
    R"({"id":"two","hooks":[{"hook":"probe","name":"a","plan":[{"method":"after_create_session","call":1,)"
    R"("do":"start_thread","value":1}]},{"hook":"probe","name":"b","plan":[{"method":"after_create_session","call":1,)"
    R"("do":"start_thread","value":1}]}],"drive":[{"op":"run"}]})";

TEST_F(ExploreProgramTest, PlaysEveryScheduleOfAScenario) {
  folder_.Write("two.json", kTwoThreads);
  const Ran ran = Run("$VIGIL explore two.json --schedules dfs --json out.json");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("           6  schedules played, the calm one first\n"
                                  "              that is all of them\n"
                                  "           3  choices in the calm schedule\n"));
  EXPECT_THAT(ran.out, EndsWith("\nhow they ended\n           6  exit clean\n\n6 passed, 0 failed\n"));
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(folder_.Read("out.json"), HasSubstr("\"played\":6,\"failed\":0,\"all\":true,"));
  const Ran reduced = Run("$VIGIL explore two.json --schedules dpor --json out.json");
  EXPECT_EQ(reduced.code, 0) << reduced.err;
  EXPECT_THAT(reduced.out, HasSubstr("schedules played, the calm one first\n              that is all of them\n"));
  EXPECT_THAT(folder_.Read("out.json"), HasSubstr("\"schedules\":\"dpor\""));
  EXPECT_THAT(folder_.Read("out.json"), HasSubstr("\"broken_off\":"));
  const Ran pct = Run("$VIGIL explore two.json --schedules pct --seeds 3..12 --jobs 2");
  EXPECT_EQ(pct.code, 0) << pct.err;
  EXPECT_THAT(pct.out, HasSubstr("\n              drawn by priorities (seeds 3..12, depth 3): not all there are\n"));
  EXPECT_THAT(pct.out, EndsWith("\n11 passed, 0 failed\n"));
}

TEST_F(ExploreProgramTest, NamesTheScenarioOfAFile) {
  std::string other = kTwoThreads;
  other.replace(other.find("two"), 3, "more");
  folder_.Write("both.jsonl", std::string(kTwoThreads) + "\n" + other + "\n");
  EXPECT_EQ(Run("$VIGIL explore both.jsonl --only more").code, 0);
  EXPECT_EQ(Run("$VIGIL explore both.jsonl#two").code, 0);
  const Ran both = Run("$VIGIL explore both.jsonl");
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("holds several scenarios: name one as both.jsonl#ID, for example both.jsonl#two"));
  EXPECT_THAT(Run("$VIGIL explore both.jsonl --only none").err, HasSubstr("holds no scenario called 'none'"));
  EXPECT_THAT(Run("$VIGIL explore - </dev/null").err, HasSubstr("-: this command reads a file, not standard input"));
  EXPECT_EQ(Run("$VIGIL explore nothing.json").code, 2);
}

TEST_F(ExploreProgramTest, KeepsOptionsOfScopesAndOfSchedulesApart) {
  folder_.Write("two.json", kTwoThreads);
  const std::pair<const char*, const char*> cases[] = {
      {"--schedules dfs", "--schedules: it is about the schedules of one scenario: name its FILE"},
      {"two.json --hooks 2", "--hooks: it is about a scope of scenarios; with a FILE there is none"},
      {"two.json --seeds 1..2", "--seeds: it is not of --schedules dfs"},
      {"two.json --schedules pct --limit 3", "--limit: it is not of --schedules pct"},
      {"two.json --schedules dpor --changes 1",
       "--changes: --schedules dpor leaves out a schedule because another one"},
      {"two.json --guarded", "--guarded: it is not of --schedules dfs"},
      {"two.json --schedules pct --seeds 2..1", "--seeds: expected A..B with A <= B, got '2..1'"},
      {"two.json --schedules pct --depth 0", "--depth: expected a whole number from 1 to 1000, got '0'"},
      {"two.json --schedules bfs", "--schedules: bfs not in {dfs,dpor,pct}"},
      {"two.json --plant none.such", "--plant: "},
      {"two.json --failures two.json", "cannot write 'two.json': two.json is no folder"},
  };
  for (const auto& [options, error] : cases) {
    const Ran ran = Run(std::string("$VIGIL explore ") + options);
    EXPECT_EQ(ran.code, 2) << options;
    EXPECT_EQ(ran.out, "") << options;
    EXPECT_THAT(ran.err, HasSubstr(error)) << options;
  }
}

// What fails is told, saved, and fails again when it is replayed.
TEST_F(ExploreProgramTest, SavesASchedulesFailureWithItsChoices) {
  folder_.Write(
      "race.json",
      R"({"id":"race","model":{"batches":3,"input":"queue"},"faults":[{"at":"enqueue","call":1,)"
      R"("code":"INTERNAL"}],"drive":[],"expect":{"events":["graph finalized","session 1 created","session 1 init",)"
      R"("session 1 ready_for_local_init -> yes","session 1 local_init","session 1 ready -> yes",)"
      R"("queue_runners started","coordinator request_stop","coordinator join","session 1 close",)"
      R"("graph unfinalized","driver exit clean"]}})");
  EXPECT_EQ(Run("$VIGIL replay race.json").code, 0);
  EXPECT_EQ(Run("$VIGIL explore race.json --preempt --changes 1").code, 0);
  EXPECT_EQ(Run("$VIGIL explore race.json --spins --changes 1").code, 0);
  const Ran ran = Run("$VIGIL explore race.json --preempt --changes 1 --as-expected");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, StartsWith("FAILED race: no rule\n"));
  EXPECT_THAT(ran.out, HasSubstr("\n  ./vigil replay failures/failed-race.json\n"));
  const Ran replayed = Run("$VIGIL replay failures/failed-race.json");
  EXPECT_EQ(replayed.code, 1);
  EXPECT_THAT(replayed.out, HasSubstr("driver exit failed INTERNAL"));
  // Its own choices are held against what it expects, and it is not overwritten.
  const std::string saved = folder_.Read("failures/failed-race.json");
  const Ran own = Run("$VIGIL explore ./failures/failed-race.json --preempt --changes 1");
  EXPECT_EQ(own.code, 1);
  EXPECT_THAT(own.out, HasSubstr("found by the choices of the file: event "));
  EXPECT_THAT(own.out, HasSubstr("schedules played, that of the file's choices and the calm one first\n"));
  EXPECT_THAT(own.out, HasSubstr("\n  ./vigil replay failures/failed-race-2.json\n"));
  EXPECT_THAT(own.out, EndsWith(" 1 failed\n"));
  EXPECT_EQ(folder_.Read("failures/failed-race.json"), saved);
  EXPECT_EQ(Run("$VIGIL replay failures/failed-race-2.json").code, 1);
}

TEST_F(ExploreProgramTest, AsExpectedNeedsWhatIsExpected) {
  folder_.Write("two.json", kTwoThreads);
  std::string broken = kTwoThreads;
  broken.replace(broken.size() - 1, 1, R"(,"expect":{"violates":"end.only_on_clean_exit"}})");
  folder_.Write("broken.json", broken);
  for (const char* const file : {"two.json", "broken.json"}) {
    EXPECT_EQ(Run(std::string("$VIGIL explore ") + file).code, 0) << file;
    const Ran ran = Run(std::string("$VIGIL explore --as-expected ") + file);
    EXPECT_EQ(ran.code, 2) << file;
    EXPECT_THAT(ran.err, HasSubstr("error: This scenario does not say what is to happen")) << file;
  }
}

// The calm schedule is faster than any real machine: the job is done before the fault.
TEST_F(ExploreProgramTest, HoldsWhatRealClustersDidAgainstEverySchedule) {
  const std::string explore = std::string("$VIGIL explore --limit 1 ") + VIGIL_SOURCE_DIR +
                              "/replays/cluster/cluster.jsonl#cluster_no_filters_worker_gone";
  const Ran counted = Run(explore);
  EXPECT_EQ(counted.code, 0) << counted.out;
  EXPECT_THAT(counted.out, HasSubstr("\n           0  gave what the file expects\n"));
  const Ran ran = Run(explore + " --as-expected");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out,
              HasSubstr("\n  found by the calm schedule: not like the recording: worker:0 outcome: recorded killed"));
  EXPECT_THAT(ran.out, HasSubstr("\n  ./vigil replay failures/failed-cluster_no_filters_worker_gone.json\n"));
  const Ran replayed = Run("$VIGIL replay failures/failed-cluster_no_filters_worker_gone.json");
  EXPECT_EQ(replayed.code, 1);
  EXPECT_THAT(replayed.out, HasSubstr("\n  not like the recording: worker:0 outcome: recorded killed, seen clean\n"));
}

TEST_F(ExploreProgramTest, CtrlCKeepsWhatSchedulesHaveShown) {
  folder_.Write(
      "long.json",
      R"({"id":"long","cluster":{"tasks":{"chief":1,"ps":1,"worker":2}},"workload":{"name":"async_regression",)"
      R"("last_step":100},"limit_s":1000})");
  folder_.Write("endless.json",
                R"({"id":"endless","cluster":{"tasks":{"chief":1,"ps":1}},"workload":{"name":"async_regression",)"
                R"("last_step":1000000000},"limit_s":1000000})");
  for (const char* const search :
       {"long.json --schedules dfs --limit 0", "long.json --schedules pct --seeds 1..1000000", "endless.json"}) {
    const Ran ran = Run(std::string("timeout --preserve-status -k 30 -s INT 2 $VIGIL explore ") + search);
    EXPECT_EQ(ran.code, 130) << search << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("\ninterrupted: this is what was found so far\n"));
  }
}

}  // namespace
}  // namespace vigil::cli
