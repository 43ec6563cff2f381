#include "vigil/core/base/code.h"

#include <array>

#include "vigil/core/base/check.h"

namespace vigil {
namespace {

constexpr char kPayloadUrl[] = "vigil/code";
constexpr char kOriginUrl[] = "vigil/origin";

constexpr std::array<std::string_view, 21> kNames = {
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
    "STOP_ITERATION",
    "OTHER",
    "USAGE",
    "NAN_LOSS",
};

}  // namespace

Code CodeOf(const absl::Status& status) {
  if (status.ok()) return Code::kOk;
  const auto code = static_cast<Code>(static_cast<int>(status.code()));
  if (code != Code::kUnknown) return code;
  const auto payload = status.GetPayload(kPayloadUrl);
  if (!payload.has_value()) return code;
  return CodeFromName(std::string(*payload)).value_or(Code::kUnknown);
}

absl::Status MakeStatus(Code code, std::string_view message) {
  VIGIL_CHECK(code != Code::kOk);
  const absl::string_view text(message.data(), message.size());
  if (code <= Code::kUnauthenticated) return {static_cast<absl::StatusCode>(code), text};
  absl::Status status(absl::StatusCode::kUnknown, text);
  status.SetPayload(kPayloadUrl, absl::Cord(std::string(CodeName(code))));
  return status;
}

absl::Status UsageError(std::string_view message) { return MakeStatus(Code::kUsage, message); }

std::string_view CodeName(Code code) { return kNames[static_cast<size_t>(code)]; }

std::optional<Code> CodeFromName(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Code>(i);
  }
  return std::nullopt;
}

std::string_view MessageOf(const absl::Status& status) {
  const absl::string_view text = status.message();
  return {text.data(), text.size()};
}

absl::Status WithMessage(const absl::Status& status, std::string_view message) {
  if (status.ok()) return status;
  absl::Status out(status.code(), absl::string_view(message.data(), message.size()));
  status.ForEachPayload([&out](absl::string_view url, const absl::Cord& value) { out.SetPayload(url, value); });
  return out;
}

absl::Status WithOrigin(absl::Status status, std::string_view origin) {
  if (!status.ok() && !status.GetPayload(kOriginUrl).has_value())
    status.SetPayload(kOriginUrl, absl::Cord(std::string(origin)));
  return status;
}

absl::Status ReplaceOrigin(absl::Status status, std::string_view origin) {
  if (!status.ok()) status.SetPayload(kOriginUrl, absl::Cord(std::string(origin)));
  return status;
}

std::string OriginOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kOriginUrl);
  return payload.has_value() ? std::string(*payload) : "";
}

bool IsSameError(const absl::Status& a, const absl::Status& b) {
  // Copies of a status share its message.
  return a == b && a.message().data() == b.message().data();
}

bool IsPreemption(const absl::Status& status) {
  const Code code = CodeOf(status);
  return code == Code::kAborted || code == Code::kUnavailable;
}

bool IsCleanEnd(const absl::Status& status) {
  const Code code = CodeOf(status);
  return code == Code::kOutOfRange || code == Code::kStopIteration;
}

}  // namespace vigil
