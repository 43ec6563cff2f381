// The faults that can fall at the points of a job's course (sim/course.h), one by one, and small jobs to put them into.
//
// At a message that is sent: its sender restarts or loses power, the link is cut; of a request also that its reply is
// lost. At one that has arrived: the same of its receiver and the link. Before an operation on a file: its task
// restarts or loses power. What restarts is back after two seconds, a link after five.
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_EXPLORE_COURSE_FAULTS_H_
#define VIGIL_PROPERTIES_EXPLORE_COURSE_FAULTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/replays/format/scenario.h"
#include "vigil/sim/course.h"
#include "vigil/sim/faults/fault_plan.h"

namespace vigil::properties {

struct CourseFault {
  enum class Kind : std::uint8_t { kRestart, kPowerCut, kCut, kLostReply };
  Kind kind = Kind::kRestart;
  sim::CoursePoint point;
};
inline constexpr std::size_t kCourseFaultKinds = static_cast<std::size_t>(CourseFault::Kind::kLostReply) + 1;

std::string_view CourseFaultName(CourseFault::Kind kind);      // "restart", "power_cut", ...
std::string_view CoursePointName(sim::FaultPoint::Kind kind);  // "sent", "delivered", "file_op"
std::string NameOf(const CourseFault& fault);                  // "sent_17_power_cut"

// In the order of the course.
std::vector<CourseFault> FaultsOf(const sim::CourseLog& course);
void AddTo(sim::FaultPlan& plan, const CourseFault& fault);

// Jobs that are over after some hundred messages.
struct SmallJobInfo {
  std::string_view name;
  std::string_view what;
};
std::span<const SmallJobInfo> SmallJobs();
std::optional<replays::Scenario> SmallJobOf(std::string_view name);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_EXPLORE_COURSE_FAULTS_H_
