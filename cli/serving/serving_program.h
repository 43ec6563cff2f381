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

// On standard error; of kWrongWords also where to look. Returns the code.
int TellError(std::string_view program, int code, std::string_view what);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_SERVING_SERVING_PROGRAM_H_
