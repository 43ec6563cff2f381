#include "vigil/replays/traces/stream.h"

#include <lzma.h>

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/replays/format/json.h"

namespace vigil::replays {
namespace {

constexpr std::uint64_t kChunkBytes = 256 << 10;

class XzUnpacker {
 public:
  explicit XzUnpacker(ChunkSource packed) : packed_(std::move(packed)) {
    const lzma_ret ret = lzma_stream_decoder(&stream_, kUnpackMemory, LZMA_CONCATENATED | LZMA_TELL_UNSUPPORTED_CHECK);
    VIGIL_CHECK(ret == LZMA_OK);
  }
  ~XzUnpacker() { lzma_end(&stream_); }
  XzUnpacker(const XzUnpacker&) = delete;
  XzUnpacker& operator=(const XzUnpacker&) = delete;

  absl::StatusOr<std::string> Next() {
    std::string out(kChunkBytes, '\0');
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    while (!ended_ && stream_.avail_out > 0) {
      if (stream_.avail_in == 0 && !packed_ended_) VIGIL_RETURN_IF_ERROR(Refill());
      const lzma_ret ret = lzma_code(&stream_, packed_ended_ ? LZMA_FINISH : LZMA_RUN);
      if (ret == LZMA_STREAM_END) {
        ended_ = true;
      } else if (ret != LZMA_OK) {
        // What came out before the damage is handed out first.
        ended_ = true;
        error_ = ErrorOf(ret);
      }
    }
    out.resize(out.size() - stream_.avail_out);
    if (out.empty() && !error_.ok()) return error_;
    return out;
  }

 private:
  absl::Status Refill() {
    VIGIL_ASSIGN_OR_RETURN(input_, packed_());
    packed_ended_ = input_.empty();
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(input_.data());
    stream_.avail_in = input_.size();
    return absl::OkStatus();
  }

  static absl::Status ErrorOf(lzma_ret ret) {
    switch (ret) {
      case LZMA_FORMAT_ERROR:
        return MakeStatus(Code::kInvalidArgument, "no .xz file, in spite of its name");
      case LZMA_MEMLIMIT_ERROR:
        return MakeStatus(Code::kResourceExhausted,
                          fmt::format("needs more than {} MiB to unpack", kUnpackMemory >> 20));
      case LZMA_MEM_ERROR:
        return MakeStatus(Code::kResourceExhausted, "no memory left to unpack it");
      case LZMA_BUF_ERROR:
        return MakeStatus(Code::kDataLoss, "cut short: the .xz data have no end");
      case LZMA_OPTIONS_ERROR:
      case LZMA_UNSUPPORTED_CHECK:
        return MakeStatus(Code::kUnimplemented, "uses a feature of .xz that liblzma does not know here");
      default:
        return MakeStatus(Code::kDataLoss, "damaged: the .xz data are not valid, from an unknown place on");
    }
  }

  ChunkSource packed_;
  std::string input_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool packed_ended_ = false;
  bool ended_ = false;
  absl::Status error_;
};

}  // namespace

ChunkSource FileChunks(std::unique_ptr<File> file) {
  return [file = std::shared_ptr<File>(std::move(file)),
          offset = std::uint64_t{0}]() mutable -> absl::StatusOr<std::string> {
    VIGIL_ASSIGN_OR_RETURN(std::string chunk, file->Read(offset, kChunkBytes));
    offset += chunk.size();
    return chunk;
  };
}

ChunkSource RefusePacked(ChunkSource source) {
  return [source = std::move(source), first = true]() mutable -> absl::StatusOr<std::string> {
    constexpr std::string_view kXzMagic("\3757zXZ\0", 6);
    VIGIL_ASSIGN_OR_RETURN(std::string chunk, source());
    if (std::exchange(first, false) && chunk.starts_with(kXzMagic)) {
      return MakeStatus(Code::kInvalidArgument, "these are .xz data: name the file .xz, or unpack it with xzcat");
    }
    return chunk;
  };
}

ChunkSource UnpackXz(ChunkSource packed) {
  return [unpacker = std::make_shared<XzUnpacker>(std::move(packed))] { return unpacker->Next(); };
}

absl::Status CheckXz(ChunkSource packed) {
  XzUnpacker unpacker(std::move(packed));
  while (true) {
    VIGIL_ASSIGN_OR_RETURN(const std::string chunk, unpacker.Next());
    if (chunk.empty()) return absl::OkStatus();
  }
}

absl::Status LineReader::Refill() {
  buffer_.erase(0, at_);
  at_ = 0;
  absl::StatusOr<std::string> chunk = source_();
  ended_ = !chunk.ok() || chunk->empty();
  if (!chunk.ok()) return chunk.status();
  buffer_ += *chunk;
  return absl::OkStatus();
}

absl::StatusOr<std::optional<LineReader::Line>> LineReader::Next() {
  std::size_t searched = at_;
  while (true) {
    const std::size_t newline = buffer_.find('\n', searched);
    const std::size_t size = std::min(newline, buffer_.size()) - at_;
    if (size > kMaxRecordBytes) {
      ++number_;
      ended_ = true;
      buffer_.clear();
      at_ = 0;
      return MakeStatus(Code::kInvalidArgument,
                        fmt::format("a line longer than {} MiB; the rest is not read", kMaxRecordBytes >> 20));
    }
    if (newline == buffer_.npos && !ended_) {
      const std::size_t seen = buffer_.size() - at_;
      if (absl::Status status = Refill(); !status.ok()) {
        ++number_;
        buffer_.clear();
        return status;
      }
      searched = seen;
      continue;
    }
    if (newline == buffer_.npos && size == 0) return std::nullopt;
    ++number_;
    Line line{number_, buffer_.substr(at_, size)};
    at_ = newline == buffer_.npos ? buffer_.size() : newline + 1;
    searched = at_;
    if (line.text.find_first_not_of(" \t\r") != line.text.npos) return line;
  }
}

absl::Status LineReader::TakeRest(std::string& text) {
  while (true) {
    text.append(buffer_, at_);
    buffer_.clear();
    at_ = 0;
    if (text.size() > kMaxRecordBytes) {
      ended_ = true;
      return MakeStatus(Code::kInvalidArgument, fmt::format("longer than {} MiB", kMaxRecordBytes >> 20));
    }
    if (ended_) return absl::OkStatus();
    VIGIL_RETURN_IF_ERROR(Refill());
  }
}

}  // namespace vigil::replays
