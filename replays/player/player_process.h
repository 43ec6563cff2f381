// A player as a process: lines go to its standard input, lines come from its standard output, and nothing that it does
// or leaves undone keeps us waiting, or takes more memory than one answer may.
//
// It is started by the shell, in a process group of its own (it hears of no Ctrl-C), dies with the process that started
// it, and inherits none of our files. It has ended by the end of its input; what is left after that is killed.
// Thread safety: belongs to one thread.
#ifndef VIGIL_REPLAYS_PLAYER_PLAYER_PROCESS_H_
#define VIGIL_REPLAYS_PLAYER_PLAYER_PROCESS_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "vigil/replays/format/json.h"

namespace vigil::replays {

// What is wrong with a player: "late", "died", "too_much", "unasked", ...; "interrupted": nothing, we were told to end.
struct PlayerFault {
  std::string what;
  std::string detail;  // one line
};

// The longest line.
inline constexpr std::size_t kMostAnswerBytes = kMaxRecordBytes;

class PlayerProcess {
 public:
  explicit PlayerProcess(const std::string& command);
  ~PlayerProcess();
  PlayerProcess(const PlayerProcess&) = delete;
  PlayerProcess& operator=(const PlayerProcess&) = delete;

  // Writes `line` (without its newline) and waits for one line. After a fault it is of no use any more.
  std::variant<std::string, PlayerFault> Ask(std::string_view line, std::chrono::milliseconds limit,
                                             const std::atomic<bool>* interrupt);
  // No time is given to it to end by itself.
  void Kill();
  // The end of what it said on standard error.
  const std::string& last_words() const { return errors_; }

 private:
  bool Read(int from, std::string& into);
  bool Write(std::string_view& unsent);
  void Hear(int& from);
  std::string HowItEnded();
  bool WaitForEnd(std::chrono::milliseconds limit);

  pid_t pid_ = 0;  // 0: it has been waited for
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  int status_ = 0;
  bool asked_ = false;
  std::string received_;  // of standard output, not handed out
  std::string errors_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAYER_PLAYER_PROCESS_H_
