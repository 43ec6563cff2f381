#include "vigil/properties/judge/coverage.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <string>

namespace vigil::properties {
namespace {

// 1, 2, 3 for three and four, 4 for more.
int HowOften(std::uint64_t times) { return times <= 2 ? static_cast<int>(times) : times <= 4 ? 3 : 4; }

std::string EventSignature(const Event& event) {
  return fmt::format("{}/{}/{}{}", static_cast<int>(event.kind), static_cast<int>(event.call),
                     static_cast<int>(event.code), event.closed ? "c" : "");
}

std::uint64_t HashOfText(const std::string& text) { return XXH64(text.data(), text.size(), 0); }

std::string_view RoleOfTask(std::string_view task) { return task.substr(0, task.find(':')); }

}  // namespace

void Coverage::Add(std::string_view role, std::size_t rule, std::uint64_t armed, std::size_t event) {
  const sim::Trace& trace = outcome_.trace;
  const sim::TraceRecord& record = trace[event];
  std::size_t before = event;
  while (before > 0 && (trace[before - 1].node != record.node || trace[before - 1].task != record.task)) --before;
  pairs_.insert(HashOfText(fmt::format("{} {} {} {} {}", role, rule, HowOften(armed),
                                       before == 0 ? "first" : EventSignature(trace[before - 1].event),
                                       EventSignature(record.event))));
}

OnArmed Coverage::OfSession() {
  return [this](std::size_t rule, std::uint64_t armed, std::size_t event) { Add("", rule, armed, event); };
}

OnNodeArmed Coverage::OfJob() {
  return [this](const std::string& node, int life, std::size_t rule, std::uint64_t armed, std::size_t event) {
    Add(fmt::format("{}{}", RoleOfTask(node), life == 1 ? "" : " again"), rule, armed, event);
  };
}

void Coverage::AddFaults() {
  if (!outcome_.job.has_value()) return;
  for (const sim::FaultCount& fault : outcome_.job->faults) {
    if (fault.effective == 0) continue;
    for (const auto& [invariant, times] : outcome_.job->armed) {
      if (times > 0) pairs_.insert(HashOfText(fmt::format("{} with {}", invariant, fault.kind)));
    }
  }
}

std::uint64_t TraceHash(const replays::Outcome& outcome) {
  std::uint64_t hash = 0;
  for (const sim::TraceRecord& record : outcome.trace) {
    const std::string event = fmt::format("{} {} {} {}\n", outcome.trace.TaskLabel(record),
                                          EventSignature(record.event), record.event.index, record.event.session);
    hash = XXH64(event.data(), event.size(), hash);
  }
  return hash;
}

}  // namespace vigil::properties
