// Calls whose requests or answers are in frames (frames.h).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/cord.h"
#include "vigil/core/env/grpc/frames.h"
#include "vigil/core/env/grpc/grpc_parts.h"
#include "vigil/core/env/grpc/testing.h"
#include "vigil/core/env/notification.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using fakes::Text;
using testing::ElementsAre;
using testing::StartsWith;

class FramedCallsTest : public GrpcTest {};

// One aligned piece, as it comes in frames: what comes as one message is in as many as gRPC read.
bool IsOnePiece(const absl::Cord& body) {
  const std::optional<std::string_view> flat = FlatOf(body);
  return flat.has_value() && reinterpret_cast<std::uintptr_t>(flat->data()) % 64 == 0;
}

TEST_F(FramedCallsTest, WhatIsLargeGoesInFramesOnceThePeerHasSaidThatItReadsThem) {
  const auto network = New();
  std::vector<bool> asked;
  const auto listener = Listen(*network, [&asked](IncomingCall& call) -> NetworkReply {
    asked.push_back(IsOnePiece(call.body()));
    if (call.method() == "/test.Service/Fail") return MakeStatus(Code::kAborted, "no");
    return call.body();
  });
  const absl::Cord large(std::string(std::size_t{9} << 20, 'x'));
  for (int i = 0; i < 2; ++i) {
    const NetworkReply reply = Call(*network, {.to = listener->address(), .body = large});
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_TRUE(*reply == large);
    EXPECT_TRUE(IsOnePiece(*reply));
  }
  const NetworkReply failed =
      Call(*network, {.to = listener->address(), .method = "/test.Service/Fail", .body = large});
  EXPECT_EQ(Text(failed.status()), "ABORTED: no");
  EXPECT_TRUE(Call(*network, {.to = listener->address(), .body = large}).ok());
  EXPECT_THAT(asked, ElementsAre(false, true, true, true));
}

TEST_F(FramedCallsTest, AnAnswerThatIsTooLargeForWhoAsksIsRefusedAtOnce) {
  const auto server = New();
  const auto client = New({.max_message_bytes = 600'000});
  const auto listener = Listen(*server, [](IncomingCall& call) -> NetworkReply {
    return call.body().empty() ? absl::Cord(std::string(std::size_t{9} << 20, 'x')) : call.body();
  });
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Text(Call(*client, {.to = listener->address()}).status()),
                StartsWith("RESOURCE_EXHAUSTED: The answer of /test.Service/Echo has 9437184 bytes"));
    const absl::Cord most(std::string(600'000, 'y'));
    const NetworkReply reply = Call(*client, {.to = listener->address(), .body = most});
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_TRUE(*reply == most);
  }
}

TEST_F(FramedCallsTest, ALimitIsForTheBytesOfAMessageNotForItsFrames) {
  const auto network = New({.max_message_bytes = std::int64_t{1} << 20});
  const auto listener = Listen(*network);
  const absl::Cord most(std::string(std::size_t{1} << 20, 'x'));
  for (int i = 0; i < 2; ++i) {
    const NetworkReply reply = Call(*network, {.to = listener->address(), .body = most});
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_TRUE(*reply == most);
  }
  const auto large = New();
  EXPECT_THAT(Text(Call(*large, {.to = listener->address(), .body = absl::Cord(std::string(most) + "x")}).status()),
              StartsWith("RESOURCE_EXHAUSTED: The request of /test.Service/Echo has 1048577 bytes"));
}

TEST_F(FramedCallsTest, WhatIsInFramesCountsAmongTheBytesOnTheirWayUntilAllAreSent) {
  const auto network = New();
  const auto listener = Listen(*network);
  ASSERT_TRUE(Call(*network, {.to = listener->address()}).ok());
  const absl::Cord large(std::string(std::size_t{32} << 20, 'x'));
  ASSERT_TRUE(Call(*network, {.to = listener->address(), .body = large}).ok());
  EXPECT_EQ(network->load(listener->address()), GrpcNetwork::Load());
  // Given up in the middle.
  for (int i = 0; i < 20; ++i) {
    Notification done(*real_.env().tasks, "done");
    absl::Status ended;
    const std::uint64_t call =
        network->Start({.to = listener->address(), .method = kEcho, .body = large}, [&](const NetworkReply& reply) {
          ended = reply.status();
          done.Notify();
        });
    network->Cancel(call);
    done.Wait(kNever);
    EXPECT_EQ(CodeOf(ended), Code::kCancelled) << ended;
  }
  EXPECT_EQ(network->load(listener->address()), GrpcNetwork::Load());
  EXPECT_TRUE(Call(*network, {.to = listener->address(), .body = large}).ok());
}

TEST_F(FramedCallsTest, ARequestWhoseFramesAreNoneIsRefused) {
  const auto network = New();
  bool handled = false;
  const auto listener = Listen(*network, [&handled](IncomingCall&) -> NetworkReply {
    handled = true;
    return absl::Cord();
  });
  const auto refused = [&](const std::string& told) {
    grpc::GenericStub stub(grpc::CreateChannel(listener->address(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.AddMetadata(kFramesKey, told);
    const grpc::ByteBuffer body = BytesToSend(absl::Cord("a message that is not in frames"));
    grpc::ByteBuffer reply;
    grpc::Status status;
    Notification done(*real_.env().tasks, "done");
    stub.UnaryCall(&context, kEcho, grpc::StubOptions(), &body, &reply, [&](const grpc::Status& ended) {
      status = ended;
      done.Notify();
    });
    done.Wait(kNever);
    return fmt::format("{} {}", static_cast<int>(status.error_code()), status.error_message());
  };
  EXPECT_THAT(refused("100"), StartsWith("14 A part of a message of 100 bytes arrived with another checksum."));
  EXPECT_THAT(refused("many"), StartsWith("3 The size of a request in frames is no number."));
  EXPECT_THAT(refused("-5"), StartsWith("3 "));
  EXPECT_THAT(refused("99999999999999999999"), StartsWith("3 "));
  EXPECT_THAT(refused("2147483648"), StartsWith("8 The request of /test.Service/Echo has 2147483648 bytes"));
  EXPECT_FALSE(handled);
  EXPECT_TRUE(Call(*network, {.to = listener->address()}).ok());
}

}  // namespace
}  // namespace vigil
