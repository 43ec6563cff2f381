#include "vigil/core/summary/file_writer.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/graph/meta_graph.pb.h"
#include "vigil/core/io/event.pb.h"
#include "vigil/core/ops/meta_graph.h"
#include "vigil/core/session/run_metadata.h"
#include "vigil/core/session/run_metadata.pb.h"
#include "vigil/core/summary/observed_writer.h"
#include "vigil/core/tensor/proto_util.h"

namespace vigil {
namespace {

using Step = std::optional<std::int64_t>;

}  // namespace

absl::StatusOr<std::shared_ptr<SummaryWriter>> NewFileWriter(const Env& env, FileWriterOptions options,
                                                             const Graph* graph) {
  VIGIL_ASSIGN_OR_RETURN(std::shared_ptr<FileWriter> writer, FileWriter::Create(env, std::move(options), graph));
  return ObserveWriter(env, std::move(writer));
}

absl::StatusOr<std::shared_ptr<FileWriter>> FileWriter::Create(const Env& env, FileWriterOptions options,
                                                               const Graph* graph) {
  VIGIL_RETURN_IF_ERROR(env.files->MakeDirectory(options.logdir));
  std::shared_ptr<FileWriter> writer(new FileWriter(env, std::move(options)));
  if (graph != nullptr) {
    VIGIL_RETURN_IF_ERROR(writer->AddGraph(*graph));
    VIGIL_RETURN_IF_ERROR(writer->AddMetaGraph(*graph, std::nullopt));
  }
  return writer;
}

FileWriter::FileWriter(const Env& env, FileWriterOptions options)
    : env_(env), options_(std::move(options)), mutex_(env.tasks->NewMutex("summary writer")), worker_(StartWorker()) {}

FileWriter::~FileWriter() {
  if (worker_ != nullptr) worker_->Abandon();
}

std::shared_ptr<EventWorker> FileWriter::StartWorker() const {
  EventsFile file(env_, options_.logdir, options_.host, options_.filename_suffix,
                  options_.behaviour.unique_event_files);
  return EventWorker::Start(env_, std::move(file), options_.max_queue, options_.flush_interval);
}

absl::Status FileWriter::AddSummary(const std::string& summary, Step global_step) {
  proto::Event event;
  if (!event.mutable_summary()->ParseFromString(summary)) {
    return UsageError("What is added to a summary writer must be a serialized Summary; these bytes are none.");
  }
  {
    MutexLock lock(*mutex_);
    for (proto::Summary::Value& value : *event.mutable_summary()->mutable_value()) {
      // Also where the tag came without any before, as TensorFlow has it.
      if (!summary_tags_.insert(value.tag()).second) value.clear_metadata();
    }
  }
  return Add(event, global_step);
}

absl::Status FileWriter::AddSessionLog(SessionLogStatus status, Step global_step, const std::string& checkpoint_path) {
  proto::Event event;
  event.mutable_session_log()->set_status(static_cast<proto::SessionLog::SessionStatus>(status));
  event.mutable_session_log()->set_checkpoint_path(checkpoint_path);
  return Add(event, global_step);
}

absl::Status FileWriter::AddGraph(const Graph& graph) {
  proto::Event event;
  VIGIL_ASSIGN_OR_RETURN(const std::string* const bytes, GraphDefBytes(graph));
  event.set_graph_def(*bytes);
  return Add(event, std::nullopt);
}

absl::Status FileWriter::AddMetaGraph(const Graph& graph, Step global_step) {
  proto::Event event;
  VIGIL_ASSIGN_OR_RETURN(const proto::MetaGraphDef def, ExportMetaGraph(graph));
  VIGIL_ASSIGN_OR_RETURN(*event.mutable_meta_graph_def(), SerializeDeterministically(def));
  return Add(event, global_step);
}

absl::Status FileWriter::AddRunMetadata(const RunMetadata& metadata, const std::string& tag, Step global_step) {
  {
    MutexLock lock(*mutex_);
    if (!metadata_tags_.insert(tag).second) {
      return UsageError("The provided tag was already used for this event type");
    }
  }
  proto::Event event;
  event.mutable_tagged_run_metadata()->set_tag(tag);
  event.mutable_tagged_run_metadata()->set_run_metadata(ToProto(metadata).SerializeAsString());
  return Add(event, global_step);
}

absl::Status FileWriter::Add(proto::Event& event, Step global_step) {
  event.set_wall_time(ToSeconds(env_.clock->Now().since_epoch));
  if (global_step.has_value()) event.set_step(*global_step);
  const std::shared_ptr<EventWorker> worker = OpenWorker();
  if (worker == nullptr) return WarnClosed();
  std::string bytes;
  if (!event.SerializeToString(&bytes)) return MakeStatus(Code::kInvalidArgument, "An event is larger than 2 GiB.");
  return Settle(worker, worker->Put(std::move(bytes)));
}

absl::Status FileWriter::Flush() {
  const std::shared_ptr<EventWorker> worker = OpenWorker();
  if (worker == nullptr) return WarnClosed();
  return Settle(worker, worker->Flush());
}

absl::Status FileWriter::Close() {
  std::shared_ptr<EventWorker> worker;
  {
    MutexLock lock(*mutex_);
    worker = std::exchange(worker_, nullptr);
  }
  return worker == nullptr ? absl::OkStatus() : worker->Close();
}

absl::Status FileWriter::Reopen() {
  MutexLock lock(*mutex_);
  if (worker_ == nullptr) worker_ = StartWorker();
  failed_ = false;
  return absl::OkStatus();
}

void FileWriter::ReopenIfFailed() {
  MutexLock lock(*mutex_);
  if (std::exchange(failed_, false)) worker_ = StartWorker();
}

bool FileWriter::working() const {
  // Without the mutex: asked where the process ends, and nobody else is left.
  return worker_ != nullptr && worker_->working();
}

std::shared_ptr<EventWorker> FileWriter::OpenWorker() {
  MutexLock lock(*mutex_);
  return worker_;
}

// The outcome of a call on the worker: an error closes the writer, false says that somebody else has done so.
absl::Status FileWriter::Settle(const std::shared_ptr<EventWorker>& worker, const absl::StatusOr<bool>& outcome) {
  if (outcome.ok()) return *outcome ? absl::OkStatus() : WarnClosed();
  MutexLock lock(*mutex_);
  if (worker_ == worker) {
    worker_ = nullptr;
    failed_ = true;
  }
  return outcome.status();
}

absl::Status FileWriter::WarnClosed() const {
  env_.log->Write(Severity::kWarning,
                  "Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is "
                  "explicitly reopened.");
  return absl::OkStatus();
}

}  // namespace vigil
