#include "vigil/core/train/session_trace.h"

#include <memory>
#include <utility>

#include "vigil/core/base/spin_lock.h"
#include "vigil/core/io/trace.pb.h"

namespace vigil {
namespace {

class TraceWriters {
 public:
  TraceWriter* Keep(std::unique_ptr<TraceWriter> writer) {
    SpinGuard guard(lock_);
    return writers_.emplace_back(std::move(writer)).get();
  }

 private:
  SpinLock lock_;
  std::vector<std::unique_ptr<TraceWriter>> writers_;
};
constexpr SlotKey<TraceWriters> kTraceWriters{"traces of sessions"};

}  // namespace

TraceWriter* NewSessionTrace(const Env& env, const std::string& path) {
  if (path.empty()) return nullptr;
  return env.process->Slot(kTraceWriters).Keep(std::make_unique<TraceWriter>(env));
}

void AddBehaviour(const Behaviour& behaviour, proto::TraceHeader& header) {
  for (const BehaviourSwitch& each : BehaviourSwitches()) {
    proto::TraceSwitch& out = *header.add_behaviour();
    out.set_name(std::string(each.name));
    out.set_on(behaviour.*each.value);
  }
}

proto::TraceHeader TraceHeaderOf(bool recovers, const CreatorTraits& creator, const std::vector<HookPtr>& hooks,
                                 const SessionLife& life, const Graph& graph) {
  proto::TraceHeader header;
  header.set_kind(recovers ? proto::TraceHeader::MONITORED : proto::TraceHeader::SINGULAR);
  header.set_is_chief(creator.is_chief);
  for (const HookPtr& hook : hooks) header.add_hooks()->set_name(std::string(hook->name()));
  AddBehaviour(life.behaviour, header);
  header.set_stop_grace_period_ns(life.stop_grace_period.count());
  header.set_has_max_wait(creator.max_wait.has_value());
  header.set_max_wait_ns(creator.max_wait.value_or(Duration::zero()).count());
  header.set_has_checkpoint_dir(creator.has_checkpoint_dir);
  header.set_has_checkpoint_filename(creator.has_checkpoint_filename);
  header.set_has_init_fn(creator.has_init_fn);
  header.set_graph_is_finalized(graph.finalized());
  return header;
}

}  // namespace vigil
