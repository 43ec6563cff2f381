// The queue that holds a modelled session's input, and the thread that fills it.
//
// The thread is not scheduled: its calls are counted at the moment when it starts, and what it tells the coordinator is
// heard once a run has waited for the queue to end. Whatever would depend on who of the two is faster is refused.
// Thread safety: none.
#ifndef VIGIL_PROPERTIES_MODEL_INPUT_QUEUE_H_
#define VIGIL_PROPERTIES_MODEL_INPUT_QUEUE_H_

#include <cstdint>

#include "vigil/core/base/code.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::properties::model {

class Coordinator;
class World;
struct RawSession;

struct InputQueue {
  std::int64_t left = 0;        // batches that were put in and not taken
  bool taken = false;           // a run took one: they are all in
  bool ended = false;           // a run waited for more in vain: the thread has gone
  bool stopped_early = false;   // before either: nobody knows what is in
  bool closed = false;          // its session was, by the caller
  Code reports = Code::kOk;     // the thread's error; kOk once the coordinator has heard it
  std::int64_t first_call = 0;  // the number of the thread's first call
};

bool HasInputQueue(const replays::ModelSpec& model);

// If the thread of a session that its caller has closed comes only now, it fails and stops what all sessions share.
void RefuseIfAThreadMayFail(World& world);
// Starts the thread for that session's queue.
void StartInputQueue(World& world, RawSession& session, Coordinator& coord);
// One batch. OUT_OF_RANGE: there are no more.
Code TakeBatch(World& world, InputQueue& queue);

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_INPUT_QUEUE_H_
