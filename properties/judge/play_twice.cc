#include "vigil/properties/judge/play_twice.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/time.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/show/event_text.h"
#include "vigil/sim/kernel/trace.h"
#include "vigil/sim/world.h"

namespace vigil::properties {
namespace {

using replays::Outcome;

// What the hash covers of an event.
auto Parts(const sim::Trace& trace, const sim::TraceRecord& record) {
  const Event& event = record.event;
  return std::tuple(record.time, trace.NodeName(record), trace.TaskLabel(record), event.kind, event.code, event.call,
                    event.closed, event.has_value, event.index, event.session, event.subject);
}

bool Same(const sim::Trace& a, const sim::TraceRecord& left, const sim::Trace& b, const sim::TraceRecord& right) {
  // NaN is like itself.
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  return Parts(a, left) == Parts(b, right) && bits(left.event.value) == bits(right.event.value);
}

std::string Side(std::string_view name, const sim::Trace& trace, std::size_t i, bool all) {
  if (i >= trace.size()) return fmt::format("    {:<8} ends after {} events\n", name, trace.size());
  const sim::TraceRecord& record = trace[i];
  const Event& event = record.event;
  std::string text = fmt::format("    {:<8} event {:<6} {:>10.3f} {}  {}", name, i + 1,
                                 ToSeconds(record.time - sim::WorldOptions{}.start), trace.TaskLabel(record),
                                 replays::EventText(event));
  if (all) {
    text += fmt::format(" (code {}, call {}, index {}, session {}{}, value {}, subject {}, at {} ns)",
                        CodeName(event.code), event.call, event.index, event.session, event.closed ? " closed" : "",
                        event.has_value ? fmt::to_string(event.value) : "none", replays::Quoted(event.subject),
                        (record.time - sim::WorldOptions{}.start).count());
  }
  return replays::Escaped(text) + "\n";
}

std::string ChoiceSide(std::string_view name, const std::vector<std::string>& choices, std::size_t i) {
  return fmt::format("    {:<8} {}\n", name, i < choices.size() ? replays::Escaped(choices[i]) : "no more choices");
}

std::string FirstChoice(const Outcome& first, const Outcome& second) {
  const std::vector<std::string> none;
  const auto of = [&none](const Outcome& outcome, const std::string& point) -> const std::vector<std::string>& {
    const auto found = outcome.choices.find(point);
    return found == outcome.choices.end() ? none : found->second;
  };
  for (const auto* const side : {&first.choices, &second.choices}) {
    for (const auto& [point, unused] : *side) {
      const std::vector<std::string>& left = of(first, point);
      const std::vector<std::string>& right = of(second, point);
      if (left == right) continue;
      const auto i = static_cast<std::size_t>(std::ranges::mismatch(left, right).in1 - left.begin());
      return fmt::format("    all events are the same; choice {} at {} is not:\n{}{}", i + 1, replays::Escaped(point),
                         ChoiceSide("first", left, i), ChoiceSide("second", right, i));
    }
  }
  return "    all events and choices are the same: tasks took turns, or time passed, in another way between events\n";
}

}  // namespace

std::string FirstDifference(const Outcome& first, const Outcome& second) {
  const sim::Trace& a = first.trace;
  const sim::Trace& b = second.trace;
  const std::size_t most = std::max(a.size(), b.size());
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && Same(a, a[i], b, b[i])) ++i;
  if (i == most) return FirstChoice(first, second);
  std::string left = Side("first", a, i, false);
  std::string right = Side("second", b, i, false);
  // Text leaves out numbers: then all of it.
  const auto without_name = [](const std::string& side) { return std::string_view(side).substr(12); };
  if (without_name(left) == without_name(right)) {
    left = Side("first", a, i, true);
    right = Side("second", b, i, true);
  }
  return "  the first event that differs:\n" + left + right;
}

Outcome PlayTwice(const Play& play, replays::Scenario scenario, const std::atomic<bool>* interrupt) {
  Outcome outcome = play(scenario, {.random_schedule = true, .interrupt = interrupt});
  const auto played = [](const Outcome& one) {
    return one.verdict != replays::Verdict::kInterrupted && !replays::IsWithoutPlay(one.verdict);
  };
  if (!played(outcome)) return outcome;
  scenario.choices = outcome.choices;
  Outcome again = play(scenario, {.interrupt = interrupt, .quiet = false});
  if (again.verdict == replays::Verdict::kInterrupted) {
    outcome.verdict = again.verdict;
    return outcome;
  }
  if (!played(again)) return again;
  if (again.hash != outcome.hash && outcome.reason.empty()) {
    outcome.reason = fmt::format("playing the same choices again gave another run: hash {:016x}, then {:016x}",
                                 outcome.hash, again.hash);
    outcome.explanation = FirstDifference(outcome, again);
  }
  return outcome;
}

}  // namespace vigil::properties
