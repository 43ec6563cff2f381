// `vigil check` as its users meet it: exit codes, streams, files, signals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/cli/run_program.h"

namespace vigil::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class CheckProgramTest : public ::testing::Test {
 protected:
  Ran Run(const std::string& command) { return RunShell(folder_.path(), command); }
  TemporaryFolder folder_;
};

TEST_F(CheckProgramTest, NamesItsSeedsAndCountsRules) {
  const Ran ran = Run("$VIGIL check --suite random --seeds 5..44");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, StartsWith("suite random: --seeds 5..44\n"));
  EXPECT_THAT(ran.out, ContainsRegex("\nend.only_on_clean_exit +[0-9]+ +0\n"));
  EXPECT_THAT(ran.out, EndsWith("\n40 passed, 0 failed\n"));
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(folder_.Names(), IsEmpty());
}

TEST_F(CheckProgramTest, SaysTheSameWithOneJobAndTwo) {
  const std::string command = "$VIGIL check --suite random --seeds 0..199 --jobs ";
  EXPECT_EQ(Run(command + "1").out, Run(command + "2").out);
}

TEST_F(CheckProgramTest, JsonBelongsToStandardOutput) {
  const Ran ran = Run("$VIGIL check --suite random --seeds 1..20 --json -");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("{\"passed\":20,\"failed\":0,"));
  EXPECT_THAT(ran.out, EndsWith("]}\n"));
  EXPECT_THAT(ran.err, EndsWith("20 passed, 0 failed\n"));
}

TEST_F(CheckProgramTest, AWrongRecordingFailsWithItsReplayLine) {
  folder_.Write("wrong.jsonl", R"({"id":"wrong","drive":[],"expect":{"events":["never happens"]}})");
  const Ran ran = Run("$VIGIL check --suite recorded --recordings wrong.jsonl");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("FAILED wrong\n"));
  EXPECT_THAT(ran.out, HasSubstr("  ./vigil replay wrong.jsonl --only wrong\n"));
}

TEST_F(CheckProgramTest, MisuseAndUnreadableInputAreErrors) {
  for (const std::string arguments : {"--seeds 9..3", "--seeds 1..2x", "--suite none", "--jobs 0", "extra"}) {
    const Ran ran = Run("$VIGIL check " + arguments);
    EXPECT_EQ(ran.code, 2) << arguments;
    EXPECT_THAT(ran.err, StartsWith("error: ")) << arguments;
    EXPECT_THAT(ran.err, EndsWith("See vigil check --help\n")) << arguments;
  }
  EXPECT_EQ(Run("$VIGIL check --suite recorded --recordings gone.jsonl").code, 2);
  const Ran full = Run("$VIGIL check --suite random --seeds 1..2 --json /dev/full");
  EXPECT_EQ(full.code, 2);
  EXPECT_THAT(full.err, HasSubstr("cannot write '/dev/full'"));
}

TEST_F(CheckProgramTest, InterruptedItSaysWhatWasFound) {
  const Ran ran =
      Run("touch out; $VIGIL check --suite random --seeds 0..4000000000 >out & pid=$!\n"
          "until grep -q suite out; do sleep 0.05; done\n"
          "kill -INT $pid; wait $pid; code=$?; cat out; exit $code");
  EXPECT_EQ(ran.code, 130);
  EXPECT_THAT(ran.out, HasSubstr("\ninterrupted: this is what was found so far\n"));
  EXPECT_THAT(ran.out, EndsWith(" passed, 0 failed\n"));
}

TEST_F(CheckProgramTest, HelpNamesSuitesAndExitCodes) {
  const Ran ran = Run("$VIGIL check --help");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("--seeds"));
  EXPECT_THAT(ran.out, HasSubstr("recorded"));
  EXPECT_THAT(ran.out, HasSubstr("Exit codes"));
}

TEST_F(CheckProgramTest, ListsTheRules) {
  EXPECT_THAT(Run("$VIGIL check --list-rules").out, HasSubstr("\n## end.only_on_clean_exit\n"));
}

}  // namespace
}  // namespace vigil::cli
