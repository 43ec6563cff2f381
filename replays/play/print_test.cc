#include "vigil/replays/format/print.h"

#include <gtest/gtest.h>

#include <map>

#include "vigil/replays/format/parse.h"
#include "vigil/replays/play/testing.h"

namespace vigil::replays {
namespace {

TEST(Recorded, AllFilesParse) {
  std::map<std::string, int> records;
  JsonDocument scratch;
  for (const RawRecord& raw : RecordedRecords()) {
    ASSERT_TRUE(raw.error.ok()) << raw.error;
    const auto recording = ParseRecording(raw.text, raw.source, raw.record, scratch);
    ASSERT_TRUE(recording.ok()) << recording.status();
    ASSERT_TRUE(recording->expect.has_value()) << raw.source << ":" << raw.record;
    ++records[Basename(raw.source)];
  }
  EXPECT_EQ(records, (std::map<std::string, int>{{"cases.jsonl", 426},
                                                 {"extended.jsonl", 387},
                                                 {"managers.jsonl", 271},
                                                 {"pairs.jsonl.xz", 8010},
                                                 {"random.jsonl", 1190},
                                                 {"services.jsonl", 324},
                                                 {"supervisor.jsonl", 497},
                                                 {"units.jsonl", 400}}));
}

TEST(Recorded, RoundTrip) {
  JsonDocument scratch;
  for (const RawRecord& raw : RecordedRecords()) {
    const auto first = ParseRecording(raw.text, raw.source, raw.record, scratch);
    ASSERT_TRUE(first.ok()) << first.status();
    const std::string printed = PrintRecord(first->scenario, &*first->expect);
    const auto second = ParseRecording(printed, raw.source, raw.record, scratch);
    ASSERT_TRUE(second.ok()) << second.status() << "\n" << printed;
    ASSERT_EQ(first->scenario, second->scenario) << raw.text << "\n" << printed;
    ASSERT_EQ(first->expect, second->expect) << raw.text << "\n" << printed;
    ASSERT_EQ(printed, PrintRecord(second->scenario, &*second->expect));
  }
}

}  // namespace
}  // namespace vigil::replays
