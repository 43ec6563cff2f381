#include "vigil/core/io/trace_writer.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/trace.pb.h"

namespace vigil {
namespace {

constexpr int kMostFiles = 10'000;  // of one name
constexpr std::string_view kEnding = ".trace";

std::string NumberedPath(std::string_view path, int number) {
  if (number == 1) return std::string(path);
  const bool has_ending = path.ends_with(kEnding);
  if (has_ending) path.remove_suffix(kEnding.size());
  return fmt::format("{}.{}{}", path, number, has_ending ? kEnding : "");
}

}  // namespace

std::string TracePartPath(const std::string& path, std::int64_t number) {
  return number == 1 ? path : fmt::format("{}{}{}", path, kTracePartInfix, number);
}

TraceWriter::TraceWriter(const Env& env, TraceLimits limits)
    : env_(env),
      limits_(limits),
      mutex_(env.tasks->NewMutex("trace")),
      message_(std::make_unique<proto::TraceEvent>()) {}

TraceWriter::~TraceWriter() = default;

absl::Status TraceWriter::Open(const std::string& path) {
  const std::string directory = Dirname(path);
  // If it cannot be made, opening the file says why.
  if (!directory.empty()) env_.files->MakeDirectory(directory).IgnoreError();
  for (int number = 1; number <= kMostFiles; ++number) {
    path_ = NumberedPath(path, number);
    absl::StatusOr<std::unique_ptr<File>> file = env_.files->Open(path_, OpenMode::kNew);
    if (file.ok()) {
      file_.emplace(*std::move(file));
      return absl::OkStatus();
    }
    if (CodeOf(file.status()) != Code::kAlreadyExists) return file.status();
  }
  return MakeStatus(Code::kAlreadyExists, fmt::format("there are {} traces of that name already", kMostFiles));
}

void TraceWriter::Start(const std::string& path, proto::TraceHeader header) {
  MutexLock lock(*mutex_);
  VIGIL_CHECK(!file_.has_value());  // started twice
  start_ = env_.clock->Monotonic();
  header.set_magic(std::string(kTraceMagic));
  header.set_version(kTraceVersion);
  start_ns_ = env_.clock->Now().since_epoch.count();
  header.set_start_ns(start_ns_);
  const absl::Status opened = Open(path);
  if (!opened.ok()) return Stop(opened);
  env_.log->Write(Severity::kInfo, fmt::format("Tracing to {}.", path_));
  Append(header);
}

void TraceWriter::Emit(const Event& event) {
  if (env_.events != nullptr) env_.events->Emit(event);
  if (IsDetail(event.kind)) return;
  MutexLock lock(*mutex_);
  if (!file_.has_value()) return;
  if (PartIsDue()) BeginPart();
  if (!file_.has_value()) return;
  if (events_of_file_ >= limits_.most_events_of_a_file) {
    return Stop(MakeStatus(Code::kResourceExhausted,
                           fmt::format("a file of a trace holds {} events, and the session has "
                                       "not been at rest for {}",
                                       limits_.most_events_of_a_file, events_of_file_ - limits_.events_of_a_file)));
  }
  const std::uint64_t task = env_.tasks->CurrentTask();
  message_->set_time_ns((env_.clock->Monotonic() - start_).count());
  message_->set_task(task);
  message_->set_kind(static_cast<std::uint32_t>(event.kind));
  message_->set_status(static_cast<std::uint32_t>(event.code));
  message_->set_call(event.call);
  message_->set_closed(event.closed);
  message_->set_has_value(event.has_value);
  message_->set_value(event.value);
  message_->set_index(event.index);
  message_->set_session(event.session);
  message_->mutable_subject()->assign(event.subject);
  Append(*message_);
  ++events_;
  ++events_of_file_;
  rest_.See(event, task);
}

bool TraceWriter::PartIsDue() const {
  return events_of_file_ >= limits_.events_of_a_file && rest_.at_rest() &&
         (part_ == 1 || rest_.open_calls() == open_calls_);
}

void TraceWriter::BeginPart() {
  const absl::Status closed = file_->Close();
  if (!closed.ok()) return Stop(closed);
  file_.reset();
  if (part_ == 1) open_calls_ = rest_.open_calls();
  ++part_;
  events_of_file_ = 0;
  // First, so that there is room for the next one. One that is not there any more, or was never this trace's, is as
  // well.
  if (part_ - limits_.parts > 1) env_.files->Remove(TracePartPath(path_, part_ - limits_.parts)).IgnoreError();
  const std::string next = TracePartPath(path_, part_);
  env_.files->Remove(next).IgnoreError();  // of an older trace of that name
  absl::StatusOr<std::unique_ptr<File>> file = env_.files->Open(next, OpenMode::kNew);
  if (!file.ok()) return Stop(file.status());
  file_.emplace(*std::move(file));
  proto::TraceEvent first;
  first.set_time_ns((env_.clock->Monotonic() - start_).count());
  proto::TracePart& part = *first.mutable_part();
  part.set_number(part_);
  part.set_events_before(events_);
  part.set_session(rest_.session());
  part.set_start_ns(start_ns_);
  Append(first);
}

void TraceWriter::End() {
  MutexLock lock(*mutex_);
  if (!file_.has_value()) return;
  message_->Clear();
  message_->set_time_ns((env_.clock->Monotonic() - start_).count());
  message_->set_task(env_.tasks->CurrentTask());
  message_->set_end(true);
  Append(*message_);
  if (!file_.has_value()) return;
  const absl::Status closed = file_->Close();
  if (!closed.ok()) return Stop(closed);
  file_.reset();
}

void TraceWriter::Append(const google::protobuf::MessageLite& message) {
  VIGIL_CHECK(file_.has_value());
  bytes_.clear();
  absl::Status status;
  if (!message.AppendToString(&bytes_)) status = MakeStatus(Code::kInternal, "an event cannot be serialized");
  if (status.ok()) status = file_->Write(bytes_);
  // At once: the next thing may be the one that kills the process.
  if (status.ok()) status = file_->Flush();
  if (!status.ok()) Stop(status);
}

void TraceWriter::Stop(const absl::Status& why) {
  env_.log->Write(Severity::kWarning,
                  fmt::format("The trace {} ends here, the session goes on: {}", path_, MessageOf(why)));
  file_.reset();
}

}  // namespace vigil
