#include "vigil/replays/play/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/env/real/posix_files.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/play/runner.h"
#include "vigil/replays/traces/trace_file.h"

namespace vigil::replays {

FilesWith::FilesWith(std::initializer_list<std::pair<std::string, std::string>> content) {
  for (const auto& [path, data] : content) {
    EXPECT_TRUE(files_.MakeDirectory(Dirname(path)).ok());
    auto file = files_.Open(path, OpenMode::kTruncate);
    EXPECT_TRUE(file.ok() && (*file)->Append(data).ok()) << path;
  }
}

std::string RecordedFolder() { return VIGIL_SOURCE_DIR "/replays/tensorflow"; }

const std::vector<RawRecord>& RecordedRecords() {
  static const std::vector<RawRecord> records = [] {
    PosixFiles files;
    std::vector<RawRecord> all;
    ReadRecords(files, nullptr, {RecordedFolder()}, [&](RawRecord record) {
      all.push_back(std::move(record));
      return true;
    });
    return all;
  }();
  return records;
}

std::string PackXz(std::string_view data) { return PackXzWithDictionary(data, 1 << 20); }

std::string PackXzWithDictionary(std::string_view data, std::uint32_t dictionary_bytes) {
  lzma_options_lzma options;
  EXPECT_FALSE(lzma_lzma_preset(&options, 0));
  options.dict_size = dictionary_bytes;
  lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::string out(lzma_stream_buffer_bound(data.size()), '\0');
  std::size_t size = 0;
  const lzma_ret ret =
      lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(data.data()),
                                data.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size());
  EXPECT_EQ(ret, LZMA_OK);
  out.resize(size);
  return out;
}

std::vector<Recording> RecordedSessions(std::string_view file, const std::string& behaviour, bool supervisors) {
  std::vector<Recording> out;
  for (const RawRecord& raw : RecordedRecords()) {
    if (raw.source.find(file) == std::string::npos) continue;
    absl::StatusOr<Recording> recording = ParseRecording(raw.text);
    if (!recording.ok() || recording->scenario.unit.has_value()) continue;
    if ((recording->scenario.session.kind == SessionKind::kSupervisor) != supervisors) continue;
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
  testing::Test::RecordProperty("traced", traced);
  return traced;
}

void ExpectToPlayTorn(const std::string& trace, std::size_t every) {
  const fakes::TraceParts parts(trace);
  std::size_t last = 0;
  for (std::size_t size = parts.header.ByteSizeLong() + 16; size < trace.size(); size += every) {
    const std::string_view torn = std::string_view(trace).substr(0, size);
    const absl::StatusOr<Recording> recording = ParseTrace(torn, "x.trace");
    ASSERT_TRUE(recording.ok()) << recording.status();
    EXPECT_THAT(recording->note, testing::HasSubstr("the writing process was killed"));
    const Result result = Replayed(torn);
    ASSERT_EQ(result.status, Status::kPassed) << size << ": " << WhyNot(result);
    EXPECT_GE(result.outcome.events.size(), last);
    last = result.outcome.events.size();
  }
  EXPECT_EQ(last, Replayed(trace).outcome.events.size());
}

void ExpectFound(const std::string& trace, std::span<const Forgery> forgeries) {
  for (const Forgery& forgery : forgeries) {
    fakes::TraceParts parts(trace);
    forgery.forge(parts);
    const Result result = Replayed(parts.Bytes());
    EXPECT_EQ(result.status, Status::kFailed) << forgery.name;
    ASSERT_TRUE(result.difference.first_event.has_value()) << forgery.name << ": " << result.reason;
    EXPECT_EQ(result.difference.first_event->expected.value_or(""), forgery.expected) << forgery.name;
    EXPECT_EQ(result.difference.first_event->played.value_or(""), forgery.played) << forgery.name;
  }
}

}  // namespace vigil::replays
