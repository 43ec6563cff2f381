// The planted bugs (README.md beside this file): what each of them is, and which rule must find it.
//
// The list is made of the files in bugs/, with which the bugs are planted, too. The rule that finds a bug was written
// down before it was played: named by what the rule promises, not by what was seen. Thread safety: data.
#ifndef VIGIL_PROPERTIES_PLANTED_REGISTRY_H_
#define VIGIL_PROPERTIES_PLANTED_REGISTRY_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vigil::properties {

// Where it must show: in random scenarios of one session, or in jobs of a cluster.
enum class PlantedSuite { kRandom, kCluster };

// What must come together before it shows.
inline constexpr unsigned kNeedsRecovery = 1;
inline constexpr unsigned kNeedsTwoFaults = 2;
inline constexpr unsigned kNeedsCluster = 4;

// A finding that is no rule's: a run that was played again by its own choices went another way.
inline constexpr std::string_view kSameChoicesSameHash = "run.same_choices_same_hash";
// Another one: nobody can run any more, or it goes on for ever.
inline constexpr std::string_view kComesToAnEnd = "run.comes_to_an_end";

struct PlantedBug {
  std::string_view id;
  std::string_view where;    // the file; of several the first
  std::string_view mistake;  // one line
  unsigned needs = 0;        // kNeeds... together
  std::string_view rules;    // rules or invariants, separated by spaces: one of them must find it
  PlantedSuite suite = PlantedSuite::kRandom;
  // The switch of Behaviour that is off in the jobs: what is taken back is a second line of defence behind it.
  std::string_view without = "";
  // Built-in hooks trust what this bug breaks, and end the process: it is shown to probes alone.
  bool probes_only = false;
  bool takes_back_a_measure = false;  // one of the five measures that make a cluster robust

  std::vector<std::string_view> Rules() const;
  std::string NeedsText() const;  // "recovery, cluster"; "" = nothing
};

std::span<const PlantedBug> PlantedBugs();  // by id

// The bugs that this rule or invariant must find, alone or as one of several.
std::vector<const PlantedBug*> BugsThatMustBeFoundBy(std::string_view rule);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_PLANTED_REGISTRY_H_
