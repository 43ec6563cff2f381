#include "vigil/properties/zoo/zoo.h"

#include <algorithm>
#include <utility>

namespace vigil {
namespace {

std::vector<ZooHook> AllOfZoo() {
  std::vector<ZooHook> all;
  const auto add = [&all](std::vector<ZooHook> hooks, ZooKind kind) {
    for (ZooHook& hook : hooks) {
      hook.kind = kind;
      all.push_back(std::move(hook));
    }
  };
  for (const auto part : {WrongInState, WrongWithSession, WrongInCalls, WrongOutside, Crashing})
    add(part(), ZooKind::kWrong);
  add(RightHooks(), ZooKind::kRight);
  add(BuiltInHooks(), ZooKind::kBuiltIn);
  return all;
}

}  // namespace

const std::vector<ZooHook>& Zoo() {
  static const std::vector<ZooHook> all = AllOfZoo();
  return all;
}

const ZooHook* FindInZoo(std::string_view name) {
  const auto found = std::ranges::find(Zoo(), name, &ZooHook::name);
  return found == Zoo().end() ? nullptr : &*found;
}

}  // namespace vigil
