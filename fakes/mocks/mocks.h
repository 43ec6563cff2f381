// GoogleMock mocks of what a session calls: hooks, listeners, session creators, raw sessions and their factory, savers.
//
//   testing::StrictMock<vigil::fakes::MockHook> hook;
//   vigil::fakes::ExpectLife(hook, {.runs = {2}});          // begin, create, (before, after) x 2, end, in this order
//
// Calls that nobody expects succeed and do nothing. The program links GTest::gmock besides vigil::fakes_mocks.
// Thread safety: as GoogleMock's.
#ifndef VIGIL_FAKES_MOCKS_MOCKS_H_
#define VIGIL_FAKES_MOCKS_MOCKS_H_

#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/session/session.h"
#include "vigil/core/train/hooks/checkpoint_saver_listener.h"
#include "vigil/core/train/session_creator.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil::fakes {

class MockHook : public SessionRunHook {
 public:
  MOCK_METHOD(std::string_view, name, (), (const, override));
  MOCK_METHOD(absl::Status, Begin, (BeginContext&), (override));
  MOCK_METHOD(absl::Status, AfterCreateSession, (const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>&),
              (override));
  MOCK_METHOD(absl::Status, BeforeRun, (RunContext&, RunArgs&), (override));
  MOCK_METHOD(void, Inspect, (const FetchedValues&), (override));
  MOCK_METHOD(absl::Status, AfterRun, (RunContext&, const RunValues&), (override));
  MOCK_METHOD(absl::Status, End, (Session*), (override));
  // Its name is asked for by events and reports at any time.
  MockHook() { EXPECT_CALL(*this, name).Times(testing::AnyNumber()); }
};

class MockListener : public CheckpointSaverListener {
 public:
  MOCK_METHOD(std::string_view, name, (), (const, override));
  MOCK_METHOD(absl::Status, Begin, (BeginContext&), (override));
  MOCK_METHOD(absl::Status, BeforeSave, (Session&, std::int64_t), (override));
  MOCK_METHOD(absl::StatusOr<bool>, AfterSave, (Session&, std::int64_t), (override));
  MOCK_METHOD(absl::Status, End, (Session&, std::int64_t), (override));
  MockListener() {
    EXPECT_CALL(*this, name).Times(testing::AnyNumber());
    ON_CALL(*this, AfterSave).WillByDefault(testing::Return(false));
  }
};

// Hands out what it is told to; else UNIMPLEMENTED.
class MockSessionCreator : public SessionCreator {
 public:
  MOCK_METHOD(absl::StatusOr<SessionPtr>, CreateSession, (), (override));
  MockSessionCreator() {
    ON_CALL(*this, CreateSession).WillByDefault([]() -> absl::StatusOr<SessionPtr> {
      return absl::UnimplementedError("MockSessionCreator was not told what session to make.");
    });
  }
};

// A raw session over a graph, which must outlive it. Its runs succeed and fetch a zero (an int64) for each fetch; once
// closed it says so.
class MockSession : public Session {
 public:
  explicit MockSession(const vigil::Graph& graph, std::int64_t session_number = 1) {
    ON_CALL(*this, number).WillByDefault(testing::Return(session_number));
    ON_CALL(*this, graph).WillByDefault(testing::ReturnRef(graph));
    ON_CALL(*this, closed).WillByDefault([this] { return is_closed_; });
    ON_CALL(*this, Run).WillByDefault([](const RunCall& call, std::vector<Tensor>* fetched) {
      fetched->assign(call.spec.fetches.size(), Tensor::Scalar<std::int64_t>(0));
      return absl::OkStatus();
    });
    ON_CALL(*this, Close).WillByDefault([this] {
      is_closed_ = true;
      return absl::OkStatus();
    });
    // What everybody may look at.
    EXPECT_CALL(*this, number).Times(testing::AnyNumber());
    EXPECT_CALL(*this, graph).Times(testing::AnyNumber());
    EXPECT_CALL(*this, closed).Times(testing::AnyNumber());
  }
  MOCK_METHOD(std::int64_t, number, (), (const, override));
  MOCK_METHOD(const vigil::Graph&, graph, (), (const, override));
  MOCK_METHOD(bool, closed, (), (const, override));
  MOCK_METHOD(absl::Status, Run, (const RunCall&, std::vector<Tensor>*), (override));
  MOCK_METHOD(absl::Status, Close, (), (override));

 private:
  bool is_closed_ = false;
};

class MockSessionFactory : public SessionFactory {
 public:
  MOCK_METHOD(absl::StatusOr<std::unique_ptr<Session>>, Create,
              (const Graph&, const std::string&, const SessionConfig&), (override));
  MockSessionFactory() {
    ON_CALL(*this, Create).WillByDefault([]() -> absl::StatusOr<std::unique_ptr<Session>> {
      return absl::UnimplementedError("MockSessionFactory was not told what session to make.");
    });
  }
};

// A saver that writes no files: Save returns the path that the real one would, Restore succeeds.
class MockSaver : public Saver {
 public:
  explicit MockSaver(const Env& env, SaverOptions saver_options = {}) : Saver(env, std::move(saver_options)) {
    ON_CALL(*this, Save)
        .WillByDefault([](Session&, const std::string& path, std::optional<std::int64_t> step,
                          const SaveOptions&) -> absl::StatusOr<std::string> {
          return step.has_value() ? path + "-" + std::to_string(*step) : path;
        });
  }
  using Saver::Save;
  MOCK_METHOD(absl::Status, Build, (Graph&), (override));
  MOCK_METHOD(absl::StatusOr<std::string>, Save,
              (Session&, const std::string&, std::optional<std::int64_t>, const SaveOptions&), (override));
  MOCK_METHOD(absl::Status, Restore, (Session&, const std::string&), (override));
};

// The life of a hook, as a session promises it.
struct ExpectedLife {
  // How many runs succeed in each raw session. All but the last one end with a preemption: a BeforeRun without its
  // AfterRun.
  std::vector<int> runs = {0};
  bool ends = true;  // the scope is left cleanly
};

// Expects exactly that, in this order. Answers are given by ON_CALL.
inline void ExpectLife(MockHook& hook, const ExpectedLife& life) {
  const testing::InSequence in_order;
  EXPECT_CALL(hook, Begin);
  for (std::size_t session = 0; session < life.runs.size(); ++session) {
    EXPECT_CALL(hook, AfterCreateSession);
    for (int run = 0; run < life.runs[session]; ++run) {
      EXPECT_CALL(hook, BeforeRun);
      EXPECT_CALL(hook, AfterRun);
    }
    if (session + 1 < life.runs.size()) {
      EXPECT_CALL(hook, BeforeRun);
    }
  }
  EXPECT_CALL(hook, End).Times(life.ends ? 1 : 0);
}

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_MOCKS_MOCKS_H_
