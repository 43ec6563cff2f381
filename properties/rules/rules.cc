#include "vigil/properties/rules/rules.h"

#include <algorithm>
#include <array>
#include <memory>

namespace vigil::properties {
namespace {

std::vector<RuleFactory> Concatenate() {
  std::vector<RuleFactory> all;
  for (const auto family :
       {BeginRules,  OrderRules,      InitRules,    CreationRules,    RunRules,     EndRules,   RecoveryRules,
        StopRules,   CloseRules,      ErrorRules,   ConstructRules,   HookRules,    SaveRules,  StepRules,
        WorkerRules, SupervisorRules, RequestRules, CoordinatorRules, BuiltInRules, SaverRules, SupervisorEndRules}) {
    const std::vector<RuleFactory> rules = family();
    all.insert(all.end(), rules.begin(), rules.end());
  }
  return all;
}

// How many hooks some phase called.
std::size_t HooksSeen(const sim::Trace& trace, const TracePart& part) {
  std::size_t seen = 0;
  for (std::size_t i = part.first; i < part.last; ++i) {
    const Event& event = trace[i].event;
    if (trace[i].node != trace[part.first].node || event.kind != EventKind::kHookCall) continue;
    seen = std::max(seen, static_cast<std::size_t>(event.index) + 1);
  }
  return seen;
}

// The information of each rule of AllRules(), which outlives it.
const std::vector<const RuleInfo*>& AllInfos() {
  static const std::vector<const RuleInfo*> all = [] {
    std::vector<const RuleInfo*> infos;
    for (const RuleFactory factory : AllRules()) infos.push_back(&factory()->info());
    return infos;
  }();
  return all;
}

// One object of each rule that has a say. Most rules do not look at details, which are most of what happens.
class Rules {
 public:
  struct Looks {
    Rule* rule;
    unsigned details;  // of its info, which is elsewhere
    std::size_t number;
  };

  explicit Rules(const RunFacts& facts) {
    rules_.reserve(AllRules().size());
    for (std::size_t i = 0; i < AllRules().size(); ++i) {
      const RuleInfo& info = *AllInfos()[i];
      rules_.push_back(Applies(info, facts) ? AllRules()[i]() : nullptr);
      if (rules_.back() == nullptr) continue;
      const Looks looks{rules_.back().get(), info.details, i};
      see_[0].push_back(looks);
      for (std::size_t kind = 0; kind < kDetailKinds; ++kind) {
        if (((info.details >> kind) & 1U) != 0) see_[kind + 1].push_back(looks);
      }
    }
  }

  const std::vector<Looks>& ThatSee(EventKind kind) const {
    if (!IsDetail(kind)) return see_[0];
    return see_[1 + static_cast<std::size_t>(kind) - static_cast<std::size_t>(EventKind::kRunPart)];
  }

  Judgement Say(const Watch& watch, bool ended) const {
    Judgement judgement;
    judgement.armed.reserve(rules_.size());
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      const std::unique_ptr<Rule>& rule = rules_[i];
      if (rule != nullptr && ended) rule->Finish(watch);
      judgement.armed.push_back(rule == nullptr ? 0 : rule->armed());
      if (rule == nullptr || !rule->violation().has_value()) continue;
      judgement.violations.push_back(*rule->violation());
      judgement.violations.back().number = i;
    }
    return judgement;
  }

 private:
  std::vector<std::unique_ptr<Rule>> rules_;              // null: it does not apply
  std::array<std::vector<Looks>, 1 + kDetailKinds> see_;  // what is no detail, and each kind of details
};

}  // namespace

const std::vector<RuleFactory>& AllRules() {
  static const std::vector<RuleFactory> all = Concatenate();
  return all;
}

Judgement JudgePart(const sim::Trace& trace, const TracePart& part, const RunFacts& facts, bool ended,
                    const OnArmed& on_armed) {
  RunFacts known = facts;
  if (facts.hooks == kAsSeen) known.hooks = HooksSeen(trace, part);
  const Rules rules(known);
  Watch watch(known);
  CallOfHook call;
  for (std::size_t i = part.first; i < part.last; ++i) {
    const sim::TraceRecord& record = trace[i];
    const sim::TraceRecord& begin = trace[part.first];
    if (record.node != begin.node) continue;
    Moment now{watch, call, record.event, i, record.task == begin.task, record.time, record.task};
    if (now.on_main) call.Update(record.event, i, watch.in_hook);
    for (const Rules::Looks& looks : rules.ThatSee(record.event.kind)) {
      now.details = looks.details;
      const std::uint64_t before = looks.rule->armed();
      looks.rule->OnEvent(now);
      if (on_armed && looks.rule->armed() != before) on_armed(looks.number, looks.rule->armed(), i);
    }
    watch.Update(record, i, now.on_main);
  }
  return rules.Say(watch, ended);
}

Judgement Judge(const sim::Trace& trace, const RunFacts& facts, bool ended) {
  return JudgePart(trace, {.last = trace.size()}, facts, ended);
}

Judgement CheckRules(const replays::Outcome& outcome, const replays::Scenario& scenario, const OnArmed& on_armed) {
  RunFacts facts = FactsOf(scenario);
  for (const EventKind kind : outcome.unseen) {
    if (IsDetail(kind)) {
      facts.unseen |= DetailsOf(kind);
    } else {
      facts.judged = false;
    }
  }
  return JudgePart(outcome.trace, {.last = outcome.trace.size()}, facts, outcome.verdict == replays::Verdict::kPlayed,
                   on_armed);
}

}  // namespace vigil::properties
