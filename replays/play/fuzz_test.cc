// Damages recorded records in thousands of small ways: whatever comes of it is an error or a scenario, never a crash;
// and a scenario that came of it can be printed and read back.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "vigil/core/base/code.h"
#include "vigil/core/base/splitmix64.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/print.h"
#include "vigil/replays/play/testing.h"

namespace vigil::replays {
namespace {

constexpr std::array<std::string_view, 28> kPieces = {"{",
                                                      "}",
                                                      "[",
                                                      "]",
                                                      ",",
                                                      ":",
                                                      "\"",
                                                      "\\",
                                                      "null",
                                                      "true",
                                                      "-1",
                                                      "1.5",
                                                      "1e999",
                                                      "9999999999",
                                                      "\"\"",
                                                      "\"op\":",
                                                      "\"id\":\"x\",",
                                                      "[[",
                                                      "\xFF",
                                                      "\xC3",
                                                      "\x01",
                                                      "\\u0000",
                                                      "\\ud800",
                                                      "{\"a\":1}",
                                                      "\"code\":",
                                                      "0",
                                                      "\n",
                                                      "18446744073709551615"};

std::string Damaged(std::string text, SplitMix64& draws, const std::string& other) {
  for (std::size_t changes = 1 + draws.Below(3); changes > 0; --changes) {
    const std::size_t at = draws.Below(text.size() + 1);
    const std::size_t size = draws.Below(12);
    switch (draws.Below(6)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text.erase(at, size);
        break;
      case 2:
        text.insert(at, kPieces[draws.Below(kPieces.size())]);
        break;
      case 3:
        text.replace(at, size, kPieces[draws.Below(kPieces.size())]);
        break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << draws.Below(8)));
        break;
      default: {
        const std::size_t from = draws.Below(other.size());
        text.insert(at, other.substr(from, draws.Below(80)));
      }
    }
  }
  return text;
}

TEST(Fuzz, DamagedRecordsAreErrorsOrScenarios) {
  const std::vector<RawRecord>& records = RecordedRecords();
  JsonDocument scratch;
  SplitMix64 draws(20261121);
  int errors = 0;
  int scenarios = 0;
  for (int i = 0; i < 30'000; ++i) {
    const std::string& other = records[draws.Below(records.size())].text;
    const std::string text = Damaged(records[draws.Below(records.size())].text, draws, other);
    const absl::StatusOr<Recording> recording = ParseRecording(text, "f.jsonl", i, scratch);
    if (!recording.ok()) {
      ++errors;
      ASSERT_EQ(CodeOf(recording.status()), Code::kInvalidArgument) << text;
      const std::string_view message = MessageOf(recording.status());
      ASSERT_TRUE(message.starts_with("f.jsonl:" + std::to_string(i) + ": ")) << message;
      ASSERT_EQ(message.find_first_of("\n\r\x1b"), message.npos) << message;
      ASSERT_LT(message.size(), 2000u) << message;
      continue;
    }
    ++scenarios;
    const std::string printed =
        PrintRecord(recording->scenario, recording->expect.has_value() ? &*recording->expect : nullptr);
    const absl::StatusOr<Recording> again = ParseRecording(printed, "f.jsonl", i, scratch);
    ASSERT_TRUE(again.ok()) << again.status() << "\n" << text << "\n" << printed;
    ASSERT_EQ(recording->scenario, again->scenario) << text << "\n" << printed;
    ASSERT_EQ(recording->expect, again->expect) << text << "\n" << printed;
  }
  // Both must occur, or the damage is too heavy or too light to find anything.
  EXPECT_GT(errors, 10'000);
  EXPECT_GT(scenarios, 2'000);
}

}  // namespace
}  // namespace vigil::replays
