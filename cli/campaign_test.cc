// `vigil campaign`: the scripts that it writes say what they should, and play all seeds once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "fmt/format.h"
#include "vigil/cli/run_program.h"

namespace vigil::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class CampaignTest : public ::testing::Test {
 protected:
  Ran Run(const std::string& command) { return RunShell(folder_.path(), command); }

  // The written file, with the folder and the program left out.
  std::string Written(const std::string& name) {
    return Run(fmt::format("sed -e \"s|$(pwd -P)|FOLDER|g\" -e \"s|$VIGIL|VIGIL|g\" out/{}", name)).out;
  }

  TemporaryFolder folder_;
};

constexpr char kSlurm[] =
    R"(#!/bin/sh
#SBATCH --job-name=vigil
#SBATCH --array=0-2
#SBATCH --cpus-per-task=2
#SBATCH --chdir=FOLDER/out
#SBATCH --output=shard-%a.log
#SBATCH --open-mode=append
#SBATCH --requeue
# Written by vigil campaign. Each shard goes on from its state, however it ended.
# A shard that was lost: sbatch --array=N slurm.sbatch
exec sh FOLDER/out/shard.sh "$SLURM_ARRAY_TASK_ID"
)";

TEST_F(CampaignTest, WritesAJobArray) {
  const Ran ran = Run("$VIGIL campaign --engine slurm --suite random --seeds 1..10 --shards 3 --jobs 2 --out out");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("3 shards in "));
  EXPECT_EQ(Written("slurm.sbatch"), kSlurm);
  EXPECT_EQ(Written("shards.txt"), "random-0 random 1..4\nrandom-1 random 5..7\nrandom-2 random 8..10\n");
  EXPECT_EQ(Written("campaign.json"), "{\"vigil campaign\":1,\"shards\":3,\"suites\":{\"random\":[1,10]}}\n");
  EXPECT_EQ(Run("for f in out/shard.sh out/slurm.sbatch; do sh -n $f || echo $f; done").out, "");
}

constexpr char kJob[] =
    R"(# Written by vigil campaign. Each shard goes on from its state, however it ended.
apiVersion: batch/v1
kind: Job
metadata:
  name: "nightly"
spec:
  completionMode: Indexed
  completions: 8
  parallelism: 8
  backoffLimitPerIndex: 5
  maxFailedIndexes: 8
  podFailurePolicy:
    rules:
      - action: Ignore
        onPodConditions:
          - type: DisruptionTarget
            status: "True"
      - action: FailIndex
        onExitCodes:
          containerName: vigil
          operator: In
          values: [2]
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: vigil
          image: "registry/vigil:1"
          command: ["/bin/sh", "-c", "exec sh /campaign/shard.sh \"$JOB_COMPLETION_INDEX\""]
          env:
            - name: VIGIL_STATES
              value: /states
            - name: VIGIL_PROGRAM
              value: /usr/local/bin/vigil
          resources:
            requests:
              cpu: "1"
          volumeMounts:
            - name: states
              mountPath: /states
      volumes:
        - name: states
          persistentVolumeClaim:
            claimName: "states"
)";

TEST_F(CampaignTest, WritesAnIndexedJob) {
  const Ran ran =
      Run("$VIGIL campaign --engine kubernetes --name nightly --image registry/vigil:1 --claim states --suite cluster "
          "--suite random --seeds 1..100 --shards 4 --out out");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(Written("job.yaml"), kJob);
  EXPECT_THAT(Written("Dockerfile"), HasSubstr("\nCOPY shard.sh shards.txt /campaign/\n"));
  EXPECT_THAT(Written("shards.txt"), StartsWith("cluster-0 cluster 1..25\n"));
  EXPECT_THAT(Written("shards.txt"), HasSubstr("\nrandom-3 random 76..100\n"));
}

// To YAML a bare 7 is a number, and null is nothing.
TEST_F(CampaignTest, NamesAreStringsToKubernetes) {
  for (const auto& [name, claim] : {std::pair("20261128", "7"), {"2026-11-28", "true"}, {"null", "on"}}) {
    const Ran ran =
        Run(fmt::format("rm -rf out; $VIGIL campaign --engine kubernetes --name {} --image x --claim {} --suite random "
                        "--seeds 1..9 --shards 2 --out out",
                        name, claim));
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(Written("job.yaml"), HasSubstr(fmt::format("\n  name: \"{}\"\n", name)));
    EXPECT_THAT(Written("job.yaml"), HasSubstr(fmt::format("\n            claimName: \"{}\"\n", claim)));
  }
}

// Every seed is in one shard, whatever the numbers.
TEST_F(CampaignTest, CutsSeedsWithoutGapsOrOverlaps) {
  for (const auto& [seeds, shards, lines] : {std::tuple("1..1", 5, 1),
                                             {"7..1006", 8, 8},
                                             {"0..99", 7, 7},
                                             {"1..18446744073709551614", 3, 3},
                                             {"0..18446744073709551615", 64, 64}}) {
    const Ran ran = Run(fmt::format(
        "rm -rf out; $VIGIL campaign --engine parallel --suite random --seeds {} --shards {} --out out >/dev/null && "
        "python3 -c '\n"
        "parts = [tuple(map(int, l.split()[2].split(\"..\"))) for l in open(\"out/shards.txt\")]\n"
        "assert all(a[1] + 1 == b[0] for a, b in zip(parts, parts[1:]))\n"
        "sizes = [b - a + 1 for a, b in parts]\n"
        "assert max(sizes) - min(sizes) <= 1, sizes\n"
        "print(len(parts), \"%d..%d\" % (parts[0][0], parts[-1][1]))'",
        seeds, shards));
    EXPECT_EQ(ran.out, fmt::format("{} {}\n", lines, seeds)) << ran.err;
  }
}

// The scripts themselves, without an engine: what shards kept is merged into what one process says.
TEST_F(CampaignTest, ShardsPlayWhatTheyShould) {
  EXPECT_EQ(Run("$VIGIL campaign --engine parallel --suite random --seeds 1..50 --shards 3 --out out").code, 0);
  const Ran shards =
      Run("for i in 2 0 1; do sh out/shard.sh $i || echo failed $i; done >log; grep failed log; "
          "sh out/shard.sh 3; echo $?");
  EXPECT_THAT(shards.err, HasSubstr("shards.txt has no line 4"));
  EXPECT_THAT(shards.out, ::testing::EndsWith("2\n"));
  const Ran merged = Run("$VIGIL merge out");
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_EQ(
      Run("mkdir one; $VIGIL check --suite random --seeds 1..50 --state one/a.state >/dev/null; $VIGIL merge one").out,
      merged.out);
}

TEST_F(CampaignTest, RefusesWhatCannotBe) {
  const std::string good = "--engine slurm --suite random --seeds 1..10 --shards 3 --out out";
  const auto refused = [this](const std::string& options) {
    const Ran ran = Run("$VIGIL campaign " + options);
    EXPECT_EQ(ran.code, 2) << options;
    return ran.err;
  };
  EXPECT_THAT(refused(""), HasSubstr("--engine is required"));
  EXPECT_THAT(refused("--engine pbs --suite random --seeds 1..10 --shards 3 --out out"), HasSubstr("--engine"));
  EXPECT_THAT(refused("--engine slurm --suite random --seeds 10..1 --shards 3 --out out"),
              HasSubstr("--seeds: expected A..B with A <= B, got '10..1'"));
  EXPECT_THAT(refused("--engine slurm --suite random --seeds 1..10 --shards 0 --out out"), HasSubstr("--shards"));
  EXPECT_THAT(refused("--engine slurm --suite random --seeds 1..10 --shards 3 --out 'a b'"),
              HasSubstr("--out: sbatch takes no blanks"));
  EXPECT_THAT(refused(good + " --image x"), HasSubstr("--image, --claim: only with --engine kubernetes"));
  EXPECT_THAT(refused(good + " --hosts x"), HasSubstr("--hosts: only with --engine parallel"));
  EXPECT_THAT(refused(good + " --name 'A b'"), HasSubstr("--name: up to 52"));
  EXPECT_THAT(refused("--engine kubernetes --suite random --seeds 1..10 --shards 3 --out out"), HasSubstr("--image: "));
  EXPECT_THAT(refused("--engine kubernetes --image x --suite random --seeds 1..10 --shards 3 --out out"),
              HasSubstr("--claim: "));
  folder_.Write("file", "");
  EXPECT_THAT(refused("--engine slurm --suite random --seeds 1..10 --shards 3 --out file/x"), HasSubstr("error: "));
  EXPECT_EQ(Run("$VIGIL campaign " + good).code, 0);
  EXPECT_EQ(Run("$VIGIL campaign " + good).code, 0);  // the same once more
  EXPECT_THAT(refused("--engine slurm --suite random --seeds 1..20 --shards 3 --out out"),
              HasSubstr("campaign.json' is of another campaign, whose states would not fit"));
}

// Commands of docs/campaigns.md, in one folder: each line "$ COMMAND", and what it prints; "..." is anything.
TEST_F(CampaignTest, TheDocumentShowsWhatIsPrinted) {
  if (Run("$VIGIL check --planted list").code != 0) return;  // a release has none
  std::ifstream file(VIGIL_SOURCE_DIR "/docs/campaigns.md");
  std::string command;
  std::string expected;
  int compared = 0;
  const auto play = [&] {
    if (command.empty()) return;
    const std::string real = Run(std::regex_replace(command, std::regex("\\./vigil"), "$$VIGIL")).out;
    constexpr std::string_view kAnything = "...\n";
    if (expected.ends_with(kAnything)) {
      EXPECT_THAT(real, StartsWith(expected.substr(0, expected.size() - kAnything.size()))) << command;
    } else {
      EXPECT_EQ(real, expected) << command;
    }
    ++compared;
    command = expected = "";
  };
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```") || line.starts_with("$ ")) play();
    if (line.starts_with("$ ")) {
      command = line.substr(2);
    } else if (!command.empty()) {
      expected += line + "\n";
    }
  }
  EXPECT_EQ(compared, 6);
}

}  // namespace
}  // namespace vigil::cli
