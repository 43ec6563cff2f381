// What a run is made of: the fetches, feeds and options of the caller and of the hooks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

bool CallsBegin(const Moment& now) { return now.Is(EventKind::kRunStart) || now.Is(EventKind::kInnerRunStart); }
bool CallsEnd(const Moment& now) { return now.Is(EventKind::kRunEnd) || now.Is(EventKind::kInnerRunEnd); }

// before_run of the first hook of a round.
bool RoundBegins(const Moment& now) {
  const Round& round = now.run.round;
  return now.HookCall(HookMethod::kBeforeRun) && (now.event.index == 0 || round.over || round.run || round.failed);
}

constexpr RuleInfo kOwnFetches{
    .id = "after_run.sees_what_the_hook_fetched",
    .sentence = "What after_run of a hook gets are the values of what that hook asked for in before_run of this round.",
    .documented = "SessionRunHook.after_run: run_values contains the results of requested ops/tensors by before_run()",
    .observed = "hook_fetches training_chief_order",
    .details = kRunParts,
};
class OwnFetches : public Rule {
 public:
  OwnFetches() : Rule(kOwnFetches) {}
  void OnEvent(const Moment& now) override {
    const std::int32_t hook = now.event.index;
    if (now.HookCall(HookMethod::kBeforeRun)) {
      asked_.erase(hook);
      seen_.erase(hook);
    } else if (now.Part(RunPart::kFetches)) {
      asked_[hook] = {now.index, std::string(now.event.subject)};
    } else if (now.Part(RunPart::kResults)) {
      seen_[hook] = {now.index, std::string(now.event.subject)};
    } else if (now.HookCall(HookMethod::kAfterRun)) {
      const Names asked = asked_[hook];
      const Names seen = seen_[hook];
      if (!asked.text.empty()) Arm();
      if (asked.text != seen.text) Violate({asked.at, seen.at, now.index}, Text(asked.text), Text(seen.text));
    }
  }

 private:
  struct Names {
    std::size_t at = kNever;
    std::string text;
  };
  static std::string Text(const std::string& names) {
    return names.empty() ? "nothing" : "values of " + names.substr(0, names.size() - 1);
  }
  std::map<std::int32_t, Names> asked_, seen_;
};

constexpr RuleInfo kFedTwice{
    .id = "feed.twice_is_a_complaint",
    .sentence =
        "A tensor that two of hooks and caller feed is a usage error: no session runs, and hooks behind the second of "
        "two hooks are not asked.",
    .documented = "",
    .observed = "feed_conflict_user feed_conflict_hooks",
    .details = kRunParts,
};
class FedTwice : public Rule {
 public:
  FedTwice() : Rule(kFedTwice) {}
  void OnEvent(const Moment& now) override {
    if (CallsBegin(now)) {
      by_caller_.clear();
      Forget();
    }
    if (RoundBegins(now)) Forget();
    if (now.Part(RunPart::kFeed)) OnFeed(now);
    if (between_hooks_ && now.HookCall(HookMethod::kBeforeRun))
      Violate({first_, conflict_, now.index}, "no further hook is asked", "one is");
    if (conflict_ == kNever) return;
    if (now.LayerCall(CallKind::kRun)) Violate({first_, conflict_, now.index}, "no session run", "one");
    if (!CallsEnd(now)) return;
    const bool other = now.run.round.failed || now.run.round.over || now.run.reported.contains(now.event.code);
    if (now.event.code != Code::kUsage && !other)
      Violate({first_, conflict_, now.index}, "USAGE", NameOf(now.event.code));
    Forget();
  }

 private:
  void Forget() {
    by_hooks_.clear();
    first_ = conflict_ = kNever;
    between_hooks_ = false;
  }
  void OnFeed(const Moment& now) {
    const std::string tensor(now.event.subject);
    if (now.event.index == kMerged) return;
    if (now.event.index == kOfCaller) {
      by_caller_.emplace(tensor, now.index);
      return;
    }
    const auto [fed, is_new] = by_hooks_.emplace(tensor, Feed{now.index, now.event.index});
    const auto caller = by_caller_.find(tensor);
    if (conflict_ != kNever) return;
    if (!is_new && fed->second.hook != now.event.index) {
      Conflict(fed->second.at, now.index);
      between_hooks_ = true;
    } else if (caller != by_caller_.end()) {
      Conflict(caller->second, now.index);
    }
  }
  void Conflict(std::size_t first, std::size_t second) {
    Arm();
    first_ = first;
    conflict_ = second;
  }

  struct Feed {
    std::size_t at;
    std::int32_t hook;
  };
  std::map<std::string, std::size_t> by_caller_;  // of the call in progress
  std::map<std::string, Feed> by_hooks_;          // of the round
  std::size_t first_ = kNever, conflict_ = kNever;
  bool between_hooks_ = false;
};

constexpr RuleInfo kFedAsGiven{
    .id = "feed.as_given",
    .sentence =
        "A session run is fed what the hooks asked to feed in this round and what the caller gave, unchanged, also "
        "when the call is repeated.",
    .documented = "MonitoredSession r1.4, Run: calls session.run() with merged fetches and feed_dict",
    .observed = "hook_feeds feed_fn feed_conflict_user",
    .details = kRunParts,
};
class FedAsGiven : public Rule {
 public:
  FedAsGiven() : Rule(kFedAsGiven) {}
  void OnEvent(const Moment& now) override {
    if (CallsBegin(now)) {
      given_.clear();
      asked_.clear();
      fed_.clear();
    }
    if (RoundBegins(now)) {
      asked_.clear();
      fed_.clear();
    }
    if (now.Part(RunPart::kFeed)) {
      const Feed feed{now.index, std::string(now.event.subject), now.event.has_value, now.event.value};
      (now.event.index == kMerged ? fed_ : now.event.index == kOfCaller ? given_ : asked_).push_back(feed);
    }
    if (!now.LayerCall(CallKind::kRun)) return;
    std::vector<Feed> expected = asked_;
    expected.insert(expected.end(), given_.begin(), given_.end());
    if (!expected.empty()) Arm();
    if (Text(expected) != Text(fed_)) {
      std::vector<std::size_t> witness{now.index};
      for (const Feed& feed : expected) witness.push_back(feed.at);
      Violate(witness, Text(expected), Text(fed_));
    }
    fed_.clear();
    // A run without hooks begins no round.
    if (now.run.hooks() == 0) asked_.clear();
  }

 private:
  struct Feed {
    std::size_t at;
    std::string tensor;
    bool is_number;
    double value;
  };
  static std::string Text(const std::vector<Feed>& feeds) {
    std::string text;
    for (const Feed& feed : feeds) {
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", feed.tensor,
                          feed.is_number ? fmt::format("{}", feed.value) : fmt::format("... (sum {})", feed.value));
    }
    return text.empty() ? "nothing is fed" : text;
  }
  std::vector<Feed> given_;  // by the caller, to the call in progress
  std::vector<Feed> asked_;  // by hooks, in this round
  std::vector<Feed> fed_;    // to the session
};

constexpr RuleInfo kOptionsMerged{
    .id = "options.merged_as_the_maximum",
    .sentence =
        "The options of a run are the maximum of what caller and hooks gave, each by itself, and all their debug "
        "watches, the caller's first; options of the caller keep what was merged when the call is repeated.",
    .documented = "",
    .observed = "options_full_trace options_most_wins options_flags_or",
    .details = kRunParts,
};
class OptionsMerged : public Rule {
 public:
  OptionsMerged() : Rule(kOptionsMerged) {}
  void OnEvent(const Moment& now) override {
    if (CallsBegin(now)) {
      given_ = false;
      expected_ = used_ = {};
    }
    if (RoundBegins(now)) {
      if (!given_) expected_ = {};
      used_ = {};
    }
    if (now.Part(RunPart::kOption) || now.Part(RunPart::kWatch)) {
      if (now.event.index == kOfCaller) given_ = true;
      (now.event.index == kMerged ? used_ : expected_).Add(now);
    }
    if (!now.LayerCall(CallKind::kRun)) return;
    if (!expected_.at.empty()) Arm();
    if (expected_.Text() != used_.Text()) {
      std::vector<std::size_t> witness = expected_.at;
      witness.push_back(now.index);
      Violate(witness, expected_.Text(), used_.Text());
    }
    used_ = {};
  }

 private:
  struct Options {
    std::map<std::string, double> most;
    std::vector<std::string> watches;
    std::vector<std::size_t> at;

    void Add(const Moment& now) {
      at.push_back(now.index);
      const std::string name(now.event.subject);
      if (now.Part(RunPart::kWatch)) {
        watches.push_back(name);
      } else {
        most[name] = std::max(most[name], now.event.value);
      }
    }
    std::string Text() const {
      std::string text;
      for (const auto& [name, value] : most) {
        if (value != 0) text += fmt::format("{}={} ", name, value);
      }
      for (const std::string& watch : watches) text += "watch " + watch + " ";
      return text.empty() ? "default options" : text.substr(0, text.size() - 1);
    }
  };
  bool given_ = false;  // by the caller
  Options expected_;
  Options used_;
};

}  // namespace

std::vector<RuleFactory> RequestRules() {
  return {NewRule<OwnFetches>, NewRule<FedTwice>, NewRule<FedAsGiven>, NewRule<OptionsMerged>};
}

}  // namespace vigil::properties
