// `vigil campaign`: a check cut into shards, for an engine that plays them on many machines.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "vigil/cli/campaign_scripts.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/parse_command.h"
#include "vigil/cli/results.h"
#include "vigil/cli/system.h"
#include "vigil/cli/words.h"
#include "vigil/core/base/code.h"
#include "vigil/replays/format/escape.h"

namespace vigil::cli {
namespace {

constexpr char kCampaignNotes[] =
    "Writes into the folder --out what the engine is given: slurm.sbatch (a job array), job.yaml and Dockerfile (an\n"
    "indexed Job of Kubernetes), or parallel.sh (GNU parallel, on this machine or over ssh); and shard.sh, which "
    "plays\n"
    "one shard: a range of seeds. A shard keeps its state there, and goes on from it when it is started again.\n"
    "vigil merge makes one report of them.\n"
    "\n"
    "Examples:\n"
    "  vigil campaign --engine parallel --suite random --seeds 1..1000000 --shards 8 --out campaign --submit\n"
    "  vigil campaign --engine slurm --suite cluster --seeds 1..100000 --shards 200 --out /shared/campaign --submit\n"
    "  vigil campaign --engine kubernetes --image registry/vigil:1 --claim states --suite random --seeds 1..1000000\n"
    "      --shards 50 --out campaign\n"
    "  vigil merge campaign\n"
    "\n"
    "Exit codes: 0 written (with --submit: that of sbatch, kubectl or parallel), 2 misuse or output that cannot be\n"
    "written.\n";

struct CampaignArguments {
  std::string engine;
  std::vector<std::string> suites;
  std::string seeds;
  std::string out;
  bool submit = false;
  CampaignScripts scripts;  // what the rest of the options says; paths as they are given
};

// The label of RFC 1123, which Kubernetes wants and Slurm takes.
bool IsLabel(const std::string& text) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= 52 && plain(text.front()) && plain(text.back()) &&
         std::ranges::all_of(text, [&plain](char c) { return plain(c) || c == '-'; });
}

// sbatch reads its lines without a shell: nothing there can be quoted.
bool IsPlainPath(const std::string& text) {
  return std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._-+@,").find(c) != std::string_view::npos;
  });
}

int CampaignMisuse(const std::string& what) { return TellMisuse("vigil campaign", what); }

std::string Absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

std::optional<std::string> WrongOf(const CampaignScripts& scripts) {
  const bool kubernetes = scripts.engine == Engine::kKubernetes;
  if (!IsLabel(scripts.name))
    return fmt::format("--name: up to 52 lower-case letters, digits and '-', got '{}'", scripts.name);
  if (kubernetes && scripts.image.empty())
    return "--image: with --engine kubernetes say which image has vigil and the shards";
  if (kubernetes && !IsLabel(scripts.claim)) {
    return fmt::format(
        "--claim: with --engine kubernetes the name of the claim of a volume that all pods can write, got '{}'",
        scripts.claim);
  }
  if (!kubernetes && (!scripts.image.empty() || !scripts.claim.empty()))
    return "--image, --claim: only with --engine kubernetes";
  if (scripts.engine != Engine::kParallel && !scripts.hosts.empty()) return "--hosts: only with --engine parallel";
  if (scripts.engine == Engine::kSlurm && !IsPlainPath(scripts.folder)) {
    return fmt::format("--out: sbatch takes no blanks, quotes or '%' in the path of a folder, got '{}'",
                       scripts.folder);
  }
  return std::nullopt;
}

int WriteCampaign(const CampaignArguments& a) {
  const CampaignScripts& scripts = a.scripts;
  Results results("vigil campaign", "");
  const std::string plan = JoinPath(scripts.folder, kPlanName);
  const absl::StatusOr<std::string> before = ReadAll(results.files(), plan);
  if (before.ok() && *before != PrintPlan(scripts.plan)) {
    results.Fail(fmt::format("{} is of another campaign, whose states would not fit; name another folder, or remove it",
                             replays::Quoted(plan)));
    return results.End(false);
  }
  const absl::Status made = results.files().MakeDirectory(scripts.folder);
  if (!made.ok()) return results.Refuse(made);
  bool written = true;
  for (const auto& [name, text] : FilesOfCampaign(scripts)) {
    const std::string path = JoinPath(scripts.folder, name);
    const absl::Status status = WriteAtomically(results.files(), path, text);
    if (status.ok()) continue;
    results.Fail(fmt::format("cannot write {}: {}", replays::Quoted(path), replays::Escaped(MessageOf(status))));
    written = false;
    break;
  }
  if (!written) return results.End(false);
  const std::string submit = SubmitCommand(scripts.engine, a.out);
  results.Print(fmt::format("{} shards in {}\n{} them:\n  {}\none report of what they have found:\n  vigil merge {}\n",
                            CountShards(scripts.plan), replays::Quoted(a.out), a.submit ? "starting" : "to start",
                            submit, replays::ShellWord(a.out)));
  results.Flush();
  if (!a.submit || results.interrupted()) return results.End(true);
  results.Fail(replays::Escaped(MessageOf(Execute("/bin/sh", {"-c", "exec " + submit}))));
  return results.End(false);
}

void AddCampaignOptions(CLI::App& app, CampaignArguments& a) {
  app.add_option("--engine", a.engine, "slurm, kubernetes or parallel")
      ->required()
      ->check(CLI::IsMember({"slurm", "kubernetes", "parallel"}).description(""))
      ->type_name("ENGINE");
  app.add_option("--suite", a.suites, "random or cluster (repeatable): each is cut by itself")
      ->required()
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"random", "cluster"}).description(""))
      ->type_name("NAME");
  app.add_option("--seeds", a.seeds, "Of each suite, both included")->required()->type_name("A..B");
  app.add_option("--shards", a.scripts.plan.shards, "How many parts of each suite")
      ->required()
      ->check(CheckNumber(1, kMostShards))
      ->type_name("N");
  app.add_option("--out", a.out, "The folder of the campaign; all machines must see it (Kubernetes: the claim)")
      ->required()
      ->type_name("DIR");
  app.add_option("--name", a.scripts.name, "Of the job (default: vigil)")->type_name("NAME");
  app.add_option("--program", a.scripts.program, "Where vigil is on those machines (default: where it is here)")
      ->type_name("FILE");
  app.add_option("--jobs", a.scripts.jobs, "Processes of each shard (default: 1)")
      ->check(CheckNumber(1, kMostJobs))
      ->type_name("N");
  app.add_option("--hosts", a.scripts.hosts, "parallel: a file with an ssh login a line (default: this machine)")
      ->type_name("FILE");
  app.add_option("--image", a.scripts.image, "kubernetes: the image that was built of the Dockerfile")
      ->type_name("IMAGE");
  app.add_option("--claim", a.scripts.claim, "kubernetes: the PersistentVolumeClaim that the states are kept on")
      ->type_name("NAME");
  app.add_option("--plant", a.scripts.plant, "Leave this planted bug on (preset dev)")->type_name("ID");
  app.add_flag("--submit", a.submit, "Start it: by sbatch, kubectl apply, or parallel");
  app.footer(kCampaignNotes);
}

}  // namespace

int Campaign(const std::vector<std::string>& words) {
  CampaignArguments arguments;
  CLI::App app("Cuts a check into shards for an engine", "vigil campaign");
  AddCampaignOptions(app, arguments);
  if (const std::optional<int> end = ParseCommand(app, words)) return *end;
  CampaignScripts& scripts = arguments.scripts;
  scripts.engine = arguments.engine == "slurm"        ? Engine::kSlurm
                   : arguments.engine == "kubernetes" ? Engine::kKubernetes
                                                      : Engine::kParallel;
  std::pair<std::uint64_t, std::uint64_t> seeds;
  if (!ParseSeeds(arguments.seeds, seeds.first, seeds.second))
    return CampaignMisuse(fmt::format("--seeds: expected A..B with A <= B, got '{}'", arguments.seeds));
  for (const std::string& suite : arguments.suites) scripts.plan.suites[suite] = seeds;
  scripts.folder = Absolute(arguments.out);
  if (scripts.program.empty()) scripts.program = JoinPath(ProgramFolder(), "vigil");
  if (!scripts.hosts.empty()) scripts.hosts = Absolute(scripts.hosts);
  if (const std::optional<std::string> wrong = WrongOf(scripts)) return CampaignMisuse(*wrong);
  return WriteCampaign(arguments);
}

}  // namespace vigil::cli
