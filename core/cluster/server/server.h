// tf.train.Server: a task of a cluster, with a worker service and a master, reachable under its address.
//
//   VIGIL_ASSIGN_OR_RETURN(const auto server, Server::Create(env, {.cluster = cluster, .job_name = "ps", .task_index =
//   0})); server->Join();
//
// Sessions of the same process whose target is the server talk to its master directly; others over the network.
// Thread safety: safe from any task. Ownership: env's seams outlive the server and its tasks.
// Source: server_lib.py.
#ifndef VIGIL_CORE_CLUSTER_SERVER_SERVER_H_
#define VIGIL_CORE_CLUSTER_SERVER_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "vigil/core/cluster/cluster_spec.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/op.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/session.h"

namespace vigil {

class WorkerService;

struct ServerOptions {
  ClusterSpec cluster = {};
  std::optional<std::string> job_name = {};  // none: the cluster's only job
  std::optional<int> task_index = {};        // none: the job's only task
  std::string protocol = "grpc";
  SessionConfig config = {};  // of sessions, where they say nothing themselves
  bool start = true;
  // Which start of this task this process is, of all it ever had and on all machines: greater than those before, as who
  // starts processes can tell (SLURM_RESTART_COUNT, the attempt of a YARN container; plus one). By it the other servers
  // know which of two processes is the later one, where one is believed dead and lives on: they end what it has with
  // them, and refuse it. 0: not known; then the later one is who comes to a server later, which is wrong where that
  // server has forgotten the other one, or never knew it, and masters of other tasks serve both.
  std::uint64_t start_number = 0;
  const OpRegistry* ops = nullptr;  // borrowed; null: BuiltinOps()
};

class Server {
 public:
  // Starts at once unless told otherwise. A port of 0 is replaced by a free one. Errors, as TensorFlow's: USAGE "Must
  // specify an explicit `job_name`." (`task_index`), or a job that there is not; INTERNAL for a task that the cluster
  // does not have; NOT_FOUND for a protocol other than "grpc"; UNKNOWN "Could not start gRPC server" if the address is
  // in use; USAGE without a network.
  static absl::StatusOr<std::unique_ptr<Server>> Create(const Env& env, ServerOptions options);
  // A cluster of its own: one task, of the job "localhost".
  static absl::StatusOr<std::unique_ptr<Server>> CreateLocal(const Env& env, SessionConfig config = {},
                                                             bool start = true);
  // Serves no more; sessions and steps end soon (see Stop). It does not wait: what has not ended after half a minute is
  // named in the log, and uses env's seams until it has.
  ~Server();

  // What a session is given as its master: "grpc://host:port".
  const std::string& target() const;
  const std::string& job_name() const;
  int task_index() const;
  const ClusterSpec& cluster() const;

  absl::Status Start();
  // Blocks for ever.
  void Join();
  // Serves no more, cancels what is under way and waits until it has ended; what has not after half a minute is named
  // in the log. A program that takes its Env down calls it first.
  // One task at a time.
  void Stop();

  // What it holds for others: nothing, once they have let go of it and the requests under way have ended.
  struct Load {
    std::size_t steps = 0;
    std::size_t graphs = 0;    // registered, by handle
    std::size_t sessions = 0;  // of its master
    std::size_t calls = 0;     // that its master and their sessions wait for
    // Sessions of any master for which its worker keeps what is theirs alone: no more than graphs, steps and requests.
    std::size_t with_own = 0;
    std::map<std::string, int> under_way;
    // Which start of it this is, and, by their handles, the sessions of its master, with their steps that run.
    std::uint64_t incarnation = 0;
    std::map<std::string, std::size_t> running = {};
    // The sessions whose graphs are registered, by the masters of whatever task: with the incarnation of that.
    std::map<std::string, std::uint64_t> registered_by = {};
    // The masters for whose steps somebody works or waits: their incarnations, as far as they are known.
    std::set<std::uint64_t> steps_of = {};
  };
  Load load() const;
  // How many wait in queues and accumulators that it holds: no more than its steps. Takes locks, as load() does not.
  std::size_t InLine() const;

  // For tests.
  WorkerService& worker();

 private:
  class Impl;
  Server(const Env& env, std::shared_ptr<Impl> impl);

  const Env env_;
  const std::shared_ptr<Impl> impl_;
  bool stopped_ = false;
};

// Whether a server answers there in time. Blocks.
bool Answers(const Env& env, const std::string& address, Duration patience);

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_SERVER_SERVER_H_
