#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "vigil/cli/commands.h"
#include "vigil/cli/console.h"
#include "vigil/cli/output.h"
#include "vigil/cli/system.h"
#include "vigil/core/base/code.h"
#include "vigil/core/env/real/posix_files.h"
#include "vigil/core/env/real/system_clock.h"
#include "vigil/properties/planted/campaign.h"
#include "vigil/replays/escape.h"

namespace vigil::cli {
namespace {

std::vector<std::string> SplitAtCommas(const std::vector<std::string>& given) {
  std::vector<std::string> out;
  for (const std::string& each : given) {
    for (std::size_t from = 0; from <= each.size();) {
      const std::size_t comma = std::min(each.find(',', from), each.size());
      if (comma > from) out.push_back(each.substr(from, comma - from));
      from = comma + 1;
    }
  }
  return out;
}

std::string PlantedListText() {
  std::string text;
  for (const properties::PlantedBug& bug : properties::PlantedBugs()) {
    text += fmt::format("{:<40} {}\n{:<40} {}{}must be found by {}\n", bug.id, bug.mistake, "", bug.NeedsText(),
                        bug.needs == 0 ? "" : "; ", bug.rules);
  }
  return text;
}

}  // namespace

int CheckPlanted(const PlantedArguments& arguments) {
  Console console;
  const auto complain = [&console](const absl::Status& status) {
    console.Err(fmt::format("error: {}\n", replays::Escaped(MessageOf(status))));
    return kMisuse;
  };
  properties::PlantedOptions options{.ids = SplitAtCommas(arguments.ids),
                                     .jobs = arguments.jobs > 0 ? arguments.jobs : Cores()};
  if (options.ids == std::vector<std::string>{"list"}) {
    console.Out(PlantedListText());
    return kPassed;
  }
  if (options.ids.empty()) return complain(UsageError("--planted names no bug; say all, list or the ids of some"));
  if (options.ids == std::vector<std::string>{"all"}) options.ids.clear();
  PosixFiles files;
  SystemClock clock;
  if (arguments.shrink) options.now = [&clock] { return clock.Monotonic(); };
  const bool to_file = !arguments.json.empty() && arguments.json != "-";
  if (to_file) {
    if (const absl::Status status = CheckOutput(files, arguments.json); !status.ok()) return complain(status);
  }
  // With `--json -` standard output belongs to the document.
  const auto print = [&](const std::string& text) { arguments.json == "-" ? console.Err(text) : console.Out(text); };
  StopSignals signals;
  std::uint64_t played = 0;
  properties::PlantedCallbacks callbacks;
  callbacks.on_bug = [&](const properties::PlantedFinding& finding) {
    ++played;
    print(properties::PlantedLine(finding));
    console.Flush();
  };
  callbacks.on_tick = [&] {
    signals.Poll();
    console.Progress(fmt::format("planted: {} bugs played", played));
  };
  const absl::StatusOr<properties::PlantedReport> report =
      properties::RunPlanted(options, callbacks, signals.stopped());
  console.EndProgress();
  if (!report.ok()) return complain(report.status());
  print(properties::PlantedText(*report));
  const std::string json = arguments.json.empty() ? "" : properties::PlantedJson(*report);
  if (arguments.json == "-") console.Out(json);
  if (to_file) {
    if (const absl::Status status = WriteOutput(files, arguments.json, json); !status.ok()) return complain(status);
  }
  console.Flush();
  if (signals.signal() != 0) return kSignalled + signals.signal();
  return report->passed() ? kPassed : kFailed;
}

}  // namespace vigil::cli
