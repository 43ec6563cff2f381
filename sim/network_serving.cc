// The serving side of a call: its handler, its answer, and that nobody waits for it any more.
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/sim/network.h"
#include "vigil/sim/node.h"

namespace vigil::sim {

const std::string& Serving::method() const { return call->request.method; }
const absl::Cord& Serving::body() const { return call->request.body; }

void Serving::OnCancelled(std::function<void()> callback) {
  if (told && !ended) {
    callback();
  } else if (!over || ended) {
    // What a process still holds as it ends goes when it has ended: a task of it that was killed may run on for a bit.
    wake = std::move(callback);
  }
}

std::function<void(NetworkReply)> Serving::AnswerLater() {
  late = std::make_shared<LateAnswer>();
  if (!told && (!over || ended)) {
    if (!ended) late->serving = this;
    put_off = true;
    ++references;
  }
  return
      [network = call->network, answer = late](NetworkReply reply) { network->AnswerLate(*answer, std::move(reply)); };
}

void SimNetwork::Serve(Message& request) {
  OutgoingCall& call = *request.call;
  NetworkLink& link = *call.link;
  NetworkHost& host = *call.address->listener->host;
  if (request.second && request.fault != nullptr) ++request.fault->effective;
  if (free_servings_.empty()) free_servings_.push_back(&servings_.emplace_back());
  Serving& serving = *free_servings_.back();
  free_servings_.pop_back();
  serving.call = &call;
  ++call.references;
  serving.listener = call.address->listener;
  serving.epoch = link.epoch;
  serving.references = 1;
  serving.running = true;
  call.servings[request.second ? 1 : 0] = &serving;
  link.servings.PushBack(serving);
  if (host.most_handling > 0) Touch("handlers", host.name, Access::kWrite);
  if (host.most_handling == 0 || (host.crowd.empty() && host.handling < host.most_handling)) return Begin(serving);
  ++host.crowded;
  host.crowd.push_back(&serving);
}

void SimNetwork::Begin(Serving& serving) {
  NetworkHost& host = *serving.listener->host;
  serving.call->unheard = false;
  ++host.handling;
  host.node->SpawnTask(ServeTask(host), [this, &serving] { RunHandler(serving); });
}

void SimNetwork::HandlerEnded(NetworkHost& host) {
  --host.handling;
  if (host.most_handling == 0) return;
  Touch("handlers", host.name, Access::kWrite);
  BeginWhoWaits(host);
}

void SimNetwork::BeginWhoWaits(NetworkHost& host) {
  while (!host.crowd.empty() && (host.most_handling == 0 || host.handling < host.most_handling)) {
    Serving& next = *host.crowd.front();
    host.crowd.pop_front();
    if (!next.told) {
      Begin(next);
      continue;
    }
    next.over = true;  // nobody waits for it any more
    Release(next, next.running);
  }
}

void SimNetwork::LimitHandlers(std::string_view node, std::int64_t at_once) {
  if (scheduler_.steps() != nullptr) scheduler_.TouchEverything();
  NetworkHost& host = HostOf(node);
  host.most_handling = at_once;
  BeginWhoWaits(host);
}

std::int64_t SimNetwork::Crowded(std::string_view node) const {
  const auto found = host_names_.find(node);
  return found == host_names_.end() ? 0 : found->second->crowded;
}

TaskIdentity& SimNetwork::ServeTask(NetworkHost& host) {
  for (TaskIdentity* const identity : host.serve_tasks) {
    if (!identity->in_use) return *identity;
  }
  host.serve_tasks.push_back(&host.node->IdentityFor("serve"));
  return *host.serve_tasks.back();
}

void SimNetwork::RunHandler(Serving& serving) {
  Node& node = *serving.listener->host->node;
  node.Work(serving.body().size());
  NetworkReply reply = serving.listener->handler(serving);
  if (serving.late == nullptr) node.Work(reply.ok() ? reply->size() : 0);
  if (serving.ended) return;
  NetworkHost& host = *serving.listener->host;
  // Also what was put off when nobody waited any more: nobody else does.
  if (!serving.put_off) AnswerOnce(serving, std::move(reply));
  if (serving.ended) return;  // a fault that falls where the answer is sent has ended the process
  Release(serving, serving.running);
  HandlerEnded(host);
}

void SimNetwork::AnswerLate(LateAnswer& late, NetworkReply reply) {
  if (late.serving == nullptr) return;
  Serving& serving = *std::exchange(late.serving, nullptr);
  if (!scheduler_.firing()) serving.listener->host->node->Work(reply.ok() ? reply->size() : 0);
  if (serving.ended) return;
  AnswerOnce(serving, std::move(reply));
  if (serving.ended) return;
  Release(serving, serving.put_off);
}

void SimNetwork::AnswerOnce(Serving& serving, NetworkReply reply) {
  if (std::exchange(serving.over, true)) return;
  Touch("link", serving.call->link->name, Access::kWrite);
  const std::function<void()> wake = std::exchange(serving.wake, nullptr);
  if (!serving.answered) Answer(serving, Carried(std::move(reply), serving.method(), limits_));
}

// One of those who kept it does so no longer.
void SimNetwork::Release(Serving& serving, bool& keeps) {
  keeps = false;
  if (!serving.running && !serving.put_off) serving.call->link->servings.Remove(serving);
  Unreference(serving);
}

void SimNetwork::Answer(Serving& serving, NetworkReply reply) {
  serving.answered = true;
  OutgoingCall& call = *serving.call;
  // Nobody waits; the caller knows it already.
  if (serving.told || call.settled || call.epoch != call.link->epoch) return;
  RpcFaultState* const fault = call.fault;
  if (fault != nullptr && fault->fault.effect == RpcFault::Effect::kNeverAnswered) {
    ++fault->effective;
    call.hangs = true;
    return;
  }
  const std::size_t bytes = reply.ok() ? reply->size() : 0;
  Message& message = NewMessage(Message::Kind::kReply, *call.link->back, &call);
  if (fault != nullptr && fault->fault.effect == RpcFault::Effect::kDamaged && bytes > 0) {
    ++fault->effective;
    Damage(*call.link->back, *reply, message);
  }
  message.reply.emplace(std::move(reply));
  if (fault != nullptr && fault->fault.effect == RpcFault::Effect::kLostReply) {
    ++fault->effective;
    message.reply.emplace(MakeStatus(fault->fault.code, "Socket closed"));
  }
  Send(message, bytes);
}

// Nobody will read the reply.
void SimNetwork::Tell(Serving& serving) {
  if (serving.told || serving.over) return;
  serving.told = true;
  if (serving.wake == nullptr && !serving.put_off) return;
  Message& message = NewMessage(Message::Kind::kWake, *serving.call->link, serving.call);
  message.serving = &serving;
  ++serving.references;
  SendAt(message, scheduler_.now());
}

void SimNetwork::Unreference(Serving& serving) {
  if (--serving.references > 0) return;
  OutgoingCall& call = *serving.call;
  for (Serving*& of_call : call.servings) {
    if (of_call == &serving) of_call = nullptr;
  }
  const std::function<void()> wake = std::exchange(serving.wake, nullptr);
  const std::shared_ptr<ListenerState> listener = std::exchange(serving.listener, nullptr);
  serving.late = nullptr;
  serving.told = serving.answered = serving.over = serving.ended = false;
  serving.call = nullptr;
  free_servings_.push_back(&serving);
  Unreference(call);
}

}  // namespace vigil::sim
