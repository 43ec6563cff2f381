// Files of which a power cut takes away what was not synced: contents of files, not their names.
//
//   PowerCutFiles disk(*env.files);   // and `disk` in the place of the files from then on
//   ...
//   VIGIL_RETURN_IF_ERROR(disk.Cut());
//
// A file that was written here is cut down to what it held at its last sync, under whatever name it has by then; a file of before
// is not touched. (Names: Files promises that a rename is durable once it has returned.)
// Thread safety: none of its own; tasks of a world take turns.
#ifndef VIGIL_REPLAYS_POWER_CUT_H_
#define VIGIL_REPLAYS_POWER_CUT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/forwarding.h"

namespace vigil::replays {

class PowerCutFiles : public ForwardingFiles {
 public:
  explicit PowerCutFiles(Files& inner) : ForwardingFiles(inner) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;

  // What was not synced is gone. The power is back at once.
  absl::Status Cut();

  // How many bytes of a file that is written survive.
  struct Survivor {
    std::uint64_t size = 0;
    std::uint64_t synced = 0;
  };

 private:
  std::map<std::string, std::shared_ptr<Survivor>> written_;  // by its present path
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_POWER_CUT_H_
