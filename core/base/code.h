// Error codes of the session layer, and the only reader of a status's code.
//
// TensorFlow's canonical codes are absl's. Four more things end a run in TensorFlow that have no canonical code:
// Python's StopIteration (the other clean end), a user's own exception, the library's own complaints and a NaN loss.
// They travel as kUnknown with a payload, which survives the wire; only CodeOf() tells them apart.
//
// Thread safety: pure functions.
#ifndef VIGIL_CORE_BASE_CODE_H_
#define VIGIL_CORE_BASE_CODE_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace vigil {

enum class Code : unsigned char {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
  kStopIteration = 17,  // the other clean end
  kOther = 18,          // a user's own error without a canonical code (an exception thrown by a callback)
  kUsage = 19,          // the library's complaint about its caller: the message says what to do
  kNanLoss = 20,        // the loss is NaN
};

// The code of `status`, extra codes included.
Code CodeOf(const absl::Status& status);

// A status of that code. REQUIRES: code != kOk.
absl::Status MakeStatus(Code code, std::string_view message);
absl::Status UsageError(std::string_view message);

// "ABORTED", "STOP_ITERATION", ...; "OK" for kOk.
std::string_view CodeName(Code code);
std::optional<Code> CodeFromName(std::string_view name);

// The message as std::string_view (absl has a string_view of its own).
std::string_view MessageOf(const absl::Status& status);

// The same code and payloads with another message.
absl::Status WithMessage(const absl::Status& status, std::string_view message);

// Where an error came from, in words ("a run", "hook 'a' in before_run"), kept as a payload. The first origin stays.
absl::Status WithOrigin(absl::Status status, std::string_view origin);
absl::Status ReplaceOrigin(absl::Status status, std::string_view origin);
std::string OriginOf(const absl::Status& status);  // "" if nobody said
// What WithOrigin is given for an error that a run of the session returned.
inline constexpr std::string_view kOriginRun = "a run";
// ... and for the clean end that a step function asked for.
inline constexpr std::string_view kOriginStepFn = "a step function's RequestStop";

// Whether both are copies of one error, not only equal ones (Python's `is`). An error without a message and payload has
// no identity: such ones are the same if they are equal.
bool IsSameError(const absl::Status& a, const absl::Status& b);

// A preemption is exactly ABORTED or UNAVAILABLE: what the recoverable session recovers from.
bool IsPreemption(const absl::Status& status);
// A clean end is exactly OUT_OF_RANGE or STOP_ITERATION: what a scope takes for the end of the input.
bool IsCleanEnd(const absl::Status& status);

}  // namespace vigil

#endif  // VIGIL_CORE_BASE_CODE_H_
