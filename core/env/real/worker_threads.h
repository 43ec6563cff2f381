// A pool of threads of the operating system. Contract: thread_pool.h.
#ifndef VIGIL_CORE_ENV_REAL_WORKER_THREADS_H_
#define VIGIL_CORE_ENV_REAL_WORKER_THREADS_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "vigil/core/env/thread_pool.h"

namespace vigil {

class WorkerThreads final : public ThreadPool {
 public:
  // `threads`: that work on one op at most, its caller's among them. Where the system has fewer left it makes do.
  explicit WorkerThreads(int threads);
  // REQUIRES: no call is under way.
  ~WorkerThreads() override;
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  int num_threads() const { return static_cast<int>(threads_.size()) + 1; }
  void ParallelFor(std::int64_t n, std::int64_t cost, Work work) override;

 private:
  struct Job;  // a call of ParallelFor

  void Add(Job& job);
  void Remove(Job& job);
  void TakePart(Job& job, std::unique_lock<std::mutex>& lock);
  void Serve();

  // Of jobs_; looked at without the mutex by threads that spin before they sleep.
  std::atomic<std::size_t> waiting_{0};
  std::mutex mutex_;
  std::condition_variable wake_;  // there is work, or it is the end
  std::condition_variable done_;  // of some job
  // Guarded by mutex_.
  std::deque<Job*> jobs_;  // of which there is a part left
  bool stopping_ = false;
  std::vector<std::thread> threads_;  // not after the constructor
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_REAL_WORKER_THREADS_H_
