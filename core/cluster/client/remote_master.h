// A master behind the network.
//
// A request that the network lost (UNAVAILABLE, not from the master itself) is repeated with the same request_id, up to
// 11 times in all within about 41 ms, as TensorFlow's client does; so a step whose answer was lost is refused the
// second time, with ABORTED. With a keepalive no further one is begun after that long. CreateSession waits for a
// master that is not there: for ever, or until config.create_timeout (UNAVAILABLE); for one that is silent until that
// and the keepalive have passed, or without a keepalive for five seconds more. The goodbye to a session that is
// abandoned, whose creation was given up, or whose close did not come through, is said up to three times (goodbye.h).
// With a keepalive the master hears of a session as long as it lives here, and closes it two or three keepalives after
// its client has died.
// Thread safety: as master_interface.h. Source: grpc_remote_master.cc.
#ifndef VIGIL_CORE_CLUSTER_CLIENT_REMOTE_MASTER_H_
#define VIGIL_CORE_CLUSTER_CLIENT_REMOTE_MASTER_H_

#include <memory>
#include <string>

#include "vigil/core/cluster/master_interface.h"
#include "vigil/core/cluster/request_ids.h"
#include "vigil/core/env/env.h"
#include "vigil/core/session/session.h"

namespace vigil {

// `address`: "host:port". Of `config`: operation_timeout_in_ms, which is a deadline of every request, create_timeout
// and keepalive.
std::shared_ptr<MasterInterface> NewRemoteMaster(const Env& env, std::string address, const SessionConfig& config);

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_CLIENT_REMOTE_MASTER_H_
