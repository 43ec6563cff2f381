#include "vigil/cli/campaign_scripts.h"

#include <algorithm>

#include "fmt/format.h"
#include "vigil/core/env/files.h"
#include "vigil/replays/format/escape.h"

namespace vigil::cli {
namespace {

using replays::ShellWord;

constexpr char kWritten[] = "# Written by vigil campaign. Each shard goes on from its state, however it ended.\n";

std::string ShardsText(const CampaignPlan& plan) {
  std::string text;
  for (const auto& [suite, seeds] : plan.suites) {
    std::uint64_t number = 0;
    for (const auto& [first, last] : CutSeeds(seeds.first, seeds.second, plan.shards))
      text += fmt::format("{}-{} {} {}..{}\n", suite, number++, suite, first, last);
  }
  return text;
}

// That something failed is no failure of the shard: it is in the state, and an engine would only play it again.
std::string ShardScript(const CampaignScripts& scripts) {
  const std::string plant = scripts.plant.empty() ? "" : " --plant " + ShellWord(scripts.plant);
  return fmt::format(
      "#!/bin/sh\n"
      "# shard.sh N: plays the shard of line N of shards.txt, counted from 0.\n"
      "{}"
      "set -eu\n"
      "line=$(($1 + 1))\n"
      "cd \"$(dirname \"$0\")\"\n"
      "set -- $(sed -n \"${{line}}p\" shards.txt)\n"
      "if [ $# -ne 3 ]; then echo \"shards.txt has no line $line\" >&2; exit 2; fi\n"
      "states=${{VIGIL_STATES:-.}}\n"
      "vigil=${{VIGIL_PROGRAM:-{}}}\n"
      "code=0\n"
      "\"$vigil\" check --suite \"$2\" --seeds \"$3\" --jobs {} --state \"$states/$1.state\" "
      "--failures \"$states/failures/$1\"{} || code=$?\n"
      "# 1: something failed, which vigil merge tells.\n"
      "if [ $code -eq 1 ]; then code=0; fi\n"
      "exit $code\n",
      kWritten, ShellWord(scripts.program), scripts.jobs, plant);
}

std::string SlurmScript(const CampaignScripts& scripts) {
  return fmt::format(
      "#!/bin/sh\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --array=0-{}\n"
      "#SBATCH --cpus-per-task={}\n"
      "#SBATCH --chdir={}\n"
      "#SBATCH --output=shard-%a.log\n"
      "#SBATCH --open-mode=append\n"
      "#SBATCH --requeue\n"
      "{}"
      "# A shard that was lost: sbatch --array=N slurm.sbatch\n"
      "exec sh {} \"$SLURM_ARRAY_TASK_ID\"\n",
      scripts.name, CountShards(scripts.plan) - 1, scripts.jobs, scripts.folder, kWritten,
      ShellWord(JoinPath(scripts.folder, "shard.sh")));
}

std::string JsonText(const std::string& text) {
  std::string quoted;
  replays::AppendJsonString(quoted, text);
  return quoted;
}

// A pod that is moved away does not count as a failure; one that fails is tried again a few times.
std::string KubernetesManifest(const CampaignScripts& scripts) {
  const std::uint64_t shards = CountShards(scripts.plan);
  return fmt::format(
      "{}"
      "apiVersion: batch/v1\n"
      "kind: Job\n"
      "metadata:\n"
      "  name: {}\n"
      "spec:\n"
      "  completionMode: Indexed\n"
      "  completions: {}\n"
      "  parallelism: {}\n"
      "  backoffLimitPerIndex: 5\n"
      "  maxFailedIndexes: {}\n"
      "  podFailurePolicy:\n"
      "    rules:\n"
      "      - action: Ignore\n"
      "        onPodConditions:\n"
      "          - type: DisruptionTarget\n"
      "            status: \"True\"\n"
      "      - action: FailIndex\n"
      "        onExitCodes:\n"
      "          containerName: vigil\n"
      "          operator: In\n"
      "          values: [2]\n"
      "  template:\n"
      "    spec:\n"
      "      restartPolicy: Never\n"
      "      containers:\n"
      "        - name: vigil\n"
      "          image: {}\n"
      "          command: [\"/bin/sh\", \"-c\", \"exec sh /campaign/shard.sh \\\"$JOB_COMPLETION_INDEX\\\"\"]\n"
      "          env:\n"
      "            - name: VIGIL_STATES\n"
      "              value: /states\n"
      "            - name: VIGIL_PROGRAM\n"
      "              value: /usr/local/bin/vigil\n"
      "          resources:\n"
      "            requests:\n"
      "              cpu: \"{}\"\n"
      "          volumeMounts:\n"
      "            - name: states\n"
      "              mountPath: /states\n"
      "      volumes:\n"
      "        - name: states\n"
      "          persistentVolumeClaim:\n"
      "            claimName: {}\n",
      kWritten, JsonText(scripts.name), shards, shards, shards, JsonText(scripts.image), std::max(scripts.jobs, 1),
      JsonText(scripts.claim));
}

std::string DockerFile() {
  return fmt::format(
      "{}"
      "# Put the program vigil, and the libraries that it needs (ldd vigil), into this folder; then\n"
      "#   docker build -t IMAGE .\n"
      "FROM debian:bookworm-slim\n"
      "COPY vigil /usr/local/bin/vigil\n"
      "COPY shard.sh shards.txt /campaign/\n"
      "RUN vigil --version\n",
      kWritten);
}

// The command is relative to the folder: parallel hands it to another shell, without the quotes that it had here. It is
// not asked to leave out what was done (--resume-failed): it cannot read its own log where a login is an ssh command
// with options, and a shard that is done says so at once.
std::string ParallelScript(const CampaignScripts& scripts) {
  const std::string hosts = scripts.hosts.empty() ? ""
                                                  : fmt::format("--sshloginfile {} --workdir {} ",
                                                                ShellWord(scripts.hosts), ShellWord(scripts.folder));
  return fmt::format(
      "#!/bin/sh\n"
      "{}"
      "# parallel.sh again plays what failed or was lost. The machines of an ssh login file share this folder.\n"
      "set -eu\n"
      "cd {}\n"
      "seq 0 {} | parallel --will-cite {}--joblog parallel.log --retries 3 sh ./shard.sh {{}}\n",
      kWritten, ShellWord(scripts.folder), CountShards(scripts.plan) - 1, hosts);
}

}  // namespace

std::uint64_t CountShards(const CampaignPlan& plan) {
  std::uint64_t count = 0;
  for (const auto& [suite, seeds] : plan.suites) count += CutSeeds(seeds.first, seeds.second, plan.shards).size();
  return count;
}

std::map<std::string, std::string> FilesOfCampaign(const CampaignScripts& scripts) {
  std::map<std::string, std::string> files;
  files[std::string(kPlanName)] = PrintPlan(scripts.plan);
  files["shards.txt"] = ShardsText(scripts.plan);
  files["shard.sh"] = ShardScript(scripts);
  switch (scripts.engine) {
    case Engine::kSlurm:
      files["slurm.sbatch"] = SlurmScript(scripts);
      break;
    case Engine::kKubernetes:
      files["job.yaml"] = KubernetesManifest(scripts);
      files["Dockerfile"] = DockerFile();
      break;
    case Engine::kParallel:
      files["parallel.sh"] = ParallelScript(scripts);
      break;
  }
  return files;
}

std::string SubmitCommand(Engine engine, const std::string& folder) {
  const auto file = [&folder](std::string_view name) { return ShellWord(JoinPath(folder, name)); };
  switch (engine) {
    case Engine::kSlurm:
      return "sbatch " + file("slurm.sbatch");
    case Engine::kKubernetes:
      return "kubectl apply -f " + file("job.yaml");
    case Engine::kParallel:
      return "sh " + file("parallel.sh");
  }
  return "";
}

}  // namespace vigil::cli
