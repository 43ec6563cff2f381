// The caller of a scenario's session: executes its statements and says so by notes.
#ifndef VIGIL_REPLAYS_STAGE_CALLER_H_
#define VIGIL_REPLAYS_STAGE_CALLER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/env/env.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/stage/model.h"
#include "vigil/replays/stage/notes.h"

namespace vigil::replays {

// The error that a scenario's statement is about.
absl::Status ScriptedError(Code code);

class Caller {
 public:
  // `messages` collects the texts of errors that are for reading (USAGE and NAN_LOSS). All must outlive the caller.
  Caller(const Env& env, const Model& model, std::vector<std::string>& messages)
      : env_(env), start_(env.clock->Monotonic()), model_(model), messages_(messages) {}

  // The statements in order until one fails whose error is not caught.
  absl::Status Execute(MonitoredSessionBase& session, const std::vector<Statement>& statements);

  // Emits a note that carries an error's code, and keeps its message.
  void NoteError(Note note, const absl::Status& error);
  void NotePlain(Note note);
  // How many seconds have passed since the caller came into being.
  void NoteClock();
  // Of a run: step and fed, or what the statement fetches instead. `note`: kResult or kStepResult.
  void NoteResult(Note note, const Statement& statement, const FetchedValues& values);
  // What the statement fetches.
  Fetches FetchesOf(const Statement& statement) const;

 private:
  absl::Status ExecuteOne(MonitoredSessionBase& session, const Statement& statement);
  absl::Status Run(MonitoredSessionBase& session, const Statement& statement);
  absl::Status Loop(MonitoredSessionBase& session, const Statement& statement);
  absl::StatusOr<bool> AskShouldStop(MonitoredSessionBase& session);
  absl::Status Step(MonitoredSessionBase& session, const Statement& statement);
  absl::Status InStep(StepContext& context, const Statement& statement);
  // A run and the notes of its result.
  using RunFunction = std::function<absl::StatusOr<RunResult>(const Fetches&, const Feeds&, const RunOptions&)>;
  absl::Status RunAndNote(const RunFunction& run, const Statement& statement, Note note);
  void NoteText(const std::string& line);
  Feeds FeedsOf(const Statement& statement) const;

  const Env env_;
  const Time start_;
  const Model& model_;
  std::vector<std::string>& messages_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_CALLER_H_
