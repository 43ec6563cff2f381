#include "vigil/core/io/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace vigil {
namespace {

TEST(Crc32c, KnowsTheVectorsOfRfc3720) {
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  std::string ascending;
  for (char c = 0; c < 32; ++c) ascending += c;
  EXPECT_EQ(Crc32c(ascending), 0x46dd794eU);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(Crc32c(""), 0U);
}

TEST(Crc32c, IsExtendedPieceByPiece) { EXPECT_EQ(ExtendCrc32c(Crc32c("12345"), "6789"), Crc32c("123456789")); }

TEST(Crc32c, IsMaskedAndBack) {
  const std::uint32_t crc = Crc32c("foo");
  EXPECT_NE(MaskCrc(crc), crc);
  EXPECT_EQ(UnmaskCrc(MaskCrc(crc)), crc);
  EXPECT_EQ(UnmaskCrc(UnmaskCrc(MaskCrc(MaskCrc(crc)))), crc);
}

}  // namespace
}  // namespace vigil
