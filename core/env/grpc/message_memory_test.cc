#include "vigil/core/env/grpc/message_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>

namespace vigil {
namespace {

constexpr std::size_t kMebi = std::size_t{1} << 20;

TEST(MessageMemoryTest, WhatIsGivenBackIsGivenAgain) {
  const auto memory = std::make_shared<MessageMemory>(64 * kMebi);
  std::shared_ptr<char> first = memory->Take(16 * kMebi);
  std::memset(first.get(), 1, 16 * kMebi);
  const char* const at = first.get();
  const std::shared_ptr<char> second = memory->Take(16 * kMebi);
  EXPECT_NE(second.get(), at) << "it is in use";
  std::shared_ptr<char> user = first;
  first.reset();
  EXPECT_EQ(memory->kept(), 0u);
  user.reset();
  EXPECT_EQ(memory->kept(), 16 * kMebi);
  const std::shared_ptr<char> third = memory->Take(15 * kMebi);
  EXPECT_EQ(third.get(), at);
  EXPECT_EQ(memory->kept(), 0u);
}

TEST(MessageMemoryTest, LittleDoesNotKeepMuch) {
  const auto memory = std::make_shared<MessageMemory>(64 * kMebi);
  memory->Take(40 * kMebi).reset();
  const std::shared_ptr<char> little = memory->Take(10 * kMebi);
  EXPECT_EQ(memory->kept(), 40 * kMebi);
  memory->Take(kMebi).reset();
  EXPECT_EQ(memory->kept(), 40 * kMebi) << "what is small is not kept";
}

TEST(MessageMemoryTest, NoMoreIsKeptThanItSays) {
  const auto memory = std::make_shared<MessageMemory>(20 * kMebi);
  std::shared_ptr<char> held[] = {memory->Take(8 * kMebi), memory->Take(9 * kMebi), memory->Take(12 * kMebi),
                                  memory->Take(21 * kMebi)};
  for (std::shared_ptr<char>& each : held) each.reset();
  EXPECT_EQ(memory->kept(), 12 * kMebi);
}

TEST(MessageMemoryTest, WhatIsHeldOutlivesIt) {
  auto memory = std::make_shared<MessageMemory>(20 * kMebi);
  const std::shared_ptr<char> held = memory->Take(8 * kMebi);
  memory.reset();
  std::memset(held.get(), 1, 8 * kMebi);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(held.get()) % 64, 0u);
}

// Sanitizers end who asks for so much.
#if !defined(VIGIL_SANITIZES_ADDRESS) && !defined(VIGIL_SANITIZES_THREAD)
TEST(MessageMemoryTest, WhereThereIsNoneItIsNull) {
  EXPECT_EQ(std::make_shared<MessageMemory>(0)->Take(std::size_t{1} << 60), nullptr);
}
#endif

}  // namespace
}  // namespace vigil
