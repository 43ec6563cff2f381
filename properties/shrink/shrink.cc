#include "vigil/properties/shrink/shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/replays/format/edits.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/print.h"

namespace vigil::properties {
namespace {

using replays::EditedText;
using replays::Scenario;

EditedText TextOf(const Scenario& scenario) {
  absl::StatusOr<EditedText> text = EditedText::Of(replays::PrintRecord(scenario));
  VIGIL_CHECK(text.ok());
  return *std::move(text);
}

// Less of these numbers is more of a fault.
bool IsNoNarrower(const sim::LinkSpec& link, const sim::LinkSpec& than) {
  return (link.bytes_per_s == 0 || link.bytes_per_s >= than.bytes_per_s) &&
         (link.bytes_in_flight == 0 || link.bytes_in_flight >= than.bytes_in_flight);
}
bool AreNoNarrower(const sim::FaultPlan& plan, const sim::FaultPlan& than) {
  return IsNoNarrower(plan.default_link, than.default_link) && std::ranges::all_of(plan.links, [&](const auto& entry) {
           const auto before = than.links.find(entry.first);
           return before == than.links.end() || IsNoNarrower(entry.second, before->second);
         });
}

// Whether the same is asked of both: else a smaller one would fail for a reason of its own. A job is given no more to
// do in its time: what is left out comes back with its default, which may be more. With less of an operation timeout it
// would need no fault to fail.
bool SameQuestion(const Scenario& smaller, const Scenario& than) {
  if (smaller.id != than.id || smaller.title != than.title || smaller.format != than.format ||
      smaller.seed != than.seed || smaller.behaviour != than.behaviour || smaller.limits != than.limits ||
      smaller.job.has_value() != than.job.has_value()) {
    return false;
  }
  if (!smaller.job.has_value()) return true;
  const sim::JobSpec& a = *smaller.job;
  const sim::JobSpec& b = *than.job;
  return a.limit == b.limit && a.heal_after == b.heal_after && a.workload.last_step <= b.workload.last_step &&
         a.workload.step <= b.workload.step &&
         (a.workload.timeout_ms == b.workload.timeout_ms || a.workload.timeout_ms == 0) &&
         AreNoNarrower(a.plan, b.plan);
}

// With more entries than this, pairs are not tried: that would be all of the budget.
constexpr std::size_t kMostForPairs = 40;

class Shrinker {
 public:
  Shrinker(const Scenario& failing, const StillFails& fails, const ShrinkOptions& options)
      : fails_(fails), options_(options), best_(failing), text_(TextOf(failing)) {}

  Shrunk Run() {
    do {
      changed_ = false;
      DropChoices();
      Lists(false);
      Bodies();
      Merges();
      Numbers();
      if (!changed_) Lists(true);
      if (!changed_) Pairs();
      if (!changed_) Together();
    } while (changed_ && !spent_);
    return {.scenario = std::move(best_), .plays = plays_, .minimal = !spent_};
  }

 private:
  // True if the candidate fails too: then it is what is gone on with.
  bool Try(const EditedText& candidate) {
    absl::StatusOr<replays::Recording> parsed = replays::ParseRecording(candidate.text());
    if (!parsed.ok() || parsed->scenario == best_ || !SameQuestion(parsed->scenario, best_)) return false;
    // What is left out may come back with its default, which is more than what was there: it would go back and forth.
    if (replays::PrintRecord(parsed->scenario).size() > text_.text().size()) return false;
    if (plays_ >= options_.max_plays || (options_.stop && options_.stop())) spent_ = true;
    if (spent_) return false;
    ++plays_;
    if (!fails_(parsed->scenario)) return false;
    best_ = std::move(parsed->scenario);
    text_ = TextOf(best_);
    changed_ = true;
    return true;
  }

  // Most failures do not depend on the schedule.
  void DropChoices() {
    if (best_.choices.empty()) return;
    Scenario calm = best_;
    calm.choices.clear();
    Try(TextOf(calm));
  }

  void Lists(bool choices) {
    for (std::size_t i = 0; !spent_; ++i) {
      const std::vector<EditedText::List> lists = text_.Lists();
      if (i >= lists.size()) return;
      if (lists[i].choices == choices) Halve(i);
    }
  }

  // Takes away ever smaller parts of the list with that number, from its end on.
  void Halve(std::size_t number) {
    std::size_t size = text_.Lists()[number].size;
    for (std::size_t part = size; part > 0 && !spent_; part /= 2) {
      for (std::size_t end = size; end > 0 && !spent_;) {
        const std::vector<EditedText::List> lists = text_.Lists();
        if (number >= lists.size()) return;  // the list went with what it was in
        const EditedText::List& list = lists[number];
        if (list.size != size) return;
        const std::size_t from = end > part ? end - part : 0;
        const std::string place = list.place;
        if (Try(text_.Without(list, from, end - from))) {
          const std::vector<EditedText::List> left = text_.Lists();
          if (number >= left.size() || left[number].place != place) return;
          size = left[number].size;
        }
        end = std::min(from, size);
      }
    }
  }

  void Bodies() {
    for (std::size_t i = 0; !spent_;) {
      const std::vector<std::string> bodies = text_.Bodies();
      if (i >= bodies.size()) return;
      if (!Try(text_.Unwrapped(bodies[i])) && !Try(text_.AsRun(bodies[i]))) ++i;
    }
  }

  void Merges() {
    for (std::size_t i = 0; !spent_;) {
      const std::vector<EditedText::Twins> twins = text_.Mergeable();
      if (i >= twins.size()) return;
      if (!Try(text_.Merged(twins[i]))) ++i;
    }
  }

  void Numbers() {
    for (std::size_t i = 0; !spent_; ++i) {
      const std::vector<EditedText::Number> numbers = text_.Numbers();
      if (i >= numbers.size()) return;
      for (const double smaller : numbers[i].smaller) {
        if (Try(text_.With(numbers[i].place, smaller))) {
          --i;  // once more, from where it is now
          break;
        }
      }
    }
  }

  // Entries that are needed only for one another: a statement and its fault.
  void Pairs() {
    struct Entry {
      EditedText::List list;
      std::size_t at;
    };
    std::vector<Entry> entries;
    for (const EditedText::List& list : text_.Lists()) {
      for (std::size_t at = 0; !list.choices && !list.members && at < list.size; ++at) entries.push_back({list, at});
    }
    if (entries.size() > kMostForPairs) return;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      for (std::size_t j = i + 1; j < entries.size() && !spent_; ++j) {
        // The later first: it moves nothing before it. What is inside of another goes with it alone.
        const std::string first = fmt::format("{}/{}", entries[i].list.place, entries[i].at);
        if (entries[j].list.place == first || entries[j].list.place.starts_with(first + "/")) continue;
        const EditedText without = text_.Without(entries[j].list, entries[j].at, 1);
        if (Try(without.Without(entries[i].list, entries[i].at, 1))) return;
      }
    }
  }

  // The numbers of calls that something happens at and the runs that lead there need one another: neither falls alone.
  void Together() {
    if (best_.job.has_value()) return;
    std::vector<EditedText::Number> calls;
    std::vector<EditedText::Number> repeats;
    for (EditedText::Number& number : text_.Numbers()) {
      if (number.place.find("/call") != std::string::npos && Lowered(number) >= 1) {
        calls.push_back(std::move(number));
      } else if (number.place.ends_with("/times") || number.place.ends_with("/max")) {
        repeats.push_back(std::move(number));
      }
    }
    for (const std::vector<EditedText::Number>& group : GroupsOf(calls)) {
      for (const bool to_one : {true, false}) {
        EditedText lowered = text_;
        for (const EditedText::Number& call : group) lowered = lowered.With(call.place, to_one ? 1 : Lowered(call));
        if (TryWithFewerRuns(lowered, repeats)) return;
      }
    }
  }

  // By one.
  static double Lowered(const EditedText::Number& number) { return *std::ranges::max_element(number.smaller); }

  // Each alone, those of faults, those of plans, all.
  static std::vector<std::vector<EditedText::Number>> GroupsOf(const std::vector<EditedText::Number>& calls) {
    std::vector<std::vector<EditedText::Number>> groups;
    for (const EditedText::Number& call : calls) groups.push_back({call});
    const auto add = [&](std::string_view part) {
      std::vector<EditedText::Number> group;
      std::ranges::copy_if(calls, std::back_inserter(group), [part](const EditedText::Number& call) {
        return call.place.find(part) != std::string::npos;
      });
      if (group.size() > 1) groups.push_back(std::move(group));
    };
    for (const std::string_view part : {"/faults/", "/plan/", "/"}) add(part);
    return groups;
  }

  bool TryWithFewerRuns(const EditedText& lowered, const std::vector<EditedText::Number>& repeats) {
    if (Try(lowered)) return true;
    for (const EditedText::Number& repeat : repeats) {
      for (const double smaller : repeat.smaller) {
        if (Try(lowered.With(repeat.place, smaller))) return true;
      }
    }
    for (const EditedText::List& list : lowered.Lists()) {
      if (!list.place.starts_with("/drive") || list.members) continue;
      for (std::size_t at = list.size; at-- > 0;) {
        if (Try(lowered.Without(list, at, 1))) return true;
      }
    }
    return false;
  }

  const StillFails& fails_;
  const ShrinkOptions& options_;
  Scenario best_;
  EditedText text_;
  std::uint64_t plays_ = 0;
  bool changed_ = false;
  bool spent_ = false;
};

// What the default link does to all messages.
std::size_t FaultsOf(const sim::LinkSpec& link) {
  std::size_t count = 0;
  for (const double fault : {link.loss, link.duplication, link.reordering, link.bytes_per_s})
    count += fault > 0 ? 1 : 0;
  return count + (link.bytes_in_flight > 0 ? 1 : 0);
}

std::size_t StatementsIn(const std::vector<replays::Statement>& statements) {
  std::size_t count = statements.size();
  for (const replays::Statement& statement : statements) count += StatementsIn(statement.body);
  return count;
}

}  // namespace

Shrunk Shrink(const Scenario& failing, const StillFails& fails, const ShrinkOptions& options) {
  return Shrinker(failing, fails, options).Run();
}

std::size_t Elements(const Scenario& scenario) {
  if (scenario.job.has_value()) {
    const sim::FaultPlan& plan = scenario.job->plan;
    return plan.timed.size() + plan.rpcs.size() + plan.disks.size() + plan.session_calls.size() + plan.links.size() +
           FaultsOf(plan.default_link);
  }
  return scenario.hooks.size() + scenario.session.chief_only_hooks.size() + scenario.faults.size() +
         StatementsIn(scenario.drive) + StatementsIn(scenario.after);
}

}  // namespace vigil::properties
