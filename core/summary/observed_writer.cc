#include "vigil/core/summary/observed_writer.h"

#include <string_view>
#include <utility>

namespace vigil {
namespace {

using Step = std::optional<std::int64_t>;

class ObservedWriter final : public SummaryWriter {
 public:
  ObservedWriter(const Env& env, std::shared_ptr<SummaryWriter> writer) : env_(env), writer_(std::move(writer)) {}

  const std::string& logdir() const override { return writer_->logdir(); }
  absl::Status AddSummary(const std::string& summary, Step global_step) override {
    Emit(WriterCall::kSummary, global_step, summary);
    return writer_->AddSummary(summary, global_step);
  }
  absl::Status AddSessionLog(SessionLogStatus status, Step global_step, const std::string& checkpoint_path) override {
    Emit(WriterCall::kSessionLog, global_step, {}, static_cast<std::int32_t>(status));
    return writer_->AddSessionLog(status, global_step, checkpoint_path);
  }
  absl::Status AddGraph(const Graph& graph) override {
    Emit(WriterCall::kGraph);
    return writer_->AddGraph(graph);
  }
  absl::Status AddMetaGraph(const Graph& graph, Step global_step) override {
    Emit(WriterCall::kMetaGraph, global_step);
    return writer_->AddMetaGraph(graph, global_step);
  }
  absl::Status AddRunMetadata(const RunMetadata& metadata, const std::string& tag, Step global_step) override {
    Emit(WriterCall::kRunMetadata, global_step, tag);
    return writer_->AddRunMetadata(metadata, tag, global_step);
  }
  absl::Status Flush() override {
    Emit(WriterCall::kFlush);
    return writer_->Flush();
  }
  absl::Status Close() override {
    Emit(WriterCall::kClose);
    return writer_->Close();
  }
  absl::Status Reopen() override {
    Emit(WriterCall::kReopen);
    return writer_->Reopen();
  }

 private:
  void Emit(WriterCall call, Step global_step = std::nullopt, std::string_view subject = {}, std::int32_t index = -1) {
    env_.Emit({.kind = EventKind::kWriterCall,
               .call = static_cast<std::uint8_t>(call),
               .has_value = global_step.has_value(),
               .index = index,
               .value = static_cast<double>(global_step.value_or(0)),
               .subject = subject});
  }

  const Env env_;
  const std::shared_ptr<SummaryWriter> writer_;
};

}  // namespace

std::shared_ptr<SummaryWriter> ObserveWriter(const Env& env, std::shared_ptr<SummaryWriter> writer) {
  if (env.events == nullptr) return writer;
  return std::make_shared<ObservedWriter>(env, std::move(writer));
}

}  // namespace vigil
