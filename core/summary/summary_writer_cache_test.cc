#include "vigil/core/summary/summary_writer_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

TEST(SummaryWriterCache, GivesOneWriterForADirectory) {
  fakes::FakeEnv fake;
  const auto a = GetCachedWriter(fake.env(), "/a", nullptr);
  EXPECT_EQ(a, GetCachedWriter(fake.env(), "/a", nullptr));
  EXPECT_NE(a, GetCachedWriter(fake.env(), "/b", nullptr));
  EXPECT_EQ(a->logdir(), "/a");
  EXPECT_TRUE(SummaryWriterCacheClear(fake.env()).ok());
  EXPECT_NE(a, GetCachedWriter(fake.env(), "/a", nullptr));
}

TEST(SummaryWriterCache, HasACacheForEachProcess) {
  fakes::FakeEnv one;
  fakes::FakeEnv two;
  EXPECT_NE(GetCachedWriter(one.env(), "/a", nullptr), GetCachedWriter(two.env(), "/a", nullptr));
}

TEST(ObservedWriter, SaysEachCall) {
  fakes::FakeEnv fake;
  const auto writer = GetCachedWriter(fake.env(), "/a", nullptr);
  EXPECT_TRUE(fake.events.events().empty());
  EXPECT_TRUE(writer->AddSummary("bytes", 3).ok());
  EXPECT_TRUE(writer->AddSessionLog(SessionLogStatus::kCheckpoint, std::nullopt).ok());
  EXPECT_TRUE(writer->AddRunMetadata({}, "tag", 4).ok());
  EXPECT_TRUE(writer->Flush().ok());
  const std::vector<Event>& events = fake.events.events();
  ASSERT_EQ(events.size(), 4u);
  for (const Event& event : events) EXPECT_EQ(event.kind, EventKind::kWriterCall);
  EXPECT_EQ(events[0].call, static_cast<std::uint8_t>(WriterCall::kSummary));
  EXPECT_EQ(events[0].subject, "bytes");
  EXPECT_TRUE(events[0].has_value);
  EXPECT_EQ(events[0].value, 3);
  EXPECT_EQ(events[1].call, static_cast<std::uint8_t>(WriterCall::kSessionLog));
  EXPECT_EQ(events[1].index, static_cast<std::int32_t>(SessionLogStatus::kCheckpoint));
  EXPECT_FALSE(events[1].has_value);
  EXPECT_EQ(events[2].subject, "tag");
  EXPECT_EQ(events[3].call, static_cast<std::uint8_t>(WriterCall::kFlush));
}

}  // namespace
}  // namespace vigil
