#include "vigil/core/env/real/stderr_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>

namespace vigil {

std::string FormatLogLine(Time now, Severity severity, std::string_view line) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now.since_epoch);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now.since_epoch - seconds);
  const std::time_t whole = seconds.count();
  std::tm utc{};
  gmtime_r(&whole, &utc);
  const char letter = severity == Severity::kInfo ? 'I' : severity == Severity::kWarning ? 'W' : 'E';
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:06} {} {}\n", utc, micros.count(), letter, line);
}

void StderrLog::Write(Severity severity, std::string_view line) {
  if (!enabled_ || severity < threshold_) return;
  // One call, so that the lines of two threads do not mix.
  const std::string text = FormatLogLine(clock_.Now(), severity, line);
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace vigil
