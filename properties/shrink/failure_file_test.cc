// Where failures are saved: none takes the place of another, or of what was read.
#include "vigil/properties/shrink/failure_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/fakes/manual_clock.h"
#include "vigil/fakes/memory_files.h"

namespace vigil::properties {
namespace {

using ::testing::HasSubstr;

class FailureFolderTest : public ::testing::Test {
 protected:
  std::string Save(FailureFolder& folder, const std::string& name, const std::string& title) {
    replays::Scenario scenario;
    scenario.id = "a";
    scenario.title = title;
    const absl::StatusOr<std::string> path = folder.Save(name, scenario, nullptr);
    EXPECT_TRUE(path.ok()) << path.status();
    return path.value_or("");
  }
  std::string Read(const std::string& path) { return ReadAll(files_, path).value_or(""); }

  fakes::ManualClock clock_;
  fakes::MemoryFiles files_{clock_};
};

TEST_F(FailureFolderTest, EachFailureHasAFileOfItsOwn) {
  FailureFolder folder(files_, "failures");
  EXPECT_EQ(Save(folder, "rule-a", "first"), "failures/rule-a.json");
  EXPECT_EQ(Save(folder, "rule-a", "second"), "failures/rule-a-2.json");
  EXPECT_EQ(Save(folder, "rule:a", "third"), "failures/rule_a.json");
  EXPECT_EQ(Save(folder, "rule/a", "fourth"), "failures/rule_a-2.json");
  EXPECT_THAT(Read("failures/rule-a.json"), HasSubstr("first"));
  EXPECT_THAT(Read("failures/rule-a-2.json"), HasSubstr("second"));
  FailureFolder later(files_, "failures");
  EXPECT_EQ(Save(later, "rule-a", "again"), "failures/rule-a.json") << "a later campaign's takes its place";
}

TEST_F(FailureFolderTest, WhatWasReadStays) {
  FailureFolder before(files_, "failures");
  const std::string path = Save(before, "rule-a", "read");
  FailureFolder folder(files_, "failures");
  folder.Keep(path);
  folder.Keep("failures/rule-a-2.json");  // it is gone: kept by its name
  EXPECT_EQ(Save(folder, "rule-a", "new"), "failures/rule-a-3.json");
  EXPECT_THAT(Read(path), HasSubstr("read"));
}

TEST(ReplayLine, NamesThePlantedBug) {
  EXPECT_EQ(ReplayLine("a b.json", {}), "  ./vigil replay 'a b.json'\n");
  EXPECT_EQ(ReplayLine("a.json", {.plant = "x.y"}), "  VIGIL_PRESET=dev ./vigil replay a.json --plant x.y\n");
  replays::PlayLimits limits;
  EXPECT_EQ(PlayLimitOf("crash.timeout", limits), "");
  limits.cpu = std::chrono::seconds(90);
  EXPECT_EQ(PlayLimitOf("crash.signal_segv", limits), "");
  EXPECT_EQ(ReplayLine("a.json", {.play_limit = PlayLimitOf("crash.timeout", limits)}),
            "  ./vigil replay a.json --play-limit 90s\n");
}

}  // namespace
}  // namespace vigil::properties
