#include "vigil/cli/sharded_campaign.h"

#include <gmock/gmock.h>

#include "fmt/format.h"

namespace vigil::cli {

bool ShardedCampaignTest::Becomes(const std::string& condition, int seconds) {
  return Run(fmt::format("for i in $(seq {}); do if {}; then exit 0; fi; sleep 0.2; done; exit 1", 5 * seconds,
                         condition))
             .code == 0;
}

std::string ShardedCampaignTest::Plant(const std::string& id) {
  return Run("$VIGIL check --planted list").code == 0 ? " --plant " + id : "";
}

void ShardedCampaignTest::ExpectWhatOneProcessFinds(const std::string& out, const std::string& plant) {
  EXPECT_EQ(
      Run(fmt::format("mkdir one; $VIGIL check --suite random --seeds 1..{} --jobs 2 --state one/a.state{} >one.txt",
                      kSeeds, plant))
          .code,
      plant.empty() ? 0 : 1);
  const std::string merge =
      "rm -rf failures; $VIGIL merge '{0}' --json '{0}.json' --junit '{0}.xml' --html '{0}.html' >'{0}.txt'";
  const Ran whole = Run(fmt::format(fmt::runtime(merge), "one"));
  const Ran shards = Run(fmt::format(fmt::runtime(merge), out));
  EXPECT_EQ(shards.code, whole.code) << shards.err;
  for (const char* const kind : {"txt", "json", "xml", "html"}) {
    EXPECT_EQ(folder_.Read(fmt::format("{}.{}", out, kind)), folder_.Read(fmt::format("one.{}", kind))) << kind;
  }
  EXPECT_THAT(folder_.Read(out + ".txt"), ::testing::HasSubstr(fmt::format("  seeds 1..{}\n", kSeeds)));
}

}  // namespace vigil::cli
