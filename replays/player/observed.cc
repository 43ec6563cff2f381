#include "vigil/replays/player/observed.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "vigil/replays/format/fields.h"

namespace vigil::replays {
namespace {

constexpr Range<std::int64_t> kJobs = {1, kMostObservedJobs};

void ReadNames(const Field& field, std::vector<std::string>& names) {
  field.Each(
      [&](const Json& item, const Place& place) { Field(field.reading(), item, place).Name(names.emplace_back()); });
}

void ReadSupervisor(const Field& field, std::optional<ObservedSupervisor>& read) {
  if (!field.present()) return;
  ObservedSupervisor& of = read.emplace();
  Fields fields(field.reading(), field.value(), field.place());
  fields.Required("by_hand").Bool(of.by_hand);
  fields.Required("initialises").Bool(of.initialises);
  fields.Required("asks_ready").Bool(of.asks_ready);
  fields.Finish();
}

}  // namespace

absl::Status ObservedReader::Read(std::string_view line) {
  if (const absl::Status status = document_.Parse(line); !status.ok()) return status;
  Reading reading;
  const Place root;
  Fields fields(reading, document_.root(), root);
  if (!begun_) {
    ReadFormat(fields);
    return reading.status();
  }
  const Field job = fields.Optional("job");
  const Field of = fields.Optional("of");
  if (reading.ok() && job.present() == of.present()) {
    reading.Fail(root, "expected \"job\", which begins one, or \"of\", which goes on with one");
  } else if (job.present()) {
    ReadJob(fields, job);
  } else {
    ReadEvent(fields, of);
  }
  return reading.status();
}

void ObservedReader::ReadFormat(Fields& fields) {
  std::int64_t format = 0;
  const Field observed = fields.Required("observed");
  observed.Integer({0, 1'000'000}, format);
  fields.Finish();
  begun_ = observed.present();
  if (begun_ && format != kObservedFormat)
    observed.Fail(fmt::format("this program reads format {}, not {}", kObservedFormat, format));
}

void ObservedReader::ReadJob(Fields& fields, const Field& job) {
  auto read = std::make_unique<ObservedJob>();
  std::int64_t number = 0;
  job.Integer(kJobs, number);
  const auto next = static_cast<std::int64_t>(jobs_.size()) + 1;
  if (job.present() && number != next) return job.Fail(fmt::format("expected job {}, got {}", next, number));
  ReadNames(fields.Required("hooks"), read->hooks);
  ReadNames(fields.Optional("listeners"), read->listeners);
  fields.Required("recovers").Bool(read->recovers);
  fields.Required("worker").Bool(read->worker);
  fields.Required("remote").Bool(read->remote);
  fields.Required("init_fn").Bool(read->init_fn);
  fields.Required("queue").Bool(read->queue);
  fields.Required("may_restore").Bool(read->may_restore);
  fields.Required("saves_something").Bool(read->saves_something);
  ReadSupervisor(fields.Optional("supervisor"), read->supervisor);
  fields.Finish();
  if (!job.reading().ok()) return;
  EventCast cast{
      read->hooks.size(), {read->hooks.begin(), read->hooks.end()}, {read->listeners.begin(), read->listeners.end()}};
  readers_.emplace_back(std::move(cast), Time(), read->trace);
  jobs_.push_back(std::move(read));
}

void ObservedReader::ReadEvent(Fields& fields, const Field& of) {
  std::int64_t number = 0;
  of.Integer(kJobs, number);
  const Field event = fields.Optional("event");
  const Field ends = fields.Optional("ends");
  bool ended = false;
  ends.Bool(ended);
  fields.Finish();
  if (!of.present()) return;
  if (number > static_cast<std::int64_t>(jobs_.size())) return of.Fail(fmt::format("job {} has not begun", number));
  if (event.present() == ends.present()) return of.Fail("expected \"event\" or \"ends\" beside it");
  const std::size_t index = static_cast<std::size_t>(number) - 1;
  if (event.present()) {
    readers_[index].Read(event);
  } else {
    jobs_[index]->ended = ended;
  }
}

}  // namespace vigil::replays
