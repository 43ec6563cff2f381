// A training that TensorFlow began and left after 10 steps (continued/, by interop/record_training.py): restored here
// it goes on as it did there. And the events file of that training.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/saver_meta_graph.h"
#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/io/event.pb.h"
#include "vigil/core/io/record_reader.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"
#include "vigil/replays/graphs/event_text.h"

namespace vigil {
namespace {

using fakes::Text;

constexpr double kTolerance = 1e-5;

std::string Recorded(const std::string& name) {
  std::ifstream file(fmt::format("{}/replays/graphs/continued/{}", VIGIL_SOURCE_DIR, name), std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

absl::Status Write(Files& files, const std::string& path, const std::string& bytes) {
  VIGIL_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, files.Open(path, OpenMode::kTruncate));
  VIGIL_RETURN_IF_ERROR(file->Append(bytes));
  return file->Close();
}

double SumOf(const Tensor& tensor) {
  double sum = 0;
  if (tensor.dtype() == DType::kInt64) {
    for (const std::int64_t each : tensor.flat<std::int64_t>()) sum += static_cast<double>(each);
  } else {
    for (const float each : tensor.flat<float>()) sum += static_cast<double>(each);
  }
  return sum;
}

class ContinuedTraining : public testing::Test {
 protected:
  ContinuedTraining() {
    EXPECT_EQ(Text(fake_.files.MakeDirectory("/m")), "OK");
    for (const char* const ending : {"meta", "index", "data-00000-of-00001"}) {
      const std::string name = fmt::format("model.ckpt-10.{}", ending);
      EXPECT_EQ(Text(Write(fake_.files, "/m/" + name, Recorded(name))), "OK");
    }
  }
  static double Number(Session& session, Output output) {
    const absl::StatusOr<Tensor> value = RunFetch(session, output);
    EXPECT_EQ(Text(value.status()), "OK");
    return value.ok() ? SumOf(*value) : NAN;
  }

  fakes::FakeEnv fake_;
};

TEST_F(ContinuedTraining, GoesOnAsItDidThere) {
  Graph graph(BuiltinOps());
  const absl::StatusOr<SaverPtr> saver = ImportMetaGraphFile(fake_.env(), "/m/model.ckpt-10.meta", graph);
  ASSERT_EQ(Text(saver.status()), "OK");
  const std::unique_ptr<Session> session = NewDirectSession(fake_.env(), graph);
  ASSERT_EQ(Text((*saver)->Restore(*session, "/m/model.ckpt-10")), "OK");
  const RunSpec step{.fetches = {*graph.FindOutput("loss:0")}, .targets = {*graph.Find("train")}};
  std::istringstream losses(Recorded("losses.txt"));
  int steps = 0;
  for (double recorded = 0; losses >> recorded; ++steps) {
    std::vector<Tensor> fetched;
    ASSERT_EQ(Text(session->Run({.spec = step}, &fetched)), "OK");
    EXPECT_NEAR(static_cast<double>(fetched[0].scalar<float>()), recorded, kTolerance) << "step " << 11 + steps;
  }
  EXPECT_EQ(steps, 20);

  std::istringstream variables(Recorded("variables.txt"));
  int compared = 0;
  std::string name;
  for (double recorded = 0; variables >> name >> recorded; ++compared) {
    bool found = false;
    for (const ops::Variable& variable : graph.Collection(ops::kVariables)) {
      if (graph.node(variable.ref.node).name != name) continue;
      found = true;
      EXPECT_NEAR(Number(*session, variable.read), recorded, kTolerance * std::max(1.0, std::abs(recorded))) << name;
    }
    EXPECT_TRUE(found) << name;
  }
  EXPECT_EQ(compared, static_cast<int>(graph.Collection(ops::kVariables).size()));
  EXPECT_GT(compared, 15);
}

TEST(RecordedEvents, AreReadAsTensorFlowMeansThem) {
  const std::string bytes = Recorded("events.out.tfevents.recorded");
  std::string text;
  RecordReader reader(bytes);
  while (true) {
    const absl::StatusOr<std::optional<std::string_view>> record = reader.Next();
    ASSERT_EQ(Text(record.status()), "OK");
    if (!record->has_value()) break;
    proto::Event event;
    ASSERT_TRUE(event.ParseFromString(std::string(**record)));
    text += EventText(event) + "\n";
    if (!event.has_graph_def()) continue;
    proto::GraphDef def;
    Graph graph(BuiltinOps());
    EXPECT_TRUE(def.ParseFromString(event.graph_def()));
    EXPECT_EQ(Text(ImportGraphDef(def, graph)), "OK") << "what TensorBoard draws can be run";
    EXPECT_EQ(graph.size(), def.node_size());
  }
  EXPECT_EQ(text, Recorded("events.txt"));
}

}  // namespace
}  // namespace vigil
