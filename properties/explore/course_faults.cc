#include "vigil/properties/explore/course_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "vigil/core/base/check.h"

namespace vigil::properties {
namespace {

using Kind = CourseFault::Kind;
using PointKind = sim::FaultPoint::Kind;

constexpr std::chrono::seconds kBack{2};
constexpr std::chrono::seconds kCutFor{5};

constexpr std::array<std::string_view, kCourseFaultKinds> kFaultNames = {"restart", "power_cut", "cut", "lost_reply"};
constexpr std::array<std::string_view, sim::kFaultPointKinds> kPointNames = {"sent", "delivered", "file_op"};

constexpr SmallJobInfo kSmallJobs[] = {
    {"chief", "a parameter server and a chief that trains and saves"},
    {"worker", "a parameter server, a chief that saves, a worker"},
    {"sync", "the same, with synchronous replicas"},
    {"input", "the same, fed by queues"},
    {"conversation", "two parameter servers and a chief that asks whatever a session can be asked"},
    {"tiny", "a parameter server and a chief that trains one step: small enough for all pairs"},
};

}  // namespace

std::string_view CourseFaultName(Kind kind) { return kFaultNames[static_cast<std::size_t>(kind)]; }
std::string_view CoursePointName(PointKind kind) { return kPointNames[static_cast<std::size_t>(kind)]; }

std::string NameOf(const CourseFault& fault) {
  return fmt::format("{}_{}_{}", CoursePointName(fault.point.at.kind), fault.point.at.n, CourseFaultName(fault.kind));
}

std::vector<CourseFault> FaultsOf(const sim::CourseLog& course) {
  std::vector<CourseFault> faults;
  for (const sim::CoursePoint& point : course) {
    faults.push_back({Kind::kRestart, point});
    faults.push_back({Kind::kPowerCut, point});
    if (point.at.kind == PointKind::kFileOp) continue;
    faults.push_back({Kind::kCut, point});
    if (point.at.kind == PointKind::kSent && point.request) faults.push_back({Kind::kLostReply, point});
  }
  return faults;
}

void AddTo(sim::FaultPlan& plan, const CourseFault& fault) {
  const sim::CoursePoint& point = fault.point;
  if (fault.kind == Kind::kLostReply) {
    sim::RpcFault& lost = plan.rpcs.emplace_back();
    lost.effect = sim::RpcFault::Effect::kLostReply;
    lost.from = point.task;
    lost.to = point.peer;
    lost.call = point.number;
    return;
  }
  sim::TimedFault& timed = plan.timed.emplace_back();
  timed.point = point.at;
  timed.task = point.task;
  if (fault.kind == Kind::kCut) {
    timed.kind = sim::TimedFault::Kind::kCut;
    timed.peer = point.peer;
    timed.lasts = kCutFor;
    return;
  }
  timed.restart_after = kBack;
  if (fault.kind == Kind::kPowerCut) timed.disk = sim::DiskLoss::kUnsynced;
}

std::span<const SmallJobInfo> SmallJobs() { return kSmallJobs; }

std::optional<replays::Scenario> SmallJobOf(std::string_view name) {
  const auto known = std::ranges::find(kSmallJobs, name, &SmallJobInfo::name);
  if (known == std::end(kSmallJobs)) return std::nullopt;
  replays::Scenario scenario;
  scenario.id = name;
  scenario.format = 2;
  scenario.seed = 1;
  scenario.behaviour.name = "default";
  sim::JobSpec& job = scenario.job.emplace();
  job.tasks = {{"chief", 1}, {"ps", 1}, {"worker", name == "chief" || name == "tiny" ? 0 : 1}};
  job.workload.last_step = name == "tiny" ? 1 : 4;
  job.workload.save_steps = 2;
  job.workload.max_wait_s = 600;
  job.workload.least_boot = job.workload.most_boot = std::chrono::milliseconds(100);
  if (name == "sync") job.workload.kind = sim::WorkloadKind::kSyncRegression;
  if (name == "input") job.workload.kind = sim::WorkloadKind::kInputPipeline;
  if (name != "conversation") return scenario;
  job.workload.kind = sim::WorkloadKind::kConversation;
  job.workload.last_step = 24;
  job.tasks = {{"chief", 1}, {"ps", 2}};
  return scenario;
}

}  // namespace vigil::properties
