#include "vigil/properties/zoo/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

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

}  // namespace
}  // namespace vigil
