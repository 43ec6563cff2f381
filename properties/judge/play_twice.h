// Plays a drawn scenario by chance, then by the choices that were made: both must be the same run.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_JUDGE_PLAY_TWICE_H_
#define VIGIL_PROPERTIES_JUDGE_PLAY_TWICE_H_

#include <atomic>
#include <functional>
#include <string>

#include "vigil/replays/format/scenario.h"
#include "vigil/replays/play/runner.h"

namespace vigil::properties {

using Play = std::function<replays::Outcome(const replays::Scenario&, const replays::RunnerOptions&)>;

// The outcome of the first play; interrupted, if one of them was. If the second has another hash, its reason says so
// and its explanation is FirstDifference().
replays::Outcome PlayTwice(const Play& play, replays::Scenario scenario, const std::atomic<bool>* interrupt = nullptr);

// Where two plays part, indented lines, each with its newline: the first event that is not the same, on both sides,
// with its number, its virtual time, its task and all that it holds; else the first choice. Neither: what differs is
// between events.
//     first    event 12       3.200 worker:0/main  run begins
//     second   event 12       3.200 chief:0/main  run begins
std::string FirstDifference(const replays::Outcome& first, const replays::Outcome& second);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_JUDGE_PLAY_TWICE_H_
