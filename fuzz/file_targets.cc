// What lies in a checkpoint's directory and in a log's: the state file, bundles, events files.
#include <map>
#include <string>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/io/bundle_index.h"
#include "vigil/core/io/event.pb.h"
#include "vigil/core/io/record_reader.h"
#include "vigil/core/io/record_writer.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/fuzz/fuzz_env.h"
#include "vigil/fuzz/mutate.h"
#include "vigil/fuzz/targets.h"

namespace vigil::fuzz {
namespace {

// Kinds of the parts of a bundle.
constexpr std::uint8_t kIndex = 0;  // without its checksum
constexpr std::uint8_t kData = 1;   // of the next shard

std::string WithChecksum(std::string index) {
  const std::uint64_t checksum = BundleChecksum(index);
  index.append(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  return index;
}

}  // namespace

int FuzzState(Bytes bytes) {
  FuzzEnv fuzz;
  const Env env = fuzz.env();
  VIGIL_CHECK(fuzz.files.MakeDirectory("/dir").ok());
  VIGIL_CHECK(WriteAtomically(fuzz.files, "/dir/checkpoint", std::string(TextOf(bytes))).ok());
  const absl::StatusOr<std::optional<CheckpointState>> state = GetCheckpointState(env, "/dir");
  LatestCheckpoint(env, "/dir").IgnoreError();
  if (!state.ok() || !state->has_value()) return 0;
  GetCheckpointMtimes(env, (*state)->all_model_checkpoint_paths).status().IgnoreError();
  if (UpdateCheckpointState(env, "/dir", **state).ok()) VIGIL_CHECK(GetCheckpointState(env, "/dir").ok());
  return 0;
}

int FuzzBundle(Bytes bytes) {
  FuzzEnv fuzz;
  std::string_view rest = TextOf(bytes);
  std::uint8_t kind = 0;
  std::string_view body;
  int shards = 0;
  constexpr int kShards = 2;
  while (TakePart(&rest, &kind, &body)) {
    if (kind == kIndex) {
      VIGIL_CHECK(WriteAtomically(fuzz.files, IndexFileName("/model"), WithChecksum(std::string(body))).ok());
    } else if (shards < kShards) {
      for (const int of : {1, kShards}) {
        VIGIL_CHECK(WriteAtomically(fuzz.files, DataFileName("/model", shards, of), std::string(body)).ok());
      }
      ++shards;
    }
  }
  VerifyBundle(fuzz.files, "/model").IgnoreError();
  absl::StatusOr<BundleReader> reader = BundleReader::Open(fuzz.files, "/model");
  if (!reader.ok()) return 0;
  for (const auto& [name, entry] : reader->entries()) reader->Read(name).IgnoreError();
  MergeBundles(fuzz.env(), {"/model"}, "/merged").IgnoreError();
  return 0;
}

int FuzzEvents(Bytes bytes) {
  RecordReader reader(TextOf(bytes));
  while (true) {
    const absl::StatusOr<std::optional<std::string_view>> record = reader.Next();
    VIGIL_CHECK(reader.offset() <= bytes.size());
    if (!record.ok() || !record->has_value()) return 0;
    proto::Event event;
    if (event.ParseFromArray((*record)->data(), static_cast<int>((*record)->size())))
      static_cast<void>(event.ByteSizeLong());
  }
}

std::vector<std::string> StateSeeds() {
  return {
      "model_checkpoint_path: \"model-3\"\nall_model_checkpoint_paths: \"model-2\"\nall_model_checkpoint_paths: "
      "\"model-3\"\nall_model_checkpoint_timestamps: 1.5\nall_model_checkpoint_timestamps: "
      "1000\nlast_preserved_timestamp: 0.25\n",
      "model_checkpoint_path: \"/elsewhere/model\"\n",
  };
}

std::vector<std::string> BundleSeeds() {
  FuzzEnv fuzz;
  const std::map<std::string, Tensor> tensors{{"w", Tensor::Vector<float>({1, 2, 3})},
                                              {"step", Tensor::Scalar<std::int64_t>(7)},
                                              {"names", Tensor::Vector<std::string>({"a", "", "ccc"})},
                                              {"none", Tensor(DType::kDouble, Shape({0, 3}))}};
  VIGIL_CHECK(WriteBundle(fuzz.env(), "/model", tensors).ok());
  const std::string index = *ReadAll(fuzz.files, IndexFileName("/model"));
  std::string seed;
  AppendPart(kIndex, index.substr(0, index.size() - sizeof(std::uint64_t)), &seed);
  AppendPart(kData, *ReadAll(fuzz.files, DataFileName("/model", 0, 1)), &seed);
  return {seed};
}

std::vector<std::string> EventsSeeds() {
  std::string file;
  for (int step = 0; step < 4; ++step) {
    proto::Event event;
    event.set_wall_time(1.5);
    event.set_step(step);
    if (step == 0) {
      event.set_file_version("brain.Event:2");
    } else {
      event.mutable_summary()->add_value()->set_tag("loss");
    }
    AppendRecord(event.SerializeAsString(), &file);
  }
  return {file};
}

}  // namespace vigil::fuzz
