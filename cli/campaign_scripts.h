// What the engines of a campaign want: files as text. The same options give the same text.
//
// Thread safety: pure functions.
#ifndef VIGIL_CLI_CAMPAIGN_SCRIPTS_H_
#define VIGIL_CLI_CAMPAIGN_SCRIPTS_H_

#include <map>
#include <string>

#include "vigil/cli/campaign_plan.h"

namespace vigil::cli {

enum class Engine { kSlurm, kKubernetes, kParallel };

struct CampaignScripts {
  Engine engine = Engine::kParallel;
  CampaignPlan plan;
  std::string folder;          // of the campaign, absolute
  std::string program;         // vigil, as the shards' machines know it
  std::string plant = {};      // the planted bug that is on; "" = none
  std::string name = "vigil";  // of the job: a word of lower-case letters, digits and '-'
  int jobs = 1;                // processes of each shard
  std::string hosts = {};      // of parallel: a file of ssh logins; "" = this machine
  std::string image = {};      // of Kubernetes
  std::string claim = {};      // of Kubernetes: the claim of the volume that the shards share
};

// By name, in the folder: the plan, shards.txt (a line for each shard: its name, suite and seeds), shard.sh, which
// plays one of them, and what the engine is given.
std::map<std::string, std::string> FilesOfCampaign(const CampaignScripts& scripts);
// How many lines shards.txt has.
std::uint64_t CountShards(const CampaignPlan& plan);
// A shell command that starts what was written into that folder.
std::string SubmitCommand(Engine engine, const std::string& folder);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_CAMPAIGN_SCRIPTS_H_
