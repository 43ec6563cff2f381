#include "vigil/core/io/tensor_bundle.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the files are little-endian; big-endian machines need swaps here");

constexpr std::string_view kMagic = "vigil-bundle-1\n";

absl::Status DataLoss(std::string_view what, const std::string& path) {
  return MakeStatus(Code::kDataLoss, fmt::format("{}: {}", path, what));
}

// Numbers and strings one after the other.
class Packer {
 public:
  void Number(std::uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value)); }
  void Text(std::string_view text) {
    Number(text.size());
    bytes_ += text;
  }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
  bool Number(std::uint64_t* value) {
    if (rest_.size() < sizeof(*value)) return false;
    std::memcpy(value, rest_.data(), sizeof(*value));
    rest_.remove_prefix(sizeof(*value));
    return true;
  }
  bool Text(std::string* text) {
    std::uint64_t size = 0;
    if (!Number(&size) || rest_.size() < size) return false;
    text->assign(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return true;
  }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// A string tensor's bytes; other tensors have theirs at hand.
std::string PackStrings(const Tensor& tensor) {
  Packer packer;
  for (const std::string& text : tensor.flat<std::string>()) packer.Text(text);
  return std::move(packer.bytes());
}

// Writes under a temporary name and renames.
class TemporaryFile {
 public:
  static absl::StatusOr<TemporaryFile> Open(const Env& env, const std::string& path) {
    TemporaryFile out;
    out.files_ = env.files;
    out.path_ = path;
    out.temporary_ = fmt::format("{}.tempstate{}", path, env.random->Draw("checkpoint/tempstate"));
    VIGIL_ASSIGN_OR_RETURN(out.file_, env.files->Open(out.temporary_, OpenMode::kTruncate));
    return out;
  }
  absl::Status Append(std::string_view bytes) { return file_->Append(bytes); }
  absl::Status Finish() {
    VIGIL_RETURN_IF_ERROR(file_->Close());
    return files_->Rename(temporary_, path_);
  }

 private:
  Files* files_ = nullptr;
  std::string path_;
  std::string temporary_;
  std::unique_ptr<File> file_;
};

}  // namespace

std::string IndexFileName(std::string_view prefix) { return fmt::format("{}.index", prefix); }

std::string DataFileName(std::string_view prefix, int shard, int shards) {
  return fmt::format("{}.data-{:05}-of-{:05}", prefix, shard, shards);
}

absl::Status WriteBundle(const Env& env, const std::string& prefix, const std::map<std::string, Tensor>& tensors) {
  VIGIL_ASSIGN_OR_RETURN(TemporaryFile data, TemporaryFile::Open(env, DataFileName(prefix, 0, 1)));
  Packer index;
  index.bytes() = kMagic;
  index.Number(tensors.size());
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::string packed = tensor.dtype() == DType::kString ? PackStrings(tensor) : std::string();
    const std::string_view bytes = tensor.dtype() == DType::kString ? std::string_view(packed) : tensor.bytes();
    VIGIL_RETURN_IF_ERROR(data.Append(bytes));
    index.Text(name);
    index.Number(static_cast<std::uint64_t>(tensor.dtype()));
    index.Number(tensor.shape().dims().size());
    for (const std::int64_t dim : tensor.shape().dims()) index.Number(static_cast<std::uint64_t>(dim));
    index.Number(offset);
    index.Number(bytes.size());
    index.Number(XXH64(bytes.data(), bytes.size(), 0));
    offset += bytes.size();
  }
  VIGIL_RETURN_IF_ERROR(data.Finish());
  index.Number(XXH64(index.bytes().data(), index.bytes().size(), 0));
  VIGIL_ASSIGN_OR_RETURN(TemporaryFile file, TemporaryFile::Open(env, IndexFileName(prefix)));
  VIGIL_RETURN_IF_ERROR(file.Append(index.bytes()));
  return file.Finish();
}

absl::StatusOr<BundleReader> BundleReader::Open(Files& files, const std::string& prefix) {
  const std::string path = IndexFileName(prefix);
  VIGIL_ASSIGN_OR_RETURN(const std::string bytes, ReadAll(files, path));
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + sizeof(std::uint64_t))
    return DataLoss("not a bundle's index", path);
  const std::size_t end = bytes.size() - sizeof(std::uint64_t);
  std::uint64_t number = 0;
  Unpacker(std::string_view(bytes).substr(end)).Number(&number);
  if (number != XXH64(bytes.data(), end, 0)) return DataLoss("the index does not match its checksum", path);

  BundleReader reader;
  reader.files_ = &files;
  reader.prefix_ = prefix;
  Unpacker in(std::string_view(bytes).substr(kMagic.size(), end - kMagic.size()));
  std::uint64_t count = 0;
  bool fine = in.Number(&count);
  for (std::uint64_t i = 0; fine && i < count; ++i) {
    std::string name;
    Entry entry;
    std::uint64_t dtype = 0;
    std::uint64_t rank = 0;
    fine = in.Text(&name) && in.Number(&dtype) && in.Number(&rank) && rank < 255;
    std::vector<std::int64_t> dims;
    for (std::uint64_t d = 0; fine && d < rank; ++d) {
      fine = in.Number(&number);
      dims.push_back(static_cast<std::int64_t>(number));
    }
    fine = fine && in.Number(&entry.offset) && in.Number(&entry.size) && in.Number(&entry.checksum);
    entry.dtype = static_cast<DType>(dtype);
    entry.shape = Shape(std::move(dims));
    reader.entries_.emplace(std::move(name), std::move(entry));
  }
  if (!fine || !in.done()) return DataLoss("the index is malformed", path);
  return reader;
}

absl::StatusOr<Tensor> BundleReader::Read(const std::string& key) {
  const auto it = entries_.find(key);
  if (it == entries_.end()) return MakeStatus(Code::kNotFound, fmt::format("Key {} not found in checkpoint", key));
  const Entry& entry = it->second;
  const std::string path = DataFileName(prefix_, 0, 1);
  if (data_ == nullptr) {
    VIGIL_ASSIGN_OR_RETURN(data_, files_->Open(path, OpenMode::kRead));
  }
  VIGIL_ASSIGN_OR_RETURN(const std::string bytes, data_->Read(entry.offset, entry.size));
  if (bytes.size() != entry.size) return DataLoss(fmt::format("the file ends before the value of {}", key), path);
  if (XXH64(bytes.data(), bytes.size(), 0) != entry.checksum) {
    return DataLoss(fmt::format("the value of {} does not match its checksum", key), path);
  }
  Tensor out(entry.dtype, entry.shape);
  bool fine = true;
  if (entry.dtype == DType::kString) {
    Unpacker in(bytes);
    for (std::string& text : out.mutable_flat<std::string>()) fine = fine && in.Text(&text);
    fine = fine && in.done();
  } else {
    fine = out.bytes().size() == bytes.size();
    if (fine && !bytes.empty()) std::memcpy(out.mutable_bytes().data(), bytes.data(), bytes.size());
  }
  if (!fine) return DataLoss(fmt::format("the value of {} does not have its size", key), path);
  return out;
}

}  // namespace vigil
