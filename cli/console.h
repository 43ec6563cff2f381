// What the program prints: results on standard output, errors and progress on standard error.
//
// Colours and progress are for terminals only; with NO_COLOR (not empty) or TERM=dumb there are no colours.
// Thread safety: belongs to one thread.
#ifndef VIGIL_CLI_CONSOLE_H_
#define VIGIL_CLI_CONSOLE_H_

#include <chrono>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace vigil::cli {

class Console {
 public:
  Console();
  ~Console();

  void Out(std::string_view text);
  void Err(std::string_view text);
  // One line that replaces the one before, once the work has taken two seconds; any other output takes its place.
  void Progress(std::string_view line);
  void EndProgress();
  void Flush();
  // The first error of standard output.
  const absl::Status& status() const { return status_; }

 private:
  void Write(int descriptor, std::string_view text);

  const bool out_colors_;
  const bool err_terminal_;
  const std::chrono::milliseconds started_;
  std::chrono::milliseconds shown_{0};
  bool progress_shown_ = false;
  std::string buffer_;  // for standard output
  absl::Status status_;
};

// Marks the words and lines that matter: what failed, what was expected, what was played instead.
std::string Colored(std::string_view text);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_CONSOLE_H_
