// A summary writer that emits an event for each call, just before it passes the call on.
#ifndef VIGIL_CORE_SUMMARY_OBSERVED_WRITER_H_
#define VIGIL_CORE_SUMMARY_OBSERVED_WRITER_H_

#include <memory>

#include "vigil/core/env/env.h"
#include "vigil/core/summary/summary_writer.h"

namespace vigil {

// `writer` with kWriterCall events for every call from now on; `writer` itself when there is no event sink. What a
// writer adds by itself (the graph that it was constructed with) is no call. Who makes a writer for the session layer
// passes it through here, once.
std::shared_ptr<SummaryWriter> ObserveWriter(const Env& env, std::shared_ptr<SummaryWriter> writer);

}  // namespace vigil

#endif  // VIGIL_CORE_SUMMARY_OBSERVED_WRITER_H_
