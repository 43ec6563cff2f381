#include "vigil/cli/system.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <system_error>

#include "vigil/core/base/code.h"
#include "vigil/core/env/real/posix_files.h"

namespace vigil::cli {
namespace {

constexpr std::size_t kChunkBytes = 64 << 10;
constexpr int kPollMilliseconds = 100;
constexpr int kShellSignalBase = 128;

// What a signal handler may touch.
std::atomic<bool> stop_asked{false};
std::atomic<int> stop_signal{0};
std::atomic<std::int64_t> stop_time{0};  // of the first, in milliseconds since some moment; 0 = none
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

// A program like timeout sends one request twice, to the process and to its group: what comes so soon is no second one.
constexpr std::int64_t kOneRequestMilliseconds = 300;

void OnStopSignal(int signal) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t milliseconds = 1 + std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
  std::int64_t first = 0;
  if (stop_time.compare_exchange_strong(first, milliseconds)) {
    stop_signal = signal;
    stop_asked = true;
  } else if (milliseconds - first > kOneRequestMilliseconds) {
    _exit(kShellSignalBase + signal);
  }
}

// Of "/dev/stdout" and the other names of the standard streams that are written to.
std::optional<int> StandardStream(const std::string& path) {
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    if (path == (descriptor == STDOUT_FILENO ? "/dev/stdout" : "/dev/stderr") ||
        path == fmt::format("/dev/fd/{}", descriptor) || path == fmt::format("/proc/self/fd/{}", descriptor)) {
      return descriptor;
    }
  }
  return std::nullopt;
}

std::filesystem::path WholeName(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  return error ? std::filesystem::path(path) : whole.has_filename() ? whole : whole.parent_path();
}

}  // namespace

StopSignals::StopSignals() {
  struct sigaction action = {};
  action.sa_handler = OnStopSignal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

const std::atomic<bool>& StopSignals::stopped() const { return stop_asked; }
int StopSignals::signal() const { return stop_signal; }

void HoldClosedStreams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // It becomes the least one that is free, which is this one; opened for what nobody does with it.
    ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void DieQuietlyOnClosedPipes() { std::signal(SIGPIPE, SIG_DFL); }

absl::StatusOr<std::string> ReadStandardInput(const std::atomic<bool>& stopped) {
  while (!stopped) {
    pollfd input = {STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&input, 1, kPollMilliseconds);
    if (ready < 0 && errno != EINTR) return PosixError(errno, "wait for", "standard input");
    if (ready <= 0) continue;
    std::string chunk(kChunkBytes, '\0');
    const ssize_t got = ::read(STDIN_FILENO, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return PosixError(errno, "read", "standard input");
    chunk.resize(static_cast<std::size_t>(got));
    return chunk;
  }
  return std::string();
}

bool IsTerminal(int descriptor) { return ::isatty(descriptor) == 1; }

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int Cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return CPU_COUNT(&set);
}

std::chrono::milliseconds Uptime() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

bool IsSpecialFile(const std::string& path) {
  if (StandardStream(path).has_value()) return true;
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  return std::filesystem::is_other(status);
}

absl::Status WriteSpecialFile(const std::string& path, std::string_view data) {
  const std::optional<int> stream = StandardStream(path);
  const int fd = stream.has_value() ? ::fcntl(*stream, F_DUPFD_CLOEXEC, 0)
                                    : ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0 && errno == ENXIO) {
    return MakeStatus(Code::kUnavailable, "nobody reads from it");
  }
  if (fd < 0) return PosixError(errno, "open", path);
  if (!stream.has_value()) ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);  // whoever reads may take its time
  absl::Status status;
  while (status.ok() && !data.empty()) {
    const ssize_t written = ::write(fd, data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      status = PosixError(errno, "write to", path);
    } else {
      data.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  ::close(fd);
  return status;
}

std::string BehindLinks(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

bool SameFile(const std::string& one, const std::string& other) {
  if (IsSpecialFile(one) || IsSpecialFile(other)) return false;
  std::error_code error;
  return WholeName(one) == WholeName(other) || std::filesystem::equivalent(one, other, error);
}

bool IsFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

bool IsBelow(const std::string& path, const std::string& folder) {
  if (IsFile(folder)) return false;
  const std::filesystem::path inner = WholeName(path).lexically_relative(WholeName(folder));
  return !inner.empty() && *inner.begin() != "..";
}

std::string ProgramFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

absl::Status Execute(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  return PosixError(errno, "run", program);
}

}  // namespace vigil::cli
