// Scenarios, traces, tensors, names of devices: read, and what was read is looked at.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/base/cord.h"
#include "vigil/core/base/event.h"
#include "vigil/core/graph/device_spec.h"
#include "vigil/core/io/record_writer.h"
#include "vigil/core/io/trace.pb.h"
#include "vigil/core/io/trace_writer.h"
#include "vigil/core/tensor/tensor.pb.h"
#include "vigil/core/tensor/tensor_proto.h"
#include "vigil/core/tensor/tensor_wire.h"
#include "vigil/fuzz/targets.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/print.h"
#include "vigil/replays/traces/trace_file.h"

namespace vigil::fuzz {
namespace {

proto::TensorProto Message(const Tensor& tensor) {
  proto::TensorProto message;
  ToProto(tensor, &message);
  return message;
}

constexpr std::int64_t kMostCompared = 100'000;

// NaN equals itself here.
bool Same(const Tensor& a, const Tensor& b) { return Message(a).SerializeAsString() == Message(b).SerializeAsString(); }

}  // namespace

int FuzzScenario(Bytes bytes) {
  const absl::StatusOr<replays::Recording> read = replays::ParseRecording(TextOf(bytes));
  if (!read.ok()) return 0;
  // What is printed is read again.
  const std::string printed = replays::PrintRecord(read->scenario);
  VIGIL_CHECK(replays::ParseRecording(printed).ok());
  return 0;
}

int FuzzTrace(Bytes bytes) {
  replays::ParseTrace(TextOf(bytes), "fuzz.trace").IgnoreError();
  return 0;
}

int FuzzTensor(Bytes bytes) {
  proto::TensorProto message;
  const absl::StatusOr<Tensor> wire = ParseTensor(TextOf(bytes));
  for (const std::size_t at : {bytes.size() / 2, bytes.size() - std::min<std::size_t>(bytes.size(), 1)}) {
    absl::Cord pieces = SharedCord(TextOf(bytes).substr(0, at), 0);
    pieces.Append(SharedCord(TextOf(bytes).substr(at), 0));
    const absl::StatusOr<Tensor> cut = ParseTensorPieces(pieces);
    VIGIL_CHECK(cut.ok() == wire.ok() && (!cut.ok() || cut->shape() == wire->shape()));
  }
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return 0;
  const absl::StatusOr<Tensor> read = FromProto(message);
  VIGIL_CHECK(read.ok() == wire.ok());
  if (!read.ok()) return 0;
  VIGIL_CHECK(read->shape() == wire->shape());
  // What a few bytes filled (kMostFilledBytes) is read, but not written and read again: under a sanitizer that takes a
  // minute.
  if (read->num_elements() > kMostCompared) return 0;
  VIGIL_CHECK(Same(*read, *wire));
  std::string field;
  AppendTensorField(1, *read, &field);
  const absl::StatusOr<Tensor> again = ParseTensor(OnlyField(1, field));
  VIGIL_CHECK(again.ok() && Same(*again, *read));
  return 0;
}

int FuzzDevice(Bytes bytes) {
  const absl::StatusOr<DeviceSpec> spec = DeviceSpec::Parse(TextOf(bytes));
  if (!spec.ok()) return 0;
  const absl::StatusOr<DeviceSpec> again = DeviceSpec::Parse(spec->ToString());
  VIGIL_CHECK(again.ok() && again->ToString() == spec->ToString());
  return 0;
}

std::vector<std::string> ScenarioSeeds() {
  return {
      R"({"id":"two_hooks","title":"t","hooks":[{"hook":"probe","name":"a","plan":[{"method":"before_run","call":[1,2],"do":"options","options":{"trace_level":"full","timeout_in_ms":709000,"watches":["loss:0"]}}]},{"hook":"stop_at_step","last_step":3}],"drive":[{"op":"loop","max":3,"body":[{"op":"run"}]},{"op":"should_stop"}],"faults":[{"at":"run","call":[1,2],"code":"ABORTED"}]})",
      R"({"format":2,"id":"a","hooks":[{"hook":"probe","name":"a","plan":[{"method":"after_run","call":null,"do":"raise","code":"OUT_OF_RANGE"}]}],"drive":[{"op":"run"}]})",
  };
}

std::vector<std::string> TraceSeeds() {
  proto::TraceHeader header;
  header.set_magic(std::string(kTraceMagic));
  header.set_version(kTraceVersion);
  header.set_kind(proto::TraceHeader::MONITORED);
  header.set_is_chief(true);
  header.add_hooks()->set_name("a");
  std::string file;
  AppendRecord(header.SerializeAsString(), &file);
  for (std::uint32_t kind = 1; kind <= 40; ++kind) {
    proto::TraceEvent event;
    event.set_time_ns(kind * 1000);
    event.set_task(1);
    event.set_kind(kind);
    event.set_call(kind % 4);
    event.set_session(1);
    event.set_subject("a");
    AppendRecord(event.SerializeAsString(), &file);
  }
  proto::TraceEvent end;
  end.set_end(true);
  AppendRecord(end.SerializeAsString(), &file);
  return {file};
}

std::vector<std::string> TensorSeeds() {
  Tensor filled(DType::kFloat, Shape({3, 2}));
  std::vector<std::string> seeds;
  for (const Tensor& tensor :
       {Tensor::Scalar<float>(1.5F), Tensor::Scalar<std::int64_t>(-1), Tensor::Scalar<bool>(true), filled,
        Tensor::Vector<std::int64_t>({1, 2, 3}), Tensor::Vector<std::string>({"a", "bc"}),
        Tensor::Vector<std::int32_t>({1, 2}), Tensor(DType::kDouble, Shape({0, 4}))}) {
    seeds.push_back(Message(tensor).SerializeAsString());
  }
  proto::TensorProto list = Message(filled);
  list.clear_tensor_content();
  list.add_float_val(1);
  list.add_float_val(2);
  seeds.push_back(list.SerializeAsString());
  return seeds;
}

std::vector<std::string> DeviceSeeds() {
  return {"/job:worker/replica:0/task:3/device:CPU:0", "/task:1/gpu:*", "/job:ps/cpu:0"};
}

}  // namespace vigil::fuzz
