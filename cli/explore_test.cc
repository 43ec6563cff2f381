// `vigil explore` as its users meet it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/cli/run_program.h"

namespace vigil::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
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

TEST_F(ExploreProgramTest, TellsMisuse) {
  for (const char* const shard : {"0/1", "3/2", "1", "1/", "/1", "-1/2", "1/2/3"}) {
    const Ran ran = Run(std::string("$VIGIL explore --shard ") + shard);
    EXPECT_EQ(ran.code, 2) << shard;
    EXPECT_THAT(ran.err, HasSubstr("--shard: expected I/N with I between 1 and N"));
  }
  EXPECT_THAT(Run("$VIGIL explore --hooks 27").err, HasSubstr("--hooks: Value 27 not in range [0 - 26]"));
  EXPECT_THAT(Run("$VIGIL explore --hooks 20 --runs 40 --faults 9").err, HasSubstr("too many scenarios in this scope"));
  EXPECT_THAT(Run("$VIGIL explore --runs 41").err, HasSubstr("--runs: Value 41 not in range [0 - 40]"));
  EXPECT_THAT(Run("$VIGIL explore --faults -1").err, HasSubstr("--faults: Value -1 not in range"));
  EXPECT_THAT(Run("$VIGIL explore --hook 2").err, HasSubstr("See vigil explore --help"));
  for (const char* const state : {"''", "-"}) {
    const Ran ran = Run(std::string("$VIGIL explore --hooks 1 --state ") + state);
    EXPECT_EQ(ran.code, 2) << state;
    EXPECT_THAT(ran.err, HasSubstr("is no file in which something can be kept"));
  }
}

}  // namespace
}  // namespace vigil::cli
