// `--player` and `vigil player` as their users meet them (docs/players.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fmt/format.h"
#include "vigil/cli/run_program.h"

namespace vigil::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// Of the words of a shell line.
std::string Fake(const std::string& mistake) {
  return fmt::format("'exec python3 {}/replays/player/fake_player.py {}'", VIGIL_SOURCE_DIR, mistake);
}

class PlayerTest : public ::testing::Test {
 protected:
  Ran Run(const std::string& command) { return RunShell(folder_.path(), command); }

  TemporaryFolder folder_;
};

// The protocol's own conformance test: what is found does not depend on who stands between.
constexpr char kBoth[] =
    "$VIGIL check --suite random --seeds 1..{0} --jobs 2 --failures own {1} | sed 's/ --plant [a-z_.]*//' >a; "
    "$VIGIL check --suite random --seeds 1..{0} --jobs 2 --failures own --player \"$VIGIL player {1}\" "
    "| sed 1d | sed \"s/ --player '.*'//\" >b; "
    "sed -i 's/^VIGIL_PRESET=dev //; s/^  VIGIL_PRESET=dev /  /; /^too few scenarios/d' a b; ";

TEST_F(PlayerTest, OurOwnCoreAsAPlayerIsOurOwnCore) {
  const Ran ran = Run(fmt::format(kBoth, 300, "") + "cmp a b && tail -n 1 b");
  EXPECT_EQ(ran.out, "300 passed, 0 failed\n") << ran.err;
}

TEST_F(PlayerTest, PlantedBugsAreFoundInAPlayer) {
  if (Run("$VIGIL player --plant session.end_twice </dev/null").err.find("This build has no planted bugs") !=
      std::string::npos)
    return;
  for (const char* bug : {"session.end_twice", "recovery.no_pause", "saver.keeps_one_more"}) {
    const Ran ran =
        Run(fmt::format(kBoth, 150, fmt::format("--plant {}", bug)) + "cmp a b && grep -c ^FAILED b; rm -r own");
    EXPECT_THAT(ran.out, ContainsRegex("^[1-9][0-9]*\n$")) << bug << ran.err;
  }
}

TEST_F(PlayerTest, RecordingsAndUnitsAreReplayedByAPlayer) {
  const std::string files = fmt::format("{0}/replays/tensorflow/cases.jsonl {0}/replays/cluster", VIGIL_SOURCE_DIR);
  const Ran ran =
      Run("$VIGIL replay --jobs 2 --hashes a " + fmt::format("{0}/replays/tensorflow/cases.jsonl", VIGIL_SOURCE_DIR) +
          " >/dev/null; $VIGIL replay --jobs 2 --player \"$VIGIL player\" --hashes b " + files + " && cmp a b");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "69 not played: clusters need our own core\n426 passed, 0 failed\n");
}

TEST_F(PlayerTest, AScopeIsExploredByAPlayer) {
  const std::string scope = "$VIGIL explore --hooks 1 --runs 1 --faults 1 --jobs 2";
  const Ran ran =
      Run(scope + " >a; " + scope + " --player \"$VIGIL player\" | grep -v ^player: >b; cmp a b && tail -n 1 b");
  EXPECT_EQ(ran.out, "0 disagreements of core and model, 0 scenarios broke a rule\n") << ran.err;
}

TEST_F(PlayerTest, WhatAPlayerCannotPlayIsCountedAndNeverPassed) {
  const Ran ran = Run("$VIGIL check --suite random --seeds 1..30 --jobs 1 --player " + Fake("none"));
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("player: fake 1 ("));
  EXPECT_THAT(ran.out, ContainsRegex("\n +[1-9][0-9]*  not played: no sessions of kind supervisor\n"));
  folder_.Write("job.json", R"({"id":"a","session":{"kind":"training"},"drive":[],"expect":{"events":[]}})");
  const Ran nothing = Run("$VIGIL replay job.json --player " + Fake("none"));
  EXPECT_EQ(nothing.code, 2);
  EXPECT_EQ(nothing.out, "1 not played: no sessions of kind training\n0 passed, 0 failed\n");
  EXPECT_EQ(nothing.err, "error: the player can play nothing of it\n");
}

TEST_F(PlayerTest, WhatDoesNotStartIsRefused) {
  for (const char* command : {"check --suite random", "explore --hooks 1 --runs 1 --faults 1", "replay x.json"}) {
    const Ran ran = Run(fmt::format("$VIGIL {} --player /no/such/player", command));
    EXPECT_EQ(ran.code, 2) << command;
    EXPECT_THAT(ran.err, HasSubstr("the player '/no/such/player' does not start: it has ended with exit code 127"));
  }
  EXPECT_THAT(Run("$VIGIL check --suite cluster --player x").err, HasSubstr("--suite cluster: it needs our own core"));
  EXPECT_THAT(Run("$VIGIL check --planted all --player x").err, HasSubstr("--player: not with --planted"));
  EXPECT_THAT(Run("$VIGIL check --player-limit 3s").err, HasSubstr("--player-limit: it needs --player"));
}

TEST_F(PlayerTest, WhatDiesIsAFindingAndTheCampaignGoesOn) {
  folder_.Write("a.jsonl", std::string(R"({"id":"a","drive":[],"expect":{"events":["graph finalized"]}})") + "\n" +
                               R"({"id":"b","drive":[],"expect":{"events":["graph finalized"]}})" + "\n" +
                               R"({"id":"c","drive":[],"expect":{"events":["graph finalized"]}})" + "\n");
  const Ran ran = Run("$VIGIL replay a.jsonl --jobs 1 --player " + Fake("dies"));
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("FAILED b\n  a.jsonl:2\n  player failed: player.died: it has ended with exit code 7\n"
                                 "    it said  what I wanted to say\n  ./vigil replay a.jsonl --only b --player "));
  EXPECT_THAT(ran.out, EndsWith("0 passed, 3 failed\n"));
}

TEST_F(PlayerTest, CtrlCEndsThePlayersToo) {
  const std::string late = fmt::format("--at 1 {} late", folder_.path());
  const Ran ran = Run(
      "timeout --preserve-status -s INT 5 $VIGIL check --suite random --seeds 1..1000000 --jobs 2 --player-limit 1h "
      "--player " +
      Fake(late) + fmt::format(" >out; echo $?; pgrep -x python3 -a | grep -c -e '{}'", late));
  EXPECT_EQ(ran.out, "130\n0\n") << ran.err;
}

// The hook is the player's; who judges it is not.
TEST_F(PlayerTest, AHookOfAPlayerIsVerified) {
  const auto verify = [&](const std::string& mistake, const std::string& more = "") {
    return Run("$VIGIL verify --jobs 1 --player " + Fake(mistake) + " " + more);
  };
  Ran ran = verify("none", "--scenarios 3");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, ContainsRegex("\nPASSED fake: [0-9]+ plays\n"));
  ran = verify("offends", "--scenarios 3 --replay-as 'my test'");
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("hook.blocks"));
  EXPECT_THAT(ran.out, HasSubstr("waits 70 s in end"));
  EXPECT_THAT(ran.out, HasSubstr("my test --case calm_tensorflow.monitored.alone\n"));
  ran = verify("--at 1 asks_the_machine", "--case calm.monitored.alone");
  EXPECT_THAT(ran.out, HasSubstr("draws a random number of the machine by random.random in end after step 3\n"));
  EXPECT_THAT(ran.out, HasSubstr("changes '/mined' outside of its methods, after step 0\n"));
  EXPECT_THAT(verify("--at 1 asks_with_leave", "--case calm.monitored.alone").out, HasSubstr("\nPASSED fake: "));
  EXPECT_THAT(verify("sees_what_there_is_not").out, HasSubstr("the player has seen what there is not: 'ghosts'"));
  // It decides in one case what it does not in one that must be like it.
  ran = verify("--at 1 decides", "--case run_repeated_1.monitored");
  EXPECT_THAT(ran.out, HasSubstr("hook.before_run_not_idempotent"));
  EXPECT_THAT(ran.out, HasSubstr("asks for a stop after step 3"));
  ran = verify("dies", "--scenarios 3");
  EXPECT_THAT(ran.out, HasSubstr("crash.player_died"));
  EXPECT_THAT(ran.out, HasSubstr("it has ended with exit code 7"));
  EXPECT_THAT(verify("unknown_promise").out, HasSubstr("names a promise that there is not: 'hook.is_ugly'"));
  EXPECT_THAT(verify("--at 1 cannot_make_its_hook").out, HasSubstr("the hook could not be made: ValueError: no"));
  ran = verify("says_nothing_of_its_hook", "--scenarios 3");
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("crash.player_garbage"));
  EXPECT_THAT(verify("does_not_set_up").out, HasSubstr("FAILED fake: the player could not set it up: no room\n"));
  EXPECT_THAT(Run("$VIGIL verify --player \"$VIGIL player\"").err, HasSubstr("it has no hook to verify"));
}

TEST_F(PlayerTest, OurPlayerRefusesWhatIsNoQuestion) {
  const Ran ran = Run("echo hello | $VIGIL player");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("(in hello)"));
  const Ran newer = Run(R"(echo '{"type":"hello","protocols":[2,3]}' | $VIGIL player)");
  EXPECT_EQ(newer.code, 2);
  EXPECT_THAT(newer.err, HasSubstr("protocols: this player speaks protocol 1, which is not among them"));
  EXPECT_EQ(Run(R"(echo '{"type":"hello","protocols":[2,1]}' | $VIGIL player)").code, 0);
  const Ran well =
      Run(R"(echo '{"type":"play","id":5,"scenario":{"id":"a","drive":[{"op":"explode"}]}}' | $VIGIL player)");
  EXPECT_THAT(well.out, HasSubstr(R"({"type":"cannot","id":5,"reason":)"));
  EXPECT_EQ(well.code, 0);
}

}  // namespace
}  // namespace vigil::cli
