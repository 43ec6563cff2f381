#include "vigil/replays/judge/compare.h"

#include <gtest/gtest.h>

namespace vigil::replays {
namespace {

std::vector<std::string> Letters(std::string_view letters) {
  std::vector<std::string> events;
  for (const char c : letters) events.emplace_back(1, c);
  return events;
}

Difference CompareEvents(std::string_view expected, std::string_view played) {
  Expectation expectation;
  expectation.events = Letters(expected);
  PlainOutcome outcome;
  outcome.events = Letters(played);
  return Compare(outcome, expectation);
}

TEST(Compare, EqualSaysNothing) {
  const Difference difference = CompareEvents("abc", "abc");
  EXPECT_TRUE(difference.none());
  EXPECT_EQ(difference.report, "");
  EXPECT_TRUE(CompareEvents("", "").none());
}

TEST(Compare, AnotherEvent) {
  const Difference difference = CompareEvents("abcdefghijklmnop", "abcdefgXijklmnop");
  ASSERT_TRUE(difference.first_event.has_value());
  EXPECT_EQ(difference.first_event->event, 8u);
  EXPECT_EQ(difference.first_event->expected, "h");
  EXPECT_EQ(difference.first_event->played, "X");
  EXPECT_EQ(difference.report,
            "  first difference: event 8 (16 expected, 16 played)\n"
            "          ...\n"
            "       3  c\n"
            "       4  d\n"
            "       5  e\n"
            "       6  f\n"
            "       7  g\n"
            "  -    8  h\n"
            "  +    8  X\n"
            "       9  i\n"
            "      10  j\n"
            "      11  k\n"
            "      12  l\n"
            "      13  m\n"
            "          ...\n");
}

TEST(Compare, AMissingEvent) {
  const Difference difference = CompareEvents("abcde", "abde");
  EXPECT_EQ(difference.report,
            "  first difference: event 3 (5 expected, 4 played)\n"
            "       1  a\n"
            "       2  b\n"
            "  -    3  c\n"
            "       3  d\n"
            "       4  e\n");
}

TEST(Compare, AnExtraEvent) {
  const Difference difference = CompareEvents("abde", "abcde");
  EXPECT_EQ(difference.report,
            "  first difference: event 3 (4 expected, 5 played)\n"
            "       1  a\n"
            "       2  b\n"
            "  +    3  c\n"
            "       4  d\n"
            "       5  e\n");
}

TEST(Compare, TheEndIsMissing) {
  const Difference difference = CompareEvents("abc", "a");
  EXPECT_EQ(difference.first_event->expected, "b");
  EXPECT_EQ(difference.first_event->played, std::nullopt);
  EXPECT_EQ(difference.report,
            "  first difference: event 2 (3 expected, 1 played)\n"
            "       1  a\n"
            "  -    2  b\n"
            "  -    3  c\n"
            "  played ends here\n");
}

TEST(Compare, MoreThanWasExpected) {
  const Difference difference = CompareEvents("", "ab");
  EXPECT_EQ(difference.first_event->expected, std::nullopt);
  EXPECT_EQ(difference.first_event->played, "a");
  EXPECT_EQ(difference.report,
            "  first difference: event 1 (0 expected, 2 played)\n"
            "  +    1  a\n"
            "  +    2  b\n"
            "  expected ends here\n");
}

TEST(Compare, NothingInCommonAfterwards) {
  const Difference difference = CompareEvents("aBCDEFGHI", "ajklmnopq");
  EXPECT_EQ(difference.report,
            "  first difference: event 2 (9 expected, 9 played)\n"
            "       1  a\n"
            "  -    2  B\n"
            "  -    3  C\n"
            "  -    4  D\n"
            "  -    5  E\n"
            "  -    6  F\n"
            "  -    7  G\n"
            "          ...\n"
            "  +    2  j\n"
            "  +    3  k\n"
            "  +    4  l\n"
            "  +    5  m\n"
            "  +    6  n\n"
            "  +    7  o\n"
            "          ...\n");
}

TEST(Compare, AnExtraEventInALongSeriesIsOneLine) {
  std::string series;
  for (int i = 0; i < 200; ++i) series += static_cast<char>('a' + i % 26);
  const std::string report = CompareEvents(series, "X" + series).report;
  EXPECT_EQ(report.find("  -"), report.npos);
  EXPECT_EQ(report.find("  + "), report.rfind("  + "));
}

TEST(Compare, EscapesAndShortensLines) {
  Expectation expectation;
  expectation.events = {"\x1b[2J" + std::string(1000, 'x')};
  EXPECT_EQ(Compare(PlainOutcome(), expectation).report,
            "  first difference: event 1 (1 expected, 0 played)\n"
            "  -    1  \\x1b[2J" +
                std::string(296, 'x') +
                "...\n"
                "  played ends here\n");
}

TEST(Compare, FinalState) {
  Expectation expectation;
  expectation.final = FinalState{{2, 4}, "model.ckpt-4", std::vector<std::string>{"model.ckpt-2", "model.ckpt-4"}};
  PlainOutcome outcome;
  const Difference difference = Compare(outcome, expectation);
  EXPECT_FALSE(difference.first_event.has_value());
  EXPECT_TRUE(difference.final_differs);
  EXPECT_EQ(difference.report,
            "  final state\n"
            "  -       checkpoints 2 4, latest model.ckpt-4, all model.ckpt-2 model.ckpt-4\n"
            "  +       checkpoints none, latest none, all none\n");
  outcome.final = *expectation.final;
  EXPECT_TRUE(Compare(outcome, expectation).none());
}

TEST(Compare, FinalStateThatNobodyExpects) {
  PlainOutcome outcome;
  outcome.final.checkpoints = {1};
  EXPECT_TRUE(Compare(outcome, Expectation()).none());
}

TEST(Compare, MessagesDoNotCount) {
  Expectation expectation;
  expectation.messages = {"ValueError: as TensorFlow says it"};
  EXPECT_TRUE(Compare(PlainOutcome(), expectation).none());
}

}  // namespace
}  // namespace vigil::replays
