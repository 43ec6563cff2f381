#include "vigil/cli/serving/serving_program.h"

#include <cstdio>

#include "fmt/format.h"

namespace vigil::cli {

EndSignals::EndSignals() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
}

void EndSignals::Wait() {
  int signal = 0;
  sigwait(&signals_, &signal);
  pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
}

int TellError(std::string_view program, int code, std::string_view what) {
  fmt::print(stderr, "error: {}\n", what);
  if (code == kWrongWords) fmt::print(stderr, "See {} --help\n", program);
  return code;
}

}  // namespace vigil::cli
