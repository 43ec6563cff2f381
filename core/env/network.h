// The network seam: requests to other processes of a cluster, by address, and their answers.
//
// In one process (in_process_network.h) and simulated (sim/) now; what comes later (gRPC) changes nothing above this
// seam. Semantics are gRPC's: a request reaches the peer at most once unless the network duplicates it; when the
// connection is refused, reset or lost the caller gets UNAVAILABLE and cannot know whether the request took effect; a
// peer that stands still or is cut off silently answers nothing, and only a deadline or the keepalive ends the wait.
// A body arrives as it was sent or not at all: a transport sends a checksum (of 32 bits at least; TCP's of 16 is none)
// with each, and what does not match it fails the call with UNAVAILABLE.
// Bounds, the same for all: a body of more than Network::limits() is never sent, nor is one handed to a peer; its call
// fails with RESOURCE_EXHAUSTED, which names the method. Of an error that travels, message and payloads are bounded
// (Bounded below), since some peers refuse an answer whose trailers have more than 8 KiB. Of requests to one peer that
// it has not taken yet, limits().bytes_in_flight are on their way at most, or a single one that is larger: what comes
// after waits for its turn, in order, unless it goes at once. Its deadline and Cancel hold all the same, and then
// nothing of it was sent. A request that the peer has taken counts no more, answered or not: its answer may depend on
// one that comes after it.
// Thread safety: all methods from any task of the process.
#ifndef VIGIL_CORE_ENV_NETWORK_H_
#define VIGIL_CORE_ENV_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "vigil/core/base/time.h"

namespace vigil {

struct Env;

// A body is a Cord: pieces that are shared, so that what is large (a tensor) goes out of the memory in which it lies
// and is read out of that in which it arrived. Messages of a few KiB are one piece: TryFlat() gives it.
using NetworkReply =
    absl::StatusOr<absl::Cord>;  // an error of the peer's handler arrives with its code, message and payloads

struct NetworkRequest {
  std::string to;          // "host:port"
  std::string method;      // "/tensorflow.WorkerService/RunGraph"
  absl::Cord body;         // opaque here
  Time deadline = kNever;  // then DEADLINE_EXCEEDED, whatever the peer does
  Duration keepalive{0};   // UNAVAILABLE when nothing was heard of the peer for so long; 0 = never
  // Where there is no connection, because nobody serves there or it is cut off, it waits for one, tried again about
  // every second, and does not fail; as gRPC's. UNAVAILABLE if a connection breaks meanwhile. A network of one process
  // has no connections, and does not wait.
  bool wait_for_ready = false;
  // It does not wait for its turn: a sign of life, small, and of no use behind a large tensor.
  bool at_once = false;
};

// A request that has arrived, while its handler runs. Only what AnswerLater gives may be used afterwards.
class IncomingCall {
 public:
  virtual ~IncomingCall() = default;
  virtual const std::string& method() const = 0;
  virtual const absl::Cord& body() const = 0;
  // The caller gave up, lost the connection or is dead: nobody will read the reply.
  virtual bool cancelled() const = 0;
  // `wake` is called once when that happens, at once if it has happened; it must not block, nor use the call, nor
  // answer. Not called any more, and destroyed, once it is answered, which it is when the handler returns. At most one.
  virtual void OnCancelled(std::function<void()> wake) = 0;
  // The answer comes later, and no task waits for it: what the handler returns is not looked at. Whoever calls the
  // function that this gives, from any task or from none, answers; the first time counts. It takes no longer than to
  // make a message. When nobody waits any more (OnCancelled) no answer is needed: then, and once the listener or the
  // network has gone, the function does nothing. REQUIRES: it is the only AnswerLater of this call.
  virtual std::function<void(absl::StatusOr<absl::Cord>)> AnswerLater() = 0;
};

// Runs in a task of its own of the serving process, and may block. What waits for others for long answers later, or
// there are as many tasks as requests that wait.
using RequestHandler = std::function<NetworkReply(IncomingCall&)>;

// Serves until it is destroyed; then running handlers, and who is to answer later, are told (cancelled) but not waited
// for, so what a handler uses must be shared with it.
class Listener {
 public:
  virtual ~Listener() = default;
  // Where: as Listen was told, with the port that was found in place of 0.
  virtual const std::string& address() const = 0;
};

// TensorFlow's largest message, and protobuf's.
inline constexpr std::int64_t kMostMessageBytes = 2147483647;

inline constexpr std::int64_t kMostBytesInFlight = std::int64_t{1} << 28;

struct NetworkLimits {
  std::int64_t message_bytes = kMostMessageBytes;     // of a body, in either direction
  std::int64_t bytes_in_flight = kMostBytesInFlight;  // of requests to one peer, which it has not taken yet
};

class Network {
 public:
  virtual ~Network() = default;
  // What it carries. Who makes large messages asks beforehand, and can say what of it was too large. A network that
  // passes calls on has the limits of the one behind it.
  virtual NetworkLimits limits() const { return {}; }
  // Requests that arrive from now on are handled. "host:0": at a port that is free. ALREADY_EXISTS: somebody serves
  // there; what else keeps a real network from listening has the system's code.
  virtual absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string& address, RequestHandler handler) = 0;
  // RESOURCE_EXHAUSTED: the request's body, or the handler's answer, is larger than limits(). It names the method; of a
  // request nothing has been sent.
  // `done` is called exactly once, unless this process ends first: from some task of it or from none, possibly before
  // Start returns. It must not block, and may start further calls. The number names the call for Cancel, never 0.
  virtual std::uint64_t Start(NetworkRequest request, std::function<void(NetworkReply)> done) = 0;
  // `done` of that call gets CANCELLED, unless it was called already; the peer's handler is told. Unknown numbers are
  // ignored.
  virtual void Cancel(std::uint64_t call) = 0;
};

// One request and its answer, or the error that Start's `done` would get: UNAVAILABLE, DEADLINE_EXCEEDED, what the
// handler returned. Blocks the calling task, without a deadline in the request maybe for ever. REQUIRES: env.network is
// not null.
NetworkReply CallAndWait(const Env& env, NetworkRequest request);

// For who makes messages, and for networks. ---------------------------------------------------------------------------

// RESOURCE_EXHAUSTED: "The answer of /s/M has 12 bytes, the most is 10: ..."
absl::Status TooLarge(std::string_view what, std::string_view method, std::int64_t bytes, std::int64_t most);
// OK, or what a call with such a request fails with.
absl::Status CheckRequest(const NetworkRequest& request, const NetworkLimits& limits);
// What of a handler's answer the caller gets.
NetworkReply Carried(NetworkReply reply, std::string_view method, const NetworkLimits& limits);

// What of an error travels. Of a long message the beginning, not cut within a character of UTF-8, and " [and N bytes
// that were not sent]". Of payloads the smallest, as many as fit; the names of the others stand in one more,
// kLeftOutPayload ("a, b"), as far as they fit. What fits as it is stays the very same status.
inline constexpr std::size_t kMostStatusMessageBytes = 2048;
inline constexpr std::size_t kMostStatusPayloadBytes = 3072;  // names included
inline constexpr char kLeftOutPayload[] = "vigil/left-out";
absl::Status Bounded(const absl::Status& status);

// For networks whose addresses are names: `address`, with the first port for which `is_free` in place of 0.
// RESOURCE_EXHAUSTED: there is none.
absl::StatusOr<std::string> WithFreePort(const std::string& address,
                                         const std::function<bool(const std::string&)>& is_free);

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_NETWORK_H_
