// properties/rules/sources.csv: what the documents promise, and what watches over each promise.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/env/real/posix_files.h"
#include "vigil/properties/judge/node_rules.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/sim/checkers/checker.h"

namespace vigil::properties {
namespace {

constexpr char kNotARule[] = "not a rule";

struct Promise {
  std::string source, text, rule, reason;
};

std::string ReadTree(const std::string& path) {
  PosixFiles files;
  absl::StatusOr<std::string> text = ReadAll(files, std::string(VIGIL_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(text.ok()) << path << ": " << text.status();
  return text.ok() ? *std::move(text) : "";
}

// Fields may be quoted; none has a line break.
std::vector<std::vector<std::string>> ParseCsv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& field = rows.back().back();
    if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"') {
      field += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      rows.back().emplace_back();
    } else if (c == '\n' && !quoted) {
      rows.push_back({""});
    } else {
      field += c;
    }
  }
  rows.pop_back();  // behind the last line
  return rows;
}

std::vector<Promise> Promises() {
  std::vector<Promise> promises;
  const std::vector<std::vector<std::string>> rows = ParseCsv(ReadTree("properties/rules/sources.csv"));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].size(), 4U) << "line " << i + 1;
    if (rows[i].size() == 4) promises.push_back({rows[i][0], rows[i][1], rows[i][2], rows[i][3]});
  }
  return promises;
}

std::set<std::string> WordsOf(const std::string& text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::exchange(word, ""));
    }
  }
  return words;
}

std::set<std::string> RuleIds() {
  std::set<std::string> ids;
  for (const RuleFactory factory : AllRules()) ids.emplace(factory()->info().id);
  return ids;
}

// "Suite.Name" of every test of the source tree.
std::set<std::string> TestNames() {
  static const std::regex kTest(R"(\n(?:TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(\w+),\s*(\w+)\))");
  std::set<std::string> names;
  for (const char* folder : {"bench", "cli", "core", "fakes", "properties", "replays", "sim"}) {
    const std::filesystem::path root = std::filesystem::path(VIGIL_SOURCE_DIR) / folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (!entry.path().string().ends_with("_test.cc")) continue;
      const std::string text = ReadTree(std::filesystem::relative(entry.path(), VIGIL_SOURCE_DIR).string());
      for (std::sregex_iterator match(text.begin(), text.end(), kTest); match != std::sregex_iterator(); ++match)
        names.insert((*match)[1].str() + "." + (*match)[2].str());
    }
  }
  return names;
}

TEST(SourcesTest, EveryPromiseNamesRulesThatThereAreOrAReason) {
  std::set<std::string> known = RuleIds();
  for (const sim::Checker& checker : sim::Checkers()) known.emplace(checker.id);
  known.emplace(kNodeRules);
  const std::vector<Promise> promises = Promises();
  EXPECT_GE(promises.size(), 300U);
  for (const Promise& promise : promises) {
    EXPECT_FALSE(promise.source.empty()) << promise.text;
    EXPECT_FALSE(promise.text.empty()) << promise.source;
    EXPECT_EQ(promise.reason.empty(), promise.rule != kNotARule) << promise.text;
    if (promise.rule == kNotARule) continue;
    EXPECT_FALSE(promise.rule.empty()) << promise.text;
    for (const std::string& id : WordsOf(promise.rule)) EXPECT_TRUE(known.contains(id)) << id << ": " << promise.text;
  }
}

TEST(SourcesTest, EveryRuleIsNamed) {
  std::set<std::string> unnamed = RuleIds();
  for (const Promise& promise : Promises()) {
    for (const std::string& id : WordsOf(promise.rule)) unnamed.erase(id);
  }
  for (const std::string& id : unnamed) ADD_FAILURE() << id << " has no line in properties/rules/sources.csv";
}

TEST(SourcesTest, EveryNamedTestIsThere) {
  static const std::regex kName(R"(\b([A-Z]\w+\.[A-Z]\w+)\b)");
  const std::set<std::string> tests = TestNames();
  std::size_t named = 0;
  for (const Promise& promise : Promises()) {
    const std::string& text = promise.reason;
    for (std::sregex_iterator match(text.begin(), text.end(), kName); match != std::sregex_iterator(); ++match) {
      ++named;
      EXPECT_TRUE(tests.contains((*match)[1].str())) << (*match)[1].str() << ": " << promise.text;
    }
  }
  EXPECT_GE(named, 100U);
}

TEST(SourcesTest, WhatRulesWereObservedInWasRecorded) {
  std::string recordings;
  for (const char* file : {"cases.jsonl", "extended.jsonl", "random.jsonl", "supervisor.jsonl"})
    recordings += ReadTree(std::string("replays/tensorflow/") + file);
  std::erase_if(recordings, [](unsigned char c) { return std::isspace(c) != 0; });
  for (const RuleFactory factory : AllRules()) {
    const RuleInfo info = factory()->info();
    for (const std::string& id : WordsOf(std::string(info.observed)))
      EXPECT_NE(recordings.find("\"id\":\"" + id + "\""), std::string::npos) << info.id << ": " << id;
  }
}

}  // namespace
}  // namespace vigil::properties
