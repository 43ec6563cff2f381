#include "vigil/core/env/grpc/wire_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/cord.h"
#include "vigil/core/base/code.h"
#include "vigil/core/env/grpc/rpc_status.pb.h"
#include "vigil/core/env/network.h"

namespace vigil {
namespace {

using testing::EndsWith;
using testing::StartsWith;

TEST(WireStatusTest, EveryCodeComesAsItWas) {
  for (int number = 1; number <= static_cast<int>(Code::kNanLoss); ++number) {
    const Code code = static_cast<Code>(number);
    const absl::Status status = WithOrigin(MakeStatus(code, "what happened"), "there");
    const WireStatus wire = ToWire(status);
    EXPECT_LE(wire.code, 16) << CodeName(code) << ": gRPC has no other";
    const absl::Status back = FromWire(wire);
    EXPECT_EQ(CodeOf(back), code);
    EXPECT_EQ(MessageOf(back), "what happened");
    EXPECT_EQ(OriginOf(back), "there");
  }
}

TEST(WireStatusTest, WithoutPayloadsThereAreNoDetails) {
  const WireStatus wire = ToWire(absl::AbortedError("gone"));
  EXPECT_EQ(wire.code, 10);
  EXPECT_EQ(wire.details, "");
  EXPECT_EQ(FromWire(wire), absl::AbortedError("gone"));
}

TEST(WireStatusTest, OfALongMessageTheBeginningIsSentAndWhatIsMissingSaid) {
  const std::string fits(kMostStatusMessageBytes, 'a');
  EXPECT_EQ(ToWire(absl::InternalError(fits)).message, fits);
  const WireStatus wire = ToWire(absl::InternalError(fits + std::string(1 << 20, 'b')));
  EXPECT_LE(wire.message.size(), kMostStatusMessageBytes);
  EXPECT_THAT(wire.message, StartsWith("aaaa"));
  EXPECT_THAT(wire.message, EndsWith(" [and 1048640 bytes that were not sent]"));
}

TEST(WireStatusTest, ACharacterIsNotCutInTwo) {
  for (int shift = 0; shift < 3; ++shift) {
    std::string message(static_cast<std::size_t>(shift), 'x');
    while (message.size() < 2 * kMostStatusMessageBytes) message += "\xE2\x82\xAC";  // the sign of the euro
    const std::string sent = ToWire(absl::InternalError(message)).message;
    const std::string kept = sent.substr(0, sent.find(" [and "));
    EXPECT_EQ((kept.size() - static_cast<std::size_t>(shift)) % 3, 0u) << shift;
  }
}

TEST(WireStatusTest, OfManyPayloadsTheSmallestAreSent) {
  absl::Status status = MakeStatus(Code::kStopIteration, "end");
  status.SetPayload("large", absl::Cord(std::string(kMostStatusPayloadBytes, 'x')));
  status.SetPayload("small", absl::Cord("y"));
  const WireStatus wire = ToWire(status);
  EXPECT_LE(wire.details.size(), kMostStatusPayloadBytes + 128);
  const absl::Status back = FromWire(wire);
  EXPECT_EQ(CodeOf(back), Code::kStopIteration) << "the code is a payload, too";
  EXPECT_TRUE(back.GetPayload("small").has_value());
  EXPECT_FALSE(back.GetPayload("large").has_value());
  EXPECT_EQ(back.GetPayload(kLeftOutPayload), absl::Cord("large"));
}

TEST(WireStatusTest, WhatOthersSendIsTakenAsFarAsItIsUnderstood) {
  EXPECT_EQ(FromWire({.code = 14, .message = "m", .details = "\xFF\xFF no message"}), absl::UnavailableError("m"));
  EXPECT_EQ(FromWire({.code = 99, .message = "m", .details = {}}), absl::UnknownError("m"));
  EXPECT_EQ(FromWire({.code = -1, .message = "m", .details = {}}), absl::UnknownError("m"));
}

}  // namespace
}  // namespace vigil
