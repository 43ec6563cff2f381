// What tests of the simulated network have in common: a parameter server that serves, a chief that calls.
#ifndef VIGIL_SIM_NETWORK_TESTING_H_
#define VIGIL_SIM_NETWORK_TESTING_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/env/network.h"
#include "vigil/sim/alarm.h"
#include "vigil/sim/world.h"

namespace vigil::sim {

inline std::string Text(const NetworkReply& reply) {
  return reply.ok() ? std::string(*reply)
                    : std::string(CodeName(CodeOf(reply.status()))) + " " + std::string(MessageOf(reply.status()));
}

class NetworkTest : public testing::Test {
 protected:
  NetworkTest() {
    LinkSpec calm;
    calm.least_latency = calm.most_latency = std::chrono::milliseconds(1);
    world_.network().SetLinks(calm, {});
  }

  // Serves at "ps:1" on the node "ps:0", until the process ends.
  void Serve(RequestHandler handler) {
    ps_.set_boot([handler = std::move(handler)](Node& node) {
      node.Spawn("main", [env = node.env(), handler] {
        auto listener = env.network->Listen("ps:1", handler);
        ASSERT_TRUE(listener.ok());
        env.tasks->SleepUntil(kNever);
      });
    });
    ps_.Boot();
  }

  // A call from the chief, noted with its time in std::chrono::milliseconds.
  void Call(NetworkRequest request) {
    request.to = "ps:1";
    if (request.method.empty()) request.method = "/vigil.Test/Do";
    Note("", CallAndWait(chief_.env(), std::move(request)));
  }
  void Note(const std::string& who, const NetworkReply& reply) {
    seen_.push_back(who + std::to_string(world_.scheduler().now() / std::chrono::milliseconds(1)) + " " + Text(reply));
  }

  void Chief(std::function<void()> body) {
    chief_.Spawn("main", [this, body = std::move(body)] {
      world_.AdvanceBy(std::chrono::milliseconds(10));
      body();
    });
  }
  WorldResult Run(Duration stop_after = std::chrono::seconds(100)) {
    Alarm end(world_.scheduler(), [this] { world_.Stop(); });
    end.SetAt(stop_after);
    return world_.Run();
  }

  // Rings at that time of the world.
  void At(Duration at, std::function<void()> what) {
    alarms_.push_back(std::make_unique<Alarm>(world_.scheduler(), std::move(what)));
    alarms_.back()->SetAt(at);
  }

  std::vector<std::string> seen_;
  World world_{WorldOptions{}};
  Node& chief_ = world_.AddNode("chief:0");
  Node& ps_ = world_.AddNode("ps:0");
  std::vector<std::unique_ptr<Alarm>> alarms_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_NETWORK_TESTING_H_
