#include "vigil/core/summary/events_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/core/summary/testing.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kFirst[] = "/logs/run/events.out.tfevents.0000001000.host.x";
constexpr char kSecond[] = "/logs/run/events.out.tfevents.0000001001.host.x";

class EventsFileTest : public testing::Test {
 protected:
  EventsFileTest() : file_(fake_.env(), "/logs/run", "host", ".x") {}

  static std::string EventAt(std::int64_t step) {
    proto::Event event;
    event.set_step(step);
    return event.SerializeAsString();
  }
  std::vector<std::string> Texts(const std::string& path) { return EventTexts(fake_.files, path); }
  std::vector<std::string> Paths() { return EventsFiles(fake_.files, "/logs/run"); }

  fakes::FakeEnv fake_;
  EventsFile file_;
};

TEST(EventsFileName, HasTenDigitsOfSecondsHostAndSuffix) {
  EXPECT_EQ(EventsFileName({std::chrono::milliseconds(1500)}, "h", ""), "events.out.tfevents.0000000001.h");
  // Close to the last second that a Time can hold, in the year 2262.
  EXPECT_EQ(EventsFileName({std::chrono::seconds(9200000000)}, "h", ".s"), "events.out.tfevents.9200000000.h.s");
}

TEST_F(EventsFileTest, BeginsWithTheVersionWhenThereIsAnEvent) {
  EXPECT_TRUE(file_.Flush().ok());
  EXPECT_TRUE(file_.Sync().ok());
  EXPECT_TRUE(file_.Close().ok());
  EXPECT_THAT(fake_.files.Contents(), IsEmpty());
  fake_.clock.Advance(std::chrono::milliseconds(700));
  EXPECT_TRUE(file_.Write(EventAt(1)).ok());
  EXPECT_THAT(Paths(), ElementsAre(kFirst));
  const std::vector<proto::Event> events = ReadEvents(fake_.files, kFirst);  // the version can be seen at once
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].wall_time(), 1000);  // whole seconds
  EXPECT_EQ(events[0].source_metadata().writer(), "vigil");
}

TEST_F(EventsFileTest, FlushShowsWhatWasWritten) {
  EXPECT_TRUE(file_.Write(EventAt(1)).ok());
  EXPECT_TRUE(file_.Write(EventAt(2)).ok());
  EXPECT_THAT(Texts(kFirst), IsEmpty());
  EXPECT_TRUE(file_.Flush().ok());
  EXPECT_THAT(Texts(kFirst), ElementsAre("step: 1", "step: 2"));
  EXPECT_TRUE(file_.Write(EventAt(3)).ok());
  EXPECT_TRUE(file_.Close().ok());
  EXPECT_THAT(Texts(kFirst), ElementsAre("step: 1", "step: 2", "step: 3"));
}

TEST_F(EventsFileTest, TwoFilesOfOneSecondHaveTwoNames) {
  EXPECT_TRUE(file_.Write(EventAt(1)).ok());
  EventsFile second(fake_.env(), "/logs/run", "host", ".x");
  EXPECT_TRUE(second.Write(EventAt(2)).ok());
  EXPECT_TRUE(file_.Close().ok());
  EXPECT_TRUE(file_.Write(EventAt(3)).ok());
  EXPECT_TRUE(second.Close().ok());
  EXPECT_TRUE(file_.Close().ok());
  const std::string base = "/logs/run/events.out.tfevents.0000001000.host";
  EXPECT_THAT(Paths(), ElementsAre(base + ".1.x", base + ".2.x", base + ".x"));
  EXPECT_THAT(Texts(base + ".x"), ElementsAre("step: 1"));
  EXPECT_THAT(Texts(base + ".1.x"), ElementsAre("step: 2"));
  EXPECT_THAT(Texts(base + ".2.x"), ElementsAre("step: 3"));
}

TEST_F(EventsFileTest, ANameThatIsTakenForEverIsAnError) {
  fake_.files.set_fault([](fakes::FileOp op, const std::string& path) {
    return op == fakes::FileOp::kOpen ? MakeStatus(Code::kAlreadyExists, path) : absl::OkStatus();
  });
  EXPECT_EQ(CodeOf(file_.Write(EventAt(1))), Code::kAlreadyExists);
}

TEST_F(EventsFileTest, ByTensorFlowsBehaviourANewFileOfThatSecondReplacesTheOld) {
  EventsFile file(fake_.env(), "/logs/run", "host", ".x", /*unique=*/false);
  EXPECT_TRUE(file.Write(EventAt(1)).ok());
  EXPECT_TRUE(file.Close().ok());
  EXPECT_TRUE(file.Write(EventAt(2)).ok());
  EXPECT_TRUE(file.Close().ok());
  EXPECT_THAT(Texts(kFirst), ElementsAre("step: 2"));  // as in TensorFlow
  fake_.clock.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(file.Write(EventAt(3)).ok());
  EXPECT_TRUE(file.Close().ok());
  EXPECT_THAT(Paths(), ElementsAre(kFirst, kSecond));
  EXPECT_THAT(Texts(kSecond), ElementsAre("step: 3"));
}

TEST_F(EventsFileTest, AVanishedFileIsReplaced) {
  EXPECT_TRUE(file_.Write(EventAt(1)).ok());
  EXPECT_TRUE(file_.Flush().ok());
  EXPECT_TRUE(fake_.files.Remove(kFirst).ok());
  EXPECT_TRUE(fake_.files.Remove("/logs/run").ok());
  fake_.clock.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(file_.Write(EventAt(2)).ok());
  EXPECT_TRUE(file_.Sync().ok());
  ASSERT_EQ(fake_.log.lines().size(), 1u);
  EXPECT_EQ(fake_.log.lines()[0].severity, Severity::kError);
  EXPECT_THAT(fake_.log.lines()[0].text, HasSubstr("has disappeared. 1 events are lost"));
  EXPECT_TRUE(file_.Write(EventAt(3)).ok());
  EXPECT_TRUE(file_.Close().ok());
  EXPECT_THAT(Paths(), ElementsAre(kSecond));
  EXPECT_THAT(Texts(kSecond), ElementsAre("step: 3"));
}

TEST_F(EventsFileTest, ErrorsOfTheFileComeBack) {
  const absl::Status full = MakeStatus(Code::kResourceExhausted, "no space");
  fake_.files.FailOnce(fakes::FileOp::kOpen, 1, full);
  EXPECT_EQ(file_.Write(EventAt(1)), full);
  fake_.files.FailOnce(fakes::FileOp::kAppend, 1, full);
  EXPECT_EQ(file_.Write(EventAt(1)), full);  // of the version
  EXPECT_EQ(file_.Close(), full);
  EXPECT_TRUE(file_.Write(EventAt(1)).ok());
  fake_.files.FailOnce(fakes::FileOp::kSync, 1, full);
  EXPECT_EQ(file_.Sync(), full);
  EXPECT_EQ(file_.Flush(), full);
  EXPECT_EQ(file_.Write(EventAt(2)), full);
  EXPECT_EQ(file_.Close(), full);
  EXPECT_TRUE(file_.Write(EventAt(3)).ok());
}

}  // namespace
}  // namespace vigil
