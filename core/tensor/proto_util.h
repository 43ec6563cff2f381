// Protocol buffers to bytes and from text, as files need them.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_TENSOR_PROTO_UTIL_H_
#define VIGIL_CORE_TENSOR_PROTO_UTIL_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace google::protobuf {
class Message;
class MessageLite;
}  // namespace google::protobuf

namespace vigil {

// Equal messages give equal bytes: maps are written in the order of their keys. INVALID_ARGUMENT for more than 2 GiB.
absl::StatusOr<std::string> SerializeDeterministically(const google::protobuf::MessageLite& message);

// TensorFlow's text format, several lines. Equal messages give equal text.
std::string PrintProtoText(const google::protobuf::Message& message);
enum class UnknownFields : std::uint8_t { kPassedOver, kRefused };
// INVALID_ARGUMENT "<line>:<column>: what is wrong"; also for messages in messages deeper than 100, as in bytes.
absl::Status ParseProtoText(const std::string& text, google::protobuf::Message* message,
                            UnknownFields unknown = UnknownFields::kPassedOver);

}  // namespace vigil

#endif  // VIGIL_CORE_TENSOR_PROTO_UTIL_H_
