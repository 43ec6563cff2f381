#include "vigil/replays/player/event_line.h"

#include <gtest/gtest.h>

#include <string>

#include "vigil/core/base/code.h"
#include "vigil/replays/show/text.h"
#include "vigil/replays/stage/notes.h"

namespace vigil::replays {
namespace {

struct LineCase {
  const char* line;
  EventKind kind;
  int call = 0;
};

constexpr int Of(Note note) { return static_cast<int>(note); }

constexpr LineCase kLines[] = {
    {"hook a begin", EventKind::kHookCall, 0},
    {"hook a before_run session=none", EventKind::kHookCall, 2},
    {"hook a end session=3(closed)", EventKind::kHookCall, 4},
    {"hook a after_run session=1 results=2.5", EventKind::kHookCall, 3},
    {"hook a raises ABORTED", EventKind::kNote, Of(Note::kHookRaises)},
    {"hook a reports OTHER", EventKind::kNote, Of(Note::kHookReports)},
    {"hook a requests_stop", EventKind::kNote, Of(Note::kHookRequestsStop)},
    {"hook a stops_coordinator", EventKind::kNote, Of(Note::kHookStopsCoordinator)},
    {"hook a starts_thread 30", EventKind::kNote, Of(Note::kHookStartsThread)},
    {"hook a sees results [1, {a: 0.5}]", EventKind::kNote, Of(Note::kText)},
    {"graph finalized", EventKind::kGraphFinalized},
    {"graph unfinalized", EventKind::kGraphUnfinalized},
    {"session 1 created", EventKind::kSessionCreated},
    {"session create failed INTERNAL", EventKind::kSessionCreateFailed},
    {"session 2 run failed UNAVAILABLE", EventKind::kSessionCall, static_cast<int>(CallKind::kRun)},
    {"session 1 ready -> no", EventKind::kSessionCall, static_cast<int>(CallKind::kReady)},
    {"session 1 read_step -> 3", EventKind::kSessionCall, static_cast<int>(CallKind::kReadStep)},
    {"session 1 close", EventKind::kSessionCall, static_cast<int>(CallKind::kClose)},
    {"init_fn session=1", EventKind::kInitFn},
    {"init_fn failed OTHER", EventKind::kInitFn},
    {"queue_runners started", EventKind::kQueueRunners},
    {"queue_runners failed ABORTED", EventKind::kQueueRunners},
    {"coordinator request_stop", EventKind::kCoordinatorRequestStop},
    {"coordinator request_stop CANCELLED", EventKind::kCoordinatorRequestStop},
    {"coordinator join", EventKind::kCoordinatorJoin},
    {"sleep 0.5", EventKind::kSleep},
    {"writer graph", EventKind::kWriterCall, static_cast<int>(WriterCall::kGraph)},
    {"writer session_log CHECKPOINT step=2", EventKind::kWriterCall, static_cast<int>(WriterCall::kSessionLog)},
    {"writer summary step=3 loss=0.5", EventKind::kWriterCall, static_cast<int>(WriterCall::kSummary)},
    {"writer summary step=None loss=nan", EventKind::kWriterCall, static_cast<int>(WriterCall::kSummary)},
    {"writer run_metadata step_3 step=3", EventKind::kWriterCall, static_cast<int>(WriterCall::kRunMetadata)},
    {"listener l begin", EventKind::kListenerCall, 0},
    {"listener l after_save step=2", EventKind::kListenerCall, 2},
    {"listener l raises INTERNAL", EventKind::kNote, Of(Note::kListenerRaises)},
    {"log WARNING It seems that global step", EventKind::kNote, Of(Note::kLog)},
    {"service summary start", EventKind::kNote, Of(Note::kServiceStart)},
    {"service summary loop", EventKind::kNote, Of(Note::kServiceLoop)},
    {"driver run", EventKind::kNote, Of(Note::kRun)},
    {"driver result step=3 fed=-1", EventKind::kNote, Of(Note::kResult)},
    {"driver result [1, none]", EventKind::kNote, Of(Note::kText)},
    {"driver should_stop -> yes", EventKind::kNote, Of(Note::kShouldStop)},
    {"driver caught USAGE", EventKind::kNote, Of(Note::kCaught)},
    {"driver step call=2 session=1(closed)", EventKind::kNote, Of(Note::kStep)},
    {"driver step result step=3 fed=0", EventKind::kNote, Of(Note::kStepResult)},
    {"driver step requests_stop", EventKind::kNote, Of(Note::kStepRequestsStop)},
    {"driver step raises OTHER", EventKind::kNote, Of(Note::kStepRaises)},
    {"driver run_step_fn done", EventKind::kNote, Of(Note::kRunStepFnDone)},
    {"driver clock 12.5", EventKind::kNote, Of(Note::kClock)},
    {"driver session=1", EventKind::kNote, Of(Note::kSession)},
    {"driver services none", EventKind::kNote, Of(Note::kServices)},
    {"driver exit failed NAN_LOSS", EventKind::kNote, Of(Note::kExitFailed)},
    {"hooks rejected USAGE", EventKind::kNote, Of(Note::kHooksRejected)},
    // Of no form that there is:
    {"", EventKind::kNote, Of(Note::kText)},
    {"session one created", EventKind::kNote, Of(Note::kText)},
    {"session 1 run failed OK", EventKind::kNote, Of(Note::kText)},
    {"session 1 run failed", EventKind::kNote, Of(Note::kText)},
    {"session 1 run and more", EventKind::kNote, Of(Note::kText)},
    {"hook a before_run session=x", EventKind::kNote, Of(Note::kText)},
    {"sleep  1", EventKind::kNote, Of(Note::kText)},
    {"writer summary step=3 loss", EventKind::kNote, Of(Note::kText)},
};

TEST(EventLineTest, EachLineIsTheTextOfItsEvent) {
  for (const LineCase& known : kLines) {
    std::string subject;
    const Event event = EventOfLine(known.line, subject);
    EXPECT_EQ(event.kind, known.kind) << known.line;
    EXPECT_EQ(event.call, known.call) << known.line;
    EXPECT_EQ(TextOf(event), known.line);
  }
}

TEST(EventLineTest, ItsParts) {
  std::string subject;
  Event event = EventOfLine("hook a b after_run session=2(closed) results=7", subject);
  EXPECT_EQ(static_cast<Note>(event.call), Note::kText);  // names with spaces cannot be told apart
  event = EventOfLine("hook a after_run session=2(closed) results=7", subject);
  EXPECT_EQ(event.subject, "a");
  EXPECT_EQ(event.session, 2);
  EXPECT_TRUE(event.closed);
  EXPECT_TRUE(event.has_value);
  EXPECT_EQ(event.value, 7);
  event = EventOfLine("session 3 run failed ABORTED", subject);
  EXPECT_EQ(event.session, 3);
  EXPECT_EQ(event.code, Code::kAborted);
  event = EventOfLine("session 1 ready -> yes", subject);
  EXPECT_EQ(event.value, 1);
  event = EventOfLine("sleep 30", subject);
  EXPECT_EQ(event.value, 30);
}

}  // namespace
}  // namespace vigil::replays
