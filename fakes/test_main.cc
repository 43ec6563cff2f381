// The main program of every test: gmock's, which says of a crash what crashed, and in which test.
//
// A test that crashes once in a hundred runs leaves what it printed, and nothing else: no core, no debugger. Sanitizers
// report by themselves, so their presets have gmock's own main.
#include <execinfo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/debugging/symbolize.h"

namespace {

std::array<char, 256> running_test{};  // its name, then zeros: a string cannot be read where nothing may be allocated
std::atomic_flag reports;              // the first thread that crashes; others may follow it

void Say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void SayNumber(std::uintptr_t number, int base) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base);
  Say({digits.data(), static_cast<std::size_t>(end.ptr - digits.data())});
}

// Nothing in here takes from the heap. It ends with the default, and so as if there had been no handler.
void OnCrash(int signal, siginfo_t* info, void*) {
  while (reports.test_and_set()) pause();
  Say("\nSignal ");
  SayNumber(static_cast<std::uintptr_t>(signal), 10);
  if (info->si_code > 0) {  // not sent by somebody
    Say(" at address 0x");
    SayNumber(reinterpret_cast<std::uintptr_t>(info->si_addr), 16);
  }
  Say(running_test[0] == '\0' ? " outside of tests" : " in test ");
  Say(running_test.data());
  Say(":\n");
  std::array<void*, 64> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  for (int i = 0; i < count; ++i) {
    std::array<char, 512> name{};
    Say("  0x");
    SayNumber(reinterpret_cast<std::uintptr_t>(frames[static_cast<std::size_t>(i)]), 16);
    Say(" ");
    // Of a return address the instruction before it is meant.
    const auto* const at = static_cast<const char*>(frames[static_cast<std::size_t>(i)]) - 1;
    Say(absl::Symbolize(at, name.data(), static_cast<int>(name.size())) ? name.data() : "(unknown)");
    Say("\n");
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

class TestName final : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override {
    const std::string name = std::string(test.test_suite_name()) + "." + test.name();
    running_test.fill('\0');
    std::copy_n(name.data(), std::min(name.size(), running_test.size() - 1), running_test.data());
  }
  void OnTestEnd(const testing::TestInfo&) override { running_test.fill('\0'); }
};

void ReportCrashes() {
  // Where the stack of this thread has overflown; another one's overflow ends without a word.
  static std::array<char, 1 << 16> stack;
  const stack_t alternate = {.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_sigaction = &OnCrash;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(signal, &action, nullptr);
  std::array<void*, 1> first{};  // the first call loads a library
  backtrace(first.data(), 1);
}

}  // namespace

int main(int argc, char** argv) {
  absl::InitializeSymbolizer(argv[0]);
  testing::InitGoogleMock(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new TestName);
  ReportCrashes();
  return RUN_ALL_TESTS();
}
