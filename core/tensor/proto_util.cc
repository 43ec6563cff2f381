#include "vigil/core/tensor/proto_util.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <string_view>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"

namespace vigil {
namespace {

constexpr std::size_t kMostBytes = std::size_t{2} << 30;
constexpr int kDeepest = 100;  // as protobuf's parser of bytes

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

// Whether brackets are nested deeper than that. protobuf's own limit for text leaves out the fields that it passes
// over: a stack overflow.
bool IsTooDeep(std::string_view text) {
  int depth = 0;
  char quote = 0;  // of the string that this is inside of
  bool comment = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      quote = 0;
      comment = false;
    } else if (comment) {
      continue;
    } else if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      comment = true;
    } else if (c == '{' || c == '<' || c == '[') {
      if (++depth > kDeepest) return true;
    } else if (c == '}' || c == '>' || c == ']') {
      --depth;
    }
  }
  return false;
}

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
  if (IsTooDeep(text)) {
    return MakeStatus(Code::kInvalidArgument,
                      fmt::format("1:1: The message has others inside of it that are deeper than {}.", kDeepest));
  }
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.AllowUnknownField(unknown == UnknownFields::kPassedOver);
  if (parser.ParseFromString(text, message)) return absl::OkStatus();
  return MakeStatus(Code::kInvalidArgument, error.text());
}

}  // namespace vigil
