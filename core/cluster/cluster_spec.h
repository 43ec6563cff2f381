// tf.train.ClusterSpec: the jobs of a cluster, their tasks and where each task is to be reached.
//
//   const auto cluster = ClusterSpec::Create({{"worker", std::vector<std::string>{"w0:2222", "w1:2222"}},
//                                             {"ps", std::map<int, std::string>{{1, "ps1:2222"}}}});
//
// A job given as a map may be sparse: a task need not know all the others. Addresses are not looked at.
// An immutable value. Errors: USAGE in TensorFlow's words. Source: server_lib.py.
#ifndef VIGIL_CORE_CLUSTER_CLUSTER_SPEC_H_
#define VIGIL_CORE_CLUSTER_CLUSTER_SPEC_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/cluster/cluster.pb.h"

namespace vigil {

class ClusterSpec {
 public:
  // Addresses by task index: all from 0 on, or some.
  using Tasks = std::variant<std::vector<std::string>, std::map<int, std::string>>;
  using Jobs = std::map<std::string, Tasks>;

  ClusterSpec() = default;  // no jobs
  // USAGE for a negative task index.
  static absl::StatusOr<ClusterSpec> Create(const Jobs& jobs);
  // Keeps the order of the jobs; of two of one name the later one counts.
  static absl::StatusOr<ClusterSpec> Create(const proto::ClusterDef& cluster);

  bool empty() const { return jobs_.empty(); }

  // By name if made from a map, as in the ClusterDef otherwise.
  std::vector<std::string> jobs() const;
  // These four: "No such job in cluster: 'x'".
  absl::StatusOr<int> num_tasks(std::string_view job) const;
  absl::StatusOr<std::vector<int>> task_indices(std::string_view job) const;  // ascending
  // "No task with index 3 in job 'x'".
  absl::StatusOr<std::string> task_address(std::string_view job, int index) const;
  // Up to the greatest index; nullopt where a sparse job has no task. (Of a job without tasks nothing; TensorFlow fails
  // in max().)
  absl::StatusOr<std::vector<std::optional<std::string>>> job_tasks(std::string_view job) const;

  // A list for each dense job, a map for each sparse (or empty) one.
  Jobs AsDict() const;
  // The one it was made from, else jobs and tasks in ascending order.
  const proto::ClusterDef& AsClusterDef() const { return def_; }
  // As Python prints it: "ClusterSpec({'ps': ['a:1', 'b:1'], 'worker': {3: 'c:1'}})", jobs in ascending order.
  std::string ToString() const;

  // The same tasks at the same addresses; order and form do not count.
  friend bool operator==(const ClusterSpec& a, const ClusterSpec& b);

 private:
  using Addresses = std::map<int, std::string>;

  void SetJob(const std::string& name, Addresses tasks);
  absl::Status CheckIndices() const;
  absl::StatusOr<const Addresses*> Find(std::string_view job) const;

  std::vector<std::pair<std::string, Addresses>> jobs_;
  proto::ClusterDef def_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_CLUSTER_SPEC_H_
