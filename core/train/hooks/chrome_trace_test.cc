#include "vigil/core/train/hooks/chrome_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"

namespace vigil {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

// a (on ps) -> sum (on worker) <- b (on worker); sum -> out "odd".
class ChromeTraceTest : public testing::Test {
 protected:
  ChromeTraceTest() {
    Builder b(graph_);
    b.device = "/job:ps/task:0";
    const Output a = ops::Placeholder(b, "a", DType::kFloat);
    b.device = "/job:worker/task:0";
    const Output c = ops::Placeholder(b, "b", DType::kFloat);
    const Output sum = b.Op("AddV2", {a, c}, {.name = "sum"});
    b.device = "";
    ops::Identity(b, "out", sum);
    EXPECT_TRUE(b.status().ok()) << b.status();
    metadata_.step_stats = {
        {.node_name = "a", .op = "Placeholder", .start_ns = 1'000'000'500, .end_ns = 1'000'002'000, .output_bytes = 4},
        {.node_name = "b", .op = "Placeholder", .start_ns = 1'000'002'000, .end_ns = 1'000'003'000, .output_bytes = 4},
        {.node_name = "sum", .op = "AddV2", .start_ns = 1'000'003'000, .end_ns = 1'000'005'000, .output_bytes = 4},
        {.node_name = "quoted \"\\\n", .op = "Other", .start_ns = 1'000'005'000, .end_ns = 1'000'005'000},
        {.node_name = "out", .op = "Identity", .start_ns = 1'000'005'000, .end_ns = 1'000'006'000, .output_bytes = 4},
    };
  }
  Json Events(const ChromeTraceOptions& options) {
    const Json trace = Json::parse(ChromeTrace(graph_, metadata_, options));
    EXPECT_TRUE(trace.is_object());
    return trace.at("traceEvents");
  }
  static std::vector<Json> OfPhase(const Json& events, std::string_view phase) {
    std::vector<Json> out;
    for (const Json& event : events) {
      if (event.at("ph") == phase) out.push_back(event);
    }
    return out;
  }

  Graph graph_{BuiltinOps()};
  RunMetadata metadata_;
};

// The fields that the format requires of each phase; a viewer drops an event without them.
TEST_F(ChromeTraceTest, EachEventHasTheFieldsOfItsPhase) {
  const std::map<std::string, std::set<std::string>> required = {
      {"M", {"name", "pid", "args"}},
      {"X", {"name", "cat", "pid", "tid", "ts", "dur"}},
      {"s", {"name", "cat", "pid", "tid", "ts", "id"}},
      {"t", {"name", "cat", "pid", "tid", "ts", "id"}},
      {"N", {"name", "cat", "pid", "tid", "ts", "id"}},
      {"O", {"name", "cat", "pid", "tid", "ts", "id", "args"}},
      {"D", {"name", "cat", "pid", "tid", "ts", "id"}},
      {"C", {"name", "pid", "tid", "ts", "args"}},
  };
  std::set<std::string> seen;
  for (const Json& event : Events({.show_dataflow = true, .show_memory = true})) {
    const std::string phase = event.at("ph");
    ASSERT_TRUE(required.contains(phase)) << event;
    seen.insert(phase);
    for (const std::string& field : required.at(phase)) EXPECT_TRUE(event.contains(field)) << field << " of " << event;
    for (const char* number : {"ts", "dur", "pid", "tid"}) {
      if (!event.contains(number)) continue;
      EXPECT_TRUE(event.at(number).is_number()) << event;
    }
  }
  EXPECT_EQ(seen.size(), required.size());
}

TEST_F(ChromeTraceTest, ABoxForEachNodeInTheRowOfItsDevice) {
  const Json events = Events({});
  std::map<int, std::string> rows;
  for (const Json& event : OfPhase(events, "M")) rows[event.at("pid")] = event.at("args").at("name");
  std::vector<std::string> boxes;
  for (const Json& box : OfPhase(events, "X")) {
    boxes.push_back(rows[box.at("pid")] + ": " + std::string(box.at("args").at("name")));
  }
  EXPECT_THAT(boxes, ElementsAre("/job:ps/task:0 Compute: a", "/job:worker/task:0 Compute: b",
                                 "/job:worker/task:0 Compute: sum",
                                 "/job:localhost/replica:0/task:0/device:CPU:0 Compute: quoted \"\\\n",
                                 "/job:localhost/replica:0/task:0/device:CPU:0 Compute: out"));
  const Json sum = OfPhase(events, "X")[2];
  EXPECT_EQ(sum.at("name"), "AddV2");
  EXPECT_DOUBLE_EQ(sum.at("ts").get<double>(), 1000003.0) << "microseconds";
  EXPECT_DOUBLE_EQ(sum.at("dur").get<double>(), 2.0);
  EXPECT_EQ(sum.at("args"), Json({{"name", "sum"}, {"op", "AddV2"}, {"input0", "a:0"}, {"input1", "b:0"}}));
  EXPECT_DOUBLE_EQ(OfPhase(events, "X")[0].at("ts").get<double>(), 1000000.5);
}

TEST_F(ChromeTraceTest, EachDeviceHasARowOfNodesAndOneOfTensors) {
  std::vector<std::string> rows;
  for (const Json& event : OfPhase(Events({}), "M")) rows.push_back(event.at("args").at("name"));
  EXPECT_THAT(
      rows, ElementsAre("Allocators", "/job:ps/task:0 Compute", "/job:ps/task:0 Tensors", "/job:worker/task:0 Compute",
                        "/job:worker/task:0 Tensors", "/job:localhost/replica:0/task:0/device:CPU:0 Compute",
                        "/job:localhost/replica:0/task:0/device:CPU:0 Tensors"));
}

TEST_F(ChromeTraceTest, AnArrowBetweenRowsOnly) {
  const Json events = Events({.show_dataflow = true});
  std::vector<std::string> from;
  for (const Json& start : OfPhase(events, "s")) from.push_back(start.at("name"));
  EXPECT_THAT(from, ElementsAre("a:0", "sum:0")) << "b is made and taken in one row";
  const Json end = OfPhase(events, "t")[0];
  EXPECT_EQ(end.at("id"), OfPhase(events, "s")[0].at("id"));
  EXPECT_DOUBLE_EQ(end.at("ts").get<double>(), 1000003.0);
  EXPECT_THAT(OfPhase(Events({.show_dataflow = false}), "s"), IsEmpty());
}

TEST_F(ChromeTraceTest, BytesAreHeldUntilTheLastUse) {
  const Json events = Events({.show_dataflow = true, .show_memory = true});
  std::vector<std::int64_t> held;
  for (const Json& counter : OfPhase(events, "C")) held.push_back(counter.at("args").at("cpu"));
  // a, b, sum come; a and b go when sum has run; out takes sum; both go at its end.
  EXPECT_EQ(held.back(), 0);
  EXPECT_EQ(*std::max_element(held.begin(), held.end()), 12);
  EXPECT_DOUBLE_EQ(OfPhase(events, "D")[0].at("ts").get<double>(), 1000005.0) << "a, when sum has run";
  EXPECT_THAT(OfPhase(Events({}), "C"), IsEmpty());
}

TEST_F(ChromeTraceTest, ARunWithoutNodesIsATraceToo) {
  metadata_.Clear();
  EXPECT_EQ(Events({}).size(), 1u);
}

}  // namespace
}  // namespace vigil
