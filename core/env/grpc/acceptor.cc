#include "vigil/core/env/grpc/acceptor.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/call_guarded.h"

namespace vigil {
namespace {

// Of the files that a process may have, so many per cent stay for what it does itself: checkpoints, its own calls.
constexpr std::int64_t kPercentKept = 20;
// Counting them costs some microseconds a file.
constexpr int kTakenUncounted = 64;

absl::Status SystemStatus(int error, const std::string& address) {
  const Code code = error == EADDRINUSE ? Code::kAlreadyExists
                    : error == EACCES   ? Code::kPermissionDenied
                                        : Code::kUnknown;
  return MakeStatus(code, fmt::format("{}: {}", address, std::generic_category().message(error)));
}

bool IsLoopback(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    return ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24 == 127;
  }
  return address.sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

// Whatever their ports are.
bool SameHost(const sockaddr& a, const sockaddr& b) {
  if (a.sa_family != b.sa_family) return false;
  if (a.sa_family == AF_INET6) {
    return std::memcmp(&reinterpret_cast<const sockaddr_in6&>(a).sin6_addr,
                       &reinterpret_cast<const sockaddr_in6&>(b).sin6_addr, sizeof(in6_addr)) == 0;
  }
  return reinterpret_cast<const sockaddr_in&>(a).sin_addr.s_addr ==
         reinterpret_cast<const sockaddr_in&>(b).sin_addr.s_addr;
}

// A name may stand in two lines of /etc/hosts.
bool CameBefore(const addrinfo& each, const addrinfo* found) {
  for (; found != &each; found = found->ai_next) {
    if (SameHost(*found->ai_addr, *each.ai_addr)) return true;
  }
  return false;
}

int PortOf(int socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

// 0, with a socket that listens; or what the system says.
int ListenAt(const addrinfo& at, int& listener) {
  listener = socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return errno;
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (at.ai_family == AF_INET6) setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
  if (bind(listener, at.ai_addr, at.ai_addrlen) == 0 && listen(listener, SOMAXCONN) == 0) return 0;
  const int error = errno;
  close(std::exchange(listener, -1));
  return error;
}

// Negative: nobody knows.
std::int64_t OpenFiles() {
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) {
    const bool none_left = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    return none_left ? std::numeric_limits<std::int64_t>::max() : -1;
  }
  std::int64_t count = 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

struct HostAndPort {
  std::string host;  // without brackets
  std::string text;  // with them, as it was given
  int port = 0;
};

absl::StatusOr<HostAndPort> ParseAddress(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  HostAndPort out;
  const char* const end = address.data() + address.size();
  const bool is_port = colon != std::string::npos && colon > 0 &&
                       std::from_chars(address.data() + colon + 1, end, out.port).ptr == end &&
                       colon + 1 < address.size();
  if (!is_port || out.port < 0 || out.port > 65535) {
    return MakeStatus(Code::kInvalidArgument, fmt::format("'{}' is no address to listen on: host:port.", address));
  }
  out.text = out.host = address.substr(0, colon);
  if (out.host.starts_with('[') && out.host.ends_with(']')) out.host = out.host.substr(1, out.host.size() - 2);
  return out;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Acceptor>> Acceptor::Listen(const Env& env, const std::string& address,
                                                           bool beyond_loopback) {
  VIGIL_ASSIGN_OR_RETURN(const HostAndPort parsed, ParseAddress(address));
  std::unique_ptr<Acceptor> acceptor(new Acceptor(env));
  acceptor->address_ = address;
  VIGIL_RETURN_IF_ERROR(acceptor->ListenOn(parsed.host, parsed.port, beyond_loopback));
  acceptor->address_ = fmt::format("{}:{}", parsed.text, acceptor->port_);
  acceptor->wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (acceptor->wake_ < 0) return SystemStatus(errno, address);
  return acceptor;
}

absl::Status Acceptor::ListenOn(const std::string& host, int port, bool beyond_loopback) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    return MakeStatus(Code::kInvalidArgument, fmt::format("{}: {}", address_, gai_strerror(error)));
  }
  const absl::Cleanup free_found = [found] { freeaddrinfo(found); };
  port_ = port;
  int failed = 0;
  for (addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (CameBefore(*each, found)) continue;
    if (!beyond_loopback && !IsLoopback(*each->ai_addr)) {
      return MakeStatus(
          Code::kPermissionDenied,
          fmt::format("{} can be reached from other machines, and whoever reaches a server can run any op "
                      "in it. Listen on 127.0.0.1, or ask for more (beyond_loopback) and use TLS.",
                      address_));
    }
    // The second address of a host has the port that was found for the first.
    auto& found_port = each->ai_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(each->ai_addr)->sin6_port
                                                   : reinterpret_cast<sockaddr_in*>(each->ai_addr)->sin_port;
    found_port = htons(static_cast<std::uint16_t>(port_));
    int listener = -1;
    const int listens = ListenAt(*each, listener);
    if (listens == 0) {
      listeners_.push_back(listener);
      port_ = PortOf(listener);
    } else if (listens == EAFNOSUPPORT || listens == EADDRNOTAVAIL) {
      failed = listens;  // a family that this machine does not have
    } else {
      return SystemStatus(listens, address_);
    }
  }
  return listeners_.empty() ? SystemStatus(failed, address_) : absl::OkStatus();
}

absl::Status Acceptor::Start(std::function<void(int socket)> take) {
  VIGIL_CHECK(take_ == nullptr);
  take_ = std::move(take);
  VIGIL_ASSIGN_OR_RETURN(task_, TrySpawn(*env_.tasks, "accept at " + address_, [this] { Accept(); }));
  return absl::OkStatus();
}

Acceptor::~Acceptor() {
  if (task_ != nullptr) {
    eventfd_write(wake_, 1);
    task_->Join(kNever);
  }
  for (const int listener : listeners_) close(listener);
  if (wake_ >= 0) close(wake_);
}

void Acceptor::Accept() {
  std::vector<pollfd> waits;
  for (const int each : listeners_) waits.push_back({.fd = each, .events = POLLIN, .revents = 0});
  waits.push_back({.fd = wake_, .events = POLLIN, .revents = 0});
  while (true) {
    poll(waits.data(), waits.size(), -1);
    if (waits.back().revents != 0) return;
    for (const pollfd& each : waits) {
      if (each.revents != 0) TakeAll(each.fd);
    }
  }
}

void Acceptor::TakeAll(int listener) {
  while (true) {
    const int socket = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) {
      // Others have taken the last files of the process, or of the machine: they wait, and we do not spin.
      const bool none_left = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      pollfd wake = {.fd = wake_, .events = POLLIN, .revents = 0};
      if (none_left) poll(&wake, 1, 100);
      return;
    }
    if (!HasRoom()) {
      Refuse(socket);
      continue;
    }
    const int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    take_(socket);
  }
}

bool Acceptor::HasRoom() {
  if (until_counted_-- > 0) return true;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return true;
  const auto most = static_cast<std::int64_t>(limit.rlim_cur) * (100 - kPercentKept) / 100;
  const std::int64_t open = OpenFiles();
  until_counted_ = static_cast<int>(std::clamp<std::int64_t>((most - std::min(open, most)) / 2, 0, kTakenUncounted));
  const bool full = open >= most;
  if (full && !full_) {
    env_.log->Write(
        Severity::kWarning,
        fmt::format("{}: {} of the {} files that this process may have are open: more connections are refused "
                    "(ulimit -n raises what it may have).",
                    address_, std::min<std::int64_t>(open, static_cast<std::int64_t>(limit.rlim_cur)), limit.rlim_cur));
  }
  full_ = full;
  return !full;
}

// At once, by a reset: who is refused goes on with something else.
void Acceptor::Refuse(int socket) {
  const linger now = {.l_onoff = 1, .l_linger = 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close(socket);
}

}  // namespace vigil
