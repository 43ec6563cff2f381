// A summary writer that keeps its calls as lines: "summary step=3 mine=1.5", "session_log START step=0", "run_metadata
// step_3", "graph", "close". Without a step: "summary mine=1.5".
//
// Thread safety: none; tests look at it when nobody writes.
#ifndef VIGIL_FAKES_SUMMARY_SCRIBE_WRITER_H_
#define VIGIL_FAKES_SUMMARY_SCRIBE_WRITER_H_

#include <optional>
#include <string>
#include <vector>

#include "vigil/core/summary/summary_writer.h"

namespace vigil::fakes {

class ScribeWriter : public SummaryWriter {
 public:
  const std::string& logdir() const override { return logdir_; }
  absl::Status AddSummary(const std::string& summary, std::optional<std::int64_t> global_step) override;
  absl::Status AddSessionLog(SessionLogStatus status, std::optional<std::int64_t> global_step,
                             const std::string& checkpoint_path) override;
  absl::Status AddGraph(const Graph&) override { return Say("graph"); }
  absl::Status AddMetaGraph(const Graph&, std::optional<std::int64_t>) override { return Say("meta_graph"); }
  absl::Status AddRunMetadata(const RunMetadata&, const std::string& tag, std::optional<std::int64_t>) override {
    return Say("run_metadata " + tag);
  }
  absl::Status Flush() override { return Say("flush"); }
  absl::Status Close() override { return Say("close"); }
  absl::Status Reopen() override { return Say("reopen"); }

  std::vector<std::string> lines;
  std::string failing;  // the call that fails with RESOURCE_EXHAUSTED: the first word of its line

 private:
  absl::Status Say(const std::string& line);
  const std::string logdir_ = "scribe";
};

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_SUMMARY_SCRIBE_WRITER_H_
