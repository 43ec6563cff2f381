// What a call to a master is for: the one list of the kinds of calls that a plan can name and a trace tells.
//
// Thread safety: constants and pure functions.
#ifndef VIGIL_PROXY_CALL_KIND_H_
#define VIGIL_PROXY_CALL_KIND_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace vigil::proxy {

enum class CallKind : std::uint8_t {
  kCreateSession,
  kExtendSession,
  kCloseSession,
  kListDevices,
  kReset,
  kInit,
  kRestore,
  kSave,
  kReady,
  kReadStep,
  kTrain,
  kEnqueue,
  kRun,
  kOther,
};

struct CallKindInfo {
  CallKind kind;
  std::string_view name;  // "create_session"
  std::string_view what;  // which calls are of it
};

// All kinds, in the order of the enum.
std::span<const CallKindInfo> AllCallKinds();
inline std::string_view NameOf(CallKind kind) { return AllCallKinds()[static_cast<std::size_t>(kind)].name; }
std::optional<CallKind> CallKindFromName(std::string_view name);

// A step of a session: then its reply may carry an error in its body.
constexpr bool IsStep(CallKind kind) { return kind >= CallKind::kInit && kind <= CallKind::kRun; }

}  // namespace vigil::proxy

#endif  // VIGIL_PROXY_CALL_KIND_H_
