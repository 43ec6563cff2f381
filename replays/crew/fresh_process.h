// What a process that was forked does before another program takes its place.
//
// Thread safety: for the child of a fork, which has one thread; calls only what may be called there.
#ifndef VIGIL_REPLAYS_CREW_FRESH_PROCESS_H_
#define VIGIL_REPLAYS_CREW_FRESH_PROCESS_H_

#include <sys/types.h>

namespace vigil::replays {

inline constexpr int kNoProgram = 127;  // its exit code where no program took its place, as a shell's

// It is in a process group of its own, dies with the thread that forked it (`parent`: of that process; if that has gone
// already, it ends), has these three as its standard streams, and nothing else of ours: no files, no signal that is
// blocked, ignored or handled, no limit of memory.
void BecomeFreshProcess(pid_t parent, int in, int out, int err);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_CREW_FRESH_PROCESS_H_
