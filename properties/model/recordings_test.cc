// The model says of every recording of one session what TensorFlow did, or refuses it by name: how many of which file
// is exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "vigil/core/env/real/posix_files.h"
#include "vigil/properties/model/model.h"
#include "vigil/replays/format/json.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/judge/compare.h"
#include "vigil/replays/traces/input.h"

namespace vigil::properties::model {
namespace {

struct Held {
  int agreed = 0;
  std::map<std::string, int> refused;  // by name
};

Held HoldAgainst(std::string_view file) {
  constexpr int kShown = 10;
  Held held;
  int shown = 0;
  PosixFiles files;
  replays::JsonDocument scratch;
  const std::string path = std::string(VIGIL_SOURCE_DIR) + "/replays/tensorflow/" + std::string(file);
  replays::ReadRecords(files, nullptr, {path}, [&](const replays::RawRecord& record) {
    const absl::StatusOr<replays::Recording> recording =
        replays::ParseRecording(record.text, record.source, record.record, scratch);
    EXPECT_TRUE(recording.ok()) << recording.status();
    if (!recording.ok()) return false;
    const absl::StatusOr<Prediction> predicted = Predict(recording->scenario);
    if (!predicted.ok()) {
      ++held.refused[std::string(MessageOf(predicted.status()))];
      return true;
    }
    replays::PlainOutcome said;
    said.events = predicted->lines;
    said.final = predicted->final;
    const replays::Difference difference = replays::Compare(said, *recording->expect);
    if (difference.none()) {
      ++held.agreed;
    } else if (++shown <= kShown) {
      ADD_FAILURE() << recording->scenario.id << "\n" << difference.report;
    }
    return true;
  });
  return held;
}

using Refused = std::map<std::string, int>;

TEST(ModelRecordingsTest, AgreesWithEveryPairOfFaults) {
  const Held held = HoldAgainst("pairs.jsonl.xz");
  EXPECT_EQ(held.agreed, 8010);
  EXPECT_EQ(held.refused, Refused());
}

TEST(ModelRecordingsTest, AgreesWithEveryRandomScenario) {
  const Held held = HoldAgainst("random.jsonl");
  EXPECT_EQ(held.agreed, 1190);
  EXPECT_EQ(held.refused, Refused());
}

TEST(ModelRecordingsTest, AgreesWithTheNamedCasesOrRefusesThem) {
  const Held held = HoldAgainst("cases.jsonl");
  EXPECT_EQ(held.agreed, 360);
  EXPECT_EQ(held.refused, (Refused{{"unit", 66}}));
}

TEST(ModelRecordingsTest, AgreesWithTheExtendedOnesOrRefusesThem) {
  const Held held = HoldAgainst("extended.jsonl");
  EXPECT_EQ(held.agreed, 329);
  EXPECT_EQ(held.refused, (Refused{{"unit", 58}}));
}

TEST(ModelRecordingsTest, AgreesWithEverySupervisor) {
  const Held held = HoldAgainst("supervisor.jsonl");
  EXPECT_EQ(held.agreed, 497);
  EXPECT_EQ(held.refused, Refused());
}

}  // namespace
}  // namespace vigil::properties::model
