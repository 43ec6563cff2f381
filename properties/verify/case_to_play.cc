#include "vigil/properties/verify/case_to_play.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "vigil/replays/format/escape.h"

namespace vigil {

std::string CaseToPlay() {
  const char* const only = std::getenv("VIGIL_VERIFY_CASE");
  return only == nullptr ? "" : only;
}

std::string ReplayLineOfTest(std::string_view name) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path near = std::filesystem::proximate(program, error);
  const bool below = !error && !near.string().starts_with("..");
  const std::string path = below ? "./" + near.string() : program.string();
  return fmt::format("VIGIL_VERIFY_CASE={{}} {} --gtest_filter=VigilVerify.{}", replays::ShellWord(path), name);
}

}  // namespace vigil
