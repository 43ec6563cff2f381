// `vigil judge`: the rules held against somebody's own program, as python -m vigil_player.observe wrote it down.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/parse_command.h"
#include "vigil/cli/results.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/time.h"
#include "vigil/properties/judge/explain.h"
#include "vigil/properties/judge/observed_rules.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/json_writer.h"
#include "vigil/replays/player/observed.h"
#include "vigil/replays/show/event_text.h"
#include "vigil/replays/traces/input.h"

namespace vigil::cli {
namespace {

constexpr char kJudgeNotes[] =
    "FILE is what python -m vigil_player.observe --to FILE.jsonl wrote (docs/observing.md), also packed as .xz, a "
    "folder with\n"
    "such files, or - for standard input. Each session of the program, monitored or a supervisor's, is judged by "
    "itself.\n"
    "\n"
    "Examples:\n"
    "  python -m vigil_player.observe --to job.jsonl train.py grpc://127.0.0.1:2223\n"
    "  vigil judge job.jsonl\n"
    "  vigil judge job.jsonl --trace\n"
    "  vigil judge jobs/ --json - | jq .failed\n"
    "\n"
    "Exit codes: 0 all rules are kept, 1 one is broken, 2 misuse, input that cannot be read or holds no session, "
    "output "
    "that\n"
    "cannot be written, 130 ended by Ctrl-C and 143 by SIGTERM.\n";

constexpr char kWhatIsRead[] =
    "note: what is read here is what an observed program has written: lines of JSON, of which the first is "
    "{\"observed\":1}\n"
    "      to make such a file: python -m vigil_player.observe --to job.jsonl train.py (docs/observing.md)\n";

struct JudgeArguments {
  std::vector<std::string> paths;
  std::string json;
  bool trace = false;
};

class Judging {
 public:
  explicit Judging(const JudgeArguments& arguments) : arguments_(arguments), results_("vigil judge", arguments.json) {}

  int Run() {
    if (!results_.CanWrite({}, arguments_.paths)) return kMisuse;
    w_.Open('{').Key("jobs").Open('[');
    const replays::ChunkSource standard_input = [this] { return ReadStandardInput(results_.stopped()); };
    const replays::OnRecord take = [this](replays::RawRecord record) {
      Take(record);
      return !results_.stopped();
    };
    replays::ReadRecords(results_.files(), standard_input, arguments_.paths, take, "session");
    if (!results_.stopped()) EndFile();
    if (!results_.stopped() && !told_ && passed_ + failed_ == 0) results_.Fail("there is nothing to judge");
    if (explains_) results_.Note(kWhatIsRead);
    w_.Close(']').Key("passed").Natural(passed_).Key("failed").Natural(failed_).Close('}');
    if (results_.wants_json()) results_.WriteJson(w_.Take() + "\n");
    results_.Print(fmt::format("{} kept all rules, {} did not\n", passed_, failed_));
    return results_.End(failed_ == 0);
  }

 private:
  void Take(const replays::RawRecord& record) {
    if (record.source != source_ || record.record <= last_) EndFile();
    source_ = record.source;
    last_ = record.record;
    if (!record.error.ok()) return Fail(std::string(MessageOf(record.error)));
    if (broken_) return;  // one error of a file is enough
    if (!unfinished_.empty()) return Fail(unfinished_);
    if (record.is_trace) return Fail(fmt::format("{}: this is a trace: vigil replay plays it", source_));
    if (const absl::Status status = reader_.Read(record.text); !status.ok()) {
      const std::string_view first = reader_.begun() ? "" : "no observed program: ";
      unfinished_ = fmt::format("{}:{}: {}{}", source_, record.record, first, MessageOf(status));
    }
  }

  void Fail(const std::string& what) {
    broken_ = told_ = true;
    explains_ = explains_ || !reader_.begun();
    results_.Fail(replays::Escaped(what));
  }

  // Nothing more comes of this file. A program that was killed leaves half a line.
  void EndFile() {
    if (!broken_ && !unfinished_.empty()) {
      if (reader_.jobs().empty()) {
        Fail(unfinished_);
      } else {
        results_.Note(fmt::format("note: {}: the last line is left out: {}\n", replays::Escaped(source_),
                                  replays::Escaped(unfinished_)));
      }
    }
    if (!broken_ && last_ > 0 && reader_.jobs().empty())
      Fail(source_ + ": the program has made no session that is watched");
    for (std::size_t i = 0; !broken_ && i < reader_.jobs().size(); ++i) JudgeOne(i + 1, *reader_.jobs()[i]);
    reader_ = {};
    unfinished_.clear();
    broken_ = false;
    last_ = 0;
  }

  void JudgeOne(std::size_t number, const replays::ObservedJob& job) {
    if (job.trace.size() == 0) {
      results_.Note(fmt::format("note: {}: of job {} nothing was seen\n", replays::Escaped(source_), number));
      return;
    }
    const properties::Judgement judgement = properties::JudgeObserved(job);
    const auto armed = std::ranges::count_if(judgement.armed, [](std::uint64_t times) { return times > 0; });
    const bool kept = judgement.violations.empty();
    ++(kept ? passed_ : failed_);
    std::string text =
        fmt::format("{} {} job {}: {} events{}, {} rules armed\n", kept ? "ok" : "FAILED", replays::Escaped(source_),
                    number, job.trace.size(), job.ended ? "" : ", cut off", armed);
    w_.Open('{').Key("file").String(source_).Key("job").Natural(number).Key("ended").Bool(job.ended);
    w_.Key("events").Natural(job.trace.size()).Key("armed").Open('[');
    for (std::size_t rule = 0; rule < judgement.armed.size(); ++rule) {
      if (judgement.armed[rule] > 0) w_.String(properties::AllRules()[rule]()->info().id);
    }
    w_.Close(']').Key("violations").Open('[');
    for (const properties::Violation& violation : judgement.violations) {
      const std::string why = properties::Explain(violation, job.trace);
      w_.Open('{').Key("rule").String(violation.rule).Key("text").String(why).Close('}');
      text += why;
    }
    w_.Close(']').Close('}');
    results_.Print(text);
    if (arguments_.trace) results_.Print(TraceText(job));
  }

  static std::string TraceText(const replays::ObservedJob& job) {
    std::string text;
    for (std::size_t i = 0; i < job.trace.size(); ++i) {
      text += fmt::format("  event {:<6}{:>12.6f} s  {}\n", i + 1, ToSeconds(job.trace[i].time.since_epoch),
                          replays::Escaped(replays::EventText(job.trace[i].event)));
    }
    return text;
  }

  const JudgeArguments& arguments_;
  Results results_;
  replays::JsonWriter w_;
  replays::ObservedReader reader_;
  std::string source_;
  std::int64_t last_ = 0;   // line of it; 0: none yet
  std::string unfinished_;  // what is wrong with the last line that was read
  bool broken_ = false;     // this file
  bool told_ = false;       // some file
  bool explains_ = false;   // some file is not what is read here
  std::uint64_t passed_ = 0;
  std::uint64_t failed_ = 0;
};

}  // namespace

int Judge(const std::vector<std::string>& arguments) {
  JudgeArguments parsed;
  CLI::App app{"Holds the rules against an observed program", "vigil judge"};
  app.add_option("FILE", parsed.paths, "What was observed")->required()->type_name("");
  app.add_flag("--trace", parsed.trace, "Print what each session did");
  app.add_option("--json", parsed.json, "Write the results to this file as JSON; - for standard output")
      ->type_name("FILE");
  app.footer(kJudgeNotes);
  if (const std::optional<int> end = ParseCommand(app, arguments)) return *end;
  Judging judging(parsed);
  return judging.Run();
}

}  // namespace vigil::cli
