// What each message does when it arrives, or why it waits.
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/io/crc32c.h"
#include "vigil/sim/message_log.h"
#include "vigil/sim/network.h"

namespace vigil::sim {

namespace {

constexpr std::string_view kDamaged = "a message was damaged on its way: its checksum does not match";

// As the receiver sees it.
bool ArrivesDamaged(const Message& message, const absl::Cord& body) {
  return message.checksum.has_value() && Crc32c(body) != *message.checksum;
}

}  // namespace

// Whether the message cannot arrive yet, or ever.
bool SimNetwork::Waits(Message& message) {
  NetworkLink& link = *message.link;
  NetworkHost* receiver = &link.to;
  switch (message.kind) {
    case Message::Kind::kDone:
      receiver = &link.from;
      if (message.call->done == nullptr) {  // its process has ended
        Free(message);
        return true;
      }
      break;
    case Message::Kind::kWake:
      break;
    case Message::Kind::kLost:
    case Message::Kind::kReset:
      return false;
    default:
      if (message.call != nullptr && message.epoch != message.call->link->epoch) {
        Free(message);  // its connection broke
        return true;
      }
      if (link.silences > 0) {
        Count(link, LinkTrouble::Kind::kSilent);
        link.held.push_back(&message);
        return true;
      }
  }
  if (!receiver->paused) return false;
  // Nobody serves there: its machine refuses a connection, whether or not the process stands still.
  if (message.kind == Message::Kind::kRequest && message.call->request.wait_for_ready &&
      message.call->address->listener == nullptr)
    return false;
  ++receiver->held_by_pause;
  receiver->inbox.push_back(&message);
  return true;
}

void SimNetwork::Deliver(Message& message) {
  if (message.kind == Message::Kind::kRequest) FindListener(*message.call);
  if (Waits(message)) return;
  hash_.AddMessage(static_cast<std::uint8_t>(message.kind), message.link->id,
                   message.call == nullptr ? 0 : message.call->number);
  ++counts_.delivered;
  if (message.logged != 0) LogArrived(message);
  if (message.kind == Message::Kind::kRequest && !message.second) return DeliverRequest(message);
  DeliverTaken(message);
}

// Who had no connection, since nobody served when it started, has it from now on, to whoever serves: with his end it
// breaks.
void SimNetwork::FindListener(OutgoingCall& call) {
  if (call.listener == 0) call.listener = call.address->listener_id();
}

// Its sender may send the next one, once this one's arrival is over.
void SimNetwork::DeliverRequest(Message& message) {
  OutgoingCall& call = *message.call;
  ++call.references;
  GiveBack(call);
  DeliverTaken(message);
  NetworkLink& link = *call.link;
  Unreference(call);
  TakeTurns(link);
}

void SimNetwork::DeliverTaken(Message& message) {
  if (!message.OfCourse()) return Arrive(message);
  // The message, and its call, may be gone afterwards.
  const NetworkLink& link = *message.link;
  const bool request = message.kind == Message::Kind::kRequest;
  const std::string method = course_.logs() && message.call != nullptr ? message.call->request.method : std::string();
  Arrive(message);
  course_.Delivered(link.to.name, link.from.name, method, request);
}

void SimNetwork::Arrive(Message& message) {
  OutgoingCall* const call = message.call;
  switch (message.kind) {
    case Message::Kind::kRequest:
      ArriveRequest(message);
      return;
    case Message::Kind::kReply:
    case Message::Kind::kLost: {
      // The message goes first: what it refers to may go with it, and `done` may need it.
      NetworkReply reply = *std::move(message.reply);
      if (reply.ok() && ArrivesDamaged(message, *reply)) reply = absl::UnavailableError(std::string(kDamaged));
      ++call->references;
      Free(message);
      Settle(*call, std::move(reply));
      Unreference(*call);
      return;
    }
    case Message::Kind::kRefused:
      ++counts_.refused;
      Settle(*call, *std::move(message.reply));
      break;
    case Message::Kind::kCancel:
      call->cancelled = true;
      for (Serving* const serving : call->servings) {
        if (serving != nullptr) Tell(*serving);
      }
      break;
    case Message::Kind::kClosed:
      Closed(message);
      break;
    case Message::Kind::kReset:
      Reset(message.link->from.name, message.link->to.name);
      break;
    case Message::Kind::kDone: {
      const std::function<void(NetworkReply)> done = std::exchange(call->done, nullptr);
      calling_ = true;
      done(*std::move(message.reply));
      calling_ = false;
      break;
    }
    case Message::Kind::kWake: {
      Serving& serving = *message.serving;
      if (serving.over) break;
      if (const std::function<void()> wake = std::exchange(serving.wake, nullptr); wake != nullptr) {
        calling_ = true;
        wake();
        calling_ = false;
      }
      // Nobody needs to answer later any more.
      if (serving.put_off && std::exchange(serving.late->serving, nullptr) != nullptr) {
        serving.over = true;
        Release(serving, serving.put_off);
      }
      break;
    }
  }
  Free(message);
}

void SimNetwork::ArriveRequest(Message& message) {
  OutgoingCall& call = *message.call;
  NetworkLink& link = *call.link;
  const std::shared_ptr<ListenerState>& listener = call.address->listener;
  std::string_view why;
  if (link.down) TryToConnect(link);
  if (link.cuts > 0) {
    Count(link, LinkTrouble::Kind::kCut);
    why = "failed to connect to all addresses; last error: connect: No route to host (113)";
  } else if (link.down) {
    why = "connections to all backends failing";
  } else if (listener == nullptr) {
    why = "failed to connect to all addresses; last error: connect: Connection refused (111)";
    call.unheard = false;  // there is nobody who could have heard it
  } else if (call.listener != 0 && call.listener != listener->id) {
    why = "recvmsg: Connection reset by peer";
    call.unheard = false;
  }
  if (!why.empty() && call.request.wait_for_ready && !call.settled && !call.cancelled &&
      &Resolve(NameOf(call.request.to), link.from) == call.address)
    return WaitForConnection(message);
  const bool damaged = why.empty() && ArrivesDamaged(message, call.request.body);
  if (damaged) message.reply.emplace(absl::UnavailableError(std::string(kDamaged)));
  if (why.empty() && !damaged && (message.fault == nullptr || message.second)) {
    if (!call.cancelled) Serve(message);
    Free(message);
    return;
  }
  // The other way, for what is wrong with that.
  message.link = link.back;
  if (why.empty()) {
    if (!damaged) ++message.fault->effective;
    message.kind = Message::Kind::kReply;
    message.fault = nullptr;
    Send(message, 0);  // message.reply says what
    return;
  }
  if (message.logged != 0 && log_ != nullptr) log_->messages[message.logged - 1].kind = LoggedMessage::Kind::kRefusal;
  message.fault = nullptr;
  message.kind = Message::Kind::kRefused;
  message.reply.emplace(absl::UnavailableError(std::string(why)));
  Deliver(message);
}

// The end of a process or of a listener has got around.
void SimNetwork::Closed(Message& message) {
  NetworkLink& link = *message.link;
  if (message.listener == 0) {
    for (Serving* serving = link.servings.first; serving != nullptr; serving = serving->next) {
      if (serving->call->life <= message.life) Tell(*serving);
    }
    return;
  }
  std::vector<OutgoingCall*> broken;
  for (OutgoingCall* call = link.back->calls.first; call != nullptr; call = call->next) {
    if (call->listener == message.listener) broken.push_back(call);
  }
  for (OutgoingCall* const call : broken) ++call->references;
  for (OutgoingCall* const call : broken) {
    Fail(*call, "Socket closed");
    Unreference(*call);
  }
}

}  // namespace vigil::sim
