#include "vigil/sim/checkers/client_history.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace vigil::sim {
namespace {

using Kind = JobMoment::Kind;

// One process of a replica after the other, moment by moment.
class Client {
 public:
  Client(std::string_view replica, std::vector<ClientOperation>& operations)
      : replica_(replica), operations_(operations) {}

  void See(const JobMoment& moment, std::size_t place) {
    switch (moment.kind) {
      case Kind::kStarted:
      case Kind::kRunFailed:
        End(place);
        break;
      case Kind::kRunStarted:
        // One that only looks at the model says nothing of its attempts, nor that it came back.
        Begin(place);
        in_run_ = true;
        break;
      case Kind::kSession:
        if (in_run_) Begin(place);
        break;
      case Kind::kRecovery:
        if (under_way_) Lose(place);
        break;
      case Kind::kAttempt:
        if (moment.code == Code::kOk) {
          good_ = Operation(place);
        } else {
          Lose(place);
        }
        under_way_ = false;
        since_ = place;
        break;
      case Kind::kSawStep:
        Saw(moment.step, place);
        break;
      case Kind::kRunReturned:
        Return(moment, place);
        break;
      default:
        break;
    }
  }
  // Another one goes on with what is under way.
  void Forget() {
    good_.reset();
    under_way_ = false;
    in_run_ = false;
  }
  void End(std::size_t place) {
    if (under_way_) Lose(place);
    Finish();
    under_way_ = false;
    in_run_ = false;
  }

 private:
  ClientOperation Operation(std::size_t place) {
    Finish();
    return {.replica = replica_, .call = since_, .end = place, .adds = true};
  }
  void Begin(std::size_t place) {
    Finish();
    since_ = place;
    under_way_ = true;
  }
  void Finish() {
    if (good_.has_value()) operations_.push_back(*std::exchange(good_, std::nullopt));
  }
  void Lose(std::size_t place) {
    ClientOperation lost = Operation(place);
    lost.lost = true;
    operations_.push_back(std::move(lost));
    under_way_ = false;
  }
  void Saw(std::int64_t step, std::size_t place) {
    if (good_.has_value()) {
      good_->steps = {step};
    } else if (under_way_) {
      ClientOperation look = Operation(place);
      look.adds = false;
      look.steps = {step};
      operations_.push_back(std::move(look));
    }
  }
  void Return(const JobMoment& moment, std::size_t place) {
    if (!good_.has_value()) good_ = Operation(place);  // not every program has events that tell of its attempts
    good_->steps = {moment.step};
    for (const float count : moment.ledger) good_->own_counts.push_back(static_cast<std::int64_t>(count));
    Finish();
    under_way_ = false;
    in_run_ = false;
  }

  const std::string replica_;
  std::vector<ClientOperation>& operations_;
  bool in_run_ = false;
  bool under_way_ = false;               // an attempt
  std::size_t since_ = 0;                // when the attempt may have begun
  std::optional<ClientOperation> good_;  // the last that came back, which may still say what it read
};

bool IsClient(std::string_view replica) { return replica.starts_with("chief") || replica.starts_with("worker"); }

}  // namespace

std::vector<ClientOperation> ClientOperations(const JobHistory& history) {
  std::vector<ClientOperation> operations;
  std::map<std::string, Client, std::less<>> clients;
  for (std::size_t place = 0; place < history.size(); ++place) {
    const JobMoment& moment = history[place];
    const std::string_view replica = WithoutZombie(moment.task);
    if (!IsClient(replica)) continue;
    if (moment.kind == Kind::kReplaced) {
      Client& old = clients.try_emplace(moment.subject, replica, operations).first->second;
      clients.try_emplace(moment.task, old);
      old.Forget();
      continue;
    }
    clients.try_emplace(moment.task, replica, operations).first->second.See(moment, place);
  }
  for (auto& [name, client] : clients) client.End(history.size());
  std::ranges::stable_sort(operations, {}, &ClientOperation::end);
  return operations;
}

}  // namespace vigil::sim
