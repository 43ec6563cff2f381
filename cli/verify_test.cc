// `vigil verify` as its users meet it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "vigil/cli/run_program.h"

namespace vigil::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class VerifyTest : public ::testing::Test {
 protected:
  Ran Run(const std::string& command) { return RunShell(folder_.path(), command); }

  TemporaryFolder folder_;
};

TEST_F(VerifyTest, SaysWhichPromiseAHookBreaksAndPlaysItAgain) {
  const Ran ran = Run("$VIGIL verify counts_since_creation stops_early --scenarios 3");
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, HasSubstr("  hook.wrong_after_recovery: a recovery that loses nothing changes nothing"));
  EXPECT_THAT(ran.out, HasSubstr("    ./vigil verify counts_since_creation --case recovery_after_run_2\n"));
  EXPECT_THAT(ran.out, HasSubstr("PASSED stops_early: "));
  EXPECT_THAT(ran.out, EndsWith(" 1 failed\n"));
  const Ran again = Run("$VIGIL verify counts_since_creation --case recovery_after_run_2 --trace");
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.out, HasSubstr("    hook verified after_create_session session=2\n"));
}

TEST_F(VerifyTest, ACrashIsAFindingOfAnyNumberOfJobs) {
  const std::string hooks = "$VIGIL verify counts_since_creation checks_too_much stops_early --scenarios 3 --jobs ";
  const Ran one = Run(hooks + "1");
  EXPECT_EQ(one.code, 1);
  EXPECT_THAT(one.err, HasSubstr("CHECK failed: step < kZooLastStep"));
  EXPECT_THAT(one.out, HasSubstr("\nFAILED checks_too_much: it crashed, 0 of 26 promises broken in "));
  EXPECT_THAT(one.out, HasSubstr("\n    in        vigil::"));
  EXPECT_THAT(one.out, HasSubstr("    ./vigil verify checks_too_much --case calm.monitored.alone\n"));
  EXPECT_THAT(one.out, HasSubstr("PASSED stops_early: "));
  EXPECT_EQ(Run(hooks + "3").out, one.out);
  EXPECT_EQ(Run("$VIGIL verify checks_too_much --case calm.monitored.alone").code, 1);
  const Ran here = Run("$VIGIL verify stops_early --scenarios 3 --jobs 0");
  EXPECT_EQ(here.code, 0);
  EXPECT_THAT(here.out, ::testing::StartsWith("PASSED stops_early: "));
  EXPECT_EQ(Run("$VIGIL verify stops_early --play-limit soon").code, 2);
}

TEST_F(VerifyTest, NamesEveryHook) {
  const Ran ran = Run("$VIGIL verify --list");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("\nbuilt-in  NanTensorHook "));
  EXPECT_THAT(ran.out, HasSubstr("\nright     stops_early "));
  EXPECT_THAT(ran.out, HasSubstr("\nwrong     trains_twice                 runs the train op after each run "
                                 "(hook.runs_train_op)\n"));
  const Ran right = Run("$VIGIL verify --list --right");
  EXPECT_THAT(right.out, HasSubstr("\nbuilt-in  NanTensorHook "));
  EXPECT_THAT(right.out, Not(HasSubstr("\nwrong ")));
}

TEST_F(VerifyTest, WritesJsonAndJUnit) {
  const Ran ran = Run("$VIGIL verify naps --scenarios 0 --junit out.xml --json - 2>report.txt");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(folder_.Read("report.txt"), HasSubstr("hook.sleeps_for_real"));
  const Ran read = Run(
      "$VIGIL verify naps --scenarios 0 --json - 2>/dev/null | python3 -c 'import json,sys; d=json.load(sys.stdin); "
      "print(d[\"failed\"], d[\"hooks\"][0][\"hook\"], d[\"hooks\"][0][\"findings\"][0][\"promise\"])'");
  EXPECT_EQ(read.out, "1 naps hook.sleeps_for_real\n");
  const Ran xml =
      Run("python3 -c 'import xml.etree.ElementTree as t; s=t.parse(\"out.xml\").getroot()[0]; "
          "print(s.get(\"tests\"), s.get(\"failures\"), s[0].get(\"name\"), s[0][0].get(\"message\"))'");
  EXPECT_EQ(xml.out, "1 1 naps 1 findings\n");
}

TEST_F(VerifyTest, WritesWhatCouldNotBeVerified) {
  const Ran ran = Run("$VIGIL verify naps --case nope --junit out.xml --json out.json");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(folder_.Read("out.json"), HasSubstr("\"error\": \"there is no case 'nope'\", \"findings\": []"));
  EXPECT_THAT(folder_.Read("out.xml"), HasSubstr("<failure message=\"there is no case "));
  EXPECT_THAT(folder_.Read("out.xml"), Not(HasSubstr("0 findings")));
}

TEST_F(VerifyTest, TellsMisuse) {
  const Ran unknown = Run("$VIGIL verify nobody");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.err, "error: no hook is called 'nobody'; see vigil verify --list\nSee vigil verify --help\n");
  EXPECT_EQ(Run("$VIGIL verify --case calm.monitored.alone").code, 2);
  EXPECT_EQ(Run("$VIGIL verify --right stops_early").code, 2);
  EXPECT_EQ(Run("$VIGIL verify naps --scenarios many").code, 2);
  EXPECT_EQ(Run("$VIGIL verify naps --json /nowhere/x").code, 2);
  const Ran no_case = Run("$VIGIL verify naps --case nothing");
  EXPECT_EQ(no_case.code, 2);
  EXPECT_THAT(no_case.err, HasSubstr("error: there is no case 'nothing'; a finding names its case"));
}

TEST_F(VerifyTest, CtrlCKeepsWhatWasFound) {
  const Ran ran = Run("timeout --preserve-status -s INT 1 $VIGIL verify naps --scenarios 1000000000");
  EXPECT_EQ(ran.code, 130) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("hook.sleeps_for_real"));
}

TEST_F(VerifyTest, AnInterruptedReportSaysSo) {
  const Ran ran =
      Run("timeout --preserve-status -s INT 1 $VIGIL verify stops_early --scenarios 1000000000 --junit out.xml --json "
          "out.json");
  EXPECT_EQ(ran.code, 130) << ran.err;
  EXPECT_THAT(ran.out, ::testing::ContainsRegex("^interrupted stops_early: nothing was found in [0-9]+ plays\n"));
  EXPECT_THAT(ran.out, HasSubstr("\ninterrupted: this is what was found so far\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("PASSED")));
  EXPECT_THAT(folder_.Read("out.json"), HasSubstr("\"failed\": 0, \"interrupted\": true,\n"));
  EXPECT_THAT(folder_.Read("out.xml"), HasSubstr("<error message=\"this is what was found until then\"/>"));
  const Ran whole = Run("$VIGIL verify stops_early --scenarios 1 --junit out.xml --json -");
  EXPECT_EQ(whole.code, 0);
  EXPECT_THAT(whole.out, HasSubstr("\"interrupted\": false,\n"));
  EXPECT_THAT(folder_.Read("out.xml"), Not(HasSubstr("interrupted")));
}

}  // namespace
}  // namespace vigil::cli
