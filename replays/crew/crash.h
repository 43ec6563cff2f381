// A process of its own for what may crash: it is told apart from what plays well, with the stack, and never takes its
// parent along.
//
// A worker is forked. It dies with its parent, hears of no Ctrl-C, and has a board: memory shared with the parent, on
// which it says what it plays, and how it died. REQUIRES: the parent has one thread.
// Thread safety: none.
#ifndef VIGIL_REPLAYS_CREW_CRASH_H_
#define VIGIL_REPLAYS_CREW_CRASH_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace vigil::replays {

// How a worker died.
struct Crash {
  std::string what;    // signal_segv, check_failed, abort, exit, timeout, memory, leak, sanitizer, killed, ...
  std::string detail;  // more of it; one line, may be ""
  std::vector<std::string> frames;  // functions of ours, the innermost first; none if they could not be told

  // "crash.signal_segv": how findings name it, as if it were a rule.
  std::string rule() const { return "crash." + what; }
  // Two crashes of one mistake have the same: kind and innermost frames; of what only takes too much, the kind alone.
  std::string Signature() const;
  // "signal_segv in vigil::X::Run()"; one line.
  std::string Line() const;
  // Indented lines, each with its newline: the stack.
  std::string Stack() const;
};

// Whether it names a crash: "crash.signal_segv".
bool IsCrashRule(std::string_view rule);

struct PlayLimits {
  std::chrono::milliseconds cpu{60'000};          // of one play; a machine that is slow does not count
  std::chrono::milliseconds wall{300'000};        // of one play that waits for something real
  std::uint64_t memory = std::uint64_t{2} << 30;  // bytes beyond what the parent has; not under sanitizers
};

inline constexpr std::size_t kCrashFrames = 12;

// Written by a worker, read by its parent once it is dead; all zero at first. In memory that both share.
struct CrashBoard {
  std::atomic<std::uint64_t> item{0};  // what it plays, counted from 1; 0 = nothing
  std::atomic<std::uint64_t> part{0};  // of it
  // What its parent asks about with a signal, as PlayWatch counts it: who plays something else by then goes on.
  std::atomic<std::uint64_t> asked{0};
  char what[32] = {};
  char detail[256] = {};
  char frames[kCrashFrames][192] = {};
};

// In a worker, right after the fork: limits, and what to do when it dies.
void PrepareWorker(CrashBoard& board, const PlayLimits& limits, pid_t parent);
// In a worker: ends it as crashed.
[[noreturn]] void DieOf(CrashBoard& board, std::string_view what, std::string_view detail);
// In a worker: whether `play`, which has been called once, leaves more on the heap each time that it is called: 1 MiB
// in each of four. Ends the worker if it does. What it leaves once, and smaller leaks, are excused: caches.
void DieIfItLeaks(CrashBoard& board, const std::function<void()>& play);
inline constexpr std::uint64_t kLeak = std::uint64_t{1} << 20;
// Bytes that are allocated.
std::uint64_t HeapInUse();
// What was freed goes back to the system. It stays here otherwise, in pieces of which few fit what comes next: ten
// thousand plays of clusters would have taken a worker's 2 GiB.
void GiveBackFreedMemory();

// Whether it may be forked at all: no other thread may hold a lock that nobody would release in the child.
bool HasOneThread();

// In the parent. Waits for the end of a worker: its status, as waitpid has it.
int StatusOfDead(pid_t worker);

// Ends what takes longer than its limits: it is asked where it is, then killed. Looked after a few times a second.
class PlayWatch {
 public:
  // What it plays; 0 = nothing. Another item, or another part of it, has all its time again.
  static std::uint64_t BeatOf(const CrashBoard& board);
  void Look(pid_t pid, CrashBoard& board, const PlayLimits& limits);
  // ... with clocks that say this.
  struct Clocks {
    std::int64_t wall_ms = 0;
    std::int64_t cpu_ms = 0;  // of the worker
  };
  void LookAt(pid_t pid, CrashBoard& board, const PlayLimits& limits, const Clocks& now);
  // Of one that died: it had not even answered.
  bool killed() const { return killed_; }

 private:
  std::uint64_t beat_ = 0;
  std::int64_t looked_ms_ = 0;
  std::int64_t waited_ms_ = 0;  // for the beat, or since it was asked
  std::int64_t cpu_ms_ = 0;     // when the beat began
  bool asked_ = false;
  bool killed_ = false;
};

// In the parent. What a dead worker died of.
Crash CrashOf(const CrashBoard& board, int status, const PlayWatch& watch = {});

// Calls `play` in a process of its own and hands over what it returns; or how it died. `on_tick` (may be empty) is
// called while it waits; once it returns false, the process is killed: a Crash "interrupted".
std::variant<std::string, Crash> PlayApart(const std::function<std::string(CrashBoard&)>& play,
                                           const PlayLimits& limits, const std::function<bool()>& on_tick = nullptr);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_CREW_CRASH_H_
