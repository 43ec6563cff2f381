#include "vigil/properties/verify/verify.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/crew_options.h"
#include "vigil/cli/junit.h"
#include "vigil/cli/parse_command.h"
#include "vigil/cli/player_options.h"
#include "vigil/cli/results.h"
#include "vigil/cli/words.h"
#include "vigil/core/base/code.h"
#include "vigil/properties/verify/findings.h"
#include "vigil/properties/zoo/zoo.h"
#include "vigil/replays/crew/crash.h"
#include "vigil/replays/crew/crew.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/player/player_client.h"

namespace vigil::cli {
namespace {

constexpr char kVerifyNotes[] =
    "NAME is a hook that ships with the library, or one of the zoo of right and wrong ones: see --list. Without a "
    "NAME: every\n"
    "built-in and every right one, which must pass, and every wrong one, of which the known finding must be found.\n"
    "Your own hooks are verified by a test of your own: docs/testing_your_code.md. With --player the hook is the\n"
    "player's, as of python -m vigil_player --hook module:Hook (docs/players.md).\n"
    "\n"
    "Examples:\n"
    "  vigil verify\n"
    "  vigil verify --list\n"
    "  vigil verify NanTensorHook counts_before_runs --json -\n"
    "  vigil verify counts_before_runs --case run_repeated_1.monitored --trace\n"
    "  vigil verify --right --scenarios 5000\n"
    "\n"
    "Exit codes: 0 nothing was found (without a NAME: what is known, and nothing else), 1 something was, 2 misuse or "
    "output that\n"
    "cannot be written, 130 ended by Ctrl-C and 143 by SIGTERM: what was found until then has been printed.\n";

constexpr const char* kOfPlaying[] = {"NAME",   "--scenarios", "--seed", "--case",
                                      "--json", "--junit",     "--jobs", "--play-limit"};
constexpr const char* kOfRandomOnes[] = {"--scenarios", "--seed"};

struct VerifyArguments {
  std::vector<std::string> names;
  std::uint64_t scenarios = VerifyOptions().scenarios;
  std::uint64_t seed = VerifyOptions().seed;
  std::string only;
  CrewArguments crew;
  PlayerArguments player;
  std::string replay_as;
  replays::PlayerOptions player_options;
  std::string player_line;  // who plays
  std::chrono::milliseconds play_limit = VerifyOptions().play_limit;
  std::string json;
  std::string junit;
  bool list = false;
  bool right = false;
  bool trace = false;
};

void AddVerifyOptions(CLI::App& app, VerifyArguments& a) {
  app.add_option("NAME", a.names, "What to verify")->type_name("");
  app.add_flag("--list", a.list, "Print the names with what they do, and verify nothing; with --right of those alone");
  app.add_flag("--right", a.right, "All that must pass: the built-in hooks and the right ones of the zoo");
  app.add_option("--scenarios", a.scenarios, fmt::format("Random ones for each hook (default: {})", a.scenarios))
      ->check(CheckNumber(0, 1'000'000'000))
      ->type_name("N");
  app.add_option("--seed", a.seed, "Of the first random one (default: 1)")->check(CheckSeed)->type_name("N");
  CLI::Option* const only =
      app.add_option("--case", a.only, "Play this one case only, as a finding names it")->type_name("CASE");
  app.add_flag("--trace", a.trace, "Print the events of the case")->needs(only);
  AddCrewOptions(app, a.crew, a.play_limit, "; one hook is verified by one");
  AddPlayerOptions(app, a.player);
  app.add_option("--replay-as", a.replay_as, "With --player: the command that a finding names, before --case")
      ->type_name("CMD");
  app.add_option("--json", a.json, "Write the findings to this file as JSON; - for standard output")->type_name("FILE");
  app.add_option("--junit", a.junit, "Write them to this file as JUnit XML, a testcase a hook")->type_name("FILE");
  app.footer(kVerifyNotes);
}

std::string_view KindName(ZooKind kind) {
  return kind == ZooKind::kWrong ? "wrong" : kind == ZooKind::kRight ? "right" : "built-in";
}

std::string ListText(bool right) {
  std::string text;
  for (const ZooHook& hook : Zoo()) {
    if (right && hook.kind == ZooKind::kWrong) continue;
    text += fmt::format("{:<9} {:<28} {}{}\n", KindName(hook.kind), hook.name, hook.what,
                        hook.promise.empty() ? "" : fmt::format(" ({})", hook.promise));
  }
  return text;
}

struct Verified {
  const ZooHook* hook;
  HookReport report;
  std::string text;
  bool passed;
};

std::string Json(const std::vector<Verified>& all, const VerifyArguments& a, bool interrupted, bool given_up) {
  const auto text = [](std::string_view value) {
    std::string out;
    replays::AppendJsonString(out, value);
    return out;
  };
  std::uint64_t played = 0;
  std::string hooks;
  for (const Verified& one : all) {
    played += one.report.played;
    std::string findings;
    for (const HookFinding& finding : one.report.findings) {
      findings +=
          fmt::format("{}\n      {{\"promise\": {}, \"sentence\": {}, \"case\": {}, \"expected\": {}, \"actual\": {}}}",
                      findings.empty() ? "" : ",", text(finding.promise), text(FindPromise(finding.promise).sentence),
                      text(finding.case_name), text(finding.expected), text(finding.actual));
    }
    const std::string error = one.report.error.empty() ? "" : fmt::format("\"error\": {}, ", text(one.report.error));
    hooks += fmt::format(
        "{}\n    {{\"hook\": {}, \"kind\": \"{}\", \"passed\": {}, \"played\": {}, \"interrupted\": {}, "
        "{}\"findings\": "
        "[{}]}}",
        hooks.empty() ? "" : ",", text(one.hook->name), KindName(one.hook->kind), one.passed, one.report.played,
        one.report.stopped, error, findings);
  }
  const auto failed = std::ranges::count(all, false, &Verified::passed);
  return fmt::format(
      "{{\n  \"scenarios\": {}, \"seed\": {}, \"played\": {}, \"failed\": {}, \"interrupted\": {},{}\n"
      "  \"hooks\": [{}\n  ]\n}}\n",
      a.scenarios, a.seed, played, failed, interrupted, given_up ? " \"given_up\": true," : "", hooks);
}

// "" = it did not.
std::string WhyItFailed(const Verified& one) {
  if (one.passed) return "";
  return one.report.error.empty() ? fmt::format("{} findings", one.report.findings.size()) : one.report.error;
}

std::vector<JUnitCase> JUnitCases(const std::vector<Verified>& all) {
  std::vector<JUnitCase> cases;
  for (const Verified& one : all) {
    cases.push_back({.name = std::string(one.hook->name), .failure = WhyItFailed(one), .text = one.text});
  }
  return cases;
}

class VerifyRun {
 public:
  explicit VerifyRun(VerifyArguments arguments)
      : arguments_(std::move(arguments)), results_("vigil verify", arguments_.json) {}

  int Run(const std::vector<const ZooHook*>& hooks) {
    if (!results_.CanWrite({{"--junit", arguments_.junit}}, {})) return kMisuse;
    results_.Print(arguments_.player_line);
    std::vector<HookToVerify> to_verify;
    for (const ZooHook* const hook : hooks) {
      to_verify.push_back({hook->make, hook->options});
      VerifyOptions& options = to_verify.back().options;
      options.scenarios = arguments_.scenarios;
      options.seed = arguments_.seed;
      options.only = arguments_.only;
      options.player = arguments_.player_options;
    }
    VerifyCrew crew{.jobs = JobsOf(arguments_.crew), .play_limit = arguments_.play_limit};
    crew.on_report = [&](std::size_t i, HookReport report) { Tell(*hooks[i], std::move(report)); };
    crew.on_tick = [&](std::uint64_t plays) {
      results_.Tick(fmt::format("{} of {} hooks, {} plays", all_.size(), hooks.size(), plays));
    };
    VerifyHooks(to_verify, crew, results_.stopped());
    results_.EndProgress();
    const bool given_up = all_.size() < hooks.size() && !results_.interrupted();
    if (given_up) results_.Print(replays::kGivenUp);
    Summarize();
    if (results_.wants_json()) results_.WriteJson(Json(all_, arguments_, results_.interrupted(), given_up));
    if (!arguments_.junit.empty())
      results_.Write(arguments_.junit, JUnit("verify", JUnitCases(all_), results_.interrupted() || given_up));
    return results_.End(std::ranges::all_of(all_, &Verified::passed) && all_.size() == hooks.size());
  }

 private:
  std::string ReplayWords(const ZooHook& hook) const {
    if (!arguments_.replay_as.empty()) return arguments_.replay_as;
    const std::string& command = arguments_.player.command;
    return command.empty() ? fmt::format("./vigil verify {}", hook.name)
                           : fmt::format("./vigil verify --player {}", replays::ShellWord(command));
  }

  void Tell(const ZooHook& hook, HookReport report) {
    Verified one{.hook = &hook, .report = std::move(report), .text = {}, .passed = true};
    one.text = ReportText(hook.name, one.report, ReplayWords(hook) + " --case {}");
    const auto expected = std::ranges::find(one.report.findings, hook.promise, &HookFinding::promise);
    one.passed = one.report.ok();
    // Of the whole zoo it is known what is to be found.
    const bool known = arguments_.names.empty() && hook.kind == ZooKind::kWrong;
    if (known && expected != one.report.findings.end()) {
      one.passed = true;
      one.text = fmt::format("FOUND  {}: {}\n", hook.name, hook.promise);
    } else if (known && !one.report.stopped) {
      one.passed = false;
      one.text += fmt::format("  not found: {}\n", hook.promise);
    }
    results_.Print(one.text);
    if (arguments_.trace) {
      for (const std::string& event : one.report.events)
        results_.Print(fmt::format("    {}\n", replays::Escaped(event)));
    }
    results_.Flush();
    if (!arguments_.only.empty() && !one.report.error.empty()) {
      results_.Fail(fmt::format("{}; a finding names its case, as calm.monitored.alone or random_12",
                                replays::Escaped(one.report.error)));
    }
    all_.push_back(std::move(one));
  }

  void Summarize() {
    std::uint64_t right = 0;
    std::uint64_t plays = 0;
    for (const Verified& one : all_) {
      plays += one.report.played;
      if (one.hook->kind != ZooKind::kWrong) right += one.report.played;
    }
    if (results_.interrupted()) results_.Print("\ninterrupted: this is what was found so far\n");
    results_.Print(fmt::format("\n{} hooks verified in {} plays, {} of them of hooks that are right: {} failed\n",
                               all_.size(), plays, right, std::ranges::count(all_, false, &Verified::passed)));
  }

  const VerifyArguments arguments_;
  Results results_;
  std::vector<Verified> all_;
};

int VerifyMisuse(const std::string& what) { return TellMisuse("vigil verify", what); }

// The hook of a player.
int VerifyPlayers(VerifyArguments arguments, replays::PlayLimits limits) {
  if (!arguments.names.empty() || arguments.right)
    return VerifyMisuse("--player: the hook is the player's; NAME and --right name others");
  replays::Greeting greeting;
  const absl::StatusOr<std::string> line = ReadPlayer(arguments.player, limits, arguments.player_options, &greeting);
  if (!line.ok()) return VerifyMisuse(std::string(MessageOf(line.status())));
  arguments.player_line = *line;
  if (greeting.hook.empty())
    return VerifyMisuse("--player: it has no hook to verify, as python -m vigil_player --hook module:Hook has");
  const std::string name = replays::Escaped(greeting.hook);
  // No maker of ours is asked.
  const ZooHook hook{.name = name, .what = "", .promise = "", .make = nullptr, .options = {}, .kind = ZooKind::kRight};
  VerifyRun run(std::move(arguments));
  return run.Run({&hook});
}

int VerifyWith(VerifyArguments arguments) {
  if (arguments.junit == "-") return VerifyMisuse("--junit: - is no file; for standard output say /dev/stdout");
  if (arguments.right && !arguments.names.empty()) return VerifyMisuse("--right and a NAME exclude each other");
  const bool named = !arguments.names.empty() || !arguments.player.command.empty();
  if (!arguments.only.empty() && !named) return VerifyMisuse("--case needs the NAME of a hook");
  if (arguments.scenarios > 0 && arguments.seed > std::numeric_limits<std::uint64_t>::max() - (arguments.scenarios - 1))
    return VerifyMisuse("--seed and --scenarios: seeds have 64 bits, and these would go on beyond");
  replays::PlayLimits limits;
  limits.cpu = arguments.play_limit;
  if (const absl::Status status = ReadPlayLimit(arguments.crew, limits); !status.ok())
    return VerifyMisuse(std::string(MessageOf(status)));
  arguments.play_limit = limits.cpu;
  if (!arguments.player.command.empty()) return VerifyPlayers(std::move(arguments), limits);
  if (!arguments.player.limit.empty() || !arguments.replay_as.empty())
    return VerifyMisuse("--player-limit and --replay-as need --player");
  std::vector<const ZooHook*> hooks;
  for (const std::string& name : arguments.names) {
    hooks.push_back(FindInZoo(name));
    if (hooks.back() == nullptr)
      return VerifyMisuse(fmt::format("no hook is called '{}'; see vigil verify --list", name));
  }
  for (const ZooHook& hook : Zoo()) {
    if (arguments.names.empty() && (!arguments.right || hook.kind != ZooKind::kWrong)) hooks.push_back(&hook);
  }
  return VerifyRun(std::move(arguments)).Run(hooks);
}

}  // namespace

int Verify(const std::vector<std::string>& words) {
  VerifyArguments arguments;
  CLI::App app("Verifies hooks: drives them through faults and says which promise they break", "vigil verify");
  AddVerifyOptions(app, arguments);
  if (const std::optional<int> end = ParseCommand(app, words)) return *end;
  if (const char* const name = FirstGiven(app, kOfPlaying); name != nullptr && arguments.list)
    return VerifyMisuse(fmt::format("{}: not with --list, which verifies nothing", name));
  if (const char* const name = FirstGiven(app, kOfRandomOnes); name != nullptr && !arguments.only.empty())
    return VerifyMisuse(fmt::format("{}: not with --case, which plays that one case", name));
  if (arguments.list) return Show(ListText(arguments.right));
  return VerifyWith(std::move(arguments));
}

}  // namespace vigil::cli
