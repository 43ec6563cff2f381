// Requests that give something back, and whose answers nobody waits for: a session, a graph, what a step has left.
//
// A network may lose one, and the server would keep what nobody needs. So it is said again, at most three times in all,
// until the server has answered, if only with an error. TensorFlow says each once. Who hears one twice has nothing to
// give back the second time. A connection that is down loses all three within a moment: what a server may still keep
// then is owed to it, and said again when a master has heard of it: as it makes a session, registers a graph, has run a
// step there, or looks whether the servers of a step are there.
// Never waits. Thread safety: safe from any task, and from where the network calls.
#ifndef VIGIL_CORE_CLUSTER_GOODBYE_H_
#define VIGIL_CORE_CLUSTER_GOODBYE_H_

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "vigil/core/base/atomic.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/env/env.h"
#include "vigil/core/env/network.h"

namespace vigil {

// What was lost three times, by address. Of each at most kMost: then the oldest is forgotten.
class OwedGoodbyes : public std::enable_shared_from_this<OwedGoodbyes> {
 public:
  static constexpr std::size_t kMost = 1000;

  void Add(NetworkRequest request);
  // Somebody there has answered: says what is owed to it.
  void HeardOf(const Env& env, const std::string& address);
  std::size_t size() const;

 private:
  mutable SpinLock lock_;
  std::map<std::string, std::deque<NetworkRequest>> owed_;  // guarded by lock_
  Atomic<bool> any_{false};                                 // whether there are any: steps ask, which have no time
};

// `env`'s clock and network must be there until the last answer. The deadline of the request is set here. `owed` (may
// be null) keeps what gets lost.
void SayGoodbye(const Env& env, NetworkRequest request, std::shared_ptr<OwedGoodbyes> owed = nullptr);
// Once, whether it comes through or not: of what has a name that the server itself has drawn. After a restart it draws
// the same ones, and what was said again would take away what somebody else has got there.
void SayGoodbyeOnce(const Env& env, NetworkRequest request);

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_GOODBYE_H_
