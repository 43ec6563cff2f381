// CleanupGraph of the steps that have failed, as TensorFlow says it: it waits for a connection however long that takes,
// and the session's end waits for it (SessionConfig::waits_for_tasks). So a client whose server has died comes
// back from closing its session when that server is there again, and only then asks for a new one.
//
// Otherwise nobody waits for what is given back (goodbye.h).
// Thread safety: safe from any task. Used through shared_ptr, which the requests under way hold.
// Source: MasterSession::Close waits until no run is left, and a run lasts until its cleanup was answered
// (RunState, CleanupPartitionsAsync of master_session.cc); as recorded in replays/cluster/often.jsonl.
#ifndef VIGIL_CORE_CLUSTER_MASTER_CLEANUPS_H_
#define VIGIL_CORE_CLUSTER_MASTER_CLEANUPS_H_

#include <functional>
#include <list>
#include <memory>

#include "vigil/core/env/env.h"
#include "vigil/core/env/network.h"

namespace vigil {

class Cleanups : public std::enable_shared_from_this<Cleanups> {
 public:
  explicit Cleanups(const Env& env);

  // Never waits.
  void Say(NetworkRequest request);
  // Until the peer of each has answered, if only with an error; asks those again that did not come through. Gives up
  // when `stopped`, which it asks once a second.
  void Wait(const std::function<bool()>& stopped);

 private:
  struct Owed {
    NetworkRequest request;
    bool asking = false;
  };
  void Ask(std::list<Owed>::iterator owed);
  void Answer(std::list<Owed>::iterator owed, const NetworkReply& reply);

  const Env env_;
  // Held for moments only, never while anybody is notified: the network may call from where nothing can wait.
  const std::unique_ptr<Mutex> mutex_;
  const std::unique_ptr<Condition> answered_;
  std::list<Owed> owed_;  // guarded by *mutex_
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_MASTER_CLEANUPS_H_
