// The file seam of a scenario: the node's, but writes fail as the scenario's faults at "write" say.
//
// Each such fault counts for itself, over the whole scenario and all tasks, the writes to files that it is about: those
// whose path has its `file` in it. A write that fails has no effect.
// Thread safety: none of its own; tasks of a world take turns.
#ifndef VIGIL_REPLAYS_STAGE_FILE_SEAM_H_
#define VIGIL_REPLAYS_STAGE_FILE_SEAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/forwarding.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::replays {

class FileSeam : public ForwardingFiles {
 public:
  // Both must outlive the seam, and the seam its files.
  FileSeam(Files& inner, const std::vector<Fault>& faults)
      : ForwardingFiles(inner), faults_(faults), writes_(faults.size()) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;

  // What the next write to that file meets.
  absl::Status NextWrite(const std::string& path);

 private:
  const std::vector<Fault>& faults_;
  std::vector<std::int64_t> writes_;  // as faults_: writes so far
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_FILE_SEAM_H_
