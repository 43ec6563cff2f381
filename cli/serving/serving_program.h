// What the programs that serve until a signal ends them have in common: vigil-serve, vigil-proxy.
//
// Thread safety: main thread.
#ifndef VIGIL_CLI_SERVING_SERVING_PROGRAM_H_
#define VIGIL_CLI_SERVING_SERVING_PROGRAM_H_

#include <signal.h>

#include <string_view>

namespace vigil::cli {

// Exit codes besides 0.
inline constexpr int kCannotServe = 1;
inline constexpr int kWrongWords = 2;

// SIGINT and SIGTERM, from when it is made; before there are threads, which take over that they are blocked.
class EndSignals {
 public:
  EndSignals();
  // For the first. The next one is as if nobody had waited for it.
  void Wait();

 private:
  sigset_t signals_;
};

// On standard error, where that can be written; of kWrongWords also where to look. Returns the code.
int TellError(std::string_view program, int code, std::string_view what);
void Remark(std::string_view text);  // the same without more

// On standard output, at once. 0, or kCannotServe: it cannot be written there, which is told.
int Say(std::string_view program, std::string_view text);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_SERVING_SERVING_PROGRAM_H_
