// The caller of a modelled supervisor: executes a scenario's statements on the plain session. Thread safety: none.
#ifndef VIGIL_PROPERTIES_MODEL_SUPERVISOR_CALLER_H_
#define VIGIL_PROPERTIES_MODEL_SUPERVISOR_CALLER_H_

#include <map>
#include <memory>
#include <string>

#include "vigil/properties/model/statements.h"
#include "vigil/properties/model/supervisor.h"
#include "vigil/properties/model/supervisor_services.h"

namespace vigil::properties::model {

class SupervisorCallerModel : public Statements {
 public:
  SupervisorCallerModel(World& world, SupervisorModel& supervisor) : Statements(world), supervisor_(supervisor) {}

  // The scope with the statements of `drive` in it; what came out of it.
  Code Drive();

 private:
  void Next() override { supervisor_.NextStatement(); }
  StopAnswer ShouldStop() override;
  Code Run(const replays::Statement& statement) override;
  Code Close() override;
  Code Own(const replays::Statement& statement) override;
  Code Prepare(const replays::Statement& statement);
  Code Guarded(const replays::Statement& statement);
  Code Stop(const replays::Statement& statement);
  Code StartServices();
  Code Service(const replays::Statement& statement);
  void SaySession();

  SupervisorModel& supervisor_;
  RawSessionPtr session_;  // of the last prepare that worked
  std::map<std::string, std::unique_ptr<ServiceModel>, std::less<>> services_;
};

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_SUPERVISOR_CALLER_H_
