// What the callers of modelled sessions and supervisors have in common: they execute a scenario's statements.
// Thread safety: none.
#ifndef VIGIL_PROPERTIES_MODEL_STATEMENTS_H_
#define VIGIL_PROPERTIES_MODEL_STATEMENTS_H_

#include <string_view>
#include <vector>

#include "vigil/properties/model/session_layers.h"
#include "vigil/properties/model/world.h"

namespace vigil::properties::model {

class Statements {
 public:
  explicit Statements(World& world) : world_(world) {}
  virtual ~Statements() = default;
  Statements(const Statements&) = delete;
  Statements& operator=(const Statements&) = delete;

  // One after the other, until one fails whose error is not caught.
  Code Execute(const std::vector<replays::Statement>& statements);

 protected:
  // Says the answer.
  Code AskShouldStop(bool& yes);
  void SayResult(std::string_view who, const replays::Statement& statement, const RunAnswer& answer);

  World& world_;

 private:
  Code One(const replays::Statement& statement);
  Code Loop(const replays::Statement& statement);

  // Before each statement.
  virtual void Next() {}
  virtual StopAnswer ShouldStop() = 0;
  // One of the statement's runs, its result said.
  virtual Code Run(const replays::Statement& statement) = 0;
  virtual Code Close() = 0;
  // What only this caller has.
  virtual Code Own(const replays::Statement& statement) = 0;
};

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_STATEMENTS_H_
