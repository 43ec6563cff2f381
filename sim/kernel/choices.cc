#include "vigil/sim/kernel/choices.h"

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
  return labels.size() == 1 ? 0 : Ask(key, 0, labels);
}

bool Choices::ChooseByChance(Key& key, double chance, const std::array<std::string_view, 2>& labels) {
  return chance > 0 && Ask(key, chance, labels) == 1;
}

// Most keys are offered the same labels again and again.
std::uint32_t Choices::NumberOf(Key& key, std::size_t index, std::string_view label) {
  std::uint32_t& known = key.numbers[index % key.numbers.size()];
  if (known == 0 || labels_.At(known - 1) != label) known = labels_.Intern(label) + 1;
  return known - 1;
}

std::size_t Choices::Ask(Key& key, double chance, std::span<const std::string_view> labels) {
  const std::size_t chosen = chooser_ == nullptr ? 0 : chooser_->Choose({key.text, key.made.size(), chance}, labels);
  VIGIL_CHECK(chosen < labels.size());
  key.made.push_back(NumberOf(key, chosen, labels[chosen]));
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
