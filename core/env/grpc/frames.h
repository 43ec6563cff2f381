// How a large message travels to a peer that knows it: as several messages of its stream, frames, so that both ends
// make checksums and copy while the rest is on its way, out of and into memory that is still warm. What is large in it
// (a tensor's elements) arrives in one aligned piece of memory of its own, and need not be copied again.
//
// A frame: the crc32c of what follows (four bytes), the size of the piece that begins with this frame, 0 if it goes on
// with the last one (eight bytes; little-endian both), and bytes, at least one. Who speaks of frames (kFramesKey in its
// metadata) reads them; with such a peer, a request or an answer whose metadata have a number of bytes other than 0
// under that key is in frames, and says so under kChecksumKey as well, where whoever takes a frame for the message
// finds no checksum of it. All others are one message, with its checksum.
// Thread safety: as values.
#ifndef VIGIL_CORE_ENV_GRPC_FRAMES_H_
#define VIGIL_CORE_ENV_GRPC_FRAMES_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "vigil/core/env/grpc/message_memory.h"

namespace vigil {

inline constexpr char kFramesKey[] = "vigil-frames";
// Under kChecksumKey (grpc_parts.h) of what is in frames.
inline constexpr char kChecksumsInFrames[] = "frames";
// Of a frame, beside its bytes.
inline constexpr std::size_t kFrameHeadBytes = 12;
// From here on a message goes in frames.
inline constexpr std::size_t kFramedBytes = std::size_t{1} << 19;

class FrameWriter {
 public:
  // REQUIRES: not empty.
  explicit FrameWriter(absl::Cord bytes);

  // All have been given.
  bool done() const { return at_ == bytes_.size(); }
  // REQUIRES: !done().
  grpc::ByteBuffer Next();

 private:
  const absl::Cord bytes_;
  std::vector<std::size_t> ends_;  // of its pieces
  std::size_t piece_ = 0;          // of these
  std::size_t at_ = 0;
};

class FrameReader {
 public:
  // Of a message of so many bytes, as its sender says.
  FrameReader(std::size_t bytes, std::shared_ptr<MessageMemory> memory) : bytes_(bytes), memory_(std::move(memory)) {}

  bool done() const { return read_ == bytes_; }
  // UNAVAILABLE: its checksum is another. INTERNAL: it is no frame, or none of this message. RESOURCE_EXHAUSTED: no
  // memory. After an error there is nothing to be read any more.
  absl::Status Add(const grpc::ByteBuffer& frame);
  // The message. REQUIRES: done().
  absl::Cord Take() && { return std::move(message_); }

 private:
  // INTERNAL: a frame of so many bytes, with which a piece of that size begins (0: none), cannot come next.
  absl::Status CheckNext(std::uint64_t piece, std::size_t size) const;
  absl::Status Begin(std::size_t piece);

  const std::size_t bytes_;
  const std::shared_ptr<MessageMemory> memory_;
  std::size_t read_ = 0;
  absl::Cord message_;  // pieces that are complete
  std::shared_ptr<char> piece_;
  std::size_t piece_size_ = 0;
  std::size_t piece_read_ = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_GRPC_FRAMES_H_
