// The course of a world, counted: messages between nodes and operations on files, since its start. What is to happen at
// the n-th of them is called there and then; what the n-th was can be written down.
//
// A course without faults is the same each time, so that the n-th point of one play is the n-th of the next, up to the
// first fault. What a node sends to itself is no message here; what the network tells by itself (a connection is gone)
// neither.
// Thread safety: none; belongs to its world.
#ifndef VIGIL_SIM_COURSE_H_
#define VIGIL_SIM_COURSE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/time.h"
#include "vigil/sim/faults/fault_plan.h"
#include "vigil/sim/kernel/scheduler.h"

namespace vigil::sim {

// What the n-th point of its kind was.
struct CoursePoint {
  FaultPoint at;
  std::string task;         // who sends, who gets it, whose operation it is
  std::string peer = {};    // of a message: the other end
  std::string what = {};    // the method of the call, or the operation and its path
  bool request = false;     // of a message: it asks for something
  Duration time{0};         // since the start of the world
  std::int64_t number = 0;  // of a request that is sent: which of those from `task` to `peer` it is, from 1
};
using CourseLog = std::vector<CoursePoint>;

class Course {
 public:
  // Borrowed.
  explicit Course(Scheduler& scheduler) : scheduler_(scheduler) {}

  // `what` is called when it happens: to a message that is sent, when it is on its way; to one that is delivered, when
  // its receiver has it and has not done anything about it; to an operation, before it has any effect. It may kill
  // nodes (Node::KillSoon), and may not block.
  void At(const FaultPoint& point, std::function<void()> what);
  void Clear() { waiting_.clear(); }
  // From now on points are written there; null: nowhere.
  void LogTo(CourseLog* log) { log_ = log; }

  // For the network and the disks.
  void Sent(std::string_view from, std::string_view to, std::string_view method, bool request);
  void Delivered(std::string_view to, std::string_view from, std::string_view method, bool request);
  void FileOp(std::string_view task, std::string_view op, std::string_view path);
  bool logs() const { return log_ != nullptr; }

 private:
  using Kind = FaultPoint::Kind;
  // The next of its kind; what waits for it is called.
  void Pass(Kind kind, CoursePoint point);

  Scheduler& scheduler_;
  std::array<std::int64_t, kFaultPointKinds> counts_{};
  std::multimap<FaultPoint, std::function<void()>> waiting_;
  std::map<std::pair<std::string, std::string>, std::int64_t> requests_;  // for the log
  CourseLog* log_ = nullptr;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_COURSE_H_
