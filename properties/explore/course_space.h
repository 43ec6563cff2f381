// A small job, and what becomes of it with faults at points of its course (course_faults.h): the plays that
// `vigil explore --crash-every` and `--guided` are about.
//
// Faults come in a chain: each falls at a point of the course that those before it have made.
// Thread safety: Prepare() belongs to one thread; the rest may be called from any once it has returned.
#ifndef VIGIL_PROPERTIES_EXPLORE_COURSE_SPACE_H_
#define VIGIL_PROPERTIES_EXPLORE_COURSE_SPACE_H_

#include <atomic>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/base/time.h"
#include "vigil/properties/explore/course_faults.h"
#include "vigil/replays/crew/crash.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/play/runner.h"

namespace vigil::sim {

// From one process to another (replays/crew/packed.h).
template <typename Archive>
void PackFields(Archive& archive, CoursePoint& point) {
  archive(point.at.kind, point.at.n, point.task, point.peer, point.what, point.request, point.time, point.number);
}

}  // namespace vigil::sim

namespace vigil::properties {

using FaultChain = std::vector<CourseFault>;

class CourseSpace {
 public:
  // REQUIRES: a job. What its plan says is left out, but for the links.
  explicit CourseSpace(replays::Scenario scenario);

  // Plays the job without faults, in a process of its own (jobs = 0: right here). Returns how it crashed, or nothing.
  // USAGE: it breaks a rule, or does not come to its end. Nothing is there if it crashed or `stop` was set meanwhile.
  absl::StatusOr<std::optional<replays::Crash>> Prepare(int jobs, const replays::PlayLimits& limits,
                                                        const std::atomic<bool>& stop);
  const replays::Scenario& scenario() const { return scenario_; }
  // Without faults.
  const sim::CourseLog& course() const { return course_; }
  // That can fall there.
  const std::vector<CourseFault>& firsts() const { return firsts_; }

  // The job with these faults; they heal soon after the last one.
  replays::Scenario With(const FaultChain& chain) const;
  // Of a course with that chain: what comes after its last fault. None if that was never reached.
  static sim::CourseLog After(const FaultChain& chain, sim::CourseLog course);
  // Those that can follow the chain, found by playing it; none if `stop` was set meanwhile.
  std::vector<CourseFault> Next(const FaultChain& chain, replays::Runner& runner, const std::atomic<bool>& stop) const;

 private:
  replays::Scenario scenario_;
  Duration begin_{0};  // since the start of the world: when the times of a plan begin
  sim::CourseLog course_;
  std::vector<CourseFault> firsts_;
};

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_EXPLORE_COURSE_SPACE_H_
