// What lies in a checkpoint's directory and in a log's: the state file, bundles, events files.
#include <xxhash.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/io/bundle_index.h"
#include "vigil/core/io/crc32c.h"
#include "vigil/core/io/event.pb.h"
#include "vigil/core/io/record_reader.h"
#include "vigil/core/io/record_writer.h"
#include "vigil/core/io/table_reader.h"
#include "vigil/core/io/table_writer.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/core/io/tensor_bundle.pb.h"
#include "vigil/core/io/tensor_slice.h"
#include "vigil/core/io/varint.h"
#include "vigil/fuzz/fuzz_env.h"
#include "vigil/fuzz/mutate.h"
#include "vigil/fuzz/targets.h"

namespace vigil::fuzz {
namespace {

// Kinds of the parts of a bundle. What guards them (checksums, the table around them) is made here: it would refuse
// everything.
constexpr std::uint8_t kEarlierIndex = 0;  // of an earlier version, without its checksum
constexpr std::uint8_t kData = 1;          // of the next shard
constexpr std::uint8_t kHeader = 2;        // BundleHeaderProto
constexpr std::uint8_t kEntry = 3;         // BundleEntryProto of the next variable
constexpr std::uint8_t kPiece = 4;         // ... of the next piece of that one
constexpr std::uint8_t kRawIndex = 5;      // a file as it is
constexpr std::uint8_t kBlock = 6;         // the one block of an index
constexpr std::uint8_t kFirstFormat = 7;   // SavedTensorSlices of the first format (V1)

std::string WithChecksum(std::string index) {
  AppendFixed(std::uint64_t{XXH64(index.data(), index.size(), 0)}, &index);
  return index;
}

// A table whose one block has those bytes.
std::string TableAround(std::string_view block) {
  std::string out;
  const auto append = [&out](std::string bytes) {
    std::string handle;
    AppendVarint64(out.size(), &handle);
    AppendVarint64(bytes.size(), &handle);
    bytes.push_back(0);
    AppendFixed(MaskCrc(Crc32c(bytes)), &bytes);
    out += bytes;
    return handle;
  };
  TableBlock index(1);
  index.Add("\xff", append(std::string(block)));
  std::string footer = append(TableBlock(1).Finish());
  footer += append(index.Finish());
  footer.resize(kTableFooterSize - sizeof(kTableMagic));
  AppendFixed(kTableMagic, &footer);
  return out + footer;
}

std::string TableOf(const std::map<std::string, std::string>& entries) {
  TableWriter table;
  for (const auto& [key, value] : entries) table.Add(key, value);
  return table.Finish();
}

// The files of a bundle, made of parts.
class BundleFiles {
 public:
  void Add(std::uint8_t kind, std::string_view body) {
    if (kind == kEarlierIndex) index_ = WithChecksum(std::string(body));
    if (kind == kRawIndex) index_ = body;
    if (kind == kBlock) index_ = TableAround(body);
    if (kind == kHeader) entries_.insert_or_assign("", std::string(body));
    if (kind == kEntry) AddEntry(body);
    if (kind == kPiece) AddPiece(body);
    if (kind == kFirstFormat) AddFirstFormat(body);
    if (kind == kData && data_.size() < 2) data_.emplace_back(body);
  }
  void Write(Files& files) const {
    if (!v1_.empty()) VIGIL_CHECK(WriteAtomically(files, "/model", TableOf(v1_)).ok());
    if (!entries_.empty() || !index_.empty()) {
      const std::string index = index_.empty() ? TableOf(entries_) : index_;
      VIGIL_CHECK(WriteAtomically(files, IndexFileName("/model"), index).ok());
    }
    for (std::size_t i = 0; i < data_.size(); ++i) {
      for (const int of : {1, 2}) {
        VIGIL_CHECK(WriteAtomically(files, DataFileName("/model", static_cast<int>(i), of), data_[i]).ok());
      }
    }
  }

 private:
  void AddEntry(std::string_view body) {
    variable_ = "variable_" + std::to_string(entries_.size());
    entries_.emplace(variable_, body);
    whole_.ParseFromArray(body.data(), static_cast<int>(body.size()));
    next_piece_ = 0;
  }
  void AddPiece(std::string_view body) {
    if (next_piece_ >= whole_.slices_size()) return;
    const std::optional<TensorSlice> slice = TensorSlice::FromProto(whole_.slices(next_piece_++));
    if (slice.has_value()) entries_.emplace(SliceKey(variable_, *slice), body);
  }
  void AddFirstFormat(std::string_view body) {
    proto::SavedTensorSlices saved;
    saved.ParseFromArray(body.data(), static_cast<int>(body.size()));
    const std::optional<TensorSlice> slice = TensorSlice::FromProto(saved.data().slice());
    if (v1_.empty()) {
      v1_.emplace("", body);
    } else if (slice.has_value()) {
      v1_.emplace(SliceKey(saved.data().name(), *slice), body);
    }
  }

  std::string index_;  // in the place of a table of `entries_`
  std::map<std::string, std::string> entries_;
  std::map<std::string, std::string> v1_;
  std::vector<std::string> data_;
  std::string variable_;
  proto::BundleEntryProto whole_;
  int next_piece_ = 0;
};

// Of one variable "v" of eight bits, without the checksum.
std::string EarlierIndexSeed() {
  std::string out = "vigil-bundle-2\n";
  const auto number = [&out](std::uint64_t value) { AppendFixed(value, &out); };
  number(1);  // shard
  number(1);  // entry
  number(1);
  out += 'v';
  number(static_cast<std::uint64_t>(DType::kUint8));
  for (const std::uint64_t each : {0, 0, 0, 1}) number(each);  // rank, shard, offset, size
  number(XXH64("\x07", 1, 0));
  return out;
}

// The parts of what stands under "/model".
std::string PartsOf(Files& files) {
  const std::string index = *ReadAll(files, IndexFileName("/model"));
  const auto read = [&index](std::uint64_t offset, std::uint64_t size) -> absl::StatusOr<std::string> {
    return index.substr(offset, size);
  };
  std::map<std::string, std::string> entries;
  const absl::StatusOr<TableReader> table = TableReader::Open(read, index.size(), "/model");
  VIGIL_CHECK(table
                  ->ForEach([&](std::string_view key, std::string_view value) {
                    entries.emplace(key, value);
                    return absl::OkStatus();
                  })
                  .ok());
  std::string seed;
  for (const auto& [key, value] : entries) {
    if (key.starts_with('\0')) continue;
    AppendPart(key.empty() ? kHeader : kEntry, value, &seed);
    proto::BundleEntryProto entry;
    if (key.empty() || !entry.ParseFromString(value)) continue;
    for (const proto::TensorSliceProto& slice : entry.slices()) {
      AppendPart(kPiece, entries.at(SliceKey(key, *TensorSlice::FromProto(slice))), &seed);
    }
  }
  AppendPart(kData, *ReadAll(files, DataFileName("/model", 0, 1)), &seed);
  return seed;
}

std::string FirstFormatSeed() {
  const TensorSlice all = TensorSlice::Whole(1);
  proto::SavedTensorSlices meta;
  proto::SavedTensorSlices value;
  proto::SavedSliceMeta& tensor = *meta.mutable_meta()->add_tensor();
  tensor.set_name("v");
  tensor.set_type(proto::DT_FLOAT);
  tensor.mutable_shape()->add_dim()->set_size(2);
  all.ToProto(tensor.add_slice());
  value.mutable_data()->set_name("v");
  all.ToProto(value.mutable_data()->mutable_slice());
  value.mutable_data()->mutable_data()->set_dtype(proto::DT_FLOAT);
  value.mutable_data()->mutable_data()->add_float_val(1);
  value.mutable_data()->mutable_data()->add_float_val(2);
  std::string seed;
  AppendPart(kFirstFormat, meta.SerializeAsString(), &seed);
  AppendPart(kFirstFormat, value.SerializeAsString(), &seed);
  return seed;
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
  BundleFiles made;
  while (TakePart(&rest, &kind, &body)) made.Add(kind, body);
  made.Write(fuzz.files);
  VerifyBundle(fuzz.files, "/model").IgnoreError();
  absl::StatusOr<BundleReader> reader = BundleReader::Open(fuzz.files, "/model");
  if (!reader.ok()) return 0;
  const std::map<std::string, BundleEntry, std::less<>> entries = reader->entries();
  for (const auto& [name, entry] : entries) {
    reader->Read(name).IgnoreError();
    if (entry.slices.empty()) continue;
    const absl::StatusOr<Shape> shape = entry.slices[0].ShapeIn(entry.shape);
    if (shape.ok()) reader->Read(name, {entry.shape, entry.slices[0], *shape}).IgnoreError();
  }
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
  std::string raw;
  AppendPart(kRawIndex, index, &raw);
  std::string block;
  const std::size_t footer = index.size() - kTableFooterSize;
  std::string_view handle = std::string_view(index).substr(footer);
  std::uint64_t end = 0;  // of the first block, which the (empty) one after it begins at
  VIGIL_CHECK(TakeVarint64(&handle, &end));
  AppendPart(kBlock, index.substr(0, end - kTableTrailerSize), &block);
  const std::string whole = PartsOf(fuzz.files);
  FuzzEnv other;
  const auto piece = [](const char* slice, Tensor value) {
    return BundleItem{.name = "v", .value = std::move(value), .piece = *ParseShapeAndSlice(slice)};
  };
  VIGIL_CHECK(
      WriteBundleItems(other.env(), "/model",
                       {piece("4 0,1", Tensor::Vector<float>({1})), piece("4 1,3", Tensor::Vector<float>({2, 3, 4}))})
          .ok());
  std::string earlier;
  AppendPart(kEarlierIndex, EarlierIndexSeed(), &earlier);
  AppendPart(kData, "\x07", &earlier);
  return {whole, PartsOf(other.files), raw, block, FirstFormatSeed(), earlier};
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
