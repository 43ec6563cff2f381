// Relays between processes, each for those who go from one task to another: what cuts two tasks off from each other.
//
// Nothing runs by itself: the owner waits for what a relay waits for (AddTo), and lets it work (Work).
// Thread safety: belongs to one thread. Ownership: a relay closes all that it has opened. Loopback only.
#ifndef VIGIL_REPLAYS_REAL_RELAY_H_
#define VIGIL_REPLAYS_REAL_RELAY_H_

#include <poll.h>

#include <memory>
#include <vector>

#include "absl/status/statusor.h"

namespace vigil::replays {

class Relay {
 public:
  enum class Mode {
    kOpen,
    kCut,     // connections are reset, new ones too
    kSilent,  // nothing passes, nothing is closed
  };

  // Listens at a port of its own; connections go on to port `to`. UNAVAILABLE: there is no socket to be had.
  static absl::StatusOr<std::unique_ptr<Relay>> Create(int to);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  int port() const { return port_; }
  void Set(Mode mode);

  // What it waits for.
  void AddTo(std::vector<pollfd>& waits) const;
  // Does what can be done at once: accepts, and passes on.
  void Work();

 private:
  struct Connection;
  Relay(int listener, int port, int to);

  void Accept();
  static bool Pass(Connection& connection);  // false: it is over

  const int listener_;
  const int port_;
  const int to_;
  Mode mode_ = Mode::kOpen;
  std::vector<std::unique_ptr<Connection>> connections_;
};

// A port of loopback that nobody gets as long as it is held, but whoever listens there by number.
class HeldPort {
 public:
  // UNAVAILABLE: there is none.
  static absl::StatusOr<HeldPort> Create();
  HeldPort(HeldPort&& other) noexcept;
  ~HeldPort();
  int number() const { return number_; }

 private:
  HeldPort(int socket, int number) : socket_(socket), number_(number) {}
  int socket_;
  int number_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_REAL_RELAY_H_
