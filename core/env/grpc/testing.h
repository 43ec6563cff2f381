// For tests: networks over gRPC, and who serves and calls with them.
#ifndef VIGIL_CORE_ENV_GRPC_TESTING_H_
#define VIGIL_CORE_ENV_GRPC_TESTING_H_

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "vigil/core/env/env.h"
#include "vigil/core/env/grpc/grpc_network.h"
#include "vigil/core/env/network.h"
#include "vigil/core/env/real/real_env.h"

namespace vigil {

inline constexpr char kEcho[] = "/test.Service/Echo";

inline NetworkReply Echo(IncomingCall& call) { return call.body(); }

class GrpcTest : public testing::Test {
 protected:
  std::unique_ptr<GrpcNetwork> New(const GrpcNetworkOptions& options = {}) {
    absl::StatusOr<std::unique_ptr<GrpcNetwork>> network = GrpcNetwork::Create(real_.env(), options);
    EXPECT_TRUE(network.ok()) << network.status();
    return *std::move(network);
  }
  std::unique_ptr<Listener> Listen(GrpcNetwork& network, RequestHandler handler = Echo) {
    absl::StatusOr<std::unique_ptr<Listener>> listener = network.Listen("127.0.0.1:0", std::move(handler));
    EXPECT_TRUE(listener.ok()) << listener.status();
    return *std::move(listener);
  }
  NetworkReply Call(GrpcNetwork& network, NetworkRequest request) {
    Env env = real_.env();
    env.network = &network;
    if (request.method.empty()) request.method = kEcho;
    return CallAndWait(env, std::move(request));
  }
  Time In(Duration time) { return DeadlineAfter(real_.env(), time); }

  RealEnv real_{{.log_to_stderr = false}};
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_GRPC_TESTING_H_
