// The modelled services of a supervisor, pass by pass. Thread safety: none.
#ifndef VIGIL_PROPERTIES_MODEL_SUPERVISOR_SERVICES_H_
#define VIGIL_PROPERTIES_MODEL_SUPERVISOR_SERVICES_H_

#include <memory>
#include <string_view>

#include "vigil/properties/model/supervisor.h"
#include "vigil/properties/model/world.h"

namespace vigil::properties::model {

class ServiceModel {
 public:
  virtual ~ServiceModel() = default;
  // Before the first pass.
  virtual Code Start() { return Code::kOk; }
  virtual Code Pass() = 0;
};

// Keeps the session, which may be null. Leaves `made` null if the service cannot be made.
Code NewService(World& world, const SupervisorModel& supervisor, std::string_view name, const RawSessionPtr& session,
                std::unique_ptr<ServiceModel>& made);

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_SUPERVISOR_SERVICES_H_
