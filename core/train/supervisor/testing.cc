#include "vigil/core/train/supervisor/testing.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/io/event.pb.h"
#include "vigil/core/io/record_reader.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/training_util.h"

namespace vigil {
namespace {

std::string TextOf(const proto::Summary& summary) {
  std::string text;
  for (const proto::Summary::Value& value : summary.value())
    text += fmt::format(" {}={:g}", value.tag(), value.simple_value());
  return text;
}

std::string StatusName(int status) {
  return proto::SessionLog::SessionStatus_Name(static_cast<proto::SessionLog::SessionStatus>(status));
}

std::string TextOf(const proto::Event& event) {
  switch (event.what_case()) {
    case proto::Event::kFileVersion:
      return "version";
    case proto::Event::kGraphDef:
      return "graph";
    case proto::Event::kMetaGraphDef:
      return "meta_graph";
    case proto::Event::kSessionLog:
      return fmt::format("{} step={}", StatusName(event.session_log().status()), event.step());
    case proto::Event::kSummary:
      return fmt::format("summary step={}{}", event.step(), TextOf(event.summary()));
    default:
      return event.ShortDebugString();
  }
}

}  // namespace

TestFactory::TestFactory(const Env& env, std::shared_ptr<ResourceManager> shared)
    : env_(env), shared_(std::move(shared)) {}

absl::StatusOr<std::unique_ptr<Session>> TestFactory::Create(const Graph& graph, const std::string& master,
                                                             const SessionConfig& config) {
  ++created;
  seen = {master, config};
  if (before_create != nullptr) {
    const absl::Status status = before_create();
    if (!status.ok()) return status;
  }
  return NewDirectSession(env_, graph, {.shared_resources = shared_});
}

SupervisorTest::SupervisorTest() {
  const absl::StatusOr<Output> step = CreateGlobalStep(env(), b_);
  EXPECT_TRUE(step.ok()) << step.status();
  step_ = *step;
  train_ = ops::AssignAdd(b_, "train", step_, b_.Const("one", Tensor::Scalar<std::int64_t>(1)));
}

ops::Variable SupervisorTest::Variable(const std::string& name, std::int64_t value, CollectionKey<Output> collection) {
  return ops::MakeVariable(b_, name, b_.Const(name + "_value", Tensor::Scalar<std::int64_t>(value)), collection);
}

std::unique_ptr<Supervisor> SupervisorTest::Make(SupervisorOptions options) {
  EXPECT_TRUE(b_.status().ok()) << b_.status();
  absl::StatusOr<std::unique_ptr<Supervisor>> made = Supervisor::Create(env(), graph_, std::move(options));
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? *std::move(made) : nullptr;
}

SessionPtr SupervisorTest::Prepare(Supervisor& supervisor, const PrepareSessionOptions& options) {
  absl::StatusOr<SessionPtr> session = supervisor.PrepareOrWaitForSession(options);
  EXPECT_TRUE(session.ok()) << session.status();
  return session.ok() ? *std::move(session) : nullptr;
}

std::string SupervisorTest::Value(Session& session, Output of) {
  const absl::StatusOr<Tensor> value = RunFetch(session, of);
  return value.ok() ? fmt::to_string(value->scalar<std::int64_t>()) : std::string(CodeName(CodeOf(value.status())));
}

std::vector<std::string> SupervisorTest::EventsFiles() {
  std::vector<std::string> paths;
  const auto names = fake_.files.List(kLogdir);
  EXPECT_TRUE(names.ok()) << names.status();
  for (const std::string& name : *names) {
    if (name.starts_with("events.out.")) paths.push_back(JoinPath(kLogdir, name));
  }
  return paths;
}

std::vector<std::string> SupervisorTest::Events(const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadAll(fake_.files, path);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  std::vector<std::string> lines;
  RecordReader reader(*bytes);
  while (true) {
    const auto record = reader.Next();
    EXPECT_TRUE(record.ok()) << record.status();
    if (!record.ok() || !record->has_value()) return lines;
    proto::Event event;
    EXPECT_TRUE(event.ParseFromArray((*record)->data(), static_cast<int>((*record)->size())));
    lines.push_back(TextOf(event));
  }
}

}  // namespace vigil
