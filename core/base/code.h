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

// When to use which. The session layer acts on four groups only: preemptions (kAborted, kUnavailable) make it recover,
// clean ends (kOutOfRange, kStopIteration) end a training without an error, kNotFound alone says that something is
// missing, and all else ends the training with that error.
enum class Code : unsigned char {
  kOk = 0,  // success; no status of it is made by MakeStatus
  // The work was ended on purpose, by a stop request, a closed session or a closed queue: nobody tries again.
  kCancelled = 1,
  // The outside world failed and says no more (a disk's EIO). The core itself chooses another code.
  kUnknown = 2,
  // The argument is wrong in whatever state: a shape, a type, a name that is not in the graph, bytes of no message.
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,   // a wait had a limit, and it has passed
  kNotFound = 5,           // what was named is not there: a file, a checkpoint, a key in it, a type of op
  kAlreadyExists = 6,      // the name is taken: of a file that must be new, of an address, of the one watch of a signal
  kPermissionDenied = 7,   // the operating system does not let this process
  kResourceExhausted = 8,  // no memory, disk space, file descriptors or threads, or a limit of ours is reached
  // Not in this state, but it may come right: a variable without a value, a closed file, a directory in a file's place.
  kFailedPrecondition = 9,
  kAborted = 10,        // somebody began anew and has forgotten this work (a server without this session): a preemption
  kOutOfRange = 11,     // the end of the input: a closed and empty queue, the last element of an iterator
  kUnimplemented = 12,  // TensorFlow can do this, vigil cannot
  kInternal = 13,       // neither caller nor user can have caused it: an answer that is none, the system's refusal
  kUnavailable = 14,    // the peer was not reached or was lost, so nobody knows what it has done: a preemption
  kDataLoss = 15,       // stored bytes are damaged: a wrong checksum, a file that ends too early
  kUnauthenticated = 16,  // never chosen here; passed on
  kStopIteration = 17,    // the other clean end: a caller's own, or a step function's RequestStop
  kOther = 18,            // a user's own error without a canonical code (an exception thrown by a callback)
  kUsage = 19,            // the library's complaint about its caller: the message says what to do
  kNanLoss = 20,          // the loss is NaN
};

// The code of `status`, extra codes included. A payload of somebody else's that names no code: kUnknown.
Code CodeOf(const absl::Status& status);

// A status of that code. REQUIRES: code != kOk.
absl::Status MakeStatus(Code code, std::string_view message);
absl::Status UsageError(std::string_view message);  // of kUsage

// "ABORTED", "STOP_ITERATION", ...; "OK" for kOk.
std::string_view CodeName(Code code);
// The reverse; nullopt for any other text (case matters).
std::optional<Code> CodeFromName(std::string_view name);

// The message as std::string_view (absl has a string_view of its own). Valid as long as a copy of `status` lives.
std::string_view MessageOf(const absl::Status& status);

// The same code and payloads with another message; OK stays OK. It is another error for IsSameError.
absl::Status WithMessage(const absl::Status& status, std::string_view message);

// Where an error came from, in words ("a run", "hook 'a' in before_run"), kept as a payload. The first origin stays.
// OK has none.
absl::Status WithOrigin(absl::Status status, std::string_view origin);
// ... the last one stays.
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
