// Statements of the caller.
#include <array>
#include <initializer_list>
#include <string>

#include "fmt/format.h"
#include "vigil/replays/format/objects.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/services.h"
#include "vigil/replays/format/value_types.h"

namespace vigil::replays {
namespace {

// Who says a statement decides which ones there are. Who prints them does not ask who said them: anybody.
enum Speaker : unsigned { kSession = 1, kStep = 2, kSupervisor = 4, kAnybody = 7 };

std::string_view SpeakerName(Speaker speaker) {
  if (speaker == kStep) return "a step";
  return speaker == kSession ? "a session" : "a supervisor";
}

unsigned SpeakersOf(Op op) {
  switch (op) {
    case Op::kRun:
    case Op::kLoop:
    case Op::kShouldStop:
    case Op::kClose:
    case Op::kAdvance:
    case Op::kClock:
      return kSession | kSupervisor;
    case Op::kRaise:
      return kAnybody;
    case Op::kStep:
      return kSession;
    case Op::kRawRun:
    case Op::kRunWithHooks:
      return kStep;
    case Op::kRequestStop:
      return kStep | kSupervisor;
    default:
      return kSupervisor;
  }
}

class OpType : public EnumType<Op> {
 public:
  explicit OpType(Speaker speaker) : EnumType(kOps, "statement"), speaker_(speaker) {}
  void Read(const Field& field, Op& out) const override {
    EnumType::Read(field, out);
    if ((SpeakersOf(out) & speaker_) != 0) return;
    std::string known;
    for (const auto& entry : kOps) {
      if ((SpeakersOf(entry.value) & speaker_) != 0) Field::AppendKnown(known, entry.name);
    }
    field.Fail(
        fmt::format("'{}' is no statement of {}; known there: {}", NameOf(kOps, out), SpeakerName(speaker_), known));
  }

 private:
  Speaker speaker_;
};

// A name that is in no graph is kept apart.
class StatementFetch : public Typed<Statement> {
 public:
  void Read(const Field& field, Statement& out) const override {
    FetchSpec fetch;
    FetchType().Read(field, fetch);
    out.fetch_missing = fetch.name == "missing";
    if (!out.fetch_missing) out.fetch = std::move(fetch);
  }
  void Print(JsonWriter& w, const Statement& s) const override {
    if (s.fetch_missing) return kText.Print(w, "missing");
    if (s.fetch.has_value()) FetchType().Print(w, *s.fetch);
  }
  bool Missing(const Statement& s, const Statement& /*missing*/) const override {
    return !s.fetch_missing && !s.fetch.has_value();
  }
  std::string Words() const override { return FetchType().Words(); }
};

class Body : public Typed<std::vector<Statement>> {
 public:
  explicit constexpr Body(Speaker speaker, int depth = 0) : speaker_(speaker), depth_(depth) {}
  void Read(const Field& field, std::vector<Statement>& out) const override;
  void Print(JsonWriter& w, const std::vector<Statement>& body) const override;
  std::string Words() const override { return "list: statement"; }

 private:
  Speaker speaker_;
  int depth_;
};

class StatementObject : public Object<Statement> {
 public:
  explicit StatementObject(Speaker speaker = kAnybody, int depth = 0) : speaker_(speaker), depth_(depth) {}

  void Describe(Described<Statement>& f) const override {
    f.First().Deciding("op", &Statement::op, OpType(speaker_), "which statement it is");
    f.Last().Optional("catch", &Statement::catch_error, kFlag, "the caller catches its error");
    f.First()
        .When((speaker_ & kStep) != 0, "any, in a step function")
        .Optional("on_call", &Statement::on_call, kCall, "only in this call of the function within the `step`");
    DescribeRun(f);
    DescribeSupervisor(f);
    Of(f, {Op::kLoop}, "loop")
        .Required("max", &Statement::max, kCount, "at most so many rounds while should_stop is false");
    f.First().When(f.value().op == Op::kRaise, "raise").Required("code", &Statement::code, kErrorCode, "of the error");
    f.First()
        .When(f.value().op == Op::kRequestStop && (speaker_ & kSupervisor) != 0, "request_stop")
        .Optional("code", &Statement::code, kErrorCode, "of a supervisor: with this error");
    const Op op = f.value().op;
    Of(f, {Op::kLoop, Op::kGuarded}, "loop, guarded")
        .Last()
        .Required("body", &Statement::body, Body(speaker_, depth_), "what is done in it");
    f.Last().When(op == Op::kStep, "step").Required("body", &Statement::body, Body(kStep, depth_), "the step function");
  }

 private:
  static Described<Statement> Of(const Described<Statement>& f, std::initializer_list<Op> ops, std::string_view of) {
    bool applies = false;
    for (const Op op : ops) applies = applies || f.value().op == op;
    return f.When(applies, of);
  }
  // What a run is given; one without hooks takes neither feeds nor options here.
  void DescribeRun(const Described<Statement>& f) const {
    const auto runs = Of(f, {Op::kRun, Op::kRunWithHooks}, "run, run_with_hooks");
    Of(f, {Op::kRun}, "run").Optional("times", &Statement::times, kCount, "so often");
    runs.Optional("fetch", StatementFetch(),
                  "what the caller fetches; missing: `{\"step\": \"train\", \"fed\": \"fed\"}`");
    const bool with_hooks = f.value().op == Op::kRunWithHooks || f.value().op == Op::kRun;
    const auto hooked = f.When(with_hooks && speaker_ != kSupervisor, "run (of a session), run_with_hooks");
    hooked.First().Optional("feed", &Statement::feed, kValue, "what it feeds");
    hooked.Optional("options", &Statement::options, RunOptionsType(), "with these RunOptions");
    hooked.Optional("metadata", &Statement::metadata, kFlag, "says whether the run was traced");
  }
  static void DescribeSupervisor(const Described<Statement>& f) {
    const auto loop = Of(f, {Op::kStartLoop}, "start_loop");
    loop.Required("every_secs", &Statement::every_secs, kSecs, "a task is called so often");
    loop.Optional("secs", &Statement::secs, kSecs, "each call takes so long");
    loop.First().Optional("code", &Statement::code, kErrorCode, "... and fails with it");
    Of(f, {Op::kAdvance, Op::kStartThread}, "advance, start_thread")
        .Required("secs", &Statement::secs, kSecs, "virtual seconds that pass, or for which the task hears of no stop");
    Of(f, {Op::kPrepare}, "prepare")
        .Optional("max_wait_secs", &Statement::max_wait_secs, kSecs, "of PrepareOrWaitForSession");
    const auto stop = Of(f, {Op::kStop}, "stop");
    stop.Optional("close_summary_writer", &Statement::close_summary_writer, kFlag, "as in TensorFlow");
    stop.Optional("ignore_live_threads", &Statement::ignore_live_threads, kFlag, "as in TensorFlow");
    Of(f, {Op::kService}, "service")
        .Required("name", &Statement::name, OneOfType(kServiceNames), "the service that does one pass");
    Of(f, {Op::kSummaryComputed}, "summary_computed").Optional("step", &Statement::step, kStepNumber, "of which step");
  }

  Speaker speaker_;
  int depth_;
};

void Body::Read(const Field& field, std::vector<Statement>& out) const {
  if (depth_ > kMaxBodyDepth) return field.Fail(fmt::format("bodies are nested deeper than {}", kMaxBodyDepth));
  ListOf<Statement>(StatementObject(speaker_, depth_ + 1)).Read(field, out);
}

void Body::Print(JsonWriter& w, const std::vector<Statement>& body) const {
  ListOf<Statement>(StatementObject()).Print(w, body);
}

}  // namespace

const Typed<std::vector<Statement>>& StatementsType(SessionKind kind) {
  static const Body session(kSession);
  static const Body supervisor(kSupervisor);
  return kind == SessionKind::kSupervisor ? supervisor : session;
}

void AppendStatementObjects(std::vector<DocumentedObject>& objects) {
  objects.push_back({"a statement", WalkObject<StatementObject, Statement>});
}

}  // namespace vigil::replays
