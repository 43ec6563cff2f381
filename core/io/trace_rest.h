// Where a trace may leave something out.
//
// A trace that has become too long keeps its beginning and its end (trace_writer.h). What lies between can be left out
// where the session is at rest on both sides: its user is in no call of it, nobody has asked it to stop, and its raw
// session is whole. Then the layer is in the same state before and behind the gap, but for the number of the raw
// session, and a replay that has come to the one side goes on at the other.
//
// Thread safety: none. A steady state allocates nothing.
#ifndef VIGIL_CORE_IO_TRACE_REST_H_
#define VIGIL_CORE_IO_TRACE_REST_H_

#include <cstdint>
#include <vector>

#include "vigil/core/base/event.h"

namespace vigil {

// Whether only the task that uses the session emits such events. The others may come from tasks of its queue runners,
// hooks and services.
bool IsOfTheUser(const Event& event);

class TraceRest {
 public:
  // A call of a supervisor that its user is in, with its arguments. (A monitored session at rest is in none.)
  struct OpenCall {
    EventKind kind;
    std::uint8_t call;
    std::int32_t index;
    double value;
    bool operator==(const OpenCall&) const = default;
  };

  // Each event, in order, with the number of the task that emitted it.
  void See(const Event& event, std::uint64_t task);

  // Between the last event and the next one.
  bool at_rest() const { return at_rest_; }
  // Two places of one trace are alike if both are at rest and these are equal.
  const std::vector<OpenCall>& open_calls() const { return open_calls_; }
  // The raw session in use; 0: none yet.
  std::int64_t session() const { return session_; }

 private:
  void Enter(const Event& event);
  void Leave(EventKind start, const Event& event);
  void SeeStop(const Event& event);
  bool InCallsOfSupervisorsOnly() const;

  bool at_rest_ = false;
  bool ends_ = false;      // something that the end will come of
  bool stopping_ = false;  // the coordinator of the raw session in use was asked to stop
  bool has_user_ = false;
  std::uint64_t user_ = 0;  // the task that used the session last
  std::int64_t session_ = 0;
  std::vector<OpenCall> open_calls_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_IO_TRACE_REST_H_
