// The modelled session manager: how a raw session comes into being and gets ready, for sessions and for supervisors.
//
// Each method says its lines and returns how it ended. Thread safety: none.
#ifndef VIGIL_PROPERTIES_MODEL_SESSION_MANAGER_H_
#define VIGIL_PROPERTIES_MODEL_SESSION_MANAGER_H_

#include <cstdint>
#include <optional>

#include "vigil/properties/model/world.h"

namespace vigil::properties::model {

class SessionManagerModel {
 public:
  struct Options {
    bool directory = false;  // a checkpoint that is found there is restored
    std::optional<std::int64_t> filename = std::nullopt;
    bool saver = true;  // without one nothing is restored
    bool ready_for_local_init =
        true;  // it is asked, before the local initialisation, whether the model is ready for it
    double recovery_wait_secs = 30;
  };
  SessionManagerModel(World& world, Options options) : world_(world), options_(options) {}

  // The chief's: restores or initialises.
  Code Prepare(RawSessionPtr& made);
  // A worker's: until the chief has made the model ready.
  Code Wait(double max_wait_secs, RawSessionPtr& made);

  double waited() const { return waited_; }  // of all waits for a chief

 private:
  Code MakeReady(RawSession& made);
  void CloseUnready(RawSession& session);
  Code Initialize(RawSession& session);
  Code Restore(RawSession& session, bool& restored);
  Code RestoreNewestWhole(RawSession& session, bool& restored);
  Code RestoreFile(RawSession& session, std::int64_t name);
  Code IsReady(RawSession& session, FaultPoint which, bool& ready);
  Code TryLocalInit(RawSession& session, bool& done);

  World& world_;
  const Options options_;
  double waited_ = 0;
};

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_SESSION_MANAGER_H_
