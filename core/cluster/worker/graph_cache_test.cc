#include "vigil/core/cluster/worker/graph_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/ops/ops.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

constexpr Duration kMinute = std::chrono::minutes(1);

class GraphCacheTest : public testing::Test {
 protected:
  GraphCacheTest() : ids_(fake_.env(), "test"), resources_(fake_.env()) {
    const absl::StatusOr<ClusterSpec> spec = ClusterSpec::Create({{"ps", std::vector<std::string>{"ps0:2222"}}});
    EXPECT_TRUE(spec.ok());
    tasks_ = *TaskAddresses::Create(*spec, "ps", 0);
  }

  std::shared_ptr<RegisteredGraph> Make() {
    auto graph = RegisteredGraph::Create(fake_.env(), BuiltinOps(), {}, tasks_, resources_, ids_, kMinute);
    EXPECT_TRUE(graph.ok());
    return *graph;
  }
  std::shared_ptr<RegisteredGraph> Find(const std::string& bytes) { return cache_.Find(bytes, kMinute, "a session"); }
  std::shared_ptr<RegisteredGraph> Add(const std::string& bytes) {
    return cache_.Add(bytes, kMinute, "a session", Make());
  }

  fakes::FakeEnv fake_;
  RequestIds ids_;
  ResourceManager resources_;
  TaskAddresses tasks_;
  GraphCache cache_;
};

TEST_F(GraphCacheTest, AGraphIsKnownByItsBytesAndItsKeepalive) {
  EXPECT_EQ(Find("a"), nullptr);
  const auto a = Add("a");
  const auto b = Add("b");
  EXPECT_NE(a, b);
  EXPECT_EQ(Find("a"), a);
  EXPECT_EQ(Find("b"), b);
  EXPECT_EQ(cache_.Find("a", 2 * kMinute, "a session"), nullptr);
  EXPECT_EQ(Find("ab"), nullptr);
}

TEST_F(GraphCacheTest, WhoComesSecondGetsTheFirst) {
  const auto first = Add("a");
  EXPECT_EQ(Add("a"), first);
}

// Another session may have what it likes of what keeps nothing for its own.
TEST_F(GraphCacheTest, AGraphThatKeepsSomethingForItsSessionIsOfThatAlone) {
  const auto shared = Add("a");
  EXPECT_EQ(cache_.Find("a", kMinute, "another"), shared);
  auto own = Make();
  own->set_own(std::make_shared<ResourceManager>(fake_.env(), "a session"));
  ASSERT_EQ(cache_.Add("b", kMinute, "a session", own), own);
  EXPECT_EQ(Find("b"), own);
  EXPECT_EQ(cache_.Find("b", kMinute, "another"), nullptr);
  // Who has no handle is a session, too.
  auto nobody = Make();
  nobody->set_own(std::make_shared<ResourceManager>(fake_.env()));
  ASSERT_EQ(cache_.Add("c", kMinute, "", nobody), nobody);
  EXPECT_EQ(cache_.Find("c", kMinute, ""), nobody);
  EXPECT_EQ(Find("c"), nullptr);
  cache_.Keep(own);
  own = nullptr;
  EXPECT_EQ(Find("b"), nullptr);  // it went with its session
}

TEST_F(GraphCacheTest, OfThoseThatNobodyUsesTheLatestAreKept) {
  const auto used = Add("used");
  cache_.Keep(used);
  Add("dropped");
  EXPECT_EQ(Find("dropped"), nullptr);
  cache_.Keep(Add("old"));
  for (std::size_t i = 0; i + 1 < GraphCache::kMostKept; ++i) cache_.Keep(Add("another " + std::to_string(i)));
  EXPECT_NE(Find("old"), nullptr);
  cache_.Keep(Add("one more"));
  EXPECT_EQ(Find("old"), nullptr);
  EXPECT_NE(Find("another 0"), nullptr);
  EXPECT_EQ(Find("used"), used);
  cache_.Drop();
  EXPECT_EQ(Find("one more"), nullptr);
  EXPECT_EQ(Find("used"), used);
}

}  // namespace
}  // namespace vigil
