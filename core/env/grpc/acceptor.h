// The listening sockets of a server. gRPC 1.51 would accept by itself, but where the process has no file left it never
// accepts again (tcp_server_posix.cc: whatever accept4 fails with ends the listener). Here a task accepts; what would
// take the last files of the process is refused.
//
// Thread safety: one task at a time. Ownership: borrows env.tasks, env.clock and env.log.
#ifndef VIGIL_CORE_ENV_GRPC_ACCEPTOR_H_
#define VIGIL_CORE_ENV_GRPC_ACCEPTOR_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"

namespace vigil {

class Acceptor {
 public:
  // Listens at "host:port" (0: a port that is free), on each address that the host has. INVALID_ARGUMENT: no address;
  // PERMISSION_DENIED: other machines could reach it, and it was not asked to go beyond loopback, or the system's;
  // ALREADY_EXISTS: somebody listens there; UNKNOWN: whatever else the system says.
  static absl::StatusOr<std::unique_ptr<Acceptor>> Listen(const Env& env, const std::string& address,
                                                          bool beyond_loopback);
  // No more is accepted; what has not been is reset.
  ~Acceptor();

  // The host as it was given, with the port that was found.
  const std::string& address() const { return address_; }

  // From now on each connection is handed to `take`, which owns it, by a task of its own. Once. RESOURCE_EXHAUSTED:
  // there is no thread for it.
  absl::Status Start(std::function<void(int socket)> take);

 private:
  explicit Acceptor(const Env& env) : env_(env) {}

  absl::Status ListenOn(const std::string& host, int port, bool beyond_loopback);
  void Accept();
  void TakeAll(int listener);
  bool HasRoom();
  void Refuse(int socket);

  const Env env_;
  std::string address_;
  std::vector<int> listeners_;
  int port_ = 0;
  int wake_ = -1;  // readable once it ends
  std::function<void(int)> take_;
  std::unique_ptr<Task> task_;
  // Of the task:
  int until_counted_ = 0;  // so many more are taken before files are counted again
  bool full_ = false;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_GRPC_ACCEPTOR_H_
