// `vigil merge` as its users meet it: one report, however the campaign was cut up; and what it is given by mistake.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fmt/format.h"
#include "vigil/cli/run_program.h"

namespace vigil::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPlanted[] = "--plant recovery.once_a_call";
constexpr char kReports[] = "--json out.json --junit out.xml --html out.html >out.txt; echo $?";

class MergeTest : public ::testing::Test {
 protected:
  Ran Run(const std::string& command) { return RunShell(folder_.path(), command); }

  // A shard with its state in the folder `to`.
  void Shard(const std::string& to, const std::string& seeds, const std::string& more = kPlanted) {
    const Ran ran =
        Run(fmt::format("mkdir -p {0} && $VIGIL check --suite random --seeds {1} --jobs 1 --state {0}/{1}.state "
                        "--failures {0}/failures {2}",
                        to, seeds, more));
    ASSERT_THAT(ran.code, ::testing::AnyOf(0, 1)) << ran.err;
  }

  // All reports of it, as one text.
  std::string Merged(const std::string& what, const std::string& code) {
    const Ran ran = Run("rm -rf failures; $VIGIL merge " + what + " " + kReports);
    EXPECT_EQ(ran.out, code + "\n") << ran.err;
    return folder_.Read("out.txt") + folder_.Read("out.json") + folder_.Read("out.xml") + folder_.Read("out.html");
  }

  TemporaryFolder folder_;
};

TEST_F(MergeTest, IsTheSameHoweverTheCampaignWasCutUp) {
  if (Run("$VIGIL check --planted list").code != 0) return;  // a release has none
  Shard("one", "1..240");
  const std::string whole = Merged("one", "1");
  EXPECT_THAT(whole,
              AllOf(HasSubstr("FAILED random_41: recovery.preemption_never_leaves_run"),
                    HasSubstr("vigil replay failures/recovery.preemption_never_leaves_run-random_41.json --plant"),
                    HasSubstr("  seeds 1..240\n"), HasSubstr("distinct traces"),
                    HasSubstr("<testsuite name=\"vigil.random\" tests=\"240\""), HasSubstr("<polyline ")));
  for (int i = 0; i < 8; ++i) Shard("eight", fmt::format("{}..{}", 30 * i + 1, 30 * i + 30));
  EXPECT_EQ(Merged("eight", "1"), whole);
  // The line below a finding replays it.
  EXPECT_EQ(
      Run("$VIGIL replay failures/recovery.preemption_never_leaves_run-random_41.json " + std::string(kPlanted)).code,
      1);
  // Parts that are there twice, in another folder too, change nothing.
  EXPECT_EQ(Run("cp -r eight again && cp eight/31..60.state again/copy.state").code, 0);
  EXPECT_EQ(Merged("again eight one", "1"), whole);
}

TEST_F(MergeTest, TheLineBelowAFindingNamesThePlayLimitOfItsShard) {
  if (Run("$VIGIL check --planted list").code != 0) return;  // a release has none
  constexpr char kLoops[] = "--plant session.loops_in_close --play-limit 1s";
  Shard("slow", "8..8", kLoops);
  const std::string line = fmt::format("vigil replay failures/crash.timeout-random_8.json {}", kLoops);
  EXPECT_THAT(Merged("slow", "1"), HasSubstr(line + "\n"));
}

// A process that is killed, and another that goes on.
TEST_F(MergeTest, IsTheSameAfterAKillAndAResumption) {
  if (Run("$VIGIL check --planted list").code != 0) return;  // a release has none
  Shard("one", "1..900");
  const std::string whole = Merged("one", "1");
  // Ctrl-C: what was played until then is kept.
  const Ran killed = Run(fmt::format(
      "mkdir two; timeout --preserve-status -s INT 1 $VIGIL check --suite random --seeds 1..900 --jobs 1 --state "
      "two/1..900.state --failures two/failures {}; echo $?; head -c 60 two/1..900.state",
      kPlanted));
  EXPECT_THAT(killed.out, HasSubstr("{\"vigil campaign state\":1,"));
  Shard("two", "1..900");
  EXPECT_EQ(Merged("two", "1"), whole);
  // Done is done: nothing is played again.
  Shard("two", "1..900");
  EXPECT_EQ(Merged("two", "1"), whole);
}

TEST_F(MergeTest, NamesWhatIsMissing) {
  Shard("some", "1..20", "");
  Shard("some", "41..60", "");
  const Ran gap = Run("$VIGIL merge some --junit out.xml");
  EXPECT_EQ(gap.code, 2);
  EXPECT_THAT(gap.err, HasSubstr("error: random: seeds 21..40 are missing; to play them: vigil check --suite random "
                                 "--seeds 21..40 --state FILE\n"));
  EXPECT_THAT(gap.out, HasSubstr("\nrandom: seeds 21..40 are missing\n"));
  EXPECT_THAT(folder_.Read("out.xml"), HasSubstr("name=\"random: seeds 21..40 are missing\">\n      <error"));
  folder_.Write("some/campaign.json", R"({"vigil campaign":1,"shards":4,"suites":{"random":[1,80]}})");
  EXPECT_THAT(Run("$VIGIL merge some").err, HasSubstr("error: random: seeds 61..80 are missing; "));
}

TEST_F(MergeTest, RefusesWhatDoesNotBelongThere) {
  Shard("good", "1..20", "");
  const std::string state = folder_.Read("good/1..20.state");
  EXPECT_EQ(Run("mkdir bad").code, 0);
  const auto refused = [&](const std::string& text) {
    folder_.Write("bad/x.state", text);
    const Ran ran = Run("$VIGIL merge bad");
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("error: 'bad/x.state' cannot be merged: "));
    EXPECT_THAT(ran.err, HasSubstr("error: there is no state of a shard that can be used; nothing was merged\n"));
    return ran.err;
  };
  EXPECT_THAT(refused(""), HasSubstr("it is empty; remove it, and that shard begins anew"));
  EXPECT_THAT(refused(state.substr(0, state.size() / 2)), HasSubstr("damaged or not whole"));
  std::string changed = state;
  changed[changed.find("\"passed\":") + 9] = '7';
  EXPECT_THAT(refused(changed), HasSubstr("its checksum is another"));
  EXPECT_THAT(refused("{\"id\":\"a scenario\"}\n"), HasSubstr("it is no state of a campaign's shard"));
  EXPECT_THAT(refused(std::string("\x7f"
                                  "ELF\0\0",
                                  6)),
              HasSubstr("it is no state of a campaign's shard"));
  EXPECT_THAT(refused("vigil explore state 1: --hooks 1\n"), HasSubstr("it is no state of a campaign's shard"));
  // The good ones count.
  const Ran both = Run("$VIGIL merge good bad");
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.out, HasSubstr("\n20 passed, 0 failed\n"));
  EXPECT_THAT(Run("$VIGIL merge nowhere").err, HasSubstr("'nowhere' cannot be merged: "));
  EXPECT_THAT(Run("mkdir empty; $VIGIL merge empty").err,
              HasSubstr("in 'empty' there is no file with the name x.state"));
  EXPECT_EQ(Run("$VIGIL merge").code, 2);
  EXPECT_THAT(Run("$VIGIL merge good --json good/1..20.state/x").err, HasSubstr("cannot write"));
}

TEST_F(MergeTest, AShardMayEndWithTheLastSeedThereIs) {
  const std::string seeds = "18446744073709551610..18446744073709551615";
  Shard("end", seeds, "");
  const Ran again = Run(fmt::format("$VIGIL check --suite random --seeds {0} --state end/{0}.state", seeds));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("\n6 passed, 0 failed\n")) << "done is done";
  const Ran merged = Run("$VIGIL merge end");
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_THAT(merged.out, HasSubstr(fmt::format("\n  seeds {}\n", seeds)));
}

TEST_F(MergeTest, NoReportOverwritesWhatItIsOf) {
  Shard("st", "1..20", "");
  folder_.Write("st/campaign.json", R"({"vigil campaign":1,"shards":1,"suites":{"random":[1,20]}})");
  EXPECT_EQ(Run("cp -r st before; ln -s 1..20.state st/link.state").code, 0);
  for (const char* const words :
       {"st/1..20.state --json st/1..20.state", "st --html ./st/1..20.state", "st --junit st/campaign.json",
        "st --json st/link.state", "before st --json st/1..20.state"}) {
    const Ran ran = Run(fmt::format("$VIGIL merge {}", words));
    EXPECT_EQ(ran.code, 2) << words;
    EXPECT_THAT(ran.err, HasSubstr("would overwrite what is read")) << words;
    EXPECT_EQ(Run("cmp st/1..20.state before/1..20.state && cmp st/campaign.json before/campaign.json").code, 0)
        << words;
  }
  EXPECT_EQ(Run("$VIGIL merge st --json st/report.json && test -s st/report.json").code, 0) << "beside them it may lie";
}

TEST_F(MergeTest, RefusesOverlapsAndOtherCampaigns) {
  Shard("over", "1..20", "");
  Shard("over", "11..30", "");
  const Ran over = Run("$VIGIL merge over");
  EXPECT_EQ(over.code, 2);
  EXPECT_THAT(over.err, HasSubstr("both hold a part of the other's seeds (random 1..20 and 11..30)"));
  if (Run("$VIGIL check --planted list").code != 0) return;
  Shard("planted", "21..40");
  Shard("calm", "1..20", "");
  EXPECT_THAT(Run("$VIGIL merge calm planted").err,
              HasSubstr("are of different campaigns: --plant '' and 'recovery.once_a_call'; merge each by itself"));
}

TEST_F(MergeTest, AStateIsOfOneShard) {
  Shard("one", "1..20", "");
  const Ran other = Run("$VIGIL check --suite random --seeds 1..30 --state one/1..20.state");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err,
              HasSubstr("the state file 'one/1..20.state' cannot be used: it was kept with the seeds 'random "
                        "1..20', not 'random 1..30'; name another file, or the same options"));
  for (const auto& [options, why] :
       {std::pair("--seeds 1..9", "--state: it needs --suite random, --suite cluster or both"),
        {"--suite recorded", "--state: it needs --suite random, --suite cluster or both"},
        {"--suite random --shard 1/2", "--state: not with --shard"},
        {"--suite random --time 1s", "--state: not with --time"}}) {
    const Ran misuse = Run(fmt::format("$VIGIL check {} --state x.state", options));
    EXPECT_EQ(misuse.code, 2) << options;
    EXPECT_THAT(misuse.err, HasSubstr(why));
  }
  EXPECT_THAT(Run("$VIGIL check --suite random --seeds 1..9 --state /dev/full").err, HasSubstr("cannot"));
}

}  // namespace
}  // namespace vigil::cli
