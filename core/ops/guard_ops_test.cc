#include <gtest/gtest.h>

#include "vigil/core/ops/testing.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

class GuardOpsTest : public OpsTest<fakes::FakeEnv> {
 protected:
  std::string Matches(const std::string& pattern, std::vector<std::string> texts) {
    Graph graph(BuiltinOps());
    Builder b(graph);
    b.Op("StaticRegexFullMatch", {b.Const("texts", Tensor::Vector<std::string>(texts))},
         {.attrs = {{"pattern", pattern}}});
    if (!b.status().ok()) return vigil::Show(b.status());
    return Show(b_.Op("StaticRegexFullMatch", {Vec<std::string>(texts)}, {.attrs = {{"pattern", pattern}}}));
  }
};

TEST_F(GuardOpsTest, AnAssertionSaysWhatItWasGiven) {
  const Output data = Vec<float>({1.5F, 2, 3, 4});
  EXPECT_EQ(vigil::Show(Run(b_.Op("Assert", {Scalar<bool>(true), data}).node)), "OK");
  EXPECT_EQ(
      vigil::Show(Run(b_.Op("Assert", {Scalar<bool>(false), Scalar<std::string>("x must be small:"), data}).node)),
      "INVALID_ARGUMENT: assertion failed: [x must be small:] [1.5 2 3...]");
  const Attrs one{{"summarize", std::int64_t{1}}};
  EXPECT_EQ(vigil::Show(Run(b_.Op("Assert", {Scalar<bool>(false), Scalar<bool>(true), data}, {.attrs = one}).node)),
            "INVALID_ARGUMENT: assertion failed: [1] [1.5...]");
  EXPECT_EQ(vigil::Show(Run(b_.Op("Assert", {Vec<bool>({true})}).node)),
            "INVALID_ARGUMENT: Input condition should be a scalar but has shape: [1]");
}

TEST_F(GuardOpsTest, TextsMatchAsAWhole) {
  EXPECT_EQ(Matches("^s3://.*", {"s3://bucket/model", "/tmp/s3://x", "s3:/", ""}), "bool [4] true false false false");
  EXPECT_EQ(Matches("a.c", {"abc", "a\nc", "abcd", "ac"}), "bool [4] true false false false");
  EXPECT_EQ(Matches("a*b$", {"b", "aaab", "aaa", "ba"}), "bool [4] true true false false");
  EXPECT_EQ(Matches("1\\.5\\*", {"1.5*", "1x5*"}), "bool [2] true false");
  EXPECT_EQ(Matches("", {"", "x"}), "bool [2] true false");
}

TEST_F(GuardOpsTest, OtherPatternsAreRefused) {
  for (const std::string pattern : {"a+", "(a)", "[a]", "a|b", "a**", "*", "\\d", "a{2}", "\\"}) {
    EXPECT_EQ(Matches(pattern, {"a"}), "UNIMPLEMENTED: 'StaticRegexFullMatch' Op: the pattern '" + pattern +
                                           "': only characters, '.', '*' and '\\' are known here");
  }
}

TEST_F(GuardOpsTest, CopiesOnReadAreNoneOfAVariableAnyway) {
  const ops::Variable v = ops::MakeResourceVariable(b_, "v", Scalar<float>(2));
  EXPECT_EQ(vigil::Show(Run(b_.Op("DisableCopyOnRead", {v.ref}).node)), "OK");
  ASSERT_EQ(vigil::Show(Run(v.initializer)), "OK");
  EXPECT_EQ(Show(v.read), "float [] 2");
}

}  // namespace
}  // namespace vigil
