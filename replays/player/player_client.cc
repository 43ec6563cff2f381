#include "vigil/replays/player/player_client.h"

#include <fmt/format.h>

#include <utility>
#include <variant>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/print.h"
#include "vigil/sim/world.h"

namespace vigil::replays {
namespace {

constexpr std::string_view kPlayerRules = "player.";
constexpr std::string_view kStart = "does_not_start";
constexpr std::string_view kInterrupt = "interrupted";

// Of what it said last, indented lines.
std::string LastWordsText(std::string_view words) {
  std::string text;
  while (!words.empty()) {
    const std::size_t end = words.find('\n');
    const std::string_view line = words.substr(0, end);
    if (!line.empty()) text += fmt::format("    it said  {}\n", Shortened(line, 200));
    if (end == std::string_view::npos) break;
    words.remove_prefix(end + 1);
  }
  return text;
}

std::string LastLine(std::string_view words) {
  while (words.ends_with('\n')) words.remove_suffix(1);
  return Shortened(words.substr(words.rfind('\n') + 1), 200);
}

}  // namespace

bool IsPlayerRule(std::string_view rule) { return rule.starts_with(kPlayerRules); }

PlayerClient::PlayerClient(PlayerOptions options) : options_(std::move(options)) {}
PlayerClient::~PlayerClient() = default;

// Nothing: it is there, and has greeted.
std::optional<PlayerFault> PlayerClient::Start(const std::atomic<bool>* interrupt) {
  if (process_ != nullptr) return std::nullopt;
  auto process = std::make_unique<PlayerProcess>(options_.command);
  std::variant<std::string, PlayerFault> heard = process->Ask(PrintHello(), options_.greets, interrupt);
  const auto fails = [&](std::string_view what, std::string detail) {
    process->Kill();
    last_words_ = process->last_words();
    return PlayerFault{std::string(what), std::move(detail)};
  };
  if (auto* const fault = std::get_if<PlayerFault>(&heard); fault != nullptr)
    return fails(fault->what == kInterrupt ? kInterrupt : kStart, std::move(fault->detail));
  absl::StatusOr<Greeting> greeting = ParseGreeting(std::get<std::string>(heard));
  if (!greeting.ok()) return fails(kStart, fmt::format("it greets wrongly: {}", MessageOf(greeting.status())));
  greeting_ = *std::move(greeting);
  process_ = std::move(process);
  return std::nullopt;
}

absl::StatusOr<Greeting> PlayerClient::Greet(const std::atomic<bool>* interrupt) {
  const std::optional<PlayerFault> fault = Start(interrupt);
  if (!fault.has_value()) return *greeting_;
  const std::string last = LastLine(last_words_);
  return MakeStatus(Code::kUnavailable, fmt::format("the player {} does not start: {}{}{}", Quoted(options_.command),
                                                    Escaped(fault->detail), last.empty() ? "" : "; it said: ", last));
}

void PlayerClient::Failed(const PlayerFault& fault, PlainOutcome& outcome) {
  outcome = PlainOutcome();
  if (fault.what == kInterrupt) {
    outcome.verdict = Verdict::kInterrupted;
    return;
  }
  ++failures_;
  const std::string rule = fmt::format("{}{}", kPlayerRules, fault.what);
  outcome.verdict = Verdict::kPlayerFailed;
  outcome.reason = fmt::format("{}: {}", rule, Escaped(fault.detail));
  outcome.violated = {rule};
  outcome.explanation = LastWordsText(last_words_);
}

void PlayerClient::Play(const Scenario& scenario, const PlayAsk& ask, PlainOutcome& outcome, Played& played) {
  played.start = sim::WorldOptions{}.start;
  if (failures_ >= kMostFailures) {
    outcome.verdict = Verdict::kCannot;
    outcome.reason = fmt::format("the player has failed {} times in a row", kMostFailures);
    return;
  }
  if (greeting_.has_value()) {
    outcome.reason = WhyNotPlayed(*greeting_, scenario);
  }
  if (outcome.reason.empty()) {
    if (const std::optional<PlayerFault> fault = Start(ask.interrupt); fault.has_value())
      return Failed(*fault, outcome);
    outcome.reason = WhyNotPlayed(*greeting_, scenario);
  }
  if (!outcome.reason.empty()) {
    outcome.verdict = Verdict::kCannot;
    return;
  }
  const std::int64_t id = ++plays_;
  const std::string request =
      PrintRequest({.id = id, .lives = ask.lives, .random = ask.random, .scenario = PrintRecord(scenario)});
  std::variant<std::string, PlayerFault> heard = process_->Ask(request, options_.plays, ask.interrupt);
  std::optional<PlayerFault> fault;
  if (auto* const failed = std::get_if<PlayerFault>(&heard); failed != nullptr) {
    fault = std::move(*failed);
  } else {
    const absl::Status status = ParseAnswer(std::get<std::string>(heard), id, scenario, outcome, played, ask.hook);
    const std::vector<EventKind> unseen = UnseenBy(*greeting_);
    played.unseen.insert(played.unseen.end(), unseen.begin(), unseen.end());
    if (status.ok()) {
      failures_ = 0;
      return;
    }
    const bool nonsense = CodeOf(status) == Code::kOutOfRange;
    fault = PlayerFault{nonsense ? "nonsense" : "garbage", std::string(MessageOf(status))};
  }
  // Whatever it still has to say is about this play.
  process_->Kill();
  last_words_ = process_->last_words();
  process_.reset();
  played.trace = sim::Trace();
  Failed(*fault, outcome);
}

}  // namespace vigil::replays
