// `vigil judge` as its users meet it, on what sessions of TensorFlow's really did (interop/record_observed.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "vigil/cli/run_program.h"

namespace vigil::cli {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class JudgeTest : public ::testing::Test {
 protected:
  JudgeTest() {
    Run("for each in recovered recovers_from_internal; do xz -dc " VIGIL_SOURCE_DIR
        "/properties/judge/testdata/$each.jsonl.xz > $each.jsonl || exit; done");
  }
  Ran Run(const std::string& command) { return RunShell(folder_.path(), command); }
  TemporaryFolder folder_;
};

TEST_F(JudgeTest, HoldsTheRulesAgainstASessionThatRecovered) {
  const Ran ran = Run("$VIGIL judge recovered.jsonl");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(ran.out, "ok recovered.jsonl job 1: 157 events, 39 rules armed\n1 kept all rules, 0 did not\n");
  EXPECT_EQ(ran.err, "");
}

TEST_F(JudgeTest, NamesTheRuleThatASessionBroke) {
  const Ran ran = Run("$VIGIL judge recovers_from_internal.jsonl recovered.jsonl");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, AllOf(StartsWith("FAILED recovers_from_internal.jsonl job 1: "),
                             HasSubstr("\n  recovery.only_on_aborted_or_unavailable: "),
                             HasSubstr("\n    event 70  session 2 created\n"), HasSubstr("\nok recovered.jsonl"),
                             HasSubstr("\n1 kept all rules, 1 did not\n")));
  EXPECT_THAT(Run("$VIGIL judge recovers_from_internal.jsonl --trace").out,
              HasSubstr("\n  event 70        0.064343 s  session 2 created\n"));
}

TEST_F(JudgeTest, WritesJson) {
  const Ran ran =
      Run("$VIGIL judge recovered.jsonl recovers_from_internal.jsonl --json - 2>text | python3 -c \"import json, sys; "
          "d = json.load(sys.stdin); print(d['passed'], d['failed'], [(j['ended'], len(j['armed']), "
          "[v['rule'] for v in j['violations']]) for j in d['jobs']])\"");
  EXPECT_EQ(ran.out,
            "1 1 [(True, 39, []), (True, 32, ['run.ok_means_one_session_run', "
            "'recovery.only_on_aborted_or_unavailable'])]\n");
}

TEST_F(JudgeTest, JudgesWhatAKilledProgramLeft) {
  const Ran ran = Run("head -c 9000 recovered.jsonl > killed.jsonl; $VIGIL judge killed.jsonl");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(" events, cut off, "));
  EXPECT_THAT(ran.err, StartsWith("note: killed.jsonl: the last line is left out: killed.jsonl:"));
}

TEST_F(JudgeTest, RefusesWhatIsNoObservation) {
  const Ran damaged =
      Run("sed '40s/.*/{}/' recovered.jsonl > damaged.jsonl; $VIGIL judge damaged.jsonl recovered.jsonl");
  EXPECT_EQ(damaged.code, 2);
  EXPECT_THAT(damaged.err, StartsWith("error: damaged.jsonl:40: expected \"job\""));
  EXPECT_THAT(damaged.out, StartsWith("ok recovered.jsonl"));
  const Ran nothing = Run("head -n 1 recovered.jsonl > nothing.jsonl; $VIGIL judge nothing.jsonl");
  EXPECT_EQ(nothing.code, 2);
  EXPECT_EQ(nothing.err, "error: nothing.jsonl: the program has made no session that is watched\n");
  EXPECT_EQ(Run("$VIGIL judge").code, 2);
  EXPECT_EQ(Run("$VIGIL judge recovered.jsonl --json recovered.jsonl").code, 2);
  EXPECT_EQ(Run("$VIGIL judge recovered.jsonl > /dev/full").code, 2);
  EXPECT_EQ(Run("$VIGIL judge --help").code, 0);
}

// Of each, what is wrong with it; then what is read here, once.
TEST_F(JudgeTest, SaysWhatItReadsToWhoGivesItSomethingElse) {
  Run(": > empty.jsonl; printf '\\n\\n' > blank.jsonl; mkdir folder; echo x > folder/notes.txt; cp recovered.jsonl "
      "log.txt; "
      "echo '{\"id\":\"a\"}' > scenario.jsonl; echo 'step 3' > text.jsonl; printf '{\"obser' > cut.jsonl");
  const std::string what =
      "note: what is read here is what an observed program has written: lines of JSON, of which the first is "
      "{\"observed\":1}\n"
      "      to make such a file: python -m vigil_player.observe --to job.jsonl train.py (docs/observing.md)\n";
  const std::pair<const char*, const char*> files[] = {
      {"empty.jsonl", "empty.jsonl: holds no session\n"},
      {"blank.jsonl", "blank.jsonl: holds no session\n"},
      {"folder", "folder: holds no session (.json, .jsonl or .trace, each also with .xz)\n"},
      {"log.txt",
       "log.txt: a session file is called .json, .jsonl or .trace, each also with .xz; for standard input "
       "say -\n"},
      {"gone.jsonl", "gone.jsonl: no such file or folder\n"},
      {"scenario.jsonl", "scenario.jsonl:1: no observed program: "},
      {"text.jsonl", "text.jsonl:1: no observed program: "},
      {"cut.jsonl", "cut.jsonl:1: no observed program: "},
  };
  for (const auto& [file, wrong] : files) {
    const Ran ran = Run(std::string("$VIGIL judge ") + file);
    EXPECT_EQ(ran.code, 2) << file;
    EXPECT_THAT(ran.err, AllOf(StartsWith(std::string("error: ") + wrong), EndsWith(what))) << file;
  }
  const Ran both = Run("$VIGIL judge empty.jsonl recovered.jsonl text.jsonl");
  EXPECT_THAT(both.out, HasSubstr("1 kept all rules"));
  EXPECT_EQ(both.err.find(what), both.err.rfind(what));
}

TEST_F(JudgeTest, AFileThatIsCutOffInItsFirstJobHoldsNone) {
  const Ran ran = Run("head -c 60 recovered.jsonl > cut.jsonl; $VIGIL judge cut.jsonl");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, StartsWith("error: cut.jsonl:2: "));
  EXPECT_THAT(ran.err, Not(HasSubstr("note:")));
}

}  // namespace
}  // namespace vigil::cli
