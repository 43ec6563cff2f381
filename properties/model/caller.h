// The caller of a modelled session: executes a scenario's statements. Thread safety: none.
#ifndef VIGIL_PROPERTIES_MODEL_CALLER_H_
#define VIGIL_PROPERTIES_MODEL_CALLER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "vigil/properties/model/session_layers.h"

namespace vigil::properties::model {

class CallerModel {
 public:
  CallerModel(World& world, SessionModel& session) : world_(world), session_(session), start_(world.now()) {}
  // One after the other, until one fails whose error is not caught.
  Code Execute(const std::vector<replays::Statement>& statements);

 private:
  static RunRequest RequestOf(const replays::Statement& statement);
  void SayResult(std::string_view who, const replays::Statement& statement, const RunAnswer& answer);
  Code One(const replays::Statement& statement);
  Code Run(const replays::Statement& statement);
  Code Loop(const replays::Statement& statement);
  Code AskShouldStop(bool& yes);
  Code Step(const replays::Statement& statement);
  Code InStep(StepContext& context, const replays::Statement& statement);

  World& world_;
  SessionModel& session_;
  const double start_;
};

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_CALLER_H_
