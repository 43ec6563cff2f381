#include "vigil/replays/real/relay.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "fmt/format.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil::replays {
namespace {

constexpr std::size_t kMostWaiting = std::size_t{1} << 20;  // bytes that one end does not take

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

absl::Status NoSocket(std::string_view what) {
  return MakeStatus(Code::kUnavailable, fmt::format("{} on loopback: {}", what, std::strerror(errno)));
}

int NewSocket(int flags) { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0); }

// Bound to a port that is free; the port, or below 0.
int BindAnywhere(int socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  if (bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return -1;
  }
  return ntohs(address.sin_port);
}

// The other side sees a connection that is reset.
void CloseHard(int socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(socket);
}

}  // namespace

struct Relay::Connection {
  // What came by one end and has not gone by the other.
  struct Stream {
    std::string bytes;
    bool over = false;

    bool Read(int from) {
      std::array<char, 1 << 16> buffer;
      while (!over && bytes.size() < kMostWaiting) {
        const ssize_t got = recv(from, buffer.data(), buffer.size(), 0);
        if (got > 0) {
          bytes.append(buffer.data(), static_cast<std::size_t>(got));
        } else if (got == 0) {
          over = true;
        } else if (errno != EINTR) {
          return errno == EAGAIN;
        }
      }
      return true;
    }
    bool Write(int to) {
      while (!bytes.empty()) {
        const ssize_t sent = send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return errno == EAGAIN || errno == EINPROGRESS || errno == ENOTCONN;
        bytes.erase(0, static_cast<std::size_t>(sent));
      }
      return !over;
    }
  };

  int from = -1;
  int to = -1;
  Stream there;
  Stream back;

  ~Connection() {
    CloseHard(from);
    CloseHard(to);
  }
};

absl::StatusOr<std::unique_ptr<Relay>> Relay::Create(int to) {
  const int listener = NewSocket(SOCK_NONBLOCK);
  if (listener < 0) return NoSocket("a relay");
  const int port = BindAnywhere(listener);
  if (port < 0 || listen(listener, 64) != 0) {
    const absl::Status failed = NoSocket("a relay");
    close(listener);
    return failed;
  }
  return std::unique_ptr<Relay>(new Relay(listener, port, to));
}

Relay::Relay(int listener, int port, int to) : listener_(listener), port_(port), to_(to) {}
Relay::~Relay() { close(listener_); }

void Relay::Set(Mode mode) {
  mode_ = mode;
  if (mode == Mode::kCut) connections_.clear();
}

void Relay::AddTo(std::vector<pollfd>& waits) const {
  waits.push_back({.fd = listener_, .events = POLLIN, .revents = 0});
  if (mode_ != Mode::kOpen) return;
  for (const auto& connection : connections_) {
    const auto events = [](const Connection::Stream& in, const Connection::Stream& out) {
      return static_cast<short>((in.bytes.size() < kMostWaiting && !in.over ? POLLIN : 0) |
                                (out.bytes.empty() ? 0 : POLLOUT));
    };
    waits.push_back({.fd = connection->from, .events = events(connection->there, connection->back), .revents = 0});
    waits.push_back({.fd = connection->to, .events = events(connection->back, connection->there), .revents = 0});
  }
}

void Relay::Work() {
  Accept();
  if (mode_ != Mode::kOpen) return;
  std::erase_if(connections_, [](const auto& connection) { return !Pass(*connection); });
}

void Relay::Accept() {
  while (true) {
    const int from = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (from < 0) return;
    if (mode_ == Mode::kCut) {
      CloseHard(from);
      continue;
    }
    const int to = NewSocket(SOCK_NONBLOCK);
    const sockaddr_in address = Loopback(to_);
    const int yes = 1;
    for (const int end : {from, to}) setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(to, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 && errno != EINPROGRESS) {
      CloseHard(from);
      CloseHard(to);
      continue;
    }
    auto connection = std::make_unique<Connection>();
    connection->from = from;
    connection->to = to;
    connections_.push_back(std::move(connection));
  }
}

bool Relay::Pass(Connection& connection) {
  return connection.there.Read(connection.from) && connection.there.Write(connection.to) &&
         connection.back.Read(connection.to) && connection.back.Write(connection.from);
}

absl::StatusOr<HeldPort> HeldPort::Create() {
  const int socket = NewSocket(0);
  if (socket < 0) return NoSocket("a port");
  // Bound and never listened at: whoever connects is refused, until a server listens beside it.
  const int number = BindAnywhere(socket);
  if (number < 0) {
    const absl::Status failed = NoSocket("a port");
    close(socket);
    return failed;
  }
  return HeldPort(socket, number);
}

HeldPort::HeldPort(HeldPort&& other) noexcept : socket_(std::exchange(other.socket_, -1)), number_(other.number_) {}

HeldPort::~HeldPort() {
  if (socket_ >= 0) close(socket_);
}

}  // namespace vigil::replays
