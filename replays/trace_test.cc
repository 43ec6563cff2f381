// Traces of simulated runs are played again, whole, torn and forged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "vigil/core/base/code.h"
#include "vigil/core/io/record_reader.h"
#include "vigil/core/io/record_writer.h"
#include "vigil/core/io/trace_writer.h"
#include "vigil/replays/parse.h"
#include "vigil/replays/result.h"
#include "vigil/replays/runner.h"
#include "vigil/replays/testing.h"
#include "vigil/replays/trace_file.h"
#include "vigil/replays/trace_spec.h"
#include "vigil/replays/trace_text.h"

namespace vigil::replays {
namespace {

using ::testing::HasSubstr;

// Records of session scenarios that are no supervisor's, in the given behaviour.
std::vector<Recording> SessionRecordings(std::string_view file, const std::string& behaviour) {
  std::vector<Recording> out;
  for (const RawRecord& raw : RecordedRecords()) {
    if (raw.source.find(file) == std::string::npos) continue;
    absl::StatusOr<Recording> recording = ParseRecording(raw.text);
    if (!recording.ok() || recording->scenario.unit.has_value()) continue;
    if (recording->scenario.session.kind == SessionKind::kSupervisor) continue;
    recording->scenario.behaviour.name = behaviour;
    out.push_back(*std::move(recording));
  }
  return out;
}

Result Replayed(std::string_view bytes) {
  const absl::StatusOr<Recording> recording = ParseTrace(bytes, "x.trace");
  if (!recording.ok()) {
    Result result;
    result.reason = MessageOf(recording.status());
    return result;
  }
  return Judge(*recording, Runner().Run(recording->scenario));
}

std::string WhyNot(const Result& result) { return result.reason + "\n" + result.difference.report; }

// Plays all of them traced, then their traces: how many were traced.
int ReplayTracesOf(const std::vector<Recording>& recordings, std::size_t every) {
  int traced = 0;
  int failed = 0;
  Runner runner;
  for (std::size_t i = 0; i < recordings.size(); i += every) {
    const Scenario& scenario = recordings[i].scenario;
    const Outcome outcome = runner.Run(scenario, {.write_trace = true});
    if (outcome.written_trace.empty()) continue;
    ++traced;
    const absl::StatusOr<Recording> recording = ParseTrace(outcome.written_trace, "x.trace");
    if (!recording.ok()) {
      ADD_FAILURE() << scenario.id << ": " << recording.status();
      continue;
    }
    const Result result = Judge(*recording, runner.Run(recording->scenario));
    if (result.status == Status::kPassed) continue;
    if (++failed <= 5) ADD_FAILURE() << scenario.id << ": " << WhyNot(result);
  }
  EXPECT_EQ(failed, 0);
  return traced;
}

TEST(Traces, OfRandomScenariosPass) {
  EXPECT_GT(ReplayTracesOf(SessionRecordings("random.jsonl", "tensorflow"), 1), 1000);
}

TEST(Traces, OfRandomScenariosUnderTheDefaultPass) {
  EXPECT_GT(ReplayTracesOf(SessionRecordings("random.jsonl", "default"), 1), 1000);
}

TEST(Traces, OfNamedScenariosPass) {
  EXPECT_GT(ReplayTracesOf(SessionRecordings("cases.jsonl", "tensorflow"), 1), 100);
  EXPECT_GT(ReplayTracesOf(SessionRecordings("cases.jsonl", "default"), 1), 100);
}

TEST(Traces, OfPairsOfFaultsPass) {
  EXPECT_GT(ReplayTracesOf(SessionRecordings("pairs.jsonl", "tensorflow"), 26), 300);
  EXPECT_GT(ReplayTracesOf(SessionRecordings("pairs.jsonl", "default"), 26), 300);
}

}  // namespace
}  // namespace vigil::replays
