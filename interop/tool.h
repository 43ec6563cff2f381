// What the programs of this folder that are given a command have in common: what they say, and how they end.
// Thread safety: one task at a time.
#ifndef VIGIL_INTEROP_TOOL_H_
#define VIGIL_INTEROP_TOOL_H_

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/base/code.h"
#include "vigil/core/env/real/real_env.h"

namespace vigil::interop {

using Words = std::vector<std::string>;

inline std::string OneLine(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::ranges::replace(text, '\n', ';');
  return text;
}

inline std::string TextOf(const absl::Status& status) {
  return OneLine(fmt::format("{}: {}", CodeName(CodeOf(status)), MessageOf(status)));
}

inline void Say(std::string line) { std::cout << OneLine(std::move(line)) << '\n' << std::flush; }

// What main returns: `run` is called with an env, the first word and the others. What it fails with goes to standard
// error.
template <typename Run>
int RunTool(std::string_view name, int argc, char** argv, const Run& run) {
  if (argc < 2) {
    std::cerr << name << ": no command\n";
    return 2;
  }
  RealEnv real({.log_threshold = Severity::kWarning});
  const absl::Status status = run(real.env(), std::string(argv[1]), Words(argv + 2, argv + argc));
  if (status.ok()) return 0;
  std::cerr << name << ": " << TextOf(status) << '\n';
  return 1;
}

}  // namespace vigil::interop

#endif  // VIGIL_INTEROP_TOOL_H_
