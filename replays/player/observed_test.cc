#include "vigil/replays/player/observed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "vigil/core/base/code.h"

namespace vigil::replays {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kFormat[] = R"({"observed":1})";
constexpr char kJob[] = R"({"job":1,"hooks":["MyHook"],"recovers":true,"worker":false,"remote":true,"init_fn":false,)"
                        R"("queue":false,"may_restore":true,"saves_something":true})";

// What is wrong with the last of these lines.
std::string Refusal(std::initializer_list<const char*> lines) {
  ObservedReader reader;
  absl::Status status = reader.Read(kFormat);
  for (const char* const line : lines) {
    EXPECT_TRUE(status.ok()) << status;
    status = reader.Read(line);
  }
  return std::string(MessageOf(status));
}

TEST(ObservedTest, ReadsJobsThatAlternate) {
  ObservedReader reader;
  const std::string second = std::string(kJob).replace(std::string(kJob).find("\"job\":1"), 7, "\"job\":2");
  for (const std::string& line :
       {std::string(kFormat), std::string(kJob), std::string(R"({"of":1,"event":{"line":"session 1 created","at":7}})"),
        second, std::string(R"({"of":2,"event":{"e":"hook_call","call":"begin","index":0,"name":"MyHook","at":3}})"),
        std::string(R"({"of":1,"event":{"e":"session_call","call":"run","session":1,"code":"ABORTED","at":9}})"),
        std::string(R"({"of":1,"ends":true})")}) {
    const absl::Status status = reader.Read(line);
    ASSERT_TRUE(status.ok()) << status;
  }
  ASSERT_EQ(reader.jobs().size(), 2U);
  const ObservedJob& first = *reader.jobs()[0];
  EXPECT_THAT(first.hooks, ElementsAre("MyHook"));
  EXPECT_TRUE(first.remote && first.may_restore && first.ended);
  ASSERT_EQ(first.trace.size(), 2U);
  EXPECT_EQ(first.trace[0].event.kind, EventKind::kSessionCreated);
  EXPECT_EQ(first.trace[0].time, Time() + Duration(7));
  EXPECT_EQ(first.trace[1].event.code, Code::kAborted);
  EXPECT_EQ(reader.jobs()[1]->trace.size(), 1U);
  EXPECT_FALSE(reader.jobs()[1]->ended);
}

std::string SupervisorsJob(const std::string& supervisor) {
  return std::string(kJob).replace(std::string(kJob).size() - 1, 1, R"(,"supervisor":)" + supervisor + "}");
}

TEST(ObservedTest, ReadsWhatIsKnownOfASupervisor) {
  ObservedReader reader;
  ASSERT_TRUE(reader.Read(kFormat).ok());
  ASSERT_TRUE(reader.Read(SupervisorsJob(R"({"by_hand":true,"initialises":false,"asks_ready":true})")).ok());
  ASSERT_TRUE(reader.Read(std::string(kJob).replace(std::string(kJob).find("\"job\":1"), 7, "\"job\":2")).ok());
  ASSERT_TRUE(reader.jobs()[0]->supervisor.has_value());
  const ObservedSupervisor& of = *reader.jobs()[0]->supervisor;
  EXPECT_TRUE(of.by_hand && !of.initialises && of.asks_ready);
  EXPECT_FALSE(reader.jobs()[1]->supervisor.has_value());
  EXPECT_THAT(Refusal({SupervisorsJob(R"({"by_hand":true})").c_str()}), HasSubstr("initialises"));
  EXPECT_THAT(Refusal({SupervisorsJob("true").c_str()}), HasSubstr("supervisor"));
}

TEST(ObservedTest, SaysWhatIsWrong) {
  EXPECT_THAT(Refusal({"{"}), HasSubstr("expected"));
  EXPECT_THAT(Refusal({"{}"}), HasSubstr("\"job\""));
  EXPECT_THAT(Refusal({R"({"of":1,"ends":true})"}), HasSubstr("job 1 has not begun"));
  EXPECT_THAT(Refusal({kJob, kJob}), HasSubstr("expected job 2"));
  EXPECT_THAT(Refusal({kJob, R"({"of":1})"}), HasSubstr("\"ends\""));
  EXPECT_THAT(Refusal({kJob, R"({"of":1,"event":{"line":"session 2 created"}})"}), HasSubstr("session 2"));
  EXPECT_THAT(Refusal({kJob, R"({"of":1,"event":{"e":"hook_call","call":"begin","index":1}})"}), HasSubstr("no hook"));
  EXPECT_THAT(Refusal({kJob, R"({"of":1,"event":"driver run","x":1})"}), HasSubstr("x"));
  EXPECT_THAT(MessageOf(ObservedReader().Read(R"({"observed":2})")), HasSubstr("format 1, not 2"));
  EXPECT_THAT(MessageOf(ObservedReader().Read(kJob)), HasSubstr("observed"));
}

}  // namespace
}  // namespace vigil::replays
