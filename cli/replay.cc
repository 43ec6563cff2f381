#include <memory>
#include <set>
#include <string>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/console.h"
#include "vigil/cli/output.h"
#include "vigil/cli/system.h"
#include "vigil/core/base/code.h"
#include "vigil/core/env/real/posix_files.h"
#include "vigil/replays/escape.h"
#include "vigil/replays/perfetto.h"
#include "vigil/replays/report.h"
#include "vigil/replays/timeline_page.h"

namespace vigil::cli {
namespace {

using replays::Reporter;

// Everything about one call of `vigil replay`.
class ReplayRun {
 public:
  explicit ReplayRun(const ReplayArguments& arguments)
      : arguments_(arguments),
        reporter_(
            {.trace = arguments.trace, .json = !arguments.json.empty(), .hashes = !arguments.hashes.empty()},
            [this](std::string_view text) { Print(text); }, [this](std::string_view text) { console_.Err(text); }) {}

  int Run() {
    for (const std::string& path :
         {arguments_.json == "-" ? "" : arguments_.json, arguments_.hashes, arguments_.timeline, arguments_.perfetto}) {
      if (!CanSave(path)) return kMisuse;
    }
    const replays::PlaySummary summary = Play();
    console_.EndProgress();
    reporter_.Finish(summary.stopped);
    bool written = true;
    if (arguments_.json == "-") {
      console_.Out(reporter_.TakeJson());
    } else if (!arguments_.json.empty()) {
      written = Save(arguments_.json, reporter_.TakeJson()) && written;
    }
    if (!arguments_.hashes.empty()) written = Save(arguments_.hashes, reporter_.TakeHashes()) && written;
    if (LooksAtOne(arguments_) && signals_.signal() == 0) written = SavePictures() && written;
    for (const std::string& id : summary.unknown_ids) {
      Complain(fmt::format("no scenario is called {}", replays::Quoted(id)));
    }
    const bool nodes_known = signals_.signal() != 0 || CheckNodes();
    console_.Flush();
    if (!console_.status().ok()) Complain(MessageOf(console_.status()));
    if (signals_.signal() != 0) return kSignalled + signals_.signal();
    if (!written || !console_.status().ok() || reporter_.unreadable() > 0 || !summary.unknown_ids.empty() ||
        !nodes_known) {
      return kMisuse;
    }
    return reporter_.failed() > 0 ? kFailed : kPassed;
  }

 private:
  replays::PlaySummary Play() {
    replays::PlayOptions options;
    options.jobs = arguments_.jobs > 0 ? arguments_.jobs : Cores();
    options.only = arguments_.only;
    replays::PlayCallbacks callbacks;
    const replays::ChunkSource standard_input = [this] { return ReadStandardInput(signals_.stopped()); };
    callbacks.read = [&](const replays::OnRecord& on_record) {
      replays::ReadRecords(files_, standard_input, arguments_.paths, on_record);
    };
    callbacks.new_player = [this] { return NewPlayer(arguments_, signals_.stopped()); };
    callbacks.on_result = [this](const replays::Result& result) {
      reporter_.Add(result);
      nodes_.insert(result.outcome.nodes.begin(), result.outcome.nodes.end());
      if (result.outcome.timeline == nullptr) return;
      if (++pictures_ == 1) picture_ = result.outcome.timeline;
    };
    callbacks.on_tick = [this] {
      signals_.Poll();
      console_.Flush();
      console_.Progress(
          fmt::format("{} played, {} failed", reporter_.passed() + reporter_.failed(), reporter_.failed()));
    };
    return replays::PlayAll(options, callbacks, signals_.stopped());
  }

  // Each that is to be shown must be a node of some cluster that was played.
  bool CheckNodes() {
    bool known = true;
    for (const std::string& name : arguments_.only_nodes) {
      if (nodes_.contains(name)) continue;
      known = false;
      const std::string others =
          nodes_.empty() ? std::string("no cluster was played") : fmt::format("there are {}", fmt::join(nodes_, ", "));
      Complain(fmt::format("--only-node: no node is called {}; {}", replays::Quoted(name), others));
    }
    return known;
  }

  // Of the one scenario that was played.
  bool SavePictures() {
    if (pictures_ != 1) {
      Complain(pictures_ == 0
                   ? "there is nothing to look at: no scenario was played"
                   : fmt::format("--timeline and --perfetto show one scenario, and these are {}: name it with "
                                 "--only ID",
                                 pictures_));
      return false;
    }
    return (arguments_.timeline.empty() || Save(arguments_.timeline, replays::TimelinePage(*picture_))) &&
           (arguments_.perfetto.empty() || Save(arguments_.perfetto, replays::PerfettoJson(*picture_)));
  }

  // With `--json -` standard output belongs to the document.
  void Print(std::string_view text) {
    if (arguments_.json == "-") {
      console_.Err(text);
    } else {
      console_.Out(text);
    }
  }

  void Complain(std::string_view what) { console_.Err(fmt::format("error: {}\n", what)); }

  bool CanSave(const std::string& path) { return path.empty() || Written(path, CheckOutput(files_, path)); }
  bool Save(const std::string& path, std::string_view data) { return Written(path, WriteOutput(files_, path, data)); }

  bool Written(const std::string& path, const absl::Status& status) {
    if (!status.ok())
      Complain(fmt::format("cannot write {}: {}", replays::Quoted(path), replays::Escaped(MessageOf(status))));
    return status.ok();
  }

  const ReplayArguments& arguments_;
  StopSignals signals_;
  PosixFiles files_;
  Console console_;
  Reporter reporter_;
  std::shared_ptr<const replays::Timeline> picture_;
  int pictures_ = 0;             // that were made: there must be one
  std::set<std::string> nodes_;  // of all clusters that were told
};

}  // namespace

int Replay(const ReplayArguments& arguments) { return ReplayRun(arguments).Run(); }

}  // namespace vigil::cli
