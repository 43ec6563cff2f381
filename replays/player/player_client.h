// Whoever plays instead of our own core: a command that speaks the player protocol (docs/players.md).
//
// It is started when it is first needed, and again after it has died or had to be killed. What is wrong with it is a
// finding about the scenario in hand: the verdict kPlayerFailed, and a violated rule "player.late", "player.died",
// "player.garbage", "player.too_much", "player.unasked", "player.nonsense" or "player.does_not_start". What it cannot
// play is kCannot, with the reason. After kMostFailures in a row nothing more is asked of it.
//
// Thread safety: belongs to one thread. REQUIRES: the process has one thread while a player is being started, but for
// one that waits for signals.
#ifndef VIGIL_REPLAYS_PLAYER_PLAYER_CLIENT_H_
#define VIGIL_REPLAYS_PLAYER_PLAYER_CLIENT_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/player/player_process.h"
#include "vigil/replays/player/protocol.h"
#include "vigil/replays/stage/outcome.h"
#include "vigil/replays/stage/played.h"

namespace vigil::replays {

// How a play is asked for.
struct PlayAsk {
  bool random = false;  // a schedule by chance
  std::int64_t lives = 1;
  const std::atomic<bool>* interrupt = nullptr;  // once it is set, it ends early, with the verdict kInterrupted
  HookSaid* hook = nullptr;                      // what it says of its own hook
};

struct PlayerOptions {
  std::string command;                        // for the shell; "" = our own core plays
  std::string task_program = {};              // ... clusters by processes of that program, vigil-task; "" = simulated
  std::string keep = {};                      // the folder in which these leave what they wrote and said; "" = nowhere
  std::string plant = {};                     // the planted bug that is on in these; "" = none
  std::chrono::milliseconds greets{120'000};  // so long it may take to start
  std::chrono::milliseconds plays{60'000};    // ... to play one scenario
};

inline constexpr int kMostFailures = 5;

// Whether it names what was wrong with a player: "player.late".
bool IsPlayerRule(std::string_view rule);

class PlayerClient {
 public:
  explicit PlayerClient(PlayerOptions options);
  ~PlayerClient();

  // Starts it, if it is not there. UNAVAILABLE: it does not start, or does not greet as it should; the message says
  // why. Once `interrupt` (may be null) is set, it is given up.
  absl::StatusOr<Greeting> Greet(const std::atomic<bool>* interrupt = nullptr);

  void Play(const Scenario& scenario, const PlayAsk& ask, PlainOutcome& outcome, Played& played);

 private:
  std::optional<PlayerFault> Start(const std::atomic<bool>* interrupt);
  void Failed(const PlayerFault& fault, PlainOutcome& outcome);

  const PlayerOptions options_;
  std::unique_ptr<PlayerProcess> process_;
  std::optional<Greeting> greeting_;  // of the first that greeted: it is always the same command
  std::string last_words_;            // of the one that failed last
  std::int64_t plays_ = 0;
  int failures_ = 0;  // in a row
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAYER_PLAYER_CLIENT_H_
