// A campaign by GNU parallel over ssh: an sshd of its own on a loopback port, which two machines share. A shard that is
// killed until parallel gives it up, and played by a second parallel.sh, comes to what one process does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fmt/format.h"
#include "vigil/cli/sharded_campaign.h"

namespace vigil::cli {
namespace {

using ::testing::ContainsRegex;

// Keys, known machines and what parallel remembers are in the folder: nothing of whoever runs this is asked or changed.
// As root sshd wants /run/sshd, which its service makes.
constexpr char kStart[] = R"sh(set -e
D=$(pwd -P)
PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
ssh-keygen -q -t ed25519 -N '' -f host_key
ssh-keygen -q -t ed25519 -N '' -f key
cat >sshd_config <<END
ListenAddress 127.0.0.1
Port $PORT
HostKey $D/host_key
PidFile $D/sshd.pid
AuthorizedKeysFile $D/key.pub
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UsePAM no
END
cat >ssh_config <<END
Host *
  Port $PORT
  IdentityFile $D/key
  IdentitiesOnly yes
  UserKnownHostsFile $D/known_hosts
  StrictHostKeyChecking accept-new
  BatchMode yes
END
printf '2/ssh -F %s/ssh_config %s\n' $D 127.0.0.1 $D localhost >hosts.txt
mkdir parallel_home
if [ $(id -u) = 0 ]; then mkdir -p /run/sshd; fi
"$SSHD" -f $D/sshd_config -E $D/sshd.log
)sh";

class SshTest : public ShardedCampaignTest {
 protected:
  SshTest() : ShardedCampaignTest("export PARALLEL_HOME=$(pwd -P)/parallel_home SSHD=" VIGIL_SSHD "\n") {}
  ~SshTest() override { Run("kill $(cat sshd.pid)"); }
};

// Of shard 1, once it has kept something: all processes that parallel starts until it gives the shard up.
constexpr char kKill[] = R"sh(
until [ -s 'out side/random-1.state' ]; do if [ -e ended ]; then exit 1; fi; sleep 0.05; done
until [ -e ended ]; do
  for p in $(pgrep -f 'state ./random-1.state'); do
    if [ "$(readlink /proc/$p/cwd)" = "$(pwd -P)/out side" ]; then kill -KILL $p; fi
  done
  sleep 0.05
done)sh";

TEST_F(SshTest, ACampaignOfTwoMachinesOfWhichOneShardIsLostAndPlayedAgainComesToTheSame) {
  const std::string plant = Plant("recovery.once_a_call");
  const Ran started = Run(kStart);
  ASSERT_EQ(started.code, 0) << started.err;
  ASSERT_TRUE(Becomes("ssh -F ssh_config 127.0.0.1 true && ssh -F ssh_config localhost true", 30))
      << folder_.Read("sshd.log");
  const Ran written = Run(
      fmt::format("$VIGIL campaign --engine parallel --hosts hosts.txt --suite random --seeds 1..{} --shards 8 --out "
                  "'out side'{}",
                  kSeeds, plant));
  ASSERT_EQ(written.code, 0) << written.err;
  const Ran first = Run(fmt::format(
      "(timeout 500 sh 'out side/parallel.sh'; echo $? >code; touch ended) >log 2>&1 & {}\nwait; cat code", kKill));
  EXPECT_EQ(first.out, "1\n") << folder_.Read("log");  // that many shards were given up
  const Ran lost = Run("$VIGIL merge 'out side' >/dev/null");
  EXPECT_EQ(lost.code, 2);
  EXPECT_THAT(lost.err, ContainsRegex("seeds [0-9]+..6000 are missing; to play them: start the shard of "));
  EXPECT_EQ(Run("timeout 300 sh 'out side/parallel.sh' >log 2>&1").code, 0) << folder_.Read("log");
  EXPECT_EQ(Run("cut -f 2 'out side/parallel.log' | grep -o '[^ ]*$' | sort -u").out, "127.0.0.1\nHost\nlocalhost\n");
  ExpectWhatOneProcessFinds("out side", plant);
}

}  // namespace
}  // namespace vigil::cli
