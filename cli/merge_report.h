// What `vigil merge` says, as text, JSON and as a page. Nothing in it tells how the campaign was cut up.
//
// Thread safety: pure functions.
#ifndef VIGIL_CLI_MERGE_REPORT_H_
#define VIGIL_CLI_MERGE_REPORT_H_

#include <string>
#include <vector>

#include "vigil/properties/campaign/merge_states.h"

namespace vigil::cli {

// Findings, each with its replay line; then what `vigil check` says in the end, with what was reached.
std::string MergeText(const properties::CampaignReport& report);

// {"version","plant","player","missing":[{"suite","first","last"}],"reached":{SUITE:{"traces","pairs","curve":[[SEEDS,
// PAIRS],..],"new_in_second_half"}},"findings":[{"rule","shape","id","file","replay","others":[..]}],"check":{..}}, the
// last as vigil check --json.
std::string MergeJson(const properties::CampaignReport& report);

// A page without scripts that needs nothing beside it.
std::string MergeHtml(const properties::CampaignReport& report);

// Of a campaign that was played in one piece.
properties::CheckOptions OptionsOf(const properties::CampaignReport& report);
// The first failure of each finding.
std::vector<properties::CheckFailure> FailuresOf(const properties::CampaignReport& report);
// "random: seeds 1001..2000 are missing".
std::string MissingText(const properties::MissingSeeds& missing);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_MERGE_REPORT_H_
