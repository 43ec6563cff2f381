#include "vigil/sim/cluster/conversation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/client/cluster_session.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/sim/cluster/programs.h"

namespace vigil::sim {
namespace {

using fakes::RandomGraph;
using fakes::RandomStep;
using fakes::StepDrawer;

constexpr std::chrono::minutes kLongestWithout{30};  // without a session
constexpr std::chrono::seconds kBetweenAttempts{5};  // between two attempts to have one
constexpr std::chrono::minutes kMostCreating{1};
constexpr std::chrono::minutes kResetTakes{1};  // at the most
// A master that hears nothing for two of them believes the client gone: within the longest idleness.
constexpr std::chrono::seconds kMostSilence{20};
constexpr int kSmallest = 4;
constexpr std::size_t kMostLines = 3;
constexpr std::uint64_t kFiveInSoManyAreWrong = 50;
constexpr int kMostTries = 12;
constexpr int kLeastTries = 5;  // to initialise variables

std::vector<fakes::GraphPlace> PlacesOf(const TrainerParts& parts) {
  const std::string own = fmt::format("/job:{}/task:{}", parts.job_name, parts.index);
  std::vector<fakes::GraphPlace> places = {{.devices = {"", "/device:CPU:0"}}};
  if (!parts.job.workload.clients) places.push_back({.devices = {own, own + "/device:CPU:0"}});
  for (int i = 0; i < parts.job.tasks.find("ps")->second; ++i) {
    const std::string task = fmt::format("/task:{}", i);
    places.push_back({.devices = {"/job:ps" + task, "/job:ps/replica:0" + task + "/device:CPU:0"}});
  }
  return places;
}

bool SeveralTalk(const JobSpec& job) {
  int talk = 0;
  for (const auto& [name, count] : job.tasks) talk += name == "ps" ? 0 : count;
  return talk > 1;
}

// A client answers what is fed itself.
bool NeedsTheMaster(const RunSpec& spec) {
  const auto is_fed = [&spec](const Output& fetch) { return std::ranges::find(spec.feeds, fetch) != spec.feeds.end(); };
  return !spec.targets.empty() || spec.fetches.empty() || !std::ranges::all_of(spec.fetches, is_fed);
}

absl::Status GivesUp(std::string_view why) {
  return MakeStatus(Code::kDeadlineExceeded, fmt::format("For {} min: {}", kLongestWithout.count(), why));
}

}  // namespace

Conversation::Asked Conversation::Within(std::int64_t patience_ms) {
  return [options = RunOptions{.timeout_in_ms = patience_ms}](Session& session, const RandomStep& step,
                                                              std::vector<Tensor>* out) {
    return session.Run({.spec = step.spec, .feed_values = step.feeds, .options = &options}, out);
  };
}

absl::Status Conversation::RunStep(Session& session, const RandomStep& step, std::vector<Tensor>* out) {
  return session.Run({.spec = step.spec, .feed_values = step.feeds}, out);
}

const std::vector<Conversation::AskKind>& Conversation::AskKinds() {
  static const std::vector<AskKind> kAll = {
      {40, &Conversation::AskOnce},       {8, &Conversation::AskPrepared},   {4, &Conversation::AskTraced},
      {12, &Conversation::AskSeveral},    {10, &Conversation::AskWhatIsNew}, {6, &Conversation::GiveUp},
      {5, &Conversation::CloseAndOpen},   {5, &Conversation::CloseAsItRuns}, {5, &Conversation::OpenAnother},
      {4, &Conversation::Reset},          {1, &Conversation::StandIdle},     {5, &Conversation::AskQueue},
      {5, &Conversation::AskAccumulator},
  };
  return kAll;
}

Conversation::Conversation(const TrainerParts& parts)
    : parts_(parts), env_(WithoutEvents(parts.env)), over_(*parts.env.tasks, "told to stop") {}

absl::Status Conversation::Hold() {
  std::unique_ptr<SignalWatch> watch;
  if (IsToldToStop(parts_.job.plan, TaskOf(parts_))) {
    VIGIL_ASSIGN_OR_RETURN(watch, env_.signals->Watch([this](std::string_view) { over_.Notify(); }));
  }
  VIGIL_RETURN_IF_ERROR(Anew());
  if (over_.IsSet()) return absl::OkStatus();
  parts_.recorder.Opened(env_.clock->Monotonic() - parts_.started);
  parts_.opened();
  for (std::int64_t i = 0; i < LastStepOf(parts_) && !over_.IsSet(); ++i) {
    VIGIL_RETURN_IF_ERROR(Ask(*lines_[Below(lines_.size())]));
    Sleep(parts_.takes(parts_.job.workload.step));
  }
  for (const auto& line : lines_) HangUp(*line);
  return absl::OkStatus();
}

absl::Status Conversation::Ask(Line& line) {
  int all = 0;
  for (const AskKind& kind : AskKinds()) all += kind.weight;
  auto drawn = static_cast<int>(Below(static_cast<std::uint64_t>(all)));
  for (const AskKind& kind : AskKinds()) {
    if (drawn < kind.weight) return (this->*kind.ask)(line);
    drawn -= kind.weight;
  }
  return absl::OkStatus();
}

absl::Status Conversation::AskOnce(Line& line) { return AskBy(line, RunStep); }

absl::Status Conversation::AskPrepared(Line& line) {
  return AskBy(line, [this](Session& session, const RandomStep& step, std::vector<Tensor>* out) -> absl::Status {
    CallableOptions options;
    const auto names = [this](const std::vector<Output>& outputs, std::vector<std::string>& to) {
      for (const Output output : outputs) to.push_back(graph_->graph.NameOf(output));
    };
    names(step.spec.feeds, options.feed);
    names(step.spec.fetches, options.fetch);
    for (const NodeId target : step.spec.targets) options.target.push_back(graph_->graph.node(target).name);
    VIGIL_ASSIGN_OR_RETURN(const CallableHandle handle, session.MakeCallable(std::move(options)));
    const absl::Status run = session.RunCallable(handle, step.feeds, out);
    VIGIL_RETURN_IF_ERROR(session.ReleaseCallable(handle));
    return run;
  });
}

absl::Status Conversation::AskTraced(Line& line) {
  return AskBy(line, [](Session& session, const RandomStep& step, std::vector<Tensor>* out) -> absl::Status {
    const RunOptions options{.trace_level = TraceLevel::kFullTrace};
    RunMetadata metadata;
    VIGIL_RETURN_IF_ERROR(
        session.Run({.spec = step.spec, .feed_values = step.feeds, .options = &options, .metadata = &metadata}, out));
    if (step.spec.targets.empty() || !metadata.step_stats.empty()) return absl::OkStatus();
    return MakeStatus(Code::kDataLoss, "the trace of what has run is empty");
  });
}

absl::Status Conversation::AskSeveral(Line& line) {
  std::vector<RandomStep> steps;
  const std::size_t count = 2 + Below(3);
  for (int i = 0; i < kMostTries && steps.size() < count; ++i) {
    RandomStep step = steps_->Next();
    if (!Updates(*graph_, step.spec)) steps.push_back(std::move(step));
  }
  return AskAtOnce(line, std::move(steps));
}

// By several tasks at once, half of the time.
absl::Status Conversation::AskWhatIsNew(Line& line) {
  if (size_ >= kLargestGraph) return Anew();
  const auto more = static_cast<int>(1 + Below(4));
  size_ += more;
  graph_->Grow(more);
  steps_->DrawKinds();
  return Below(2) == 0 ? AskOnce(line) : AskSeveral(line);
}

absl::Status Conversation::GiveUp(Line& line) {
  const RandomStep step = steps_->Next();
  const Heard alone = RunAlone(line, step);
  const std::int64_t patience = Drawn(8 * Latency()) / std::chrono::milliseconds(1) + 1;
  const Heard heard = RunBy(*line.cluster, step, Within(patience));
  const Outcome outcome = Judge(line, step, alone, heard, std::chrono::milliseconds(patience));
  if (CodeOf(heard.status) != Code::kDeadlineExceeded) return GoOn(line, step, outcome);
  return Updates(*graph_, step.spec) ? Anew() : absl::OkStatus();
}

absl::Status Conversation::CloseAndOpen(Line& line) {
  if (Below(2) == 0) Sleep(Drawn(kBetweenAttempts));
  return Reopen(line);
}

absl::Status Conversation::CloseAsItRuns(Line& line) {
  const RandomStep step = steps_->Next();
  const Heard alone = RunAlone(line, step);
  const auto heard = std::make_shared<Heard>();
  const std::unique_ptr<Task> other = RunBeside(line, step, heard);
  env_.tasks->SleepUntil(DeadlineAfter(env_, Drawn(4 * Latency())));
  HangUp(line);
  other->Join(kNever);
  // ABORTED: the master has closed it before it hears of the run.
  const Code code = CodeOf(heard->status);
  if (code != Code::kCancelled && code != Code::kUsage && code != Code::kAborted) Judge(line, step, alone, *heard);
  return Updates(*graph_, step.spec) ? Anew() : Reopen(line);
}

absl::Status Conversation::OpenAnother(Line& line) {
  if (lines_.size() >= kMostLines) {
    HangUp(line);
    std::erase_if(lines_, [&line](const auto& each) { return each.get() == &line; });
    return absl::OkStatus();
  }
  auto more = std::make_unique<Line>();
  VIGIL_RETURN_IF_ERROR(Open(*more));
  if (more->cluster != nullptr) lines_.push_back(std::move(more));
  return absl::OkStatus();
}

// Not at a master to which others talk, whose sessions it would end. It may come twice, the second time late: the
// client goes on in another container.
absl::Status Conversation::Reset(Line& line) {
  if (!parts_.job.workload.master.empty() && SeveralTalk(parts_.job)) return AskOnce(line);
  const Time before = env_.clock->Monotonic();
  const absl::Status reset = ResetCluster(env_, parts_.target, {container_}, Config());
  Answer answer{.took = env_.clock->Monotonic() - before, .limit = kResetTakes, .text = "a reset: "};
  answer.text += MessageOf(reset);
  parts_.recorder.Answered(CodeOf(reset), std::move(answer));
  if (!reset.ok()) return Anew();
  const RandomStep step = steps_->Next();
  for (const auto& each : lines_) {
    const Heard heard = RunBy(*each->cluster, step, RunStep);
    if (heard.status.ok() && NeedsTheMaster(step.spec))
      parts_.recorder.Answered(Code::kOk, {.took = heard.took, .wrong = "a session answers whose master was reset"});
  }
  state_ = std::make_shared<ResourceManager>(env_);
  initialised_ = false;
  VIGIL_RETURN_IF_ERROR(Reopen(line));
  if (over_.IsSet()) return absl::OkStatus();
  Compare(line, step, RunStep);
  return Anew();
}

absl::Status Conversation::StandIdle(Line& line) {
  Sleep(std::chrono::seconds(30 + Below(200)));
  return AskOnce(line);
}

absl::Status Conversation::AskBy(Line& line, const Asked& ask) {
  const RandomStep step = steps_->Next();
  return GoOn(line, step, Compare(line, step, ask));
}

absl::Status Conversation::AskAtOnce(Line& line, std::vector<RandomStep> steps) {
  std::vector<Heard> alone;
  std::vector<std::shared_ptr<Heard>> heard;
  std::vector<std::unique_ptr<Task>> tasks;
  for (const RandomStep& step : steps) alone.push_back(RunAlone(line, step));
  for (const RandomStep& step : steps) {
    heard.push_back(std::make_shared<Heard>());
    tasks.push_back(RunBeside(line, step, heard.back()));
  }
  for (const auto& task : tasks) task->Join(kNever);
  bool broken = false;
  for (std::size_t i = 0; i < steps.size(); ++i)
    broken = Judge(line, steps[i], alone[i], *heard[i]) == Outcome::kBroken || broken;
  return broken ? Reopen(line) : absl::OkStatus();
}

absl::Status Conversation::GoOn(Line& line, const RandomStep& step, Outcome outcome) {
  if (outcome == Outcome::kAnswered) return absl::OkStatus();
  const bool updates = Updates(*graph_, step.spec);
  if (outcome == Outcome::kBroken) return updates ? Anew() : Reopen(line);
  if (!updates) return absl::OkStatus();
  CompareDetermined(line, step);
  return Anew();
}

void Conversation::CompareDetermined(const Line& line, const RandomStep& step) {
  if (step.fails == kNoNode || step.may_fetch_dead) return;
  const RandomStep look{.spec = {.fetches = DeterminedVariables(*graph_, step.spec, step.fails)},
                        .text = "variables after: " + step.text};
  if (!look.spec.fetches.empty()) Compare(line, look, RunStep);
}

Conversation::Outcome Conversation::Compare(const Line& line, const RandomStep& step, const Asked& ask) {
  const Heard alone = RunAlone(line, step);
  return Judge(line, step, alone, RunBy(*line.cluster, step, ask));
}

Conversation::Outcome Conversation::Judge(const Line& line, const RandomStep& step, const Heard& alone,
                                          const Heard& heard, Duration limit) {
  const Time now = env_.clock->Monotonic();
  Answer answer{.took = heard.took, .limit = limit, .session_for = now - line.opened};
  if (initialised_) answer.initialised_for = now - initialised_at_;
  const bool same = AreSameAnswers(step, initialised_, alone, heard);
  if (!same && heard.status.ok())
    answer.wrong = fmt::format("{}, where one process says {} ({})", AnswerText(heard), AnswerText(alone), step.text);
  if (!same && !heard.status.ok()) answer.text = fmt::format("{}; {}", MessageOf(heard.status), step.text);
  parts_.recorder.Answered(same ? Code::kOk : CodeOf(heard.status), std::move(answer));
  if (!same) return Outcome::kBroken;
  return alone.status.ok() ? Outcome::kAnswered : Outcome::kFailsAlone;
}

Conversation::Heard Conversation::RunBy(Session& session, const RandomStep& step, const Asked& ask) const {
  Heard heard;
  const Time before = env_.clock->Monotonic();
  heard.status = ask(session, step, &heard.values);
  heard.took = env_.clock->Monotonic() - before;
  return heard;
}

Conversation::Heard Conversation::RunAlone(const Line& line, const RandomStep& step) const {
  return RunBy(*line.alone, step, RunStep);
}

std::unique_ptr<Task> Conversation::RunBeside(const Line& line, const RandomStep& step, std::shared_ptr<Heard> heard,
                                              std::int64_t patience_ms) {
  return env_.tasks->Spawn("asks", [self = shared_from_this(), session = line.cluster, step, heard = std::move(heard),
                                    ask = Within(patience_ms)] { *heard = self->RunBy(*session, step, ask); });
}

SessionConfig Conversation::Config() const {
  SessionConfig config = ConfigOf(parts_);
  config.create_timeout = kMostCreating;
  config.keepalive = kMostSilence;
  return config;
}

absl::Status Conversation::Anew() {
  const Time since = env_.clock->Monotonic();
  for (int tries = 1; !over_.IsSet(); ++tries) {
    for (const auto& line : lines_) HangUp(*line);
    lines_.clear();
    DrawGraph();
    lines_.push_back(std::make_unique<Line>());
    VIGIL_RETURN_IF_ERROR(Open(*lines_.back()));
    if (over_.IsSet() || Initialise(*lines_.back())) break;
    // A single try may stand for as long as a fault lasts: its session has no timeout.
    if (tries >= kLeastTries && env_.clock->Monotonic() - since > kLongestWithout)
      return GivesUp("no session whose variables can be initialised");
    Sleep(kBetweenAttempts);
  }
  return absl::OkStatus();
}

void Conversation::DrawGraph() {
  container_ = fmt::format("{}.{}.life{}.graph{}", parts_.job_name, parts_.index, parts_.recorder.life(), ++graphs_);
  size_ = kSmallest + static_cast<int>(Below(kLargestGraph / 2));
  const std::uint64_t seed = env_.random->Draw("conversation");
  steps_.reset();
  graph_ = std::make_unique<RandomGraph>(
      fakes::RandomGraphOptions{.seed = seed, .size = size_, .places = PlacesOf(parts_), .container = container_});
  steps_ = std::make_unique<StepDrawer>(*graph_, seed + 1, kFiveInSoManyAreWrong);
  state_ = std::make_shared<ResourceManager>(env_);
  initialised_ = false;
}

absl::Status Conversation::Open(Line& line) {
  const Time since = env_.clock->Monotonic();
  ClusterSessionFactory factory(env_);
  while (!over_.IsSet()) {
    const Time before = env_.clock->Monotonic();
    absl::StatusOr<std::unique_ptr<Session>> made = factory.Create(graph_->graph, parts_.target, Config());
    const Time now = env_.clock->Monotonic();
    Answer answer{.took = now - before, .limit = kMostCreating, .text = "a session: "};
    answer.text += MessageOf(made.status());
    parts_.recorder.Answered(CodeOf(made.status()), std::move(answer));
    if (made.ok()) {
      line.cluster = *std::move(made);
      line.alone = NewDirectSession(env_, graph_->graph, {.shared_resources = state_});
      line.opened = now;
      parts_.recorder.NewSession();
      break;
    }
    if (now - since > kLongestWithout) return GivesUp(MessageOf(made.status()));
    Sleep(kBetweenAttempts);
  }
  return absl::OkStatus();
}

void Conversation::HangUp(Line& line) {
  if (line.cluster != nullptr) line.cluster->Close().IgnoreError();
}

absl::Status Conversation::Reopen(Line& line) {
  HangUp(line);
  return Open(line);
}

bool Conversation::Initialise(const Line& line) {
  const RandomStep init{.spec = {.targets = {graph_->init}}, .text = "init"};
  initialised_ = true;
  initialised_at_ = env_.clock->Monotonic();
  return Compare(line, init, RunStep) == Outcome::kAnswered;
}

std::uint64_t Conversation::Below(std::uint64_t count) const { return env_.random->Draw("conversation") % count; }

Duration Conversation::Drawn(Duration most) const { return DrawnUpTo(env_, "conversation", most); }

Duration Conversation::Latency() const { return parts_.job.plan.default_link.most_latency; }

}  // namespace vigil::sim
