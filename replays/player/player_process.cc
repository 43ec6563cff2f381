#include "vigil/replays/player/player_process.h"

#include <fcntl.h>
#include <fmt/format.h>
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
#include <optional>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/replays/crew/fresh_process.h"
#include "vigil/replays/format/escape.h"

namespace vigil::replays {
namespace {

constexpr std::int64_t kPlayerTickMs = 50;
constexpr std::chrono::milliseconds kTimeToEnd{2000};
constexpr std::size_t kMostLastWords = 2048;
constexpr std::size_t kShownBytes = 80;

std::int64_t PlayerNowMs() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

[[noreturn]] void BecomePlayer(int in, int out, int err, pid_t parent, const char* command) {
  BecomeFreshProcess(parent, in, out, err);
  execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
  _exit(kNoProgram);
}

void CloseEnd(int& end) {
  if (end >= 0) close(std::exchange(end, -1));
}

}  // namespace

PlayerProcess::PlayerProcess(const std::string& command) {
  int to[2];
  int from[2];
  int errors[2];
  VIGIL_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to) == 0);
  VIGIL_CHECK(pipe2(from, O_CLOEXEC) == 0 && pipe2(errors, O_CLOEXEC) == 0);
  std::fflush(nullptr);
  const pid_t parent = getpid();
  pid_ = fork();
  VIGIL_CHECK(pid_ >= 0);
  if (pid_ == 0) BecomePlayer(to[0], from[1], errors[1], parent, command.c_str());
  setpgid(pid_, pid_);  // whoever is first: it must be so before we may kill it
  close(to[0]);
  close(from[1]);
  close(errors[1]);
  in_ = to[1];
  out_ = from[0];
  err_ = errors[0];
  for (const int end : {in_, out_, err_}) fcntl(end, F_SETFL, O_NONBLOCK);
}

PlayerProcess::~PlayerProcess() {
  CloseEnd(in_);
  if (pid_ > 0) WaitForEnd(kTimeToEnd);
  Kill();
  CloseEnd(out_);
  CloseEnd(err_);
}

void PlayerProcess::Kill() {
  if (pid_ <= 0) return;
  kill(-pid_, SIGKILL);
  while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

// What it still says is thrown away: who has to write first may wait for a reader. Whether it has ended.
bool PlayerProcess::WaitForEnd(std::chrono::milliseconds limit) {
  const std::int64_t end = PlayerNowMs() + limit.count();
  while (PlayerNowMs() < end) {
    const pid_t ended = waitpid(pid_, &status_, WNOHANG);
    if (ended == pid_ || (ended < 0 && errno != EINTR)) {
      kill(-pid_, SIGKILL);  // what it has started itself
      pid_ = 0;
      return true;
    }
    received_.clear();
    pollfd ready[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
    poll(ready, 2, 10);
    if (ready[0].revents != 0) Hear(out_);
    if (ready[1].revents != 0) Hear(err_);
  }
  return false;
}

// False: nothing more can come.
bool PlayerProcess::Read(int from, std::string& into) {
  char buffer[1 << 16];
  const ssize_t got = read(from, buffer, sizeof buffer);
  if (got > 0) into.append(buffer, static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

// False: nobody reads it.
bool PlayerProcess::Write(std::string_view& unsent) {
  const ssize_t wrote = send(in_, unsent.data(), unsent.size(), MSG_NOSIGNAL);
  if (wrote < 0) return errno == EINTR || errno == EAGAIN;
  unsent.remove_prefix(static_cast<std::size_t>(wrote));
  return true;
}

void PlayerProcess::Hear(int& from) {
  std::string& into = &from == &out_ ? received_ : errors_;
  if (!Read(from, into)) CloseEnd(from);
  if (errors_.size() > kMostLastWords) errors_.erase(0, errors_.size() - kMostLastWords);
}

std::string PlayerProcess::HowItEnded() {
  CloseEnd(in_);
  if (pid_ > 0 && !WaitForEnd(kTimeToEnd)) {
    Kill();
    return "it has closed its standard output, and was killed";
  }
  if (WIFSIGNALED(status_)) return fmt::format("it was ended by signal {}", WTERMSIG(status_));
  return fmt::format("it has ended with exit code {}", WEXITSTATUS(status_));
}

std::variant<std::string, PlayerFault> PlayerProcess::Ask(std::string_view line, std::chrono::milliseconds limit,
                                                          const std::atomic<bool>* interrupt) {
  const std::int64_t start = PlayerNowMs();
  // Of the first question nobody can tell what was said before it came and what after.
  const bool first = !std::exchange(asked_, true);
  if (out_ >= 0) Hear(out_);
  if (!first && !received_.empty()) {
    const std::string said = Shortened(received_.substr(0, received_.find('\n')), kShownBytes);
    return PlayerFault{"unasked", fmt::format("it says more than it was asked for: {}", said)};
  }
  const std::string question = fmt::format("{}\n", line);
  std::string_view unsent = question;
  std::size_t looked = 0;  // at so much of what was received
  while (true) {
    const std::size_t end = received_.find('\n', looked);
    if (end != std::string::npos) {
      if (!unsent.empty()) static_cast<void>(Write(unsent));  // who answers too early hears it all the same
      std::string answer = received_.substr(0, end);
      received_.erase(0, end + 1);
      return answer;
    }
    looked = received_.size();
    if (received_.size() > kMostAnswerBytes)
      return PlayerFault{"too_much", fmt::format("a line of more than {} MiB", kMostAnswerBytes >> 20U)};
    if (out_ < 0) return PlayerFault{"died", HowItEnded()};
    if (interrupt != nullptr && *interrupt) return PlayerFault{"interrupted", ""};
    const std::int64_t left = start + limit.count() - PlayerNowMs();
    if (left <= 0) return PlayerFault{"late", fmt::format("no answer within {} s", limit.count() / 1000.0)};
    pollfd ready[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}, {unsent.empty() ? -1 : in_, POLLOUT, 0}};
    if (poll(ready, 3, static_cast<int>(std::min(left, kPlayerTickMs))) <= 0) continue;
    if (ready[0].revents != 0) Hear(out_);
    if (ready[1].revents != 0) Hear(err_);
    if (ready[2].revents != 0 && !Write(unsent)) unsent = {};  // it has died, which is seen at the other end
  }
}

}  // namespace vigil::replays
