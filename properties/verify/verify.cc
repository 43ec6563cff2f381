#include "vigil/properties/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "vigil/properties/shrink.h"
#include "vigil/properties/story.h"
#include "vigil/properties/verify/cases.h"
#include "vigil/properties/verify/findings.h"
#include "vigil/properties/verify/play_hook.h"
#include "vigil/replays/builtin_hooks.h"
#include "vigil/replays/escape.h"

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
  Verification(const HookMaker& maker, const VerifyOptions& options, const std::function<bool()>& go_on)
      : options_(options), go_on_(go_on), player_(maker, options) {}

  HookReport Run() {
    if (!options_.only.empty()) {
      Only(options_.only);
    } else {
      for (const HookCase& c : EnumeratedCases()) {
        if (!Judge(c)) break;
      }
      for (std::uint64_t i = 0; i < options_.scenarios && GoesOn(); ++i) {
        Judge(RandomCase(options_.seed + i));
      }
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
  bool GoesOn() const { return report_.error.empty() && !report_.stopped && endless_ < kEndless; }

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
    return player_.Play(c);
  }

  // False: no use to go on.
  bool Judge(const HookCase& c) {
    if (go_on_ != nullptr && !go_on_()) {
      report_.stopped = true;
      return false;
    }
    const HookPlay play = Play(c);
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
      if (again.hash != play.hash || again.decisions != play.decisions) {
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

  // Of what is seen of the machine: a library may ask for the time once in many thousand calls, to sample itself. What a hook does
  // it does again.
  bool Confirmed(const HookOffence& offence, const HookCase& c) {
    if (!IsOutside(offence.promise)) return true;
    const HookPlay again = Play(c);
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
    findings_.try_emplace(promise, HookFinding{.promise = promise,
                                               .case_name = c.name,
                                               .expected = std::move(expected),
                                               .actual = std::move(actual),
                                               .events = play.events});
  }

  // Enumerated cases come smallest first; a random one is shrunk. In its text a probe takes the hook's place.
  void MakeSmall(HookFinding& finding) {
    if (!finding.case_name.starts_with(kRandomPrefix) || finding.promise == promise::kNotRepeatable) return;
    replays::Scenario scenario = RandomCase(SeedOf(finding.case_name).value_or(0)).scenario;
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
    const auto fails = [&](replays::Scenario candidate) {
      if (!swap(candidate, "probe", replays::kForeignHook)) return false;
      HookPlay play = Play({.name = finding.case_name, .scenario = std::move(candidate)});
      const auto found = std::ranges::find(play.offences, finding.promise, &HookOffence::promise);
      if (found == play.offences.end()) return false;
      finding.actual = found->actual;
      finding.events = std::move(play.events);
      return true;
    };
    const auto stop = [this] { return go_on_ != nullptr && !go_on_(); };
    const properties::Shrunk shrunk =
        properties::Shrink(scenario, fails, {.max_plays = kMostShrinkingPlays, .stop = stop});
    finding.shrunk = properties::Story(shrunk.scenario);
  }

  const VerifyOptions& options_;
  const std::function<bool()>& go_on_;
  HookPlayer player_;
  HookReport report_;
  int endless_ = 0;
  std::map<std::string, HookPlay, std::less<>> like_;
  std::map<std::string_view, HookFinding> findings_;
};

}  // namespace

HookReport VerifyHook(const HookMaker& maker, const VerifyOptions& options, const std::function<bool()>& go_on) {
  return Verification(maker, options, go_on).Run();
}

std::string ReportText(std::string_view name, const HookReport& report, std::string_view replay) {
  if (!report.error.empty()) return fmt::format("FAILED {}: {}\n", name, replays::Escaped(report.error));
  if (report.findings.empty() && report.stopped)
    return fmt::format("interrupted {}: nothing was found in {} plays\n", name, report.played);
  if (report.findings.empty()) return fmt::format("PASSED {}: {} plays\n", name, report.played);
  std::string text = fmt::format("FAILED {}: {} of {} promises broken in {} plays\n", name, report.findings.size(),
                                 HookPromises().size(), report.played);
  for (const HookFinding& finding : report.findings) {
    const HookPromise& promise = FindPromise(finding.promise);
    text += fmt::format("  {}: {}\n", promise.id, promise.sentence);
    if (!finding.expected.empty()) text += fmt::format("    expected  {}\n", replays::Escaped(finding.expected));
    text += fmt::format("    actual    {}\n    advice    {}\n", replays::Escaped(finding.actual), promise.advice);
    if (!finding.shrunk.empty()) text += fmt::format("    shrunk    {}\n", replays::Escaped(finding.shrunk));
    const std::size_t place = replay.find("{}");
    if (place == replay.npos) continue;
    text += fmt::format("    {}{}{}\n", replay.substr(0, place), replays::ShellWord(finding.case_name),
                        replay.substr(place + 2));
  }
  return text;
}

}  // namespace vigil
