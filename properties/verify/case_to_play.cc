#include "vigil/properties/verify/case_to_play.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "vigil/replays/escape.h"

namespace vigil {

std::string CaseToPlay() {
  const char* const only = std::getenv("VIGIL_VERIFY_CASE");
  return only == nullptr ? "" : only;
}

std::string ReplayLineOfTest(std::string_view name) {
  std::array<char, 4096> program = {};
  const ssize_t length = readlink("/proc/self/exe", program.data(), program.size());
  const std::string_view path(program.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return fmt::format("VIGIL_VERIFY_CASE={{}} {} --gtest_filter=VigilVerify.{}", replays::ShellWord(path), name);
}

}  // namespace vigil
