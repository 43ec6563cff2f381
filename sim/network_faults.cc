// What goes wrong on purpose: faults of requests and of links.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/io/crc32c.h"
#include "vigil/sim/message_log.h"
#include "vigil/sim/network.h"
#include "vigil/sim/node.h"

namespace vigil::sim {
namespace {

constexpr std::array<std::string_view, 2> kTwiceLabels = {"once", "twice"};

std::string_view LastPart(std::string_view method) {
  const std::size_t slash = method.rfind('/');
  return slash == method.npos ? method : method.substr(slash + 1);
}

std::size_t PlaceOf(const std::deque<RpcFaultState>& faults, const RpcFaultState& fault) {
  const auto is_it = [&fault](const RpcFaultState& each) { return &each == &fault; };
  return static_cast<std::size_t>(std::ranges::find_if(faults, is_it) - faults.begin());
}

}  // namespace

RpcFaultState& SimNetwork::AddRpcFault(const RpcFault& fault) {
  RpcFaultState& state = rpc_faults_.emplace_back();
  state.fault = fault;
  return state;
}

RpcFaultState* SimNetwork::FaultOf(const OutgoingCall& call) {
  RpcFaultState* first = nullptr;
  const std::string_view method = LastPart(call.request.method);
  for (std::size_t i = live_rpc_faults_; i < rpc_faults_.size(); ++i) {
    RpcFaultState& state = rpc_faults_[i];
    const RpcFault& fault = state.fault;
    if (!fault.method.empty() && fault.method != method) continue;
    if (!fault.from.empty() && fault.from != call.link->from.task) continue;
    if (!fault.to.empty() && fault.to != call.link->to.task) continue;
    ++state.matched;
    if (first == nullptr && (fault.call == 0 || fault.call == state.matched)) first = &state;
  }
  if (first != nullptr) ++first->fired;
  return first;
}

void SimNetwork::SendRequest(OutgoingCall& call, RpcFaultState* fault) {
  NetworkLink& link = *call.link;
  const std::size_t bytes = call.request.body.size();
  Message& message = NewMessage(Message::Kind::kRequest, link, &call);
  Duration extra{0};
  bool twice = false;
  if (link.spec.duplication > 0) {
    if (link.duplication == nullptr) link.duplication = &choices_.KeyOf("net", link.name, "duplication");
    twice = choices_.ChooseByChance(*link.duplication, link.spec.duplication, kTwiceLabels);
    if (twice) ++counts_.duplicated;
  }
  if (fault != nullptr) {
    const RpcFault& plan = fault->fault;
    switch (plan.effect) {
      case RpcFault::Effect::kError:
        message.fault = fault;
        message.reply.emplace(MakeStatus(plan.code, fmt::format("{} refused by plan", LastPart(call.request.method))));
        break;
      case RpcFault::Effect::kLostRequest:
        ++fault->effective;
        message.kind = Message::Kind::kRefused;
        message.reply.emplace(MakeStatus(plan.code, "Socket closed"));
        break;
      case RpcFault::Effect::kLostReply:
      case RpcFault::Effect::kNeverAnswered:
        call.fault = fault;
        break;
      case RpcFault::Effect::kDuplicated:
        twice = true;
        break;
      case RpcFault::Effect::kDelayed:
        if (plan.by > Duration::zero()) ++fault->effective;
        extra = plan.by;
        break;
      case RpcFault::Effect::kDamaged:
        if (DamagesRequest(link) && bytes > 0) {
          ++fault->effective;
          Damage(link, call.request.body, message);
        } else {
          call.fault = fault;
        }
        break;
      case RpcFault::Effect::kReset:
        ++fault->effective;
        Send(NewMessage(Message::Kind::kReset, link, nullptr), 0);
        break;
    }
  }
  const std::size_t place = log_ == nullptr ? 0 : log_->messages.size();
  Send(message, bytes, extra);
  if (fault != nullptr && log_ != nullptr && log_->messages.size() > place)
    log_->messages[place].fault = PlaceOf(rpc_faults_, *fault);
  if (!twice) return;
  Message& again = NewMessage(Message::Kind::kRequest, link, &call);
  again.second = true;
  again.checksum = message.checksum;
  if (fault != nullptr && fault->fault.effect == RpcFault::Effect::kDuplicated) again.fault = fault;
  Send(again, bytes);
}

// The request, or else its answer.
bool SimNetwork::DamagesRequest(NetworkLink& link) {
  static constexpr std::array<std::string_view, 2> kLabels = {"request", "answer"};
  return choices_.Choose(choices_.KeyOf("net", link.name, "damages"), kLabels) == 0;
}

// One bit is another one, of a byte in the first, second, ... eighth of the body.
void SimNetwork::Damage(NetworkLink& link, absl::Cord& body, Message& message) {
  static constexpr std::array<std::string_view, 8> kLabels = {"0", "1", "2", "3", "4", "5", "6", "7"};
  message.checksum = Crc32c(body);
  const std::size_t eighth = choices_.Choose(choices_.KeyOf("net", link.name, "damaged eighth"), kLabels);
  const std::size_t bit = choices_.Choose(choices_.KeyOf("net", link.name, "damaged bit"), kLabels);
  std::string damaged(body);
  char& byte = damaged[damaged.size() * eighth / kLabels.size()];
  byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << bit));
  body = absl::Cord(std::move(damaged));
}

void SimNetwork::Begin(LinkTrouble& trouble, std::string_view from, std::string_view to) {
  NetworkLink& link = LinkBetween(HostOf(from), HostOf(to));
  link.troubles.push_back(&trouble);
  if (trouble.kind == LinkTrouble::Kind::kCut) {
    if (link.down && link.tried) TryToConnect(link);  // it may have come back without anybody's noticing
    ++link.cuts;
    const bool wanted = link.calls.first != nullptr;
    if (!std::exchange(link.down, true)) link.tried = false;
    if (wanted) TryToConnect(link);
    Break(link, "recvmsg: Connection reset by peer", &trouble);
  } else if (trouble.kind == LinkTrouble::Kind::kSilent) {
    ++link.silences;
    ReachabilityChanged(link);
    if (link.back != &link) ReachabilityChanged(*link.back);
  }
}

void SimNetwork::End(LinkTrouble& trouble) {
  for (NetworkLink& link : links_) {
    const auto mine = std::ranges::find(link.troubles, &trouble);
    if (mine == link.troubles.end()) continue;
    link.troubles.erase(mine);
    if (trouble.kind == LinkTrouble::Kind::kCut && --link.cuts == 0) link.reachable_since = scheduler_.now();
    if (trouble.kind != LinkTrouble::Kind::kSilent || --link.silences > 0) continue;
    ReachabilityChanged(link);
    if (link.back != &link) ReachabilityChanged(*link.back);
    for (Message* const message : std::exchange(link.held, {})) SendAt(*message, scheduler_.now());
  }
}

// gRPC as TensorFlow sets it up tries a lost connection again about a second after an attempt has failed (observed:
// 0.81 to 1.19).
Duration SimNetwork::ReconnectAfter(NetworkLink& link) {
  static constexpr std::array<std::string_view, 5> kLabels = {"1000ms", "850ms", "925ms", "1075ms", "1150ms"};
  static constexpr std::array<int, 5> kMilliseconds = {1000, 850, 925, 1075, 1150};
  if (link.reconnection == nullptr) link.reconnection = &choices_.KeyOf("net", link.name, "reconnect");
  return std::chrono::milliseconds(kMilliseconds[choices_.Choose(*link.reconnection, kLabels)]);
}

// Somebody wants a connection that is down. The first attempt is made at once; later ones, each end's own, follow by
// themselves.
void SimNetwork::TryToConnect(NetworkLink& link) {
  if (!std::exchange(link.tried, true)) link.next_attempt = scheduler_.now();
  while (link.down && link.next_attempt <= scheduler_.now()) {
    if (link.cuts == 0 && link.next_attempt >= link.reachable_since) {
      link.down = false;
    } else {
      link.next_attempt += ReconnectAfter(link);
    }
  }
}

// A request that does not fail for want of a connection: it goes out again with the next attempt to make one, to
// whoever serves there then.
void SimNetwork::WaitForConnection(Message& request) {
  OutgoingCall& call = *request.call;
  NetworkLink& link = *call.link;
  call.listener = 0;
  if (link.cuts > 0) TryToConnect(link);
  SendAt(request, link.down ? link.next_attempt : scheduler_.now() + ReconnectAfter(link));
}

void SimNetwork::Reset(std::string_view a, std::string_view b) {
  Break(LinkBetween(HostOf(a), HostOf(b)), "recvmsg: Connection reset by peer", nullptr);
  Break(LinkBetween(HostOf(b), HostOf(a)), "recvmsg: Connection reset by peer", nullptr);
}

// The connections of calls over that link are gone, with all that is under way on them.
void SimNetwork::Break(NetworkLink& link, std::string_view why, LinkTrouble* trouble) {
  ++link.epoch;
  for (Serving* serving = link.servings.first; serving != nullptr; serving = serving->next) Tell(*serving);
  std::vector<OutgoingCall*> broken;
  for (OutgoingCall* call = link.calls.first; call != nullptr; call = call->next) {
    if (call->waits) continue;
    ++call->references;
    broken.push_back(call);
  }
  counts_.broken += static_cast<std::int64_t>(broken.size());
  if (trouble != nullptr) trouble->effects += static_cast<std::int64_t>(broken.size());
  for (OutgoingCall* const call : broken) {
    Fail(*call, why);
    Unreference(*call);
  }
}

bool SimNetwork::Unreachable(const NetworkLink& link) {
  return link.silences > 0 || link.back->silences > 0 || link.to.paused;
}

// The peer of calls over that link became, or is no longer, silent.
void SimNetwork::ReachabilityChanged(NetworkLink& link) {
  const bool unreachable = Unreachable(link);
  for (OutgoingCall* call = link.calls.first; call != nullptr; call = call->next) {
    if (unreachable) {
      ArmKeepalive(*call);
    } else {
      scheduler_.ClearTimer(call->keepalive);
    }
  }
}

void SimNetwork::Count(NetworkLink& link, LinkTrouble::Kind kind) {
  for (LinkTrouble* const trouble : link.troubles) {
    if (trouble->kind == kind) ++trouble->effects;
  }
}

void SimNetwork::Calm() {
  calm_ = true;
  live_rpc_faults_ = rpc_faults_.size();
  for (NetworkLink& link : links_) {
    link.SetSpec(SpecOf(link));
    std::vector<OutgoingCall*> hanging;
    for (OutgoingCall* call = link.calls.first; call != nullptr; call = call->next) {
      call->fault = nullptr;
      if (!call->hangs) continue;
      ++call->references;
      hanging.push_back(call);
    }
    for (OutgoingCall* const call : hanging) {
      Fail(*call, "Socket closed");
      Unreference(*call);
    }
  }
}

}  // namespace vigil::sim
