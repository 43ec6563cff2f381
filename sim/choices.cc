#include "vigil/sim/choices.h"

#include <fmt/format.h>

#include "vigil/core/base/check.h"

namespace vigil::sim {

Choices::Key& Choices::KeyOf(std::string_view node, std::string_view task, std::string_view point) {
  return KeyOf(fmt::format("{}/{}", node, task), point);
}

Choices::Key& Choices::KeyOf(std::string_view label, std::string_view point) {
  std::string text = fmt::format("{}/{}", label, point);
  Key& key = keys_[text];
  if (key.text.empty()) key.text = std::move(text);
  return key;
}

std::size_t Choices::Choose(Key& key, std::span<const std::string_view> labels) {
  if (labels.size() == 1) return 0;
  const std::size_t chosen = chooser_ == nullptr ? 0 : chooser_->Choose({key.text, key.made.size()}, labels);
  VIGIL_CHECK(chosen < labels.size());
  key.made.push_back(labels_.Intern(labels[chosen]));
  hash_.AddChoice(key.text, labels[chosen], labels.size());
  return chosen;
}

ChoiceMap Choices::Made() const {
  ChoiceMap made;
  for (const auto& [text, key] : keys_) {
    if (key.made.empty()) continue;
    std::vector<std::string>& labels = made[text];
    for (const std::uint32_t label : key.made) labels.emplace_back(labels_.At(label));
  }
  return made;
}

}  // namespace vigil::sim
