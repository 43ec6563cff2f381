#include "vigil/properties/zoo/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/env/real/posix_files.h"
#include "vigil/properties/verify/findings.h"
#include "vigil/properties/verify/verify.h"
#include "vigil/replays/crew/crash.h"

namespace vigil {
namespace {

std::string TextOfReport(const ZooHook& hook, const HookReport& report) {
  return ReportText(hook.name, report, "./vigil verify --case {}");
}

std::size_t Count(ZooKind kind) { return static_cast<std::size_t>(std::ranges::count(Zoo(), kind, &ZooHook::kind)); }

TEST(Zoo, HasEnoughOfEachKind) {
  EXPECT_GE(Count(ZooKind::kWrong), 25U);
  EXPECT_GE(Count(ZooKind::kRight), 10U);
  EXPECT_GE(Count(ZooKind::kBuiltIn), 11U);
  std::set<std::string_view> names;
  for (const ZooHook& hook : Zoo()) EXPECT_TRUE(names.insert(hook.name).second) << hook.name;
}

// "nan_tensor_hook.h" is that of NanTensorHook.
std::string ClassOf(std::string_view header) {
  std::string name;
  bool begins = true;
  for (const char c : header.substr(0, header.find('.'))) {
    if (c != '_') name += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    begins = c == '_';
  }
  return name;
}

TEST(Zoo, HasEveryHookOfTheLibrary) {
  PosixFiles files;
  const absl::StatusOr<std::vector<std::string>> names =
      files.List(std::string(VIGIL_SOURCE_DIR) + "/core/train/hooks");
  ASSERT_TRUE(names.ok()) << names.status();
  std::size_t headers = 0;
  for (const std::string& name : *names) {
    if (!name.ends_with("_hook.h")) continue;
    ++headers;
    EXPECT_NE(std::ranges::find(Zoo(), ClassOf(name), &ZooHook::name), Zoo().end())
        << ClassOf(name) << " is never verified: give it a place in properties/zoo/builtin_hooks.cc";
  }
  EXPECT_GE(headers, 11U);
}

TEST(Zoo, HasAnAnimalForEachPromise) {
  for (const HookPromise& promise : HookPromises())
    EXPECT_NE(std::ranges::find(Zoo(), promise.id, &ZooHook::promise), Zoo().end()) << promise.id;
}

TEST(Zoo, HasAnAnimalForEachWayToCrash) {
  std::set<std::string_view> ways;
  for (const ZooHook& hook : Zoo()) {
    if (replays::IsCrashRule(hook.promise)) ways.insert(hook.promise);
  }
  EXPECT_GE(ways.size(), 4U);
}

TEST(Zoo, WhatIsWrongIsFound) {
  for (const ZooHook& hook : Zoo()) {
    if (hook.kind != ZooKind::kWrong) continue;
    VerifyOptions options = hook.options;
    options.scenarios = 0;
    const HookReport report = VerifyHook(hook.make, options);
    EXPECT_EQ(report.error, "") << hook.name;
    EXPECT_NE(std::ranges::find(report.findings, hook.promise, &HookFinding::promise), report.findings.end())
        << hook.promise << "\n"
        << TextOfReport(hook, report);
  }
}

TEST(Zoo, WhatIsRightIsLeftInPeace) {
  for (const ZooHook& hook : Zoo()) {
    if (hook.kind == ZooKind::kWrong) continue;
    VerifyOptions options = hook.options;
    options.scenarios = 50;
    const HookReport report = VerifyHook(hook.make, options);
    EXPECT_TRUE(report.ok()) << TextOfReport(hook, report);
  }
}

// By TensorFlow's behaviour, where a step that stands still is traced twice.
TEST(Zoo, AProfilerHasLeaveToFail) {
  const ZooHook* const profiler = FindInZoo("ProfilerHook");
  ASSERT_NE(profiler, nullptr);
  VerifyOptions options = profiler->options;
  options.only = "random_100715";
  const HookReport report = VerifyHook(profiler->make, options);
  EXPECT_TRUE(report.ok()) << TextOfReport(*profiler, report);
  EXPECT_THAT(report.events, testing::Contains(testing::HasSubstr("exit failed USAGE")));
}

}  // namespace
}  // namespace vigil
