#include "vigil/core/cluster/cluster_spec.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using List = std::vector<std::string>;
using Map = std::map<int, std::string>;

ClusterSpec Spec(const ClusterSpec::Jobs& jobs) {
  absl::StatusOr<ClusterSpec> spec = ClusterSpec::Create(jobs);
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec.value_or(ClusterSpec());
}

proto::ClusterDef Def(const std::string& text) {
  proto::ClusterDef def;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &def));
  return def;
}

std::string Complaint(const absl::Status& status) {
  EXPECT_EQ(CodeOf(status), Code::kUsage);
  return std::string(MessageOf(status));
}

// server_lib_test.py, ClusterSpecTest.testStringify
TEST(ClusterSpecTest, IsPrintedAsByPython) {
  EXPECT_EQ(ClusterSpec().ToString(), "ClusterSpec({})");
  EXPECT_EQ(Spec({{"job2", List{"job2.host1:1", "job2.host2:2"}}, {"job1", List{"job1.host1:3"}}}).ToString(),
            "ClusterSpec({'job1': ['job1.host1:3'], 'job2': ['job2.host1:1', 'job2.host2:2']})");
  EXPECT_EQ(Spec({{"b", Map{{1, "x"}, {3, "y"}}}, {"a", List{}}}).ToString(),
            "ClusterSpec({'a': {}, 'b': {1: 'x', 3: 'y'}})");
  EXPECT_EQ(Spec({{"it's", List{"x\\\""}}}).ToString(), R"(ClusterSpec({"it's": ['x\\"']}))");
}

// testBooleanEquality
TEST(ClusterSpecTest, EmptyIsWithoutJobs) {
  EXPECT_TRUE(ClusterSpec().empty());
  EXPECT_TRUE(Spec({}).empty());
  EXPECT_FALSE(Spec({{"worker", List{}}}).empty());
  EXPECT_FALSE(Spec({{"worker", List{"w:1"}}}).empty());
}

// testEq, testProtoDictDefEquivalences
TEST(ClusterSpecTest, ListMapAndProtoAreTheSame) {
  const ClusterSpec list = Spec({{"ps", List{"p0", "p1"}}, {"worker", List{"w0"}}});
  const ClusterSpec map = Spec({{"ps", Map{{1, "p1"}, {0, "p0"}}}, {"worker", Map{{0, "w0"}}}});
  const ClusterSpec def =
      *ClusterSpec::Create(Def("job { name: 'worker' tasks { key: 0 value: 'w0' } } "
                               "job { name: 'ps' tasks { key: 1 value: 'p1' } tasks { key: 0 value: 'p0' } }"));
  EXPECT_EQ(list, map);
  EXPECT_EQ(list, def);
  EXPECT_EQ(*ClusterSpec::Create(list.AsClusterDef()), list);
  EXPECT_FALSE(list == Spec({{"ps", List{"p0", "p1"}}}));
  EXPECT_FALSE(list == Spec({{"ps", List{"p0", "other"}}, {"worker", List{"w0"}}}));
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(list.AsClusterDef(), map.AsClusterDef()));
  EXPECT_THAT(list.jobs(), ElementsAre("ps", "worker"));
  EXPECT_THAT(def.jobs(), ElementsAre("worker", "ps")) << "in the order of the proto";
  EXPECT_EQ(def.AsClusterDef().job(0).name(), "worker");
}

// testClusterSpec, testClusterSpecAccessors
TEST(ClusterSpecTest, Accessors) {
  const ClusterSpec spec = Spec({{"dense", List{"d0", "d1"}}, {"sparse", Map{{1, "s1"}, {3, "s3"}}}, {"none", List{}}});
  EXPECT_EQ(*spec.num_tasks("dense"), 2);
  EXPECT_EQ(*spec.num_tasks("sparse"), 2);
  EXPECT_EQ(*spec.num_tasks("none"), 0);
  EXPECT_THAT(*spec.task_indices("sparse"), ElementsAre(1, 3));
  EXPECT_EQ(*spec.task_address("sparse", 3), "s3");
  EXPECT_THAT(*spec.job_tasks("dense"), ElementsAre("d0", "d1"));
  EXPECT_THAT(*spec.job_tasks("sparse"), ElementsAre(std::nullopt, "s1", std::nullopt, "s3"));
  EXPECT_TRUE(spec.job_tasks("none")->empty());
  EXPECT_EQ(spec.AsDict(),
            (ClusterSpec::Jobs{{"dense", List{"d0", "d1"}}, {"sparse", Map{{1, "s1"}, {3, "s3"}}}, {"none", Map{}}}));
}

TEST(ClusterSpecTest, WhatIsNotThereIsNamed) {
  const ClusterSpec spec = Spec({{"worker", List{"w0"}}});
  const std::string no_job = "No such job in cluster: 'ps'";
  EXPECT_EQ(Complaint(spec.num_tasks("ps").status()), no_job);
  EXPECT_EQ(Complaint(spec.task_indices("ps").status()), no_job);
  EXPECT_EQ(Complaint(spec.task_address("ps", 0).status()), no_job);
  EXPECT_EQ(Complaint(spec.job_tasks("ps").status()), no_job);
  EXPECT_EQ(Complaint(spec.task_address("worker", 2).status()), "No task with index 2 in job 'worker'");
}

TEST(ClusterSpecTest, IndicesBeyondAllClustersAreRefused) {
  EXPECT_THAT(Complaint(ClusterSpec::Create({{"ps", Map{{2147483647, "p"}}}}).status()),
              testing::HasSubstr("Task index 2147483647 of job 'ps' is larger than 999999"));
  EXPECT_TRUE(ClusterSpec::Create({{"ps", Map{{999999, "p"}}}}).ok());
}

TEST(ClusterSpecTest, NegativeIndicesAreRefused) {
  EXPECT_THAT(Complaint(ClusterSpec::Create({{"ps", Map{{-1, "p"}}}}).status()),
              testing::HasSubstr("Task index -1 of job 'ps' is negative"));
  EXPECT_EQ(CodeOf(ClusterSpec::Create(Def("job { name: 'a' tasks { key: -2 value: 'x' } }")).status()), Code::kUsage);
}

TEST(ClusterSpecTest, OfTwoJobsOfOneNameTheLaterCounts) {
  const ClusterSpec spec =
      *ClusterSpec::Create(Def("job { name: 'a' tasks { key: 0 value: 'old' } } job { name: 'b' } job { name: 'a' "
                               "tasks { key: 1 value: 'new' } }"));
  EXPECT_EQ(spec.ToString(), "ClusterSpec({'a': {1: 'new'}, 'b': {}})");
  EXPECT_THAT(spec.jobs(), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace vigil
