#include "vigil/core/session/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/core/session/test_ops.h"

namespace vigil {
namespace {

using testing::HasSubstr;

class PlanTest : public testing::Test {
 protected:
  // The plan's steps: "add read(cell) copy"; or the error.
  std::string Steps(const RunSpec& spec) {
    const absl::StatusOr<std::unique_ptr<Plan>> plan = MakePlan(g_.graph, spec);
    if (!plan.ok()) return std::string(CodeName(CodeOf(plan.status()))) + ": " + std::string(MessageOf(plan.status()));
    std::string out;
    for (const PlanStep& step : (*plan)->steps) {
      const bool read = step.node->def->is_resource;
      out += (out.empty() ? "" : " ") + (read ? "read(" + step.node->name + ")" : step.node->name);
    }
    return out;
  }
  std::string Fetching(std::vector<Output> fetches, std::vector<Output> feeds = {}) {
    return Steps({.feeds = std::move(feeds), .fetches = std::move(fetches)});
  }

  TestGraph g_;
  const Output one_ = g_.Value("one", 1);
  const Output cell_ = g_.Node("Cell", "cell");
  const Output bump_ = g_.Node("Bump", "bump", {cell_, one_});
};

TEST_F(PlanTest, OnlyWhatIsNeededInOrderOfCreation) {
  const Output a = g_.Node("Copy", "a", {one_});
  const Output b = g_.Node("Copy", "b", {a});
  g_.Node("Copy", "unused", {a});
  const Output sum = g_.Node("Add", "sum", {b, a});
  EXPECT_EQ(Fetching({sum}), "a b sum");
  EXPECT_EQ(Fetching({b, sum, b}), "a b sum");
  EXPECT_EQ(Steps({.targets = {b.node}}), "a b");
  EXPECT_EQ(Fetching({one_}), "");
}

TEST_F(PlanTest, ControlInputsRunFirstThoughNoValueIsTaken) {
  const Output a = g_.Node("Copy", "a", {one_});
  const Output group = g_.b.Group("group", {a.node});
  const Output constant =
      g_.b.Op("Value", {}, {.name = "late", .control_inputs = {group.node}, .attrs = {{"value", Tensor()}}});
  EXPECT_EQ(Steps({.targets = {group.node}}), "a");
  EXPECT_EQ(Fetching({constant}), "a");
}

TEST_F(PlanTest, AFeedReplacesWhatWouldHaveBeenComputed) {
  const Output a = g_.Node("Copy", "a", {one_});
  const Output b = g_.Node("Copy", "b", {a});
  EXPECT_EQ(Fetching({b}, {a}), "b");
  EXPECT_EQ(Fetching({b}, {b}), "");
  EXPECT_EQ(Steps({.feeds = {a}, .targets = {a.node}}), "a");  // as a target it runs all the same
  EXPECT_EQ(Fetching({b}, {a, a}), "USAGE: 'a:0' is fed twice.");
}

TEST_F(PlanTest, AVariableIsReadWhenItsValueIsWanted) {
  const Output before = g_.Node("Copy", "before", {cell_});
  const Output again = g_.Node("Bump", "again", {cell_, one_}, {before.node});
  const Output after = g_.Node("Copy", "after", {cell_}, {again.node});
  EXPECT_EQ(Fetching({after}), "read(cell) before again read(cell) after");
  EXPECT_EQ(Fetching({bump_}), "bump");                           // a reference is not a read
  EXPECT_EQ(Fetching({cell_, bump_, cell_}), "bump read(cell)");  // a fetched variable: once, in the end
  EXPECT_EQ(Fetching({before}, {cell_}), "before");               // fed: not read
  EXPECT_THAT(Fetching({bump_}, {cell_}), HasSubstr("INVALID_ARGUMENT: 'cell:0' is fed, but 'bump' takes a reference"));
}

TEST_F(PlanTest, RefusesWhatIsNotThere) {
  EXPECT_EQ(
      Steps({.unresolved = {"missing:0"}}),
      "USAGE: The name 'missing:0' refers to a Tensor which does not exist. The operation, 'missing', does not exist "
      "in the graph.");
  EXPECT_EQ(Steps({.unresolved = {"missing"}}), "USAGE: The name 'missing' refers to an Operation not in the graph.");
  EXPECT_THAT(Fetching({{99, 0}}), HasSubstr("USAGE: A fetch is not an output"));
  EXPECT_THAT(Fetching({{one_.node, 1}}), HasSubstr("USAGE: A fetch is not an output"));
  EXPECT_THAT(Fetching({one_}, {{-1, 0}}), HasSubstr("USAGE: A feed is not an output"));
  EXPECT_THAT(Steps({.targets = {99}}), HasSubstr("USAGE: A target is not a node"));
  EXPECT_THAT(Fetching({g_.Node("Gate", "gate")}), HasSubstr("USAGE: 'gate:0' (Gate) is a handle"));
  EXPECT_THAT(Fetching({g_.Node("TextGate", "text")}), HasSubstr("USAGE: 'text:0' (TextGate) is a handle"));
  EXPECT_EQ(Fetching({g_.Node("Kernelless", "k")}), "UNIMPLEMENTED: 'k': the Op 'Kernelless' has no kernel.");
}

TEST_F(PlanTest, AGraphKeepsOnePlanForEachSpec) {
  const RunSpec spec{.fetches = {bump_}};
  const absl::StatusOr<const Plan*> plan = PlanFor(g_.graph, spec);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(*PlanFor(g_.graph, spec), *plan);
  EXPECT_NE(*PlanFor(g_.graph, {.targets = {bump_.node}}), *plan);
  EXPECT_EQ(*PlanFor(g_.graph, spec), *plan);
  EXPECT_FALSE(PlanFor(g_.graph, {.unresolved = {"x"}}).ok());
}

TEST_F(PlanTest, ASlotIsReleasedByTheLastThatLooksAtIt) {
  const Output a = g_.Node("Copy", "a", {cell_});             // slot 0: read(cell), slot 1: a
  const Output b = g_.Node("Add", "b", {a, one_});            // slot 2
  const Output c = g_.Node("Add", "c", {a, b});               // slot 3
  const Output again = g_.Node("Bump", "again", {cell_, c});  // slot 4, which nobody looks at
  const absl::StatusOr<std::unique_ptr<Plan>> plan = MakePlan(g_.graph, {.fetches = {b}, .targets = {again.node}});
  ASSERT_TRUE(plan.ok());
  std::string out;
  for (const PlanStep& step : (*plan)->steps) {
    out += step.node->name + ":";
    for (std::int32_t i = step.first_release; i < step.end_release; ++i) {
      out += std::to_string((*plan)->releases[static_cast<std::size_t>(i)]);
    }
    out += " ";
  }
  EXPECT_EQ(out, "cell: a:0 b: c:1 again:34 ") << "b is fetched";
}

}  // namespace
}  // namespace vigil
