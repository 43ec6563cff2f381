#include "vigil/core/env/real/worker_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "vigil/core/env/real/real_env.h"

namespace vigil {
namespace {

constexpr std::int64_t kDear = 1'000'000'000;  // ns: worth a part of its own

// How often each number was worked on.
std::vector<int> Times(ThreadPool& pool, std::int64_t n, std::int64_t cost) {
  std::vector<std::atomic<int>> times(static_cast<std::size_t>(n));
  pool.ParallelFor(n, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++times[static_cast<std::size_t>(i)];
  });
  return {times.begin(), times.end()};
}

TEST(WorkerThreadsTest, EachNumberIsWorkedOnOnce) {
  for (const int threads : {0, 1, 2, 5}) {
    WorkerThreads pool(threads);
    for (const std::int64_t n : {0, 1, 2, 3, 19, 1000}) {
      for (const std::int64_t cost : {std::int64_t{0}, std::int64_t{100}, kDear}) {
        EXPECT_EQ(Times(pool, n, cost), std::vector<int>(static_cast<std::size_t>(n), 1)) << threads << " " << n;
      }
    }
  }
}

TEST(WorkerThreadsTest, PartsAreWorkedOnAtOnce) {
  WorkerThreads pool(3);
  std::mutex mutex;
  std::condition_variable all_here;
  int here = 0;
  pool.ParallelFor(3, kDear, [&](std::int64_t, std::int64_t) {  // would wait for ever if there were fewer threads
    std::unique_lock lock(mutex);
    ++here;
    all_here.notify_all();
    all_here.wait(lock, [&here] { return here == 3; });
  });
  EXPECT_EQ(here, 3);
}

TEST(WorkerThreadsTest, WhatIsCheapIsNotShared) {
  WorkerThreads pool(4);
  int calls = 0;
  pool.ParallelFor(1000, 1, [&](std::int64_t, std::int64_t) { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(WorkerThreadsTest, WhatAPartThrowsComesOutAndThePoolGoesOn) {
  WorkerThreads pool(2);
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> under_way = 0;
    EXPECT_THROW(pool.ParallelFor(8, kDear,
                                  [&](std::int64_t begin, std::int64_t) {
                                    ++under_way;
                                    const bool throws = begin == 3;
                                    --under_way;
                                    if (throws) throw std::runtime_error("3");
                                  }),
                 std::runtime_error);
    EXPECT_EQ(under_way, 0);
  }
  EXPECT_EQ(Times(pool, 8, kDear), std::vector<int>(8, 1));
}

TEST(WorkerThreadsTest, SeveralCallersShareTheThreads) {
  WorkerThreads pool(3);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int k = 0; k < 50; ++k) {
        if (Times(pool, 20, kDear) != std::vector<int>(20, 1)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(WorkerThreadsTest, ARealEnvHasThemIfTheyAreAskedFor) {
  EXPECT_EQ(RealEnv().env().intra_op, nullptr);
  EXPECT_EQ(RealEnv({.intra_op_threads = 1}).env().intra_op, nullptr);
  RealEnv real({.intra_op_threads = 2});
  ASSERT_NE(real.env().intra_op, nullptr);
  EXPECT_EQ(Times(*real.env().intra_op, 5, kDear), std::vector<int>(5, 1));
}

}  // namespace
}  // namespace vigil
