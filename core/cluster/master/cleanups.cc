#include "vigil/core/cluster/master/cleanups.h"

#include <utility>
#include <vector>

#include "vigil/core/cluster/step_errors.h"

namespace vigil {
namespace {

constexpr Duration kPause = std::chrono::seconds(1);  // of a request that has failed all the same

}  // namespace

Cleanups::Cleanups(const Env& env)
    : env_(env),
      mutex_(env.tasks->NewMutex("cleanups")),
      answered_(env.tasks->NewCondition("the cleanup of steps that have failed")) {}

void Cleanups::Say(NetworkRequest request) {
  request.wait_for_ready = true;
  std::list<Owed>::iterator owed;
  {
    MutexLock lock(*mutex_);
    owed = owed_.insert(owed_.end(), {.request = std::move(request), .asking = true});
  }
  Ask(owed);
}

void Cleanups::Ask(std::list<Owed>::iterator owed) {
  env_.network->Start(owed->request,
                      [self = shared_from_this(), owed](const NetworkReply& reply) { self->Answer(owed, reply); });
}

void Cleanups::Answer(std::list<Owed>::iterator owed, const NetworkReply& reply) {
  {
    MutexLock lock(*mutex_);
    owed->asking = false;
    if (!IsLost(reply.status())) owed_.erase(owed);
  }
  answered_->NotifyAll();
}

void Cleanups::Wait(const std::function<bool()>& stopped) {
  while (!stopped()) {
    std::vector<std::list<Owed>::iterator> again;
    {
      MutexLock lock(*mutex_);
      const Time until = DeadlineAfter(env_, kPause);
      while (!owed_.empty() && answered_->Wait(*mutex_, until)) {
      }
      if (owed_.empty()) return;
      for (auto it = owed_.begin(); it != owed_.end(); ++it) {
        if (!std::exchange(it->asking, true)) again.push_back(it);
      }
    }
    for (const auto owed : again) Ask(owed);
  }
}

}  // namespace vigil
