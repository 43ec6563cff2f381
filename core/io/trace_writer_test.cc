#include "vigil/core/io/trace_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/traces/trace_parts.h"

namespace vigil {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kPath[] = "/runs/x.trace";

class TraceWriterTest : public testing::Test {
 protected:
  std::string File(const std::string& path = kPath) { return fake_.files.Contents()[path]; }
  static void Emit(TraceWriter& writer, std::int64_t session) {
    writer.Emit({.kind = EventKind::kSessionCreated, .session = session});
  }
  std::vector<std::string> Lines() const {
    std::vector<std::string> out;
    for (const auto& line : fake_.log.lines()) out.push_back(line.text);
    return out;
  }
  // The events of a trace.
  static std::vector<proto::TraceEvent> EventsIn(const std::string& bytes) { return fakes::TraceParts(bytes).events; }

  fakes::FakeEnv fake_;
};

TEST_F(TraceWriterTest, EveryEventIsInTheFileAtOnceWithTimeAndTask) {
  TraceWriter writer(fake_.env());
  Emit(writer, 1);  // before Start: passed on only
  fake_.clock.Advance(std::chrono::seconds(5));
  proto::TraceHeader header;
  header.add_hooks()->set_name("a");
  writer.Start(kPath, header);
  EXPECT_THAT(EventsIn(File()), IsEmpty());
  fake_.clock.Advance(std::chrono::nanoseconds(7));
  writer.Emit({.kind = EventKind::kHookReturn,
               .code = Code::kNanLoss,
               .call = 3,
               .closed = true,
               .has_value = true,
               .index = 2,
               .session = 4,
               .value = 1.5,
               .subject = "hook\n"});
  const std::vector<proto::TraceEvent> events = EventsIn(File());
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].ShortDebugString(),
            "time_ns: 7 kind: 1 status: 20 call: 3 closed: true has_value: true value: 1.5 index: 2 session: 4 "
            "subject: \"hook\\n\"");
  const auto task = fake_.env().tasks->Spawn("other", [&] { Emit(writer, 9); });
  EXPECT_TRUE(task->Join(kNever));
  EXPECT_NE(EventsIn(File())[1].task(), 0u);
  writer.End();
  Emit(writer, 2);  // passed on only
  EXPECT_TRUE(EventsIn(File()).back().end());
  EXPECT_EQ(EventsIn(File()).size(), 3u);
  EXPECT_EQ(fake_.events.events().size(), 4u);
}

TEST_F(TraceWriterTest, DetailsArePassedOnAndNotRecorded) {
  TraceWriter writer(fake_.env());
  writer.Start(kPath, {});
  writer.Emit({.kind = EventKind::kRunPart});
  writer.Emit({.kind = EventKind::kQueueDetail});
  Emit(writer, 1);
  EXPECT_EQ(EventsIn(File()).size(), 1u);
  EXPECT_EQ(fake_.events.events().size(), 3u);
}

// Numbers in files are for ever: whoever changes one of these needs a new version of the format.
TEST_F(TraceWriterTest, NumbersOfKindsDoNotChange) {
  EXPECT_EQ(static_cast<int>(EventKind::kHookCall), 0);
  EXPECT_EQ(static_cast<int>(EventKind::kSessionCall), 7);
  EXPECT_EQ(static_cast<int>(EventKind::kShouldStop), 16);
  EXPECT_EQ(static_cast<int>(EventKind::kNote), 21);
  EXPECT_EQ(static_cast<int>(EventKind::kBareRunEnd), 28);
  EXPECT_EQ(static_cast<int>(EventKind::kSupervisorReturn), 30);
  EXPECT_EQ(static_cast<int>(SupervisorMethod::kWriteGraph), 9);
  EXPECT_EQ(static_cast<int>(CallKind::kClose), 12);
  EXPECT_EQ(static_cast<int>(HookMethod::kEnd), 4);
}

TEST_F(TraceWriterTest, AnExistingTraceIsKept) {
  for (int i = 0; i < 3; ++i) {
    TraceWriter writer(fake_.env());
    writer.Start(kPath, {});
    for (int event = 0; event < i; ++event) Emit(writer, 1);
    writer.End();
  }
  EXPECT_EQ(EventsIn(File("/runs/x.trace")).size(), 1u);
  EXPECT_EQ(EventsIn(File("/runs/x.2.trace")).size(), 2u);
  EXPECT_EQ(EventsIn(File("/runs/x.3.trace")).size(), 3u);
  TraceWriter writer(fake_.env());
  writer.Start("/runs/other", {});
  TraceWriter second(fake_.env());
  second.Start("/runs/other", {});
  EXPECT_TRUE(*Exists(fake_.files, "/runs/other.2"));
}

TEST_F(TraceWriterTest, AFileThatCannotBeOpenedIsLoggedAndThatIsAll) {
  fake_.files.FailOnce(fakes::FileOp::kOpen, 1, MakeStatus(Code::kPermissionDenied, "open /runs/x.trace: no"));
  TraceWriter writer(fake_.env());
  writer.Start(kPath, {});
  Emit(writer, 1);
  writer.End();
  EXPECT_THAT(Lines(), ElementsAre("The trace /runs/x.trace ends here, the session goes on: open /runs/x.trace: no"));
  EXPECT_EQ(fake_.events.events().size(), 1u);
  EXPECT_FALSE(*Exists(fake_.files, kPath));
}

TEST_F(TraceWriterTest, AFullDiskEndsTheTraceOnce) {
  TraceWriter writer(fake_.env());
  writer.Start(kPath, {});
  Emit(writer, 1);
  fake_.files.set_fault([](fakes::FileOp op, const std::string&) {
    return op == fakes::FileOp::kAppend ? MakeStatus(Code::kResourceExhausted, "no space") : absl::OkStatus();
  });
  Emit(writer, 2);
  Emit(writer, 3);
  fake_.files.set_fault(nullptr);
  Emit(writer, 4);  // a file with a gap would be worse than one that ends
  writer.End();
  EXPECT_THAT(Lines(), ElementsAre(HasSubstr("Tracing to /runs/x.trace"), HasSubstr("no space")));
  EXPECT_EQ(EventsIn(File()).size(), 1u);
  EXPECT_EQ(fake_.events.events().size(), 4u);
}

TEST_F(TraceWriterTest, AnErrorOfTheCloseIsLogged) {
  TraceWriter writer(fake_.env());
  writer.Start(kPath, {});
  fake_.files.FailOnce(fakes::FileOp::kClose, 1, MakeStatus(Code::kUnknown, "input/output error"));
  writer.End();
  EXPECT_THAT(Lines().back(), HasSubstr("input/output error"));
}

// A caller's run, at the end of which the session is at rest.
void RunOnce(TraceWriter& writer) {
  writer.Emit({.kind = EventKind::kRunStart});
  writer.Emit({.kind = EventKind::kRunEnd});
}

TEST_F(TraceWriterTest, ALongTraceKeepsItsBeginningAndItsEnd) {
  TraceWriter writer(fake_.env(), {.events_of_a_file = 5, .most_events_of_a_file = 20, .parts = 2});
  writer.Start(kPath, {});
  Emit(writer, 1);
  for (int i = 0; i < 20; ++i) RunOnce(writer);
  Emit(writer, 7);  // a recovery
  for (int i = 0; i < 2; ++i) RunOnce(writer);
  writer.End();
  // 41 events up to the recovery: 5 in the first file, then 6 in each, as a file ends where the session is at rest.
  std::vector<std::string> names;
  for (const auto& [path, content] : fake_.files.Contents()) names.push_back(path);
  EXPECT_THAT(names, ElementsAre(kPath, "/runs/x.trace.part7", "/runs/x.trace.part8"));
  EXPECT_EQ(EventsIn(File()).size(), 5u);
  // A part is no trace by itself: its first record is taken for a header here.
  const std::vector<proto::TraceEvent> last = fakes::TraceParts(File() + File("/runs/x.trace.part8")).events;
  ASSERT_GT(last.size(), 6u);
  EXPECT_EQ(last[5].part().number(), 8);
  EXPECT_EQ(last[5].part().events_before(), 41u);
  EXPECT_EQ(last[5].part().session(), 1);
  EXPECT_EQ(last[6].session(), 7);
  EXPECT_TRUE(last.back().end());
}

TEST_F(TraceWriterTest, APartBeginsOnlyWhereTheSessionIsAtRest) {
  TraceWriter writer(fake_.env(), {.events_of_a_file = 3, .most_events_of_a_file = 8, .parts = 2});
  writer.Start(kPath, {});
  Emit(writer, 1);
  RunOnce(writer);
  RunOnce(writer);  // in the second part
  writer.Emit({.kind = EventKind::kCoordinatorRequestStop, .session = 1});
  RunOnce(writer);
  EXPECT_FALSE(*Exists(fake_.files, "/runs/x.trace.part3"));
  Emit(writer, 2);
  RunOnce(writer);
  RunOnce(writer);
  EXPECT_TRUE(*Exists(fake_.files, "/runs/x.trace.part3"));
  writer.Emit({.kind = EventKind::kHookRequestsStop, .index = 0});
  for (int i = 0; i < 8; ++i) RunOnce(writer);
  EXPECT_FALSE(*Exists(fake_.files, "/runs/x.trace.part4"));
  EXPECT_THAT(Lines().back(),
              HasSubstr("a file of a trace holds 8 events, and the session has not been at rest for 5"));
}

TEST_F(TraceWriterTest, PartsOfAnOlderTraceAreReplaced) {
  ASSERT_TRUE(fake_.files.MakeDirectory("/runs").ok());
  ASSERT_TRUE(WriteAtomically(fake_.files, "/runs/x.trace.part2", "stale").ok());
  TraceWriter writer(fake_.env(), {.events_of_a_file = 3, .most_events_of_a_file = 8, .parts = 2});
  writer.Start(kPath, {});
  Emit(writer, 1);
  RunOnce(writer);
  RunOnce(writer);
  EXPECT_EQ(EventsIn(File() + File("/runs/x.trace.part2")).size(), 6u);
}

}  // namespace
}  // namespace vigil
