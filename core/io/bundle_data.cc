#include "vigil/core/io/bundle_data.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/crc32c.h"
#include "vigil/core/io/earlier_bundle.h"
#include "vigil/core/io/varint.h"
#include "vigil/core/tensor/types.pb.h"

namespace vigil {
namespace {

// A length as checksums take it: in 64 bits only where 32 are too few.
std::uint32_t ExtendByLength(std::uint32_t crc, std::uint64_t length) {
  std::string bytes;
  if (length <= UINT32_MAX) {
    AppendFixed(static_cast<std::uint32_t>(length), &bytes);
  } else {
    AppendFixed(length, &bytes);
  }
  return ExtendCrc32c(crc, bytes);
}

// What was computed when the bytes were written: either format's.
class RunningChecksum {
 public:
  explicit RunningChecksum(BundleFormat format) {
    if (format != BundleFormat::kEarlier) return;
    xxh_.reset(XXH64_createState());
    XXH64_reset(xxh_.get(), 0);
  }
  void Add(std::string_view bytes) {
    if (xxh_ != nullptr) {
      XXH64_update(xxh_.get(), bytes.data(), bytes.size());
    } else {
      crc_ = ExtendCrc32c(crc_, bytes);
    }
  }
  std::uint64_t value() const { return xxh_ != nullptr ? XXH64_digest(xxh_.get()) : crc_; }

 private:
  struct Free {
    void operator()(XXH64_state_t* state) const { XXH64_freeState(state); }
  };
  std::unique_ptr<XXH64_state_t, Free> xxh_;
  std::uint32_t crc_ = 0;
};

class ElementsReader {
 public:
  ElementsReader(File& file, const BundleEntry& entry, const BundlePlace& place)
      : file_(file), entry_(entry), place_(place) {}

  // The last byte is there; so are those before it.
  absl::Status CheckIsThere() {
    if (entry_.size == 0) return absl::OkStatus();
    char last = 0;
    VIGIL_ASSIGN_OR_RETURN(const std::size_t got, file_.ReadInto(entry_.offset + entry_.size - 1, {&last, 1}));
    return got == 1 ? absl::OkStatus() : Ends();
  }

  absl::StatusOr<Tensor> Numbers() {
    VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(entry_.dtype, entry_.shape.dims()));
    const std::span<char> bytes = out.mutable_bytes();
    RunningChecksum checksum(place_.format);
    for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes) {
      const std::span<char> piece = bytes.subspan(at, std::min(kPieceBytes, bytes.size() - at));
      VIGIL_ASSIGN_OR_RETURN(const std::size_t got, file_.ReadInto(entry_.offset + at, piece));
      if (got != piece.size()) return Ends();
      checksum.Add({piece.data(), piece.size()});
    }
    if (checksum.value() != entry_.checksum) return WrongChecksum();
    // Any other byte would be no bool.
    if (entry_.dtype == DType::kBool) std::ranges::for_each(bytes, [](char& c) { c = c != 0 ? 1 : 0; });
    return out;
  }

  // Of any type: only the checksum.
  absl::Status Raw() {
    RunningChecksum checksum(place_.format);
    while (used_ < entry_.size) {
      VIGIL_RETURN_IF_ERROR(Fill());
      checksum.Add(rest_);
      rest_ = {};
    }
    return checksum.value() == entry_.checksum ? absl::OkStatus() : WrongChecksum();
  }

  // `out` may be null: then the strings are only checked.
  absl::Status Strings(Tensor* out) {
    if (place_.format == BundleFormat::kEarlier) return out == nullptr ? Raw() : EarlierStrings(out);
    const std::int64_t count = entry_.shape.num_elements();
    if (entry_.size == 0) return entry_.checksum == 0 ? absl::OkStatus() : WrongChecksum();
    std::uint32_t crc = 0;
    std::uint64_t texts = 0;
    std::string* const elements = out == nullptr ? nullptr : out->mutable_flat<std::string>().data();
    for (std::int64_t i = 0; i < count; ++i) {
      std::uint64_t length = 0;
      VIGIL_RETURN_IF_ERROR(Length(&length));
      if (length > entry_.size - texts) return Malformed();
      texts += length;
      crc = ExtendByLength(crc, length);
      if (elements != nullptr) elements[i].resize(length);
    }
    std::string stored(sizeof(std::uint32_t), '\0');
    VIGIL_RETURN_IF_ERROR(Take(stored));
    if (UnmaskCrc(FixedAt<std::uint32_t>(stored)) != crc) return WrongChecksum();
    crc = ExtendCrc32c(crc, stored);
    if (texts != left()) return Malformed();
    for (std::int64_t i = 0; i < count && elements != nullptr; ++i) {
      VIGIL_RETURN_IF_ERROR(Take(elements[i]));
      crc = ExtendCrc32c(crc, elements[i]);
    }
    while (left() > 0) {
      if (rest_.empty()) VIGIL_RETURN_IF_ERROR(Fill());
      crc = ExtendCrc32c(crc, rest_);
      rest_ = {};
    }
    return crc == entry_.checksum ? absl::OkStatus() : WrongChecksum();
  }

 private:
  absl::Status EarlierStrings(Tensor* out) {
    std::string bytes(entry_.size, '\0');
    VIGIL_RETURN_IF_ERROR(Take(bytes));
    RunningChecksum checksum(place_.format);
    checksum.Add(bytes);
    if (checksum.value() != entry_.checksum) return WrongChecksum();
    return UnpackEarlierStrings(bytes, out) ? absl::OkStatus() : Malformed();
  }

  // Bytes of the entry that were not taken yet.
  std::uint64_t left() const { return entry_.size - used_ + rest_.size(); }

  // The next piece of the file into `rest_`. REQUIRES: `rest_` is empty, and the entry has more.
  absl::Status Fill() {
    buffer_.resize(std::min<std::uint64_t>(kPieceBytes, entry_.size - used_));
    VIGIL_ASSIGN_OR_RETURN(const std::size_t got, file_.ReadInto(entry_.offset + used_, buffer_));
    if (got != buffer_.size()) return Ends();
    used_ += got;
    rest_ = buffer_;
    return absl::OkStatus();
  }

  absl::Status Take(std::span<char> out) {
    if (out.size() > left()) return Malformed();
    while (!out.empty()) {
      if (rest_.empty()) VIGIL_RETURN_IF_ERROR(Fill());
      const std::size_t size = std::min(out.size(), rest_.size());
      std::copy_n(rest_.begin(), size, out.begin());
      rest_.remove_prefix(size);
      out = out.subspan(size);
    }
    return absl::OkStatus();
  }

  absl::Status Length(std::uint64_t* length) {
    std::string bytes;
    do {
      char byte = 0;
      VIGIL_RETURN_IF_ERROR(Take({&byte, 1}));
      bytes.push_back(byte);
    } while ((bytes.back() & 0x80) != 0 && bytes.size() < 10);
    std::string_view from = bytes;
    return TakeVarint64(&from, length) ? absl::OkStatus() : Malformed();
  }

  absl::Status Wrong(std::string_view what) const {
    return DataLoss(
        fmt::format("the value of {} ({} bytes from offset {}) {}", place_.key, entry_.size, entry_.offset, what),
        place_.path);
  }
  absl::Status Ends() const {
    return DataLoss(fmt::format("the file ends before the value of {} ({} bytes from offset {})", place_.key,
                                entry_.size, entry_.offset),
                    place_.path);
  }
  absl::Status WrongChecksum() const { return Wrong("does not match its checksum"); }
  absl::Status Malformed() const { return Wrong("does not have its size"); }

  File& file_;
  const BundleEntry& entry_;
  const BundlePlace& place_;
  std::string buffer_;
  std::string_view rest_;   // of the buffer, what was not taken
  std::uint64_t used_ = 0;  // of the entry, what was read into the buffer
};

}  // namespace

absl::StatusOr<BundleEntry> BundleDataWriter::Add(const Tensor& tensor) {
  BundleEntry entry{.dtype = tensor.dtype(), .shape = tensor.shape(), .offset = size_};
  if (tensor.dtype() == DType::kString) {
    VIGIL_RETURN_IF_ERROR(AddStrings(tensor, &entry));
  } else {
    // Summed up right before it is written: then it is in the processor's cache.
    std::uint32_t crc = 0;
    for (std::string_view rest = tensor.bytes(); !rest.empty();) {
      const std::string_view piece = rest.substr(0, kPieceBytes);
      rest.remove_prefix(piece.size());
      crc = ExtendCrc32c(crc, piece);
      VIGIL_RETURN_IF_ERROR(Append(piece));
    }
    entry.checksum = crc;
  }
  entry.size = size_ - entry.offset;
  return entry;
}

absl::Status BundleDataWriter::AddStrings(const Tensor& tensor, BundleEntry* entry) {
  const std::span<const std::string> elements = tensor.flat<std::string>();
  std::uint32_t crc = 0;
  std::string bytes;
  for (const std::string& text : elements) {
    bytes.clear();
    AppendVarint64(text.size(), &bytes);
    crc = ExtendByLength(crc, text.size());
    VIGIL_RETURN_IF_ERROR(Append(bytes));
  }
  bytes.clear();
  AppendFixed(MaskCrc(crc), &bytes);
  crc = ExtendCrc32c(crc, bytes);
  VIGIL_RETURN_IF_ERROR(Append(bytes));
  for (const std::string& text : elements) {
    crc = ExtendCrc32c(crc, text);
    VIGIL_RETURN_IF_ERROR(Append(text));
  }
  entry->checksum = crc;
  return absl::OkStatus();
}

absl::Status BundleDataWriter::Append(std::string_view bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() < kPieceBytes) {
    buffer_ += bytes;
    return absl::OkStatus();
  }
  VIGIL_RETURN_IF_ERROR(Flush());
  if (bytes.size() >= kPieceBytes) return file_.Append(bytes);
  buffer_ += bytes;
  return absl::OkStatus();
}

absl::Status BundleDataWriter::Flush() {
  if (buffer_.empty()) return absl::OkStatus();
  const absl::Status written = file_.Append(buffer_);
  buffer_.clear();
  return written;
}

absl::StatusOr<Tensor> ReadElements(File& file, const BundleEntry& entry, const BundlePlace& place) {
  ElementsReader reader(file, entry, place);
  const bool strings = entry.dtype == DType::kString;
  if (!strings && DTypeSize(entry.dtype) == 0) {
    return MakeStatus(Code::kUnimplemented, fmt::format("{}: the value of {}: there are no tensors of type {} here",
                                                        place.path, place.key, TypeText(entry.dtype)));
  }
  // Memory is taken for what is there; a little is taken at once.
  if (entry.size > kPieceBytes) VIGIL_RETURN_IF_ERROR(reader.CheckIsThere());
  if (!strings) return reader.Numbers();
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(entry.dtype, entry.shape.dims()));
  VIGIL_RETURN_IF_ERROR(reader.Strings(&out));
  return out;
}

absl::Status VerifyElements(File& file, const BundleEntry& entry, const BundlePlace& place) {
  ElementsReader reader(file, entry, place);
  VIGIL_RETURN_IF_ERROR(reader.CheckIsThere());
  if (entry.dtype == DType::kString) return reader.Strings(nullptr);
  // The checksum of a variant is of more than its bytes.
  return entry.dtype == static_cast<DType>(proto::DT_VARIANT) ? absl::OkStatus() : reader.Raw();
}

absl::Status CheckElementsAreThere(File& file, const BundleEntry& entry, const BundlePlace& place) {
  return ElementsReader(file, entry, place).CheckIsThere();
}

}  // namespace vigil
