// Saves what failed as scenario files that `vigil replay` reads.
//
// Thread safety: belongs to one thread.
#ifndef VIGIL_PROPERTIES_SHRINK_FAILURE_FILE_H_
#define VIGIL_PROPERTIES_SHRINK_FAILURE_FILE_H_

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "vigil/core/env/files.h"
#include "vigil/replays/crew/crash.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/play/report.h"

namespace vigil::properties {

// Where one campaign saves what fails: each failure has a file of its own. What earlier campaigns saved is replaced
// where it has the same name: that of the same rule and scenario.
class FailureFolder {
 public:
  // `folder` is made when there is something to save. Borrows `files`.
  FailureFolder(Files& files, std::string folder) : files_(files), folder_(std::move(folder)) {}

  // The name of the file is made of `name`, which may hold anything, and numbered where it is taken. Returns its path;
  // the message of an error names it. `expect` may be null.
  absl::StatusOr<std::string> Save(std::string_view name, const replays::Scenario& scenario,
                                   const replays::Expectation* expect);

  // The same of a line that Save has written, without its newline.
  absl::StatusOr<std::string> SaveRecord(std::string_view name, std::string_view record);

  // A file that the campaign has read: it keeps what it holds, wherever it lies.
  void Keep(const std::string& path);

 private:
  bool IsTaken(const std::string& path) const;

  Files& files_;
  const std::string folder_;
  std::set<std::string> used_;                   // paths
  std::set<decltype(FileInfo::identity)> kept_;  // files
};

// "  ./vigil replay failures/x.json\n".
std::string ReplayLine(std::string_view path, const replays::ReplayHow& how);
// For that: what was found with a limit other than the default, if `rule` says that a play took longer; else "".
std::string PlayLimitOf(std::string_view rule, const replays::PlayLimits& limits);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_SHRINK_FAILURE_FILE_H_
