// The zoo: hooks that are wrong, each in its own way, hooks that are right, and every hook that ships with the library.
//
// What VerifyHook() finds of them is known: the zoo is how the verifier itself is tested. Thread safety: pure
// functions.
#ifndef VIGIL_PROPERTIES_ZOO_ZOO_H_
#define VIGIL_PROPERTIES_ZOO_ZOO_H_

#include <string_view>
#include <vector>

#include "vigil/properties/verify/hook_world.h"
#include "vigil/properties/verify/options.h"

namespace vigil {

enum class ZooKind { kWrong, kRight, kBuiltIn };

struct ZooHook {
  std::string_view name;
  std::string_view what;     // it does
  std::string_view promise;  // that it breaks, or how it crashes; "" = none
  HookMaker make;
  VerifyOptions options = {};
  ZooKind kind = ZooKind::kWrong;
};

// The one list: wrong ones, right ones, built-in ones.
const std::vector<ZooHook>& Zoo();
// Null: there is none of that name.
const ZooHook* FindInZoo(std::string_view name);

// Its parts.
std::vector<ZooHook> WrongInState();
std::vector<ZooHook> WrongWithSession();
std::vector<ZooHook> WrongInCalls();
std::vector<ZooHook> WrongOutside();
std::vector<ZooHook> Crashing();
std::vector<ZooHook> RightHooks();
std::vector<ZooHook> BuiltInHooks();

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_ZOO_ZOO_H_
