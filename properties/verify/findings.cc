#include "vigil/properties/verify/findings.h"

#include <algorithm>
#include <iterator>

#include "vigil/core/base/check.h"
#include "vigil/replays/crew/crash.h"

namespace vigil {
namespace {

constexpr HookPromise kPromises[] = {
    {promise::kThrows, "a hook reports by the status that it returns; it throws nothing",
     "Catch what your code may throw and return it as a status."},
    {promise::kFails, "a hook fails with nothing but what its own calls on the session have failed with",
     "If failing is its purpose, allow it: {.may_fail = true}."},
    {promise::kBlocks, "a hook returns: it does not wait for what may never come, nor for a minute",
     "Give every wait a deadline. If waiting is its purpose, allow it: {.may_wait = true}."},
    {promise::kSleeps, "a hook sleeps through Env, whose time a test can turn",
     "Use env.tasks->SleepUntil(DeadlineAfter(env, d)). In Python: time.sleep, by this name."},
    {promise::kOwnThread, "a hook starts its tasks through Env and tells the coordinator of them",
     "Use env.tasks->Spawn() and coord->Register(). In Python: threading.Thread and coord.register_thread()."},
    {promise::kThread, "what a hook has started ends with the session, however the session ends",
     "Register the task with the session's coordinator and let it end at coord->ShouldStop(): End is not called after "
     "an error."},
    {promise::kTrainOp, "a hook does not train: it runs nothing that the train op is a part of",
     "Fetch in BeforeRun what you need of a run. If training is its purpose, allow it: {.may_run_train_op = true}."},
    {promise::kClosesSession, "a hook does not close the session, which is its owner's",
     "Ask for a stop: context.RequestStop()."},
    {promise::kStop, "a hook that was given no leave to stop the training does not",
     "Allow it: {.may_request_stop = true}."},
    {promise::kFeeds, "a hook feeds each tensor once, and none that the caller feeds",
     "Look at context.original_feeds(). If feeding is its purpose, allow it: {.may_feed = true}."},
    {promise::kGraph, "a hook changes the graph in Begin only: afterwards it is finalized",
     "Make your nodes in Begin."},
    {promise::kAfterEnd, "after End a hook asks nothing of the session, the coordinator or the caller",
     "End what you have started in End, and let go of the session there."},
    {promise::kOldSession, "a hook uses the session of the present call, never one that was given up",
     "Take the session from RunContext or AfterCreateSession each time; keep none."},
    {promise::kOldContext, "a hook uses a run's context during that run only",
     "Remember that you want to stop, and ask the context of the next AfterRun."},
    {promise::kEndNeedsSession, "End copes with a session that is gone: it is given null then",
     "Check `session != nullptr` in End."},
    {promise::kState, "in a new session a hook does what it did in the first: Begin starts its life anew",
     "Reset your members in Begin; End may never have been called."},
    {promise::kRepeat, "BeforeRun may be called again for the same step: the run in between failed",
     "Count in AfterRun, which is called for runs that have happened."},
    {promise::kRecovery, "a recovery that loses nothing changes nothing in what a hook decides",
     "Derive decisions from the global step (fetch it), not from counts since AfterCreateSession."},
    {promise::kStopLost, "a hook asks for the stop again when a recovery has swallowed it",
     "Ask in every AfterRun in which the condition holds, not once."},
    {promise::kSkippedSteps,
     "the global step may jump, for other workers train too: a hook compares with >=, not with ==", "Compare with >=."},
    {promise::kClock, "a hook takes the time from Env",
     "Use env.clock->Now() or Monotonic(). In Python: time.time() and its like, by these names."},
    {promise::kFiles, "a hook reaches files through Env", "Use env.files. In Python: tf.io.gfile."},
    {promise::kWrites, "a hook writes no files but where it may", "Allow it: {.may_write = {\"DIR\"}}."},
    {promise::kRandom, "a hook draws random numbers from Env's named streams",
     "Use env.random. In Python: a generator of its own, with a seed."},
    {promise::kOthers, "a hook opens no connection and starts no program",
     "Give it a client that a test can replace. If that is its purpose, allow it: {.may_use_outside = true}."},
    {promise::kNotRepeatable, "the same scenario twice makes a hook do the same",
     "Look for static variables, addresses that are compared, memory that is not initialised."},
};

constexpr HookPromise kNoCrash = {
    "crash", "a hook leaves its process alive: it neither crashes, nor loops for ever, nor takes all memory",
    "The functions named are those of the library and of yours that were being called, the innermost first."};

}  // namespace

std::span<const HookPromise> HookPromises() { return kPromises; }

const HookPromise& FindPromise(std::string_view id) {
  if (replays::IsCrashRule(id)) return kNoCrash;
  const auto* const found = std::ranges::find(kPromises, id, &HookPromise::id);
  VIGIL_CHECK(found != std::end(kPromises));
  return *found;
}

}  // namespace vigil
