// Why something happened: what was played as a graph of things, each with links to what was right before it, and the
// walk back from one of them to the fault that is in its past.
//
// Links are facts of the play, none is a guess:
//   of an event      the event before it in the same task; of the first of a task, the begin of its node's life
//   of an error      what came of the node's messages since the event before it: a refusal, a broken connection, the
//                    news that a peer is gone, what was sent and never arrived; without any of these the newest reply.
//                    The faults that began at its node since then, or struck its disk or this very call
//   of a message     the timed fault in force at one of its ends when it was sent or arrived, the fault of its request,
//                    and the last thing that the main task of its sender had done; of a reply also what its sender met
//                    of others, and on its disk, since it was asked
//   of a life        the crash before it, or that the process before it was taken for dead
//   of a violation   the event that proves it, or what its node had come to; of one that is about files (checkpoint.x,
//                    restore.x, disk.x) also the last crash that took what was not synced, of whoever shares them
// What stands in a chain is in the past of what stands below it. That it had to lead there is for the reader to see.
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_SHOW_CAUSES_H_
#define VIGIL_REPLAYS_SHOW_CAUSES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/time.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/stage/played.h"

namespace vigil::replays {

struct Cause {
  enum class Kind { kFault, kMessage, kError, kDecision, kEvent, kViolation };
  Kind kind = Kind::kEvent;
  Duration at{0};                      // since the start of the world
  std::string node = {};               // "" = none
  std::string task = {};               // without its node; "" = the main one
  std::string text = {};               // escaped
  std::vector<std::size_t> past = {};  // numbers of causes, each no later than this
  bool takes_files = false;            // of a fault
  // What it is of the play: an event of the trace, a message of the log.
  std::optional<std::size_t> event = std::nullopt;
  std::optional<std::size_t> message = std::nullopt;
};

struct CauseGraph {
  std::vector<Cause> causes = {};
  std::vector<std::size_t> of_events = {};                // for each event of the trace its cause
  std::optional<Duration> messages_until = std::nullopt;  // what was sent later was too much to be kept
};

// Of a cluster better with its message log: without it an error has no messages in its past.
CauseGraph CausesOf(const Scenario& scenario, const Played& played);

// Adds a violation at the end of that event: a rule that is broken there. REQUIRES: event < graph.of_events.size().
std::size_t AddViolation(std::string_view rule, std::size_t event, CauseGraph& graph);
// The same of what no event proves: it is what `node` had come to then; without a time at the end, and if no node is
// called so, what any had.
std::size_t AddViolation(std::string_view rule, std::string_view node, std::optional<Duration> at, CauseGraph& graph);

inline constexpr std::size_t kLongestChain = 12;

struct CauseChain {
  std::vector<Cause> causes = {};  // oldest first; the last is what was asked for
  std::size_t left_out = 0;        // in the middle of a longer one, behind the first `kept_first`
  std::size_t kept_first = 0;
  bool from_a_fault = false;
  std::optional<Duration> messages_until = std::nullopt;  // the graph's, if what happened is later
};
// From `from` back to the newest error in its past, unless it is one itself (an older one may have come of something
// else), and from there to the newest fault in the past of that; if there is none, to the newest fault in the past of
// `from`. Or straight to what took files, if that is newer. Events between them that are none of these are passed over.
CauseChain WalkBack(const CauseGraph& graph, std::size_t from, std::size_t most = kLongestChain);

// "  12.500  fault      crash ps:0", a line each, without newlines; the first ones say so if no fault is in the past,
// or messages are missing.
std::vector<std::string> ChainText(const CauseChain& chain);
// [{"at_s":12.5,"kind":"fault","node":"ps:0","task":"","text":"crash ps:0"},...]; what is an event has also its number
// as "event", from 1 as `vigil replay --why` takes it.
std::string ChainJson(const CauseChain& chain);
// "worker:0/queue", "worker:0", "": where that was.
std::string WhereOf(const Cause& cause);

std::string_view CauseKindName(Cause::Kind kind);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_SHOW_CAUSES_H_
