#include "vigil/core/checkpoint/model_mark.h"

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {
namespace {

std::string PathOf(const std::string& directory, ModelMark mark) {
  return JoinPath(directory, mark == ModelMark::kDiverged ? "diverged" : "initializing");
}

}  // namespace

absl::Status SetMark(Files& files, const std::string& directory, ModelMark mark) {
  VIGIL_RETURN_IF_ERROR(files.MakeDirectory(directory));
  VIGIL_RETURN_IF_ERROR(SyncParents(files, directory));  // it may be new: no save has been here
  return WriteAtomically(
      files, PathOf(directory, mark),
      mark == ModelMark::kDiverged
          ? "The loss was NaN. The next chief restores the newest checkpoint and removes this file.\n"
          : "init_fn has not come to its end. The next chief initialises the model and removes this file.\n",
      /*sync=*/true);
}

absl::StatusOr<bool> HasMark(Files& files, const std::string& directory, ModelMark mark) {
  return Exists(files, PathOf(directory, mark));
}

absl::StatusOr<std::string> WhyNotToTrust(Files& files, const std::string& directory) {
  VIGIL_ASSIGN_OR_RETURN(const bool diverged, HasMark(files, directory, ModelMark::kDiverged));
  if (diverged) return "it has diverged";
  VIGIL_ASSIGN_OR_RETURN(const bool initializing, HasMark(files, directory, ModelMark::kInitializing));
  return initializing ? "its init_fn has not come to its end" : "";
}

// A look first: it is seldom there, and whoever may remove nothing there need not be told.
absl::Status ClearMark(Files& files, const std::string& directory, ModelMark mark) {
  VIGIL_ASSIGN_OR_RETURN(const bool there, HasMark(files, directory, mark));
  if (!there) return absl::OkStatus();
  absl::Status status = files.Remove(PathOf(directory, mark));
  return CodeOf(status) == Code::kNotFound ? absl::OkStatus() : status;
}

}  // namespace vigil
