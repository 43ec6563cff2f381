#include "vigil/core/cluster/wire.h"

#include <google/protobuf/message_lite.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/cord.h"
#include "vigil/core/cluster/master.pb.h"
#include "vigil/core/cluster/worker.pb.h"
#include "vigil/core/tensor/tensor_proto.h"

namespace vigil {
namespace {

TEST(WireTest, WhatANodeDidComesAsItWas) {
  const NodeStats stats{.node_name = "sum",
                        .op = "AddV2",
                        .inputs = {"a", "b:1", "^c"},
                        .device = "/job:ps/replica:0/task:0/device:CPU:0",
                        .start_ns = 7,
                        .end_ns = 9,
                        .output_bytes = 4};
  proto::NodeStatsProto sent;
  ToProto(stats, &sent);
  const NodeStats got = FromProto(sent);
  EXPECT_EQ(got.node_name, stats.node_name);
  EXPECT_EQ(got.op, stats.op);
  EXPECT_EQ(got.inputs, stats.inputs);
  EXPECT_EQ(got.device, stats.device);
  EXPECT_EQ(got.start_ns, stats.start_ns);
  EXPECT_EQ(got.end_ns, stats.end_ns);
  EXPECT_EQ(got.output_bytes, stats.output_bytes);
}

TEST(WireTest, AnErrorThatIsNoTextComesAllTheSame) {
  const std::string euro = "\xE2\x82\xAC";
  const std::string smile = "\xF0\x9F\x98\x80";
  absl::Status status = absl::InvalidArgumentError("a\xFF" + euro + "\xC0\xAF" + smile + "\xED\xA0\x80\xE2\x82");
  status.SetPayload("url\xFE", absl::Cord("\xFF"));
  proto::RunStepResponse sent;
  PutStatus(status, &sent);
  proto::RunStepResponse got;
  ASSERT_TRUE(got.ParseFromString(sent.SerializeAsString()));
  const absl::Status read = GetStatusOf(got);
  EXPECT_EQ(CodeOf(read), Code::kInvalidArgument);
  EXPECT_EQ(read.message(), "a?" + euro + "??" + smile + "?????");
  EXPECT_EQ(read.GetPayload("url?"), absl::Cord("\xFF"));
}

// TensorFlow's numbers of fields that the message does not have.
proto::ConfigProto ConfigWith(int number, std::uint64_t value) {
  proto::ConfigProto config;
  config.add_device_filters("/job:ps");
  config.GetReflection()->MutableUnknownFields(&config)->AddVarint(number, value);
  return config;
}

std::string Refused(const proto::ConfigProto& config) { return FromProto(config).status().ToString(); }

TEST(WireTest, WhatCannotBeObeyedOfAConfigIsRefusedByName) {
  EXPECT_EQ(Refused(ConfigWith(8, 1)),
            "UNIMPLEMENTED: ConfigProto.log_device_placement cannot be obeyed here: leave it out.");
  EXPECT_EQ(Refused(ConfigWith(15, 1)),
            "UNIMPLEMENTED: ConfigProto.isolate_session_state cannot be obeyed here: leave it out.");
  EXPECT_EQ(Refused(ConfigWith(99, 1)), "UNIMPLEMENTED: ConfigProto.field 99 cannot be obeyed here: leave it out.");
  const auto with = [](int number, const std::string& message) {
    proto::ConfigProto config;
    config.GetReflection()->MutableUnknownFields(&config)->AddLengthDelimited(number, message);
    return config;
  };
  EXPECT_EQ(Refused(with(10, "\x10\x01")), "OK") << "enable_recv_scheduling";
  EXPECT_EQ(Refused(with(10, "\x28\x01")),
            "UNIMPLEMENTED: ConfigProto.graph_options.infer_shapes cannot be obeyed here: leave it out.");
  EXPECT_EQ(Refused(with(10, "\x52\x02\x18\x01")),
            "UNIMPLEMENTED: ConfigProto.graph_options.rewrite_options.field 3 cannot be obeyed here: leave it out.");
  EXPECT_EQ(Refused(with(16, "\x38\x01")),
            "UNIMPLEMENTED: ConfigProto.experimental.collective_nccl cannot be obeyed here: leave it out.");
  EXPECT_EQ(Refused(with(10, "no message")),
            "UNIMPLEMENTED: ConfigProto.graph_options cannot be obeyed here: leave it out.");
}

// What TensorFlow 2.21's client was seen to send where its user has said nothing.
TEST(WireTest, TheConfigOfTensorFlowsClientIsTaken) {
  proto::ConfigProto config;
  google::protobuf::UnknownFieldSet& others = *config.GetReflection()->MutableUnknownFields(&config);
  others.AddLengthDelimited(1, std::string("\n\x03GPU\x10\x00", 7));  // device_count
  others.AddLengthDelimited(1,
                            "\n\x03"
                            "CPU\x10\x01");
  others.AddLengthDelimited(6, std::string("\x4a\x00", 2));   // gpu_options { experimental {} }
  others.AddLengthDelimited(16, "\xc0\x01\x01");              // experimental { disable_optimize_for_static_graph }
  others.AddLengthDelimited(18, std::string("\x1a\x00", 2));  // pluggable_device_options { experimental {} }
  EXPECT_EQ(Refused(config), "OK");
}

TEST(WireTest, SoAreRunOptions) {
  proto::RunOptionsProto options;
  options.set_timeout_in_ms(7);
  google::protobuf::UnknownFieldSet& others = *options.GetReflection()->MutableUnknownFields(&options);
  others.AddVarint(3, 1);
  EXPECT_EQ(FromProto(options)->timeout_in_ms, 7);
  others.AddVarint(5, 1);
  EXPECT_EQ(FromProto(options).status().ToString(),
            "UNIMPLEMENTED: RunOptions.output_partition_graphs cannot be obeyed here: leave it out.");
}

// Only says how large it is.
class HugeMessage final : public google::protobuf::MessageLite {
 public:
  std::string GetTypeName() const override { return "huge"; }
  MessageLite* New(google::protobuf::Arena*) const override { return nullptr; }
  void Clear() override {}
  bool IsInitialized() const override { return true; }
  void CheckTypeAndMergeFrom(const MessageLite&) override {}
  std::size_t ByteSizeLong() const override { return std::size_t{1} << 31; }
  int GetCachedSize() const override { return 0; }
  std::uint8_t* _InternalSerialize(std::uint8_t* target, google::protobuf::io::EpsCopyOutputStream*) const override {
    return target;
  }
};

TEST(WireTest, AMessageThatCannotBeWrittenIsAnErrorAndNotEmpty) {
  EXPECT_EQ(
      Serialize("/s/M", HugeMessage()).status().ToString(),
      "RESOURCE_EXHAUSTED: A message of /s/M has 2147483648 bytes, the most is 2147483647: send a large tensor in "
      "parts.");
  proto::RunStepRequest request;
  request.set_session_handle("here");
  EXPECT_EQ(*Serialize("/s/M", request), request.SerializeAsString());
}

TEST(WireTest, WhatMakesNoDifferenceOfAConfigIsTaken) {
  for (const auto& [number, value] : {std::pair(2, 4), {3, 7}, {7, 1}, {8, 0}, {9, 1}, {1900, 5}}) {
    const auto config = FromProto(ConfigWith(number, static_cast<std::uint64_t>(value)));
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->device_filters, std::vector<std::string>{"/job:ps"});
  }
}

// As it comes from the network, in pieces; small and large, and with what else the message has.
TEST(WireTest, TensorsAreReadOutOfPiecesAsTheMessageHasThem) {
  for (const std::int64_t elements : {3, 50'000}) {
    proto::RunStepRequest request;
    request.set_session_handle("session");
    for (const char* const name : {"x:0", "y:0"}) {
      proto::NamedTensorProto& feed = *request.add_feed();
      feed.set_name(name);
      ToProto(Tensor(DType::kFloat, Shape({elements, name[0] == 'x' ? 1 : 2})), feed.mutable_tensor());
    }
    request.add_fetch("z:0");
    request.set_request_id(7);
    const auto bytes = std::make_shared<std::string>(request.SerializeAsString());
    const auto cut = [&bytes](std::size_t size, std::size_t piece) {
      absl::Cord out;
      for (std::size_t at = 0; at < size; at += piece) {
        out.Append(SharedCord(std::string_view(*bytes).substr(at, std::min(piece, size - at)), bytes));
      }
      return out;
    };
    const auto parse = [](const absl::Cord& body, proto::RunStepRequest* message, std::vector<Tensor>* tensors) {
      return ParseWithTensors(body, proto::RunStepRequest::kFeedFieldNumber, &proto::RunStepRequest::mutable_feed,
                              message, tensors);
    };
    for (const std::size_t piece : {1u, 10u, 4096u, 1u << 20}) {
      proto::RunStepRequest whole;
      ASSERT_TRUE(ParseBody(cut(bytes->size(), piece), &whole));
      EXPECT_EQ(whole.SerializeAsString(), *bytes);
      proto::RunStepRequest read;
      std::vector<Tensor> tensors;
      ASSERT_TRUE(parse(cut(bytes->size(), piece), &read, &tensors).ok()) << piece;
      ASSERT_EQ(tensors.size(), 2u);
      EXPECT_EQ(tensors[0], Tensor(DType::kFloat, Shape({elements, 1})));
      EXPECT_EQ(tensors[1], Tensor(DType::kFloat, Shape({elements, 2})));
      EXPECT_EQ(read.feed(1).name(), "y:0");
      EXPECT_EQ(read.fetch(0), "z:0");
      EXPECT_EQ(read.request_id(), 7);
    }
    // Cut off anywhere near its ends.
    for (const std::size_t size : {bytes->size() - 1, bytes->size() - 5, bytes->size() - 20, std::size_t{15}}) {
      proto::RunStepRequest message;
      std::vector<Tensor> tensors;
      const bool is_message = message.ParseFromString(bytes->substr(0, size));
      EXPECT_EQ(parse(cut(size, 4096), &message, &tensors).ok(), is_message) << size;
    }
  }
}

}  // namespace
}  // namespace vigil
