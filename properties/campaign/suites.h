// The suites of a campaign: the one table of their names, for `vigil check` and its reports. What each does: check.h.
//
// Thread safety: constants; a pure function.
#ifndef VIGIL_PROPERTIES_CAMPAIGN_SUITES_H_
#define VIGIL_PROPERTIES_CAMPAIGN_SUITES_H_

#include <algorithm>
#include <string_view>

namespace vigil::properties {

struct SuiteInfo {
  std::string_view name;
  std::string_view what;  // one line for --help
  // Its scenarios are made from seeds; played twice, by chance and by the choices made, where there are any.
  bool is_drawn = false;
  bool plays_alone = false;
};

namespace suites {

inline constexpr SuiteInfo kSaved = {"saved", "what failed before and lies in the folder of failures: mended or not"};
inline constexpr SuiteInfo kRecorded = {"recorded", "what TensorFlow was recorded to do, compared event by event"};
inline constexpr SuiteInfo kRegressions = {
    "regressions", "what each switch of the behaviour changes, by TensorFlow's behaviour and by ours"};
inline constexpr SuiteInfo kRandom = {
    "random", "a random scenario of faults for each seed, under a random schedule, played twice", /*is_drawn=*/true};
inline constexpr SuiteInfo kExplore = {
    "explore", "every scenario of a small scope, by the library and by the reference model (vigil explore)"};
inline constexpr SuiteInfo kCluster = {
    "cluster", "a random job of a whole cluster for each seed, with faults of every kind, played twice",
    /*is_drawn=*/true};
inline constexpr SuiteInfo kRealCluster = {
    "real-cluster", "a random job for each seed by processes of this machine, killed and cut off, in real time",
    /*is_drawn=*/true, /*plays_alone=*/true};
inline constexpr SuiteInfo kPlanted = {
    "planted", "the harness itself: each planted bug must be found by its rule; the same as --planted all",
    /*is_drawn=*/false, /*plays_alone=*/true};

}  // namespace suites

// In the order in which they play.
inline constexpr SuiteInfo kSuites[] = {suites::kSaved,   suites::kRecorded, suites::kRegressions, suites::kRandom,
                                        suites::kExplore, suites::kCluster,  suites::kRealCluster, suites::kPlanted};

inline bool IsDrawn(std::string_view suite) {
  return std::ranges::any_of(kSuites, [suite](const SuiteInfo& each) { return each.name == suite && each.is_drawn; });
}

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_CAMPAIGN_SUITES_H_
