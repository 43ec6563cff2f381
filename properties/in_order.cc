#include "vigil/properties/in_order.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace vigil::properties {
namespace {

constexpr std::chrono::milliseconds kPieceTick{100};

// Worlds share nothing: playing them side by side changes no result.
class PieceCrew {
 public:
  PieceCrew(int jobs, std::uint64_t first, std::uint64_t end, const PieceCallbacks& callbacks,
            const std::atomic<bool>& stop)
      : callbacks_(callbacks), stop_(stop), end_(end), next_(first), handed_out_(first), working_(jobs) {
    for (int i = 0; i < jobs; ++i) threads_.emplace_back([this] { Work(); });
  }

  std::uint64_t Run() {
    while (true) {
      std::vector<HandOut> ready;
      bool last = false;
      {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, kPieceTick, [this] { return working_ == 0 || done_.contains(handed_out_); });
        last = working_ == 0;
        while (!done_.empty() && done_.begin()->first == handed_out_) {
          ready.push_back(std::move(done_.begin()->second));
          done_.erase(done_.begin());
          ++handed_out_;
        }
      }
      for (const HandOut& hand_out : ready) hand_out();
      if (callbacks_.on_tick) callbacks_.on_tick();
      if (last) break;
    }
    for (std::thread& thread : threads_) thread.join();
    return handed_out_;
  }

 private:
  void Work() {
    const PieceWorker worker = callbacks_.new_worker();
    for (std::uint64_t piece = 0; Take(piece);) {
      HandOut result = worker(piece);
      const std::lock_guard lock(mutex_);
      done_.emplace(piece, std::move(result));
      changed_.notify_all();
    }
    const std::lock_guard lock(mutex_);
    --working_;
    changed_.notify_all();
  }

  // Pieces are taken in order and each that was taken is finished: what was handed out has no gaps.
  bool Take(std::uint64_t& piece) {
    const std::lock_guard lock(mutex_);
    if (stop_ || next_ >= end_) return false;
    piece = next_++;
    return true;
  }

  const PieceCallbacks& callbacks_;
  const std::atomic<bool>& stop_;
  const std::uint64_t end_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_:
  std::uint64_t next_;
  std::uint64_t handed_out_;
  std::map<std::uint64_t, HandOut> done_;
  int working_;

  std::vector<std::thread> threads_;
};

}  // namespace

std::uint64_t InOrder(int jobs, std::uint64_t first, std::uint64_t end, const PieceCallbacks& callbacks,
                      const std::atomic<bool>& stop) {
  return PieceCrew(jobs, first, end, callbacks, stop).Run();
}

}  // namespace vigil::properties
