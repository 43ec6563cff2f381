#include "vigil/core/cluster/goodbye.h"

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/step_errors.h"

namespace vigil {
namespace {

constexpr int kGoodbyes = 3;
constexpr Duration kTimeout = std::chrono::seconds(10);  // of each

void Say(const Env& env, NetworkRequest request, int times) {
  request.deadline = DeadlineAfter(env, kTimeout);
  env.network->Start(request, [env, request, times](const NetworkReply& reply) {
    const bool lost = !reply.ok() && !IsByPeer(reply.status()) && CodeOf(reply.status()) != Code::kCancelled;
    if (lost && times > 1) Say(env, request, times - 1);
  });
}

}  // namespace

void SayGoodbye(const Env& env, NetworkRequest request) { Say(env, std::move(request), kGoodbyes); }

}  // namespace vigil
