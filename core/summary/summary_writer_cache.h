// One summary writer for each directory of a process: hooks that write to the same directory share a file.
//
// Nobody who takes a writer from here closes it.
// Thread safety: safe from any task of the process. Source: writer_cache.py (FileWriterCache).
#ifndef VIGIL_CORE_SUMMARY_SUMMARY_WRITER_CACHE_H_
#define VIGIL_CORE_SUMMARY_SUMMARY_WRITER_CACHE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/env/env.h"
#include "vigil/core/summary/summary_writer.h"

namespace vigil {

// The process's writer of that directory. The first time it is made, and `graph` (may be null), as it is then, goes to
// its file: TensorFlow adds the default graph. That is not an observed call; every later call is. The key is the path
// as it is written: "a" and "./a" are two. If it cannot be made (no directory), what comes back gives that error at
// each call, and the next GetCachedWriter tries anew. `behaviour` is that of a writer that is made here.
std::shared_ptr<SummaryWriter> GetCachedWriter(const Env& env, const std::string& logdir, const Graph* graph,
                                               const Behaviour& behaviour = Behaviour::Default());

// Closes all cached writers and forgets them; the first error. The end of a real process does so, too, but nobody hears
// of its errors. Not an observed call.
absl::Status SummaryWriterCacheClear(const Env& env);

}  // namespace vigil

#endif  // VIGIL_CORE_SUMMARY_SUMMARY_WRITER_CACHE_H_
