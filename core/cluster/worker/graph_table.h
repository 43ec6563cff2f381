// The graphs that masters have registered with a worker, by their handles. Part of TensorFlow's GraphMgr.
//
// A process that dies does not give back what it has registered. When the task that it was comes back and registers
// for the first time, what its earlier process has registered goes; and what that one still sends (it was slow, or is
// believed dead and lives on) is refused. TensorFlow's SessionMgr does so with worker sessions. Who follows whom the
// processes say, by the number of their start: neither the order in which they come nor what a server remembers of them
// decides. Of processes that do not say it, who comes later follows.
// Thread safety: safe from any task.
#ifndef VIGIL_CORE_CLUSTER_WORKER_GRAPH_TABLE_H_
#define VIGIL_CORE_CLUSTER_WORKER_GRAPH_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/cluster/recent_ids.h"
#include "vigil/core/cluster/worker/registered_graph.h"

namespace vigil {

// ABORTED: that worker does not know it.
absl::Status NoSuchGraph(const std::string& handle);

class GraphTable {
 public:
  // Which process registers. Without an incarnation: it does not say, and nothing is known of its other processes.
  struct Master {
    std::string task;
    std::uint64_t incarnation = 0;
    std::uint64_t start = 0;   // of all starts of that task; 0: it does not say
    std::string session = {};  // for which of its sessions
    bool opened = false;       // that session was opened here, or its graphs are refused
  };
  struct Entry {
    std::shared_ptr<RegisteredGraph> graph;
    std::uint64_t incarnation = 0;  // of its master
    std::string session = {};       // of that
  };

  // Gives the incarnation of the process that this master follows, whose graphs were dropped; 0: of none. Errors:
  // CANCELLED if that graph was taken out already, ABORTED from a process that another one follows, or for a session
  // that should be open and is not.
  absl::StatusOr<std::uint64_t> Add(std::int64_t id, std::shared_ptr<RegisteredGraph> graph, const Master& master);
  // That process is there: the incarnation of the one that it follows, whose graphs were dropped; 0: it follows none,
  // or another one follows it, or it does not say who it is.
  std::uint64_t Note(const Master& master);
  // A master of TensorFlow's does not say with each graph whose it is, but once, of a session: graphs of that session
  // which come with no incarnation are its. Gives what Note() does. Errors: ABORTED from a process that another one
  // follows.
  absl::StatusOr<std::uint64_t> OpenSession(const Master& master);
  // It goes, with its graphs. False: there is none.
  bool CloseSession(const std::string& session);
  // Whether it is open; it is not any more when its process was followed.
  bool HasSession(const std::string& session) const;
  // Whether another process has followed the one of that incarnation; 0: nobody has.
  bool HasFollowed(std::uint64_t incarnation) const;
  // ABORTED if there is none.
  absl::StatusOr<Entry> Find(const std::string& handle) const;
  // It must not come (again). Null: there is none.
  std::shared_ptr<RegisteredGraph> TakeOut(const std::string& handle);
  std::size_t size() const;
  // The sessions that have registered them, each with the incarnation of its master.
  std::map<std::string, std::uint64_t> Sessions() const;

 private:
  using Graphs = std::map<std::string, Entry>;
  struct Newest {
    std::uint64_t incarnation = 0;
    std::uint64_t start = 0;
  };

  // The incarnation of the process that it follows, whose graphs go to *dropped; 0: of none. REQUIRES: lock_ is held,
  // it is not followed itself.
  std::uint64_t Follow(const Master& master, Graphs* dropped);
  template <typename Is>
  Graphs TakeIf(Is is);  // those entries. REQUIRES: lock_ is held
  // What that process has registered; the sessions that it has opened go. REQUIRES: lock_ is held.
  Graphs TakeAllOf(std::uint64_t incarnation);
  // Whether a later process of its task is known. REQUIRES: lock_ is held.
  bool IsFollowed(const Master& master) const;

  mutable SpinLock lock_;
  // Guarded by lock_.
  Graphs graphs_;  // by handle
  RecentIds taken_out_;
  std::map<std::string, Newest> masters_;  // of each task that registers
  std::map<std::string, Master> opened_;   // by the session
  RecentIds followed_;                     // incarnations that another has followed
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_WORKER_GRAPH_TABLE_H_
