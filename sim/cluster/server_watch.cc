#include "vigil/sim/cluster/server_watch.h"

#include <array>
#include <cstddef>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/sim/cluster/queue_watch.h"
#include "vigil/sim/cluster/update_watch.h"

namespace vigil::sim {
namespace {

JobMoment MomentOf(const ServerWatch& watch, std::string_view server) {
  WatchedProcess process = watch.process(server);
  JobMoment moment;
  moment.at = watch.chronicle.Now();
  moment.task = std::move(process.task);
  moment.life = process.life;
  return moment;
}

void NoteWrite(const ServerWatch& watch, const LedgerWrite& write) {
  using Kind = JobMoment::Kind;
  constexpr std::array kKinds = {Kind::kApplied, Kind::kAssigned, Kind::kWritten, Kind::kStepMade, Kind::kStepSet};
  JobMoment moment = MomentOf(watch, write.server);
  moment.kind = kKinds[static_cast<std::size_t>(write.kind)];
  moment.step = write.value;
  moment.subject = write.replica;
  moment.checkpoint = write.checkpoint;
  moment.attempt = write.attempt;
  moment.began_before = moment.at - write.began;
  watch.chronicle.Add(std::move(moment));
}

std::function<void(const absl::Status&)> NoteQueueOp(const ServerWatch& watch, std::shared_ptr<const QueueOp> op) {
  JobMoment moment = MomentOf(watch, "");
  moment.kind = JobMoment::Kind::kQueueCalled;
  moment.step = watch.next_call();
  moment.queue = std::move(op);
  watch.chronicle.Add(moment);
  return [watch, moment = std::move(moment)](const absl::Status& status) {
    JobMoment end = moment;
    end.task = watch.process("").task;  // it may have been replaced since
    end.at = watch.chronicle.Now();
    end.kind = JobMoment::Kind::kQueueReturned;
    end.code = CodeOf(status);
    watch.chronicle.Add(std::move(end));
  };
}

}  // namespace

std::unique_ptr<OpRegistry> WatchServer(const OpRegistry& ops, const ServerWatch& watch) {
  const WriteSink written{.now = [watch] { return watch.chronicle.Now(); },
                          .told = [watch](const LedgerWrite& write) { NoteWrite(watch, write); }};
  const auto queued = [watch](std::shared_ptr<const QueueOp> op) { return NoteQueueOp(watch, std::move(op)); };
  return WatchQueues(*WatchUpdates(ops, written), queued);
}

}  // namespace vigil::sim
