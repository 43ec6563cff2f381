// What a campaign has met so far: how often each rule was armed and violated, how often a fault took effect at each
// seam, and what the scenarios were like.
//
// Thread safety: none; there is one for each scenario, and they are added up.
#ifndef VIGIL_PROPERTIES_JUDGE_TALLY_H_
#define VIGIL_PROPERTIES_JUDGE_TALLY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "vigil/properties/judge/model_comparison.h"
#include "vigil/properties/rules/rules.h"

namespace vigil::properties {

struct Tally {
  Tally();
  void Add(const replays::Outcome& outcome, const Judgement& judgement);
  void Add(const Tally& other);
  // Of scenarios that are not counted otherwise; `broken`: by the rule's id.
  void AddRules(const std::vector<std::uint64_t>& times_armed, const std::map<std::string, std::uint64_t>& broken);
  // What the reference model said of a scenario.
  void Add(const ModelComparison& says);
  // A scenario counts once for each: "recovery", "clean end", "unclean end", "stop", ...
  double Share(const std::string& feature) const;

  std::uint64_t scenarios = 0;
  std::vector<std::uint64_t> armed;               // of each rule of AllRules()
  std::vector<std::uint64_t> violated;            // scenarios
  std::map<std::string, std::uint64_t> fired;     // failures at a seam: "create", "run", "hook before_run", ...
  std::map<std::string, std::uint64_t> features;  // scenarios that have it
  std::uint64_t modelled = 0;                     // scenarios of which the reference model said something
  std::map<std::string, std::uint64_t> refused;   // what it does not model: how many scenarios
};

// From one process to another (replays/crew/packed.h).
template <typename Archive>
void PackFields(Archive& archive, Tally& tally) {
  archive(tally.scenarios, tally.armed, tally.violated, tally.fired, tally.features, tally.modelled, tally.refused);
}

// The seams at which random scenarios can fail.
std::vector<std::string> Seams();

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_JUDGE_TALLY_H_
