#include "vigil/replays/crew/crew.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/replays/crew/shared_memory.h"

namespace vigil::replays {
namespace {

constexpr std::int64_t kCrewTickMs = 100;
constexpr std::int64_t kLongestHoldMs = 20;                // of a reply that is ready, by its worker
constexpr std::size_t kMostHeld = std::size_t{32} << 10;   // bytes
constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of requests; one may be there anyway
constexpr std::size_t kMostWaiting = 16;                   // requests that a worker has at once, of quick ones
constexpr int kGiveBackAfter = 64;                         // plays
constexpr int kLeakLooks = 16;                             // plays from one look at the heap to the next
constexpr int kMostIdleDeaths = 8;                         // of workers that play nothing

std::int64_t CrewNowMs() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

// A frame is its size, a number and so many bytes.
struct FrameHeader {
  std::uint64_t size = 0;
  std::uint64_t number = 0;
};

void AppendFrame(std::string& to, std::uint64_t number, std::string_view bytes) {
  const FrameHeader header{bytes.size(), number};
  to.append(reinterpret_cast<const char*>(&header), sizeof header);
  to.append(bytes);
}

// The frame at `at`, if all of it is there; moves `at` behind it.
bool TakeFrame(const std::string& from, std::size_t& at, std::uint64_t& number, std::string& bytes) {
  FrameHeader header;
  if (from.size() - at < sizeof header) return false;
  std::memcpy(&header, from.data() + at, sizeof header);
  if (from.size() - at - sizeof header < header.size) return false;
  number = header.number;
  bytes.assign(from, at + sizeof header, header.size);
  at += sizeof header + header.size;
  return true;
}

bool WriteToCrew(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(to, bytes.data(), bytes.size());
    if (wrote < 0 && errno != EINTR) return false;
    bytes.remove_prefix(wrote > 0 ? static_cast<std::size_t>(wrote) : 0);
  }
  return true;
}

// Whether the other end may have more. Of a descriptor that does not block, nothing may be there now.
bool ReadFromCrew(int from, std::string& into) {
  char buffer[1 << 16];
  const ssize_t got = read(from, buffer, sizeof buffer);
  if (got > 0) into.append(buffer, static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

// In a worker: whether what it plays leaves more on the heap each time that it is played. Looking costs: it looks at
// the first requests, then at each only once the heap has grown.
class LeakWatch {
 public:
  std::string Work(CrashBoard& board, const CrewWorker& work, const std::string& request) {
    if (looks_ == 0) {
      if (++plays_ % kLeakLooks == 0 && HeapInUse() >= heap_ + kLeak) looks_ = 4 * kLeakLooks;
      return work(request);
    }
    const std::uint64_t before = HeapInUse();
    std::string reply = work(request);
    heap_ = HeapInUse();
    if (heap_ >= before + reply.capacity() + kLeak) DieIfItLeaks(board, [&] { work(request); });
    if (--looks_ == 0) heap_ = HeapInUse();
    return reply;
  }

 private:
  std::uint64_t heap_ = 0;  // when it was looked at last
  int plays_ = 0;
  int looks_ = kLeakLooks;  // so many further plays are looked at one by one
};

[[noreturn]] void WorkerMain(int in, int out, CrashBoard& board, const CrewOptions& options,
                             const CrewCallbacks& callbacks, const std::atomic<bool>& halted) {
  const CrewView view{.stop = &halted, .part = [&board](std::uint64_t part) { board.part = part; }};
  const CrewWorker work = callbacks.new_worker(view);
  LeakWatch leaks;
  std::string input;
  std::string output;
  std::size_t at = 0;
  std::int64_t flushed = CrewNowMs();
  int played = 0;
  while (!halted) {
    std::uint64_t number = 0;
    std::string request;
    if (!TakeFrame(input, at, number, request)) {
      if (!WriteToCrew(out, std::exchange(output, ""))) break;
      flushed = CrewNowMs();
      input.erase(0, std::exchange(at, 0));
      if (!ReadFromCrew(in, input)) break;
      continue;
    }
    board.part = 0;
    board.item = number + 1;
    AppendFrame(output, number, options.leaks ? leaks.Work(board, work, request) : work(request));
    board.item = 0;
    if (++played % kGiveBackAfter == 0) GiveBackFreedMemory();
    if (output.size() < kMostHeld && CrewNowMs() - flushed < kLongestHoldMs) continue;
    if (!WriteToCrew(out, std::exchange(output, ""))) break;
    flushed = CrewNowMs();
  }
  WriteToCrew(out, output);
  _exit(0);
}

[[noreturn]] void ReaderMain(int out, int credits, const CrewCallbacks& callbacks) {
  std::size_t wanted = 0;
  std::string granted;
  callbacks.read([&](const std::string& request) {
    while (wanted == 0) {
      granted.clear();
      if (!ReadFromCrew(credits, granted)) return false;
      wanted = granted.size();
    }
    --wanted;
    std::string frame;
    AppendFrame(frame, 0, request);
    return WriteToCrew(out, frame);
  });
  _exit(0);
}

struct Child {
  pid_t pid = 0;
  int in = -1;   // we write
  int out = -1;  // we read
  SharedMemory<CrashBoard> board = nullptr;
  std::string received = {};
};

class Crew {
 public:
  Crew(const CrewOptions& options, const CrewCallbacks& callbacks, const std::atomic<bool>& stop)
      : options_(options),
        callbacks_(callbacks),
        stop_(stop),
        capacity_(static_cast<std::size_t>(options.ahead) * static_cast<std::size_t>(options.jobs)) {
    workers_.resize(static_cast<std::size_t>(options.jobs));
    for (Worker& worker : workers_) Start(worker);
    if (callbacks_.read) StartReader();
  }
  ~Crew() {
    for (Worker& worker : workers_) End(worker.child);
    End(reader_);
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  CrewSummary Run() {
    while (true) {
      if (stop_ && !Halted()) {
        summary_.stopped = true;
        Halt();
      }
      if (callbacks_.next && !Halted()) TakeNext();
      Assign();
      if (Finished()) break;
      Wait();
      HandOut();
      Tick();
    }
    HandOut();
    return summary_;
  }

 private:
  struct Entry {
    std::string request;
    std::string reply;
    std::optional<Crash> crash;
    std::uint64_t part = 0;
    bool done = false;
  };
  struct Worker {
    Child child;
    std::string unsent;
    std::size_t sent = 0;             // of that
    std::deque<std::uint64_t> given;  // numbers, in order
    PlayWatch watch;
    std::int64_t idle_since = CrewNowMs();
    double each_ms = 1;  // how long a request takes
  };

  bool Halted() const { return *halted_; }
  // Nothing further is begun.
  void Halt() {
    *halted_ = true;
    End(reader_);
    read_all_ = true;
    for (Worker& worker : workers_) CloseInput(worker);
  }

  void CloseInput(Worker& worker) {
    if (worker.child.in >= 0) close(std::exchange(worker.child.in, -1));
    worker.unsent.clear();
    worker.sent = 0;
  }

  void Start(Worker& worker) {
    worker = Worker();
    worker.child.board = NewSharedMemory<CrashBoard>();
    Fork(worker.child, [&](int in, int out) {
      PrepareWorker(*worker.child.board, options_.limits, parent_);
      WorkerMain(in, out, *worker.child.board, options_, callbacks_, *halted_);
    });
    fcntl(worker.child.in, F_SETFL, O_NONBLOCK);
    fcntl(worker.child.out, F_SETFL, O_NONBLOCK);
  }

  void StartReader() {
    reader_.board = NewSharedMemory<CrashBoard>();
    Fork(reader_, [&](int in, int out) {
      PlayLimits limits;
      limits.memory = ~std::uint64_t{0} >> 2;
      PrepareWorker(*reader_.board, limits, parent_);
      ReaderMain(out, in, callbacks_);
    });
    fcntl(reader_.out, F_SETFL, O_NONBLOCK);
    read_all_ = false;
    Grant(capacity_);
  }

  // `body` does not return. It inherits none of our ends of other pipes: who waits for their end would wait for it,
  // too.
  template <typename Body>
  void Fork(Child& child, const Body& body) {
    int to[2];
    int from[2];
    VIGIL_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, to) == 0 && pipe(from) == 0);
    std::fflush(nullptr);
    child.pid = fork();
    VIGIL_CHECK(child.pid >= 0);
    if (child.pid == 0) {
      for (const Worker& other : workers_) CloseEnds(other.child);
      CloseEnds(reader_);
      close(to[1]);
      close(from[0]);
      body(to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    child.in = to[1];
    child.out = from[0];
  }

  static void CloseEnds(const Child& child) {
    if (child.in >= 0) close(child.in);
    if (child.out >= 0) close(child.out);
  }

  static void End(Child& child) {
    CloseEnds(child);
    if (child.pid > 0) {
      if (child.out >= 0) kill(child.pid, SIGKILL);  // nobody hears what it says
      StatusOfDead(child.pid);
    }
    child = Child();
  }

  void TakeNext() {
    while (!read_all_ && HasRoom()) {
      std::optional<std::string> request = callbacks_.next();
      if (!request.has_value()) {
        read_all_ = true;
      } else {
        Enter(*std::move(request));
      }
    }
  }
  bool HasRoom() const { return entries_.empty() || (entries_.size() < capacity_ && bytes_ < kMostBytes); }

  void Enter(std::string request) {
    bytes_ += request.size();
    waiting_.insert(first_ + entries_.size());
    entries_.emplace_back().request = std::move(request);
  }
  Entry& EntryOf(std::uint64_t number) { return entries_[number - first_]; }

  void Grant(std::size_t requests) {
    if (reader_.in < 0 || requests == 0) return;
    const std::string granted(requests, '.');  // few: they fit; and if it has died, that is seen at the other end
    (void)!send(reader_.in, granted.data(), granted.size(), MSG_NOSIGNAL);
  }

  // Those that take long wait here: whoever is free first gets them.
  void Assign() {
    while (!waiting_.empty() && !Halted()) {
      Worker* least = nullptr;
      for (Worker& worker : workers_) {
        const std::size_t most =
            std::clamp<std::size_t>(static_cast<std::size_t>(5.0 / worker.each_ms), 2, kMostWaiting);
        if (worker.given.size() >= std::min<std::size_t>(most, static_cast<std::size_t>(options_.ahead))) continue;
        if (least == nullptr || worker.given.size() < least->given.size()) least = &worker;
      }
      if (least == nullptr) return;
      if (least->child.pid == 0) Start(*least);
      const std::uint64_t number = *waiting_.begin();
      waiting_.erase(waiting_.begin());
      if (least->given.empty()) least->idle_since = CrewNowMs();
      least->given.push_back(number);
      AppendFrame(least->unsent, number, EntryOf(number).request);
      Send(*least);
    }
  }

  static void Send(Worker& worker) {
    while (worker.sent < worker.unsent.size() && worker.child.in >= 0) {
      const ssize_t wrote =
          send(worker.child.in, worker.unsent.data() + worker.sent, worker.unsent.size() - worker.sent, MSG_NOSIGNAL);
      if (wrote <= 0) return;  // it is full, or whoever reads it has died, which is seen at the other end
      worker.sent += static_cast<std::size_t>(wrote);
    }
    worker.unsent.clear();
    worker.sent = 0;
  }

  bool Finished() {
    const bool all = read_all_ && entries_.empty();
    if (all && !Halted()) Halt();
    if (!Halted()) return false;
    return std::ranges::all_of(workers_, [](const Worker& worker) { return worker.child.pid == 0; });
  }

  void Wait() {
    std::vector<pollfd> ready;
    for (const Worker& worker : workers_) {
      ready.push_back({worker.child.out, POLLIN, 0});
      ready.push_back({worker.unsent.empty() ? -1 : worker.child.in, POLLOUT, 0});
    }
    const bool reads = reader_.out >= 0 && (bytes_ < kMostBytes || entries_.empty());
    ready.push_back({reads ? reader_.out : -1, POLLIN, 0});
    if (poll(ready.data(), ready.size(), static_cast<int>(kCrewTickMs)) <= 0) return;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (ready[2 * i + 1].revents != 0) Send(workers_[i]);
      if (ready[2 * i].revents != 0) Hear(workers_[i]);
    }
    if (ready.back().revents != 0) Read();
  }

  void Read() {
    const bool more = ReadFromCrew(reader_.out, reader_.received);
    std::uint64_t number = 0;
    std::string request;
    std::size_t at = 0;
    while (TakeFrame(reader_.received, at, number, request)) Enter(std::move(request));
    reader_.received.erase(0, at);
    if (more) return;
    close(std::exchange(reader_.out, -1));
    const int status = StatusOfDead(reader_.pid);
    reader_.pid = 0;
    read_all_ = true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    Enter("");
    EntryOf(first_ + entries_.size() - 1).crash = CrashOf(*reader_.board, status);
    EntryOf(first_ + entries_.size() - 1).done = true;
    waiting_.erase(first_ + entries_.size() - 1);
  }

  void Hear(Worker& worker) {
    const bool more = ReadFromCrew(worker.child.out, worker.child.received);
    std::uint64_t number = 0;
    std::string reply;
    std::size_t at = 0;
    std::size_t heard = 0;
    while (TakeFrame(worker.child.received, at, number, reply)) {
      std::erase(worker.given, number);
      Entry& entry = EntryOf(number);
      bytes_ -= entry.request.size();
      entry.request = std::string();
      entry.reply = std::move(reply);
      entry.done = true;
      ++heard;
    }
    worker.child.received.erase(0, at);
    if (heard > 0) {
      const std::int64_t now = CrewNowMs();
      worker.each_ms = std::max(0.01, static_cast<double>(now - worker.idle_since) / static_cast<double>(heard));
      worker.idle_since = now;
    }
    if (!more) Died(worker);
  }

  // What it was given and has not answered others do, but for what it died of.
  void Died(Worker& worker) {
    const std::uint64_t item = worker.child.board->item;
    const std::uint64_t part = worker.child.board->part;
    const int status = StatusOfDead(worker.child.pid);
    worker.child.pid = 0;
    const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const Crash crash = well ? Crash{.what = "exit", .detail = "exit code 0", .frames = {}}
                             : CrashOf(*worker.child.board, status, worker.watch);
    const std::deque<std::uint64_t> given = std::move(worker.given);
    End(worker.child);
    worker = Worker();
    const bool blamed = item > 0 && std::ranges::count(given, item - 1) > 0;
    for (const std::uint64_t number : given) {
      if (!blamed || number != item - 1) {
        waiting_.insert(number);
        continue;
      }
      Entry& entry = EntryOf(number);
      entry.crash = crash;
      entry.part = part;
      entry.done = true;
    }
    if (!blamed && !well && ++idle_deaths_ > kMostIdleDeaths) GiveUp();
  }

  // Nobody waits for the others, which may not end either.
  void GiveUp() {
    summary_.given_up = true;
    cut_ = true;
    Halt();
    for (const Worker& worker : workers_) {
      if (worker.child.pid > 0) kill(worker.child.pid, SIGKILL);
    }
  }

  void HandOut() {
    std::size_t handed_out = 0;
    while (!entries_.empty() && entries_.front().done && !cut_) {
      if (entries_.front().crash.has_value()) {
        if (HandOutCrash(entries_.front())) continue;
      } else if (!callbacks_.on_reply(entries_.front().reply)) {
        cut_ = true;
      }
      entries_.pop_front();
      ++first_;
      ++handed_out;
    }
    owed_ += handed_out;
    if (owed_ > capacity_ / 2 || entries_.empty()) Grant(std::exchange(owed_, 0));
  }

  // True: it is made once more, in another way.
  bool HandOutCrash(Entry& entry) {
    const Crash crash = *std::exchange(entry.crash, std::nullopt);
    bytes_ -= entry.request.size();
    std::optional<std::string> instead = callbacks_.on_crash(entry.request, entry.part, crash);
    const bool slow = crash.what == "timeout";
    if (++crashes_ >= options_.most_crashes || (slow && ++timeouts_ >= options_.most_timeouts)) {
      if (!Halted()) GiveUp();
    }
    if (!instead.has_value() || Halted()) return false;
    bytes_ += instead->size();
    entry.request = *std::move(instead);
    entry.done = false;
    waiting_.insert(first_);
    return true;
  }

  void Tick() {
    if (callbacks_.on_tick) callbacks_.on_tick();
    const std::int64_t now = CrewNowMs();
    if (now - ticked_ < kCrewTickMs) return;
    ticked_ = now;
    for (Worker& worker : workers_) {
      if (worker.child.pid == 0) continue;
      worker.watch.Look(worker.child.pid, *worker.child.board, options_.limits);
    }
  }

  const CrewOptions& options_;
  const CrewCallbacks& callbacks_;
  const std::atomic<bool>& stop_;
  const std::size_t capacity_;
  const pid_t parent_ = getpid();
  const SharedMemory<std::atomic<bool>> halted_ = NewSharedMemory<std::atomic<bool>>();

  std::vector<Worker> workers_;
  Child reader_;
  std::deque<Entry> entries_;        // in order
  std::uint64_t first_ = 0;          // number of the first of them
  std::set<std::uint64_t> waiting_;  // numbers of those that nobody has
  std::size_t bytes_ = 0;            // of requests
  std::size_t owed_ = 0;             // requests that the reader may read beyond what it was told
  bool read_all_ = false;
  bool cut_ = false;
  int idle_deaths_ = 0;
  std::uint64_t crashes_ = 0;
  std::uint64_t timeouts_ = 0;
  std::int64_t ticked_ = CrewNowMs();
  CrewSummary summary_;
};

// Everything right here.
CrewSummary WorkAlone(const CrewCallbacks& callbacks, const std::atomic<bool>& stop) {
  const CrewWorker work = callbacks.new_worker({.stop = &stop, .part = [](std::uint64_t) {}});
  const auto play = [&](const std::string& request) {
    if (stop) return false;
    const bool counts = callbacks.on_reply(work(request));
    if (callbacks.on_tick) callbacks.on_tick();
    return counts;
  };
  if (callbacks.read) {
    callbacks.read(play);
  } else {
    for (std::optional<std::string> request; (request = callbacks.next()).has_value() && play(*request);) {
    }
  }
  return {.stopped = stop};
}

}  // namespace

CrewCallbacks OneRequest(std::function<std::string(const CrewView&)> work,
                         std::function<void(const std::string& reply)> on_reply,
                         std::function<void(const Crash&)> on_crash) {
  CrewCallbacks crew;
  crew.next = [asked = false]() mutable -> std::optional<std::string> {
    if (std::exchange(asked, true)) return std::nullopt;
    return "the only one";
  };
  crew.new_worker = [work = std::move(work)](const CrewView& view) -> CrewWorker {
    return [work, view](const std::string&) { return work(view); };
  };
  crew.on_reply = [on_reply = std::move(on_reply)](const std::string& reply) {
    on_reply(reply);
    return true;
  };
  crew.on_crash = [on_crash = std::move(on_crash)](const std::string&, std::uint64_t, const Crash& crash) {
    on_crash(crash);
    return std::optional<std::string>();
  };
  return crew;
}

CrewSummary RunCrew(const CrewOptions& options, const CrewCallbacks& callbacks, const std::atomic<bool>& stop) {
  return options.jobs <= 0 ? WorkAlone(callbacks, stop) : Crew(options, callbacks, stop).Run();
}

}  // namespace vigil::replays
