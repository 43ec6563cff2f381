#include "vigil/core/train/supervisor/supervisor_trace.h"

#include "vigil/core/base/code.h"
#include "vigil/core/io/trace.pb.h"
#include "vigil/core/train/session_trace.h"

namespace vigil {
namespace {

proto::TraceSupervisor::Writer WriterOf(const SupervisorOptions& options, const SummaryWriterPtr& writer) {
  if (writer == nullptr) return proto::TraceSupervisor::NO_WRITER;
  return options.summary_writer.given() ? proto::TraceSupervisor::GIVEN_WRITER : proto::TraceSupervisor::OWN_WRITER;
}

proto::TraceSupervisor::Saver SaverOf(const SaverPtr& saver) {
  if (saver == nullptr) return proto::TraceSupervisor::NO_SAVER;
  return saver->has_nothing_to_save() ? proto::TraceSupervisor::EMPTY_SAVER : proto::TraceSupervisor::SAVER;
}

Event WithWait(Event event, const std::optional<Duration>& wait) {
  event.has_value = wait.has_value();
  event.value = ToSeconds(wait.value_or(Duration::zero()));
  return event;
}

std::int32_t Flag(bool on, std::int32_t flag) { return on ? flag : 0; }

}  // namespace

proto::TraceHeader TraceHeaderOf(const SupervisorOptions& options, const SupervisorModel& model,
                                 const SummaryWriterPtr& writer, const Graph& graph) {
  proto::TraceHeader header;
  header.set_kind(proto::TraceHeader::SUPERVISOR);
  header.set_is_chief(options.is_chief);
  AddBehaviour(options.behaviour, header);
  header.set_stop_grace_period_ns(options.stop_grace_secs.count());
  header.set_has_checkpoint_dir(!options.logdir.empty());
  header.set_has_init_fn(options.init_fn != nullptr);
  header.set_graph_is_finalized(graph.finalized());
  proto::TraceSupervisor& out = *header.mutable_supervisor();
  out.set_recovery_wait_ns(options.recovery_wait_secs.count());
  out.set_writer(WriterOf(options, writer));
  out.set_saver(SaverOf(model.saver));
  out.set_has_init_op(model.init_op.has_value());
  out.set_has_local_init_op(model.local_init_op.has_value());
  out.set_has_ready_op(model.ready_op.has_value());
  out.set_has_ready_for_local_init_op(model.ready_for_local_init_op.has_value());
  out.set_has_global_step(model.global_step.has_value());
  return header;
}

Event CallOf(SupervisorMethod method, const SessionPtr& session) {
  return {.kind = EventKind::kSupervisorCall,
          .call = static_cast<std::uint8_t>(method),
          .session = session == nullptr ? 0 : session->number()};
}

Event CallOf(const PrepareSessionOptions& options) {
  Event event = WithWait(CallOf(SupervisorMethod::kPrepare), options.max_wait_secs);
  event.index = Flag(options.start_standard_services, kSupervisorStartsServices) |
                Flag(options.wait_for_checkpoint, kSupervisorWaitsForCheckpoint);
  return event;
}

Event CallOf(const ManagedSessionOptions& options) {
  Event event = WithWait(CallOf(SupervisorMethod::kManagedSession), options.max_wait_secs);
  event.index = Flag(options.start_standard_services, kSupervisorStartsServices) |
                Flag(options.close_summary_writer, kSupervisorClosesWriter);
  return event;
}

Event CallOf(const StopOptions& options) {
  Event event = CallOf(SupervisorMethod::kStop);
  event.index = Flag(options.close_summary_writer, kSupervisorClosesWriter) |
                Flag(options.ignore_live_tasks, kSupervisorIgnoresLiveTasks);
  return event;
}

Event ReturnOf(SupervisorMethod method, const absl::Status& status) {
  return {.kind = EventKind::kSupervisorReturn, .code = CodeOf(status), .call = static_cast<std::uint8_t>(method)};
}

}  // namespace vigil
