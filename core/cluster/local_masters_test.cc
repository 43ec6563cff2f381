#include "vigil/core/cluster/local_masters.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using Addresses = std::vector<std::string>;

ClusterSpec SpecOf(const ClusterSpec::Jobs& jobs) { return *ClusterSpec::Create(jobs); }

TEST(LocalMastersTest, AProcessIsThatTaskWhoseServerIsInTheMastersCluster) {
  const fakes::FakeEnv fake;
  LocalMasters masters;
  masters.Add("grpc://w0:1", {}, SpecOf({{"ps", Addresses{"p0:1"}}, {"worker", Addresses{"w0:1", "w1:1"}}}),
              {.task = "/job:worker/replica:0/task:0", .number = 3});
  for (const char* const target : {"grpc://w0:1", "grpc://w1:1", "grpc://p0:1"}) {
    const std::optional<TaskStart> own = masters.OwnStart(target);
    ASSERT_TRUE(own.has_value()) << target;
    EXPECT_EQ(own->task, "/job:worker/replica:0/task:0");
    EXPECT_EQ(own->number, 3u);
  }
  // Of another cluster, no address, no scheme.
  for (const char* const target : {"grpc://w2:1", "grpc://", "w0:1", "grpc://w0:11"}) {
    EXPECT_FALSE(masters.OwnStart(target).has_value()) << target;
  }
}

TEST(LocalMastersTest, WhereATaskIsToBeReachedAnyMemberOfItsClusterKnows) {
  LocalMasters masters;
  masters.Add("grpc://w0:1", {}, SpecOf({{"ps", Addresses{"p0:1", "p1:1"}}, {"worker", Addresses{"w0:1"}}}));
  EXPECT_EQ(masters.AddressOf("grpc://w0:1", "ps", 1), "p1:1");
  EXPECT_EQ(masters.AddressOf("grpc://p0:1", "ps", 1), "p1:1") << "a master of another process";
  EXPECT_EQ(masters.AddressOf("grpc://w0:1", "ps", 2), std::nullopt);
  EXPECT_EQ(masters.AddressOf("grpc://elsewhere:1", "ps", 1), std::nullopt);
  EXPECT_EQ(masters.Find("grpc://w0:1"), nullptr) << "it is gone";
  masters.Remove("grpc://w0:1");
  EXPECT_EQ(masters.AddressOf("grpc://w0:1", "ps", 1), std::nullopt);
}

}  // namespace
}  // namespace vigil
