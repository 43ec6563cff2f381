// The network of a world: what the Network seam of every node talks through.
//
// The model is gRPC over TCP. A request is a message that takes a while, drawn for each message at the point
// "net/<from>><to>/latency" (label 0 = the least); messages of one direction arrive in order. The handler runs in a
// task of the serving node. What the caller meets:
//   nobody serves there, the process is dead    UNAVAILABLE after one latency ("Connection refused")
//   the process dies or stops serving meanwhile UNAVAILABLE a latency later ("Socket closed"); what was sent before
//   arrives the connection is cut or reset UNAVAILABLE at once; what is under way is gone. A cut connection is tried
//   again
//                                               when it is wanted, then about once a second until that succeeds; until
//                                               then calls fail at once
//   the link is silent, the process paused nothing: messages wait and arrive when it ends, in order. The keepalive
//   gives
//                                               UNAVAILABLE when it has lasted so long, the deadline DEADLINE_EXCEEDED
//   a message is lost UNAVAILABLE some seconds later, for this call only: the request had no effect
//                                               or, if it was the reply, it had
//   a message is damaged                        UNAVAILABLE when it arrives: its checksum does not match
// Requests of one direction count as in flight from when they are sent until they arrive or their call has ended; those
// beyond the limit (NetworkLimits, LinkSpec::bytes_in_flight, whichever is less) wait for their turn at the caller, in
// order. Of one that waits nothing is under way: no fault of links or requests can meet it yet, a connection that
// breaks does not end it, and when it is given up nobody is told. Its deadline, Cancel and the keepalive hold.
// When a caller dies, gives up or is cut off, the handler is told (a latency later) and its reply is dropped. A node
// that calls itself has no link: 50 us, no faults but those of its requests, and the limit of the network alone.
//
// `done` and the wake function of a handler are always called from a timer: no task of the world is in the middle of
// anything. Those of a dead process are never called, and destroyed when its tasks have been unwound; those of a paused
// one wait. Every delivery, loss and break goes into the world's hash. Nothing here has a task of its own or a stack.
//
// Thread safety: none; a network belongs to its world.
#ifndef VIGIL_SIM_NETWORK_H_
#define VIGIL_SIM_NETWORK_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/network.h"
#include "vigil/sim/course.h"
#include "vigil/sim/faults/fault_plan.h"
#include "vigil/sim/kernel/choices.h"
#include "vigil/sim/kernel/scheduler.h"
#include "vigil/sim/network_parts.h"

namespace vigil::sim {

class Node;
struct MessageLog;

// What is wrong with links for a while, and how many calls or messages met it so far.
struct LinkTrouble {
  enum class Kind : std::uint8_t {
    kCut,     // calls over the link break and are refused
    kSilent,  // messages on the link wait
    kSlow,    // messages on the link take `by` longer
  };
  Kind kind = Kind::kCut;
  Duration by{0};
  std::int64_t effects = 0;
};

struct RpcFaultState {
  RpcFault fault;
  std::int64_t matched = 0;    // requests that it is about
  std::int64_t fired = 0;      // of those, the ones that it struck
  std::int64_t effective = 0;  // of those, the ones that went otherwise than without it
};

// A request that was made and that no handler ever got, though somebody served there when it came, or nobody can tell.
struct UnheardRequest {
  std::string from;  // the nodes
  std::string to;
  std::string method;  // "/service/Method"
  Duration sent{0};
};

// What happened so far.
struct NetworkCounts {
  std::int64_t sent = 0;       // messages
  std::int64_t delivered = 0;  // to a process
  std::int64_t late = 0;       // took longer than the least latency of their link
  std::int64_t lost = 0;
  std::int64_t duplicated = 0;
  std::int64_t reordered = 0;
  std::int64_t throttled = 0;  // took longer because of bytes_per_s
  std::int64_t waited = 0;     // requests that waited for their turn
  std::int64_t refused = 0;
  std::int64_t broken = 0;  // calls whose connection broke
};

class SimNetwork {
 public:
  // All borrowed.
  SimNetwork(Scheduler& scheduler, Choices& choices, RunningHash& hash, Course& course,
             const NetworkLimits& limits = {});
  // REQUIRES: every node is dead.
  ~SimNetwork();
  SimNetwork(const SimNetwork&) = delete;
  SimNetwork& operator=(const SimNetwork&) = delete;

  // How messages travel from now on; `links` by "chief:0>ps:0", all others by `default_link`.
  void SetLinks(const LinkSpec& default_link, std::map<std::string, LinkSpec> links);
  // From now on that address leads to that node, where it need not serve yet. Connections to whoever it led to before
  // are used for as long as they hold, and nobody but the node itself finds what serves at it elsewhere.
  void NameAddress(const std::string& address, std::string_view node);
  // The same for all addresses that lead to the first one.
  void MoveAddresses(std::string_view from, std::string_view to);

  // Faults. Nodes by name; those that do not exist are good for nothing else.
  // -------------------------------------------

  // From now until End. The trouble must stay where it is until then; one may be on several links.
  void Begin(LinkTrouble& trouble, std::string_view from, std::string_view to);
  void End(LinkTrouble& trouble);
  // Every connection between the two breaks.
  void Reset(std::string_view a, std::string_view b);
  // Faults are asked in this order; the first that strikes a request wins. Lives as long as the network.
  RpcFaultState& AddRpcFault(const RpcFault& fault);
  // From now on the node runs so many handlers at once, of whatever process; 0: any number, as it begins. A request
  // that comes when so many run waits until one of them has returned: first come, first served. What is answered later
  // needs no handler meanwhile. Whoever gives up waiting is served no more.
  void LimitHandlers(std::string_view node, std::int64_t at_once);
  // How many requests have waited for one so far.
  std::int64_t Crowded(std::string_view node) const;
  // Faults of requests are off; links lose, duplicate and reorder nothing; calls whose reply was taken away or lost
  // fail now.
  void Calm();

  const NetworkLimits& limits() const { return limits_; }
  const NetworkCounts& counts() const { return counts_; }
  // Also those that are still on their way.
  std::vector<UnheardRequest> Unheard() const;
  // Of requests of that node, as flow control counts them: none when nobody asks for anything.
  std::int64_t BytesInFlight(std::string_view node) const;
  // From now on messages between nodes are written there (message_log.h); null, as it begins: nowhere, at no cost. It
  // changes nothing else.
  void LogTo(MessageLog* log) { log_ = log; }

  // For nodes. -------------------------------------------------------------------------------------------------------

  NetworkHost& Join(Node& node);
  absl::StatusOr<std::unique_ptr<Listener>> Listen(NetworkHost& host, const std::string& given, RequestHandler handler);
  std::uint64_t Start(NetworkHost& host, NetworkRequest request, std::function<void(NetworkReply)> done);
  void Cancel(NetworkHost& host, std::uint64_t call);
  void Pause(NetworkHost& host);
  void Resume(NetworkHost& host);
  // The process is dead; its tasks may not be unwound yet.
  void Died(NetworkHost& host);
  // They are.
  void Ended(NetworkHost& host);
  // Nothing is under way any more. For the end of the world.
  void Clear();

 private:
  friend struct Serving;
  friend class SimListener;

  void Touch(std::string_view what, std::string_view name, Access access);
  NetworkHost& HostOf(std::string_view name);
  NetworkLink& LinkBetween(NetworkHost& from, NetworkHost& to);
  NetworkName& NameOf(const std::string& address);
  static NetworkAddress& PlaceOn(NetworkName& name, NetworkHost& host);
  NetworkAddress& AddressOn(NetworkHost& host, const std::string& address);
  // What that host finds at it.
  static NetworkAddress& Resolve(NetworkName& name, const NetworkHost& caller);
  static void LeadTo(NetworkName& name, NetworkHost& host);
  LinkSpec SpecOf(const NetworkLink& link) const;

  // Calls.
  OutgoingCall& NewCall();
  void Unreference(OutgoingCall& call);
  OutgoingCall* FindCall(std::uint64_t number);
  void SendRequest(OutgoingCall& call, RpcFaultState* fault);
  // Flow control.
  std::int64_t MostInFlight(const NetworkLink& link) const;
  bool HasRoom(const NetworkLink& link, const OutgoingCall& call) const;
  void WaitForTurn(OutgoingCall& call);
  void TakeTurn(OutgoingCall& call);
  void TakeTurns(NetworkLink& link);
  static void GiveBack(OutgoingCall& call);
  void Settle(OutgoingCall& call, NetworkReply reply);
  void Fail(OutgoingCall& call, std::string_view why) { Settle(call, absl::UnavailableError(std::string(why))); }
  void GiveUp(OutgoingCall& call, absl::Status status);
  void ArmKeepalive(OutgoingCall& call);
  void CloseListener(ListenerState& listener);

  // Servings.
  void Serve(Message& request);
  void Begin(Serving& serving);
  void RunHandler(Serving& serving);
  void HandlerEnded(NetworkHost& host);
  void BeginWhoWaits(NetworkHost& host);
  void AnswerLate(LateAnswer& late, NetworkReply reply);
  void AnswerOnce(Serving& serving, NetworkReply reply);
  void Release(Serving& serving, bool& keeps);
  void Answer(Serving& serving, NetworkReply reply);
  void Tell(Serving& serving);
  void Unreference(Serving& serving);
  TaskIdentity& ServeTask(NetworkHost& host);

  // Messages.
  Message& NewMessage(Message::Kind kind, NetworkLink& link, OutgoingCall* call);
  void Free(Message& message);
  // On its way; `bytes` is what a slow link counts.
  void Send(Message& message, std::size_t bytes, Duration extra = Duration(0));
  void SendOn(NetworkLink& link, Message& message, std::size_t bytes, Duration extra);
  void SendAt(Message& message, Duration at);
  void LogSent(Message& message);
  void LogArrived(const Message& message);
  Duration ArrivalOn(NetworkLink& link, std::size_t bytes);
  bool LostOn(NetworkLink& link);
  void Deliver(Message& message);
  void DeliverRequest(Message& message);
  void DeliverTaken(Message& message);
  bool Waits(Message& message);
  void Arrive(Message& message);
  void ArriveRequest(Message& message);
  void Closed(Message& message);

  // Faults.
  RpcFaultState* FaultOf(const OutgoingCall& call);
  bool DamagesRequest(NetworkLink& link);
  void Damage(NetworkLink& link, absl::Cord& body, Message& message);
  void Break(NetworkLink& link, std::string_view why, LinkTrouble* trouble);
  Duration ReconnectAfter(NetworkLink& link);
  void TryToConnect(NetworkLink& link);
  void WaitForConnection(Message& request);
  static void FindListener(OutgoingCall& call);
  static bool Unreachable(const NetworkLink& link);
  void ReachabilityChanged(NetworkLink& link);
  static void Count(NetworkLink& link, LinkTrouble::Kind kind);

  const NetworkLimits limits_;
  Scheduler& scheduler_;
  Choices& choices_;
  RunningHash& hash_;
  Course& course_;
  LinkSpec default_link_;
  std::map<std::string, LinkSpec> specs_;
  bool calm_ = false;
  bool calling_ = false;  // some `done` or wake function runs
  NetworkCounts counts_;
  std::vector<UnheardRequest> unheard_;  // of calls that are over
  MessageLog* log_ = nullptr;
  std::uint64_t last_listener_ = 0;
  std::deque<NetworkHost> hosts_;
  std::map<std::string, NetworkHost*, std::less<>> host_names_;
  std::deque<NetworkLink> links_;
  std::map<std::string, NetworkName, std::less<>> names_;
  std::deque<RpcFaultState> rpc_faults_;
  std::size_t live_rpc_faults_ = 0;  // those from here on count
  std::deque<OutgoingCall> calls_;
  std::vector<OutgoingCall*> free_calls_;
  std::deque<Serving> servings_;
  std::vector<Serving*> free_servings_;
  std::deque<Message> messages_;
  std::vector<Message*> free_messages_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_NETWORK_H_
