#include "vigil/core/summary/summary_writer_cache.h"

#include <map>
#include <utility>

#include "vigil/core/base/spin_lock.h"
#include "vigil/core/summary/file_writer.h"
#include "vigil/core/summary/observed_writer.h"

namespace vigil {
namespace {

// Gives the error that a real writer could not be made for, at each call.
class NoWriter final : public SummaryWriter {
 public:
  NoWriter(std::string logdir, absl::Status why) : logdir_(std::move(logdir)), why_(std::move(why)) {}
  const std::string& logdir() const override { return logdir_; }
  absl::Status AddSummary(const std::string&, std::optional<std::int64_t>) override { return why_; }
  absl::Status AddSessionLog(SessionLogStatus, std::optional<std::int64_t>, const std::string&) override {
    return why_;
  }
  absl::Status AddGraph(const Graph&) override { return why_; }
  absl::Status AddMetaGraph(const Graph&, std::optional<std::int64_t>) override { return why_; }
  absl::Status AddRunMetadata(const RunMetadata&, const std::string&, std::optional<std::int64_t>) override {
    return why_;
  }
  absl::Status Flush() override { return why_; }
  absl::Status Close() override { return why_; }
  absl::Status Reopen() override { return why_; }

 private:
  const std::string logdir_;
  const absl::Status why_;
};

struct Entry {
  std::shared_ptr<FileWriter> file;
  std::shared_ptr<SummaryWriter> observed;  // what is handed out: the file, with events
};

struct WriterCache {
  // The process ends, and with it the seams. A task that is still writing must not outlive them: this waits, but only
  // in a real process, since the tasks of a simulated one have gone before.
  ~WriterCache() { AtProcessEnd(); }
  void AtProcessEnd() {
    for (const auto& [logdir, entry] : writers) {
      if (entry.file->working()) entry.file->Close().IgnoreError();
    }
  }

  // A slot is made without an Env: the mutex is made by whoever comes first.
  Mutex& MutexOf(const Env& env) {
    std::unique_ptr<Mutex> made = env.tasks->NewMutex("summary writer cache");
    const SpinGuard guard(spin);
    if (mutex == nullptr) mutex = std::move(made);
    return *mutex;
  }

  SpinLock spin;
  std::unique_ptr<Mutex> mutex;          // set once, guarded by spin
  std::map<std::string, Entry> writers;  // guarded by *mutex
};

constexpr SlotKey<WriterCache> kWriterCache{"summary writers"};

}  // namespace

std::shared_ptr<SummaryWriter> GetCachedWriter(const Env& env, const std::string& logdir, const Graph* graph,
                                               const Behaviour& behaviour) {
  WriterCache& cache = env.process->Slot(kWriterCache);
  MutexLock lock(cache.MutexOf(env));
  if (const auto it = cache.writers.find(logdir); it != cache.writers.end()) {
    it->second.file->ReopenIfFailed();  // the disk may have room again, and who comes now was told of nothing
    return it->second.observed;
  }
  absl::StatusOr<std::shared_ptr<FileWriter>> file =
      FileWriter::Create(env, {.logdir = logdir, .behaviour = behaviour}, graph);
  if (!file.ok()) return ObserveWriter(env, std::make_shared<NoWriter>(logdir, file.status()));
  Entry entry{.file = *file, .observed = ObserveWriter(env, *file)};
  return cache.writers.emplace(logdir, std::move(entry)).first->second.observed;
}

absl::Status SummaryWriterCacheClear(const Env& env) {
  WriterCache& cache = env.process->Slot(kWriterCache);
  MutexLock lock(cache.MutexOf(env));
  absl::Status first;
  for (const auto& [logdir, entry] : cache.writers) first.Update(entry.file->Close());
  cache.writers.clear();
  return first;
}

}  // namespace vigil
