#include "vigil/sim/kernel/fiber.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace vigil::sim {
namespace {

using testing::ElementsAre;

// A fiber that runs a function and then continues the thread's own.
struct Job {
  Job(FiberThread& owner, StackPool& stacks, std::function<void(Job&)> what)
      : thread(owner), pool(stacks), body(std::move(what)), fiber(&stacks.Acquire(&Job::Run, this)) {}

  static Fiber& Run(void* argument) {
    Job& job = *static_cast<Job*>(argument);
    job.body(job);
    job.pool.Release(*job.fiber);
    job.over = true;
    return job.thread.main();
  }
  void Continue() { thread.Switch(thread.main(), *fiber); }
  void Pause() { thread.Switch(*fiber, thread.main()); }

  FiberThread& thread;
  StackPool& pool;
  std::function<void(Job&)> body;
  Fiber* fiber;
  bool over = false;
};

TEST(Fiber, RunsUntilItPausesAndGoesOnWhereItWas) {
  FiberThread thread;
  StackPool pool;
  std::vector<std::string> seen;
  Job a(thread, pool, [&](Job& job) {
    seen.push_back("a1");
    job.Pause();
    seen.push_back("a2");
  });
  Job b(thread, pool, [&](Job& job) {
    seen.push_back("b1");
    job.thread.Switch(*job.fiber, *a.fiber);  // one fiber continues another directly
    seen.push_back("b2");
  });
  a.Continue();
  b.Continue();
  EXPECT_TRUE(a.over);
  EXPECT_FALSE(b.over);
  b.Continue();
  EXPECT_TRUE(b.over);
  EXPECT_THAT(seen, ElementsAre("a1", "b1", "a2", "b2"));
}

TEST(Fiber, StacksAreGivenOutAgain) {
  FiberThread thread;
  StackPool pool;
  for (int i = 0; i < 1000; ++i) {
    int sum = 0;
    Job job(thread, pool, [&](Job& self) {
      sum += i;
      self.Pause();
      sum += i;
    });
    job.Continue();
    job.Continue();
    EXPECT_EQ(sum, 2 * i);
  }
  EXPECT_EQ(pool.size(), 1u);
}

// `throw;` must rethrow the exception of its own fiber, whatever other fibers threw and caught meanwhile.
TEST(Fiber, ExceptionsBelongToTheirFiber) {
  FiberThread thread;
  StackPool pool;
  std::vector<std::string> seen;
  const auto body = [&](const std::string& name) {
    return [&seen, name](Job& job) {
      for (int round = 0; round < 3; ++round) {
        try {
          try {
            job.Pause();
            throw std::runtime_error(name);
          } catch (const std::exception&) {
            job.Pause();
            throw;
          }
        } catch (const std::exception& error) {
          job.Pause();
          seen.push_back(error.what());
        }
      }
    };
  };
  Job a(thread, pool, body("a"));
  Job b(thread, pool, body("b"));
  while (!a.over || !b.over) {
    if (!a.over) a.Continue();
    if (!b.over) b.Continue();
  }
  EXPECT_THAT(seen, ElementsAre("a", "b", "a", "b", "a", "b"));
}

TEST(Fiber, AnExceptionInFlightIsNotSeenByOthers) {
  FiberThread thread;
  StackPool pool;
  struct PausesWhenDestroyed {
    Job& job;
    ~PausesWhenDestroyed() {
      EXPECT_EQ(std::uncaught_exceptions(), 1);
      job.Pause();
      EXPECT_EQ(std::uncaught_exceptions(), 1);
    }
  };
  Job a(thread, pool, [&](Job& job) {
    try {
      PausesWhenDestroyed pauses{job};
      throw std::runtime_error("a");
    } catch (const std::exception&) {
      EXPECT_EQ(std::uncaught_exceptions(), 0);
    }
  });
  a.Continue();
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  EXPECT_EQ(std::current_exception(), nullptr);
  a.Continue();
  EXPECT_TRUE(a.over);
}

#if !defined(VIGIL_SANITIZES_ADDRESS) && !defined(VIGIL_SANITIZES_THREAD)
// The sanitizers have a handler of their own for SIGSEGV, and make frames of another size.

const StackPool* overflowing_pool = nullptr;

void OnFault(int, siginfo_t* info, void*) {
  const std::string_view task = overflowing_pool->TaskOfGuardPage(info->si_addr);
  const std::string_view text = "stack overflow in ";
  [[maybe_unused]] ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
  ignored = write(STDERR_FILENO, task.data(), task.size());
  _exit(3);
}

int Deep(int depth) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : Deep(depth + 1) + frame[0];
}

void Overflow() {
  FiberThread thread;
  StackPool pool;
  overflowing_pool = &pool;
  std::vector<char> alternate(64 << 10);
  const stack_t stack{.ss_sp = alternate.data(), .ss_flags = 0, .ss_size = alternate.size()};
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = &OnFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);

  Job innocent(thread, pool, [](Job& job) { job.Pause(); });
  innocent.fiber->set_owner("chief/innocent");
  innocent.Continue();
  Job deep(thread, pool, [](Job&) { Deep(1); });
  deep.fiber->set_owner("chief/main");
  deep.Continue();
}

TEST(FiberDeathTest, AnOverflowNamesItsTask) {
  EXPECT_EXIT(Overflow(), testing::ExitedWithCode(3), "stack overflow in chief/main");
}
#endif

TEST(Fiber, AddressesOutsideOfGuardPagesHaveNoTask) {
  StackPool pool;
  int local = 0;
  EXPECT_EQ(pool.TaskOfGuardPage(&local), "");
  EXPECT_EQ(pool.TaskOfGuardPage(nullptr), "");
}

}  // namespace
}  // namespace vigil::sim
