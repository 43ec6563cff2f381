#include "vigil/replays/crew/crash.h"

#include <execinfo.h>
#include <malloc.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <new>
#include <utility>

#include "absl/debugging/symbolize.h"
#include "fmt/format.h"
#ifdef VIGIL_JEMALLOC
#include "jemalloc/jemalloc.h"
#endif
#include "vigil/core/base/check.h"
#include "vigil/replays/crew/shared_memory.h"

#ifdef VIGIL_JEMALLOC
// jemalloc reads it. What was freed stays with the process until GiveBackFreedMemory: giving it back takes time, and to
// know when, jemalloc looks at the clock, which would be taken for the hook's doing (properties/verify/outside).
const char* malloc_conf = "dirty_decay_ms:-1,muzzy_decay_ms:-1";
#endif

namespace vigil::replays {
namespace {

#if defined(VIGIL_SANITIZES_THREAD)
constexpr int kOwnThreads = 2;  // one is the sanitizer's
#else
constexpr int kOwnThreads = 1;
#endif
#if defined(VIGIL_SANITIZES_ADDRESS) || defined(VIGIL_SANITIZES_THREAD)
constexpr bool kSanitized = true;  // it tells of crashes itself, and needs all the address space there is
constexpr int kSlower = 10;
#else
constexpr bool kSanitized = false;
constexpr int kSlower = 1;
#endif

constexpr int kDied = 113;           // exit code of who has written on its board
constexpr int kAskSignal = SIGUSR2;  // "where are you?"
constexpr std::size_t kSignatureFrames = 3;
constexpr int kApartTickMs = 100;
// Of the time between two looks at a play so much counts. What is more, its parent has stood still as well (Ctrl-Z).
constexpr std::int64_t kLongestBetweenMs = 1000;
constexpr std::int64_t kPatienceMs = 2000;  // with who was asked: the names of its stack are looked up
constexpr int kLeakRepeats = 4;             // plays of the same that must all leave as much

// A handler of signals has no arguments of its own.
constinit CrashBoard* own_board = nullptr;
alignas(16) char handler_stack[std::size_t{256} << 10];

struct NamedSignal {
  int number;
  const char* name;
};
constexpr NamedSignal kSignals[] = {{SIGSEGV, "signal_segv"}, {SIGBUS, "signal_bus"},   {SIGFPE, "signal_fpe"},
                                    {SIGILL, "signal_ill"},   {SIGTRAP, "signal_trap"}, {SIGABRT, "abort"}};

void Copy(std::string_view text, char* to, std::size_t size) {
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

// The innermost frame of ours first; those above the handler are left out.
void WriteCrashFrames(CrashBoard& board, int skip) {
  void* addresses[64];
  const int depth = backtrace(addresses, 64);
  std::size_t written = 0;
  for (int i = skip; i < depth && written < kCrashFrames; ++i) {
    char name[sizeof board.frames[0]];
    char* const inside =
        static_cast<char*>(addresses[i]) - (i == skip ? 0 : 1);  // not after a call that ends a function
    if (!absl::Symbolize(inside, name, sizeof name)) continue;
    if (std::strcmp(name, "vigil::CheckFailed()") == 0) Copy("check_failed", board.what, sizeof board.what);
    const bool ours = std::strstr(name, "vigil::") != nullptr && std::strcmp(name, "vigil::CheckFailed()") != 0;
    if (ours) Copy(name, board.frames[written++], sizeof board.frames[0]);
  }
}

void OnSignal(int number, siginfo_t*, void*);

void Catch(int number) {
  struct sigaction action {};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_RESTART;
  sigaction(number, &action, nullptr);
}

void OnSignal(int number, siginfo_t*, void*) {
  CrashBoard& board = *own_board;
  if (number == kAskSignal && board.asked != PlayWatch::BeatOf(board)) {
    Catch(number);  // it was too late: what took so long has ended
    return;
  }
  if (board.what[0] == '\0') {
    Copy(number == kAskSignal ? "timeout" : "signal", board.what, sizeof board.what);
    for (const NamedSignal& known : kSignals) {
      if (known.number == number) Copy(known.name, board.what, sizeof board.what);
    }
    WriteCrashFrames(board, 2);
  }
  _exit(kDied);
}

// How std::terminate comes to its end, by abort(), tells nothing of why: it may be called in several ways, not all with
// a name.
void OnTerminate() {
  CrashBoard& board = *own_board;
  Copy("uncaught_exception", board.what, sizeof board.what);
  WriteCrashFrames(board, 2);
  // What is no std::exception goes on to abort(), which finds that all is said.
  try {
    if (const std::exception_ptr thrown = std::current_exception(); thrown != nullptr) std::rethrow_exception(thrown);
  } catch (const std::exception& exception) {
    Copy(exception.what(), board.detail, sizeof board.detail);
  }
  _exit(kDied);
}

void OnNoMemory() {
  std::set_new_handler(nullptr);
  CrashBoard& board = *own_board;
  Copy("memory", board.what, sizeof board.what);
  WriteCrashFrames(board, 2);
  _exit(kDied);
}

void LimitWorker(int resource, std::uint64_t most) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource>(resource), &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, most);
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

// Of address space, in bytes. Nobody asks under a sanitizer.
[[maybe_unused]] std::uint64_t OwnSize() {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long pages = 0;
  if (std::fscanf(file, "%llu", &pages) != 1) pages = 0;
  std::fclose(file);
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::int64_t CrashClockMs(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return -1;
  return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

// False at the end.
bool ReadApart(int from, std::string& into) {
  char buffer[1 << 16];
  const ssize_t got = read(from, buffer, sizeof buffer);
  if (got < 0) return errno == EINTR;
  into.append(buffer, static_cast<std::size_t>(got));
  return got > 0;
}

}  // namespace

std::string Crash::Signature() const {
  std::string text = what;
  if (what == "timeout" || what == "memory" || what == "leak") return text;
  for (std::size_t i = 0; i < std::min(frames.size(), kSignatureFrames); ++i) text += " < " + frames[i];
  return text;
}

std::string Crash::Line() const {
  return fmt::format("{}{}{}{}{}", rule(), frames.empty() ? "" : " in ", frames.empty() ? "" : frames.front(),
                     detail.empty() ? "" : ": ", detail);
}

std::string Crash::Stack() const {
  std::string text;
  for (const std::string& frame : frames) text += fmt::format("    in  {}\n", frame);
  return text;
}

bool IsCrashRule(std::string_view rule) { return rule.starts_with("crash."); }

void PrepareWorker(CrashBoard& board, const PlayLimits& limits, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kDied);  // it was too late for that
  own_board = &board;
  LimitWorker(RLIMIT_CORE, 0);
  std::signal(SIGPIPE, SIG_DFL);
  if constexpr (!kSanitized) LimitWorker(RLIMIT_AS, OwnSize() + limits.memory);
  std::set_new_handler(OnNoMemory);
  std::set_terminate(OnTerminate);
  void* warm[1];
  backtrace(warm, 1);  // it loads a library when it is called first
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  sigaltstack(&stack, nullptr);
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, kAskSignal);
  Catch(kAskSignal);
  for (const NamedSignal& known : kSignals) {
    if (kSanitized && known.number != SIGABRT) continue;
    Catch(known.number);
    sigaddset(&wanted, known.number);
  }
  sigprocmask(SIG_UNBLOCK, &wanted, nullptr);
}

void DieOf(CrashBoard& board, std::string_view what, std::string_view detail) {
  Copy(what, board.what, sizeof board.what);
  Copy(detail, board.detail, sizeof board.detail);
  _exit(kDied);
}

void DieIfItLeaks(CrashBoard& board, const std::function<void()>& play) {
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t last = HeapInUse();
  for (int i = 0; i < kLeakRepeats; ++i) {
    play();
    const std::uint64_t before = std::exchange(last, HeapInUse());
    least = std::min(least, last > before ? last - before : 0);
    if (least < kLeak) return;
  }
  DieOf(board, "leak", fmt::format("each play leaves {} KiB more on the heap", least >> 10));
}

std::uint64_t HeapInUse() {
#ifdef VIGIL_JEMALLOC
  // Its numbers are those of the last time that the epoch was set.
  std::uint64_t epoch = 1;
  std::size_t size = sizeof epoch;
  VIGIL_CHECK(mallctl("epoch", &epoch, &size, &epoch, size) == 0);
  std::size_t allocated = 0;
  size = sizeof allocated;
  VIGIL_CHECK(mallctl("stats.allocated", &allocated, &size, nullptr, 0) == 0);
  return allocated;
#else
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
#endif
}

void GiveBackFreedMemory() {
#ifdef VIGIL_JEMALLOC
  const std::string all = fmt::format("arena.{}.purge", MALLCTL_ARENAS_ALL);
  VIGIL_CHECK(mallctl(all.c_str(), nullptr, nullptr, nullptr, 0) == 0);
#else
  malloc_trim(0);
#endif
}

bool HasOneThread() {
  std::FILE* const file = std::fopen("/proc/self/status", "re");
  if (file == nullptr) return false;
  int threads = 0;
  for (char line[256]; threads == 0 && std::fgets(line, sizeof line, file) != nullptr;) {
    if (std::strncmp(line, "Threads:", 8) == 0) threads = std::atoi(line + 8);
  }
  std::fclose(file);
  return threads > 0 && threads <= kOwnThreads;
}

int StatusOfDead(pid_t worker) {
  int status = 0;
  while (waitpid(worker, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

Crash CrashOf(const CrashBoard& board, int status, const PlayWatch& watch) {
  Crash crash{.what = board.what, .detail = board.detail, .frames = {}};
  for (const auto& frame : board.frames) {
    if (frame[0] != '\0') crash.frames.emplace_back(frame);
  }
  if (!crash.what.empty()) return crash;
  if (watch.killed()) {
    crash.what = "timeout";
    return crash;
  }
  if (WIFSIGNALED(status)) {
    crash.what = WTERMSIG(status) == SIGKILL ? "killed" : "signal";
    for (const NamedSignal& known : kSignals) {
      if (known.number == WTERMSIG(status)) crash.what = known.name;
    }
    return crash;
  }
  crash.what = kSanitized ? "sanitizer" : "exit";
  crash.detail = fmt::format("exit code {}", WEXITSTATUS(status));
  return crash;
}

std::uint64_t PlayWatch::BeatOf(const CrashBoard& board) {
  const std::uint64_t item = board.item;
  return item == 0 ? 0 : item * 1'000'003 + board.part;
}

void PlayWatch::Look(pid_t pid, CrashBoard& board, const PlayLimits& limits) {
  clockid_t clock{};
  if (clock_getcpuclockid(pid, &clock) != 0) return;
  LookAt(pid, board, limits, {.wall_ms = CrashClockMs(CLOCK_MONOTONIC), .cpu_ms = CrashClockMs(clock)});
}

void PlayWatch::LookAt(pid_t pid, CrashBoard& board, const PlayLimits& limits, const Clocks& now) {
  const std::uint64_t beat = BeatOf(board);
  const std::int64_t passed = std::min(now.wall_ms - looked_ms_, kLongestBetweenMs);
  looked_ms_ = now.wall_ms;
  if (beat != beat_ || beat == 0) {
    beat_ = beat;
    waited_ms_ = 0;
    cpu_ms_ = now.cpu_ms;
    asked_ = false;
    return;
  }
  waited_ms_ += passed;
  if (asked_ && waited_ms_ > kPatienceMs) {
    killed_ = true;
    kill(pid, SIGKILL);
  }
  const bool over = now.cpu_ms - cpu_ms_ > limits.cpu.count() * kSlower || waited_ms_ > limits.wall.count() * kSlower;
  if (asked_ || !over) return;
  asked_ = true;
  waited_ms_ = 0;
  board.asked = beat;
  kill(pid, kAskSignal);
}

std::variant<std::string, Crash> PlayApart(const std::function<std::string(CrashBoard&)>& play,
                                           const PlayLimits& limits, const std::function<bool()>& on_tick) {
  const SharedMemory<CrashBoard> board = NewSharedMemory<CrashBoard>();
  int ends[2];
  VIGIL_CHECK(pipe(ends) == 0);
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  VIGIL_CHECK(pid >= 0);
  if (pid == 0) {
    close(ends[0]);
    PrepareWorker(*board, limits, parent);
    board->item = 1;
    const std::string result = play(*board);
    for (std::size_t at = 0; at < result.size();) {
      const ssize_t wrote = write(ends[1], result.data() + at, result.size() - at);
      if (wrote < 0 && errno != EINTR) break;
      at += wrote > 0 ? static_cast<std::size_t>(wrote) : 0;
    }
    _exit(0);
  }
  close(ends[1]);
  std::string result;
  PlayWatch watch;
  bool interrupted = false;
  pollfd ready{.fd = ends[0], .events = POLLIN, .revents = 0};
  while (true) {
    if (poll(&ready, 1, kApartTickMs) > 0) {
      if (!ReadApart(ends[0], result)) break;
      continue;
    }
    watch.Look(pid, *board, limits);
    if (!interrupted && on_tick && !on_tick()) {
      interrupted = true;
      kill(pid, SIGKILL);
    }
  }
  close(ends[0]);
  const int status = StatusOfDead(pid);
  const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  Crash crash = well ? Crash() : CrashOf(*board, status, watch);
  if (well) return result;
  if (interrupted) crash.what = "interrupted";
  return crash;
}

}  // namespace vigil::replays
