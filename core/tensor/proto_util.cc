#include "vigil/core/tensor/proto_util.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"

namespace vigil {
namespace {

constexpr std::size_t kMostBytes = std::size_t{2} << 30;

// Keeps the first complaint; without a collector protobuf writes to standard error.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = fmt::format("{}:{}: {}", line + 1, column + 1, message);
  }
  void AddWarning(int, int, const std::string&) override {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

absl::StatusOr<std::string> SerializeDeterministically(const google::protobuf::MessageLite& message) {
  const std::size_t size = message.ByteSizeLong();
  if (size >= kMostBytes) {
    return MakeStatus(Code::kInvalidArgument,
                      fmt::format("A message of {} bytes is larger than the 2 GiB of a protocol buffer.", size));
  }
  std::string out;
  out.reserve(size);
  {
    google::protobuf::io::StringOutputStream stream(&out);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    const bool written = message.SerializeToCodedStream(&coded);
    VIGIL_CHECK(written);
  }
  return out;
}

std::string PrintProtoText(const google::protobuf::Message& message) {
  std::string text;
  const bool printed = google::protobuf::TextFormat::PrintToString(message, &text);
  VIGIL_CHECK(printed);
  return text;
}

absl::Status ParseProtoText(const std::string& text, google::protobuf::Message* message, UnknownFields unknown) {
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.AllowUnknownField(unknown == UnknownFields::kPassedOver);
  if (parser.ParseFromString(text, message)) return absl::OkStatus();
  return MakeStatus(Code::kInvalidArgument, error.text());
}

}  // namespace vigil
