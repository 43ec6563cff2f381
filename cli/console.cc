#include "vigil/cli/console.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "vigil/cli/system.h"
#include "vigil/core/env/real/posix_files.h"

namespace vigil::cli {
namespace {

constexpr std::size_t kBufferBytes = 64 << 10;
constexpr std::chrono::milliseconds kQuietFor{2000};
constexpr std::chrono::milliseconds kBetween{200};
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kPlain = "\x1b[0m";
constexpr std::string_view kClearLine = "\r\x1b[K";

bool WantsColors(int descriptor) {
  return IsTerminal(descriptor) && Variable("NO_COLOR").empty() && Variable("TERM") != "dumb";
}

void AppendColored(std::string& out, std::string_view line) {
  constexpr std::string_view kFailed = "FAILED";
  if (line.starts_with(kFailed)) {
    out.append(kRed).append(kFailed).append(kPlain).append(line.substr(kFailed.size()));
  } else if (line.starts_with("  - ")) {
    out.append(kRed).append(line).append(kPlain);
  } else if (line.starts_with("  + ")) {
    out.append(kGreen).append(line).append(kPlain);
  } else {
    out.append(line);
  }
}

}  // namespace

std::string Colored(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    AppendColored(out, text.substr(0, size));
    text.remove_prefix(size);
    if (!text.empty()) out += '\n';
    text = text.substr(std::min<std::size_t>(1, text.size()));
  }
  return out;
}

Console::Console()
    : out_colors_(WantsColors(STDOUT_FILENO)), err_terminal_(IsTerminal(STDERR_FILENO)), started_(Uptime()) {}

Console::~Console() {
  EndProgress();
  Flush();
}

void Console::Out(std::string_view text) {
  EndProgress();
  buffer_ += out_colors_ ? Colored(text) : std::string(text);
  if (buffer_.size() >= kBufferBytes) Flush();
}

void Console::Err(std::string_view text) {
  EndProgress();
  Flush();
  Write(STDERR_FILENO, text);
}

void Console::Progress(std::string_view line) {
  const std::chrono::milliseconds now = Uptime();
  if (!err_terminal_ || now - started_ < kQuietFor || now - shown_ < kBetween) return;
  Flush();
  Write(STDERR_FILENO, std::string(kClearLine).append(line));
  shown_ = now;
  progress_shown_ = true;
}

void Console::EndProgress() {
  if (!progress_shown_) return;
  Write(STDERR_FILENO, kClearLine);
  progress_shown_ = false;
}

void Console::Flush() {
  Write(STDOUT_FILENO, buffer_);
  buffer_.clear();
}

void Console::Write(int descriptor, std::string_view text) {
  if (descriptor == STDOUT_FILENO && !status_.ok()) return;
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      if (descriptor == STDOUT_FILENO) status_ = PosixError(errno, "write to", "standard output");
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace vigil::cli
