#include "vigil/core/io/trace_writer.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

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

TraceWriter::TraceWriter(const Env& env) : env_(env), mutex_(env.tasks->NewMutex("trace")) {}

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
  start_ = env_.clock->Monotonic();
  header.set_magic(std::string(kTraceMagic));
  header.set_version(kTraceVersion);
  header.set_start_ns(env_.clock->Now().since_epoch.count());
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
  if (++events_ > kMostTraceEvents) {
    return Stop(MakeStatus(Code::kResourceExhausted, fmt::format("a trace holds {} events", kMostTraceEvents)));
  }
  message_.set_time_ns((env_.clock->Monotonic() - start_).count());
  message_.set_task(env_.tasks->CurrentTask());
  message_.set_kind(static_cast<std::uint32_t>(event.kind));
  message_.set_status(static_cast<std::uint32_t>(event.code));
  message_.set_call(event.call);
  message_.set_closed(event.closed);
  message_.set_has_value(event.has_value);
  message_.set_value(event.value);
  message_.set_index(event.index);
  message_.set_session(event.session);
  message_.mutable_subject()->assign(event.subject);
  Append(message_);
}

void TraceWriter::End() {
  MutexLock lock(*mutex_);
  if (!file_.has_value()) return;
  message_.Clear();
  message_.set_time_ns((env_.clock->Monotonic() - start_).count());
  message_.set_task(env_.tasks->CurrentTask());
  message_.set_end(true);
  Append(message_);
  if (!file_.has_value()) return;
  const absl::Status closed = file_->Close();
  if (!closed.ok()) return Stop(closed);
  file_.reset();
}

void TraceWriter::Append(const google::protobuf::MessageLite& message) {
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
