#include "vigil/sim/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/sim/node.h"

namespace vigil::sim {
namespace {

constexpr std::uint64_t kSlotBits = 32;
// What a node's calls after its death get: it names no call.
constexpr std::uint64_t kDeadCall = ~std::uint64_t{0};

}  // namespace

class SimListener final : public Listener {
 public:
  SimListener(SimNetwork& network, std::string address, std::shared_ptr<ListenerState> state)
      : network_(network), address_(std::move(address)), state_(std::move(state)) {}
  ~SimListener() override {
    if (state_->open) network_.CloseListener(*state_);
  }
  const std::string& address() const override { return address_; }

 private:
  SimNetwork& network_;
  const std::string address_;
  const std::shared_ptr<ListenerState> state_;
};

SimNetwork::SimNetwork(Scheduler& scheduler, Choices& choices, RunningHash& hash, Course& course,
                       const NetworkLimits& limits)
    : limits_(limits), scheduler_(scheduler), choices_(choices), hash_(hash), course_(course) {}

SimNetwork::~SimNetwork() { Clear(); }

void SimNetwork::Touch(std::string_view what, std::string_view name, Access access) {
  if (scheduler_.steps() != nullptr) scheduler_.Touch(NamedObject(what, name), access);
}

NetworkHost& SimNetwork::Join(Node& node) {
  NetworkHost& host = HostOf(node.name());
  host.node = &node;
  host.task = node.task();
  return host;
}

NetworkHost& SimNetwork::HostOf(std::string_view name) {
  const auto found = host_names_.find(name);
  if (found != host_names_.end()) return *found->second;
  NetworkHost& host = hosts_.emplace_back();
  host.name = name;
  host.task = name;
  host.index = static_cast<std::uint32_t>(hosts_.size() - 1);
  host_names_.emplace(host.name, &host);
  return host;
}

NetworkLink& SimNetwork::LinkBetween(NetworkHost& from, NetworkHost& to) {
  if (to.index < from.out.size() && from.out[to.index] != nullptr) return *from.out[to.index];
  const auto make = [this](NetworkHost& source, NetworkHost& target) {
    NetworkLink& link = links_.emplace_back(source, target, static_cast<std::uint32_t>(links_.size()));
    link.SetSpec(SpecOf(link));
    if (source.out.size() <= target.index) source.out.resize(hosts_.size());
    source.out[target.index] = &link;
    hash_.AddLink(link.id, link.name);
    return &link;
  };
  NetworkLink* const there = make(from, to);
  NetworkLink* const back = &from == &to ? there : make(to, from);
  there->back = back;
  back->back = there;
  return *there;
}

NetworkName& SimNetwork::NameOf(const std::string& address) {
  const auto [it, added] = names_.try_emplace(address);
  if (added) it->second.current = &PlaceOn(it->second, HostOf(address));
  return it->second;
}

NetworkAddress& SimNetwork::PlaceOn(NetworkName& name, NetworkHost& host) {
  for (const auto& place : name.places) {
    if (place->host == &host) return *place;
  }
  name.places.push_back(std::make_unique<NetworkAddress>(NetworkAddress{.host = &host, .listener = nullptr}));
  return *name.places.back();
}

void SimNetwork::NameAddress(const std::string& address, std::string_view node) {
  NetworkName& name = NameOf(address);
  name.named = true;
  LeadTo(name, HostOf(node));
}

void SimNetwork::MoveAddresses(std::string_view from, std::string_view to) {
  NetworkHost& before = HostOf(from);
  NetworkHost& now = HostOf(to);
  for (auto& [address, name] : names_) {
    if (name.current->host == &before) LeadTo(name, now);
  }
}

void SimNetwork::LeadTo(NetworkName& name, NetworkHost& host) {
  NetworkAddress& before = *name.current;
  name.current = &PlaceOn(name, host);
  if (name.current == &before || before.listener == nullptr) return;
  for (const NetworkLink* const back : before.host->out) {
    if (back == nullptr) continue;
    const NetworkLink& link = *back->back;
    if (!link.down) name.standing[link.from.index] = {&before, link.epoch, link.given_up, link.from.life};
  }
}

NetworkAddress& SimNetwork::Resolve(NetworkName& name, const NetworkHost& caller) {
  if (name.places.size() == 1) return *name.current;
  for (const auto& place : name.places) {
    if (place->host == &caller && place->listener != nullptr) return *place;
  }
  const auto found = name.standing.find(caller.index);
  if (found == name.standing.end()) return *name.current;
  const NetworkName::Standing& standing = found->second;
  const NetworkLink& link = *caller.out[standing.place->host->index];
  if (standing.place->listener != nullptr && !link.down && link.epoch == standing.epoch &&
      link.given_up == standing.given_up && caller.life == standing.life) {
    return *standing.place;
  }
  name.standing.erase(found);
  return *name.current;
}

NetworkAddress& SimNetwork::AddressOn(NetworkHost& host, const std::string& address) {
  NetworkName& name = NameOf(address);
  return name.named ? PlaceOn(name, host) : *name.current;
}

absl::StatusOr<std::unique_ptr<Listener>> SimNetwork::Listen(NetworkHost& host, const std::string& given,
                                                             RequestHandler handler) {
  VIGIL_ASSIGN_OR_RETURN(const std::string address, WithFreePort(given, [&](const std::string& each) {
                           return AddressOn(host, each).listener == nullptr;
                         }));
  NetworkAddress& entry = AddressOn(host, address);
  Touch("address", address, Access::kWrite);
  if (entry.listener != nullptr) {
    return MakeStatus(Code::kAlreadyExists, fmt::format("listen at {}: the address is in use", address));
  }
  entry.host = &host;
  entry.listener = std::make_shared<ListenerState>();
  *entry.listener = {.id = ++last_listener_, .host = &host, .address = &entry, .handler = std::move(handler)};
  host.listeners.push_back(entry.listener);
  return std::unique_ptr<Listener>(new SimListener(*this, address, entry.listener));
}

void SimNetwork::CloseListener(ListenerState& listener) {
  NetworkHost& host = *listener.host;
  if (scheduler_.steps() != nullptr) scheduler_.TouchEverything();
  const auto mine = std::ranges::find_if(host.listeners, [&](const auto& other) { return other.get() == &listener; });
  VIGIL_CHECK(mine != host.listeners.end());
  const std::shared_ptr<ListenerState> kept = *mine;
  host.listeners.erase(mine);
  listener.open = false;
  listener.address->listener = nullptr;
  for (NetworkLink* const to_caller : host.out) {
    if (to_caller == nullptr) continue;
    NetworkLink& link = *to_caller->back;
    for (Serving* serving = link.servings.first; serving != nullptr;) {
      Serving* const next = serving->next;
      if (serving->listener.get() == &listener) {
        serving->answered = true;
        Tell(*serving);
      }
      serving = next;
    }
    bool connected = false;
    for (OutgoingCall* call = link.calls.first; call != nullptr; call = call->next) {
      connected = connected || call->listener == listener.id;
    }
    if (!connected) continue;
    Message& closed = NewMessage(Message::Kind::kClosed, *link.back, nullptr);
    closed.listener = listener.id;
    Send(closed, 0);
  }
}

// Calls
// ------------------------------------------------------------------------------------------------------------------

std::uint64_t SimNetwork::Start(NetworkHost& host, NetworkRequest request, std::function<void(NetworkReply)> done) {
  if (host.node->Dead()) return kDeadCall;
  NetworkAddress& address = Resolve(NameOf(request.to), host);
  Touch("address", request.to, Access::kRead);
  if (!rpc_faults_.empty()) Touch("rpc faults", {}, Access::kWrite);
  OutgoingCall& call = NewCall();
  call.link = &LinkBetween(host, *address.host);
  ++host.asks;
  if (address.host != &host) ++address.host->asked;
  call.address = &address;
  call.listener = address.listener_id();
  call.epoch = call.link->epoch;
  call.life = host.life;
  call.request = std::move(request);
  call.done = std::move(done);
  call.references = 1;  // of being open
  call.link->calls.PushBack(call);
  Touch("link", call.link->name, Access::kWrite);
  const std::uint64_t number = call.number;
  if (absl::Status carried = CheckRequest(call.request, limits_); !carried.ok()) {
    Settle(call, std::move(carried));
    return number;
  }
  const Duration deadline = call.request.deadline.since_epoch;
  if (deadline <= scheduler_.now()) {
    Settle(call, absl::DeadlineExceededError("Deadline Exceeded"));
    return number;
  }
  if (deadline != kNever.since_epoch) {
    scheduler_.SetTimer(call.deadline, deadline);
    scheduler_.TouchTimers(NamedObject("memory", host.name), deadline, Access::kWrite);
  }
  if (Unreachable(*call.link)) ArmKeepalive(call);
  call.unheard = true;
  call.sent = scheduler_.now();
  if (call.request.at_once || (call.link->waiting.empty() && HasRoom(*call.link, call))) {
    TakeTurn(call);
  } else {
    WaitForTurn(call);
  }
  return number;
}

void SimNetwork::Cancel(NetworkHost& host, std::uint64_t number) {
  if (host.node->Dead()) return;
  OutgoingCall* const call = FindCall(number);
  if (call == nullptr || call->settled || &call->link->from != &host) return;
  GiveUp(*call, absl::CancelledError("Cancelled by the caller"));
}

OutgoingCall& SimNetwork::NewCall() {
  if (free_calls_.empty()) {
    OutgoingCall& made = calls_.emplace_back();
    made.slot = static_cast<std::uint32_t>(calls_.size());
    made.deadline.call = made.keepalive.call = &made;
    made.deadline.fire = [](Timer& timer) {
      OutgoingCall& late = *static_cast<CallTimer&>(timer).call;
      late.network->GiveUp(late, absl::DeadlineExceededError("Deadline Exceeded"));
    };
    made.keepalive.fire = [](Timer& timer) {
      OutgoingCall& silent = *static_cast<CallTimer&>(timer).call;
      SimNetwork::Count(*silent.link, LinkTrouble::Kind::kSilent);
      SimNetwork::Count(*silent.link->back, LinkTrouble::Kind::kSilent);
      ++silent.link->given_up;
      if (silent.link->to.paused) ++silent.link->to.held_by_pause;
      silent.network->GiveUp(silent, absl::UnavailableError("keepalive watchdog timeout"));
    };
    made.network = this;
    free_calls_.push_back(&made);
  }
  OutgoingCall& call = *free_calls_.back();
  free_calls_.pop_back();
  call.number = (std::uint64_t{++call.generation} << kSlotBits) | call.slot;
  return call;
}

OutgoingCall* SimNetwork::FindCall(std::uint64_t number) {
  const std::uint64_t slot = number & ((std::uint64_t{1} << kSlotBits) - 1);
  if (slot == 0 || slot > calls_.size()) return nullptr;
  OutgoingCall& call = calls_[slot - 1];
  return call.number == number && call.references > 0 ? &call : nullptr;
}

void SimNetwork::Unreference(OutgoingCall& call) {
  if (--call.references > 0) return;
  VIGIL_CHECK(call.settled);
  if (std::exchange(call.unheard, false))
    unheard_.push_back({call.link->from.name, call.link->to.name, call.request.method, call.sent});
  // A closure is destroyed where nothing else is half done: it may own anything.
  const std::function<void(NetworkReply)> done = std::exchange(call.done, nullptr);
  call.request.body.Clear();
  call.fault = nullptr;
  call.settled = call.cancelled = call.hangs = call.waits = false;
  call.servings[0] = call.servings[1] = nullptr;
  free_calls_.push_back(&call);
}

std::vector<UnheardRequest> SimNetwork::Unheard() const {
  std::vector<UnheardRequest> all = unheard_;
  for (const OutgoingCall& call : calls_) {
    if (call.references > 0 && call.unheard)
      all.push_back({call.link->from.name, call.link->to.name, call.request.method, call.sent});
  }
  return all;
}

// The outcome of a call. `done` is called from a timer only: elsewhere a message to oneself brings it.
void SimNetwork::Settle(OutgoingCall& call, NetworkReply reply) {
  if (call.settled) return;
  call.settled = true;
  NetworkLink& link = *call.link;
  link.calls.Remove(call);
  GiveBack(call);
  scheduler_.ClearTimer(call.deadline);
  scheduler_.ClearTimer(call.keepalive);
  if (link.from.paused || calling_ || !scheduler_.firing()) {
    Message& message = NewMessage(Message::Kind::kDone, link, &call);
    message.reply = std::move(reply);
    Unreference(call);
    SendAt(message, scheduler_.now());
    TakeTurns(link);
    return;
  }
  hash_.AddMessage(static_cast<std::uint8_t>(Message::Kind::kDone), link.id, call.number);
  const std::function<void(NetworkReply)> done = std::exchange(call.done, nullptr);
  Unreference(call);
  calling_ = true;
  done(std::move(reply));
  calling_ = false;
  TakeTurns(link);
}

// The caller waits no longer and says so, if the peer can have heard of it.
void SimNetwork::GiveUp(OutgoingCall& call, absl::Status status) {
  if (!call.waits) Send(NewMessage(Message::Kind::kCancel, *call.link, &call), 0);
  Settle(call, std::move(status));
}

void SimNetwork::ArmKeepalive(OutgoingCall& call) {
  if (call.request.keepalive <= Duration::zero() || call.keepalive.set()) return;
  const Duration at = scheduler_.now() + call.request.keepalive;
  scheduler_.SetTimer(call.keepalive, at);
  scheduler_.TouchTimers(NamedObject("memory", call.link->from.name), at, Access::kWrite);
}

}  // namespace vigil::sim
