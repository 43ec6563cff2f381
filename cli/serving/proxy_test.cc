// The program vigil-proxy by itself: its words, and what it refuses. What passes through it: proxy/, ./vigil interop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "vigil/cli/run_program.h"

namespace vigil::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ProxyProgramTest : public ::testing::Test {
 protected:
  Ran Run(const std::string& command) { return RunShell(folder_.path(), command); }
  TemporaryFolder folder_;
};

TEST_F(ProxyProgramTest, HelpAndMisuse) {
  const Ran help = Run("$VIGIL --help");
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("Examples:\n  vigil-proxy --listen 127.0.0.1:2223 --to 127.0.0.1:2222"));
  folder_.Write("bad.json", R"([{"on": "trian"}])");
  const std::pair<const char*, const char*> misuses[] = {
      {"", "--to is required"},
      {"--to x", "--to: 'x' is no address: HOST:PORT"},
      {"--to 127.0.0.1:1 --plan none.json", "none.json: No such file or directory"},
      {"--to 127.0.0.1:1 --plan bad.json", "bad.json: /0/on: unknown kind 'trian'; known: create_session, "},
      {"--to 127.0.0.1:1 --plan bad.json --seed 1", "excludes"},
      {"--to 127.0.0.1:1 --seed -1", "--seed"},
      {"--to 127.0.0.1:1 --plan bad.json --trace ./bad.json", "--plan and --trace name the same file"},
      {"--to 127.0.0.1:1 --write-plan new.json --trace new.json", "--write-plan and --trace name the same file"},
      {"--to 127.0.0.1:1 --seed 010", "--seed: expected a whole number from 0 to 18446744073709551615, got '010'"},
  };
  for (const auto& [words, what] : misuses) {
    const Ran ran = Run(std::string("$VIGIL ") + words);
    EXPECT_EQ(ran.code, 2) << words << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(what)) << words;
    EXPECT_EQ(ran.out, "") << words;
  }
  const Ran trace = Run("$VIGIL --to 127.0.0.1:1 --trace no/such/folder");
  EXPECT_EQ(trace.code, 1);
  EXPECT_THAT(trace.err, HasSubstr("no/such/folder: No such file or directory"));
  EXPECT_EQ(Run("$VIGIL --to 127.0.0.1:1 --listen 192.0.2.1:80").code, 1);  // not of this machine
}

TEST_F(ProxyProgramTest, CtrlCPrintsTheTableAndTheLineThatDoesItAgain) {
  const Ran ran =
      Run("$VIGIL --to 127.0.0.1:1 --seed 3 --write-plan plan.json > out 2> err & p=$!; until grep -q serves out; do "
          ":; done; "
          "kill -INT $p; wait $p; echo code $?");
  EXPECT_EQ(ran.out, "code 0\n");
  EXPECT_EQ(folder_.Read("err"), "");
  const std::string out = folder_.Read("out");
  EXPECT_THAT(out, StartsWith("the plan of seed 3:\n" + folder_.Read("plan.json") + "proxy of 127.0.0.1:1 serves at "));
  EXPECT_THAT(out, HasSubstr("never: there were fewer such calls\n"));
  EXPECT_THAT(out, ::testing::EndsWith("\n  ./vigil proxy --listen 127.0.0.1:0 --to 127.0.0.1:1 --seed 3\n"));
}

TEST_F(ProxyProgramTest, WhatCannotBeSaidIsAnError) {
  const Ran full = Run("timeout -s INT 20 $VIGIL --to 127.0.0.1:1 >/dev/full");
  EXPECT_EQ(full.code, 1);
  EXPECT_THAT(full.err, HasSubstr("No space left on device"));
  EXPECT_EQ(Run("$VIGIL --help >/dev/full").code, 1);
  EXPECT_EQ(Run("$VIGIL 2>/dev/full").code, 2);
  // A file that is opened does not take the place of a stream that is closed.
  EXPECT_EQ(Run("timeout -s INT 20 $VIGIL --to 127.0.0.1:1 --trace calls.jsonl >&-").code, 1);
  EXPECT_EQ(folder_.Read("calls.jsonl"), "");
}

TEST_F(ProxyProgramTest, TheLineThatDoesItAgainCanBeTyped) {
  folder_.Write("my plan.json", "[]");
  const Ran ran =
      Run("$VIGIL --to 127.0.0.1:1 --plan 'my plan.json' > out & p=$!; until grep -q serves out; do :; done; "
          "kill -INT $p; wait $p; tail -n 1 out");
  EXPECT_EQ(ran.out, "  ./vigil proxy --listen 127.0.0.1:0 --to 127.0.0.1:1 --plan 'my plan.json'\n");
}

TEST_F(ProxyProgramTest, AsJson) {
  const Ran ran =
      Run("$VIGIL --to 127.0.0.1:1 --seed 3 --json > out 2> err & p=$!; until grep -q serves out; do :; done; "
          "kill -TERM $p; wait $p; tail -n 1 out");
  EXPECT_EQ(ran.out, R"({"calls":{},"faults":[{"fault":"train 10: delay 0.7 s","planned":1,"fired":0},)"
                     R"({"fault":"save 1: reset","planned":1,"fired":0}],)"
                     R"("again":"./vigil proxy --listen 127.0.0.1:0 --to 127.0.0.1:1 --seed 3"})"
                     "\n");
}

}  // namespace
}  // namespace vigil::cli
