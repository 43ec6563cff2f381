// The campaign behind `vigil check --planted`: turns one planted bug on, plays the suite where it must show until
// something is found, and compares what found it with what the registry says.
//
// For each bug the seeds are played in order from the first one on, each scenario twice (by chance, then by its
// choices), each job once. After the first finding it goes on for a while, to learn which rules find the bug at all: a
// rule is needed if some bug is found by nothing else. If asked to, it shrinks the first finding of each.
// Thread safety: the switches of planted bugs belong to the process: one campaign at a time, and nothing else beside
// it.
#ifndef VIGIL_PROPERTIES_PLANTED_CAMPAIGN_H_
#define VIGIL_PROPERTIES_PLANTED_CAMPAIGN_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/time.h"
#include "vigil/properties/planted/registry.h"

namespace vigil::properties {

// False in a release: then RunPlanted refuses.
bool PlantedBugsAreBuilt();
absl::Status CheckPlantedBugsAreBuilt();  // USAGE that says what to do

// A planted bug that is on as long as this lives.
class PlantedBugScope {
 public:
  explicit PlantedBugScope(std::string_view id);
  ~PlantedBugScope();
  PlantedBugScope(const PlantedBugScope&) = delete;
  PlantedBugScope& operator=(const PlantedBugScope&) = delete;
  const bool known;  // else nothing is on
};

struct PlantedOptions {
  std::vector<std::string> ids;  // none = all
  std::uint64_t scenarios = 10000;
  std::uint64_t seeds = 6000;  // of jobs
  // After the first finding at N: so many times N further ones, and at least so many, within the budget.
  std::uint64_t further_times = 1;
  std::uint64_t further_scenarios = 100;
  std::uint64_t further_seeds = 10;
  int jobs = 1;
  std::optional<PlantedSuite> suite;  // instead of each bug's own
  // Not null: each first finding is shrunk, by this clock.
  std::function<Time()> now;
};

// How long the first finding of one bug may be shrunk, and how small it must get: that many elements in the median.
inline constexpr std::chrono::seconds kLongestShrinkingOfABug{60};
inline constexpr std::uint64_t kMostElements = 3;

// The least that shows a bug by the same rule. Sizes are counted by Elements() (properties/shrink/shrink.h): hooks,
// faults (of a cluster: entries of the plan) and statements; nodes of a cluster are not.
struct PlantedShrunk {
  std::string rule;
  std::size_t before = 0;
  std::size_t after = 0;
  std::uint64_t plays = 0;
  Duration took{0};
  bool minimal = false;  // else the time was over, or it is not shown by the choices that were made
  std::string story;
  std::string scenario;  // one line of JSON, without choices
};

struct PlantedFinding {
  const PlantedBug* bug = nullptr;
  std::uint64_t first = 0;                        // seed of the first finding; 0 = there was none
  std::vector<std::string> rules;                 // that the first finding violates, in the order of reports
  std::string text;                               // of the first finding: what was expected and seen
  std::map<std::string, std::uint64_t> found_by;  // rule: failing scenarios, of all that were played
  std::vector<std::string> only_by;  // the one rule without which it would not have been found; at most one
  bool as_expected = false;          // the first finding violates one of the rules of the registry
  std::optional<PlantedShrunk> shrunk;
};

// Of the first finding; nothing if no rule found it. The bug is on.
std::optional<PlantedShrunk> ShrinkFinding(const PlantedFinding& finding, const std::function<Time()>& now,
                                           const std::atomic<bool>& stop);

struct PlantedReport {
  std::vector<PlantedFinding> findings;  // in the order of the registry
  bool stopped = false;
  std::uint64_t missed() const;  // not found, or found by another rule
  // Scenarios to the first finding, of those that were found; 0 = none was.
  std::uint64_t Median() const;
  std::uint64_t Worst() const;
  // Elements of what was shrunk; 0 = nothing was.
  std::uint64_t MedianSize() const;
  std::uint64_t WorstSize() const;
  std::uint64_t too_slow() const;  // took longer than kLongestShrinkingOfABug
  bool passed() const;
};

// Every rule and invariant, with the bugs that nothing else finds and the number of those that it finds at all.
struct RuleNeed {
  std::string rule;
  std::vector<std::string> only;
  std::uint64_t finds = 0;
  std::string_view stays;  // why it stays though no bug needs it; "" = nothing is said
};
std::vector<RuleNeed> RuleNeeds(const PlantedReport& report);
// Of all bugs: the rules that can be taken out without losing one of them and that do not say why they stay.
std::vector<std::string> NeededByNothing(const PlantedReport& report);

// Both may be null; called on the caller's thread.
struct PlantedCallbacks {
  std::function<void(const PlantedFinding&)> on_bug;  // when it has been played
  std::function<void()> on_tick;                      // a few times a second
};

// USAGE for an unknown id, in a build without planted bugs, and for a suite together with `now`. `stop` may be set at
// any time.
absl::StatusOr<PlantedReport> RunPlanted(const PlantedOptions& options, const PlantedCallbacks& callbacks,
                                         const std::atomic<bool>& stop);

// For people, and as one JSON document.
std::string PlantedLine(const PlantedFinding& finding);
std::string PlantedText(const PlantedReport& report);
std::string PlantedJson(const PlantedReport& report);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_PLANTED_CAMPAIGN_H_
