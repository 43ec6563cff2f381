// A monitored session is no raw session: savers do not take it. Shown at compile time.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/session/session.h"
#include "vigil/core/train/monitored_session.h"

namespace vigil {
namespace {

template <typename S>
concept CanBeSaved = requires(Saver saver, S& session, const std::string& path, std::optional<std::int64_t> step) {
  saver.Save(session, path, step);
};
template <typename S>
concept CanBeRestored = requires(Saver saver, S& session, const std::string& path) {
  saver.Restore(session, path);
};

static_assert(CanBeSaved<Session> && CanBeRestored<Session>);
static_assert(!CanBeSaved<MonitoredSession> && !CanBeRestored<MonitoredSession>);
static_assert(!CanBeSaved<SingularMonitoredSession> && !CanBeRestored<SingularMonitoredSession>);

TEST(SaverRefusalTest, Compiles) { SUCCEED(); }

}  // namespace
}  // namespace vigil
