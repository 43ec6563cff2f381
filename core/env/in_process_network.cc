#include "vigil/core/env/in_process_network.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/call_guarded.h"

namespace vigil {
namespace {

using Done = std::function<void(NetworkReply)>;

}  // namespace

// A request under way: the caller's side (done_) and the handler's side (wake_). Either may go first.
class InProcessNetwork::Call final : public IncomingCall, public std::enable_shared_from_this<Call> {
 public:
  Call(Tasks& tasks, const NetworkLimits& limits, NetworkRequest request, Done done)
      : limits_(limits), mutex_(tasks.NewMutex("call")), request_(std::move(request)), done_(std::move(done)) {}

  const NetworkRequest& request() const { return request_; }
  const std::string& method() const override { return request_.method; }
  const absl::Cord& body() const override { return request_.body; }
  bool cancelled() const override {
    MutexLock lock(*mutex_);
    return abandoned_;
  }
  void OnCancelled(std::function<void()> wake) override {
    {
      MutexLock lock(*mutex_);
      if (!abandoned_) {
        if (done_ != nullptr) wake_ = std::move(wake);  // else it was answered
        return;
      }
    }
    wake();
  }

  std::function<void(NetworkReply)> AnswerLater() override {
    bool abandoned = false;
    {
      MutexLock lock(*mutex_);
      put_off_ = true;
      abandoned = abandoned_;
    }
    if (abandoned) over_();
    return [self = shared_from_this()](NetworkReply reply) { self->AnswerByServer(std::move(reply)); };
  }

  // Runs the handler. `over` is called, once or more often, when the serving side has done with the call.
  void Serve(const RequestHandler& handler, std::function<void()> over) {
    over_ = std::move(over);
    NetworkReply reply = CallGuarded([&] { return handler(*this); });
    if (!put_off()) AnswerByServer(std::move(reply));
  }

  // For the server, which is told that nobody waits; under the lock, so that this cannot happen after it has answered.
  void Abandon(NetworkReply reply) {
    Done done;
    bool put_off = false;
    {
      MutexLock lock(*mutex_);
      const std::function<void()> wake = std::exchange(wake_, nullptr);
      done = std::exchange(done_, nullptr);
      if (done == nullptr) return;
      abandoned_ = true;
      put_off = put_off_;
      if (wake != nullptr) wake();
    }
    done(std::move(reply));
    if (put_off) over_();
  }

 private:
  bool put_off() const {
    MutexLock lock(*mutex_);
    return put_off_;
  }
  void AnswerByServer(NetworkReply reply) {
    over_();
    Done done;
    {
      MutexLock lock(*mutex_);
      const std::function<void()> wake = std::exchange(wake_, nullptr);
      done = std::exchange(done_, nullptr);
    }
    if (done != nullptr) done(Carried(std::move(reply), method(), limits_));
  }

  const NetworkLimits limits_;
  const std::unique_ptr<Mutex> mutex_;
  const NetworkRequest request_;
  // Guarded by *mutex_.
  Done done_;
  std::function<void()> wake_;
  bool abandoned_ = false;
  bool put_off_ = false;  // the answer comes later
  // Not guarded: set before the handler runs.
  std::function<void()> over_;
};

// All that outlives the network as long as calls are under way.
class InProcessNetwork::State : public std::enable_shared_from_this<State> {
 public:
  State(Tasks& tasks, const NetworkLimits& carried)
      : limits(carried),
        tasks_(tasks),
        mutex_(tasks.NewMutex("network")),
        changed_(tasks.NewCondition("a network's deadlines")) {}

  // The address.
  absl::StatusOr<std::string> Open(const std::string& given, RequestHandler handler) {
    MutexLock lock(*mutex_);
    VIGIL_ASSIGN_OR_RETURN(std::string address,
                           WithFreePort(given, [this](const std::string& each) { return !endpoints_.contains(each); }));
    const bool added = endpoints_.try_emplace(address, std::make_shared<RequestHandler>(std::move(handler))).second;
    if (added) return address;
    return MakeStatus(Code::kAlreadyExists, fmt::format("{}: Address already in use", address));
  }

  void Close(const std::string& address) {
    std::vector<std::shared_ptr<Call>> dropped;
    {
      MutexLock lock(*mutex_);
      endpoints_.erase(address);
      for (const auto& [number, call] : calls_) {
        if (call->request().to == address) dropped.push_back(call);
      }
    }
    for (const auto& call : dropped) call->Abandon(MakeStatus(Code::kUnavailable, "Socket closed"));
  }

  std::uint64_t Start(NetworkRequest request, Done done) {
    std::shared_ptr<RequestHandler> handler;
    std::uint64_t number = 0;
    const absl::Status carried = CheckRequest(request, limits);
    const auto call = std::make_shared<Call>(tasks_, limits, std::move(request), std::move(done));
    const Time deadline = call->request().deadline;
    absl::Status started;
    {
      MutexLock lock(*mutex_);
      number = ++last_call_;
      if (const auto it = endpoints_.find(call->request().to); carried.ok() && it != endpoints_.end()) {
        handler = it->second;
        calls_.emplace(number, call);
        if (deadline != kNever) started = AddDeadline(deadline, number);
      }
    }
    if (!carried.ok()) {
      call->Abandon(carried);
      return number;
    }
    if (handler == nullptr) {
      call->Abandon(MakeStatus(Code::kUnavailable, fmt::format("failed to connect to all addresses; last error: {}: "
                                                               "Connection refused",
                                                               call->request().to)));
      return number;
    }
    if (deadline != kNever) changed_->NotifyAll();
    if (started.ok()) {
      started =
          TrySpawn(tasks_, call->method(), [state = shared_from_this(), handler = std::move(handler), call, number] {
            call->Serve(*handler, [state, number] { state->Finish(number); });
          }).status();
    }
    if (!started.ok()) {
      Finish(number);
      call->Abandon(started);
    }
    return number;
  }

  void GiveUp(std::uint64_t number, const absl::Status& why) {
    if (const auto call = Find(number); call != nullptr) call->Abandon(why);
  }

  const NetworkLimits limits;

 private:
  std::shared_ptr<Call> Find(std::uint64_t number) {
    MutexLock lock(*mutex_);
    const auto it = calls_.find(number);
    return it == calls_.end() ? nullptr : it->second;
  }

  void Finish(std::uint64_t number) {
    {
      MutexLock lock(*mutex_);
      const auto it = calls_.find(number);
      if (it == calls_.end()) return;
      const Time deadline = it->second->request().deadline;
      calls_.erase(it);
      if (deadline == kNever || deadlines_.erase({deadline, number}) == 0) return;
    }
    changed_->NotifyAll();
  }

  // REQUIRES: *mutex_ is held. One task waits for all deadlines, as long as there are any.
  absl::Status AddDeadline(Time deadline, std::uint64_t number) {
    deadlines_.emplace(deadline, number);
    if (watching_) return absl::OkStatus();
    const absl::Status spawned =
        TrySpawn(tasks_, "network deadlines", [state = shared_from_this()] { state->Watch(); }).status();
    watching_ = spawned.ok();
    return spawned;
  }

  void Watch() {
    std::vector<std::uint64_t> late;
    while (true) {
      {
        MutexLock lock(*mutex_);
        if (deadlines_.empty()) {
          watching_ = false;
          return;
        }
        const Time first = deadlines_.begin()->first;
        if (changed_->Wait(*mutex_, first)) continue;
        while (!deadlines_.empty() && deadlines_.begin()->first <= first) {
          late.push_back(deadlines_.begin()->second);
          deadlines_.erase(deadlines_.begin());
        }
      }
      for (const std::uint64_t call : late) GiveUp(call, MakeStatus(Code::kDeadlineExceeded, "Deadline Exceeded"));
      late.clear();
    }
  }

  Tasks& tasks_;
  const std::unique_ptr<Mutex> mutex_;
  const std::unique_ptr<Condition> changed_;
  // Guarded by *mutex_.
  std::map<std::string, std::shared_ptr<RequestHandler>> endpoints_;
  std::map<std::uint64_t, std::shared_ptr<Call>> calls_;  // whose handlers run, or that are answered later
  std::set<std::pair<Time, std::uint64_t>> deadlines_;
  std::uint64_t last_call_ = 0;
  bool watching_ = false;
};

class InProcessNetwork::Serving final : public Listener {
 public:
  Serving(std::shared_ptr<State> state, std::string address) : state_(std::move(state)), address_(std::move(address)) {}
  ~Serving() override { state_->Close(address_); }
  const std::string& address() const override { return address_; }

 private:
  const std::shared_ptr<State> state_;
  const std::string address_;
};

InProcessNetwork::InProcessNetwork(Tasks& tasks, const NetworkLimits& limits)
    : state_(std::make_shared<State>(tasks, limits)) {}
InProcessNetwork::~InProcessNetwork() = default;

absl::StatusOr<std::unique_ptr<Listener>> InProcessNetwork::Listen(const std::string& address, RequestHandler handler) {
  VIGIL_ASSIGN_OR_RETURN(std::string opened, state_->Open(address, std::move(handler)));
  return std::make_unique<Serving>(state_, std::move(opened));
}

std::uint64_t InProcessNetwork::Start(NetworkRequest request, std::function<void(NetworkReply)> done) {
  return state_->Start(std::move(request), std::move(done));
}

NetworkLimits InProcessNetwork::limits() const { return state_->limits; }

void InProcessNetwork::Cancel(std::uint64_t call) { state_->GiveUp(call, MakeStatus(Code::kCancelled, "CANCELLED")); }

}  // namespace vigil
