#include "vigil/replays/show/text.h"

#include <gtest/gtest.h>

#include <limits>

#include "vigil/fakes/summary/summary_of.h"
#include "vigil/replays/show/event_text.h"

namespace vigil::replays {
namespace {

Event Writer(WriterCall call) { return {.kind = EventKind::kWriterCall, .call = static_cast<std::uint8_t>(call)}; }

Event WriterAt(WriterCall call, double step) {
  Event event = Writer(call);
  event.has_value = true;
  event.value = step;
  return event;
}

TEST(Text, OfAWriterWithoutArguments) {
  EXPECT_EQ(TextOf(Writer(WriterCall::kGraph)), "writer graph");
  EXPECT_EQ(TextOf(Writer(WriterCall::kMetaGraph)), "writer meta_graph");
  EXPECT_EQ(TextOf(Writer(WriterCall::kFlush)), "writer flush");
  EXPECT_EQ(TextOf(Writer(WriterCall::kReopen)), "writer reopen");
  EXPECT_EQ(TextOf(Writer(WriterCall::kClose)), "writer close");
}

TEST(Text, OfASessionLog) {
  Event event = WriterAt(WriterCall::kSessionLog, 2);
  event.index = 3;
  EXPECT_EQ(TextOf(event), "writer session_log CHECKPOINT step=2");
  event.has_value = false;
  event.index = 2;
  EXPECT_EQ(TextOf(event), "writer session_log STOP step=None");
  event.index = 99;
  EXPECT_EQ(TextOf(event), "writer session_log ? step=None");
}

TEST(Text, OfASummary) {
  const std::string bytes = fakes::SummaryOf(
      {{"loss", 0.5F}, {"rate", 1.0F / 3}, {"nan", -std::numeric_limits<float>::quiet_NaN()}, {"big", 1e20F}});
  Event event = WriterAt(WriterCall::kSummary, 3);
  event.subject = bytes;
  EXPECT_EQ(TextOf(event), "writer summary step=3 loss=0.5 rate=0.333333 nan=nan big=1e+20");
  event.subject = "\xff";
  EXPECT_EQ(TextOf(event), "writer summary step=3 (unreadable)");
}

TEST(Text, OfAListener) {
  Event event{.kind = EventKind::kListenerCall, .call = static_cast<std::uint8_t>(ListenerMethod::kBegin)};
  event.subject = "one";
  EXPECT_EQ(EventText(event), "listener one begin");
  event.subject = "";
  EXPECT_EQ(EventText(event), "listener begin");
}

TEST(Text, OfRunMetadata) {
  Event event = WriterAt(WriterCall::kRunMetadata, 7);
  event.subject = "step_7";
  EXPECT_EQ(TextOf(event), "writer run_metadata step_7 step=7");
}

}  // namespace
}  // namespace vigil::replays
