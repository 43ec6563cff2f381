// Two runs beside each other, up to where they part.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_CAMPAIGN_RUN_DIFF_H_
#define VIGIL_PROPERTIES_CAMPAIGN_RUN_DIFF_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/replays/play/runner.h"

namespace vigil::properties {

inline constexpr std::size_t kDiffContext = 5;  // lines before the first difference, and from it on

struct RunDiff {
  bool same = false;
  std::size_t lines = 0;            // that both begin with
  std::vector<std::string> before;  // the last of those
  // From the first line that differs on; empty: that run has ended. Both empty: what differs is in no line, see
  // `detail`.
  std::vector<std::string> first;
  std::vector<std::string> second;
  std::string detail;  // FirstDifference() (play_twice.h); "" if they are the same
};

// REQUIRES: both have their timeline.
RunDiff CompareRuns(const replays::Outcome& first, const replays::Outcome& second);

// In two columns, every line with its newline. The names go above the columns.
std::string RunDiffText(const RunDiff& diff, std::string_view first, std::string_view second);
// {"same":..,"lines":..,"first":{"name":..,"lines":[..]},"second":{..},"before":[..],"detail":".."}
std::string RunDiffJson(const RunDiff& diff, std::string_view first, std::string_view second);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_CAMPAIGN_RUN_DIFF_H_
