// The arguments of a supervisor and of its methods, with TensorFlow's names and defaults. Plain values.
#ifndef VIGIL_CORE_TRAIN_SUPERVISOR_SUPERVISOR_OPTIONS_H_
#define VIGIL_CORE_TRAIN_SUPERVISOR_SUPERVISOR_OPTIONS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/coord/coordinator.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/summary/summary_writer.h"
#include "vigil/core/train/fetches.h"
#include "vigil/core/train/or_default.h"
#include "vigil/core/train/session_manager.h"

namespace vigil {

using SummaryWriterPtr = std::shared_ptr<SummaryWriter>;

struct SupervisorOptions {
  OrDefault<Output> ready_op = {};                 // default: which variables are not initialised
  OrDefault<Output> ready_for_local_init_op = {};  // default: the collection's, else none
  bool is_chief = true;
  OrDefault<NodeId> init_op = {};        // default: initialises all global variables
  Feeds init_feed_dict = {};             // for init_op
  OrDefault<NodeId> local_init_op = {};  // default: initialises local variables and tables
  // The chief's: where checkpoints and events go; made if it is missing; "" = none.
  std::string logdir = "";
  OrDefault<Output> summary_op = {};   // default: all summaries merged; none if there are none
  OrDefault<SaverPtr> saver = {};      // default: saves all global variables; none if there are none
  OrDefault<Output> global_step = {};  // default: the collection's, else the integer tensor "global_step:0", else none
  // The chief's: 0 = no such service.
  Duration save_summaries_secs = std::chrono::seconds(120);
  Duration save_model_secs = std::chrono::seconds(600);
  Duration recovery_wait_secs = std::chrono::seconds(30);  // between looks whether the model is ready
  Duration stop_grace_secs = std::chrono::seconds(120);    // for tasks to end after a stop
  std::string checkpoint_basename = "model.ckpt";
  std::shared_ptr<SessionManager> session_manager = nullptr;  // null: one made of the pieces above
  OrDefault<SummaryWriterPtr> summary_writer = {};            // the chief's; default: an events file in the logdir
  std::function<absl::Status(Session&)> init_fn = nullptr;    // called after init_op
  std::optional<RunOptions> local_init_run_options = {};      // for local_init_op
  std::shared_ptr<SessionFactory> factory = nullptr;  // of the default session manager; null: ClusterSessionFactory
  Behaviour behaviour = Behaviour::Default();
  // A file that gets a trace of all that this supervisor does, from its construction to its destruction, for `vigil
  // replay`; "" = none. Not with a session_manager of one's own (a warning says so). See docs/traces.md.
  std::string trace_path = "";
  // SIGTERM stops the supervisor; the chief's ManagedSession then saves a last checkpoint. A second one ends the
  // program at once. USAGE where the env has no signals. docs/ending.md
  bool stop_on_sigterm = false;
};

struct PrepareSessionOptions {
  SessionTarget target = {};
  bool wait_for_checkpoint = false;  // the chief: wait for a checkpoint before initialising
  std::optional<Duration> max_wait_secs = std::chrono::seconds(7200);  // nullopt = for ever
  bool start_standard_services = true;                                 // and the queue runners
};

struct ManagedSessionOptions {
  SessionTarget target = {};
  std::optional<Duration> max_wait_secs = std::chrono::seconds(7200);  // as above; TensorFlow has no such argument here
  bool start_standard_services = true;
  bool close_summary_writer = true;
};

struct StopOptions {
  std::vector<TaskPtr> tasks = {};  // to be joined besides those of services, queue runners and Loop()
  bool close_summary_writer = true;
  bool ignore_live_tasks = false;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_SUPERVISOR_SUPERVISOR_OPTIONS_H_
