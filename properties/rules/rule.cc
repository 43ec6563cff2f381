#include "vigil/properties/rules/rule.h"

#include <algorithm>

namespace vigil::properties {

bool Applies(const RuleInfo& info, const RunFacts& facts) {
  if (!facts.judged || (info.details & facts.unseen) != 0) return false;
  if (info.of != SpeaksOf::kBoth && (info.of == SpeaksOf::kSupervisor) != facts.supervisor) return false;
  switch (info.holds) {
    case Holds::kAlways:
      return true;
    case Holds::kTensorFlow:
      return facts.tensorflow;
    case Holds::kDefault:
      return facts.by_default;
  }
  return true;
}

bool Moment::LayerCall() const {
  if (!Is(EventKind::kSessionCall) || run.in_hook) return false;
  const auto kind = static_cast<CallKind>(event.call);
  return kind != CallKind::kReadStep && kind != CallKind::kRawRun;
}

void Rule::Violate(std::vector<std::size_t> witness, std::string expected, std::string actual) {
  if (violation_.has_value()) return;
  std::erase(witness, kNever);
  std::sort(witness.begin(), witness.end());
  violation_ = Violation{
      .rule = info_.id, .witness = std::move(witness), .expected = std::move(expected), .actual = std::move(actual)};
}

}  // namespace vigil::properties
