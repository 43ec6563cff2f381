#include "vigil/core/cluster/device_setter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/core/ops/ops.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using List = std::vector<std::string>;

const ClusterSpec::Jobs kJobs = {{"ps", List{"ps0:2222", "ps1:2222"}}, {"worker", List{"w0:1", "w1:1", "w2:1"}}};

class DeviceSetterTest : public testing::Test {
 protected:
  DeviceFunction Setter(const ReplicaDeviceSetterOptions& options) {
    absl::StatusOr<DeviceFunction> setter = ReplicaDeviceSetter(fake_.env(), options);
    EXPECT_TRUE(setter.ok()) << setter.status();
    return setter.value_or(nullptr);
  }
  absl::Status Refusal(const ReplicaDeviceSetterOptions& options) {
    return ReplicaDeviceSetter(fake_.env(), options).status();
  }

  // Two variables and a constant, placed by a setter around `inner`: their devices.
  std::string Place(const ReplicaDeviceSetterOptions& options, const std::string& inner) {
    Graph graph(BuiltinOps());
    Builder b(graph);
    const Output zero = b.Const("zero", Tensor::Scalar<std::int64_t>(0));
    DeviceScope setter(b, Setter(options));
    DeviceScope scope(b, inner);
    std::string out;
    const auto add = [&](Output node) { out += (out.empty() ? "" : " ") + graph.node(node.node).device; };
    const ops::Variable first = ops::MakeVariable(b, "first", zero);
    const ops::Variable second = ops::MakeVariable(b, "second", zero);
    const Output constant = b.Const("c", Tensor::Scalar<std::int64_t>(0));
    if (!b.status().ok()) return std::string(MessageOf(b.status()));
    add(first.ref), add(second.ref), add(constant);
    return out;
  }

  fakes::FakeEnv fake_;
};

// device_setter_test.py: testPS2TasksWithClusterSpecDict, testPS2TasksWithClusterDef
TEST_F(DeviceSetterTest, VariablesGoToTheServersInTurnWithAllThatBelongsToThem) {
  const ClusterSpec by_map = *ClusterSpec::Create(kJobs);
  for (const ClusterSpec& cluster : {by_map, *ClusterSpec::Create(by_map.AsClusterDef())}) {
    Graph graph(BuiltinOps());
    Builder b(graph);
    DeviceScope setter(b, Setter({.cluster = cluster}));
    const Output one = b.Const("one", Tensor::Scalar<std::int64_t>(1));
    const ops::Variable v = ops::MakeVariable(b, "v", one);
    const ops::Variable w = ops::MakeVariable(b, "w", one);
    const ops::Variable x = ops::MakeVariable(b, "x", one);
    const Output sum = b.Op("AddV2", {v.read, w.read}, {.name = "sum"});
    const Output update = ops::AssignAdd(b, "update", w.ref, sum);
    const Output initialized = b.Op("IsVariableInitialized", {w.ref});
    ASSERT_TRUE(b.status().ok()) << b.status();
    const auto device = [&graph](NodeId node) { return graph.node(node).device; };
    EXPECT_EQ(device(v.ref.node), "/job:ps/task:0");
    EXPECT_EQ(device(v.initializer), "/job:ps/task:0");
    EXPECT_EQ(device(v.read.node), "/job:ps/task:0");
    EXPECT_EQ(device(w.ref.node), "/job:ps/task:1");
    EXPECT_EQ(device(w.initializer), "/job:ps/task:1");
    EXPECT_EQ(device(x.ref.node), "/job:ps/task:0") << "in turn";
    EXPECT_EQ(device(one.node), "/job:worker");
    EXPECT_EQ(device(sum.node), "/job:worker");
    EXPECT_EQ(device(update.node), "/job:ps/task:1");
    EXPECT_EQ(device(initialized.node), "/job:ps/task:1");
  }
}

// testBasic, testPS2TasksWithDevice, testPS2TasksWithCPUConstraint, testPS2TasksWithoutCluster-like rows; all devices
// as TensorFlow 2.21 gives them.
TEST_F(DeviceSetterTest, MergesWithWhatIsSaidFurtherIn) {
  const ReplicaDeviceSetterOptions three{.ps_tasks = 3};
  EXPECT_EQ(Place(three, ""), "/job:ps/task:0 /job:ps/task:1 /job:worker");
  EXPECT_EQ(Place(three, "/job:ps"), "/job:ps/task:0 /job:ps/task:1 /job:ps");
  EXPECT_EQ(Place(three, "/job:ps/task:9"), "/job:ps/task:9 /job:ps/task:9 /job:ps/task:9");
  EXPECT_EQ(Place(three, "/task:9"), "/job:ps/task:9 /job:ps/task:9 /job:worker/task:9");
  EXPECT_EQ(Place(three, "/job:worker"), "/job:worker /job:worker /job:worker");
  EXPECT_EQ(Place(three, "/cpu:0"), "/job:ps/task:0/device:CPU:0 /job:ps/task:1/device:CPU:0 /job:worker/device:CPU:0");
  EXPECT_EQ(Place(three, "/replica:4"), "/job:ps/replica:4/task:0 /job:ps/replica:4/task:1 /job:worker/replica:4");
}

TEST_F(DeviceSetterTest, OtherDevicesOfServersAndWorkers) {
  const ReplicaDeviceSetterOptions gpu{.ps_tasks = 3, .ps_device = "/device:GPU:0"};
  EXPECT_EQ(Place(gpu, ""), "/device:GPU:0 /device:GPU:0 /job:worker") << "no job, no turns";
  EXPECT_EQ(Place(gpu, "/job:ps"), "/job:ps/device:GPU:0 /job:ps/device:GPU:0 /job:ps");
  const ReplicaDeviceSetterOptions moon{.ps_tasks = 3, .ps_device = "/job:moon/replica:2/gpu:1"};
  EXPECT_EQ(Place(moon, ""),
            "/job:moon/replica:2/task:0/device:GPU:1 /job:moon/replica:2/task:1/device:GPU:1 /job:worker");
  EXPECT_EQ(Place(moon, "/job:ps"), "/job:ps/replica:2/device:GPU:1 /job:ps/replica:2/device:GPU:1 /job:ps");
  EXPECT_EQ(Place(moon, "/replica:4"),
            "/job:moon/replica:4/task:0/device:GPU:1 /job:moon/replica:4/task:1/device:GPU:1 /job:worker/replica:4");
  EXPECT_EQ(Place({.ps_tasks = 3, .ps_device = ""}, "/task:9"),
            "/job:worker/task:9 /job:worker/task:9 /job:worker/task:9");
  EXPECT_EQ(Place({.ps_tasks = 3, .worker_device = ""}, "/cpu:0"),
            "/job:ps/task:0/device:CPU:0 /job:ps/task:1/device:CPU:0 /device:CPU:0");
  EXPECT_EQ(Place({.ps_tasks = 3, .worker_device = "/job:worker/cpu:0"}, "/task:9"),
            "/job:ps/task:9 /job:ps/task:9 /job:worker/task:9/device:CPU:0");
}

TEST_F(DeviceSetterTest, OtherOpsAndAnotherStrategy) {
  EXPECT_EQ(Place({.ps_tasks = 2, .ps_ops = List{"Const"}}, "/replica:4"),
            "/job:worker/replica:4 /job:worker/replica:4 /job:ps/replica:4/task:0");
  List asked;
  const ReplicaDeviceSetterOptions by_name{.ps_tasks = 2, .ps_strategy = [&asked](const Node& node) {
                                             asked.push_back(node.name);
                                             return node.name == "first" ? 7 : 8;
                                           }};
  EXPECT_EQ(Place(by_name, "/cpu:0"),
            "/job:ps/task:7/device:CPU:0 /job:ps/task:8/device:CPU:0 /job:worker/device:CPU:0");
  EXPECT_THAT(asked, testing::ElementsAre("first", "second"));
  asked.clear();
  EXPECT_EQ(Place(by_name, "/job:worker"), "/job:worker /job:worker /job:worker");
  EXPECT_THAT(asked, testing::IsEmpty()) << "a variable in another job takes no turn";
}

TEST_F(DeviceSetterTest, WithoutMergingADeviceStaysAsItIsAndAWarningSaysSo) {
  const ReplicaDeviceSetterOptions options{.ps_tasks = 2, .merge_devices = false};
  EXPECT_EQ(Place(options, ""), "/job:ps/task:0 /job:ps/task:1 /job:worker");
  EXPECT_EQ(Place(options, "/task:9"), "/task:9 /task:9 /task:9");
  ASSERT_FALSE(fake_.log.lines().empty());
  EXPECT_EQ(fake_.log.lines()[0].severity, Severity::kWarning);
  EXPECT_THAT(fake_.log.lines()[0].text, testing::HasSubstr("merge_devices=true"));
}

TEST_F(DeviceSetterTest, WithoutServersThereIsNothingToSet) {
  EXPECT_EQ(Setter({}), nullptr);
  EXPECT_EQ(Setter({.cluster = ClusterSpec::Create({{"worker", List{"w:1"}}}).value()}), nullptr);
  EXPECT_EQ(Setter({.cluster = ClusterSpec::Create({{"ps", List{}}}).value()}), nullptr);
  EXPECT_EQ(Setter({.ps_device = "", .cluster = ClusterSpec::Create(kJobs).value()}), nullptr);
  EXPECT_EQ(Place({}, "/task:1"), "/task:1 /task:1 /task:1");
}

TEST_F(DeviceSetterTest, TheClusterWinsOverTheNumberOfTasks) {
  EXPECT_EQ(Place({.ps_tasks = 1, .cluster = ClusterSpec::Create(kJobs).value()}, ""),
            "/job:ps/task:0 /job:ps/task:1 /job:worker");
  EXPECT_EQ(Setter({.ps_tasks = 5, .cluster = ClusterSpec()}), nullptr);
}

TEST_F(DeviceSetterTest, Refusals) {
  EXPECT_EQ(CodeOf(Refusal({.ps_tasks = -1})), Code::kUsage);
  const ReplicaDeviceSetterOptions bad{.ps_device = "/foo", .cluster = ClusterSpec::Create(kJobs).value()};
  EXPECT_EQ(MessageOf(Refusal(bad)), "Unknown attribute 'foo' is encountered while parsing the device spec: '/foo'.");
  EXPECT_EQ(Place({.ps_tasks = 2, .ps_device = "/zzz"}, ""),
            "Unknown attribute 'zzz' is encountered while parsing the device spec: '/zzz'.");
}

TEST_F(DeviceSetterTest, CopiesShareTheTurns) {
  const DeviceFunction setter = Setter({.ps_tasks = 3});
  const DeviceFunction copy = setter;
  Node variable;
  variable.op = "VariableV2";
  EXPECT_EQ(*setter(variable), "/job:ps/task:0");
  EXPECT_EQ(*copy(variable), "/job:ps/task:1");
  EXPECT_EQ(*setter(variable), "/job:ps/task:2");
  EXPECT_EQ(*copy(variable), "/job:ps/task:0");
}

}  // namespace
}  // namespace vigil
