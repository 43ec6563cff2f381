// docs/scenario_format.md is the reference of the format: its examples are read by the parser, and it names everything.
#include <gtest/gtest.h>

#include <string>

#include "vigil/core/env/real/posix_files.h"
#include "vigil/replays/format/fields_document.h"
#include "vigil/replays/format/job_names.h"
#include "vigil/replays/format/names.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/schema.h"

namespace vigil::replays {
namespace {

std::string Document(const std::string& name) {
  PosixFiles files;
  const absl::StatusOr<std::string> text = ReadAll(files, VIGIL_SOURCE_DIR "/docs/" + name);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.ok() ? *text : "";
}

TEST(FormatDocument, ItsFieldsAreUpToDate) {
  EXPECT_EQ(Document("scenario_fields.md"), FieldsDocument())
      << "docs/scenario_fields.md is stale; regenerate it: ./vigil rules --fields > docs/scenario_fields.md";
}

TEST(FormatDocument, ItsExamplesAreScenarios) {
  const std::string text = Document("scenario_format.md");
  const std::string fence = "```json\n";
  int examples = 0;
  for (std::size_t at = text.find(fence); at != text.npos; at = text.find(fence, at + 1)) {
    const std::size_t begin = at + fence.size();
    const std::string example = text.substr(begin, text.find("```", begin) - begin);
    const absl::StatusOr<Recording> recording = ParseRecording(example);
    EXPECT_TRUE(recording.ok()) << recording.status() << "\n" << example;
    ++examples;
  }
  EXPECT_EQ(examples, 4);
}

TEST(FormatDocument, NamesEverything) {
  const std::string text = Document("scenario_format.md");
  const auto expect = [&](std::string_view name) {
    EXPECT_NE(text.find("`" + std::string(name) + "`"), text.npos) << name;
  };
  for (const auto& entry : kSessionKinds) expect(entry.name);
  for (const auto& entry : kActions) expect(entry.name);
  for (const auto& entry : kFaultPoints) expect(entry.name);
  for (const auto& entry : kOps) expect(entry.name);
  for (const auto& entry : kDamages) expect(entry.name);
  for (const auto& entry : kWorkloads) expect(entry.name);
  for (const auto& entry : kTimedFaults) expect(entry.name);
  for (const auto& entry : kCoursePoints) expect(entry.name);
  for (const auto& entry : kDiskLosses) expect(entry.name);
  for (const auto& entry : kRpcEffects) expect(entry.name);
  for (const auto& entry : kDiskEffects) expect(entry.name);
  for (const auto& entry : kCallKinds) expect(entry.name);
  const auto expect_args = [&](std::span<const ArgSpec> args) {
    for (const ArgSpec& arg : args) expect(arg.name);
  };
  const auto expect_schemas = [&](std::span<const Schema> schemas) {
    for (const Schema& schema : schemas) {
      expect(schema.name);
      expect_args(schema.args);
    }
  };
  expect_schemas(HookSchemas());
  expect_schemas(ConstructorSchemas());
  for (const auto& entry : kTraceLevels) expect(entry.name);
  expect_args(SessionArgs(SessionKind::kMonitored));
  expect_args(SessionArgs(SessionKind::kTraining));
  expect_args(SessionArgs(SessionKind::kSupervisor));
  for (const std::string_view unit :
       {"timer", "coordinator", "saver", "checkpoint_manager", "device_setter", "looper"}) {
    expect(unit);
    expect_args(UnitArgs(unit));
    expect_schemas(UnitOps(unit));
  }
}

}  // namespace
}  // namespace vigil::replays
