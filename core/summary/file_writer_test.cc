#include "vigil/core/summary/file_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/graph/meta_graph.pb.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/run_metadata.h"
#include "vigil/core/session/run_metadata.pb.h"
#include "vigil/core/summary/testing.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/summary/summary_of.h"

namespace vigil {
namespace {

using fakes::FileOp;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kPath[] = "/logs/events.out.tfevents.0000001000.localhost";

class FileWriterTest : public testing::Test {
 protected:
  std::shared_ptr<SummaryWriter> Open(const Graph* graph = nullptr) {
    absl::StatusOr<std::shared_ptr<SummaryWriter>> writer = NewFileWriter(fake_.env(), {.logdir = "/logs"}, graph);
    EXPECT_TRUE(writer.ok()) << writer.status();
    return *writer;
  }
  std::vector<std::string> Texts(const std::string& path = kPath) { return EventTexts(fake_.files, path); }
  int Warnings() {
    int n = 0;
    for (const auto& line : fake_.log.lines()) {
      n += line.severity == Severity::kWarning && line.text.find("closed FileWriter") != std::string::npos ? 1 : 0;
    }
    return n;
  }

  fakes::FakeEnv fake_;
};

TEST_F(FileWriterTest, WritesSummariesAndSessionLogs) {
  const auto writer = Open();
  EXPECT_EQ(writer->logdir(), "/logs");
  EXPECT_TRUE(writer->AddSessionLog(SessionLogStatus::kStart, 0).ok());
  EXPECT_TRUE(writer->AddSummary(fakes::SummaryOf({{"loss", 0.5F}}), 3).ok());
  EXPECT_TRUE(writer->AddSummary(fakes::SummaryOf({{"loss", 1}}), std::nullopt).ok());
  EXPECT_TRUE(writer->AddSessionLog(SessionLogStatus::kCheckpoint, 3, "/ckpt/model-3").ok());
  EXPECT_TRUE(writer->AddSessionLog(SessionLogStatus::kStop, std::nullopt).ok());
  fake_.clock.Advance(std::chrono::milliseconds(1500));
  EXPECT_TRUE(writer->Close().ok());
  // The task comes to its turn only now, so that is the time in the name. The events have that of the call.
  constexpr char kLater[] = "/logs/events.out.tfevents.0000001001.localhost";
  EXPECT_THAT(
      Texts(kLater),
      ElementsAre(R"(session_log { status: START })", R"(step: 3 summary { value { tag: "loss" simple_value: 0.5 } })",
                  R"(summary { value { tag: "loss" simple_value: 1 } })",
                  R"(step: 3 session_log { status: CHECKPOINT checkpoint_path: "/ckpt/model-3" })",
                  R"(session_log { status: STOP })"));
  const std::vector<proto::Event> events = ReadEvents(fake_.files, kLater);
  ASSERT_EQ(events.size(), 6u);
  EXPECT_EQ(events[0].wall_time(), 1001);
  EXPECT_EQ(events[1].wall_time(), 1000);
}

TEST_F(FileWriterTest, AScalarIsASummaryOfOneValue) {
  const auto writer = Open();
  EXPECT_TRUE(writer->AddScalar("loss", 0.5, 3).ok());
  EXPECT_TRUE(writer->Close().ok());
  EXPECT_THAT(Texts(), testing::Contains(R"(step: 3 summary { value { tag: "loss" simple_value: 0.5 } })"));
}

TEST_F(FileWriterTest, KeepsTheMetadataOfTheFirstValueOfATag) {
  proto::Summary summary;
  for (const char* tag : {"a", "b", "a"}) {
    summary.add_value()->set_tag(tag);
    summary.mutable_value(summary.value_size() - 1)->mutable_metadata()->set_display_name("shown");
  }
  const auto writer = Open();
  EXPECT_TRUE(writer->AddSummary(summary.SerializeAsString(), 1).ok());
  EXPECT_TRUE(writer->AddSummary(summary.SerializeAsString(), 2).ok());
  EXPECT_TRUE(writer->Close().ok());
  EXPECT_THAT(Texts(), ElementsAre(R"(step: 1 summary { value { tag: "a" metadata { display_name: "shown" } } )"
                                   R"(value { tag: "b" metadata { display_name: "shown" } } value { tag: "a" } })",
                                   R"(step: 2 summary { value { tag: "a" } value { tag: "b" } value { tag: "a" } })"));
}

TEST_F(FileWriterTest, ATagThatCameWithoutMetadataNeverHasAny) {
  proto::Summary summary;
  summary.add_value()->set_tag("a");
  const auto writer = Open();
  EXPECT_TRUE(writer->AddSummary(summary.SerializeAsString(), 1).ok());
  summary.mutable_value(0)->mutable_metadata()->set_display_name("shown");
  EXPECT_TRUE(writer->AddSummary(summary.SerializeAsString(), 2).ok());
  EXPECT_TRUE(writer->Close().ok());
  EXPECT_THAT(Texts(),
              ElementsAre(R"(step: 1 summary { value { tag: "a" } })", R"(step: 2 summary { value { tag: "a" } })"));
}

TEST_F(FileWriterTest, RefusesBytesThatAreNoSummary) {
  const auto writer = Open();
  EXPECT_EQ(CodeOf(writer->AddSummary("\xff", 1)), Code::kUsage);
}

TEST_F(FileWriterTest, AddsItsGraphWithoutAnEvent) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  ops::MakeVariable(b, "v", b.Const("zero", Tensor::Scalar<std::int64_t>(0)));
  const auto writer = Open(&graph);
  EXPECT_THAT(fake_.events.events(), IsEmpty());
  EXPECT_TRUE(writer->AddGraph(graph).ok());
  EXPECT_TRUE(writer->AddMetaGraph(graph, 4).ok());
  EXPECT_EQ(fake_.events.events().size(), 2u);
  EXPECT_TRUE(writer->Close().ok());
  const std::vector<proto::Event> events = ReadEvents(fake_.files, kPath);
  ASSERT_EQ(events.size(), 5u);
  proto::GraphDef def;
  ASSERT_TRUE(def.ParseFromString(events[1].graph_def()));
  EXPECT_EQ(def.DebugString(), ToGraphDef(graph).DebugString());
  proto::MetaGraphDef meta;
  ASSERT_TRUE(meta.ParseFromString(events[2].meta_graph_def()));
  EXPECT_TRUE(meta.collection_def().contains("variables"));
  EXPECT_EQ(events[3].graph_def(), events[1].graph_def());
  EXPECT_EQ(events[4].meta_graph_def(), events[2].meta_graph_def());
  EXPECT_EQ(events[4].step(), 4);
}

TEST_F(FileWriterTest, TakesEachTagOfRunMetadataOnce) {
  const auto writer = Open();
  const RunMetadata metadata{.step_stats = {{.node_name = "n", .op = "Op", .start_ns = 5000, .end_ns = 7500}}};
  EXPECT_TRUE(writer->AddRunMetadata(metadata, "one", 1).ok());
  EXPECT_TRUE(writer->AddRunMetadata({}, "two", 2).ok());
  const absl::Status again = writer->AddRunMetadata(metadata, "one", 3);
  EXPECT_EQ(CodeOf(again), Code::kUsage);
  EXPECT_EQ(MessageOf(again), "The provided tag was already used for this event type");
  EXPECT_TRUE(writer->Close().ok());
  const std::vector<proto::Event> events = ReadEvents(fake_.files, kPath);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1].tagged_run_metadata().tag(), "one");
  proto::RunMetadata read;
  ASSERT_TRUE(read.ParseFromString(events[1].tagged_run_metadata().run_metadata()));
  EXPECT_EQ(read.SerializeAsString(), ToProto(metadata).SerializeAsString());
  EXPECT_EQ(events[2].step(), 2);
}

TEST_F(FileWriterTest, AClosedWriterWarnsAndDoesNothing) {
  const auto writer = Open();
  EXPECT_TRUE(writer->AddSummary(fakes::SummaryOf({{"a", 1}}), 1).ok());
  EXPECT_TRUE(writer->Close().ok());
  EXPECT_TRUE(writer->Close().ok());
  EXPECT_EQ(Warnings(), 0);
  EXPECT_TRUE(writer->AddSummary(fakes::SummaryOf({{"a", 1}}), 2).ok());
  EXPECT_TRUE(writer->Flush().ok());
  EXPECT_EQ(Warnings(), 2);
  EXPECT_EQ(Texts().size(), 1u);
}

TEST_F(FileWriterTest, ReopenBeginsANewFile) {
  const auto writer = Open();
  EXPECT_TRUE(writer->AddSummary(fakes::SummaryOf({{"a", 1}}), 1).ok());
  EXPECT_TRUE(writer->Reopen().ok());  // open: nothing
  EXPECT_TRUE(writer->Close().ok());
  fake_.clock.Advance(seconds(1));
  EXPECT_TRUE(writer->Reopen().ok());
  EXPECT_TRUE(writer->AddSummary(fakes::SummaryOf({{"a", 1}}), 2).ok());
  EXPECT_TRUE(writer->Close().ok());
  EXPECT_EQ(Texts().size(), 1u);
  EXPECT_THAT(Texts("/logs/events.out.tfevents.0000001001.localhost"), ElementsAre(HasSubstr("step: 2")));
}

TEST_F(FileWriterTest, AnErrorSurfacesOnceAndClosesTheWriter) {
  const auto writer = Open();
  fake_.files.set_fault([](FileOp op, const std::string&) {
    return op == FileOp::kAppend ? MakeStatus(Code::kResourceExhausted, "no space") : absl::OkStatus();
  });
  EXPECT_TRUE(writer->AddSummary(fakes::SummaryOf({{"a", 1}}), 1).ok());
  fake_.tasks.RunReady();
  EXPECT_EQ(CodeOf(writer->AddSummary(fakes::SummaryOf({{"a", 1}}), 2)), Code::kResourceExhausted);
  EXPECT_EQ(Warnings(), 0);
  EXPECT_TRUE(writer->AddSummary(fakes::SummaryOf({{"a", 1}}), 3).ok());
  EXPECT_EQ(Warnings(), 1);
  fake_.files.set_fault(nullptr);
  EXPECT_TRUE(writer->Reopen().ok());
  EXPECT_TRUE(writer->AddSummary(fakes::SummaryOf({{"a", 1}}), 4).ok());
  EXPECT_TRUE(writer->Flush().ok());
  // What was begun when the disk was full stays: the new file has a name of its own.
  EXPECT_THAT(Texts("/logs/events.out.tfevents.0000001000.localhost.1"), ElementsAre(HasSubstr("step: 4")));
}

TEST_F(FileWriterTest, CloseSaysWhatFailed) {
  const auto writer = Open();
  EXPECT_TRUE(writer->AddSummary(fakes::SummaryOf({{"a", 1}}), 1).ok());
  fake_.files.FailOnce(FileOp::kSync, 1, MakeStatus(Code::kResourceExhausted, "no space"));
  EXPECT_EQ(CodeOf(writer->Close()), Code::kResourceExhausted);
  EXPECT_TRUE(writer->Close().ok());
}

TEST_F(FileWriterTest, NeedsItsDirectory) {
  ASSERT_TRUE(WriteAtomically(fake_.files, "/file", "x").ok());
  EXPECT_EQ(CodeOf(NewFileWriter(fake_.env(), {.logdir = "/file"}).status()), Code::kFailedPrecondition);
}

TEST_F(FileWriterTest, ADroppedWriterLosesWhatWasNotFlushed) {
  {
    const auto writer = Open();
    EXPECT_TRUE(writer->AddSummary(fakes::SummaryOf({{"a", 1}}), 1).ok());
    EXPECT_TRUE(writer->Flush().ok());
    EXPECT_TRUE(writer->AddSummary(fakes::SummaryOf({{"a", 1}}), 2).ok());
  }
  fake_.tasks.RunReady();
  EXPECT_EQ(Texts().size(), 1u);
}

}  // namespace
}  // namespace vigil
