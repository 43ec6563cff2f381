// An events file as TensorBoard reads it: framed Event records, of which the first names the version of the format.
//
// The file is opened by the first event. Two writers of one directory, host and second want the same name: with
// `unique` the later one takes the next number (Behaviour::unique_event_files); without, it truncates the file of the
// first, as TensorFlow does. EventsFileName is the one place where that name is made.
// Thread safety: none; one task at a time. Errors: the file seam's; once the open file has
// failed, every further call says so until Close.
// Source: core/util/events_writer.cc.
#ifndef VIGIL_CORE_SUMMARY_EVENTS_FILE_H_
#define VIGIL_CORE_SUMMARY_EVENTS_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/io/record_writer.h"

namespace vigil {

// "events.out.tfevents.<10-digit seconds>.<host><suffix>"; with a number other than 0 "....<host>.<number><suffix>".
std::string EventsFileName(Time now, std::string_view host, std::string_view suffix, int number = 0);

class EventsFile {
 public:
  // The directory is made, if need be, when the file is.
  EventsFile(const Env& env, std::string directory, std::string host, std::string suffix, bool unique = true);

  // `event`: serialized.
  absl::Status Write(std::string_view event);
  // What was written can be read by others. If the file has disappeared (somebody removed it), an error is logged, a
  // new one is begun, and what was written since the last flush is lost.
  absl::Status Flush();
  // Flush, and it survives a power cut.
  absl::Status Sync();
  // Sync, and the file is closed; the next event opens a new one. Nothing happens if there was no event.
  absl::Status Close();

 private:
  absl::Status Open();
  absl::StatusOr<std::unique_ptr<File>> OpenNamed(Time now);
  absl::Status ReplaceIfGone();

  const Env env_;
  const std::string directory_;
  const std::string host_;
  const std::string suffix_;
  const bool unique_;
  std::string path_;
  std::optional<RecordWriter> records_;  // open
  std::int64_t unflushed_ = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_SUMMARY_EVENTS_FILE_H_
