// A signal handler may do next to nothing: it writes one byte, and a thread that may do anything reads it. The pipe is
// made once and stays: a handler that is running in another thread at that moment must never write into what has been
// closed.
#include "vigil/core/env/real/posix_stop_signals.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "vigil/core/base/code.h"

// Of the process, as its dispositions are.
static constinit std::atomic<int> pipe_end_of_the_handler{-1};
static constinit std::atomic<int> pipe_end_of_the_reader{-1};
static constinit std::atomic<bool> sigterm_is_watched{false};

namespace vigil {
namespace {

constexpr char kSignal = 's';
constexpr char kQuit = 'q';

void WriteByte(char byte) {
  ssize_t written = -1;
  do {
    written = write(pipe_end_of_the_handler.load(), &byte, 1);
  } while (written < 0 && errno == EINTR);
}

void OnSignal(int) {
  const int saved = errno;
  WriteByte(kSignal);
  errno = saved;
}

absl::Status SystemError(std::string_view what) {
  const std::error_code error(errno, std::generic_category());
  return MakeStatus(Code::kInternal, fmt::format("SIGTERM cannot be watched for: {}: {}", what, error.message()));
}

absl::Status MakePipe() {
  if (pipe_end_of_the_reader.load() >= 0) return absl::OkStatus();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return SystemError("pipe2");
  pipe_end_of_the_handler.store(ends[1]);
  pipe_end_of_the_reader.store(ends[0]);
  return absl::OkStatus();
}

}  // namespace

class PosixStopSignals::State {
 public:
  ~State() { Uninstall(); }

  absl::StatusOr<std::uint64_t> Add(std::function<void(std::string_view)> told) {
    const std::lock_guard changing(changing_);
    if (!installed_) {
      if (absl::Status status = Install(); !status.ok()) return status;
    }
    const std::lock_guard lock(mutex_);
    told_.emplace(++last_, std::move(told));
    return last_;
  }

  void Remove(std::uint64_t watch) {
    const std::lock_guard changing(changing_);
    bool none = false;
    {
      const std::lock_guard lock(mutex_);
      told_.erase(watch);
      none = told_.empty();
    }
    if (none) Uninstall();
  }

 private:
  // REQUIRES: changing_ is held.
  absl::Status Install() {
    if (sigterm_is_watched.exchange(true)) {
      return MakeStatus(Code::kAlreadyExists,
                        "SIGTERM is watched for by another RealEnv of this process. Give all sessions the same one.");
    }
    absl::Status status = MakePipe();
    try {
      if (status.ok()) reader_ = std::thread([this] { Read(); });
    } catch (const std::system_error& error) {
      status = MakeStatus(Code::kResourceExhausted, fmt::format("SIGTERM cannot be watched for: {}", error.what()));
    }
    if (!status.ok()) {
      sigterm_is_watched.store(false);
      return status;
    }
    signalled_.store(false);
    struct sigaction action = {};
    action.sa_handler = OnSignal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);  // the second one finds the default
    sigaction(SIGTERM, &action, &before_);
    installed_ = true;
    return absl::OkStatus();
  }

  // REQUIRES: changing_ is held, or nobody else is left.
  void Uninstall() {
    if (!std::exchange(installed_, false)) return;
    // After a signal the default stays: the program was asked to end, and whoever asks again means it.
    struct sigaction now = {};
    sigaction(SIGTERM, nullptr, &now);
    if (!signalled_.load() && now.sa_handler == OnSignal) sigaction(SIGTERM, &before_, nullptr);
    WriteByte(kQuit);
    reader_.join();
    sigterm_is_watched.store(false);
  }

  void Read() {
    while (true) {
      char byte = 0;
      const ssize_t got = read(pipe_end_of_the_reader.load(), &byte, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got != 1 || byte == kQuit) return;
      signalled_.store(true);
      const std::lock_guard lock(mutex_);
      for (auto& [number, told] : told_) {
        if (auto once = std::exchange(told, nullptr)) once("SIGTERM");
      }
    }
  }

  std::mutex changing_;  // held while watches come and go
  bool installed_ = false;
  struct sigaction before_ = {};
  std::thread reader_;
  std::atomic<bool> signalled_{false};

  std::mutex mutex_;  // held while they are told
  std::map<std::uint64_t, std::function<void(std::string_view)>> told_;
  std::uint64_t last_ = 0;
};

class PosixStopSignals::Watching final : public SignalWatch {
 public:
  Watching(std::shared_ptr<State> state, std::uint64_t number) : state_(std::move(state)), number_(number) {}
  ~Watching() override { state_->Remove(number_); }

 private:
  const std::shared_ptr<State> state_;
  const std::uint64_t number_;
};

PosixStopSignals::PosixStopSignals() : state_(std::make_shared<State>()) {}
PosixStopSignals::~PosixStopSignals() = default;

absl::StatusOr<std::unique_ptr<SignalWatch>> PosixStopSignals::Watch(std::function<void(std::string_view)> told) {
  const absl::StatusOr<std::uint64_t> number = state_->Add(std::move(told));
  if (!number.ok()) return number.status();
  return std::make_unique<Watching>(state_, *number);
}

}  // namespace vigil
