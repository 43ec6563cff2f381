// What happened in a world, as typed events with their node, task and virtual time. Text is made elsewhere (replays/).
//
// Thread safety: none.
#ifndef VIGIL_SIM_KERNEL_TRACE_H_
#define VIGIL_SIM_KERNEL_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "vigil/core/base/event.h"
#include "vigil/core/base/time.h"
#include "vigil/sim/kernel/names.h"

namespace vigil::sim {

struct TraceRecord {
  std::uint32_t node = 0;
  std::uint32_t task = 0;
  Time time;    // the world's, whatever the node's own clock says
  Event event;  // its subject lives as long as the trace
};

// Movable, not copyable: records point into the table of subjects.
class Trace {
 public:
  // A record of the event with its own copy of the subject.
  void Append(std::uint32_t node, std::uint32_t task, Time time, const Event& event);

  std::span<const TraceRecord> records() const { return records_; }
  auto begin() const { return records_.begin(); }
  auto end() const { return records_.end(); }
  std::size_t size() const { return records_.size(); }
  bool empty() const { return records_.empty(); }
  const TraceRecord& operator[](std::size_t i) const { return records_[i]; }

  // "chief"; "" for what no node emitted.
  std::string_view NodeName(const TraceRecord& record) const { return nodes_.At(record.node); }
  // "chief/main"; "" for what was emitted outside of every task.
  std::string_view TaskLabel(const TraceRecord& record) const { return tasks_.At(record.task); }

  // Numbers for Append; number 0 is "" in both tables.
  std::uint32_t AddNode(std::string_view name) { return nodes_.Intern(name); }
  std::uint32_t AddTask(std::string_view label) { return tasks_.Intern(label); }

  Trace();

 private:
  std::vector<TraceRecord> records_;
  Names subjects_;
  Names nodes_;
  Names tasks_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_KERNEL_TRACE_H_
