#include "vigil/core/cluster/cluster_spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {
namespace {

constexpr int kLargestIndex = 999'999;

// As Python's repr of a string without special characters.
std::string Quoted(std::string_view text) {
  const char quote = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') out += '\\';
    out += c;
  }
  return out + quote;
}

std::string Text(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& item : list) out += (out.empty() ? "" : ", ") + Quoted(item);
  return "[" + out + "]";
}

std::string Text(const std::map<int, std::string>& map) {
  std::string out;
  for (const auto& [index, item] : map) out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", index, Quoted(item));
  return "{" + out + "}";
}

std::map<int, std::string> ByIndex(const ClusterSpec::Tasks& tasks) {
  if (const auto* const sparse = std::get_if<std::map<int, std::string>>(&tasks)) return *sparse;
  std::map<int, std::string> out;
  for (const std::string& address : std::get<std::vector<std::string>>(tasks)) {
    out.emplace(static_cast<int>(out.size()), address);
  }
  return out;
}

}  // namespace

void ClusterSpec::SetJob(const std::string& name, Addresses tasks) {
  const auto job = std::ranges::find(jobs_, name, &std::pair<std::string, Addresses>::first);
  if (job == jobs_.end()) {
    jobs_.emplace_back(name, std::move(tasks));
  } else {
    job->second = std::move(tasks);
  }
}

absl::Status ClusterSpec::CheckIndices() const {
  for (const auto& [name, tasks] : jobs_) {
    if (!tasks.empty() && tasks.rbegin()->first > kLargestIndex) {
      return UsageError(fmt::format("Task index {} of job {} is larger than {}. Number the tasks of a job from 0.",
                                    tasks.rbegin()->first, Quoted(name), kLargestIndex));
    }
    if (tasks.empty() || tasks.begin()->first >= 0) continue;
    return UsageError(fmt::format("Task index {} of job {} is negative. Number the tasks of a job from 0.",
                                  tasks.begin()->first, Quoted(name)));
  }
  return absl::OkStatus();
}

absl::StatusOr<ClusterSpec> ClusterSpec::Create(const Jobs& jobs) {
  ClusterSpec spec;
  for (const auto& [name, tasks] : jobs) {
    spec.SetJob(name, ByIndex(tasks));
    proto::JobDef& job = *spec.def_.add_job();
    job.set_name(name);
    for (const auto& [index, address] : spec.jobs_.back().second) (*job.mutable_tasks())[index] = address;
  }
  VIGIL_RETURN_IF_ERROR(spec.CheckIndices());
  return spec;
}

absl::StatusOr<ClusterSpec> ClusterSpec::Create(const proto::ClusterDef& cluster) {
  ClusterSpec spec;
  spec.def_ = cluster;
  for (const proto::JobDef& job : cluster.job()) {
    spec.SetJob(job.name(), Addresses(job.tasks().begin(), job.tasks().end()));
  }
  VIGIL_RETURN_IF_ERROR(spec.CheckIndices());
  return spec;
}

std::vector<std::string> ClusterSpec::jobs() const {
  std::vector<std::string> names;
  for (const auto& [name, tasks] : jobs_) names.push_back(name);
  return names;
}

absl::StatusOr<const ClusterSpec::Addresses*> ClusterSpec::Find(std::string_view job) const {
  for (const auto& [name, tasks] : jobs_) {
    if (name == job) return &tasks;
  }
  return UsageError(fmt::format("No such job in cluster: {}", Quoted(job)));
}

absl::StatusOr<int> ClusterSpec::num_tasks(std::string_view job) const {
  VIGIL_ASSIGN_OR_RETURN(const Addresses* const tasks, Find(job));
  return static_cast<int>(tasks->size());
}

absl::StatusOr<std::vector<int>> ClusterSpec::task_indices(std::string_view job) const {
  VIGIL_ASSIGN_OR_RETURN(const Addresses* const tasks, Find(job));
  std::vector<int> indices;
  for (const auto& [index, address] : *tasks) indices.push_back(index);
  return indices;
}

absl::StatusOr<std::string> ClusterSpec::task_address(std::string_view job, int index) const {
  VIGIL_ASSIGN_OR_RETURN(const Addresses* const tasks, Find(job));
  if (const auto task = tasks->find(index); task != tasks->end()) return task->second;
  return UsageError(fmt::format("No task with index {} in job {}", index, Quoted(job)));
}

absl::StatusOr<std::vector<std::optional<std::string>>> ClusterSpec::job_tasks(std::string_view job) const {
  VIGIL_ASSIGN_OR_RETURN(const Addresses* const tasks, Find(job));
  std::vector<std::optional<std::string>> out;
  for (const auto& [index, address] : *tasks) {
    out.resize(static_cast<std::size_t>(index) + 1);
    out.back() = address;
  }
  return out;
}

ClusterSpec::Jobs ClusterSpec::AsDict() const {
  Jobs out;
  for (const auto& [name, tasks] : jobs_) {
    if (tasks.empty() || tasks.rbegin()->first + 1 != static_cast<int>(tasks.size())) {
      out.emplace(name, tasks);
      continue;
    }
    std::vector<std::string> list;
    for (const auto& [index, address] : tasks) list.push_back(address);
    out.emplace(name, std::move(list));
  }
  return out;
}

std::string ClusterSpec::ToString() const {
  std::string out;
  for (const auto& [name, tasks] : AsDict()) {
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", Quoted(name),
                       std::visit([](const auto& form) { return Text(form); }, tasks));
  }
  return "ClusterSpec({" + out + "})";
}

bool operator==(const ClusterSpec& a, const ClusterSpec& b) { return a.AsDict() == b.AsDict(); }

}  // namespace vigil
