// tf.summary.FileWriter: writes events to a file in a directory, by a task of its own.
//
//   VIGIL_ASSIGN_OR_RETURN(auto writer, NewFileWriter(env, {.logdir = "/tmp/run"}, &graph));
//   VIGIL_RETURN_IF_ERROR(writer->AddSummary(bytes, step));
//   VIGIL_RETURN_IF_ERROR(writer->Close());
//
// An error of the file surfaces once, at the next call, and closes the writer; calls on a closed writer do nothing but
// log a warning; Reopen() begins a new file. Close it: a writer that is dropped without loses what was not flushed.
// Thread safety and contract: summary_writer.h. Source: summary/writer/writer.py, event_file_writer.py.
#ifndef VIGIL_CORE_SUMMARY_FILE_WRITER_H_
#define VIGIL_CORE_SUMMARY_FILE_WRITER_H_

#include <chrono>
#include <memory>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/env/env.h"
#include "vigil/core/summary/event_worker.h"
#include "vigil/core/summary/summary_writer.h"

namespace vigil {

namespace proto {
class Event;
}

struct FileWriterOptions {
  std::string logdir;
  int max_queue = 10;                                   // events that may wait before a call does; 0 = any number
  Duration flush_interval = std::chrono::seconds(120);  // how long what was written may stay unseen
  std::string filename_suffix = {};
  // Part of the file's name, where TensorFlow puts the machine's. Env has no seam for that name, since nothing else
  // wants it: a program that writes from many machines into one directory passes its own.
  std::string host = "localhost";
  Behaviour behaviour = Behaviour::Default();  // unique_event_files
};

// Makes the directory and starts the task; the file is made by the first event. `graph` (may be null), as it is now, is
// added with its meta graph. Calls on the writer are observed (observed_writer.h); what it adds by itself is not.
// Errors: the file seam's.
absl::StatusOr<std::shared_ptr<SummaryWriter>> NewFileWriter(const Env& env, FileWriterOptions options,
                                                             const Graph* graph = nullptr);

// The writer itself, not observed: for who keeps many of them.
class FileWriter final : public SummaryWriter {
 public:
  static absl::StatusOr<std::shared_ptr<FileWriter>> Create(const Env& env, FileWriterOptions options,
                                                            const Graph* graph = nullptr);
  ~FileWriter() override;

  const std::string& logdir() const override { return options_.logdir; }
  absl::Status AddSummary(const std::string& summary, std::optional<std::int64_t> global_step) override;
  absl::Status AddSessionLog(SessionLogStatus status, std::optional<std::int64_t> global_step,
                             const std::string& checkpoint_path) override;
  absl::Status AddGraph(const Graph& graph) override;
  absl::Status AddMetaGraph(const Graph& graph, std::optional<std::int64_t> global_step) override;
  absl::Status AddRunMetadata(const RunMetadata& metadata, const std::string& tag,
                              std::optional<std::int64_t> global_step) override;
  absl::Status Flush() override;
  absl::Status Close() override;
  absl::Status Reopen() override;

  // Whether its task still works, so that Close() would wait for it. False when the writer is closed, and when the
  // process (a simulated one) was killed.
  bool working() const;
  // As Reopen(), of one that an error has closed.
  void ReopenIfFailed();

 private:
  FileWriter(const Env& env, FileWriterOptions options);

  std::shared_ptr<EventWorker> StartWorker() const;
  std::shared_ptr<EventWorker> OpenWorker();
  absl::Status Add(proto::Event& event, std::optional<std::int64_t> global_step);
  absl::Status Settle(const std::shared_ptr<EventWorker>& worker, const absl::StatusOr<bool>& outcome);
  absl::Status WarnClosed() const;

  const Env env_;
  const FileWriterOptions options_;
  const std::unique_ptr<Mutex> mutex_;  // held for moments only
  // Guarded by *mutex_.
  std::shared_ptr<EventWorker> worker_;  // null: closed
  bool failed_ = false;                  // ... by an error, and not reopened since
  std::set<std::string> summary_tags_;   // that came: their metadata is not written again
  std::set<std::string> metadata_tags_;  // of run metadata
};

}  // namespace vigil

#endif  // VIGIL_CORE_SUMMARY_FILE_WRITER_H_
