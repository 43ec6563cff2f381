#include "vigil/sim/kernel/trace.h"

#include "vigil/core/base/check.h"

namespace vigil::sim {

Trace::Trace() {
  nodes_.Intern("");
  tasks_.Intern("");
}

void Trace::Append(std::uint32_t node, std::uint32_t task, Time time, const Event& event) {
  VIGIL_CHECK(records_.empty() || records_.back().time.since_epoch <= time.since_epoch);  // time does not go back
  TraceRecord& record = records_.emplace_back(TraceRecord{node, task, time, event});
  record.event.subject = event.subject.empty() ? std::string_view() : subjects_.At(subjects_.Intern(event.subject));
}

}  // namespace vigil::sim
