#include "vigil/sim/kernel/running_hash.h"

#include <gtest/gtest.h>

namespace vigil::sim {
namespace {

std::uint64_t HashAlone(const Event& event) {
  RunningHash hash;
  hash.AddEvent(event);
  return hash.value();
}

Event SummaryEvent(std::string_view bytes, double step) {
  return {.kind = EventKind::kWriterCall,
          .call = static_cast<std::uint8_t>(WriterCall::kSummary),
          .has_value = true,
          .value = step,
          .subject = bytes};
}

TEST(RunningHash, LeavesTheBytesOfASummaryOut) {
  EXPECT_EQ(HashAlone(SummaryEvent("one", 3)), HashAlone(SummaryEvent("another", 3)));
  EXPECT_NE(HashAlone(SummaryEvent("one", 3)), HashAlone(SummaryEvent("", 3)));
  EXPECT_NE(HashAlone(SummaryEvent("one", 3)), HashAlone(SummaryEvent("one", 4)));
}

TEST(RunningHash, HashesOtherSubjectsOfAWriter) {
  Event event = SummaryEvent("one", 3);
  event.call = static_cast<std::uint8_t>(WriterCall::kRunMetadata);
  Event other = event;
  other.subject = "another";
  EXPECT_NE(HashAlone(event), HashAlone(other));
}

TEST(RunningHash, TakesFractionsAsPresentOnly) {
  Event event{.kind = EventKind::kHookCall, .has_value = true, .value = 0.25};
  Event other = event;
  other.value = 0.5;
  EXPECT_EQ(HashAlone(event), HashAlone(other));
  other.value = 1;
  EXPECT_NE(HashAlone(event), HashAlone(other));
}

}  // namespace
}  // namespace vigil::sim
