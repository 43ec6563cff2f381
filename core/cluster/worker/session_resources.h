// What a worker keeps for single sessions: queues, accumulators, iterators, data sets and random generators without a
// shared_name.
//
// A session has them on every worker on which it has registered a graph that names one. They go with the last of these
// graphs. (TensorFlow's go with the last of all graphs of the session there: a master that takes single graphs back
// while its session goes on, as none of ours does, would see the difference.)
// Thread safety: safe from any task.
// Source: TensorFlow's op_segment.cc, ContainerInfo::Init, ResourceOpKernel.
#ifndef VIGIL_CORE_CLUSTER_WORKER_SESSION_RESOURCES_H_
#define VIGIL_CORE_CLUSTER_WORKER_SESSION_RESOURCES_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "vigil/core/base/spin_lock.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/resource.h"

namespace vigil {

class SessionResources {
 public:
  explicit SessionResources(const Env& env) : env_(env) {}

  // Of the session of that handle; they are there for as long as somebody has what this gives.
  std::shared_ptr<ResourceManager> Of(const std::string& session);
  // Sessions that have some.
  std::size_t size() const;
  std::size_t InLine() const;  // ResourceManager's, of all sessions
  // ResourceManager's, of all sessions.
  void CancelAll();
  void Reset(const std::string& container);

 private:
  std::vector<std::shared_ptr<ResourceManager>> All() const;

  const Env env_;
  mutable SpinLock lock_;
  std::map<std::string, std::weak_ptr<ResourceManager>> sessions_;  // guarded by lock_; some have gone
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_WORKER_SESSION_RESOURCES_H_
