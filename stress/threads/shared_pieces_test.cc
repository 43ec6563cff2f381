// Tasks that share a piece of a cord, or an error, and let go of it one after the other, with nothing between them that
// the thread sanitizer sees: it is to say nothing (tsan_suppressions.cc).
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "vigil/core/env/real/real_env.h"

namespace vigil::stress {
namespace {

// Another task reads what it shares with this one and lets go first.
template <typename Shared, typename Read>
void LetGoOneAfterTheOther(Shared shared, Read read) {
  RealEnv real;
  std::atomic<bool> let_go = false;
  std::size_t seen = 0;
  auto mine = std::make_unique<Shared>(std::move(shared));
  const auto task = real.env().tasks->Spawn("reads", [&, other = std::make_shared<Shared>(*mine)]() mutable {
    seen = read(*other);
    other.reset();
    let_go.store(true, std::memory_order_relaxed);
  });
  while (!let_go.load(std::memory_order_relaxed)) {
  }
  mine.reset();
  task->Join(kNever);
  EXPECT_EQ(seen, 1000U);
}

TEST(SharedPiecesTest, TheLastTaskFreesACord) {
  absl::Cord cord(std::string(400, 'a'));
  cord.Append(absl::Cord(std::string(600, 'b')));
  LetGoOneAfterTheOther(std::move(cord), [](const absl::Cord& each) { return each.size(); });
}

TEST(SharedPiecesTest, TheLastTaskFreesAnError) {
  LetGoOneAfterTheOther(absl::InternalError(std::string(1000, 'e')),
                        [](const absl::Status& each) { return each.message().size(); });
}

}  // namespace
}  // namespace vigil::stress
