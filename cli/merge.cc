// `vigil merge`: one report of the shards of a campaign.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fmt/format.h"
#include "vigil/cli/campaign_plan.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/junit.h"
#include "vigil/cli/merge_report.h"
#include "vigil/cli/parse_command.h"
#include "vigil/cli/results.h"
#include "vigil/core/base/code.h"
#include "vigil/properties/campaign/corpus.h"
#include "vigil/properties/campaign/merge_states.h"
#include "vigil/properties/campaign/suites.h"
#include "vigil/properties/shrink/failure_file.h"
#include "vigil/replays/format/escape.h"

namespace vigil::cli {
namespace {

constexpr char kMergeNotes[] =
    "DIR is a folder with the states of shards (x.state, as vigil check --state keeps them), or such a file. Where\n"
    "vigil campaign has written its plan, campaign.json, it also says which seeds there should be.\n"
    "The report is the same, byte for byte, however the campaign was cut up, interrupted, resumed or played twice.\n"
    "What failed is saved, least scenarios first, so that the line below each finding replays it.\n"
    "\n"
    "Examples:\n"
    "  vigil merge campaign\n"
    "  vigil merge --corpus corpus shard1/corpus shard2/corpus\n"
    "  vigil merge night1 night2 --json report.json --junit report.xml --html report.html\n"
    "\n"
    "Exit codes: 0 everything passed, 1 something failed, 2 misuse, a state that cannot be used, seeds that are "
    "missing\n"
    "(the report is of the others then), unwritable output.\n";

constexpr std::string_view kStateSuffix = ".state";

struct MergeArguments {
  std::vector<std::string> paths;
  std::string json;
  std::string junit;
  std::string html;
  std::string failures = "failures";
  std::string corpus;
};

class MergeRun {
 public:
  explicit MergeRun(MergeArguments arguments)
      : arguments_(std::move(arguments)), results_("vigil merge", arguments_.json) {}

  // Instead of states: what campaigns with --corpus have kept becomes one corpus.
  int RunCorpus() {
    if (!results_.CanSaveIn(arguments_.corpus)) return kMisuse;
    for (const std::string& folder : arguments_.paths) {
      const bool any = std::ranges::any_of(properties::kSuites, [&](const properties::SuiteInfo& suite) {
        return suite.is_drawn && HasCorpus(folder, suite.name);
      });
      if (!any) {
        results_.Fail(
            fmt::format("in {} there is no random.corpus or cluster.corpus; name the folders of vigil check --corpus",
                        replays::Quoted(folder)));
      }
    }
    for (const properties::SuiteInfo& suite : properties::kSuites) {
      if (suite.is_drawn) MergeCorpora(suite.name);
    }
    return results_.End(true);
  }

  int Run() {
    if (!arguments_.corpus.empty()) return RunCorpus();
    std::vector<Found> found;
    for (const std::string& path : arguments_.paths) found.push_back(Find(path));
    if (!results_.CanWrite({{"--junit", arguments_.junit}, {"--html", arguments_.html}}, InputsOf(found)))
      return kMisuse;
    for (const Found& one : found) Read(one);
    if (results_.stopped()) return results_.End(false);
    if (states_.empty()) {
      results_.Fail("there is no state of a shard that can be used; nothing was merged");
      return results_.End(false);
    }
    absl::StatusOr<properties::CampaignReport> report = properties::MergeStates(std::move(states_), planned_);
    if (!report.ok()) return results_.Refuse(report.status());
    for (const std::string& path : report->unneeded)
      results_.Note(fmt::format("{}: other states hold all of it; not needed\n", replays::Quoted(path)));
    Save(*report);
    for (const properties::MissingSeeds& missing : report->missing) TellMissing(missing);
    results_.Print(MergeText(*report));
    if (results_.wants_json()) results_.WriteJson(MergeJson(*report));
    std::vector<std::string> missing;
    for (const properties::MissingSeeds& one : report->missing) missing.push_back(MissingText(one));
    results_.Write(arguments_.junit, JUnit(report->summary, FailuresOf(*report), missing));
    results_.Write(arguments_.html, MergeHtml(*report));
    return results_.End(report->summary.failed() == 0);
  }

 private:
  // What is at a path of the command line: paths of files.
  struct Found {
    std::string path;
    absl::Status status = {};  // why there is nothing
    std::vector<std::string> states = {};
    std::string plan = {};  // "" = there is none
  };

  bool HasCorpus(const std::string& folder, std::string_view suite) {
    return CodeOf(results_.files().Stat(properties::CorpusPath(folder, suite)).status()) != Code::kNotFound;
  }

  void MergeCorpora(std::string_view suite) {
    std::vector<std::string> folders = arguments_.paths;
    folders.push_back(arguments_.corpus);
    std::erase_if(folders, [&](const std::string& folder) { return !HasCorpus(folder, suite); });
    bool any = false;
    properties::Corpus all;
    std::uint64_t before = 0;
    for (const std::string& folder : folders) {
      const absl::StatusOr<properties::Corpus> one = properties::Corpus::Open(results_.files(), folder, suite);
      if (!one.ok()) {
        results_.Fail(MessageOf(one.status()));
        if (folder == arguments_.corpus) return;  // it would be overwritten
        continue;
      }
      any = true;
      before += one->size();
      all.Add(*one);
    }
    if (!any) return;
    const absl::Status saved = all.Save(results_.files(), arguments_.corpus, suite);
    if (!saved.ok()) results_.Fail(MessageOf(saved));
    results_.Print(fmt::format("corpus of {}: {} scenarios of {}, {} pairs of a rule's state and events\n", suite,
                               all.Least().size(), before, all.pairs()));
  }

  Found Find(const std::string& path) {
    Found found{.path = path};
    const absl::StatusOr<FileInfo> info = results_.files().Stat(path);
    if (info.ok() && !info->is_directory) {
      found.states.push_back(path);
      return found;
    }
    const absl::StatusOr<std::vector<std::string>> names = info.ok() ? results_.files().List(path) : info.status();
    found.status = names.status();
    if (!names.ok()) return found;
    for (const std::string& name : *names) {
      if (name == kPlanName) found.plan = JoinPath(path, name);
      if (name.ends_with(kStateSuffix)) found.states.push_back(JoinPath(path, name));
    }
    return found;
  }

  // The folder of failures, and each file that Read() reads. A report may lie beside the states.
  std::vector<std::string> InputsOf(const std::vector<Found>& found) const {
    std::vector<std::string> inputs = {arguments_.failures};
    for (const Found& one : found) {
      if (!one.status.ok()) inputs.push_back(one.path);
      if (!one.plan.empty()) inputs.push_back(one.plan);
      inputs.insert(inputs.end(), one.states.begin(), one.states.end());
    }
    return inputs;
  }

  void Read(const Found& found) {
    if (!found.status.ok()) return Cannot(found.path, found.status);
    if (!found.plan.empty()) ReadPlanOf(found.plan);
    for (const std::string& state : found.states) {
      if (results_.stopped()) return;
      ReadState(state);
    }
    if (found.states.empty()) {
      results_.Fail(fmt::format(
          "in {} there is no file with the name x{}; name the folder in which vigil check --state keeps them",
          replays::Quoted(found.path), kStateSuffix));
    }
  }

  void ReadState(const std::string& path) {
    const absl::StatusOr<std::string> text = ReadAll(results_.files(), path);
    if (!text.ok()) return Cannot(path, text.status());
    absl::StatusOr<properties::ShardState> state = properties::ParseShardState(*text, VIGIL_VERSION);
    if (!state.ok()) return Cannot(path, state.status());
    states_.push_back({path, *std::move(state)});
  }

  void ReadPlanOf(const std::string& path) {
    const absl::StatusOr<std::string> text = ReadAll(results_.files(), path);
    if (!text.ok()) return Cannot(path, text.status());
    const absl::StatusOr<CampaignPlan> plan = ParsePlan(*text);
    if (!plan.ok()) return Cannot(path, plan.status());
    for (const auto& [suite, seeds] : plan->suites) {
      properties::SeedRange& whole = planned_.try_emplace(suite, seeds).first->second;
      whole = {std::min(whole.first, seeds.first), std::max(whole.second, seeds.second)};
    }
  }

  void Cannot(const std::string& path, const absl::Status& status) {
    results_.Fail(fmt::format("{} cannot be merged: {}", replays::Quoted(path), replays::Escaped(MessageOf(status))));
  }

  // What replays each finding.
  void Save(properties::CampaignReport& report) {
    properties::FailureFolder folder(results_.files(), arguments_.failures);
    for (properties::CampaignFinding& finding : report.findings) {
      properties::CheckFailure& failure = finding.failure;
      if (failure.record.empty()) continue;
      const std::string name = fmt::format("{}-{}", failure.rule.empty() ? "failed" : failure.rule, failure.id);
      const absl::StatusOr<std::string> path = folder.SaveRecord(name, failure.record);
      if (!path.ok()) {
        results_.Fail(MessageOf(path.status()));
        continue;
      }
      failure.file = *path;
      failure.line = properties::ReplayLine(
          *path, {.plant = report.key.plant, .player = report.key.player, .play_limit = failure.play_limit});
    }
  }

  void TellMissing(const properties::MissingSeeds& missing) {
    const std::string how = missing.path.empty() ? fmt::format("vigil check --suite {} --seeds {}..{} --state FILE",
                                                               missing.suite, missing.seeds.first, missing.seeds.second)
                                                 : fmt::format("start the shard of {} again, which goes on from there",
                                                               replays::Quoted(missing.path));
    results_.Fail(fmt::format("{}; to play them: {}", MissingText(missing), how));
  }

  const MergeArguments arguments_;
  Results results_;
  std::vector<properties::NamedState> states_;
  std::map<std::string, properties::SeedRange> planned_;
};

}  // namespace

int Merge(const std::vector<std::string>& words) {
  MergeArguments arguments;
  CLI::App app("One report of the shards of a campaign", "vigil merge");
  app.add_option("DIR", arguments.paths, "Where the shards have kept their states")->required()->type_name("");
  app.add_option("--json", arguments.json, "Write the report to this file as JSON; - for standard output")
      ->type_name("FILE");
  app.add_option("--junit", arguments.junit, "Write it to this file as JUnit XML")->type_name("FILE");
  app.add_option("--html", arguments.html, "Write it to this file as a page for a browser")->type_name("FILE");
  app.add_option("--failures", arguments.failures, "Where what failed is saved (default: failures)")->type_name("DIR");
  app.add_option("--corpus", arguments.corpus,
                 "Instead of states, merge the corpora of the folders into that of this one")
      ->type_name("DIR");
  app.footer(kMergeNotes);
  if (const std::optional<int> end = ParseCommand(app, words)) return *end;
  const bool reports = !arguments.json.empty() || !arguments.junit.empty() || !arguments.html.empty();
  if (!arguments.corpus.empty() && reports)
    return TellMisuse("vigil merge", "--corpus: it merges corpora, of which there is no report");
  if (!arguments.corpus.empty() && app.get_option("--failures")->count() > 0)
    return TellMisuse("vigil merge", "--failures: not with --corpus, of which no failure is saved");
  for (const std::string& file : {arguments.junit, arguments.html}) {
    if (file == "-")
      return TellMisuse("vigil merge", "--junit and --html: - is no file; for standard output say /dev/stdout");
  }
  return MergeRun(std::move(arguments)).Run();
}

}  // namespace vigil::cli
