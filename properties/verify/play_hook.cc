#include "vigil/properties/verify/play_hook.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/builder.h"
#include "vigil/properties/verify/findings.h"
#include "vigil/properties/verify/hook_model.h"
#include "vigil/properties/verify/watched_hook.h"
#include "vigil/properties/verify/watched_seams.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/stage/builtin_hooks.h"
#include "vigil/replays/stage/model.h"

namespace vigil {
namespace {

using replays::HookSaid;

// So long a task may take to notice that its session is gone.
constexpr Duration kTimeToNotice = std::chrono::seconds(10);

// While it lives, what is asked of the machine is the hook's doing: nothing else in a world asks for anything.
class OutsideWindow {
 public:
  explicit OutsideWindow(Evidence& evidence) : before_(WatchOutside(&evidence.outside)) {}
  ~OutsideWindow() { WatchOutside(before_); }
  OutsideWindow(const OutsideWindow&) = delete;
  OutsideWindow& operator=(const OutsideWindow&) = delete;

 private:
  OutsideCalls* const before_;
};

// What a player saw its hook ask of the machine is judged as it is of a hook of ours. Returns what it says wrongly.
std::string JudgeSeen(const HookSaid& said, std::vector<HookOffence>& offences) {
  const VerifyOptions options{.may_use_outside = said.may_use_outside, .may_write = said.may_write};
  Evidence evidence;
  evidence.options = &options;
  evidence.offences = std::move(offences);
  for (const HookSaid::Seen& seen : said.seen) {
    evidence.inside = seen.inside;
    evidence.last_step = seen.step;
    if (seen.what == HookSaid::kChanges) {
      evidence.Changes(seen.name);
    } else if (const std::optional<OutsideKind> kind = OutsideKindOf(seen.what); kind.has_value()) {
      evidence.AsksOutside(*kind, seen.name);
    } else {
      return fmt::format("the player has seen what there is not: {}", replays::Quoted(seen.what));
    }
  }
  offences = std::move(evidence.offences);
  return "";
}

// What the hook of one play stands on; outlives the world.
class Stage {
 public:
  Stage(const HookMaker& maker, EvidencePtr evidence) : maker_(maker), evidence_(std::move(evidence)) {}

  absl::StatusOr<HookPtr> Make(const replays::HookParts& parts) {
    tasks_.emplace(*parts.env.tasks, evidence_);
    files_.emplace(*parts.env.files, evidence_);
    env_ = parts.env;
    HookWorldParts world{.env = parts.env,
                         .graph = parts.model.graph.get(),
                         .loss = parts.model.loss,
                         .global_step = parts.model.read.value_or(Output()),
                         .train_op = parts.model.train,
                         .feedable = parts.model.feed_me,
                         .scaffold = parts.scaffold,
                         .behaviour = parts.behaviour,
                         .directory = parts.directory};
    world.env.tasks = &*tasks_;
    world.env.files = &*files_;
    world_.emplace(std::move(world));
    absl::StatusOr<HookPtr> hook = maker_(*world_);
    if (hook.ok() && *hook == nullptr) hook = UsageError("The maker of the hook returned null.");
    if (!hook.ok()) {
      error = MessageOf(hook.status());
      return hook;
    }
    return std::make_shared<WatchedHook>(*std::move(hook), *world_, evidence_);
  }

  void OnLifeEnd() {
    evidence_->session = 0;
    FindTasks();
    ++evidence_->life;
  }

  std::string error;

 private:
  void FindTasks() {
    const auto late = [this](const HookTask& task) {
      // A session that nobody closed has told nobody to end.
      const Coordinator* const coord = task.coord != nullptr ? task.coord.get() : evidence_->coord.get();
      if (*task.done || coord == nullptr || !coord->joined()) return false;
      const auto& services = evidence_->options->service_tasks;
      return std::ranges::find(services, task.name) == services.end();
    };
    if (std::ranges::any_of(evidence_->tasks, late)) env_.tasks->SleepUntil(DeadlineAfter(env_, kTimeToNotice));
    const auto still = std::ranges::find_if(evidence_->tasks, late);
    if (still == evidence_->tasks.end()) return;
    evidence_->Offend(promise::kThread, fmt::format("the task '{}' still runs {:.0f} s after the session was closed",
                                                    still->name, ToSeconds(kTimeToNotice)));
  }

  const HookMaker& maker_;
  const EvidencePtr evidence_;
  Env env_;
  std::optional<WatchedTasks> tasks_;
  std::optional<WatchedFiles> files_;
  std::optional<HookWorld> world_;
};

}  // namespace

// By the behaviour of TensorFlow, if the player has no other.
HookPlay HookPlayer::PlayElsewhere(const HookCase& c) {
  HookPlay play;
  replays::Scenario scenario = c.scenario;
  const absl::StatusOr<replays::Greeting> greeting = player_.Greet();
  if (greeting.ok() && !greeting->behaviours.contains(scenario.behaviour.name)) scenario.behaviour = {};
  replays::Outcome outcome;
  replays::HookSaid said;
  player_.Play(scenario, {.random = scenario.seed != 0, .lives = c.lives, .hook = &said}, outcome, outcome);
  play.skipped = outcome.verdict == replays::Verdict::kCannot;
  if (outcome.verdict == replays::Verdict::kPlayerFailed) {
    std::string what = outcome.violated->front();
    std::ranges::replace(what, '.', '_');
    play.crash = replays::Crash{.what = std::move(what), .detail = outcome.reason, .frames = {}};
    return play;
  }
  play.error = said.error;
  if (play.error.empty() && outcome.verdict == replays::Verdict::kNotSetUp)
    play.error = fmt::format("the player could not set it up: {}", outcome.reason);
  play.stopped_last_run = said.stopped_last_run;
  for (const HookSaid::Decision& decision : said.decisions)
    play.decisions.push_back({static_cast<int>(decision.life), decision.step, decision.what});
  for (const HookSaid::Offence& offence : said.offences) {
    const auto known = std::ranges::find(HookPromises(), offence.promise, &HookPromise::id);
    if (known == HookPromises().end()) {
      play.error = fmt::format("the player names a promise that there is not: {}", replays::Quoted(offence.promise));
      return play;
    }
    play.offences.push_back({known->id, offence.actual});
  }
  if (std::string wrong = JudgeSeen(said, play.offences); !wrong.empty()) {
    play.error = std::move(wrong);
    return play;
  }
  if (outcome.verdict == replays::Verdict::kDeadlock || outcome.verdict == replays::Verdict::kRunaway) {
    play.endless = true;
    play.offences.push_back({promise::kBlocks, fmt::format("the session never ends: {}", outcome.reason)});
  }
  play.hash = outcome.hash;
  play.events = std::move(outcome.events);
  return play;
}

HookPlay HookPlayer::Play(const HookCase& c) {
  if (!options_.player.command.empty()) return PlayElsewhere(c);
  const auto evidence = std::make_shared<Evidence>();
  evidence->options = &options_;
  Stage stage(maker_, evidence);
  replays::ForeignHook foreign;
  if (!c.scenario.model.nan_at.has_value()) foreign.extend_model = LetLossFall;
  foreign.make = [&stage](const replays::HookParts& parts) { return stage.Make(parts); };
  foreign.lives = c.lives;
  foreign.on_life_end = [&stage] { stage.OnLifeEnd(); };
  HookPlay play;
  {
    const OutsideWindow window(*evidence);
    replays::Outcome outcome = runner_.Run(c.scenario, {.random_schedule = c.scenario.seed != 0, .foreign = &foreign});
    evidence->NoteOutside();
    if (outcome.verdict == replays::Verdict::kNotSetUp) stage.error = outcome.reason;
    if (outcome.verdict == replays::Verdict::kDeadlock || outcome.verdict == replays::Verdict::kRunaway) {
      play.endless = true;
      evidence->Offend(promise::kBlocks, evidence->inside.empty()
                                             ? fmt::format("the session never ends: {}", outcome.reason)
                                             : fmt::format("does not return {}", evidence->Where()));
    }
    play.hash = outcome.hash;
    play.events = std::move(outcome.events);
  }
  play.error = stage.error;
  play.decisions = std::move(evidence->decisions);
  play.offences = std::move(evidence->offences);
  play.stopped_last_run = evidence->stopped_last_run;
  return play;
}

}  // namespace vigil
