// What is gRPC's own; what every network promises: properties/contracts/grpc_contracts_test.cc.
#include "vigil/core/env/grpc/grpc_network.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <grpcpp/support/slice.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/env/grpc/grpc_parts.h"
#include "vigil/core/env/grpc/testing.h"
#include "vigil/core/env/notification.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using fakes::Text;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class GrpcNetworkTest : public GrpcTest {};

TEST_F(GrpcNetworkTest, AFreePortIsFoundAndTold) {
  const auto network = New();
  const auto first = Listen(*network);
  const auto second = Listen(*network);
  EXPECT_THAT(first->address(), StartsWith("127.0.0.1:"));
  EXPECT_NE(first->address(), "127.0.0.1:0");
  EXPECT_NE(first->address(), second->address());
  EXPECT_EQ(*Call(*network, {.to = first->address(), .body = absl::Cord("one")}), "one");
  EXPECT_EQ(CodeOf(network->Listen(first->address(), Echo).status()), Code::kAlreadyExists);
}

TEST_F(GrpcNetworkTest, WhatIsNoAddressOrCanBeReachedFromElsewhereIsRefused) {
  const auto network = New();
  for (const char* const address : {"", "127.0.0.1", ":80", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:70000", "a b:1"}) {
    EXPECT_EQ(CodeOf(network->Listen(address, Echo).status()), Code::kInvalidArgument) << address;
  }
  EXPECT_THAT(Text(network->Listen("0.0.0.0:0", Echo).status()),
              StartsWith("PERMISSION_DENIED: 0.0.0.0:0 can be reached from other machines"));
  EXPECT_EQ(Text(New({.beyond_loopback = true})->Listen("0.0.0.0:0", Echo).status()), "OK");
  EXPECT_EQ(Text(network->Listen("localhost:0", Echo).status()), "OK");
}

TEST_F(GrpcNetworkTest, WhatIsTooLargeIsNotSentAndItsMethodNamed) {
  const auto small = New({.max_message_bytes = 1000});
  const auto large = New();
  std::atomic<int> served{0};
  const auto listener = Listen(*small, [&](IncomingCall& call) -> NetworkReply {
    ++served;
    return absl::Cord(std::string(call.body()) + std::string(call.body() == "more" ? 2000 : 0, 'x'));
  });
  const std::string body(1001, 'b');
  EXPECT_EQ(Text(Call(*small, {.to = listener->address(), .body = absl::Cord(body)}).status()),
            "RESOURCE_EXHAUSTED: A request of /test.Service/Echo has 1001 bytes, the most is 1000: send a large tensor "
            "in parts.");
  EXPECT_EQ(CodeOf(Call(*large, {.to = listener->address(), .body = absl::Cord(body)}).status()),
            Code::kResourceExhausted)
      << "a server's limit is its own";
  EXPECT_EQ(served, 0);
  EXPECT_THAT(Text(Call(*large, {.to = listener->address(), .body = absl::Cord("more")}).status()),
              StartsWith("RESOURCE_EXHAUSTED: The answer of /test.Service/Echo has 2004 bytes"));
  EXPECT_EQ(*Call(*small, {.to = listener->address(), .body = absl::Cord(body.substr(1))}), body.substr(1));
}

TEST_F(GrpcNetworkTest, WhatArrivesOtherwiseThanItWasSentIsNotHandedOver) {
  const grpc::Slice slices[] = {grpc::Slice("part"), grpc::Slice("ial")};
  const grpc::ByteBuffer parts(slices, 2);
  EXPECT_EQ(*ReceivedBytes(parts, ChecksumOf(absl::Cord("partial"))), "partial");
  EXPECT_EQ(*ReceivedBytes(parts, std::nullopt), "partial") << "of a peer that sends none";
  EXPECT_EQ(*ReceivedBytes(grpc::ByteBuffer(), ChecksumOf(absl::Cord())), "");
  EXPECT_EQ(Text(ReceivedBytes(parts, ChecksumOf(absl::Cord("pardial"))).status()),
            fmt::format("UNAVAILABLE: A message of 7 bytes arrived with another checksum: {}, not {}.",
                        ChecksumOf(absl::Cord("partial")), ChecksumOf(absl::Cord("pardial"))));
}

TEST_F(GrpcNetworkTest, LargeBodiesComeAsTheyWere) {
  const auto network = New();
  const auto listener = Listen(*network);
  std::string body(std::size_t{20} << 20, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 7 >> 3);
  const NetworkReply reply = Call(*network, {.to = listener->address(), .body = absl::Cord(body)});
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_TRUE(*reply == body);
}

TEST_F(GrpcNetworkTest, ARequestMayWaitForAConnection) {
  const auto network = New();
  auto listener = Listen(*network);
  const std::string address = listener->address();
  listener = nullptr;
  EXPECT_EQ(CodeOf(Call(*network, {.to = address}).status()), Code::kUnavailable);
  EXPECT_EQ(CodeOf(Call(*network, {.to = address, .deadline = In(milliseconds(50)), .wait_for_ready = true}).status()),
            Code::kDeadlineExceeded);
  Notification answered(*real_.env().tasks, "an answer");
  NetworkReply reply;
  network->Start({.to = address, .method = kEcho, .body = absl::Cord("waited"), .wait_for_ready = true},
                 [&](NetworkReply got) {
                   reply = std::move(got);
                   answered.Notify();
                 });
  const auto again = network->Listen(address, Echo);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(answered.Wait(In(seconds(60))));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(*reply, "waited");
}

// A socket that says what a test tells it, and else nothing.
class Socket {
 public:
  Socket() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (accepted_ >= 0) close(accepted_);
    close(socket_);
  }
  std::string ListenInSilence() {
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(socket_, 8), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  // As a server of HTTP/2 does that is about to stand still: greets who comes, and reads nothing.
  void AcceptAndGreet() {
    accepted_ = accept(socket_, nullptr, nullptr);
    const std::string settings("\0\0\0\4\0\0\0\0\0", 9);
    ASSERT_EQ(send(accepted_, settings.data(), settings.size(), MSG_NOSIGNAL), static_cast<ssize_t>(settings.size()));
  }
  void Connect(const std::string& address) {
    const int port = std::stoi(address.substr(address.rfind(':') + 1));
    sockaddr_in to{.sin_family = AF_INET,
                   .sin_port = htons(static_cast<std::uint16_t>(port)),
                   .sin_addr = {htonl(INADDR_LOOPBACK)},
                   .sin_zero = {}};
    ASSERT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  // Whether the peer has broken off, or does it in that time.
  bool IsReset(int wait_ms) const {
    pollfd wait = {.fd = socket_, .events = 0, .revents = 0};
    return poll(&wait, 1, wait_ms) == 1 && (wait.revents & (POLLERR | POLLHUP)) != 0;
  }
  void Say(const std::string& address, const std::string& bytes) {
    Connect(address);
    ASSERT_EQ(send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

 private:
  const int socket_;
  int accepted_ = -1;
};

// The peer takes what fits into its window, 64 KiB, and no more.
TEST_F(GrpcNetworkTest, BytesThatThePeerDoesNotTakeAreBounded) {
  const auto network = New({.max_bytes_in_flight = 3 << 20});
  Socket standing;
  const std::string address = standing.ListenInSilence();
  std::mutex mutex;
  std::vector<std::string> answers(5);
  Notification four(*real_.env().tasks, "four"), all(*real_.env().tasks, "all");
  int answered = 0;
  std::vector<std::uint64_t> calls;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    calls.push_back(network->Start({.to = address,
                                    .method = kEcho,
                                    .body = absl::Cord(std::string(std::size_t{1} << 20, 'x')),
                                    .deadline = i == 3 ? In(milliseconds(50)) : kNever},
                                   [&, i](const NetworkReply& reply) {
                                     std::lock_guard lock(mutex);
                                     answers[i] = Text(reply.status());
                                     if (++answered == 5) all.Notify();
                                   }));
  }
  standing.AcceptAndGreet();
  EXPECT_EQ(network->load(address).bytes, 3 << 20);
  EXPECT_EQ(network->load(address).waiting, 2);
  Notification ended(*real_.env().tasks, "ended");
  const std::uint64_t sign =
      network->Start({.to = address, .method = kEcho, .body = absl::Cord("here"), .at_once = true},
                     [&](const NetworkReply&) { ended.Notify(); });
  EXPECT_EQ(network->load(address).bytes, (3 << 20) + 4);
  network->Cancel(sign);
  ended.Wait(kNever);
  network->Cancel(calls[4]);
  network->Cancel(calls[0]);
  network->Cancel(calls[1]);
  network->Cancel(calls[2]);
  all.Wait(kNever);
  EXPECT_THAT(answers, ElementsAre(StartsWith("CANCELLED"), StartsWith("CANCELLED"), StartsWith("CANCELLED"),
                                   StartsWith("DEADLINE_EXCEEDED"), StartsWith("CANCELLED")));
  EXPECT_EQ(network->load(address), GrpcNetwork::Load{});
}

// As a step that waits for a value which another request brings.
TEST_F(GrpcNetworkTest, WhatWasSentAndIsNotAnsweredHoldsNobodyBack) {
  const auto network = New({.max_bytes_in_flight = 1000});
  Notification second(*real_.env().tasks, "second");
  const auto listener = Listen(*network, [&](IncomingCall& call) -> NetworkReply {
    if (call.body()[0] == '2') second.Notify();
    if (!second.Wait(In(seconds(20)))) return MakeStatus(Code::kAborted, "the second one was held back");
    return absl::Cord();
  });
  Notification answered(*real_.env().tasks, "answered");
  std::string first;
  network->Start({.to = listener->address(), .method = kEcho, .body = absl::Cord(std::string(1000, '1'))},
                 [&](const NetworkReply& reply) {
                   first = Text(reply.status());
                   answered.Notify();
                 });
  EXPECT_EQ(Text(Call(*network, {.to = listener->address(), .body = absl::Cord(std::string(1000, '2'))}).status()),
            "OK");
  answered.Wait(kNever);
  EXPECT_EQ(first, "OK");
}

TEST_F(GrpcNetworkTest, AfterAConnectionThatFailedCallsFailAtOnceForAWhile) {
  const auto network = New({.reconnect_after = std::chrono::hours(1)});
  const auto other = New({.reconnect_after = Duration::zero()});
  const auto probe = Listen(*network);
  const std::string address = probe->address();
  EXPECT_EQ(*Call(*network, {.to = address, .body = absl::Cord("a")}), "a");
  const std::string nobody = [&] {
    const auto gone = Listen(*network);
    return gone->address();
  }();
  EXPECT_EQ(CodeOf(Call(*network, {.to = nobody}).status()), Code::kUnavailable);
  EXPECT_EQ(CodeOf(Call(*other, {.to = nobody}).status()), Code::kUnavailable);
  const auto back = network->Listen(nobody, Echo);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(CodeOf(Call(*network, {.to = nobody}).status()), Code::kUnavailable) << "it waits for an hour";
  EXPECT_EQ(*Call(*other, {.to = nobody, .body = absl::Cord("b")}), "b");
}

TEST_F(GrpcNetworkTest, ManyCallsAtATimeAreAnsweredEachByItsOwn) {
  const auto network = New();
  const auto listener = Listen(*network);
  constexpr int kCalls = 10000;
  std::atomic<int> left{kCalls}, wrong{0};
  Notification all(*real_.env().tasks, "all");
  for (int i = 0; i < kCalls; ++i) {
    const std::string body = std::to_string(i);
    network->Start({.to = listener->address(), .method = kEcho, .body = absl::Cord(body)},
                   [&, body](const NetworkReply& reply) {
                     if (!reply.ok() || *reply != body) ++wrong;
                     if (--left == 0) all.Notify();
                   });
  }
  all.Wait(kNever);
  EXPECT_EQ(wrong, 0);
}

// Who would try again what a server's end has cost (goodbye.h) must not: the network is not there any more.
TEST_F(GrpcNetworkTest, WhatFailsAfterItsNetworkHasGoneIsCancelled) {
  auto network = New();
  const auto server = New();
  Notification entered(*real_.env().tasks, "entered"), answered(*real_.env().tasks, "answered");
  // Nobody waits for the handler's end (network.h), so what it waits for is its own too.
  const auto go = std::make_shared<Notification>(*real_.env().tasks, "go");
  auto listener = Listen(*server, [&entered, go](IncomingCall&) -> NetworkReply {
    entered.Notify();
    go->Wait(kNever);
    return absl::Cord();
  });
  std::string got;
  network->Start({.to = listener->address(), .method = kEcho}, [&](const NetworkReply& reply) {
    got = Text(reply.status());
    answered.Notify();
  });
  entered.Wait(kNever);
  network = nullptr;
  listener = nullptr;
  answered.Wait(kNever);
  EXPECT_EQ(got, "CANCELLED: Its network has gone.");
  go->Notify();
}

TEST_F(GrpcNetworkTest, ACallMayOutliveItsNetwork) {
  auto network = New();
  const auto server = New();
  Notification entered(*real_.env().tasks, "entered");
  Notification go(*real_.env().tasks, "go");
  const auto listener = Listen(*server, [&](IncomingCall&) -> NetworkReply {
    entered.Notify();
    go.Wait(kNever);
    return absl::Cord("late");
  });
  Notification answered(*real_.env().tasks, "answered");
  std::string got;
  network->Start({.to = listener->address(), .method = kEcho}, [&](const NetworkReply& reply) {
    got = reply.ok() ? std::string(*reply) : Text(reply.status());
    answered.Notify();
  });
  entered.Wait(kNever);
  network = nullptr;
  go.Notify();
  answered.Wait(kNever);
  EXPECT_EQ(got, "late");
}

TEST_F(GrpcNetworkTest, WhatStoodBehindOneThatWasGivenUpHasItsTurn) {
  const auto network = New({.max_bytes_in_flight = 3 << 20});
  Socket standing;
  const std::string address = standing.ListenInSilence();
  Notification all(*real_.env().tasks, "all");
  std::atomic<int> left{3};
  std::vector<std::uint64_t> calls;
  // More than a connection takes before anybody reads.
  for (const std::size_t mebi : {1u, 3u, 1u}) {
    calls.push_back(network->Start({.to = address, .method = kEcho, .body = absl::Cord(std::string(mebi << 20, 'x'))},
                                   [&](const NetworkReply&) {
                                     if (--left == 0) all.Notify();
                                   }));
  }
  standing.AcceptAndGreet();
  EXPECT_EQ(network->load(address).waiting, 2);
  network->Cancel(calls[1]);
  EXPECT_EQ(network->load(address).waiting, 0);
  EXPECT_EQ(network->load(address).bytes, 2 << 20);
  network->Cancel(calls[0]);
  network->Cancel(calls[2]);
  all.Wait(kNever);
}

TEST_F(GrpcNetworkTest, APeerThatSaysNothingIsGivenUpAtTheDeadline) {
  const auto network = New();
  Socket silent;
  const std::string address = silent.ListenInSilence();
  EXPECT_EQ(CodeOf(Call(*network, {.to = address, .deadline = In(milliseconds(50))}).status()),
            Code::kDeadlineExceeded);
}

// No deadline: only the keepalive ends the wait.
TEST_F(GrpcNetworkTest, APeerThatStandsStillIsGivenUpAfterTheKeepalive) {
  const auto network = New();
  Socket silent, standing;
  const std::string address = silent.ListenInSilence();
  const Time start = real_.env().clock->Monotonic();
  EXPECT_EQ(CodeOf(Call(*network, {.to = address, .keepalive = milliseconds(400)}).status()), Code::kUnavailable)
      << "it never greets";
  const std::string other = standing.ListenInSilence();
  Notification answered(*real_.env().tasks, "answered");
  Code code = Code::kOk;
  network->Start({.to = other, .method = kEcho, .keepalive = milliseconds(400)}, [&](const NetworkReply& reply) {
    code = CodeOf(reply.status());
    answered.Notify();
  });
  standing.AcceptAndGreet();
  answered.Wait(kNever);
  EXPECT_EQ(code, Code::kUnavailable) << "it greets, and then answers no ping";
  EXPECT_LT(real_.env().clock->Monotonic() - start, seconds(15)) << "gRPC's own patience is 20 s";
}

TEST_F(GrpcNetworkTest, APeerThatAnswersPingsMayTakeAnyTime) {
  const auto network = New();
  const auto listener = Listen(*network, [&](IncomingCall&) -> NetworkReply {
    real_.env().tasks->SleepUntil(In(milliseconds(500)));
    return absl::Cord("late");
  });
  EXPECT_EQ(*Call(*network, {.to = listener->address(), .keepalive = milliseconds(100)}), "late");
}

TEST_F(GrpcNetworkTest, ForeignBytesAndHalfMessagesDoNotDisturbOthers) {
  const auto network = New();
  std::atomic<int> served{0};
  const auto listener = Listen(*network, [&](IncomingCall& call) {
    ++served;
    return Echo(call);
  });
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  std::vector<std::unique_ptr<Socket>> strangers;
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(1 << 16, '\xff'), std::string("\x16\x03\x01", 3), preface,
        preface + std::string("\x00\x00\x00\x04", 4)}) {
    strangers.push_back(std::make_unique<Socket>());
    strangers.back()->Say(listener->address(), bytes);
    EXPECT_EQ(*Call(*network, {.to = listener->address(), .body = absl::Cord("as ever")}), "as ever");
  }
  EXPECT_EQ(served, 5);
}

// gRPC by itself would never accept again.
TEST_F(GrpcNetworkTest, WhoTakesAllFilesIsRefusedAndOthersAreServedOnceTheyAreFree) {
  const auto network = New();
  const auto listener = Listen(*network, Echo);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = dup(0);  // so many are open, or a few less
  close(next);
  const rlimit few = {.rlim_cur = static_cast<rlim_t>(next) + 300, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  bool refused = false;
  {
    std::vector<std::unique_ptr<Socket>> strangers;
    for (int i = 0; i < 150 && !refused; ++i) {
      strangers.push_back(std::make_unique<Socket>());
      strangers.back()->Connect(listener->address());
      refused = strangers.back()->IsReset(i < 100 ? 0 : 50);
    }
  }
  EXPECT_TRUE(refused);
  // The server hears of their end by and by.
  NetworkReply answer = MakeStatus(Code::kUnavailable, "");
  for (int i = 0; i < 100 && !answer.ok(); ++i) {
    const auto anew = New();  // it would remember that it was refused
    answer = Call(*anew, {.to = listener->address(), .body = absl::Cord("as ever")});
    if (!answer.ok()) poll(nullptr, 0, 50);
  }
  EXPECT_EQ(answer.value_or(absl::Cord()), "as ever");
  setrlimit(RLIMIT_NOFILE, &before);
}

TlsFiles Tls(const std::string& authority, const std::string& task, const std::string& server_name = "cluster") {
  const std::string folder = VIGIL_SOURCE_DIR "/core/env/grpc/testdata/";
  return {.authorities = folder + authority + ".pem",
          .certificate = folder + task + ".pem",
          .key = folder + task + ".key",
          .server_name = server_name};
}

TEST_F(GrpcNetworkTest, WithTlsEachEndMustShowWhoItIs) {
  const auto server = New({.tls = Tls("authority", "task")});
  std::atomic<int> served{0};
  const auto listener = Listen(*server, [&](IncomingCall& call) {
    ++served;
    return Echo(call);
  });
  const auto call = [&](const GrpcNetworkOptions& options) {
    return Call(*New(options), {.to = listener->address(), .body = absl::Cord("secret"), .deadline = In(seconds(20))});
  };
  EXPECT_EQ(*call({.tls = Tls("authority", "task")}), "secret");
  EXPECT_EQ(served, 1);
  // Nothing to show; signed by somebody else; does not believe the server; wants another server.
  for (const GrpcNetworkOptions& options : {GrpcNetworkOptions{},
                                            {.tls = Tls("authority", "foreign")},
                                            {.tls = Tls("stranger", "task")},
                                            {.tls = Tls("authority", "task", "elsewhere")}}) {
    EXPECT_EQ(CodeOf(call(options).status()), Code::kUnavailable);
  }
  EXPECT_EQ(served, 1);
  const auto open = New();
  EXPECT_EQ(CodeOf(Call(*New({.tls = Tls("authority", "task")}), {.to = Listen(*open)->address()}).status()),
            Code::kUnavailable)
      << "a server without a certificate is none";
}

TEST_F(GrpcNetworkTest, WithTlsOfServersAloneWhoCallsNeedsNoCertificate) {
  TlsFiles of_server = Tls("authority", "task");
  of_server.mutual = false;
  TlsFiles of_client = of_server;
  of_client.certificate = of_client.key = "";
  const auto server = New({.tls = of_server});
  const auto listener = Listen(*server);
  const auto client = New({.tls = of_client});
  EXPECT_EQ(*Call(*client, {.to = listener->address(), .body = absl::Cord("secret")}), "secret");
  EXPECT_EQ(*Call(*server, {.to = listener->address(), .body = absl::Cord("own")}), "own");
  EXPECT_EQ(CodeOf(Call(*New(), {.to = listener->address(), .deadline = In(seconds(20))}).status()), Code::kUnavailable)
      << "without TLS";
  EXPECT_THAT(Text(client->Listen("127.0.0.1:0", Echo).status()),
              StartsWith("INVALID_ARGUMENT: listen at 127.0.0.1:0: who serves by TLS needs a certificate and a key"));
  of_client.authorities = of_client.authorities.substr(0, of_client.authorities.rfind('/')) + "/stranger.pem";
  EXPECT_EQ(CodeOf(Call(*New({.tls = of_client}), {.to = listener->address(), .deadline = In(seconds(20))}).status()),
            Code::kUnavailable)
      << "a server that somebody else has signed";
  const auto demanding = New({.tls = Tls("authority", "task")});
  EXPECT_EQ(CodeOf(Call(*client, {.to = Listen(*demanding)->address(), .deadline = In(seconds(20))}).status()),
            Code::kUnavailable)
      << "where certificates are demanded";
}

TEST_F(GrpcNetworkTest, WithoutItsFilesThereIsNoTls) {
  const Env env = real_.env();
  EXPECT_EQ(Text(GrpcNetwork::Create(env, {.tls = TlsFiles{}}).status()),
            "INVALID_ARGUMENT: TLS needs a file with the certificates of authorities: TlsFiles names none.");
  EXPECT_THAT(Text(GrpcNetwork::Create(env, {.tls = TlsFiles{.authorities = "/nowhere/ca.pem"}}).status()),
              AllOf(StartsWith("NOT_FOUND: The certificates of authorities for TLS: "), HasSubstr("/nowhere/ca.pem")));
  EXPECT_EQ(Text(GrpcNetwork::Create(env, {.tls = TlsFiles{.authorities = "/dev/null"}}).status()),
            "INVALID_ARGUMENT: /dev/null has no certificates of authorities: it is not a PEM file.");
}

}  // namespace
}  // namespace vigil
