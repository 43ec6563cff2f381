#include "vigil/core/env/grpc/frames.h"

#include <gmock/gmock.h>
#include <grpcpp/support/slice.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/cord.h"
#include "vigil/core/env/grpc/grpc_parts.h"
#include "vigil/core/io/crc32c.h"

namespace vigil {
namespace {

using testing::HasSubstr;

std::string Pattern(std::size_t size, std::size_t from) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<char>((i + from) * 2654435761u >> 13);
  return out;
}

// In pieces of these sizes, each of its own.
absl::Cord InPieces(const std::vector<std::size_t>& sizes) {
  absl::Cord out;
  for (const std::size_t size : sizes) {
    const auto piece = std::make_shared<std::string>(Pattern(size, out.size()));
    out.Append(SharedCord(*piece, piece));
  }
  return out;
}

std::shared_ptr<MessageMemory> Memory() { return std::make_shared<MessageMemory>(0); }

std::vector<grpc::ByteBuffer> FramesOf(const absl::Cord& bytes) {
  std::vector<grpc::ByteBuffer> out;
  for (FrameWriter writer(bytes); !writer.done();) out.push_back(writer.Next());
  return out;
}

std::string TextOf(const grpc::ByteBuffer& frame) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(frame.Dump(&slices).ok());
  std::string out;
  for (const grpc::Slice& slice : slices) out.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return out;
}

// In slices of `slice` bytes.
grpc::ByteBuffer BufferOf(const std::string& text, std::size_t slice) {
  std::vector<grpc::Slice> slices;
  for (std::size_t at = 0; at < text.size(); at += slice) slices.emplace_back(text.substr(at, slice));
  return {slices.data(), slices.size()};
}

std::string Frame(std::uint64_t piece, const std::string& contents) {
  std::string out(reinterpret_cast<const char*>(&piece), sizeof(piece));
  out += contents;
  const std::uint32_t checksum = ExtendCrc32c(0, out);
  return std::string(reinterpret_cast<const char*>(&checksum), sizeof(checksum)) + out;
}

TEST(FramesTest, AMessageArrivesAsItWasAndWhatIsLargeInItInOneAlignedPiece) {
  constexpr std::size_t kMebi = std::size_t{1} << 20;
  const std::vector<std::size_t> sizes = {10, 300'000, 3 * kMebi, 5, 70'000, 7, 2 * kMebi + 1, 20};
  const absl::Cord sent = InPieces(sizes);
  FrameReader reader(sent.size(), Memory());
  for (const grpc::ByteBuffer& frame : FramesOf(sent)) {
    EXPECT_LE(frame.Length(), kMebi + 12);
    ASSERT_FALSE(reader.done());
    // Its head may arrive in two.
    const absl::Status added = reader.Add(BufferOf(TextOf(frame), 8191));
    ASSERT_TRUE(added.ok()) << added;
  }
  ASSERT_TRUE(reader.done());
  const absl::Cord got = std::move(reader).Take();
  EXPECT_TRUE(got == sent);
  std::size_t at = 0;
  for (const std::size_t size : sizes) {
    const absl::Cord piece = got.Subcord(at, size);
    at += size;
    if (size < 300'000) continue;
    const std::optional<std::string_view> flat = FlatOf(piece);
    ASSERT_TRUE(flat.has_value()) << size;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(flat->data()) % 64, 0u);
  }
}

TEST(FramesTest, HeadsInSlicesOfAnySizeAreRead) {
  const absl::Cord sent = InPieces({300'000});
  for (const std::size_t slice : {1, 3, 4, 11, 12, 13}) {
    FrameReader reader(sent.size(), Memory());
    for (const grpc::ByteBuffer& frame : FramesOf(sent)) ASSERT_TRUE(reader.Add(BufferOf(TextOf(frame), slice)).ok());
    ASSERT_TRUE(reader.done());
    EXPECT_TRUE(std::move(reader).Take() == sent);
  }
}

TEST(FramesTest, AChangedBitIsNoticedWhereverItIs) {
  const std::string right = Frame(100, Pattern(100, 0));
  for (std::size_t at = 0; at < right.size(); ++at) {
    std::string wrong = right;
    wrong[at] = static_cast<char>(wrong[at] ^ 4);
    FrameReader reader(100, Memory());
    const absl::Status added = reader.Add(BufferOf(wrong, wrong.size()));
    EXPECT_EQ(CodeOf(added), Code::kUnavailable) << "byte " << at << ": " << added;
    EXPECT_FALSE(reader.done());
  }
}

TEST(FramesTest, WhatIsNotAllThereIsNoticed) {
  const std::string right = Frame(100, Pattern(100, 0));
  for (const std::size_t size : {0, 1, 4, 11, 12, 13, 111}) {
    FrameReader reader(100, Memory());
    const absl::Status added = reader.Add(BufferOf(right.substr(0, size), 200));
    EXPECT_EQ(CodeOf(added), Code::kUnavailable) << size << ": " << added;
  }
}

TEST(FramesTest, WhatIsNoFrameOfTheMessageIsRefused) {
  const auto refused = [](std::size_t bytes, const std::vector<std::string>& frames) {
    FrameReader reader(bytes, Memory());
    absl::Status last;
    for (const std::string& frame : frames) {
      EXPECT_TRUE(last.ok()) << last;
      last = reader.Add(BufferOf(frame, frame.size()));
    }
    EXPECT_EQ(CodeOf(last), Code::kInternal) << last;
    return std::string(MessageOf(last));
  };
  EXPECT_THAT(refused(100, {Frame(100, "")}), HasSubstr("one is empty"));
  EXPECT_THAT(refused(100, {Frame(101, "a")}), HasSubstr("a piece is larger than the message"));
  EXPECT_THAT(refused(100, {Frame(0, "a")}), HasSubstr("one has more than its piece"));
  EXPECT_THAT(refused(100, {Frame(2, "abc")}), HasSubstr("one has more than its piece"));
  EXPECT_THAT(refused(100, {Frame(9, "abc"), Frame(3, "abc")}), HasSubstr("a piece begins within another"));
  EXPECT_THAT(refused(100, {Frame(3, "abc"), Frame(3, "abc")}),
              HasSubstr("two pieces that follow each other are small"));
}

// Sanitizers end who asks for so much.
#if !defined(VIGIL_SANITIZES_ADDRESS) && !defined(VIGIL_SANITIZES_THREAD)
TEST(FramesTest, WhereThereIsNoMemoryItIsSaid) {
  constexpr std::size_t kMore = std::size_t{1} << 60;
  FrameReader reader(kMore, Memory());
  const std::string frame = Frame(kMore, "a");
  const absl::Status added = reader.Add(BufferOf(frame, frame.size()));
  EXPECT_EQ(CodeOf(added), Code::kResourceExhausted) << added;
}
#endif

}  // namespace
}  // namespace vigil
