// The only threads above core/env/real: worlds share nothing, so playing them side by side changes no result.
#include "vigil/replays/play.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/replays/json.h"
#include "vigil/replays/parse.h"
#include "vigil/replays/trace_file.h"

namespace vigil::replays {
namespace {

constexpr std::chrono::milliseconds kTick{100};
constexpr std::size_t kMostBytes = std::size_t{64}
                                   << 20;  // of text that is not parsed yet; one record may be there anyway

class Crew {
 public:
  Crew(const PlayOptions& options, const PlayCallbacks& callbacks, const std::atomic<bool>& stop)
      : callbacks_(callbacks),
        stop_(stop),
        only_(options.only.begin(), options.only.end()),
        capacity_(static_cast<std::size_t>(options.ahead) * static_cast<std::size_t>(options.jobs)) {
    threads_.emplace_back([this] { Read(); });
    for (int i = 0; i < options.jobs; ++i) threads_.emplace_back([this] { Work(); });
  }

  // Hands out results until there are no more.
  PlaySummary Run() {
    PlaySummary summary;
    bool cut = false;
    std::set<std::string, std::less<>> seen;
    while (true) {
      std::vector<Slot> done;
      const bool more = TakeDone(done);
      for (const Slot& slot : done) {
        seen.insert(slot.result.id);
        // What came after it leaves a gap.
        cut = cut || slot.result.outcome.verdict == Verdict::kInterrupted;
        if (!slot.skipped && !cut) callbacks_.on_result(slot.result);
      }
      if (!more) break;
      if (callbacks_.on_tick) callbacks_.on_tick();
    }
    WaitForReader();
    for (std::thread& thread : threads_) thread.join();
    summary.stopped = halted_;
    if (!halted_) {
      std::set_difference(only_.begin(), only_.end(), seen.begin(), seen.end(),
                          std::back_inserter(summary.unknown_ids));
    }
    return summary;
  }

 private:
  struct Slot {
    RawRecord raw;
    Result result;
    bool done = false;
    bool skipped = false;  // not in `only`
  };

  void Read() {
    callbacks_.read([this](RawRecord record) {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [&] { return halted_ || HasRoomFor(record); });
      if (halted_) return false;
      bytes_ += record.text.size();
      slots_.emplace_back().raw = std::move(record);
      work_.notify_one();
      return true;
    });
    const std::lock_guard lock(mutex_);
    read_all_ = true;
    work_.notify_all();
    results_.notify_all();
  }

  void Work() {
    const Player player = callbacks_.new_player();
    JsonDocument scratch;
    while (true) {
      Slot* slot = nullptr;
      {
        std::unique_lock lock(mutex_);
        work_.wait(lock, [this] { return halted_ || read_all_ || started_ < slots_.size(); });
        if (halted_ || started_ == slots_.size()) return;
        slot = &slots_[started_++];  // stays where it is: others come and go at the ends only
      }
      const std::size_t size = slot->raw.text.size();
      Play(player, scratch, *slot);
      const std::lock_guard lock(mutex_);
      slot->done = true;
      bytes_ -= size;
      if (WorthHandingOut()) results_.notify_one();
    }
  }

  void Play(const Player& player, JsonDocument& scratch, Slot& slot) const {
    Result& result = slot.result;
    absl::Status status = slot.raw.error;
    if (status.ok()) {
      const absl::StatusOr<Recording> recording =
          slot.raw.is_trace ? ParseTrace(slot.raw.text, slot.raw.source)
                            : ParseRecording(slot.raw.text, slot.raw.source, slot.raw.record, scratch);
      status = recording.status();
      if (recording.ok()) {
        const std::string& id = recording->scenario.id;
        slot.skipped = (!only_.empty() && !only_.contains(id)) || (!slot.raw.only.empty() && slot.raw.only != id);
        result.id = id;
        if (!slot.skipped) result = Judge(*recording, player(*recording));
      }
    }
    if (!status.ok()) {
      result.status = Status::kUnreadable;
      result.source = slot.raw.source;
      result.record = slot.raw.record;
      result.reason = MessageOf(status);
    }
    slot.raw = RawRecord();
  }

  // Moves what is done and next in order to `done`; false = that was all.
  bool TakeDone(std::vector<Slot>& done) {
    std::unique_lock lock(mutex_);
    results_.wait_for(lock, kTick, [this] { return WorthHandingOut() || Finished(); });
    if (stop_ && !halted_) {
      halted_ = true;
      work_.notify_all();
      room_.notify_all();
    }
    while (!slots_.empty() && slots_.front().done) {
      done.push_back(std::move(slots_.front()));
      slots_.pop_front();
      --started_;
    }
    if (slots_.size() <= capacity_ / 2) room_.notify_one();
    return !Finished();
  }

  bool HasRoomFor(const RawRecord& record) const {
    return slots_.empty() || (slots_.size() < capacity_ && bytes_ + record.text.size() <= kMostBytes);
  }

  // Waking up a thread costs more than a small scenario: only for several results, or at the end. kTick bounds the wait.
  bool WorthHandingOut() const {
    return !slots_.empty() && slots_.front().done && (started_ >= capacity_ / 4 || read_all_);
  }

  // It may wait for input, which only the caller can end.
  void WaitForReader() {
    std::unique_lock lock(mutex_);
    while (!results_.wait_for(lock, kTick, [this] { return read_all_; })) {
      lock.unlock();
      if (callbacks_.on_tick) callbacks_.on_tick();
      lock.lock();
    }
  }

  bool Finished() const { return started_ == 0 && (halted_ || (read_all_ && slots_.empty())); }

  const PlayCallbacks& callbacks_;
  const std::atomic<bool>& stop_;
  const std::set<std::string, std::less<>> only_;
  const std::size_t capacity_;

  std::mutex mutex_;
  std::condition_variable room_;     // for the reader
  std::condition_variable work_;     // for workers
  std::condition_variable results_;  // for the caller
  // Guarded by mutex_, but a slot that was started belongs to its worker until it is done.
  std::deque<Slot> slots_;   // in order of the input
  std::size_t started_ = 0;  // the first so many of slots_
  std::size_t bytes_ = 0;    // of text in slots_
  bool read_all_ = false;
  bool halted_ = false;

  std::vector<std::thread> threads_;
};

}  // namespace

PlaySummary PlayAll(const PlayOptions& options, const PlayCallbacks& callbacks, const std::atomic<bool>& stop) {
  return Crew(options, callbacks, stop).Run();
}

}  // namespace vigil::replays
