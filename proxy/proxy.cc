#include "vigil/proxy/proxy.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "vigil/core/base/code.h"
#include "vigil/core/cluster/master.pb.h"
#include "vigil/core/cluster/methods.h"
#include "vigil/core/env/notification.h"
#include "vigil/replays/format/json_writer.h"

namespace vigil::proxy {
namespace {

constexpr std::size_t kMostNames = 20;  // of fetches and targets in a trace

// Of what a plan has chosen: its number is what the table has.
std::string By(int fault) { return fmt::format("[injected by vigil proxy: fault {}]", fault + 1); }

absl::Status ErrorOf(const Fault& fault, int number) {
  switch (fault.effect) {
    case Effect::kLostReply:
      return MakeStatus(Code::kUnavailable, "Socket closed " + By(number));
    case Effect::kReset:
      return MakeStatus(Code::kUnavailable, "Connection reset by peer " + By(number));
    default:
      return MakeStatus(fault.code, fmt::format("{} {}", CodeName(fault.code), By(number)));
  }
}

// As a step's reply has it, if that is asked for.
NetworkReply AsReply(const absl::Status& error, bool in_body) {
  if (!in_body) return error;
  proto::RunStepResponse reply;
  reply.set_status_code(static_cast<int>(CodeOf(error)));
  reply.set_status_error_message(std::string(error.message()));
  return absl::Cord(reply.SerializeAsString());
}

absl::Status StatusIn(const NetworkReply& reply, const CallInfo& info) {
  if (!reply.ok()) return reply.status();
  proto::RunStepResponse step;
  if (!IsStep(info.kind) || !ParseBody(*reply, &step) || step.status_code() == 0) return absl::OkStatus();
  return {static_cast<absl::StatusCode>(step.status_code()), step.status_error_message()};
}

void PrintNames(replays::JsonWriter& w, std::string_view key, const std::vector<std::string>& names) {
  if (names.empty()) return;
  w.Key(key).Open('[');
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) w.String(names[i]);
  if (names.size() > kMostNames) w.String(fmt::format("and {} more", names.size() - kMostNames));
  w.Close(']');
}

}  // namespace

// Who has asked, while it is answered: once it has gone, what was asked of the server for it is given up.
class Caller {
 public:
  explicit Caller(const Env& env)
      : env_(env), gone_(*env.tasks, "caller gone"), mutex_(env.tasks->NewMutex("caller")) {}

  void Left() {
    std::uint64_t call = 0;
    {
      const MutexLock lock(*mutex_);
      left_ = true;
      call = asked_;
    }
    if (call != 0) env_.network->Cancel(call);
    gone_.Notify();
  }
  void Asked(std::uint64_t call) {
    {
      const MutexLock lock(*mutex_);
      asked_ = call;
      if (!left_) return;
    }
    env_.network->Cancel(call);
  }
  // True: it has.
  bool WaitUntil(Time deadline) { return gone_.Wait(deadline); }

 private:
  const Env env_;
  Notification gone_;
  const std::unique_ptr<Mutex> mutex_;
  std::uint64_t asked_ = 0;  // guarded by *mutex_
  bool left_ = false;        // guarded by *mutex_
};

// What the server has said.
struct Answer {
  explicit Answer(Tasks& tasks) : there(tasks, "the server's answer") {}
  Notification there;
  NetworkReply reply = absl::Cord();
};

struct Proxy::State {
  State(const Env& e, ProxyOptions o)
      : env(e),
        options(std::move(o)),
        classifier(*e.tasks),
        mutex(e.tasks->NewMutex("proxy")),
        fired(options.plan.size()),
        telling(e.tasks->NewMutex("trace")) {}

  NetworkReply Handle(IncomingCall& call);
  NetworkReply Injected(IncomingCall& call, Caller& caller, const CallInfo& info, int number);
  NetworkReply Forward(IncomingCall& call, Caller& caller);
  void Wait(Caller& caller, Duration most) const;

  const Env env;
  const ProxyOptions options;
  const Time began = env.clock->Monotonic();
  Classifier classifier;
  const std::unique_ptr<Mutex> mutex;
  // Guarded by *mutex.
  std::map<CallKind, std::int64_t> calls;
  std::int64_t all = 0;
  std::vector<std::int64_t> fired;
  const std::unique_ptr<Mutex> telling;  // while options.told runs
  std::atomic<bool> over = false;
};

// Until its caller has gone, at most so long.
void Proxy::State::Wait(Caller& caller, Duration most) const {
  constexpr std::chrono::milliseconds kLook{50};  // whether the proxy is to end
  const Time end = DeadlineAfter(env, most);
  while (!over && env.clock->Monotonic() < end && !caller.WaitUntil(std::min(end, DeadlineAfter(env, kLook)))) {
  }
}

NetworkReply Proxy::State::Forward(IncomingCall& call, Caller& caller) {
  const auto answer = std::make_shared<Answer>(*env.tasks);
  NetworkRequest request{.to = options.to, .method = call.method(), .body = call.body()};
  caller.Asked(env.network->Start(std::move(request), [answer](NetworkReply reply) {
    answer->reply = std::move(reply);
    answer->there.Notify();
  }));
  answer->there.Wait(kNever);
  if (answer->reply.ok()) classifier.Answered(call.method(), call.body(), *answer->reply);
  return std::move(answer->reply);
}

NetworkReply Proxy::State::Injected(IncomingCall& call, Caller& caller, const CallInfo& info, int number) {
  const Fault& fault = options.plan[static_cast<std::size_t>(number)];
  if (fault.effect == Effect::kDelay) {
    Wait(caller, fault.lasts);
    if (call.cancelled()) return MakeStatus(Code::kCancelled, "its caller has gone");
    return Forward(call, caller);
  }
  const bool takes_effect = fault.effect == Effect::kLostReply || fault.effect == Effect::kNever || fault.after;
  if (takes_effect) static_cast<void>(Forward(call, caller));
  if (fault.effect == Effect::kNever) Wait(caller, std::chrono::hours(24 * 365));
  return AsReply(ErrorOf(fault, number), fault.in_body && info.takes_errors_in_body);
}

NetworkReply Proxy::State::Handle(IncomingCall& call) {
  const auto caller = std::make_shared<Caller>(env);
  call.OnCancelled([caller] { caller->Left(); });
  CallRecord record;
  record.at = env.clock->Monotonic() - began;
  record.method = call.method();
  record.info = classifier.Look(call.method(), call.body());
  record.request_bytes = call.body().size();
  {
    const MutexLock lock(*mutex);
    record.number = ++all;
    record.nth = ++calls[record.info.kind];
    for (std::size_t i = 0; i < options.plan.size() && record.fault < 0; ++i) {
      const Fault& fault = options.plan[i];
      if (fault.on != record.info.kind || record.nth < fault.nth || record.nth >= fault.nth + fault.times) continue;
      record.fault = static_cast<int>(i);
      ++fired[i];
    }
  }
  NetworkReply reply = record.fault < 0 ? Forward(call, *caller) : Injected(call, *caller, record.info, record.fault);
  record.took = env.clock->Monotonic() - began - record.at;
  record.status = StatusIn(reply, record.info);
  if (reply.ok()) record.reply_bytes = reply->size();
  if (options.told != nullptr) {
    const MutexLock lock(*telling);
    options.told(record);
  }
  return reply;
}

Proxy::Proxy(const Env& env, ProxyOptions options) : state_(std::make_shared<State>(env, std::move(options))) {}
Proxy::~Proxy() { Stop(); }

RequestHandler Proxy::handler() const {
  return [state = state_](IncomingCall& call) { return state->Handle(call); };
}

void Proxy::Stop() { state_->over = true; }

std::vector<FiredFault> Proxy::fired() const {
  const MutexLock lock(*state_->mutex);
  std::vector<FiredFault> fired;
  for (std::size_t i = 0; i < state_->fired.size(); ++i) fired.push_back({state_->options.plan[i], state_->fired[i]});
  return fired;
}

std::map<CallKind, std::int64_t> Proxy::calls() const {
  const MutexLock lock(*state_->mutex);
  return state_->calls;
}

std::string PrintReport(const Proxy& proxy, std::string_view again) {
  replays::JsonWriter w;
  w.Open('{').Key("calls").Open('{');
  for (const auto& [kind, count] : proxy.calls()) w.Key(NameOf(kind)).Integer(count);
  w.Close('}').Key("faults").Open('[');
  for (const FiredFault& each : proxy.fired()) {
    w.Open('{').Key("fault").String(Describe(each.fault)).Key("planned").Integer(each.fault.times);
    w.Key("fired").Integer(each.fired).Close('}');
  }
  w.Close(']').Key("again").String(again).Close('}');
  return w.Take();
}

std::string PrintCall(const CallRecord& call) {
  replays::JsonWriter w;
  w.Open('{').Key("call").Integer(call.number).Key("at_s").Seconds(ToSeconds(call.at));
  w.Key("took_s").Seconds(ToSeconds(call.took)).Key("kind").String(NameOf(call.info.kind)).Key("nth").Integer(call.nth);
  w.Key("method").String(call.method);
  if (!call.info.session.empty()) w.Key("session").String(call.info.session);
  PrintNames(w, "fetches", call.info.fetches);
  PrintNames(w, "targets", call.info.targets);
  w.Key("request_bytes").Natural(call.request_bytes).Key("reply_bytes").Natural(call.reply_bytes);
  w.Key("code").String(CodeName(CodeOf(call.status)));
  if (!call.status.ok()) w.Key("message").String(std::string(MessageOf(call.status)).substr(0, 300));
  if (call.fault >= 0) w.Key("fault").Integer(call.fault + 1);
  w.Close('}');
  return w.Take();
}

}  // namespace vigil::proxy
