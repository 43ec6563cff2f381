#include "vigil/replays/real/task_process.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/replays/crew/fresh_process.h"

namespace vigil::replays {
namespace {

absl::Status CannotStart(std::string_view what) {
  return MakeStatus(Code::kUnavailable, fmt::format("{}: {}", what, std::strerror(errno)));
}

[[noreturn]] void BecomeTask(int in, int out, int err, pid_t parent, const char* program) {
  BecomeFreshProcess(parent, in, out, err);
  execl(program, program, static_cast<char*>(nullptr));
  std::perror(program);
  _exit(kNoProgram);
}

bool WriteAll(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return false;
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TaskProcess>> TaskProcess::Start(const std::string& program,
                                                                const std::string& errors_to,
                                                                const TaskOrders& orders) {
  const int errors = open(errors_to.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (errors < 0) return CannotStart(errors_to);
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in.data()) != 0 || pipe2(out.data(), O_CLOEXEC) != 0)
    return CannotStart("pipes for a task's process");
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) BecomeTask(in[0], out[1], errors, parent, program.c_str());
  close(in[0]);
  close(out[1]);
  close(errors);
  if (pid < 0) {
    close(in[1]);
    close(out[0]);
    return CannotStart("a task's process");
  }
  setpgid(pid, pid);  // whoever is first: it must be so before it may be killed
  fcntl(out[0], F_SETFL, O_NONBLOCK);
  std::unique_ptr<TaskProcess> process(new TaskProcess(pid, out[0]));
  WriteAll(in[1], PackOrders(orders));  // who is gone already is missed elsewhere
  close(in[1]);
  return process;
}

TaskProcess::~TaskProcess() {
  Kill();
  if (!ended_.has_value()) waitpid(pid_, nullptr, 0);
  if (words_ >= 0) close(words_);
}

absl::Status TaskProcess::Hear(const std::function<void(TaskWord)>& heard) {
  std::array<char, 1 << 16> buffer;
  while (words_ >= 0) {
    const ssize_t got = read(words_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    if (got == 0) {
      close(std::exchange(words_, -1));
      break;
    }
    reader_.Add({buffer.data(), static_cast<std::size_t>(got)});
  }
  while (true) {
    VIGIL_ASSIGN_OR_RETURN(std::optional<TaskWord> word, reader_.Next());
    if (!word.has_value()) return absl::OkStatus();
    heard(*std::move(word));
  }
}

void TaskProcess::Kill() {
  if (!ended_.has_value()) kill(-pid_, SIGKILL);
}
void TaskProcess::Stop() {
  if (!ended_.has_value()) kill(-pid_, SIGSTOP);
}
void TaskProcess::Continue() {
  if (!ended_.has_value()) kill(-pid_, SIGCONT);
}

std::optional<int> TaskProcess::ended() {
  int status = 0;
  if (!ended_.has_value() && waitpid(pid_, &status, WNOHANG) == pid_)
    ended_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return ended_;
}

}  // namespace vigil::replays
