// Pictures of runs and comparisons of two, as files and exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fmt/format.h"
#include "vigil/cli/run_program.h"

namespace vigil::cli {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class LookTest : public ::testing::Test {
 protected:
  LookTest() {
    folder_.Write("one.json", R"({"id":"one","drive":[{"op":"run"}]})");
    folder_.Write("two.jsonl", "{\"id\":\"a\",\"drive\":[{\"op\":\"run\"}]}\n{\"id\":\"b\",\"drive\":[]}\n");
  }
  Ran Run(const std::string& command) { return RunShell(folder_.path(), command); }

  TemporaryFolder folder_;
};

TEST_F(LookTest, WritesAPageAndATrace) {
  const Ran ran = Run("$VIGIL replay one.json --timeline one.html --perfetto one.trace.json");
  EXPECT_EQ(ran.code, 1) << "there is nothing to compare it with";
  EXPECT_THAT(folder_.Read("one.html"), StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(folder_.Read("one.html"), HasSubstr("session 1 created"));
  EXPECT_THAT(folder_.Read("one.trace.json"), HasSubstr("\"name\":\"session 1 created\""));
}

TEST_F(LookTest, SeveralScenariosAreMisuseThatNamesTheWayOut) {
  const Ran ran = Run("$VIGIL replay two.jsonl --timeline two.html");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "error: --timeline and --perfetto show one scenario, and these are 2: name it with --only ID\n");
  EXPECT_THAT(folder_.Names(), Not(Contains("two.html")));
  EXPECT_EQ(Run("$VIGIL replay two.jsonl --only b --timeline two.html").code, 1);
  EXPECT_THAT(folder_.Names(), Contains("two.html"));
}

TEST_F(LookTest, WhatCannotBeWrittenIsAnErrorBeforeAnythingIsPlayed) {
  const Ran ran = Run("$VIGIL replay one.json --timeline no/such/folder/x.html");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, StartsWith("error: cannot write 'no/such/folder/x.html': "));
}

TEST_F(LookTest, WhyOfAnEventIsInTheJsonToo) {
  folder_.Write("aborts.json",
                R"({"id":"s","faults":[{"at":"run","call":1,"code":"ABORTED"}],"drive":[{"op":"run"}]})");
  EXPECT_THAT(Run("$VIGIL replay aborts.json --jobs 1 --why 1 --json -").out,
              HasSubstr(R"("why":[{"at_s":0,"kind":"event","node":"chief","task":"","text":")"));
  EXPECT_THAT(Run("$VIGIL replay aborts.json --json -").out, Not(HasSubstr("\"why\"")));
}

TEST_F(LookTest, DiffSaysWhereTwoRunsPart) {
  const Ran same = Run("$VIGIL diff one.json two.jsonl#a");
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_THAT(same.out, StartsWith("the same run: "));
  const Ran other = Run("$VIGIL diff two.jsonl#a two.jsonl#b");
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.out, HasSubstr("two.jsonl#a"));
  EXPECT_THAT(other.out, HasSubstr("\n! "));
  EXPECT_THAT(Run("$VIGIL diff two.jsonl#a two.jsonl#b --json").out, StartsWith("{\"same\":false,"));
}

TEST_F(LookTest, DiffRefusesWhatIsNoRun) {
  EXPECT_EQ(Run("$VIGIL diff one.json").code, 2);
  const Ran several = Run("$VIGIL diff one.json two.jsonl");
  EXPECT_EQ(several.code, 2);
  EXPECT_THAT(several.err, HasSubstr("two.jsonl#ID, for example two.jsonl#a"));
  EXPECT_THAT(Run("$VIGIL diff one.json two.jsonl#z").err, HasSubstr("two.jsonl holds no scenario called 'z'"));
  EXPECT_EQ(Run("$VIGIL diff one.json gone.json").code, 2);
  EXPECT_EQ(Run("$VIGIL diff --help").code, 0);
}

}  // namespace
}  // namespace vigil::cli
