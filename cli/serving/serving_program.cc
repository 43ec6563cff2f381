#include "vigil/cli/serving/serving_program.h"

#include "fmt/format.h"
#include "vigil/cli/system.h"
#include "vigil/core/base/code.h"

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
  Remark(fmt::format("error: {}\n", what));
  if (code == kWrongWords) Remark(fmt::format("See {} --help\n", program));
  return code;
}

void Remark(std::string_view text) { WriteSpecialFile("/dev/stderr", text).IgnoreError(); }

int Say(std::string_view program, std::string_view text) {
  const absl::Status wrote = WriteSpecialFile("/dev/stdout", text);
  return wrote.ok() ? 0 : TellError(program, kCannotServe, MessageOf(wrote));
}

}  // namespace vigil::cli
