#include "vigil/properties/shrink/choice_log.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "vigil/core/base/check.h"

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

ChoiceLog::ChoiceLog() {
  void* const memory =
      mmap(nullptr, kMostLogged, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  VIGIL_CHECK(memory != MAP_FAILED);
  text_ = static_cast<char*>(memory);
  used_ = new (memory) std::atomic<std::size_t>(sizeof(std::atomic<std::size_t>));
}

ChoiceLog::~ChoiceLog() { munmap(text_, kMostLogged); }

void ChoiceLog::Add(const sim::ChoicePoint& point, std::span<const std::string_view> labels, std::size_t chosen) {
  std::size_t size = sizeof(LoggedChoice) + point.key.size() + 1;
  for (const std::string_view label : labels) size += label.size() + 1;
  if (*used_ + size > kMostLogged) return;
  char* to = text_ + *used_;
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
  *used_ += size;
}

template <typename Visitor>
void ChoiceLog::Visit(const Visitor& visit) const {
  std::vector<std::string_view> labels;
  for (std::size_t at = sizeof(std::atomic<std::size_t>); at < *used_;) {
    LoggedChoice choice;
    std::memcpy(&choice, text_ + at, sizeof choice);
    at += sizeof choice;
    const auto read = [&] {
      const std::string_view text(text_ + at);
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
