// Flow control: which requests are sent, and which wait for their turn at the caller.
#include <algorithm>
#include <utility>

#include "vigil/sim/network.h"

namespace vigil::sim {

std::int64_t SimNetwork::MostInFlight(const NetworkLink& link) const {
  const std::int64_t own = link.spec.bytes_in_flight;
  return own > 0 ? std::min(own, limits_.bytes_in_flight) : limits_.bytes_in_flight;
}

// One that is larger than all that may be in flight goes alone.
bool SimNetwork::HasRoom(const NetworkLink& link, const OutgoingCall& call) const {
  const auto bytes = static_cast<std::int64_t>(call.request.body.size());
  return link.in_flight == 0 || link.in_flight + bytes <= MostInFlight(link);
}

void SimNetwork::WaitForTurn(OutgoingCall& call) {
  call.waits = true;
  call.listener = 0;
  call.link->waiting.push_back(&call);
  ++counts_.waited;
}

void SimNetwork::TakeTurn(OutgoingCall& call) {
  call.in_flight = static_cast<std::int64_t>(call.request.body.size());
  call.link->in_flight += call.in_flight;
  SendRequest(call, live_rpc_faults_ == rpc_faults_.size() ? nullptr : FaultOf(call));
}

void SimNetwork::TakeTurns(NetworkLink& link) {
  while (!link.waiting.empty() && !link.from.paused && HasRoom(link, *link.waiting.front())) {
    OutgoingCall& call = *link.waiting.front();
    link.waiting.pop_front();
    call.waits = false;
    // As if it were made now: over a connection of now, with whoever serves there now.
    call.listener = call.address->listener_id();
    call.epoch = link.epoch;
    if (!rpc_faults_.empty()) Touch("rpc faults", {}, Access::kWrite);
    TakeTurn(call);
  }
}

// It is in flight no more, nor waits to be.
void SimNetwork::GiveBack(OutgoingCall& call) {
  NetworkLink& link = *call.link;
  link.in_flight -= std::exchange(call.in_flight, 0);
  if (std::exchange(call.waits, false)) std::erase(link.waiting, &call);
}

std::int64_t SimNetwork::BytesInFlight(std::string_view node) const {
  const auto found = host_names_.find(node);
  if (found == host_names_.end()) return 0;
  std::int64_t bytes = 0;
  for (const NetworkLink* const link : found->second->out) bytes += link == nullptr ? 0 : link->in_flight;
  return bytes;
}

}  // namespace vigil::sim
