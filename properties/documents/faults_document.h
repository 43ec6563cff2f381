// docs/faults.md, made from the list of faults (sim/faults/fault_kinds.h) and what a campaign of the suite cluster met.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_DOCUMENTS_FAULTS_DOCUMENT_H_
#define VIGIL_PROPERTIES_DOCUMENTS_FAULTS_DOCUMENT_H_

#include <cstdint>
#include <string>

#include "vigil/properties/campaign/cluster_tally.h"

namespace vigil::properties {

std::string FaultsDocument(const ClusterTally& tally, std::uint64_t first_seed, std::uint64_t last_seed);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_DOCUMENTS_FAULTS_DOCUMENT_H_
