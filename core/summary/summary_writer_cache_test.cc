#include "vigil/core/summary/summary_writer_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/summary/testing.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/summary/summary_of.h"

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

TEST(SummaryWriterCache, AddsTheGraphOnce) {
  fakes::FakeEnv fake;
  Graph graph(BuiltinOps());
  const auto writer = GetCachedWriter(fake.env(), "/a", &graph);
  GetCachedWriter(fake.env(), "/a", &graph);
  EXPECT_TRUE(SummaryWriterCacheClear(fake.env()).ok());
  EXPECT_TRUE(fake.events.events().empty());
  const std::vector<proto::Event> events = ReadEvents(fake.files, EventsFiles(fake.files, "/a")[0]);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_TRUE(events[1].what_case() == proto::Event::kGraphDef);
  EXPECT_TRUE(events[2].what_case() == proto::Event::kMetaGraphDef);
}

TEST(SummaryWriterCache, WithoutADirectoryEveryCallFails) {
  fakes::FakeEnv fake;
  fake.files.FailOnce(fakes::FileOp::kMakeDirectory, 1, MakeStatus(Code::kPermissionDenied, "no"));
  const auto writer = GetCachedWriter(fake.env(), "/a", nullptr);
  EXPECT_EQ(writer->logdir(), "/a");
  EXPECT_EQ(CodeOf(writer->AddSummary("", 1)), Code::kPermissionDenied);
  EXPECT_EQ(CodeOf(writer->AddSessionLog(SessionLogStatus::kStart, 1)), Code::kPermissionDenied);
  EXPECT_EQ(CodeOf(writer->Flush()), Code::kPermissionDenied);
  const Graph graph(BuiltinOps());
  EXPECT_EQ(CodeOf(writer->AddGraph(graph)), Code::kPermissionDenied);
  EXPECT_EQ(CodeOf(writer->AddMetaGraph(graph)), Code::kPermissionDenied);
  EXPECT_EQ(CodeOf(writer->AddRunMetadata({}, "tag", 1)), Code::kPermissionDenied);
  EXPECT_EQ(CodeOf(writer->Reopen()), Code::kPermissionDenied);
  EXPECT_EQ(CodeOf(writer->Close()), Code::kPermissionDenied);
  EXPECT_TRUE(GetCachedWriter(fake.env(), "/a", nullptr)->Flush().ok());
}

TEST(SummaryWriterCache, OneThatAnErrorHasClosedWritesForWhoComesNext) {
  fakes::FakeEnv fake;
  const auto writer = GetCachedWriter(fake.env(), "/a", nullptr);
  fake.files.FailOnce(fakes::FileOp::kAppend, 1, MakeStatus(Code::kResourceExhausted, "no space"));
  EXPECT_FALSE(writer->AddSessionLog(SessionLogStatus::kStart, 1).ok() && writer->Flush().ok());
  fake.log.Clear();
  EXPECT_TRUE(writer->Flush().ok());
  EXPECT_EQ(fake.log.lines().size(), 1U) << "it is closed";
  const std::size_t before = EventsFiles(fake.files, "/a").size();
  const auto next = GetCachedWriter(fake.env(), "/a", nullptr);
  EXPECT_TRUE(next->AddSessionLog(SessionLogStatus::kStart, 2).ok());
  EXPECT_TRUE(next->Close().ok());
  EXPECT_EQ(EventsFiles(fake.files, "/a").size(), before + 1);
  EXPECT_TRUE(GetCachedWriter(fake.env(), "/a", nullptr)->Flush().ok());
  EXPECT_EQ(EventsFiles(fake.files, "/a").size(), before + 1) << "its owner has closed it";
}

TEST(SummaryWriterCache, ClearSaysTheFirstError) {
  fakes::FakeEnv fake;
  EXPECT_TRUE(GetCachedWriter(fake.env(), "/a", nullptr)->AddSessionLog(SessionLogStatus::kStart, 1).ok());
  fake.files.FailOnce(fakes::FileOp::kAppend, 1, MakeStatus(Code::kResourceExhausted, "no space"));
  EXPECT_EQ(CodeOf(SummaryWriterCacheClear(fake.env())), Code::kResourceExhausted);
  EXPECT_TRUE(SummaryWriterCacheClear(fake.env()).ok());
}

TEST(ObservedWriter, SaysEachCall) {
  fakes::FakeEnv fake;
  const auto writer = GetCachedWriter(fake.env(), "/a", nullptr);
  EXPECT_TRUE(fake.events.events().empty());
  const std::string summary = fakes::SummaryOf({{"loss", 0.5F}});
  EXPECT_TRUE(writer->AddSummary(summary, 3).ok());
  EXPECT_TRUE(writer->AddSessionLog(SessionLogStatus::kCheckpoint, std::nullopt).ok());
  EXPECT_TRUE(writer->AddRunMetadata({}, "tag", 4).ok());
  EXPECT_TRUE(writer->Flush().ok());
  const std::vector<Event>& events = fake.events.events();
  ASSERT_EQ(events.size(), 4u);
  for (const Event& event : events) EXPECT_EQ(event.kind, EventKind::kWriterCall);
  EXPECT_EQ(events[0].call, static_cast<std::uint8_t>(WriterCall::kSummary));
  EXPECT_EQ(events[0].subject, summary);
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
