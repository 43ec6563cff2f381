// The caller of a modelled session: executes a scenario's statements. Thread safety: none.
#ifndef VIGIL_PROPERTIES_MODEL_CALLER_H_
#define VIGIL_PROPERTIES_MODEL_CALLER_H_

#include "vigil/properties/model/session_layers.h"
#include "vigil/properties/model/statements.h"

namespace vigil::properties::model {

class CallerModel : public Statements {
 public:
  CallerModel(World& world, SessionModel& session) : Statements(world), session_(session) {}

 private:
  static RunRequest RequestOf(const replays::Statement& statement);
  void Next() override { session_.ForgetOrigin(); }
  StopAnswer ShouldStop() override { return session_.ShouldStop(); }
  Code Run(const replays::Statement& statement) override;
  Code Close() override { return session_.Close(); }
  Code Own(const replays::Statement& statement) override;
  Code Step(const replays::Statement& statement);
  Code InStep(StepContext& context, const replays::Statement& statement);

  SessionModel& session_;
};

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_CALLER_H_
