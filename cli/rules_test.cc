// `vigil rules` as its users meet it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "vigil/cli/run_program.h"

namespace vigil::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class RulesTest : public ::testing::Test {
 protected:
  Ran Run(const std::string& command) { return RunShell(folder_.path(), command); }
  TemporaryFolder folder_;
};

TEST_F(RulesTest, ListsRulesAndInvariants) {
  const Ran ran = Run("$VIGIL rules");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, AllOf(StartsWith("begin.then_finalize_then_create "), HasSubstr("\nend.only_on_clean_exit "),
                             HasSubstr("\nupdates.exactly_once "), HasSubstr("\njob.node_rules ")));
}

TEST_F(RulesTest, ShowsOneInFullWithARunThatBreaksIt) {
  const Ran ran = Run("$VIGIL rules order.end");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, StartsWith("order.end\n  end is called in list order, not in reverse.\n  documented: "));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("\n  recorded: lifecycle_two_hooks close_inside_with_monitored\n"),
                             HasSubstr("\n  found by planting: hooks.end_reversed\n"),
                             HasSubstr("\n    * hook number 2 end session=1\n"), HasSubstr("\n    expected  ")));
}

TEST_F(RulesTest, WritesJson) {
  const Ran ran =
      Run("$VIGIL rules order.end recovery.bounded --json | python3 -c \"import json, sys; "
          "print([(r['id'], r['kind']) for r in json.load(sys.stdin)['rules']])\"");
  EXPECT_EQ(ran.out, "[('order.end', 'rule'), ('recovery.bounded', 'invariant')]\n");
}

TEST_F(RulesTest, SaysWhatARuleIsNeededFor) {
  EXPECT_THAT(Run("$VIGIL rules graph.frozen_in_use").out, HasSubstr("\n  stays because: begin.then_finalize"));
  const Ran ran =
      Run("$VIGIL rules order.end graph.frozen_in_use --json | python3 -c \"import json, sys; "
          "print([(r['planted'], 'stays' in r) for r in json.load(sys.stdin)['rules']])\"");
  EXPECT_EQ(ran.out, "[(['hooks.end_reversed'], False), ([], True)]\n");
}

TEST_F(RulesTest, TellsMisuse) {
  const Ran unknown = Run("$VIGIL rules order.end nothing.such");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.out, "");
  EXPECT_THAT(unknown.err, HasSubstr("error: no rule is called 'nothing.such'\n"));
  for (const char* const words : {"--json --markdown", "order.end --markdown", "nothing.such --judges", "--fields x"}) {
    EXPECT_EQ(Run(std::string("$VIGIL rules ") + words).code, 2) << words;
  }
  EXPECT_EQ(Run("$VIGIL rules >/dev/full").code, 2);
}

}  // namespace
}  // namespace vigil::cli
