// The verification of one hook, in the process that calls it: what verify.h does in a worker.
//
// Thread safety: one verification at a time in a process.
#ifndef VIGIL_PROPERTIES_VERIFY_VERIFICATION_H_
#define VIGIL_PROPERTIES_VERIFY_VERIFICATION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "vigil/properties/verify/cases.h"
#include "vigil/properties/verify/hook_world.h"
#include "vigil/properties/verify/options.h"
#include "vigil/properties/verify/verify.h"
#include "vigil/replays/crew/crash.h"

namespace vigil {

// What a verification is told, and tells.
struct VerificationView {
  std::function<bool()> go_on = nullptr;                 // asked before each play
  std::function<void(std::uint64_t)> playing = nullptr;  // told of each play that begins, from 1
  std::map<std::uint64_t, replays::Crash> crashes = {};  // plays that are known to crash, and how: they are not played
  bool crashed_enough = false;                           // the last of them is the last play
};

HookReport VerifyHere(const HookMaker& maker, const VerifyOptions& options, const VerificationView& view);

// The least of a random case in which it still fails, in words: the probe "verified" is the hook. "" of an enumerated
// case, which is small as it is.
std::string ShrunkCase(const std::string& name, std::uint64_t most_plays,
                       const std::function<bool(const HookCase&)>& fails, const std::function<bool()>& stop);

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_VERIFY_VERIFICATION_H_
