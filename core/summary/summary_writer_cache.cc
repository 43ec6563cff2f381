#include "vigil/core/summary/summary_writer_cache.h"

#include <map>
#include <utility>

#include "vigil/core/base/spin_lock.h"
#include "vigil/core/summary/observed_writer.h"

namespace vigil {
namespace {

// Takes everything and keeps nothing: the file comes with core/io's record writer.
class NullWriter final : public SummaryWriter {
 public:
  explicit NullWriter(std::string logdir) : logdir_(std::move(logdir)) {}
  const std::string& logdir() const override { return logdir_; }
  absl::Status AddSummary(const std::string&, std::optional<std::int64_t>) override { return absl::OkStatus(); }
  absl::Status AddSessionLog(SessionLogStatus, std::optional<std::int64_t>, const std::string&) override {
    return absl::OkStatus();
  }
  absl::Status AddGraph(const Graph&) override { return absl::OkStatus(); }
  absl::Status AddMetaGraph(const Graph&, std::optional<std::int64_t>) override { return absl::OkStatus(); }
  absl::Status AddRunMetadata(const RunMetadata&, const std::string&, std::optional<std::int64_t>) override {
    return absl::OkStatus();
  }
  absl::Status Flush() override { return absl::OkStatus(); }
  absl::Status Close() override { return absl::OkStatus(); }
  absl::Status Reopen() override { return absl::OkStatus(); }

 private:
  const std::string logdir_;
};

struct WriterCache {
  // A slot is made without an Env: the mutex is made by whoever comes first.
  Mutex& MutexOf(const Env& env) {
    std::unique_ptr<Mutex> made = env.tasks->NewMutex("summary writer cache");
    const SpinGuard guard(spin);
    if (mutex == nullptr) mutex = std::move(made);
    return *mutex;
  }

  SpinLock spin;
  std::unique_ptr<Mutex> mutex;                                   // set once, guarded by spin
  std::map<std::string, std::shared_ptr<SummaryWriter>> writers;  // guarded by *mutex
};

constexpr SlotKey<WriterCache> kWriterCache{"summary writers"};

}  // namespace

std::shared_ptr<SummaryWriter> GetCachedWriter(const Env& env, const std::string& logdir, const Graph* /*graph*/) {
  WriterCache& cache = env.process->Slot(kWriterCache);
  MutexLock lock(cache.MutexOf(env));
  std::shared_ptr<SummaryWriter>& writer = cache.writers[logdir];
  if (writer == nullptr) writer = ObserveWriter(env, std::make_shared<NullWriter>(logdir));
  return writer;
}

absl::Status SummaryWriterCacheClear(const Env& env) {
  WriterCache& cache = env.process->Slot(kWriterCache);
  MutexLock lock(cache.MutexOf(env));
  absl::Status first;
  for (const auto& [logdir, writer] : cache.writers) first.Update(writer->Close());
  cache.writers.clear();
  return first;
}

}  // namespace vigil
