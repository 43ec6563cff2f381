// What a proxy does to calls: as a file, and drawn from a seed. docs/proxy.md describes it.
//
// Thread safety: data and pure functions.
#ifndef VIGIL_PROXY_PLAN_H_
#define VIGIL_PROXY_PLAN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/time.h"
#include "vigil/proxy/call_kind.h"

namespace vigil::proxy {

enum class Effect : std::uint8_t {
  kError,      // `code`, before or after the call took effect, by status or in the body
  kLostReply,  // it takes effect, and its caller hears that the connection broke: UNAVAILABLE
  kReset,      // it does not get there, and its caller hears the same
  kDelay,      // it gets there `lasts` later
  kNever,      // it takes effect, and its caller hears nothing
};

struct Fault {
  CallKind on = CallKind::kTrain;
  std::int64_t nth = 1;    // of the calls of that kind, from 1
  std::int64_t times = 1;  // so many in a row
  Effect effect = Effect::kError;
  Code code = Code::kUnavailable;
  bool in_body = false;  // of an error: where TensorFlow's servers put those of steps
  bool after = false;    // of an error
  Duration lasts{0};     // of a delay
  friend bool operator==(const Fault&, const Fault&) = default;
};
using Plan = std::vector<Fault>;

std::string_view NameOf(Effect effect);

// INVALID_ARGUMENT: where and what, on one line: "/2/on: unknown kind 'trian'; known: create_session, ...".
absl::StatusOr<Plan> ParsePlan(std::string_view json);
// A line each.
std::string PrintPlan(const Plan& plan);
// "train 5: error UNAVAILABLE before, by status", for tables and messages.
std::string Describe(const Fault& fault);

// One to four faults; the same for the same seed.
Plan DrawPlan(std::uint64_t seed);

}  // namespace vigil::proxy

#endif  // VIGIL_PROXY_PLAN_H_
