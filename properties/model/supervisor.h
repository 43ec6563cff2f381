// The modelled supervisor: sessions that are ready, a coordinator, a directory to write to.
//
// Its services run in no thread here: the caller makes their passes (supervisor_services.h).
// Each method says its lines and returns how it ended. Thread safety: none.
#ifndef VIGIL_PROPERTIES_MODEL_SUPERVISOR_H_
#define VIGIL_PROPERTIES_MODEL_SUPERVISOR_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "vigil/properties/model/coordinator.h"
#include "vigil/properties/model/session_manager.h"
#include "vigil/properties/model/world.h"

namespace vigil::properties::model {

class SupervisorModel {
 public:
  explicit SupervisorModel(World& world);

  Code Construct();
  // `made` is left as it is if that fails.
  Code Prepare(std::optional<double> max_wait_secs, RawSessionPtr& made);
  // `started` false: without a directory there is none. The session may be null.
  Code StartServices(const RawSessionPtr& session, bool& started);
  Code Stop(bool close_writer, bool ignore_live_threads);
  Code SummaryComputed(const RawSessionPtr& session, std::optional<std::int64_t> step);
  Code RequestStop(Code error) { return coord_.RequestStop(error); }
  // A session for the body; what comes out of the scope.
  Code Managed(const std::function<Code(const RawSessionPtr&)>& body);

  // Its owner destroys it. By TensorFlow's behaviour nothing comes of it; else what still runs is stopped.
  void Drop();

  // Before each statement of the caller: it matters whether the last one failed with what a join threw.
  void NextStatement() { threw_stored_ = false; }

  Coordinator& coord() { return coord_; }
  // Only a chief that has a directory writes anything.
  bool writes() const { return writes_; }

 private:
  void WriteGraph();

  World& world_;
  const bool is_chief_;
  const bool writes_;
  bool graph_written_ = false;  // to the writer, since it was last closed
  bool runs_ = false;           // something that a stop would end
  bool threw_stored_ = false;
  Coordinator coord_;
  SessionManagerModel manager_;
};

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_SUPERVISOR_H_
