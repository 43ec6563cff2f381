#include "vigil/replays/format/escape.h"

#include <gtest/gtest.h>

#include "vigil/replays/format/json.h"

namespace vigil::replays {
namespace {

TEST(Escape, LeavesTextAlone) {
  EXPECT_EQ(Escaped("plain text, 100%"), "plain text, 100%");
  EXPECT_EQ(Escaped("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"), "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
}

TEST(Escape, DisarmsControlCharacters) {
  EXPECT_EQ(Escaped("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(Escaped("\x1b[31mred\x07\x7f"), "\\x1b[31mred\\x07\\x7f");
  EXPECT_EQ(Escaped("\xC2\x9B"
                    "2J"),
            "\\xc2\\x9b2J");  // C1: a control sequence introducer
}

TEST(Escape, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(Escaped("\xFF\xC3"), "\\xff\\xc3");
  EXPECT_EQ(Escaped("\xC0\x80"), "\\xc0\\x80");           // overlong
  EXPECT_EQ(Escaped("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // half of a surrogate pair
  EXPECT_EQ(Escaped("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(Escape, CutsBetweenCharacters) {
  EXPECT_EQ(Shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(Shortened("abcdef", 3), "abc...");
  EXPECT_EQ(Shortened("ab\xC3\xA9"
                      "cd",
                      3),
            "ab...");
  EXPECT_EQ(Quoted(std::string(100, 'x')), "'" + std::string(60, 'x') + "...'");
}

TEST(Escape, WritesJsonThatReadsBack) {
  std::string every;
  for (int c = 0; c < 128; ++c) every += static_cast<char>(c);
  every += "\xC3\xA9\xF0\x9F\x98\x80";
  std::string json;
  AppendJsonString(json, every);
  EXPECT_EQ(json.find('\n'), json.npos);
  JsonDocument document;
  ASSERT_TRUE(document.Parse(json).ok());
  EXPECT_EQ(document.root().string(), every);
}

TEST(Escape, WritesValidJsonOfAnyBytes) {
  std::string json;
  AppendJsonString(json, "a\xFFz");
  EXPECT_EQ(json, "\"a\xEF\xBF\xBDz\"");
}

TEST(Escape, QuotesForTheShellOnlyWhereNeeded) {
  EXPECT_EQ(ShellWord("replays/tensorflow/cases.jsonl"), "replays/tensorflow/cases.jsonl");
  EXPECT_EQ(ShellWord("two words"), "'two words'");
  EXPECT_EQ(ShellWord("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(ShellWord(""), "''");
}

}  // namespace
}  // namespace vigil::replays
