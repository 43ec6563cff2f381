#include "vigil/core/cluster/master/device_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/goodbye.h"
#include "vigil/core/cluster/methods.h"
#include "vigil/core/graph/device_spec.h"

namespace vigil {
namespace {

constexpr Duration kAskAgain = std::chrono::seconds(1);
constexpr Duration kLogPeriod = std::chrono::seconds(10);

bool Allows(const DeviceSpec& filter, const TaskAddress& task) {
  return filter.job.value_or(task.job) == task.job && filter.replica.value_or(0) == 0 &&
         filter.task.value_or(task.task) == task.task;
}

// Shared with the calls under way, which may outlive the search.
class Search : public std::enable_shared_from_this<Search> {
 public:
  Search(const Env& env, const WorkerService& own, std::vector<const TaskAddress*> tasks, const DeviceSearch& search)
      : env_(env),
        keepalive_(search.keepalive),
        timeout_(search.timeout),
        wait_for_ready_(search.wait_for_ready),
        owed_(own.owed_goodbyes()),
        client_(search.client),
        stopped_(search.stopped),
        deadline_(search.timeout > Duration::zero() ? DeadlineAfter(env, search.timeout) : kNever),
        mutex_(env.tasks->NewMutex("devices")),
        changed_(env.tasks->NewCondition("answers of the tasks of the cluster")) {
    request_.set_master_task(own.cluster().own().name);
    request_.set_master_incarnation(own.device().incarnation());
    request_.set_master_start(own.start_number());
    for (const TaskAddress* const task : tasks) {
      Asked& asked = asked_.emplace_back(Asked{.task = *task});
      if (task == &own.cluster().own()) asked.incarnation = own.device().incarnation();
      if (asked.incarnation == 0) missing_ = ++resting_;
    }
  }

  absl::StatusOr<std::vector<TaskDevice>> Run() {
    Time next_log = DeadlineAfter(env_, kLogPeriod);
    while (true) {
      AskThoseDue();
      const Time until = WaitForNews(next_log);
      if (missing() == 0) return Found();
      if (stopped_()) return End(MakeStatus(Code::kCancelled, "The server was stopped."));
      if (given_up()) return End(MakeStatus(Code::kCancelled, "CreateSession was cancelled"));
      if (until < kNever && env_.clock->Monotonic() >= deadline_) return End(TimeoutError());
      if (env_.clock->Monotonic() >= next_log) {
        LogMissing();
        next_log = DeadlineAfter(env_, kLogPeriod);
      }
    }
  }

  void GiveUp() {
    {
      MutexLock lock(*mutex_);
      given_up_ = true;
    }
    changed_->NotifyAll();
  }

 private:
  struct Asked {
    TaskAddress task;  // a copy: late answers may find the server gone
    std::uint64_t call = 0;
    bool waiting = false;           // for the answer
    Time ask_at{Duration::min()};   // if it is not
    std::uint64_t incarnation = 0;  // 0: not found yet
    bool of_tensorflow = false;
  };

  std::size_t missing() const {
    MutexLock lock(*mutex_);
    return missing_;
  }
  bool given_up() const {
    MutexLock lock(*mutex_);
    return given_up_;
  }

  void AskThoseDue() {
    const Time now = env_.clock->Monotonic();
    std::vector<std::size_t> due;
    {
      MutexLock lock(*mutex_);
      for (std::size_t i = 0; resting_ > 0 && i < asked_.size(); ++i) {
        Asked& asked = asked_[i];
        if (asked.waiting || asked.incarnation != 0 || asked.ask_at > now) continue;
        asked.waiting = true;
        --resting_;
        due.push_back(i);
      }
    }
    for (const std::size_t i : due) {
      proto::GetStatusRequest request = request_;
      if (asked_[i].task.name == client_.task) request.set_least_start(client_.number);
      const std::uint64_t call =
          env_.network->Start({.to = asked_[i].task.address,
                               .method = methods::kGetStatus.text(),
                               .body = absl::Cord(request.SerializeAsString()),
                               .keepalive = keepalive_,
                               .wait_for_ready = wait_for_ready_},
                              [self = shared_from_this(), i](NetworkReply reply) { self->Answer(i, reply); });
      MutexLock lock(*mutex_);
      asked_[i].call = call;
    }
  }

  void Answer(std::size_t i, const NetworkReply& reply) {
    proto::GetStatusResponse response;
    const bool found = reply.ok() && ParseBody(*reply, &response) && response.device_attributes_size() > 0 &&
                       response.device_attributes(0).incarnation() != 0;
    {
      MutexLock lock(*mutex_);
      asked_[i].waiting = false;
      if (found) {
        asked_[i].incarnation = response.device_attributes(0).incarnation();
        asked_[i].of_tensorflow = response.device_attributes(0).memory_limit() != 0;
        --missing_;
      } else {
        asked_[i].ask_at = DeadlineAfter(env_, kAskAgain);
        ++resting_;
      }
    }
    // It may be the last that this master hears of it for long: another task that the session needs may stay away.
    if (reply.ok()) owed_->HeardOf(env_, asked_[i].task.address);
    changed_->NotifyAll();
  }

  Time WaitForNews(Time next_log) {
    MutexLock lock(*mutex_);
    Time until = std::min(next_log, deadline_);
    for (std::size_t i = 0; resting_ > 0 && i < asked_.size(); ++i) {
      const Asked& asked = asked_[i];
      if (!asked.waiting && asked.incarnation == 0) until = std::min(until, asked.ask_at);
    }
    if (missing_ > 0 && !given_up_) changed_->Wait(*mutex_, until);
    return until;
  }

  std::vector<std::string> MissingNames() const {
    MutexLock lock(*mutex_);
    std::vector<std::string> names;
    for (const Asked& asked : asked_) {
      if (asked.incarnation == 0) names.push_back(asked.task.name);
    }
    return names;
  }

  void LogMissing() const {
    for (const std::string& name : MissingNames()) {
      env_.log->Write(Severity::kInfo, "CreateSession still waiting for response from worker: " + name);
    }
  }

  absl::Status TimeoutError() const {
    return MakeStatus(Code::kUnavailable, fmt::format("CreateSession got no response within {} s from worker: {}",
                                                      ToSeconds(timeout_), fmt::join(MissingNames(), ", ")));
  }

  absl::Status End(absl::Status status) {
    std::vector<std::uint64_t> calls;
    {
      MutexLock lock(*mutex_);
      for (const Asked& asked : asked_) {
        if (asked.waiting) calls.push_back(asked.call);
      }
    }
    for (const std::uint64_t call : calls) env_.network->Cancel(call);
    return status;
  }

  std::vector<TaskDevice> Found() const {
    std::vector<TaskDevice> devices;
    MutexLock lock(*mutex_);
    for (const Asked& asked : asked_) {
      devices.push_back({.job = asked.task.job,
                         .task = asked.task.task,
                         .incarnation = asked.incarnation,
                         .of_tensorflow = asked.of_tensorflow});
    }
    return devices;
  }

  const Env env_;
  const Duration keepalive_;
  const Duration timeout_;
  const bool wait_for_ready_;
  const std::shared_ptr<OwedGoodbyes> owed_;
  proto::GetStatusRequest request_;  // says who asks
  const TaskStart client_;
  const std::function<bool()> stopped_;
  const Time deadline_;
  // Held for moments only, never while anybody is notified: the network may call from where nothing can wait.
  const std::unique_ptr<Mutex> mutex_;
  const std::unique_ptr<Condition> changed_;
  std::vector<Asked> asked_;  // guarded by *mutex_, but for `task`
  // Guarded by *mutex_.
  std::size_t missing_ = 0;  // not found yet
  std::size_t resting_ = 0;  // ... and not being asked
  bool given_up_ = false;    // guarded by *mutex_
};

}  // namespace

absl::StatusOr<std::vector<const TaskAddress*>> FilterTasks(const TaskAddresses& cluster,
                                                            const std::vector<std::string>& filters) {
  std::vector<DeviceSpec> allowed;
  for (const std::string& filter : filters) {
    VIGIL_ASSIGN_OR_RETURN(allowed.emplace_back(), DeviceSpec::Parse(filter));
  }
  std::vector<const TaskAddress*> tasks;
  for (const TaskAddress& task : cluster.all()) {
    if (filters.empty() || &task == &cluster.own() ||
        std::ranges::any_of(allowed, [&task](const DeviceSpec& filter) { return Allows(filter, task); })) {
      tasks.push_back(&task);
    }
  }
  return tasks;
}

absl::StatusOr<std::vector<TaskDevice>> FindDevices(const Env& env, const WorkerService& own,
                                                    const DeviceSearch& search) {
  VIGIL_ASSIGN_OR_RETURN(std::vector<const TaskAddress*> tasks, FilterTasks(own.cluster(), search.filters));
  const auto running = std::make_shared<Search>(env, own, std::move(tasks), search);
  if (search.caller != nullptr) search.caller->OnCancelled([running] { running->GiveUp(); });
  return running->Run();
}

}  // namespace vigil
