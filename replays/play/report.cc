#include "vigil/replays/play/report.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "fmt/format.h"
#include "vigil/replays/crew/crew.h"
#include "vigil/replays/format/escape.h"

namespace vigil::replays {
namespace {

constexpr std::size_t kTitleBytes = 200;
constexpr std::size_t kUnusedChoices = 5;

std::string WhereOf(const Result& result) { return fmt::format("{}:{}", Escaped(result.source), result.record); }

void AppendText(JsonWriter& w, std::string_view key, const std::optional<std::string>& text) {
  w.Key(key);
  if (text.has_value()) {
    w.String(*text);
  } else {
    w.Null();
  }
}

}  // namespace

std::string ReplayCommand(std::string_view words, const ReplayHow& how) {
  const bool planted = !how.plant.empty();
  const std::string player = how.player.empty() ? "" : " --player " + ShellWord(how.player);
  const std::string limit = how.play_limit.empty() ? "" : " --play-limit " + how.play_limit;
  return fmt::format("{}./vigil replay {}{}{}{}{}{}{}{}", planted ? "VIGIL_PRESET=dev " : "", how.real ? "--real " : "",
                     words, how.seeds.empty() ? "" : " ", how.seeds, planted ? " --plant " : "", how.plant, player,
                     limit);
}

std::string ReplayLine(const Result& result, const ReplayHow& how) {
  const std::string dash = result.source != "-" && result.source.starts_with('-') ? "./" : "";
  ReplayHow own = how;
  if (!result.by_seeds) own.seeds.clear();
  return ReplayCommand(fmt::format("{} --only {}", ShellWord(dash + result.source), ShellWord(result.id)), own);
}

std::string FailureText(const Result& result, const ReplayHow& how) {
  std::string text = "FAILED " + Escaped(result.id);
  if (!result.title.empty()) text += ": " + Shortened(result.title, kTitleBytes);
  text += fmt::format("\n  {}\n  {}\n{}", WhereOf(result), result.reason, result.difference.report);
  const std::vector<std::string>& unused = result.outcome.unused_choices;
  for (std::size_t i = 0; i < std::min(unused.size(), kUnusedChoices); ++i) {
    text += fmt::format("  a choice that nothing asked for: {}\n", Escaped(unused[i]));
  }
  if (unused.size() > kUnusedChoices)
    text += fmt::format("  and {} more such choices\n", unused.size() - kUnusedChoices);
  return text + "  " + ReplayLine(result, how) + "\n";
}

Reporter::Reporter(ReportOptions options, Print out, Print err)
    : options_(std::move(options)), out_(std::move(out)), err_(std::move(err)) {
  scenarios_.Open('[');
}

void Reporter::Add(const Result& result) {
  if (result.status == Status::kUnreadable) {
    ++unreadable_;
    err_(fmt::format("error: {}\n", result.reason));
  } else if (result.status == Status::kNotPlayed) {
    ++not_played_;
    ++reasons_[result.reason];
  } else {
    if (options_.trace) {
      std::string text = fmt::format("== {} ({})\n", Escaped(result.id), WhereOf(result));
      for (const std::string& event : result.outcome.events) text += Escaped(event) + "\n";
      out_(text);
    }
    if (options_.hashes) hashes_ += fmt::format("{} {:016x}\n", result.id, result.outcome.hash);
    if (!result.note.empty()) err_(fmt::format("note: {}: {}\n", Escaped(result.source), Escaped(result.note)));
    if (result.status == Status::kPassed && !result.outcome.unused_choices.empty()) {
      err_(fmt::format(
          "note: {}: nothing asked for {} of its choices: the program is not the one that made them, and this was "
          "another run\n",
          Escaped(result.id), result.outcome.unused_choices.size()));
    }
    ++(result.status == Status::kPassed ? passed_ : failed_);
  }
  if (result.status == Status::kFailed) PrintFailure(result);
  if (options_.json) AddToJson(result);
}

void Reporter::PrintFailure(const Result& result) {
  if (failed_ <= kFullFailures) {
    out_(FailureText(result, options_.how) + "\n");
    return;
  }
  if (failed_ == kFullFailures + 1) out_("Further failures in one line each:\n");
  out_(fmt::format("FAILED {} ({}): {}\n", Escaped(result.id), WhereOf(result), result.reason));
}

void Reporter::AddToJson(const Result& result) {
  JsonWriter& w = scenarios_;
  w.Newline().Open('{');
  if (result.status == Status::kUnreadable) {
    w.Key("id").Null();
  } else {
    w.Key("id").String(result.id);
  }
  w.Key("file").String(result.source).Key("record").Integer(result.record);
  w.Key("status").String(StatusName(result.status));
  if (result.status != Status::kUnreadable) {
    w.Key("verdict").String(VerdictName(result.outcome.verdict));
    w.Key("hash").String(fmt::format("{:016x}", result.outcome.hash));
  }
  if (!result.reason.empty()) w.Key("reason").String(result.reason);
  if (const std::optional<EventDifference>& first = result.difference.first_event; first.has_value()) {
    w.Key("first_difference").Open('{').Key("event").Natural(first->event);
    AppendText(w, "expected", first->expected);
    AppendText(w, "played", first->played);
    w.Close('}');
  }
  if (!result.outcome.misses.empty()) {
    w.Key("misses").Open('[');
    for (const std::string& miss : result.outcome.misses) w.String(miss);
    w.Close(']');
  }
  if (!result.outcome.plays.empty()) w.Key("plays").Raw(result.outcome.plays);
  if (!result.outcome.frequencies.empty()) w.Key("frequencies").Raw(result.outcome.frequencies);
  if (!result.outcome.why.empty()) w.Key("why").Raw(result.outcome.why);
  if (!result.outcome.unused_choices.empty()) {
    w.Key("unused_choices").Open('[');
    for (const std::string& choice : result.outcome.unused_choices) w.String(choice);
    w.Close(']');
  }
  w.Close('}');
}

void Reporter::Finish(bool interrupted, bool given_up) {
  interrupted_ = interrupted;
  given_up_ = given_up;
  if (unreadable_ > 0)
    out_(fmt::format("{} could not be read\n", unreadable_ == 1 ? "1 input" : fmt::format("{} inputs", unreadable_)));
  for (const auto& [reason, times] : reasons_) out_(fmt::format("{} not played: {}\n", times, reason));
  if (given_up_) out_(kGivenUp);
  if (interrupted_) out_("interrupted: this is what was found so far\n");
  out_(fmt::format("{} passed, {} failed\n", passed_, failed_));
}

std::string Reporter::TakeJson() {
  scenarios_.Newline().Close(']');
  JsonWriter w;
  w.Open('{').Key("passed").Natural(passed_).Key("failed").Natural(failed_).Key("unreadable").Natural(unreadable_);
  if (not_played_ > 0) w.Key("not_played").Natural(not_played_);
  w.Key("interrupted").Bool(interrupted_);
  if (given_up_) w.Key("given_up").Bool(true);
  w.Key("scenarios").Raw(scenarios_.text()).Close('}');
  return w.Take() + "\n";
}

std::string Reporter::TakeHashes() { return std::move(hashes_); }

}  // namespace vigil::replays
