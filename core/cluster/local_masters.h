// The masters of one process, by their targets: a session whose target is a server of its own process talks to the
// master directly, without the network.
//
//   LocalMasters& masters = LocalMastersOf(env);   // one for each Process
//   masters.Add("grpc://a:1", master, cluster);    // the server, when it begins to listen
//   masters.Find("grpc://a:1");                    // the session
//
// Thread safety: safe from any task. Ownership: of masters none, a server keeps its own.
// Source: TensorFlow's local_master.h.
#ifndef VIGIL_CORE_CLUSTER_LOCAL_MASTERS_H_
#define VIGIL_CORE_CLUSTER_LOCAL_MASTERS_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "vigil/core/base/spin_lock.h"
#include "vigil/core/cluster/cluster_spec.h"
#include "vigil/core/cluster/master_interface.h"
#include "vigil/core/cluster/task_start.h"
#include "vigil/core/env/env.h"

namespace vigil {

class LocalMasters {
 public:
  // One that is there already under that target is replaced. `cluster`, `own`: of its server.
  void Add(const std::string& target, std::weak_ptr<MasterInterface> master, ClusterSpec cluster, TaskStart own = {});
  void Remove(const std::string& target);

  // Null if there is none, or if it is gone.
  std::shared_ptr<MasterInterface> Find(const std::string& target);
  // Where a task of that master's cluster is to be reached. The master may be that of another process, if a server of
  // this one is in the same cluster. Nothing without such a master, or such a task.
  std::optional<std::string> AddressOf(const std::string& target, const std::string& job, int task);

  // What this process is in the cluster of that master. Nothing if it is no task there, or several, or does not know
  // which start it is.
  std::optional<TaskStart> OwnStart(const std::string& target);

 private:
  struct Entry {
    std::weak_ptr<MasterInterface> master;
    ClusterSpec cluster;
    TaskStart own;
  };
  SpinLock lock_;
  std::map<std::string, Entry> masters_;  // guarded by lock_
};

LocalMasters& LocalMastersOf(const Env& env);

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_LOCAL_MASTERS_H_
