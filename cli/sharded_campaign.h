// What tests of campaigns on engines of this machine have in common: a folder, commands that see the engine, and that
// the shards come to what one process does.
#ifndef VIGIL_CLI_SHARDED_CAMPAIGN_H_
#define VIGIL_CLI_SHARDED_CAMPAIGN_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "vigil/cli/run_program.h"

namespace vigil::cli {

class ShardedCampaignTest : public ::testing::Test {
 protected:
  static constexpr int kSeeds = 24'000;

  // `environment`: shell commands that come before each other one.
  explicit ShardedCampaignTest(std::string environment) : environment_(std::move(environment)) {}

  Ran Run(const std::string& command) { return RunShell(folder_.path(), environment_ + command); }
  // A condition of the shell that comes true within a time.
  bool Becomes(const std::string& condition, int seconds);
  // "--plant ID", with a blank before it, where the program has planted bugs.
  std::string Plant(const std::string& id);
  // Plays seeds 1..kSeeds in one process, merges that and the campaign in the folder `out`: the same bytes.
  void ExpectWhatOneProcessFinds(const std::string& out, const std::string& plant);

  TemporaryFolder folder_;

 private:
  const std::string environment_;
};

}  // namespace vigil::cli

#endif  // VIGIL_CLI_SHARDED_CAMPAIGN_H_
