// A client that trains nothing and asks of its cluster whatever a session can be asked: random graphs on its own server
// and the parameter servers (fakes/graphs), which grow while they are used; several sessions at a time; steps that run
// at once, fail, are given up, are prepared, traced, or closed upon; resets of its container; long silences; queues and
// accumulators, at which several runs meet.
//
// Beside each session there is one in its own process, which is asked the same: what the cluster answers must be what
// that one answers. What has failed otherwise may have changed variables, now or later: then the client goes on with
// another graph, in another container. What it hears it tells the recorder; no answer is its own error.
//
// Thread safety and ownership: as Train(); its tasks hold it.
#ifndef VIGIL_SIM_CLUSTER_CONVERSATION_H_
#define VIGIL_SIM_CLUSTER_CONVERSATION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/env/notification.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/resource.h"
#include "vigil/core/session/session.h"
#include "vigil/fakes/graphs/random_graph.h"
#include "vigil/fakes/graphs/random_steps.h"
#include "vigil/sim/cluster/trainer.h"

namespace vigil::sim {

class Conversation : public std::enable_shared_from_this<Conversation> {
 public:
  explicit Conversation(const TrainerParts& parts);
  // So many asks as the workload's last step says, or until it is told to stop. DEADLINE_EXCEEDED: no session that
  // works for half an hour.
  absl::Status Hold();

 private:
  // A session on the cluster, and the one in this process that stands for it.
  struct Line {
    std::shared_ptr<Session> cluster;
    std::unique_ptr<Session> alone;
    Time opened;
  };
  struct Heard : fakes::StepAnswer {
    Duration took{0};
  };
  // What became of an ask.
  enum class Outcome { kAnswered, kFailsAlone, kBroken };
  using Asked = std::function<absl::Status(Session& session, const fakes::RandomStep& step, std::vector<Tensor>* out)>;
  static constexpr int kLargestGraph = 40;  // in statements
  struct AskKind {
    int weight;
    absl::Status (Conversation::*ask)(Line& line);
  };
  static const std::vector<AskKind>& AskKinds();

  // After each there is a session, initialised, unless it is told to stop.
  absl::Status Ask(Line& line);
  absl::Status AskOnce(Line& line);
  absl::Status AskPrepared(Line& line);
  absl::Status AskTraced(Line& line);
  absl::Status AskSeveral(Line& line);
  absl::Status AskWhatIsNew(Line& line);
  absl::Status GiveUp(Line& line);
  absl::Status CloseAndOpen(Line& line);
  absl::Status CloseAsItRuns(Line& line);
  absl::Status OpenAnother(Line& line);
  absl::Status Reset(Line& line);
  absl::Status StandIdle(Line& line);
  absl::Status AskQueue(Line& line);
  absl::Status AskAccumulator(Line& line);

  absl::Status AskBy(Line& line, const Asked& ask);
  absl::Status AskAtOnce(Line& line, std::vector<fakes::RandomStep> steps);
  absl::Status GoOn(Line& line, const fakes::RandomStep& step, Outcome outcome);
  Outcome Compare(const Line& line, const fakes::RandomStep& step, const Asked& ask);  // with what one process says
  Outcome Judge(const Line& line, const fakes::RandomStep& step, const Heard& alone, const Heard& heard,
                Duration limit = Duration(0));
  Heard RunBy(Session& session, const fakes::RandomStep& step, const Asked& ask) const;
  Heard RunAlone(const Line& line, const fakes::RandomStep& step) const;
  static absl::Status RunStep(Session& session, const fakes::RandomStep& step, std::vector<Tensor>* out);
  // `patience_ms`: 0 = for ever.
  static Asked Within(std::int64_t patience_ms);
  std::unique_ptr<Task> RunBeside(const Line& line, const fakes::RandomStep& step, std::shared_ptr<Heard> heard,
                                  std::int64_t patience_ms = 0);
  // Whether the cluster answers with these values.
  bool Expect(const Line& line, const fakes::RandomStep& step, std::vector<Tensor> values);
  std::string StandOnAServer(Builder& b);  // gives a name that no other queue has
  void CompareDetermined(const Line& line, const fakes::RandomStep& step);

  // Another graph in another container, with one session.
  absl::Status Anew();
  void DrawGraph();
  absl::Status Open(Line& line);
  absl::Status Reopen(Line& line);
  static void HangUp(Line& line);
  bool Initialise(const Line& line);
  SessionConfig Config() const;

  std::uint64_t Below(std::uint64_t count) const;
  Duration Drawn(Duration most) const;  // anything up to that
  Duration Latency() const;
  void Sleep(Duration pause) { over_.Wait(DeadlineAfter(env_, pause)); }

  const TrainerParts& parts_;
  const Env env_;
  Notification over_;  // told to stop
  int graphs_ = 0;
  std::string container_;
  std::unique_ptr<fakes::RandomGraph> graph_;
  int size_ = 0;  // of the graph, in statements
  int meetings_ = 0;
  std::unique_ptr<fakes::StepDrawer> steps_;
  std::shared_ptr<ResourceManager> state_;  // of the sessions in this process
  std::vector<std::unique_ptr<Line>> lines_;
  bool initialised_ = false;
  Time initialised_at_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_CONVERSATION_H_
