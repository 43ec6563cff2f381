#include "vigil/properties/verify/watched_hook.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/time.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/properties/verify/findings.h"

namespace vigil {
namespace {

constexpr Duration kLongestCall = std::chrono::seconds(60);

std::string TextOfError(const absl::Status& error) {
  return fmt::format("{} \"{}\"", CodeName(CodeOf(error)), MessageOf(error));
}

}  // namespace

WatchedHook::WatchedHook(HookPtr hook, const HookWorld& world, EvidencePtr evidence)
    : hook_(std::move(hook)), world_(world), evidence_(std::move(evidence)) {}

// A context that is asked for a stop after its run is one that the hook has kept.
void WatchedHook::NoteContexts() {
  for (const std::unique_ptr<Shadow>& shadow : shadows_) {
    if (!shadow->over || shadow->stop_seen || !shadow->context->stop_requested()) continue;
    shadow->stop_seen = true;
    evidence_->Offend(promise::kOldContext,
                      fmt::format("asks the context of an earlier run for a stop {}", evidence_->Where()));
  }
}

template <typename Body>
absl::Status WatchedHook::Call(std::string_view method, Body body) {
  evidence_->inside = method;
  evidence_->own_failures.clear();
  const Env& env = world_.env();
  const Time start = env.clock->Monotonic();
  const int nodes = world_.graph().size();
  bool threw = true;
  // Where its task is killed it never returns: `inside` stays.
  const absl::Status status = CallGuarded([&body, &threw] {
    absl::Status returned = body();
    threw = false;
    return returned;
  });
  if (threw) {
    evidence_->Offend(promise::kThrows, fmt::format("throws \"{}\" {}", MessageOf(status), evidence_->Where()));
    evidence_->inside.clear();
    return status;
  }
  evidence_->NoteOutside();
  NoteContexts();
  const Duration took = env.clock->Monotonic() - start;
  if (took >= kLongestCall && !evidence_->options->may_wait) {
    evidence_->Offend(promise::kBlocks, fmt::format("waits {:.0f} s {}", ToSeconds(took), evidence_->Where()));
  }
  if (method != "begin" && world_.graph().size() != nodes) {
    evidence_->Offend(promise::kGraph, fmt::format("adds nodes to the graph {}", evidence_->Where()));
  }
  if (!status.ok()) {
    evidence_->Decide(fmt::format("fails with {} in {}", CodeName(CodeOf(status)), method));
    const bool passed_on = std::ranges::find(evidence_->own_failures, CodeOf(status)) != evidence_->own_failures.end();
    const bool by_itself = !passed_on && !(method == "end" && evidence_->session == 0);
    if (by_itself && !evidence_->options->may_fail) {
      evidence_->Offend(promise::kFails, fmt::format("fails {}: {}", evidence_->Where(), TextOfError(status)));
    }
  }
  evidence_->inside.clear();
  return status;
}

absl::Status WatchedHook::Begin(BeginContext& context) {
  evidence_->ended = false;
  evidence_->session = 0;
  evidence_->last_step = 0;
  BeginContext watched{world_.env(), context.graph};
  return Call("begin", [&] { return hook_->Begin(watched); });
}

absl::Status WatchedHook::AfterCreateSession(const std::shared_ptr<Session>& session,
                                             const std::shared_ptr<Coordinator>& coord) {
  evidence_->session = session->number();
  evidence_->coord = coord;
  session_ = std::make_shared<WatchedSession>(session, world_.train_op(), evidence_);
  return Call("after_create_session", [&] { return hook_->AfterCreateSession(session_, coord); });
}

void WatchedHook::NoteFeeds(const RunContext& context, const RunArgs& args) {
  for (std::size_t i = 0; i < args.feeds.size(); ++i) {
    const Feed& feed = args.feeds[i];
    // The session refuses what is of another graph.
    const bool known = world_.graph().HasNode(feed.tensor.node);
    const std::string name = known ? world_.graph().NameOf(feed.tensor) : "?";
    double value = 0;
    evidence_->Decide(feed.value.AsNumber(&value) ? fmt::format("feeds {} with {}", name, value)
                                                  : fmt::format("feeds {}", name));
    if (evidence_->options->may_feed) continue;
    for (const Feed& original : context.original_feeds()) {
      if (original.tensor == feed.tensor)
        evidence_->Offend(promise::kFeeds,
                          fmt::format("feeds {}, which the caller feeds, {}", name, evidence_->Where()));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (args.feeds[j].tensor == feed.tensor)
        evidence_->Offend(promise::kFeeds, fmt::format("feeds {} twice {}", name, evidence_->Where()));
    }
  }
}

// What the hook asked its context, the real one is asked.
void WatchedHook::NoteStop(RunContext& real) {
  Shadow& shadow = *shadows_.back();
  if (shadow.stop_seen || !shadow.context->stop_requested()) return;
  shadow.stop_seen = true;
  evidence_->stopped_last_run = true;
  evidence_->Decide("asks for a stop");
  if (!evidence_->options->may_request_stop) {
    evidence_->Offend(promise::kStop, fmt::format("asks for a stop after step {}", evidence_->last_step));
  }
  real.RequestStop();
}

absl::Status WatchedHook::BeforeRun(RunContext& context, RunArgs& args) {
  if (!shadows_.empty()) shadows_.back()->over = true;
  evidence_->stopped_last_run = false;
  auto shadow = std::make_unique<Shadow>();
  shadow->fetches = context.original_fetches();
  shadow->feeds = context.original_feeds();
  shadow->context = std::make_unique<RunContext>(shadow->fetches, shadow->feeds, *session_, context.recoveries());
  shadows_.push_back(std::move(shadow));
  const absl::Status status = Call("before_run", [&] { return hook_->BeforeRun(*shadows_.back()->context, args); });
  NoteFeeds(context, args);
  NoteStop(context);
  if (!status.ok()) return status;
  fetches_own_ = !args.fetches.empty();
  std::vector<Fetches> all = {Fetches(world_.train_op())};
  if (fetches_own_) all.push_back(std::move(args.fetches));
  args.fetches = Fetches::List(std::move(all));
  return status;
}

FetchedValues WatchedHook::OwnResults(const FetchedValues& values) const {
  return fetches_own_ ? values[1] : FetchedValues();
}

void WatchedHook::Inspect(const FetchedValues& values) { hook_->Inspect(OwnResults(values)); }

absl::Status WatchedHook::AfterRun(RunContext& context, const RunValues& values) {
  evidence_->last_step = values.results[0].scalar<std::int64_t>();
  const RunValues own{OwnResults(values.results), values.options, values.metadata};
  const absl::Status status = Call("after_run", [&] { return hook_->AfterRun(*shadows_.back()->context, own); });
  NoteStop(context);
  shadows_.back()->over = true;
  return status;
}

absl::Status WatchedHook::End(Session* session) {
  if (session == nullptr) evidence_->session = 0;
  const absl::Status status = Call("end", [&] { return hook_->End(session == nullptr ? nullptr : session_.get()); });
  if (!status.ok() && session == nullptr && !evidence_->options->may_need_session) {
    evidence_->Offend(promise::kEndNeedsSession, fmt::format("End(null) fails: {}", TextOfError(status)));
  }
  NoteContexts();
  evidence_->ended = true;
  return status;
}

}  // namespace vigil
