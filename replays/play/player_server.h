// Our own core as a player (docs/players.md): reads questions, plays, answers, until there are no more.
//
// Thread safety: belongs to one thread.
#ifndef VIGIL_REPLAYS_PLAY_PLAYER_SERVER_H_
#define VIGIL_REPLAYS_PLAY_PLAYER_SERVER_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "vigil/replays/player/protocol.h"
#include "vigil/replays/traces/stream.h"

namespace vigil::replays {

// What our own core can play for others.
Greeting OwnGreeting(std::string_view version);

// `answer`: writes a line, its newline included, and all before it. INVALID_ARGUMENT: a line that is no question; what
// came before it was answered.
absl::Status ServePlays(const ChunkSource& questions, const std::string& version,
                        const std::function<absl::Status(const std::string&)>& answer);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAY_PLAYER_SERVER_H_
