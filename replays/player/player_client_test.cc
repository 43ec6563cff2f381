// Every way in which a player may do wrong, by a script that does it: it is named, and the next play goes well.
#include "vigil/replays/player/player_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fmt/format.h"
#include "vigil/core/base/code.h"
#include "vigil/replays/format/parse.h"

namespace vigil::replays {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

PlayerOptions Fake(const std::string& mistake) {
  return {.command = fmt::format("exec python3 {}/replays/player/fake_player.py {}", VIGIL_SOURCE_DIR, mistake)};
}

class PlayerClientTest : public ::testing::Test {
 protected:
  PlainOutcome Play(PlayerClient& player, const std::atomic<bool>* interrupt = nullptr) {
    PlainOutcome outcome;
    Played played;
    player.Play(scenario_, {.interrupt = interrupt}, outcome, played);
    return outcome;
  }

  // What comes of the second play; the others go well.
  PlainOutcome SecondOf(PlayerOptions options) {
    PlayerClient player(std::move(options));
    EXPECT_EQ(Play(player).verdict, Verdict::kPlayed);
    PlainOutcome second = Play(player);
    const PlainOutcome third = Play(player);
    EXPECT_EQ(third.verdict, Verdict::kPlayed) << third.reason;
    EXPECT_THAT(third.events, ElementsAre("graph finalized", "session 1 created", "driver exit clean"));
    return second;
  }

  const Scenario scenario_ = ParseRecording(R"({"id":"a","drive":[]})")->scenario;
};

TEST_F(PlayerClientTest, PlaysWell) {
  const PlainOutcome second = SecondOf(Fake("none"));
  EXPECT_EQ(second.verdict, Verdict::kPlayed);
  EXPECT_NE(second.hash, 0U);
}

struct MistakeCase {
  const char* mistake;
  const char* rule;
  const char* says;
};
constexpr MistakeCase kMistakes[] = {
    {"dies", "player.died", "it has ended with exit code 7"},
    {"killed", "player.died", "it was ended by signal 9"},
    {"dies_in_a_line", "player.died", "it has ended with exit code 0"},
    {"leaves_a_child", "player.late", "no answer within 2 s"},
    {"closes_its_output", "player.died", "it has closed its standard output, and was killed"},
    {"late", "player.late", "no answer within 2 s"},
    {"garbage", "player.garbage", "Traceback"},
    {"not_utf8", "player.garbage", "UTF-8"},
    {"out_of_order", "player.garbage", "asked for play 2, it answers play 3"},
    {"no_such_hook", "player.nonsense", "/events/0: there is no hook 'ghost'"},
    {"time_goes_back", "player.nonsense", "time goes back"},
    {"too_much", "player.too_much", "a line of more than 16 MiB"},
};

TEST_F(PlayerClientTest, WhatIsWrongWithItIsAFinding) {
  for (const MistakeCase& known : kMistakes) {
    PlayerOptions options = Fake(known.mistake);
    options.plays = std::chrono::seconds(2);
    const PlainOutcome second = SecondOf(options);
    EXPECT_EQ(second.verdict, Verdict::kPlayerFailed) << known.mistake;
    ASSERT_TRUE(second.violated.has_value()) << known.mistake;
    EXPECT_THAT(*second.violated, ElementsAre(known.rule)) << known.mistake;
    EXPECT_THAT(second.reason, StartsWith(std::string(known.rule) + ": ")) << known.mistake;
    EXPECT_THAT(second.reason, HasSubstr(known.says)) << known.mistake;
  }
}

// It is noticed when it is asked next.
TEST_F(PlayerClientTest, AnswersThatNobodyAskedFor) {
  PlayerClient player(Fake("--at 1 twice"));
  EXPECT_EQ(Play(player).verdict, Verdict::kPlayed);
  const PlainOutcome second = Play(player);
  EXPECT_THAT(second.reason, StartsWith("player.unasked: it says more than it was asked for"));
}

TEST_F(PlayerClientTest, ItsLastWordsAreTold) {
  EXPECT_EQ(SecondOf(Fake("dies")).explanation, "    it said  what I wanted to say\n");
}

TEST_F(PlayerClientTest, WhatItSaysBesideIsNoMistake) {
  EXPECT_EQ(SecondOf(Fake("says_much_beside")).verdict, Verdict::kPlayed);
}

TEST_F(PlayerClientTest, WhatItCannotPlay) {
  const PlainOutcome second = SecondOf(Fake("cannot"));
  EXPECT_EQ(second.verdict, Verdict::kCannot);
  EXPECT_EQ(second.reason, "not today");
  PlayerClient player(Fake("none"));
  PlainOutcome outcome;
  Played played;
  player.Play(ParseRecording(R"({"id":"a","session":{"kind":"training"},"drive":[]})")->scenario, {}, outcome, played);
  EXPECT_EQ(outcome.verdict, Verdict::kCannot);
  EXPECT_EQ(outcome.reason, "no sessions of kind training");
}

TEST_F(PlayerClientTest, ItIsGivenUpAfterManyFailures) {
  PlayerClient player(Fake("--at 1 dies"));
  for (int i = 0; i < kMostFailures; ++i) EXPECT_EQ(Play(player).verdict, Verdict::kPlayerFailed);
  const PlainOutcome outcome = Play(player);
  EXPECT_EQ(outcome.verdict, Verdict::kCannot);
  EXPECT_EQ(outcome.reason, "the player has failed 5 times in a row");
}

std::string WhyNoStart(PlayerOptions options) {
  options.greets = std::chrono::seconds(2);
  const absl::StatusOr<Greeting> greeting = PlayerClient(options).Greet();
  return greeting.ok() ? "" : std::string(MessageOf(greeting.status()));
}

TEST_F(PlayerClientTest, WhatDoesNotStart) {
  EXPECT_EQ(WhyNoStart(Fake("none")), "");
  EXPECT_THAT(WhyNoStart({.command = "/no/such/player"}),
              HasSubstr("the player '/no/such/player' does not start: it has ended with exit code 127; it said: "));
  EXPECT_THAT(WhyNoStart({.command = "sleep 3600"}), HasSubstr("no answer within 2 s"));
  EXPECT_THAT(WhyNoStart({.command = "echo hello"}), HasSubstr("it greets wrongly: "));
  EXPECT_THAT(WhyNoStart({.command = "true"}), HasSubstr("it has ended with exit code 0"));
  EXPECT_THAT(WhyNoStart({.command = "yes | tr -d '\\n'"}), HasSubstr("a line of more than 16 MiB"));
  PlayerClient player({.command = "exit 3"});
  const PlainOutcome outcome = Play(player);
  EXPECT_EQ(outcome.reason, "player.does_not_start: it has ended with exit code 3");
}

TEST_F(PlayerClientTest, NobodyWaitsForItOnceItIsNotWanted) {
  PlayerOptions options = Fake("--at 1 late");
  options.plays = std::chrono::hours(1);
  PlayerClient player(options);
  ASSERT_TRUE(player.Greet().ok());
  const std::atomic<bool> interrupt = true;
  EXPECT_EQ(Play(player, &interrupt).verdict, Verdict::kInterrupted);
}

}  // namespace
}  // namespace vigil::replays
