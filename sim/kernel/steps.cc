#include "vigil/sim/kernel/steps.h"

#include <algorithm>
#include <utility>

#include "vigil/sim/kernel/chooser.h"

namespace vigil::sim {

ObjectId NamedObject(std::string_view kind, std::string_view name, std::uint64_t number) {
  return HashDraw(HashDraw(0, kind, 0), name, number) | kNamedObjects;
}

void Footprint::Add(ObjectId object, Access access) {
  const auto at = std::ranges::lower_bound(touches, object, {}, &Touch::object);
  const bool write = access == Access::kWrite;
  if (at != touches.end() && at->object == object) {
    at->write = at->write || write;
  } else {
    touches.insert(at, {object, write});
  }
}

// In vain: since it came back it touched that condition and its mutex at most.
void StepUnderWay::WaitsFor(ObjectId condition) {
  if (came_back_ == condition) in_vain_ = footprint_.touches.size() <= 2 && !footprint_.everything;
}

Footprint StepUnderWay::End() && {
  if (memory_ != 0) footprint_.Add(memory_, in_vain_ ? Access::kRead : Access::kWrite);
  return std::move(footprint_);
}

bool Conflict(const Footprint& a, const Footprint& b) {
  if (a.empty() || b.empty()) return false;
  if (a.everything || b.everything) return true;
  auto of_b = b.touches.begin();
  for (const Touch& of_a : a.touches) {
    while (of_b != b.touches.end() && of_b->object < of_a.object) ++of_b;
    if (of_b == b.touches.end()) return false;
    if (of_b->object == of_a.object && (of_a.write || of_b->write)) return true;
  }
  return false;
}

}  // namespace vigil::sim
