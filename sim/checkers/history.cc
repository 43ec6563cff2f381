// What replicas counted and read, held against all orders in which that can have happened: is there one?
//
// A variable at a time: the global step, which all count, and on each server the updates of each replica. It needs
// nothing of what servers say of an update. They say only when a variable was overwritten, by a restore or an
// initialisation: there its history is cut, where that began and where it was told. What was under way then may have
// happened before, after or never; what was read meanwhile says nothing. With a server dies what was lost on it.
// In synchronous training steps are made by nobody's run: there the step that is read may only grow.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/client_history.h"
#include "vigil/sim/checkers/counter_model.h"
#include "vigil/sim/checkers/linearizability.h"
#include "vigil/sim/checkers/writes.h"

namespace vigil::sim {
namespace {

using Search = Linearizer<CounterModel>;
using CounterDoes = CounterModel::Operation::Does;

constexpr std::size_t kMostOrders = 20'000;

// 1 of "ps:1".
std::size_t NumberOf(std::string_view server) {
  const std::size_t colon = server.find(':');
  std::size_t number = 0;
  std::from_chars(server.data() + std::min(server.size(), colon + 1), server.data() + server.size(), number);
  return number;
}

// An operation of a replica on one variable.
struct Access {
  const ClientOperation* whole = nullptr;
  bool adds = false;
  std::optional<std::int64_t> read;
};

// One variable, from the beginning of the job to its end.
class VariableHistory {
 public:
  VariableHistory(std::string name, std::size_t server, CounterDoes reads, Findings& findings)
      : name_(std::move(name)), server_(server), reads_(reads), findings_(findings) {}

  // The number of the server that keeps it.
  std::size_t server() const { return server_; }

  void Call(std::size_t id, const Access& access) {
    under_way_[id] = access.adds;
    const auto end = static_cast<std::int64_t>(access.whole->end);
    const std::int64_t due = access.whole->lost ? Search::kNeverReturns : end;
    if (access.adds) search_.Call(AddOf(id), {.does = CounterDoes::kAdd}, due);
    if (access.read.has_value()) search_.Call(ReadOf(id), {.does = reads_, .number = *access.read}, due);
  }
  void End(std::size_t id, const Access& access, const JobMoment& moment) {
    const bool whole = under_way_.erase(id) > 0;  // not cut
    if (access.whole->lost) {
      if (whole && access.adds) {
        search_.Lose(AddOf(id));
        ++lost_;
      }
      return;
    }
    if (!whole) return;
    if (access.read.has_value()) Return(ReadOf(id), *access.read, moment);
    if (!access.adds) return;
    search_.Return(AddOf(id));
    if (overwriting_ > 0) ++added_meanwhile_;
  }
  // It begins to be overwritten: until that is told nobody knows with what, and when.
  void BeginOverwrite() {
    overlap_ = overlap_ || overwriting_ > 0;
    ++overwriting_;
    Cut(std::nullopt);
  }
  void Overwrite(std::int64_t value) {
    overwriting_ = std::max(overwriting_ - 1, 0);
    lost_ += std::exchange(added_meanwhile_, 0);
    Cut(overlap_ ? std::nullopt : std::optional(value));
    overlap_ = overlap_ && overwriting_ > 0;
  }
  void Die() {
    lost_ = 0;
    overwriting_ = 0;
    overlap_ = false;
    added_meanwhile_ = 0;
    under_way_.clear();
    search_.Restart(std::nullopt);
  }

 private:
  void Cut(std::optional<std::int64_t> value) {
    watched_ = true;
    search_.Restart(value);
    for (const auto& [id, adds] : std::exchange(under_way_, {})) lost_ += adds ? 1 : 0;
    for (std::int64_t i = 0; i < lost_; ++i) {
      search_.Call(i, {.does = CounterDoes::kAdd}, Search::kNeverReturns);
      search_.Lose(i);
    }
  }

  // Two of the search.
  static std::int64_t AddOf(std::size_t id) { return 2 * static_cast<std::int64_t>(id); }
  static std::int64_t ReadOf(std::size_t id) { return AddOf(id) + 1; }

  void Return(std::int64_t id, std::int64_t read, const JobMoment& moment) {
    if (!watched_) {  // who does not say when it is overwritten
      search_.Return(id);
      return;
    }
    findings_.Arm();
    const bool before = search_.verdict() == Search::Verdict::kExplained;
    const Search::Verdict verdict = search_.Return(id);
    if (!before || verdict == Search::Verdict::kExplained) return;
    if (verdict == Search::Verdict::kGivenUp) {  // not in silence: this judge is blind then
      findings_.Violate(moment, fmt::format("at most {} orders of all that is under way of {}", kMostOrders, name_),
                        "more");
      return;
    }
    std::set<std::int64_t> values;
    for (const CounterModel::State& state : search_.States()) values.insert(state.value_or(-1));
    findings_.Violate(
        moment,
        fmt::format("an order of all that was counted and read of {}, which was {}", name_, fmt::join(values, " or ")),
        fmt::format("{}", read));
  }

  const std::string name_;
  const std::size_t server_;
  const CounterDoes reads_;
  Findings& findings_;
  Search search_{std::nullopt, kMostOrders};
  std::map<std::size_t, bool> under_way_;  // whether it adds
  std::int64_t lost_ = 0;                  // that may still happen
  int overwriting_ = 0;                    // how many times at the moment
  bool overlap_ = false;                   // of those some overlapped: nobody knows which came last
  std::int64_t added_meanwhile_ = 0;       // that returned, before or after what it is overwritten with
  bool watched_ = false;
};

class ClientsHistory {
 public:
  ClientsHistory(const JobRun& run, Findings& findings)
      : run_(run), findings_(findings), operations_(ClientOperations(run.history)) {
    for (std::size_t id = 0; id < operations_.size(); ++id) calls_.emplace(operations_[id].call, id);
  }

  void Judge() {
    std::size_t ended = 0;
    WritesBegun writes(*run_.writes);
    for (std::size_t place = 0; place < run_.history.size(); ++place) {
      const JobMoment& moment = run_.history[place];
      writes.BegunBy(place, [this](std::size_t begun) { Begun(run_.history[begun]); });
      Cut(moment);
      for (; ended < operations_.size() && operations_[ended].end == place; ++ended) End(ended, moment);
      const auto [first, last] = calls_.equal_range(place);
      for (auto call = first; call != last; ++call) Call(call->second);
    }
  }

 private:
  using Variable = std::pair<std::string, std::string>;  // the server, and whose updates; "": the global step

  VariableHistory& Of(const Variable& variable) {
    const bool steps = variable.second.empty();
    const bool grows = steps && run_.spec.workload.kind == WorkloadKind::kSyncRegression;
    const std::string name =
        steps ? "the global step" : fmt::format("the updates of {} on {}", variable.second, variable.first);
    return variables_
        .try_emplace(variable, name, NumberOf(variable.first), grows ? CounterDoes::kReadGrown : CounterDoes::kRead,
                     findings_)
        .first->second;
  }

  void Begun(const JobMoment& write) {
    if (write.kind == JobMoment::Kind::kAssigned) Of({write.task, write.subject}).BeginOverwrite();
    if (write.kind == JobMoment::Kind::kStepSet) Of({write.task, ""}).BeginOverwrite();
  }
  // What a server says.
  void Cut(const JobMoment& moment) {
    switch (moment.kind) {
      case JobMoment::Kind::kStarted:
        for (auto& [variable, history] : variables_) {
          if (variable.first == moment.task) history.Die();
        }
        break;
      case JobMoment::Kind::kAssigned:
        Of({moment.task, moment.subject}).Overwrite(moment.step);
        break;
      case JobMoment::Kind::kStepSet:
        Of({moment.task, ""}).Overwrite(moment.step);
        break;
      default:
        break;
    }
  }

  template <typename Then>
  void ForEach(const ClientOperation& operation, Then then) {
    const bool sync = run_.spec.workload.kind == WorkloadKind::kSyncRegression;
    for (auto& [variable, history] : variables_) {
      Access access{.whole = &operation};
      if (variable.second.empty()) {
        access.adds = operation.adds && !sync;
        if (!operation.steps.empty()) access.read = operation.steps.front();
      } else if (variable.second == operation.replica) {
        access.adds = operation.adds;
        const std::size_t server = history.server();
        if (server < operation.own_counts.size()) access.read = operation.own_counts[server];
      } else {
        continue;
      }
      then(history, access);
    }
  }
  void Call(std::size_t id) {
    ForEach(operations_[id], [id](VariableHistory& history, const Access& access) { history.Call(id, access); });
  }
  void End(std::size_t id, const JobMoment& moment) {
    ForEach(operations_[id], [&](VariableHistory& history, const Access& access) { history.End(id, access, moment); });
  }

  const JobRun& run_;
  Findings& findings_;
  const std::vector<ClientOperation> operations_;
  std::multimap<std::size_t, std::size_t> calls_;  // by the place of the call
  std::map<Variable, VariableHistory> variables_;
};

void CheckHistory(const JobRun& run, Findings& findings) {
  if (!run.history.empty()) ClientsHistory(run, findings).Judge();
}

}  // namespace

const Checker kHistoryLinearizable = {
    .id = "history.linearizable",
    .sentence =
        "What replicas counted and read of a variable happened in some order, each between its call and its return; "
        "what failed happened once or never.",
    .source = "linearizability (Herlihy and Wing 1990); the search is that of Wing and Gong, and Lowe",
    .check = CheckHistory,
    .excuses =
        "reads that overlap a restore or an initialisation; a failed attempt that counts later, until its server dies; "
        "in synchronous training each step that is not lower than one read before",
    .why =
        "what is overwritten meanwhile has no value of its own; nobody knows of a lost operation whether it happened",
};

}  // namespace vigil::sim
