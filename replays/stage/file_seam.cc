#include "vigil/replays/stage/file_seam.h"

#include <algorithm>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil::replays {
namespace {

class FaultyFile : public ForwardingFile {
 public:
  FaultyFile(FileSeam& seam, std::string path, std::unique_ptr<File> inner)
      : ForwardingFile(std::move(inner)), seam_(seam), path_(std::move(path)) {}

  absl::Status Append(std::string_view data) override {
    VIGIL_RETURN_IF_ERROR(seam_.NextWrite(path_));
    return ForwardingFile::Append(data);
  }

 private:
  FileSeam& seam_;
  const std::string path_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<File>> FileSeam::Open(const std::string& path, OpenMode mode) {
  VIGIL_ASSIGN_OR_RETURN(std::unique_ptr<File> file, inner().Open(path, mode));
  return std::make_unique<FaultyFile>(*this, path, std::move(file));
}

absl::Status FileSeam::NextWrite(const std::string& path) {
  absl::Status hit;
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    const Fault& fault = faults_[i];
    if (fault.at != FaultPoint::kWrite || path.find(fault.file) == path.npos) continue;
    const std::int64_t number = ++writes_[i];
    if (std::find(fault.calls.begin(), fault.calls.end(), number) == fault.calls.end()) continue;
    hit = MakeStatus(*fault.code, "scenario: write to " + path);
  }
  return hit;
}

}  // namespace vigil::replays
