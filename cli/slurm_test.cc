// A campaign on a real scheduler: slurmctld, slurmd and munged of this machine, in a folder of their own. An array of
// eight shards, one of which is killed and started again, comes to what one process does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fmt/format.h"
#include "vigil/cli/sharded_campaign.h"

namespace vigil::cli {
namespace {

using ::testing::HasSubstr;

// Ports other than Slurm's own: whoever runs one here is left alone.
constexpr char kStart[] = R"(set -e
D=$(pwd -P)
H=$(hostname -s)
mkdir state spool
dd if=/dev/urandom of=munge.key bs=1 count=128 2>/dev/null
chmod 0400 munge.key
munged --force --socket=$D/munge.sock --key-file=$D/munge.key --pid-file=$D/munge.pid --log-file=$D/munge.log \
  --seed-file=$D/munge.seed
cat >slurm.conf <<END
ClusterName=vigil
SlurmctldHost=$H(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$D/munge.sock,cred_expire=5
CredType=cred/munge
StateSaveLocation=$D/state
SlurmdSpoolDir=$D/spool
SlurmctldPidFile=$D/slurmctld.pid
SlurmdPidFile=$D/slurmd.pid
SlurmctldLogFile=$D/slurmctld.log
SlurmdLogFile=$D/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=$H NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$H Default=YES MaxTime=INFINITE State=UP
END
echo IgnoreSystemd=yes >cgroup.conf
slurmctld >/dev/null 2>&1 && slurmd >/dev/null 2>&1
)";

class SlurmTest : public ShardedCampaignTest {
 protected:
  // Every command sees that Slurm.
  SlurmTest() : ShardedCampaignTest("export SLURM_CONF=$(pwd -P)/slurm.conf\n") {}
  ~SlurmTest() override { Run("for p in slurmd slurmctld munge; do kill $(cat $p.pid); done 2>/dev/null"); }
};

TEST_F(SlurmTest, AnArrayOfWhichOneIsKilledAndResumedComesToTheSame) {
  if (::geteuid() != 0) return;  // it would start jobs as root
  const std::string plant = Plant("recovery.given_up_on_internal");
  const Ran started = Run(kStart);
  ASSERT_EQ(started.code, 0) << started.err;
  ASSERT_TRUE(Becomes("sinfo -h -o %t | grep -q '^idle$'", 60)) << Run("cat slurmctld.log slurmd.log").out;
  const Ran submitted = Run(fmt::format(
      "$VIGIL campaign --engine slurm --suite random --seeds 1..{} --shards 8 --out out --submit{}", kSeeds, plant));
  ASSERT_EQ(submitted.code, 0) << submitted.err;
  ASSERT_THAT(submitted.out, HasSubstr("Submitted batch job "));
  const std::string job = Run("squeue -h -r -o %F | head -n 1 | tr -d '\\n'").out;
  // It has kept something, and is not done.
  ASSERT_TRUE(Becomes("[ -s out/random-1.state ]", 120)) << Run("cat out/shard-1.log").out;
  const Ran killed = Run(fmt::format("scancel --signal=KILL --full {}_1; ls out/*.state", job));
  EXPECT_EQ(killed.code, 0) << killed.err;
  EXPECT_TRUE(Becomes("[ $(squeue -h -r | wc -l) = 0 ]", 500));
  const Ran lost = Run("$VIGIL merge out >/dev/null");
  EXPECT_EQ(lost.code, 2);
  EXPECT_THAT(lost.err, ::testing::ContainsRegex("seeds [0-9]+..6000 are missing; to play them: start the shard of "
                                                 "'out/random-1.state' again"));
  EXPECT_EQ(Run("sbatch --array=1 out/slurm.sbatch").code, 0);
  EXPECT_TRUE(Becomes("[ $(squeue -h -r | wc -l) = 0 ]", 300));
  ExpectWhatOneProcessFinds("out", plant);
}

}  // namespace
}  // namespace vigil::cli
