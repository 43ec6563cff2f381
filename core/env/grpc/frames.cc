#include "vigil/core/env/grpc/frames.h"

#include <fmt/format.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/cord.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/grpc/grpc_parts.h"
#include "vigil/core/io/crc32c.h"

namespace vigil {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are little-endian");

constexpr std::size_t kFrameBytes = std::size_t{1} << 20;
// What is smaller shares a piece with its neighbours.
constexpr std::size_t kOwnPieceBytes = std::size_t{1} << 18;

constexpr std::size_t kChecksumBytes = sizeof(std::uint32_t);
static_assert(kFrameHeadBytes == kChecksumBytes + sizeof(std::uint64_t));

using Head = std::array<char, kFrameHeadBytes>;

absl::Status NoFrame(std::string_view why) {
  return MakeStatus(Code::kInternal, fmt::format("A large message arrived in frames that are none: {}.", why));
}

std::uint32_t ChecksumOfHead(const Head& head) {
  return ExtendCrc32c(0, {head.data() + kChecksumBytes, head.size() - kChecksumBytes});
}

}  // namespace

FrameWriter::FrameWriter(absl::Cord bytes) : bytes_(std::move(bytes)) {
  VIGIL_CHECK(!bytes_.empty());
  std::size_t end = 0;
  ForEachPiece(bytes_, [&](std::string_view piece) {
    const bool own = piece.size() >= kOwnPieceBytes;
    if (own && end > 0 && (ends_.empty() || ends_.back() != end)) ends_.push_back(end);
    end += piece.size();
    if (own) ends_.push_back(end);
  });
  if (ends_.empty() || ends_.back() != end) ends_.push_back(end);
}

grpc::ByteBuffer FrameWriter::Next() {
  const std::size_t begin = piece_ == 0 ? 0 : ends_[piece_ - 1];
  const std::size_t end = ends_[piece_];
  const std::uint64_t piece = at_ == begin ? end - begin : 0;
  const absl::Cord contents = bytes_.Subcord(at_, std::min(end - at_, kFrameBytes));
  at_ += contents.size();
  if (at_ == end) ++piece_;

  Head head;
  std::memcpy(head.data() + kChecksumBytes, &piece, sizeof(piece));
  std::uint32_t checksum = ChecksumOfHead(head);
  ForEachPiece(contents, [&](std::string_view bytes) { checksum = ExtendCrc32c(checksum, bytes); });
  std::memcpy(head.data(), &checksum, sizeof(checksum));
  absl::Cord frame(absl::string_view(head.data(), head.size()));
  frame.Append(contents);
  return BytesToSend(frame);
}

absl::Status FrameReader::CheckNext(std::uint64_t piece, std::size_t size) const {
  if (size == 0) return NoFrame("one is empty");
  if (piece == 0) {
    if (piece_ == nullptr || size > piece_size_ - piece_read_) return NoFrame("one has more than its piece");
    return absl::OkStatus();
  }
  if (piece_ != nullptr) return NoFrame("a piece begins within another");
  if (piece > bytes_ - read_) return NoFrame("a piece is larger than the message");
  if (size > piece) return NoFrame("one has more than its piece");
  // Or a message of many bytes could take many times as much.
  const bool small = piece < kOwnPieceBytes;
  if (small && read_ > 0 && piece_size_ < kOwnPieceBytes) return NoFrame("two pieces that follow each other are small");
  return absl::OkStatus();
}

absl::Status FrameReader::Begin(std::size_t piece) {
  piece_ = memory_->Take(piece);
  if (piece_ == nullptr) {
    return MakeStatus(Code::kResourceExhausted, fmt::format("There is no memory for a message of {} bytes.", bytes_));
  }
  piece_size_ = piece;
  piece_read_ = 0;
  return absl::OkStatus();
}

absl::Status FrameReader::Add(const grpc::ByteBuffer& frame) {
  std::vector<grpc::Slice> slices;
  if (!frame.Valid() || !frame.Dump(&slices).ok()) return NoFrame("one cannot be unpacked");
  Head head = {};
  std::size_t head_read = 0;
  std::vector<std::string_view> contents;
  std::size_t size = 0;
  for (const grpc::Slice& slice : slices) {
    std::string_view bytes(reinterpret_cast<const char*>(slice.begin()), slice.size());
    const std::size_t of_head = std::min(bytes.size(), head.size() - head_read);
    std::memcpy(head.data() + head_read, bytes.data(), of_head);
    head_read += of_head;
    bytes.remove_prefix(of_head);
    size += bytes.size();
    if (!bytes.empty()) contents.push_back(bytes);
  }
  std::uint32_t told = 0;
  std::uint64_t piece = 0;
  std::memcpy(&told, head.data(), sizeof(told));
  std::memcpy(&piece, head.data() + kChecksumBytes, sizeof(piece));
  std::uint32_t checksum = ChecksumOfHead(head);
  const auto damaged = [this] {
    return MakeStatus(Code::kUnavailable,
                      fmt::format("A part of a message of {} bytes arrived with another checksum.", bytes_));
  };
  if (const absl::Status next = CheckNext(piece, size); !next.ok()) {
    for (const std::string_view bytes : contents) checksum = ExtendCrc32c(checksum, bytes);
    return checksum == told ? next : damaged();
  }
  if (piece != 0) VIGIL_RETURN_IF_ERROR(Begin(piece));
  for (const std::string_view bytes : contents) {
    checksum = ExtendCrc32c(checksum, bytes);
    std::memcpy(piece_.get() + piece_read_, bytes.data(), bytes.size());
    piece_read_ += bytes.size();
  }
  if (checksum != told) return damaged();
  read_ += size;
  if (piece_read_ == piece_size_) {
    const std::string_view all(piece_.get(), piece_size_);
    message_.Append(SharedCord(all, std::exchange(piece_, nullptr)));
  }
  return absl::OkStatus();
}

}  // namespace vigil
