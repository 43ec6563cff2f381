// One life of a task of a job that is played by processes: the program vigil-task, its orders and its words.
//
// It is in a process group of its own (it hears of no Ctrl-C) and dies with the thread that started it. What it says on
// standard error goes into a file.
// Thread safety: belongs to one thread.
#ifndef VIGIL_REPLAYS_REAL_TASK_PROCESS_H_
#define VIGIL_REPLAYS_REAL_TASK_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "vigil/replays/real/task_talk.h"

namespace vigil::replays {

class TaskProcess {
 public:
  // UNAVAILABLE: no process can be had, or no file. That the program cannot be run it says by its end.
  static absl::StatusOr<std::unique_ptr<TaskProcess>> Start(const std::string& program, const std::string& errors_to,
                                                            const TaskOrders& orders);
  ~TaskProcess();  // kills it
  TaskProcess(const TaskProcess&) = delete;
  TaskProcess& operator=(const TaskProcess&) = delete;

  // Readable once it has said something, or has ended; -1: it has, and all was heard.
  int words() const { return words_; }
  // Hands out what it has said.
  absl::Status Hear(const std::function<void(TaskWord)>& heard);

  void Kill();
  void Stop();
  void Continue();

  // Whether it has ended, and how: 0 and more as it exited, below 0 by that signal.
  std::optional<int> ended();

 private:
  TaskProcess(pid_t pid, int words) : pid_(pid), words_(words) {}

  const pid_t pid_;
  int words_;
  WordReader reader_;
  std::optional<int> ended_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_REAL_TASK_PROCESS_H_
