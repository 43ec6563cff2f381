#include "vigil/replays/play/play.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/replays/crew/crew.h"
#include "vigil/replays/format/json.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/play/packed_result.h"
#include "vigil/replays/traces/trace_file.h"

namespace vigil::replays {
namespace {

using Ids = std::set<std::string, std::less<>>;

// What a worker sends back of a record.
struct PlayedRecord {
  Result result;
  bool skipped = false;  // it is not wanted
};

template <typename Archive>
void PackFields(Archive& archive, PlayedRecord& played) {
  archive(played.result, played.skipped);
}

absl::StatusOr<Recording> Parsed(const RawRecord& raw, JsonDocument& scratch) {
  if (!raw.error.ok()) return raw.error;
  return raw.is_trace ? ParseTrace(raw.text, raw.source) : ParseRecording(raw.text, raw.source, raw.record, scratch);
}

// Parts of a request, so that one who crashes says where it was.
constexpr std::uint64_t kPlaying = 1;

PlayedRecord PlayRecord(const RawRecord& raw, const Ids& only, JsonDocument& scratch, const Player& player) {
  PlayedRecord played;
  Result& result = played.result;
  const absl::StatusOr<Recording> recording = Parsed(raw, scratch);
  if (recording.ok()) {
    const std::string& id = recording->scenario.id;
    played.skipped = (!only.empty() && !only.contains(id)) || (!raw.only.empty() && raw.only != id);
    result.id = id;
    if (!played.skipped) result = Judge(*recording, player(*recording));
    return played;
  }
  result.status = Status::kUnreadable;
  result.source = raw.source;
  result.record = raw.record;
  result.reason = MessageOf(recording.status());
  return played;
}

}  // namespace

PlainOutcome CrashedOutcome(const Crash& crash) {
  PlainOutcome outcome;
  outcome.verdict = Verdict::kCrashed;
  outcome.reason = crash.Line();
  outcome.violated = {crash.rule()};
  outcome.explanation = crash.Stack();
  return outcome;
}

PlaySummary PlayAll(const PlayOptions& options, const PlayCallbacks& callbacks, const std::atomic<bool>& stop) {
  const Ids only(options.only.begin(), options.only.end());
  Ids seen;
  std::shared_ptr<Timeline> timeline;  // it stays where it was made, which must be here
  CrewCallbacks crew;
  crew.read = [&](const std::function<bool(std::string)>& hand_on) {
    callbacks.read([&](const RawRecord& record) { return hand_on(Packed(record)); });
  };
  crew.new_worker = [&](const CrewView& view) -> CrewWorker {
    const Player player = [&, part = view.part, play = callbacks.new_player(view.stop)](const Recording& recording) {
      part(kPlaying);
      return play(recording);
    };
    return [&, player, scratch = std::make_shared<JsonDocument>()](const std::string& request) {
      PlayedRecord played = PlayRecord(Unpacked<RawRecord>(request), only, *scratch, player);
      timeline = std::move(played.result.outcome.timeline);
      return Packed(played);
    };
  };
  crew.on_reply = [&](const std::string& reply) {
    PlayedRecord played = Unpacked<PlayedRecord>(reply);
    if (played.result.outcome.verdict == Verdict::kInterrupted) return false;
    played.result.outcome.timeline = std::move(timeline);
    seen.insert(played.result.id);
    if (!played.skipped) callbacks.on_result(played.result);
    return true;
  };
  crew.on_crash = [&](const std::string& request, std::uint64_t part,
                      const Crash& crash) -> std::optional<std::string> {
    const RawRecord raw = request.empty() ? RawRecord() : Unpacked<RawRecord>(request);
    JsonDocument scratch;
    Result result;
    if (part == kPlaying) {  // else it was the parser: not to be called here
      const absl::StatusOr<Recording> recording = Parsed(raw, scratch);
      if (recording.ok()) result = Judge(*recording, CrashedOutcome(crash));
    }
    if (result.id.empty()) {
      result.source = raw.source;
      result.record = raw.record;
      result.reason = raw.source + ": " + crash.Line();
    }
    seen.insert(result.id);
    callbacks.on_result(result);
    return std::nullopt;
  };
  crew.on_tick = callbacks.on_tick;
  const CrewSummary worked =
      RunCrew({.jobs = options.jobs, .ahead = options.ahead, .limits = options.limits}, crew, stop);
  PlaySummary summary{.stopped = worked.stopped, .given_up = worked.given_up, .unknown_ids = {}};
  if (!worked.stopped && !worked.given_up) {
    std::set_difference(only.begin(), only.end(), seen.begin(), seen.end(), std::back_inserter(summary.unknown_ids));
  }
  return summary;
}

}  // namespace vigil::replays
