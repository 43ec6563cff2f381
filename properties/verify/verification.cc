#include "vigil/properties/verify/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "vigil/properties/shrink/scenario_summary.h"
#include "vigil/properties/shrink/shrink.h"
#include "vigil/properties/verify/findings.h"
#include "vigil/properties/verify/play_hook.h"
#include "vigil/replays/stage/builtin_hooks.h"

namespace vigil {
namespace {

constexpr std::string_view kStops = "asks for a stop";
constexpr std::string_view kFails = "fails with ";
constexpr std::string_view kCalmPrefix = "calm";  // what others are like
constexpr std::string_view kRandomPrefix = "random_";
constexpr std::uint64_t kMostShrinkingPlays = 400;
constexpr std::string_view kVerifiedProbe = "verified";
// Each so-manyth case is played twice.
constexpr std::uint64_t kTwice = 8;
// After so many plays that never ended there is no use in more of them.
constexpr int kEndless = 10;

std::vector<HookDecision> OfLife(const std::vector<HookDecision>& all, int life) {
  std::vector<HookDecision> decisions;
  for (HookDecision decision : all) {
    if (decision.life != life) continue;
    decision.life = 0;
    decisions.push_back(decision);
    // What comes after it depends on who heard of it.
    if (decision.what == kStops || decision.what.starts_with(kFails)) break;
  }
  return decisions;
}

// Of "random_17"; nullopt if it is called otherwise.
std::optional<std::uint64_t> SeedOf(std::string_view name) {
  if (!name.starts_with(kRandomPrefix)) return std::nullopt;
  std::uint64_t seed = 0;
  const char* const end = name.data() + name.size();
  const std::from_chars_result read = std::from_chars(name.data() + kRandomPrefix.size(), end, seed);
  return read.ec == std::errc() && read.ptr == end ? std::optional(seed) : std::nullopt;
}

std::string TextOf(const HookDecision* decision) {
  return decision == nullptr ? "nothing of the kind" : fmt::format("{} after step {}", decision->what, decision->step);
}

struct Difference {
  std::string expected;
  std::string actual;
};
std::optional<Difference> FirstDifferenceOf(const std::vector<HookDecision>& expected,
                                            const std::vector<HookDecision>& actual) {
  const auto missing = [](const std::vector<HookDecision>& from, const std::vector<HookDecision>& in) {
    const auto found = std::ranges::find_if(
        from, [&in](const HookDecision& decision) { return std::ranges::find(in, decision) == in.end(); });
    return found == from.end() ? nullptr : &*found;
  };
  const HookDecision* const lost = missing(expected, actual);
  const HookDecision* const added = missing(actual, expected);
  if (lost == nullptr && added == nullptr) return std::nullopt;
  return Difference{TextOf(lost), TextOf(added)};
}

class Verification {
 public:
  Verification(const HookMaker& maker, const VerifyOptions& options, const VerificationView& view)
      : options_(options), view_(view), player_(maker, options) {}

  HookReport Run() {
    if (!options_.only.empty()) {
      Only(options_.only);
    } else {
      for (const HookCase& c : EnumeratedCases()) {
        if (!GoesOn() || !Judge(c)) break;
      }
      for (std::uint64_t i = 0; i < options_.scenarios && GoesOn(); ++i) {
        Judge(RandomCase(options_.seed + i));
      }
    }
    for (auto& [rule, finding] : findings_) {
      if (replays::IsCrashRule(rule)) report_.findings.push_back(std::move(finding));
    }
    for (const HookPromise& promise : HookPromises()) {
      const auto found = findings_.find(promise.id);
      if (found == findings_.end()) continue;
      MakeSmall(found->second);
      report_.findings.push_back(std::move(found->second));
    }
    return std::move(report_);
  }

 private:
  bool GoesOn() const {
    return report_.error.empty() && !report_.stopped && endless_ < kEndless && crashes_ < kEndless && !CrashedEnough();
  }
  // What would come next may crash, too.
  bool CrashedEnough() const {
    return view_.crashed_enough && !view_.crashes.empty() && report_.played >= view_.crashes.rbegin()->first;
  }

  void Only(const std::string& name) {
    if (const std::optional<std::uint64_t> seed = SeedOf(name); seed.has_value()) {
      Judge(RandomCase(*seed));
      return;
    }
    if (const HookCase* const c = Find(name); c != nullptr) {
      Judge(*c);
    } else {
      report_.error = fmt::format("there is no case '{}'", name);
    }
  }

  static const HookCase* Find(std::string_view name) {
    const auto& cases = EnumeratedCases();
    const auto found = std::ranges::find(cases, name, &HookCase::name);
    return found == cases.end() ? nullptr : &*found;
  }

  HookPlay Play(const HookCase& c) {
    ++report_.played;
    if (const auto crash = view_.crashes.find(report_.played); crash != view_.crashes.end()) {
      HookPlay play;
      play.crash = crash->second;
      return play;
    }
    if (view_.playing) view_.playing(report_.played);
    return player_.Play(c);
  }

  // True: it did, and there is nothing else to be seen in it.
  bool Crashed(const HookCase& c, const HookPlay& play) {
    if (!play.crash.has_value()) return false;
    ++crashes_;
    const auto [found, first] = findings_.try_emplace(
        play.crash->rule(),
        HookFinding{.promise = play.crash->rule(), .case_name = c.name, .actual = play.crash->Line()});
    if (first) found->second.stack = play.crash->frames;
    return true;
  }

  bool Wanted() const { return view_.go_on == nullptr || view_.go_on(); }

  // False: no use to go on.
  bool Judge(const HookCase& c) {
    if (!Wanted()) {
      report_.stopped = true;
      return false;
    }
    const HookPlay play = Play(c);
    if (Crashed(c, play) || play.skipped) return GoesOn();
    if (!play.error.empty()) {
      report_.error = play.error;
      return false;
    }
    for (const HookOffence& offence : play.offences) {
      if (!findings_.contains(offence.promise) && Confirmed(offence, c))
        Found(offence.promise, c, play, "", offence.actual);
    }
    Compare(c, play);
    if (!options_.only.empty()) report_.events = play.events;
    if (report_.played % kTwice == 0) {
      const HookPlay again = Play(c);
      if (!Crashed(c, again) && (again.hash != play.hash || again.decisions != play.decisions)) {
        const std::optional<Difference> difference = FirstDifferenceOf(play.decisions, again.decisions);
        Found(
            promise::kNotRepeatable, c, play, difference.has_value() ? "the first time: " + difference->expected : "",
            difference.has_value() ? "the second time: " + difference->actual : "the two plays differ in their events");
      }
    }
    if (c.name.starts_with(kCalmPrefix)) like_.emplace(c.name, play);
    if (play.endless) ++endless_;
    return endless_ < kEndless;
  }

  // Of what is seen of the machine: a library may ask for the time once in many thousand calls, to sample itself. What
  // a hook does it does again. It is not counted: whether a library does is not repeatable, which plays there are is.
  bool Confirmed(const HookOffence& offence, const HookCase& c) {
    if (!IsOutside(offence.promise)) return true;
    const HookPlay again = player_.Play(c);
    Crashed(c, again);
    return std::ranges::find(again.offences, offence.promise, &HookOffence::promise) != again.offences.end();
  }

  const HookPlay& Like(const std::string& name) {
    const auto found = like_.find(name);
    if (found != like_.end()) return found->second;
    return like_.emplace(name, Play(*Find(name))).first->second;
  }

  void Compare(const HookCase& c, const HookPlay& play) {
    if (c.relation == HookRelation::kNone || findings_.contains(c.implied_by)) return;
    const HookPlay& like = Like(c.like);
    if (Crashed(*Find(c.like), like) || like.skipped) return;
    if (c.relation == HookRelation::kStillStops) {
      if (!like.stopped_last_run || play.stopped_last_run) return;
      return Found(c.promise, c, play, fmt::format("asks for a stop, as in {}", c.like), "goes on to the end");
    }
    const std::optional<Difference> difference =
        FirstDifferenceOf(OfLife(like.decisions, 0), OfLife(play.decisions, c.lives - 1));
    if (!difference.has_value()) return;
    Found(c.promise, c, play, fmt::format("{}, as in {}", difference->expected, c.like), difference->actual);
  }

  void Found(std::string_view promise, const HookCase& c, const HookPlay& play, std::string expected,
             std::string actual) {
    findings_.try_emplace(std::string(promise), HookFinding{.promise = std::string(promise),
                                                            .case_name = c.name,
                                                            .expected = std::move(expected),
                                                            .actual = std::move(actual),
                                                            .events = play.events});
  }

  // Enumerated cases come smallest first.
  void MakeSmall(HookFinding& finding) {
    if (finding.promise == promise::kNotRepeatable || CrashedEnough()) return;
    const auto fails = [&](const HookCase& candidate) {
      HookPlay play = Play(candidate);
      const auto found = std::ranges::find(play.offences, finding.promise, &HookOffence::promise);
      if (found == play.offences.end()) return false;
      finding.actual = found->actual;
      finding.events = std::move(play.events);
      return true;
    };
    finding.shrunk =
        ShrunkCase(finding.case_name, kMostShrinkingPlays, fails, [this] { return !Wanted() || CrashedEnough(); });
  }

  const VerifyOptions& options_;
  const VerificationView& view_;
  HookPlayer player_;
  HookReport report_;
  int endless_ = 0;
  int crashes_ = 0;  // a player is started again after each
  std::map<std::string, HookPlay, std::less<>> like_;
  std::map<std::string, HookFinding, std::less<>> findings_;  // by promise, or by what crashed
};

}  // namespace

std::string ShrunkCase(const std::string& name, std::uint64_t most_plays,
                       const std::function<bool(const HookCase&)>& fails, const std::function<bool()>& stop) {
  const std::optional<std::uint64_t> seed = SeedOf(name);
  if (!seed.has_value()) return "";
  replays::Scenario scenario = RandomCase(*seed).scenario;
  const auto swap = [](replays::Scenario& s, std::string_view from, std::string_view to) {
    const auto found = std::ranges::find_if(s.hooks, [from](const replays::HookSpec& hook) {
      return hook.hook == from && (from == replays::kForeignHook || hook.name == kVerifiedProbe);
    });
    if (found == s.hooks.end()) return false;
    found->hook = to;
    found->name = to == replays::kForeignHook ? "" : kVerifiedProbe;
    return true;
  };
  swap(scenario, replays::kForeignHook, "probe");
  const auto candidate_fails = [&](replays::Scenario candidate) {
    return swap(candidate, "probe", replays::kForeignHook) && fails({.name = name, .scenario = std::move(candidate)});
  };
  const properties::Shrunk shrunk =
      properties::Shrink(scenario, candidate_fails, {.max_plays = most_plays, .stop = stop});
  return properties::ScenarioSummary(shrunk.scenario);
}

HookReport VerifyHere(const HookMaker& maker, const VerifyOptions& options, const VerificationView& view) {
  return Verification(maker, options, view).Run();
}

}  // namespace vigil
