// Verifies a hook of one's own in a GoogleTest, in five lines:
//
//   VIGIL_VERIFY_HOOK(EarlyStopping, [](vigil::HookWorld& w) {
//     return std::make_unique<MyEarlyStoppingHook>(w.loss());
//   });
//
// A third argument says what it has leave to do: vigil::VerifyOptions{.may_feed = true}. The test fails with one
// finding for each promise that the hook breaks, and the line that plays the scenario again. The program links
// vigil::properties_verify and GoogleTest (GTest::gtest_main). docs/testing_your_code.md
#ifndef VIGIL_PROPERTIES_VERIFY_VERIFY_HOOK_H_
#define VIGIL_PROPERTIES_VERIFY_VERIFY_HOOK_H_

#include <gtest/gtest.h>

#include <string>

#include "vigil/properties/verify/case_to_play.h"
#include "vigil/properties/verify/hook_world.h"
#include "vigil/properties/verify/options.h"
#include "vigil/properties/verify/verify.h"

namespace vigil {

inline testing::AssertionResult HookKeepsItsPromises(const std::string& name, const HookMaker& maker,
                                                     VerifyOptions options = {}) {
  options.only = CaseToPlay();
  const HookReport report = VerifyHook(maker, options);
  if (report.ok()) return testing::AssertionSuccess();
  testing::AssertionResult failure = testing::AssertionFailure();
  failure << "\n" << ReportText(name, report, ReplayLineOfTest(name));
  for (const std::string& event : report.events) failure << "    " << event << "\n";
  return failure;
}

}  // namespace vigil

#define VIGIL_VERIFY_HOOK(Name, ...) \
  TEST(VigilVerify, Name) { EXPECT_TRUE(vigil::HookKeepsItsPromises(#Name, __VA_ARGS__)); }

#endif  // VIGIL_PROPERTIES_VERIFY_VERIFY_HOOK_H_
