// A job lies on the stack of its caller, who takes parts of it as the threads do and then waits for those that others
// have taken. So a job never waits for a thread: where all are busy its caller does it alone. Ops come one after the
// other: who has nothing to do looks for a while before it sleeps, since to be woken takes as long as many a part.
#include "vigil/core/env/real/worker_threads.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <system_error>

#include "vigil/core/base/flush_denormals.h"

namespace vigil {
namespace {

// Nanoseconds that a part takes at least: to wake a thread takes about as long.
constexpr double kLeastPart = 30'000;
// Parts for each thread: those that have a slower processor, or begin later, do fewer.
constexpr std::int64_t kPartsPerThread = 4;
constexpr std::chrono::microseconds kLooks{100};

// Until `seen()`, or for as long as it pays.
template <typename Seen>
void LookFor(Seen seen) {
  const auto until = std::chrono::steady_clock::now() + kLooks;
  while (!seen() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
}

}  // namespace

struct WorkerThreads::Job {
  Work work;
  std::int64_t n;
  std::int64_t part;
  std::int64_t next = 0;                // what nobody has taken yet begins here
  std::atomic<int> running = 0;         // changed under the mutex
  std::exception_ptr thrown = nullptr;  // by the first part that threw
};

WorkerThreads::WorkerThreads(int threads) {
  try {
    for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { Serve(); });
  } catch (const std::system_error&) {
    // The system has no more of them.
  }
}

WorkerThreads::~WorkerThreads() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerThreads::ParallelFor(std::int64_t n, std::int64_t cost, Work work) {
  const double worth = std::min(static_cast<double>(n) * static_cast<double>(cost) / kLeastPart,
                                static_cast<double>(num_threads() * kPartsPerThread));
  const std::int64_t parts = std::min(n, static_cast<std::int64_t>(worth));
  if (threads_.empty() || parts <= 1) {
    work(0, n);
    return;
  }
  Job job{.work = work, .n = n, .part = (n + parts - 1) / parts};
  std::unique_lock lock(mutex_);
  Add(job);
  wake_.notify_all();
  while (job.next < job.n) TakePart(job, lock);
  if (job.running > 0) {
    lock.unlock();
    LookFor([&job] { return job.running.load(std::memory_order_relaxed) == 0; });
    lock.lock();
  }
  done_.wait(lock, [&job] { return job.running == 0; });
  if (job.thrown != nullptr) std::rethrow_exception(job.thrown);
}

void WorkerThreads::Add(Job& job) {
  jobs_.push_back(&job);
  waiting_ = jobs_.size();
}

void WorkerThreads::Remove(Job& job) {
  std::erase(jobs_, &job);
  waiting_ = jobs_.size();
}

// REQUIRES: `lock` is held, a part of the job is left.
void WorkerThreads::TakePart(Job& job, std::unique_lock<std::mutex>& lock) {
  const std::int64_t begin = job.next;
  const std::int64_t end = std::min(job.n, begin + job.part);
  job.next = end;
  if (end == job.n) Remove(job);
  ++job.running;
  lock.unlock();
  std::exception_ptr thrown;
  try {
    job.work(begin, end);
  } catch (const std::exception&) {
    thrown = std::current_exception();
  }
  lock.lock();
  if (thrown != nullptr && job.next < job.n) {  // the rest is not begun any more
    job.next = job.n;
    Remove(job);
  }
  if (job.thrown == nullptr) job.thrown = thrown;
  if (--job.running == 0 && job.next == job.n) done_.notify_all();
}

void WorkerThreads::Serve() {
  const ScopedFlushDenormals flush;
  std::unique_lock lock(mutex_);
  while (true) {
    while (!stopping_ && !jobs_.empty()) TakePart(*jobs_.front(), lock);
    if (stopping_) return;
    lock.unlock();
    LookFor([this] { return waiting_.load(std::memory_order_relaxed) > 0; });
    lock.lock();
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
  }
}

}  // namespace vigil
