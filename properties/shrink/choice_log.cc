#include "vigil/properties/shrink/choice_log.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace vigil::properties {
namespace {

constexpr std::size_t kMostLogged = std::size_t{16} << 20;  // bytes of choices

// Stands in front of the key and the labels, of which each ends with a zero.
struct LoggedChoice {
  std::uint64_t count = 0;
  std::uint32_t labels = 0;
  std::uint32_t chosen = 0;
};

}  // namespace

struct ChoiceLog::Memory {
  std::atomic<std::size_t> used{0};
  char text[kMostLogged];
};

ChoiceLog::ChoiceLog() : memory_(replays::NewSharedMemory<Memory>()) {}

ChoiceLog::~ChoiceLog() = default;

void ChoiceLog::Add(const sim::ChoicePoint& point, std::span<const std::string_view> labels, std::size_t chosen) {
  std::size_t size = sizeof(LoggedChoice) + point.key.size() + 1;
  for (const std::string_view label : labels) size += label.size() + 1;
  if (memory_->used + size > kMostLogged) return;
  char* to = memory_->text + memory_->used;
  const LoggedChoice choice{point.count, static_cast<std::uint32_t>(labels.size()), static_cast<std::uint32_t>(chosen)};
  std::memcpy(to, &choice, sizeof choice);
  to += sizeof choice;
  const auto write = [&to](std::string_view text) {
    std::memcpy(to, text.data(), text.size());
    to[text.size()] = '\0';
    to += text.size() + 1;
  };
  write(point.key);
  for (const std::string_view label : labels) write(label);
  memory_->used += size;
}

template <typename Visitor>
void ChoiceLog::Visit(const Visitor& visit) const {
  std::vector<std::string_view> labels;
  for (std::size_t at = 0; at < memory_->used;) {
    LoggedChoice choice;
    std::memcpy(&choice, memory_->text + at, sizeof choice);
    at += sizeof choice;
    const auto read = [&] {
      const std::string_view text(memory_->text + at);
      at += text.size() + 1;
      return text;
    };
    const std::string_view key = read();
    labels.clear();
    for (std::uint32_t i = 0; i < choice.labels; ++i) labels.push_back(read());
    visit(sim::ChoicePoint{.key = key, .count = choice.count}, labels, choice.chosen);
  }
}

sim::ChoiceMap ChoiceLog::Choices() const {
  sim::ChoiceMap choices;
  Visit([&choices](const sim::ChoicePoint& point, const std::vector<std::string_view>& labels, std::size_t chosen) {
    choices[std::string(point.key)].emplace_back(labels[chosen]);
  });
  return choices;
}

void ChoiceLog::ForEach(
    const std::function<void(const sim::ChoicePoint& point, std::span<const std::string_view> labels,
                             std::size_t chosen)>& see) const {
  Visit(see);
}

void ChoiceLog::Repeat(sim::Chooser& chooser) const {
  Visit([&chooser](const sim::ChoicePoint& point, const std::vector<std::string_view>& labels, std::size_t) {
    chooser.Choose(point, labels);
  });
}

std::size_t LoggedChooser::Choose(const sim::ChoicePoint& point, std::span<const std::string_view> labels) {
  const std::size_t chosen = chooser_.Choose(point, labels);
  log_.Add(point, labels, chosen);
  return chosen;
}

}  // namespace vigil::properties
