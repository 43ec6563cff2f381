// What the simulated network is made of: hosts, links, calls, what is served, messages. For sim/network*.cc only.
//
// All of it belongs to one SimNetwork, which hands out calls, servings and messages from pools and takes them back when
// nothing refers to them any more.
// Thread safety: none.
#ifndef VIGIL_SIM_NETWORK_PARTS_H_
#define VIGIL_SIM_NETWORK_PARTS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/env/network.h"
#include "vigil/sim/faults/fault_plan.h"
#include "vigil/sim/kernel/choices.h"
#include "vigil/sim/kernel/task_state.h"
#include "vigil/sim/kernel/timers.h"

namespace vigil::sim {

class Node;
class SimNetwork;
struct LinkTrouble;
struct NetworkAddress;
struct NetworkHost;
struct NetworkLink;
struct OutgoingCall;
struct RpcFaultState;
struct Serving;

// A list through the members `previous` and `next` of its elements, in the order in which they were added.
template <typename T>
struct Chain {
  T* first = nullptr;
  T* last = nullptr;
  bool empty() const { return first == nullptr; }
  void PushBack(T& added) {
    added.previous = last;
    added.next = nullptr;
    (last == nullptr ? first : last->next) = &added;
    last = &added;
  }
  void Remove(T& removed) {
    (removed.previous == nullptr ? first : removed.previous->next) = removed.next;
    (removed.next == nullptr ? last : removed.next->previous) = removed.previous;
    removed.previous = removed.next = nullptr;
  }
};

struct ListenerState {
  std::uint64_t id = 0;
  NetworkHost* host = nullptr;
  NetworkAddress* address = nullptr;
  RequestHandler handler;
  bool open = true;
};

// A place at which somebody serves, or did, or will: an address as one host has it.
struct NetworkAddress {
  NetworkHost* host = nullptr;              // of that very name if nobody knows whose address it is
  std::shared_ptr<ListenerState> listener;  // null: nobody serves
  std::uint64_t listener_id() const { return listener == nullptr ? 0 : listener->id; }
};

// What an address leads to: a name that is resolved. Hosts that served at it before, or are to, have a place, too.
struct NetworkName {
  // A connection that was made before the name led elsewhere: it is used for as long as it holds.
  struct Standing {
    NetworkAddress* place = nullptr;
    std::uint32_t epoch = 0;     // of the link
    std::uint32_t given_up = 0;  // keepalives of the link
    std::uint64_t life = 0;      // of the caller
  };
  std::vector<std::unique_ptr<NetworkAddress>> places;
  NetworkAddress* current = nullptr;
  bool named = false;                               // by NameAddress: who serves there does not change it
  std::map<std::uint32_t, Standing> standing = {};  // by the index of the caller
};

// What AnswerLater gives: whoever has it may outlive what it answers.
struct LateAnswer {
  Serving* serving = nullptr;  // null: it needs no answer any more
};

// A request whose handler runs, or waits for its turn, or that is answered later.
struct Serving final : IncomingCall {
  const std::string& method() const override;
  const absl::Cord& body() const override;
  bool cancelled() const override { return told; }
  void OnCancelled(std::function<void()> callback) override;
  std::function<void(NetworkReply)> AnswerLater() override;

  OutgoingCall* call = nullptr;
  std::shared_ptr<ListenerState> listener;
  std::function<void()> wake;
  std::shared_ptr<LateAnswer> late;  // null: the handler's return answers
  std::uint32_t epoch = 0;           // of the link when it arrived
  int references = 0;
  bool told = false;      // nobody will read the reply
  bool answered = false;  // nothing more is sent, whatever the handler returns
  bool running = false;   // the handler does, or waits for its turn: holds a reference
  bool put_off = false;   // a late answer is awaited, or made: the same
  bool over = false;      // it was answered, or needs no answer any more
  bool ended = false;     // its process has, which looks after it
  Serving* previous = nullptr;
  Serving* next = nullptr;
};

struct CallTimer : Timer {
  OutgoingCall* call = nullptr;
};

struct OutgoingCall {
  SimNetwork* network = nullptr;
  std::uint64_t number = 0;
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  NetworkLink* link = nullptr;
  NetworkAddress* address = nullptr;
  std::uint64_t listener = 0;  // with which its connection was made; 0: nobody served when it started
  std::uint32_t epoch = 0;     // of the link when it started
  std::uint64_t life = 0;      // of its host
  NetworkRequest request;
  std::function<void(NetworkReply)> done;
  CallTimer deadline;
  CallTimer keepalive;
  RpcFaultState* fault = nullptr;  // what happens to its reply
  int references = 0;
  bool settled = false;        // its outcome is known
  bool cancelled = false;      // the peer knows that nobody waits
  bool hangs = false;          // its reply was taken away
  bool unheard = false;        // no handler has got its request
  bool waits = false;          // for its turn: nothing of it was sent
  std::int64_t in_flight = 0;  // bytes that it counts on its link
  Duration sent{0};
  Serving* servings[2] = {nullptr, nullptr};
  OutgoingCall* previous = nullptr;
  OutgoingCall* next = nullptr;
};

struct Message : Timer {
  enum class Kind : std::uint8_t {
    kRequest,
    kReply,
    kCancel,   // the caller gave up
    kClosed,   // to the caller: the listener is gone; to the server: the caller's process is gone
    kRefused,  // nobody serves there
    kLost,     // something got lost, and now the connection breaks
    kReset,    // every connection between the two breaks
    kDone,     // to the caller's process from itself
    kWake,     // to the server's process from itself
  };
  SimNetwork* network = nullptr;
  Kind kind = Kind::kRequest;
  bool second = false;  // of a duplicated request
  bool free = false;
  // Another process made it, and not the network by itself.
  bool OfCourse() const;
  NetworkLink* link = nullptr;  // that it travels on
  std::uint32_t epoch = 0;      // of the call's link
  std::uint32_t logged = 0;     // place in the log, from 1; 0 = it is not there
  OutgoingCall* call = nullptr;
  Serving* serving = nullptr;
  std::uint64_t listener = 0;      // of kClosed to a caller; 0 = to a server
  RpcFaultState* fault = nullptr;  // that it meets on arrival
  std::uint64_t life = 0;          // of the process that it comes from, of kClosed to a server
  std::optional<NetworkReply> reply;
  // Of the body as it was sent. What is not damaged on purpose arrives as it was, and needs none.
  std::optional<std::uint32_t> checksum;
};

// One direction between two hosts.
struct NetworkLink {
  NetworkLink(NetworkHost& source, NetworkHost& target, std::uint32_t number);
  void SetSpec(const LinkSpec& spec);

  NetworkHost& from;
  NetworkHost& to;
  const std::uint32_t id;
  const std::string name;       // "chief:0>ps:0"
  NetworkLink* back = nullptr;  // the other direction

  LinkSpec spec;
  std::vector<Duration> latencies;  // as labels
  std::vector<std::string> texts;
  std::vector<std::string_view> labels;
  Choices::Key* latency = nullptr;  // made at the first choice
  Choices::Key* loss = nullptr;
  Choices::Key* loss_noticed = nullptr;
  Choices::Key* duplication = nullptr;
  Choices::Key* reordering = nullptr;
  Choices::Key* reconnection = nullptr;

  Duration last_arrival{0};           // of what keeps its order
  Duration busy_until{0};             // of a link with bytes_per_s
  std::uint32_t epoch = 0;            // how often its connections broke
  std::uint32_t given_up = 0;         // how often the keepalive of a call gave it up
  Duration last_of_all{0};            // the same, of whatever has been sent: the end of a connection comes behind it
  std::int64_t in_flight = 0;         // bytes of the requests that count
  std::deque<OutgoingCall*> waiting;  // for their turn, in order
  int cuts = 0;
  int silences = 0;
  bool down = false;            // its connection broke by a cut: calls fail until an attempt to connect succeeds
  bool tried = false;           // it is down, and was wanted since
  Duration next_attempt{0};     // if it was tried
  Duration reachable_since{0};  // when the last cut ended
  std::vector<LinkTrouble*> troubles;
  Chain<OutgoingCall> calls;   // made over it, still open
  Chain<Serving> servings;     // of calls made over it
  std::vector<Message*> held;  // that wait for the end of a silence
};

// A process that may call and be called, over all its lives; or an address of which nobody knows whose it is.
struct NetworkHost {
  std::string name;
  std::string task;  // whose process it is, also on another machine
  std::uint32_t index = 0;
  Node* node = nullptr;    // null: none has joined under that name
  std::int64_t asks = 0;   // calls that it has started
  std::int64_t asked = 0;  // calls that others have started to it
  std::uint64_t life = 0;
  std::vector<NetworkLink*> out;  // by index of the other host; null where nothing was ever sent
  bool paused = false;
  std::int64_t held_by_pause = 0;  // messages that waited for the end of a pause, so far
  std::vector<Message*> inbox;     // those that wait now
  std::vector<std::shared_ptr<ListenerState>> listeners;
  std::vector<TaskIdentity*> serve_tasks;
  // Of requests that it serves: how many handlers run, how many may (0 = any number), who waits for one, in order, and
  // how many have had to so far.
  std::int64_t handling = 0;
  std::int64_t most_handling = 0;
  std::deque<Serving*> crowd;
  std::int64_t crowded = 0;
  // Of the life that has just ended; destroyed once its tasks are unwound.
  std::vector<OutgoingCall*> ended_calls;
  std::vector<Serving*> ended_servings;
  std::vector<std::shared_ptr<ListenerState>> ended_listeners;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_NETWORK_PARTS_H_
