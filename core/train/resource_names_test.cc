// Which containers and shared_names a resource may have. What is refused, the words, the node that is named and what
// has run before it are what TensorFlow 2.21 gave for the same nodes in the same order.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using testing::HasSubstr;
using testing::Not;

struct ResourceOp {
  std::string name;
  Attrs attrs;
  std::string asks;  // an op that looks for the resource
  Attrs how;
  int ran_before = 1;  // of one update that comes before it
};

void PrintTo(const ResourceOp& op, std::ostream* out) { *out << op.name << " for " << op.asks; }

const std::vector<DType> kInts{DType::kInt64};

// Makes the resource behind an update, and runs what asks for it; or, if nothing asks, the resource itself. "OK, 1
// updates".
std::string Outcome(const ResourceOp& op, const std::string& container, const std::string& shared_name) {
  fakes::FakeEnv fake;
  Graph graph(BuiltinOps());
  Builder b(graph);
  const ops::Variable count = ops::MakeVariable(b, "count", b.Const("zero", Tensor::Scalar<std::int64_t>(0)));
  const Output update = ops::AssignAdd(b, "update", count.ref, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
  Attrs attrs = op.attrs;
  attrs["container"] = container;
  attrs["shared_name"] = shared_name;
  const Output resource =
      b.Op(op.name, {}, {.name = "resource", .control_inputs = {update.node}, .attrs = std::move(attrs)});
  const Output asked = op.asks.empty() ? resource : b.Op(op.asks, {resource}, {.name = "asks", .attrs = op.how});
  EXPECT_TRUE(b.status().ok()) << b.status();
  const std::unique_ptr<Session> session = NewDirectSession(fake.env(), graph, {});
  const RunSpec initialize{.targets = {count.initializer}};
  EXPECT_TRUE(session->Run({.spec = initialize}, nullptr).ok());
  const RunSpec spec{.targets = {asked.node}};
  const absl::Status status = session->Run({.spec = spec}, nullptr);
  const RunSpec read{.fetches = {count.read}};
  std::vector<Tensor> fetched;
  EXPECT_TRUE(session->Run({.spec = read}, &fetched).ok());
  return fmt::format("{}, {} updates", fakes::Text(status), fetched[0].flat<std::int64_t>()[0]);
}

class ResourceNamesTest : public testing::TestWithParam<ResourceOp> {
 protected:
  std::string Refused(const std::string& why) const {
    return fmt::format("INVALID_ARGUMENT: {}\n\t [[{{{{node resource}}}}]], {} updates", why, GetParam().ran_before);
  }
};

TEST_P(ResourceNamesTest, SomeAreRefused) {
  for (const std::string container : {"a_b", "a b", "_x", "-x", "/x", "\xc3\xa9", "a\n"}) {
    EXPECT_EQ(Outcome(GetParam(), container, ""), Refused("container contains invalid characters: " + container));
  }
  EXPECT_EQ(Outcome(GetParam(), "", "_s"), Refused("shared_name cannot start with '_':_s"));
  EXPECT_EQ(Outcome(GetParam(), "a_b", "_s"), Refused("container contains invalid characters: a_b"));
}

TEST_P(ResourceNamesTest, MayHaveLettersDigitsAndMore) {
  for (const std::string container : {"", "a", "9", ".a", "s/a-b.c9", "Z--"}) {
    for (const std::string shared_name : {"", "a_b c"}) {
      EXPECT_THAT(Outcome(GetParam(), container, shared_name), Not(HasSubstr("INVALID_ARGUMENT"))) << container;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ops, ResourceNamesTest,
    testing::Values(
        ResourceOp{"VariableV2", {{"dtype", DType::kInt64}, {"shape", Shape()}}, "IsVariableInitialized", {}, 0},
        ResourceOp{"VariableV2", {{"dtype", DType::kInt64}, {"shape", Shape()}}, "", {}, 0},
        ResourceOp{"FIFOQueueV2", {{"component_types", kInts}}, "QueueSizeV2", {}},
        ResourceOp{"FIFOQueueV2", {{"component_types", kInts}}, "", {}},
        ResourceOp{"RandomShuffleQueueV2", {{"component_types", kInts}}, "QueueSizeV2", {}},
        ResourceOp{
            "ConditionalAccumulator", {{"dtype", DType::kFloat}, {"shape", Shape()}}, "AccumulatorNumAccumulated", {}},
        ResourceOp{"ResourceConditionalAccumulator",
                   {{"dtype", DType::kFloat}, {"shape", Shape()}},
                   "ResourceAccumulatorNumAccumulated",
                   {}},
        ResourceOp{"IteratorV2", {{"output_types", kInts}}, "IteratorGetNext", {{"output_types", kInts}}},
        ResourceOp{"IteratorV2", {{"output_types", kInts}}, "IteratorToStringHandle", {}}));

TEST(ResourceVariableNamesTest, AreAny) {
  const ResourceOp op{"VarHandleOp", {{"dtype", DType::kInt64}, {"shape", Shape()}}, "VarIsInitializedOp", {}};
  for (const std::string name : {"a_b", "_x", "a b"}) EXPECT_EQ(Outcome(op, name, name), "OK, 1 updates");
}

// An op of another kind finds the resource's own error first.
TEST(ResourceNamesOrderTest, TheNamesComeBeforeTheKind) {
  const ResourceOp op{"FIFOQueueV2", {{"component_types", kInts}}, "ReadVariableOp", {{"dtype", DType::kInt64}}};
  EXPECT_THAT(Outcome(op, "a_b", ""),
              HasSubstr("container contains invalid characters: a_b\n\t [[{{node resource}}]]"));
}

}  // namespace
}  // namespace vigil
