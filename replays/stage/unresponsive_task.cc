#include "vigil/replays/stage/unresponsive_task.h"

namespace vigil::replays {

void StartUnresponsiveTask(const Env& env, Coordinator& coord, Duration secs) {
  const Time end = DeadlineAfter(env, secs);
  coord.Register(env.tasks->Spawn("deaf", [tasks = env.tasks, end] { tasks->SleepUntil(end); }));
}

}  // namespace vigil::replays
