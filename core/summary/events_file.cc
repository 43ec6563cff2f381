#include "vigil/core/summary/events_file.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/event.pb.h"

namespace vigil {

namespace {

// More files of one second than anybody begins: a file system that says of every name that it is taken is broken.
constexpr int kMostOfASecond = 10'000;

}  // namespace

std::string EventsFileName(Time now, std::string_view host, std::string_view suffix, int number) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.since_epoch).count();
  const std::string numbered = number == 0 ? "" : fmt::format(".{}", number);
  return fmt::format("events.out.tfevents.{:010}.{}{}{}", seconds, host, numbered, suffix);
}

EventsFile::EventsFile(const Env& env, std::string directory, std::string host, std::string suffix, bool unique)
    : env_(env),
      directory_(std::move(directory)),
      host_(std::move(host)),
      suffix_(std::move(suffix)),
      unique_(unique) {}

// The file system decides who is first, so that writers of other processes count, too.
absl::StatusOr<std::unique_ptr<File>> EventsFile::OpenNamed(Time now) {
  for (int number = 0;; ++number) {
    path_ = JoinPath(directory_, EventsFileName(now, host_, suffix_, number));
    absl::StatusOr<std::unique_ptr<File>> file =
        env_.files->Open(path_, unique_ ? OpenMode::kNew : OpenMode::kTruncate);
    if (CodeOf(file.status()) != Code::kAlreadyExists || number == kMostOfASecond) return file;
  }
}

absl::Status EventsFile::Open() {
  const Time now = env_.clock->Now();
  VIGIL_RETURN_IF_ERROR(env_.files->MakeDirectory(directory_));
  VIGIL_ASSIGN_OR_RETURN(std::unique_ptr<File> file, OpenNamed(now));
  records_.emplace(std::move(file));
  proto::Event version;
  version.set_wall_time(static_cast<double>(std::chrono::floor<std::chrono::seconds>(now.since_epoch).count()));
  version.set_file_version("brain.Event:2");
  version.mutable_source_metadata()->set_writer("vigil");
  VIGIL_RETURN_IF_ERROR(records_->Write(version.SerializeAsString()));
  return records_->Flush();  // what the file is can be seen at once
}

absl::Status EventsFile::Write(std::string_view event) {
  if (!records_.has_value()) VIGIL_RETURN_IF_ERROR(Open());
  ++unflushed_;
  return records_->Write(event);
}

absl::Status EventsFile::Flush() {
  if (!records_.has_value()) return absl::OkStatus();
  VIGIL_RETURN_IF_ERROR(records_->Flush());  // with nothing to flush, too: an earlier error is said again
  if (unflushed_ == 0) return absl::OkStatus();
  VIGIL_RETURN_IF_ERROR(ReplaceIfGone());
  unflushed_ = 0;
  return absl::OkStatus();
}

absl::Status EventsFile::Sync() {
  VIGIL_RETURN_IF_ERROR(Flush());
  return records_.has_value() ? records_->Sync() : absl::OkStatus();
}

absl::Status EventsFile::ReplaceIfGone() {
  const absl::Status found = env_.files->Stat(path_).status();
  if (CodeOf(found) != Code::kNotFound) return found;
  env_.log->Write(
      Severity::kError,
      fmt::format("The events file {} has disappeared. {} events are lost; a new file is begun.", path_, unflushed_));
  records_.reset();
  return Open();
}

absl::Status EventsFile::Close() {
  if (!records_.has_value()) return absl::OkStatus();
  absl::Status status = Sync();
  if (records_.has_value()) status.Update(records_->Close());
  records_.reset();
  unflushed_ = 0;
  return status;
}

}  // namespace vigil
