#include "vigil/properties/model/input_queue.h"

#include <memory>

#include "vigil/properties/model/coordinator.h"
#include "vigil/properties/model/world.h"

namespace vigil::properties::model {

bool HasInputQueue(const replays::ModelSpec& model) { return model.batches.has_value() && model.queue_input; }

void RefuseIfAThreadMayFail(World& world) {
  const InputQueue* const last = world.last_queue();
  if (last == nullptr || !last->closed || last->taken || last->ended || last->stopped_early) return;
  world.Refuse("what comes after the close of a session whose model.input queue nobody has waited for");
}

void StartInputQueue(World& world, RawSession& session, Coordinator& coord) {
  const replays::ModelSpec& model = world.scenario().model;
  if (session.variables->queue_started) world.Refuse("model.input queue that several sessions of one server share");
  session.variables->queue_started = true;
  RefuseIfAThreadMayFail(world);
  // Of a session that was given up, the thread still makes its calls.
  if (const InputQueue* const last = world.last_queue(); last != nullptr && !last->ended) {
    if (world.HasFaultFrom(FaultPoint::kEnqueue, last->first_call + (last->taken ? 1 : 0)))
      world.Refuse("faults.at enqueue after a queue that has not ended");
  }
  session.queue = std::make_shared<InputQueue>();
  world.SetLastQueue(session.queue);
  InputQueue& queue = *session.queue;
  queue.first_call = world.CountOf(FaultPoint::kEnqueue) + 1;
  // One call puts everything in; the next finds that there is no more, and closes the queue.
  bool filled = false;
  Code code = Code::kOk;
  while (code == Code::kOk) {
    const World::Hit hit = world.Next(FaultPoint::kEnqueue);
    code = hit.code;
    if (code != Code::kOk && !hit.lost_reply) break;
    if (filled) code = Code::kOutOfRange;  // the call's own error counts
    filled = true;
  }
  if (filled) queue.left = *model.batches;
  if (code != Code::kOutOfRange) queue.reports = code;
  coord.HearOf(session.queue);
}

Code TakeBatch(World& world, InputQueue& queue) {
  if (queue.left == 0) {
    queue.ended = true;
    return Code::kOutOfRange;
  }
  if (queue.stopped_early) world.Refuse("model.input queue that is stopped before a run has waited for it");
  --queue.left;
  queue.taken = true;
  return Code::kOk;
}

}  // namespace vigil::properties::model
