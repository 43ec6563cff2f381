// Relays between sockets of this process: what passes, what is reset, what waits.
#include "vigil/replays/real/relay.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <string>

namespace vigil::replays {
namespace {

sockaddr_in At(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

int Connect(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = At(port);
  EXPECT_EQ(connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return socket;
}

class RelayTest : public ::testing::Test {
 protected:
  RelayTest() : held_(*HeldPort::Create()), server_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int yes = 1;
    setsockopt(server_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const sockaddr_in address = At(held_.number());
    EXPECT_EQ(bind(server_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(server_, 8), 0);
    relay_ = *Relay::Create(held_.number());
  }
  ~RelayTest() override { close(server_); }

  // Lets the relay work until there is something at that end: what it is. A test that waits in vain hangs, and is
  // ended from outside.
  std::string Received(int end) {
    char buffer[64];
    while (true) {
      Turn();
      const ssize_t got = recv(end, buffer, sizeof buffer, MSG_DONTWAIT);
      if (got > 0) return {buffer, static_cast<std::size_t>(got)};
      if (got == 0) return "the end";
      if (errno == ECONNRESET) return "a reset";
    }
  }
  void Turn() {
    std::vector<pollfd> waits;
    relay_->AddTo(waits);
    poll(waits.data(), waits.size(), 10);
    relay_->Work();
  }
  // Through the relay: both ends.
  std::pair<int, int> Pair() {
    const int from = Connect(relay_->port());
    Turn();
    return {from, accept4(server_, nullptr, nullptr, SOCK_CLOEXEC)};
  }

  HeldPort held_;
  const int server_;
  std::unique_ptr<Relay> relay_;
};

TEST_F(RelayTest, PassesBothWaysAndTheEndToo) {
  const auto [from, to] = Pair();
  EXPECT_EQ(send(from, "ping", 4, 0), 4);
  EXPECT_EQ(Received(to), "ping");
  EXPECT_EQ(send(to, "pong", 4, 0), 4);
  EXPECT_EQ(Received(from), "pong");
  close(to);
  EXPECT_THAT(Received(from), ::testing::AnyOf("the end", "a reset"));
  close(from);
}

TEST_F(RelayTest, ACutResetsConnectionsAndNewOnes) {
  const auto [from, to] = Pair();
  relay_->Set(Relay::Mode::kCut);
  EXPECT_EQ(Received(from), "a reset");
  EXPECT_EQ(Received(to), "a reset");
  const int late = Connect(relay_->port());
  EXPECT_EQ(Received(late), "a reset");
  relay_->Set(Relay::Mode::kOpen);
  const auto [again, there] = Pair();
  EXPECT_EQ(send(again, "x", 1, 0), 1);
  EXPECT_EQ(Received(there), "x");
  for (const int each : {from, to, late, again, there}) close(each);
}

TEST_F(RelayTest, InSilenceNothingPassesAndNothingIsLost) {
  const auto [from, to] = Pair();
  relay_->Set(Relay::Mode::kSilent);
  EXPECT_EQ(send(from, "late", 4, 0), 4);
  for (int i = 0; i < 5; ++i) Turn();
  char byte = 0;
  EXPECT_EQ(recv(to, &byte, 1, MSG_DONTWAIT), -1);
  EXPECT_EQ(errno, EAGAIN);
  relay_->Set(Relay::Mode::kOpen);
  EXPECT_EQ(Received(to), "late");
  for (const int each : {from, to}) close(each);
}

TEST(HeldPortTest, NobodyAnswersUntilSomebodyListensThere) {
  const HeldPort held = *HeldPort::Create();
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = At(held.number());
  EXPECT_EQ(connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), -1);
  EXPECT_EQ(errno, ECONNREFUSED);
  close(socket);
  EXPECT_NE((*HeldPort::Create()).number(), held.number());
}

}  // namespace
}  // namespace vigil::replays
