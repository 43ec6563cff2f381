// The places in which the contracts of the seams are tested: each runs a body with an env of its own.
//
//   Run(body)     calls body(env) in a task of the env, with an empty directory
//   directory()   that directory
//   Tick()        a duration that can be told apart from none: milliseconds where time is real
#ifndef VIGIL_PROPERTIES_CONTRACTS_PLACES_H_
#define VIGIL_PROPERTIES_CONTRACTS_PLACES_H_

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>

#include "vigil/core/env/env.h"
#include "vigil/core/env/in_process_network.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/properties/contracts/network_contract.h"
#include "vigil/sim/world.h"

namespace vigil::contracts {

using Body = std::function<void(const Env&)>;

class FakePlace {
 public:
  static Duration Tick() { return std::chrono::seconds(1); }
  std::string directory() const { return "/fake"; }
  void Run(const Body& body) {
    ASSERT_TRUE(fake_.files.MakeDirectory(directory()).ok());
    Env env = fake_.env();
    env.network = &network_;
    body(env);
  }

 private:
  fakes::FakeEnv fake_;
  InProcessNetwork network_{fake_.tasks, kContractLimits};
};

class SimulatedPlace {
 public:
  static Duration Tick() { return std::chrono::seconds(1); }
  std::string directory() const { return "/simulated"; }
  void Run(const Body& body) {
    sim::World world({.network = kContractLimits});
    sim::Node& node = world.AddNode("node");
    node.Spawn("main", [&] {
      ASSERT_TRUE(node.env().files->MakeDirectory(directory()).ok());
      body(node.env());
    });
    const sim::WorldResult result = world.Run();
    EXPECT_EQ(result.verdict, sim::WorldVerdict::kDone) << result.report;
  }
};

}  // namespace vigil::contracts

#endif  // VIGIL_PROPERTIES_CONTRACTS_PLACES_H_
