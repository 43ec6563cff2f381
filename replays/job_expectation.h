// What real TensorFlow clusters did in several plays of one scenario, as sets and ranges; and whether a play in the simulator is
// one that they could have made.
//
// Outcomes and codes are among those recorded, counts and amounts within the recorded range. What may differ all the same, by how much
// and why, stands in one table (tolerances.h; as a document docs/judges.md). Where the recordings show two ways, several plays
// together must show both (JobCoverage).
//
// Thread safety: data and pure functions. Source: replays/cluster/README.md.
#ifndef VIGIL_REPLAYS_JOB_EXPECTATION_H_
#define VIGIL_REPLAYS_JOB_EXPECTATION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/sim/cluster/job_facts.h"
#include "vigil/sim/cluster/job_spec.h"

namespace vigil::replays {

template <typename T>
struct Span {
  T least{};
  T most{};
  friend bool operator==(const Span&, const Span&) = default;
};

struct TaskExpectation {
  std::vector<std::string> outcome;
  Span<std::int64_t> sessions;
  std::vector<Code> run_failed;
  Span<std::int64_t> run_failed_times;
  std::vector<Code> create_failed;
  Span<std::int64_t> create_failed_times;
  Span<std::int64_t> step_back_silent_times;
  std::optional<Span<std::int64_t>> step_back_silent;
  Span<std::int64_t> step_back_recovered_times;
  std::optional<Span<std::int64_t>> step_back_recovered;
  Span<double> longest_run_s;
  std::optional<Span<double>> opened_after_s;  // absent: it never opened one
  std::optional<Span<std::int64_t>> last_step;
  Span<std::int64_t> hook_end;
  std::vector<std::string> texts;  // for reading only
  friend bool operator==(const TaskExpectation&, const TaskExpectation&) = default;
};

struct JobExpectation {
  std::map<std::string, TaskExpectation, std::less<>> tasks;
  std::optional<Span<std::int64_t>> newest_checkpoint;  // null: there was none
  std::int64_t repeats = 0;
  friend bool operator==(const JobExpectation&, const JobExpectation&) = default;
};

// What does not hold, a line each: "worker:0 sessions: recorded 2 to 2, seen 3". Empty: it holds.
std::vector<std::string> Misses(const sim::JobSpec& job, const sim::JobFacts& seen, const JobExpectation& recorded);

// Which of the recorded ways several plays took: outcomes, and where a count is recorded as 0 and as more.
class JobCoverage {
 public:
  void Add(const sim::JobFacts& seen, const JobExpectation& recorded);
  // Recorded ways that no play took: "worker:0 step_back_recovered: recorded with and without, seen always without".
  std::vector<std::string> Missing(const JobExpectation& recorded) const;

 private:
  std::set<std::string> seen_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_JOB_EXPECTATION_H_
