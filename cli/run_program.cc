#include "vigil/cli/run_program.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fmt/format.h"

namespace vigil::cli {

Ran RunShell(const std::string& folder, const std::string& command) {
  const TemporaryFolder streams;
  streams.Write("script",
                fmt::format("unset GITHUB_ACTIONS TF_BUILD TEAMCITY_VERSION\ncd '{}'\nexport VIGIL='{}'\n{}\n", folder,
                            VIGIL_PROGRAM, command));
  const int status = std::system(fmt::format("cd '{}' && bash script >out 2>err </dev/null", streams.path()).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), streams.Read("out"), streams.Read("err")};
}

TemporaryFolder::TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "vigil_cli_XXXXXX").string()) {
  EXPECT_NE(mkdtemp(path_.data()), nullptr);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

void TemporaryFolder::Write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ + "/" + name, std::ios::binary) << text;
}

std::string TemporaryFolder::Read(const std::string& name) const {
  std::ostringstream out;
  out << std::ifstream(path_ + "/" + name, std::ios::binary).rdbuf();
  return std::move(out).str();
}

std::vector<std::string> TemporaryFolder::Names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace vigil::cli
