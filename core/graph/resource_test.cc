#include "vigil/core/graph/resource.h"

#include <gtest/gtest.h>

#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

struct Cell : Resource {
  static constexpr std::string_view kKind = "cell";
  void Cancel() override { ++cancelled; }
  std::size_t in_line() const override { return waiting; }
  int cancelled = 0;
  std::size_t waiting = 0;
};
struct Other : Resource {
  static constexpr std::string_view kKind = "other";
};

class ResourceManagerTest : public testing::Test {
 protected:
  std::shared_ptr<Cell> Get(std::string_view container, std::string_view name) {
    return manager_.GetOrCreate<Cell>(container, name, [] { return std::make_shared<Cell>(); });
  }
  fakes::FakeEnv fake_;
  ResourceManager manager_{fake_.env()};
};

TEST_F(ResourceManagerTest, OneForEachContainerKindAndName) {
  const std::shared_ptr<Cell> x = Get("", "x");
  EXPECT_EQ(Get("", "x"), x);
  EXPECT_NE(Get("", "y"), x);
  EXPECT_NE(Get("c", "x"), x);
  const auto other = manager_.GetOrCreate<Other>("", "x", [] { return std::make_shared<Other>(); });
  EXPECT_NE(static_cast<Resource*>(other.get()), x.get());
}

TEST_F(ResourceManagerTest, ResetForgetsOneContainerOrAll) {
  const std::shared_ptr<Cell> x = Get("", "x");
  const std::shared_ptr<Cell> y = Get("c", "y");
  const std::uint64_t before = manager_.generation();
  manager_.Reset("c");
  EXPECT_NE(manager_.generation(), before);
  EXPECT_EQ(Get("", "x"), x);
  EXPECT_NE(Get("c", "y"), y);
  manager_.Reset("");
  EXPECT_NE(Get("", "x"), x);
}

TEST_F(ResourceManagerTest, CancelReachesAll) {
  const std::shared_ptr<Cell> x = Get("", "x");
  const std::shared_ptr<Cell> y = Get("c", "y");
  manager_.CancelAll();
  EXPECT_EQ(x->cancelled, 1);
  EXPECT_EQ(y->cancelled, 1);
}

TEST_F(ResourceManagerTest, WhoWaitsIsCountedInAllThatSomebodyHas) {
  std::shared_ptr<Cell> x = Get("", "x");
  const std::shared_ptr<Cell> y = Get("c", "y");
  EXPECT_EQ(manager_.InLine(), 0u);
  x->waiting = 1;
  y->waiting = 2;
  EXPECT_EQ(manager_.InLine(), 3u);
  manager_.Reset("");
  EXPECT_EQ(manager_.InLine(), 3u);
  x = nullptr;
  EXPECT_EQ(manager_.InLine(), 2u);
}

TEST_F(ResourceManagerTest, AMakerMayAskForAnotherResource) {
  manager_.GetOrCreate<Cell>("", "outer", [this] {
    Get("", "inner");
    return std::make_shared<Cell>();
  });
  EXPECT_NE(Get("", "inner"), Get("", "outer"));
}

}  // namespace
}  // namespace vigil
