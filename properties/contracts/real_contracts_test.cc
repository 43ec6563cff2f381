// The contracts of the seams, over the operating system: the same bodies as contracts_test.cc, in bounded real time.
#include <cstdlib>
#include <filesystem>

#include "vigil/core/env/in_process_network.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/properties/contracts/clock_contract.h"
#include "vigil/properties/contracts/files_contract.h"
#include "vigil/properties/contracts/network_contract.h"
#include "vigil/properties/contracts/other_contracts.h"
#include "vigil/properties/contracts/places.h"
#include "vigil/properties/contracts/tasks_contract.h"

namespace vigil::contracts {

class RealPlace {
 public:
  RealPlace() : directory_(testing::TempDir() + "vigil-XXXXXX") {
    if (mkdtemp(directory_.data()) == nullptr) ADD_FAILURE() << "no temporary directory";
  }
  ~RealPlace() { std::filesystem::remove_all(directory_); }

  static Duration Tick() { return std::chrono::milliseconds(5); }
  const std::string& directory() const { return directory_; }
  void Run(const Body& body) {
    Env env = real_.env();
    env.network = &network_;
    body(env);
  }

 private:
  RealEnv real_;
  InProcessNetwork network_{*real_.env().tasks, kContractLimits};
  std::string directory_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Real, ClockContract, RealPlace);
INSTANTIATE_TYPED_TEST_SUITE_P(Real, TasksContract, RealPlace);
INSTANTIATE_TYPED_TEST_SUITE_P(Real, FilesContract, RealPlace);
INSTANTIATE_TYPED_TEST_SUITE_P(Real, RandomContract, RealPlace);
INSTANTIATE_TYPED_TEST_SUITE_P(Real, LogContract, RealPlace);
INSTANTIATE_TYPED_TEST_SUITE_P(Real, ProcessContract, RealPlace);
INSTANTIATE_TYPED_TEST_SUITE_P(Real, NetworkContract, RealPlace);

}  // namespace vigil::contracts
