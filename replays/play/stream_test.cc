#include "vigil/replays/traces/stream.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "vigil/core/base/code.h"
#include "vigil/replays/play/testing.h"

namespace vigil::replays {
namespace {

// What comes out of `packed`, handed in by pieces; the error, if there is one, behind it in brackets.
std::string Unpacked(const std::string& packed, std::size_t piece = 1000) {
  std::size_t at = 0;
  const ChunkSource source = UnpackXz([&]() -> absl::StatusOr<std::string> {
    std::string out = packed.substr(std::min(at, packed.size()), piece);
    at += out.size();
    return out;
  });
  std::string out;
  while (true) {
    const absl::StatusOr<std::string> chunk = source();
    if (!chunk.ok()) return out + "[" + std::string(CodeName(CodeOf(chunk.status()))) + "]";
    if (chunk->empty()) return out;
    out += *chunk;
  }
}

std::string Text() {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i * 7919) + "\n";
  return text;
}

TEST(Xz, UnpacksInPiecesOfAnySize) {
  const std::string text = Text();
  const std::string packed = PackXz(text);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, packed.size()}) {
    EXPECT_EQ(Unpacked(packed, piece), text);
  }
}

TEST(Xz, SaysWhenItIsCutShort) {
  const std::string text = Text();
  const std::string packed = PackXz(text);
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, packed.size() / 2, packed.size() - 1}) {
    const std::string out = Unpacked(packed.substr(0, size));
    EXPECT_TRUE(out.ends_with("[DATA_LOSS]")) << size;
    EXPECT_TRUE(text.starts_with(out.substr(0, out.size() - 11))) << size;
  }
  EXPECT_GT(Unpacked(packed.substr(0, packed.size() / 2)).size(), text.size() / 4);  // what can be saved is saved
}

TEST(Xz, NoticesEveryDamagedByte) {
  const std::string text = "one\ntwo\nthree\n";
  const std::string packed = PackXz(text);
  for (std::size_t i = 0; i < packed.size(); ++i) {
    std::string damaged = packed;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_TRUE(Unpacked(damaged).ends_with("]")) << "byte " << i;
  }
}

TEST(Xz, TellsOtherFilesFromDamagedOnes) {
  EXPECT_EQ(Unpacked("{\"id\":\"no xz at all\"}"), "[INVALID_ARGUMENT]");
  EXPECT_EQ(Unpacked(PackXz("a") + "garbage"), "a[DATA_LOSS]");
}

TEST(Xz, PassesErrorsOfTheSourceOn) {
  const std::string packed = PackXz(Text());
  bool first = true;
  const ChunkSource source = UnpackXz([&]() -> absl::StatusOr<std::string> {
    if (!first) return MakeStatus(Code::kUnknown, "read: input/output error");
    first = false;
    return packed.substr(0, 100);
  });
  absl::StatusOr<std::string> chunk = source();
  if (chunk.ok()) chunk = source();
  EXPECT_EQ(MessageOf(chunk.status()), "read: input/output error");
}

TEST(Xz, LimitsTheMemoryOfTheUnpacker) {
  EXPECT_EQ(Unpacked(PackXzWithDictionary("a", 256 << 20)), "[RESOURCE_EXHAUSTED]");
}

}  // namespace
}  // namespace vigil::replays
