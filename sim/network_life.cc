// The life of hosts on the network: they stand still, they die, and what they leave behind is destroyed.
#include <utility>

#include "vigil/sim/network.h"

namespace vigil::sim {

void SimNetwork::Pause(NetworkHost& host) {
  host.paused = true;
  for (NetworkLink* const link : host.out) {
    if (link != nullptr) ReachabilityChanged(*link->back);
  }
}

void SimNetwork::Resume(NetworkHost& host) {
  host.paused = false;
  for (NetworkLink* const link : host.out) {
    if (link != nullptr) ReachabilityChanged(*link->back);
  }
  for (Message* const message : std::exchange(host.inbox, {})) SendAt(*message, scheduler_.now());
  // By index: what is sent may strike a fault, and faults make links.
  for (std::size_t i = 0; i < host.out.size(); ++i) {
    if (host.out[i] != nullptr) TakeTurns(*host.out[i]);
  }
}

void SimNetwork::Died(NetworkHost& host) {
  host.paused = false;
  // What it has not taken is in flight no more.
  for (Message* const message : std::exchange(host.inbox, {})) {
    if (message->kind == Message::Kind::kRequest && !message->second) GiveBack(*message->call);
    Free(*message);
  }
  host.handling = 0;
  host.crowd.clear();
  while (!host.listeners.empty()) {
    host.ended_listeners.push_back(host.listeners.back());
    CloseListener(*host.listeners.back());
  }
  for (NetworkLink* const used : host.out) {
    if (used == nullptr) continue;
    NetworkLink& link = *used;
    Touch("link", link.name, Access::kWrite);
    Touch("link", link.back->name, Access::kWrite);
    while (!link.calls.empty()) {
      OutgoingCall& call = *link.calls.first;
      link.calls.Remove(call);
      GiveBack(call);
      call.settled = true;
      scheduler_.ClearTimer(call.deadline);
      scheduler_.ClearTimer(call.keepalive);
      host.ended_calls.push_back(&call);
    }
    // What it serves of others' calls.
    for (Chain<Serving>& served = link.back->servings; !served.empty();) {
      Serving& serving = *served.first;
      served.Remove(serving);
      serving.over = serving.answered = serving.ended = true;
      if (serving.late != nullptr) serving.late->serving = nullptr;
      host.ended_servings.push_back(&serving);
    }
    Message& closed = NewMessage(Message::Kind::kClosed, link, nullptr);
    closed.life = host.life;
    Send(closed, 0);
  }
  ++host.life;
  // Who waits to send it something does so now, and hears that nobody is there.
  for (std::size_t i = 0; i < host.out.size(); ++i) {
    if (host.out[i] != nullptr) TakeTurns(*host.out[i]->back);
  }
}

void SimNetwork::Ended(NetworkHost& host) {
  for (Serving* const serving : std::exchange(host.ended_servings, {})) {
    const bool put_off = std::exchange(serving->put_off, false);
    if (std::exchange(serving->running, false)) Unreference(*serving);
    if (put_off) Unreference(*serving);
  }
  for (OutgoingCall* const call : std::exchange(host.ended_calls, {})) {
    const std::function<void(NetworkReply)> done = std::exchange(call->done, nullptr);
    Unreference(*call);
  }
  for (const auto& listener : std::exchange(host.ended_listeners, {})) {
    const RequestHandler handler = std::exchange(listener->handler, nullptr);
  }
}

void SimNetwork::Clear() {
  for (Message& message : messages_) {
    if (message.free) continue;
    scheduler_.ClearTimer(message);
    Free(message);
  }
  for (NetworkLink& link : links_) link.held.clear();
  for (NetworkHost& host : hosts_) host.inbox.clear();
}

}  // namespace vigil::sim
