// The contracts of the seams, over the fakes and the simulator.
#include "vigil/properties/contracts/clock_contract.h"
#include "vigil/properties/contracts/files_contract.h"
#include "vigil/properties/contracts/network_contract.h"
#include "vigil/properties/contracts/other_contracts.h"
#include "vigil/properties/contracts/places.h"
#include "vigil/properties/contracts/tasks_contract.h"

namespace vigil::contracts {

using VirtualPlaces = testing::Types<FakePlace, SimulatedPlace>;
INSTANTIATE_TYPED_TEST_SUITE_P(Virtual, ClockContract, VirtualPlaces);
INSTANTIATE_TYPED_TEST_SUITE_P(Virtual, TasksContract, VirtualPlaces);
INSTANTIATE_TYPED_TEST_SUITE_P(Virtual, FilesContract, VirtualPlaces);
INSTANTIATE_TYPED_TEST_SUITE_P(Virtual, RandomContract, VirtualPlaces);
INSTANTIATE_TYPED_TEST_SUITE_P(Virtual, LogContract, VirtualPlaces);
INSTANTIATE_TYPED_TEST_SUITE_P(Virtual, ProcessContract, VirtualPlaces);
INSTANTIATE_TYPED_TEST_SUITE_P(Virtual, NetworkContract, VirtualPlaces);

}  // namespace vigil::contracts
