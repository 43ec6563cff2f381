#include "vigil/core/graph/device_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "vigil/core/base/code.h"

namespace vigil {
namespace {

// The canonical form, or the complaint.
std::string Canonical(std::string_view text) {
  const absl::StatusOr<DeviceSpec> spec = DeviceSpec::Parse(text);
  if (spec.ok()) return spec->ToString();
  EXPECT_EQ(CodeOf(spec.status()), Code::kUsage) << spec.status();
  return std::string(MessageOf(spec.status()));
}

struct Row {
  const char* text;
  const char* canonical;
};

// As TensorFlow 2.21 reads them.
constexpr Row kRows[] = {
    {"", ""},
    {"/job:a/replica:1/task:2/device:GPU:3", "/job:a/replica:1/task:2/device:GPU:3"},
    {"/device:GPU:3/task:2/job:a", "/job:a/task:2/device:GPU:3"},
    {"/job:a/gpu:1", "/job:a/device:GPU:1"},
    {"/Cpu:1", "/device:CPU:1"},
    {"/CPU:*", "/device:CPU:*"},
    {"/cpu", "/device:CPU:*"},
    {"/TPU:1", "/device:TPU:1"},
    {"/device:XPU:5", "/device:XPU:5"},
    {"/device:gpu:0", "/device:GPU:0"},
    {"/device:Gpu:0", "/device:Gpu:0"},
    {"job:a", "/job:a"},
    {"//job:a//", "/job:a"},
    {"/job:", "/job:"},
    {"/task:-1", "/task:-1"},
    {"/task:07", "/task:7"},
    {"/GPU:+1", "/device:GPU:1"},
    {"/task:1/task:2", "/task:2"},
    {"/job:a/job:b", "/job:b"},
    {"/:x", ""},
    {"/job:a:b", "Unknown attribute 'job' is encountered while parsing the device spec: '/job:a:b'."},
    {"/job", "Unknown attribute 'job' is encountered while parsing the device spec: '/job'."},
    {"/replica", "Unknown attribute 'replica' is encountered while parsing the device spec: '/replica'."},
    {"/task:1:2", "Unknown attribute 'task' is encountered while parsing the device spec: '/task:1:2'."},
    {"/device:GPU", "Unknown attribute 'device' is encountered while parsing the device spec: '/device:GPU'."},
    {"/TPU_SYSTEM:0", "Unknown attribute 'TPU_SYSTEM' is encountered while parsing the device spec: '/TPU_SYSTEM:0'."},
    {"/task:x", "invalid literal for int() with base 10: 'x'"},
    {"/task:", "invalid literal for int() with base 10: ''"},
    {"/task:+-1", "invalid literal for int() with base 10: '+-1'"},
    {"/GPU:", "invalid literal for int() with base 10: ''"},
    {"/gpu:0/cpu:0", "Multiple device types are not allowed while parsing the device spec: /gpu:0/cpu:0."},
    {"/device:GPU:0/gpu:0",
     "Multiple device types are not allowed while parsing the device spec: /device:GPU:0/gpu:0."},
};

TEST(DeviceSpecTest, IsReadAndPrintedAsByTensorFlow) {
  for (const Row& row : kRows) EXPECT_EQ(Canonical(row.text), row.canonical) << row.text;
}

TEST(DeviceSpecTest, MergingLetsTheInnerOneWin) {
  const DeviceSpec outer = *DeviceSpec::Parse("/job:ps/task:1/gpu:2");
  EXPECT_EQ(outer.MergedWith({}), outer);
  EXPECT_EQ(DeviceSpec().MergedWith(outer), outer);
  EXPECT_EQ(outer.MergedWith(*DeviceSpec::Parse("/job:worker/replica:4")).ToString(),
            "/job:worker/replica:4/task:1/device:GPU:2");
  EXPECT_EQ(outer.MergedWith(*DeviceSpec::Parse("/task:9/cpu:0")).ToString(), "/job:ps/task:9/device:CPU:0");
  // The index is a part of its own: one that says "any" leaves the outer one.
  EXPECT_EQ(outer.MergedWith(*DeviceSpec::Parse("/cpu:*")).ToString(), "/job:ps/task:1/device:CPU:2");
}

}  // namespace
}  // namespace vigil
