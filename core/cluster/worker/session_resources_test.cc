#include "vigil/core/cluster/worker/session_resources.h"

#include <gtest/gtest.h>

#include <memory>

#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

struct Thing final : Resource {
  static constexpr std::string_view kKind = "thing";
  void Cancel() override { ++cancelled; }
  int cancelled = 0;
};

std::shared_ptr<Thing> ThingOf(ResourceManager& resources) {
  return resources.GetOrCreate<Thing>("box", "a", [] { return std::make_shared<Thing>(); });
}

TEST(SessionResources, GoWithTheLastWhoHasThem) {
  fakes::FakeEnv fake;
  SessionResources sessions(fake.env());
  auto first = sessions.Of("first");
  auto again = sessions.Of("first");
  const auto second = sessions.Of("second");
  EXPECT_EQ(first, again);
  EXPECT_NE(first, second);
  EXPECT_EQ(first->session(), "first");
  EXPECT_EQ(sessions.size(), 2U);
  const std::weak_ptr<Thing> thing = ThingOf(*first);
  first = nullptr;
  EXPECT_FALSE(thing.expired());
  again = nullptr;
  EXPECT_TRUE(thing.expired());
  EXPECT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions.Of("second"), second);
}

TEST(SessionResources, AllAreCancelledAndReset) {
  fakes::FakeEnv fake;
  SessionResources sessions(fake.env());
  const auto first = sessions.Of("first");
  const auto second = sessions.Of("second");
  const auto thing = ThingOf(*first);
  const auto other = ThingOf(*second);
  EXPECT_NE(thing, other);
  sessions.CancelAll();
  EXPECT_EQ(thing->cancelled, 1);
  EXPECT_EQ(other->cancelled, 1);
  sessions.Reset("another box");
  EXPECT_EQ(ThingOf(*first), thing);
  sessions.Reset("box");
  EXPECT_NE(ThingOf(*first), thing);
  EXPECT_NE(ThingOf(*second), other);
}

}  // namespace
}  // namespace vigil
