// Whether many plays of a job take each way as often as the real clusters did that were recorded play by play.
//
// For each task and each thing that its plays may differ in: what falls into kinds (how it ended, how many sessions,
// which failures) is compared by Fisher's exact test, amounts (seconds, steps) by that of Kolmogorov and Smirnov
// (exact_tests.h). Amounts that lie closer together than a stated slack count as equal: a machine's speed is not what
// is compared, and so not how long a first session takes to open, on which nothing hangs. All tests of one scenario
// together are held to kFrequencyLevel by Holm's method: of a hundred scenarios in which nothing differs one is
// reported.
//
// Thread safety: pure functions. Source: replays/cluster/README.md.
#ifndef VIGIL_REPLAYS_JUDGE_FREQUENCIES_H_
#define VIGIL_REPLAYS_JUDGE_FREQUENCIES_H_

#include <span>
#include <string>
#include <vector>

#include "vigil/replays/format/job_expectation.h"

namespace vigil::replays {

inline constexpr double kFrequencyLevel = 0.01;

// How often each way was taken in one respect.
struct Frequency {
  std::string task;
  std::string field;     // of TaskPlay, as the recordings call it
  std::string recorded;  // "2: 10 of 12, 3: 2 of 12"; of amounts "3.9 to 4.2, half up to 4"
  std::string seen;
  double p = 1;
};

// Of every task that was recorded, in order. Empty where either is.
std::vector<Frequency> Frequencies(const std::vector<JobPlay>& recorded, const std::vector<JobPlay>& seen);

// Those that differ: "worker:0 sessions: recorded 2: 10 of 12, 3: 2 of 12; seen 3: 200 of 200 (p = 2e-09)".
std::vector<std::string> TooDifferent(std::span<const Frequency> frequencies);

// JSON, a list; "" of none.
std::string PrintFrequencies(std::span<const Frequency> frequencies);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_JUDGE_FREQUENCIES_H_
