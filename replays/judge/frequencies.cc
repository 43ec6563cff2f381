#include "vigil/replays/judge/frequencies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/replays/format/json_writer.h"
#include "vigil/replays/judge/exact_tests.h"

namespace vigil::replays {
namespace {

// A way by name, of what falls into kinds.
struct KindField {
  std::string_view name;
  std::function<std::string(const TaskPlay&)> of;
};

struct AmountField {
  std::string_view name;
  TimeSlack slack;
  std::function<double(const TaskPlay&)> of;
};

std::string CountedCodes(const std::vector<Code>& codes) {
  std::map<std::string_view, int> times;  // in which order hangs on who is told first
  for (const Code code : codes) ++times[CodeName(code)];
  std::string text;
  for (const auto& [code, n] : times) text += fmt::format("{}{} x{}", text.empty() ? "" : " and ", code, n);
  return text.empty() ? "none" : text;
}

double Sum(const std::vector<std::int64_t>& steps) {
  return static_cast<double>(std::accumulate(steps.begin(), steps.end(), std::int64_t{0}));
}

std::span<const KindField> KindFields() {
  static const KindField kFields[] = {
      {"outcome", [](const TaskPlay& play) { return play.outcome; }},
      {"sessions", [](const TaskPlay& play) { return fmt::format("{}", play.sessions); }},
      {"run_failed", [](const TaskPlay& play) { return CountedCodes(play.run_failed); }},
      {"create_failed", [](const TaskPlay& play) { return CountedCodes(play.create_failed); }},
      {"step_back_silent", [](const TaskPlay& play) { return fmt::format("{}", play.step_back_silent.size()); }},
      {"step_back_recovered", [](const TaskPlay& play) { return fmt::format("{}", play.step_back_recovered.size()); }},
      {"hook_end", [](const TaskPlay& play) { return fmt::format("{}", play.hook_end); }},
  };
  return kFields;
}

std::span<const AmountField> AmountFields() {
  static const AmountField kFields[] = {
      {"steps lost",
       {.seconds = 5},
       [](const TaskPlay& play) { return Sum(play.step_back_silent) + Sum(play.step_back_recovered); }},
      {"longest_run_s", {.seconds = 0.5, .factor = 0.1}, [](const TaskPlay& play) { return play.longest_run_s; }},
      {"last_step",
       {.seconds = 45},
       [](const TaskPlay& play) { return static_cast<double>(play.last_step.value_or(0)); }},
  };
  return kFields;
}

Frequency OfKinds(std::string_view task, std::string_view field, const std::vector<std::string>& recorded,
                  const std::vector<std::string>& seen) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> times;
  for (const std::string& kind : recorded) ++times[kind].first;
  for (const std::string& kind : seen) ++times[kind].second;
  Frequency out{.task = std::string(task), .field = std::string(field)};
  std::vector<std::int64_t> one;
  std::vector<std::int64_t> other;
  const auto say = [](std::string& text, const std::string& kind, std::int64_t n, std::size_t all) {
    if (n > 0) text += fmt::format("{}{}: {} of {}", text.empty() ? "" : ", ", kind, n, all);
  };
  for (const auto& [kind, n] : times) {
    one.push_back(n.first);
    other.push_back(n.second);
    say(out.recorded, kind, n.first, recorded.size());
    say(out.seen, kind, n.second, seen.size());
  }
  out.p = FisherP(one, other);
  return out;
}

std::string AmountsText(std::vector<double> amounts) {
  std::ranges::sort(amounts);
  const auto say = [](double amount) { return fmt::format("{:.3g}", amount); };
  const double middle = amounts[amounts.size() / 2];
  if (amounts.front() == amounts.back()) return say(middle);
  return fmt::format("{} to {}, half up to {}", say(amounts.front()), say(amounts.back()), say(middle));
}

Frequency OfAmounts(std::string_view task, std::string_view field, const TimeSlack& slack,
                    const std::vector<double>& recorded, const std::vector<double>& seen) {
  return {.task = std::string(task),
          .field = std::string(field),
          .recorded = AmountsText(recorded),
          .seen = AmountsText(seen),
          .p = KolmogorovSmirnovP(recorded, seen, slack)};
}

std::vector<TaskPlay> PlaysOf(std::string_view task, const std::vector<JobPlay>& plays) {
  std::vector<TaskPlay> out;
  for (const JobPlay& play : plays) {
    const auto it = play.tasks.find(task);
    if (it != play.tasks.end()) out.push_back(it->second);
  }
  return out;
}

// By itself no way: each play of one job has each task.
std::optional<Frequency> Lacking(std::string_view task, std::size_t theirs, std::size_t recorded, std::size_t ours,
                                 std::size_t seen) {
  if (theirs == recorded && ours == seen) return std::nullopt;
  return Frequency{.task = std::string(task),
                   .field = "plays that have this task",
                   .recorded = fmt::format("{} of {}", theirs, recorded),
                   .seen = fmt::format("{} of {}", ours, seen),
                   .p = 0};
}

template <typename T, typename Of>
std::vector<T> Each(const std::vector<TaskPlay>& plays, const Of& of) {
  std::vector<T> out;
  for (const TaskPlay& play : plays) out.push_back(of(play));
  return out;
}

}  // namespace

std::vector<Frequency> Frequencies(const std::vector<JobPlay>& recorded, const std::vector<JobPlay>& seen) {
  std::vector<Frequency> out;
  if (recorded.empty() || seen.empty()) return out;
  std::set<std::string, std::less<>> tasks;
  for (const JobPlay& play : recorded) {
    for (const auto& [task, unused] : play.tasks) tasks.insert(task);
  }
  for (const std::string& task : tasks) {
    const std::vector<TaskPlay> theirs = PlaysOf(task, recorded);
    const std::vector<TaskPlay> ours = PlaysOf(task, seen);
    if (const auto lacking = Lacking(task, theirs.size(), recorded.size(), ours.size(), seen.size())) {
      out.push_back(*lacking);
      continue;
    }
    for (const KindField& field : KindFields())
      out.push_back(OfKinds(task, field.name, Each<std::string>(theirs, field.of), Each<std::string>(ours, field.of)));
    for (const AmountField& field : AmountFields())
      out.push_back(
          OfAmounts(task, field.name, field.slack, Each<double>(theirs, field.of), Each<double>(ours, field.of)));
  }
  return out;
}

std::vector<std::string> TooDifferent(std::span<const Frequency> frequencies) {
  // Holm: the least p is held to the level over all tests, the next to that over all but one, ... until one passes.
  std::vector<const Frequency*> by_p;
  for (const Frequency& each : frequencies) by_p.push_back(&each);
  std::ranges::stable_sort(by_p, {}, &Frequency::p);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < by_p.size(); ++i) {
    const Frequency& each = *by_p[i];
    if (each.p > kFrequencyLevel / static_cast<double>(by_p.size() - i)) break;
    out.push_back(fmt::format("{} {}: recorded {}; seen {} (p = {:.1g})", each.task, each.field, each.recorded,
                              each.seen, each.p));
  }
  return out;
}

std::string PrintFrequencies(std::span<const Frequency> frequencies) {
  if (frequencies.empty()) return "";
  JsonWriter w;
  w.Open('[');
  for (const Frequency& each : frequencies) {
    w.Open('{').Key("task").String(each.task).Key("field").String(each.field);
    w.Key("recorded").String(each.recorded).Key("seen").String(each.seen).Key("p").Seconds(each.p).Close('}');
  }
  return w.Close(']').Take();
}

}  // namespace vigil::replays
