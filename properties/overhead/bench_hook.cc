#include "vigil/properties/overhead/bench_hook.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/properties/overhead/overhead_report.h"

namespace vigil {
namespace {

constexpr int kFailed = 1;
constexpr int kMisuse = 2;

constexpr char kBenchHooksNotes[] =
    "Each hook is measured in pairs of sessions, with it and without, beside a hook that does nothing and those of "
    "the\n"
    "library. Only figures of one run can be compared.\n"
    "\n"
    "Exit codes: 0; 1 a hook could not be measured; 2 misuse, or output that cannot be written.\n";

struct BenchHooksArguments {
  std::vector<std::string> names;
  int blocks = OverheadOptions().blocks;
  int runs = OverheadOptions().runs;
  std::string json;
  std::string svg;
  bool alone = false;
  bool list = false;
};

// A validator of CLI11, as those of vigil's own numbers (cli/words.h): by itself it takes 010 for 8.
auto NumberUpTo(int most) {
  return [most](const std::string& text) {
    int number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    const bool is_one = error == std::errc() && rest == end && text.front() != '0' && number >= 1 && number <= most;
    return is_one ? "" : fmt::format("expected a whole number from 1 to {}, got '{}'", most, text);
  };
}

void AddBenchHooksOptions(CLI::App& app, BenchHooksArguments& a) {
  app.add_option("--hook,NAME", a.names, "What to measure (default: every one of --list)")->type_name("NAME");
  app.add_flag("--list", a.list, "Print the names, and measure nothing");
  app.add_flag("--alone", a.alone, "Without the hooks of the library beside it");
  app.add_option("--blocks", a.blocks, fmt::format("Pairs of blocks for each hook (default: {})", a.blocks))
      ->check(NumberUpTo(100'000))
      ->type_name("N");
  app.add_option("--runs", a.runs, fmt::format("Runs in a block (default: {})", a.runs))
      ->check(NumberUpTo(100'000'000))
      ->type_name("N");
  app.add_option("--json", a.json, "Write the figures to this file as JSON; - for standard output")->type_name("FILE");
  app.add_option("--svg", a.svg, "Write a picture of them to this file")->type_name("FILE");
  app.footer(kBenchHooksNotes);
}

bool WriteTo(const std::string& path, const std::string& text) {
  std::FILE* const file = path == "-" ? stdout : std::fopen(path.c_str(), "we");
  bool ok = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file == stdout) {
    ok = std::fflush(stdout) == 0 && ok;
  } else if (file != nullptr) {
    ok = std::fclose(file) == 0 && ok;
  }
  if (!ok) fmt::print(stderr, "error: cannot write {}: {}\n", path, std::strerror(errno));
  return ok;
}

// Those that were asked for, after those of the library. Empty: a name is none.
std::optional<std::vector<HookToMeasure>> Chosen(const BenchHooksArguments& a,
                                                 const std::vector<HookToMeasure>& known) {
  std::vector<HookToMeasure> chosen;
  if (!a.alone) chosen = BuiltInHooksToMeasure();
  const auto add = [&chosen](const HookToMeasure& hook) {
    if (std::ranges::find(chosen, hook.name, &HookToMeasure::name) == chosen.end()) chosen.push_back(hook);
  };
  if (a.names.empty()) std::ranges::for_each(known, add);
  for (const std::string& name : a.names) {
    const auto it = std::ranges::find(known, name, &HookToMeasure::name);
    if (it == known.end()) {
      fmt::print(stderr, "error: no hook is called '{}'; --list names them\n", name);
      return std::nullopt;
    }
    add(*it);
  }
  return chosen;
}

// A folder that goes with it.
class Scratch {
 public:
  Scratch() {
    std::error_code error;
    std::string path = (std::filesystem::temp_directory_path(error) / "vigil-bench-XXXXXX").string();
    if (!error && ::mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }  // "" = there is none

 private:
  std::string path_;
};

}  // namespace

std::vector<HookToMeasure>& RegisteredHooksToMeasure() {
  static std::vector<HookToMeasure> hooks;
  return hooks;
}

int BenchHooks(int argc, const char* const* argv, const std::vector<HookToMeasure>& known,
               std::function<std::uint64_t()> allocations) {
  BenchHooksArguments a;
  CLI::App app("What hooks cost each run of a session");
  AddBenchHooksOptions(app, a);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kMisuse;
  }
  if (a.list) {
    for (const HookToMeasure& hook : known) fmt::print("{}\n", hook.name);
    return 0;
  }
  const auto hooks = Chosen(a, known);
  if (!hooks.has_value()) return kMisuse;
  const Scratch scratch;
  if (scratch.path().empty()) {
    fmt::print(stderr, "error: cannot make a folder for temporary files: {}; set TMPDIR\n", std::strerror(errno));
    return kMisuse;
  }
  RealEnv real(RealEnvOptions{.log_to_stderr = false});
  const absl::StatusOr<OverheadReport> report = MeasureOverhead(
      real.env(), *hooks,
      {.blocks = a.blocks, .runs = a.runs, .directory = scratch.path(), .allocations = std::move(allocations)});
  if (!report.ok()) {
    fmt::print(stderr, "error: {}\n", MessageOf(report.status()));
    return kFailed;
  }
  if (a.json != "-") fmt::print("{}", OverheadTable(*report));
  const bool written = (a.json.empty() || WriteTo(a.json, OverheadJson(*report))) &&
                       (a.svg.empty() || WriteTo(a.svg, OverheadSvg(*report)));
  return written ? 0 : kMisuse;
}

}  // namespace vigil
