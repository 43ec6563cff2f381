// Damaged checkpoints, under both behaviours: restore_fallback off is TensorFlow's.
#include "vigil/core/checkpoint/restore_newest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "vigil/core/base/code.h"
#include "vigil/core/checkpoint/testing.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kData3[] = "/d/m-3.data-00000-of-00001";

// Checkpoints of the steps 1 to 3, each with v = its step.
class RestoreNewestTest : public testing::Test {
 protected:
  RestoreNewestTest() : graph_(BuiltinOps()), b_(graph_) {
    EXPECT_EQ(Text(fake_.files.MakeDirectory("/d")), "OK");
    v_ = ops::MakeVariable(b_, "v", b_.Const("zero", Tensor::Scalar<std::int64_t>(0)));
    const Output add = ops::AssignAdd(b_, "add", v_.ref, b_.Const("one", Tensor::Scalar<std::int64_t>(1)));
    saver_ = std::make_shared<Saver>(fake_.env());
    EXPECT_EQ(Text(saver_->Build(graph_)), "OK");
    session_ = NewDirectSession(fake_.env(), graph_);
    EXPECT_EQ(Text(RunTarget(*session_, v_.initializer)), "OK");
    for (int step = 1; step <= 3; ++step) {
      EXPECT_TRUE(RunFetch(*session_, add).ok());
      EXPECT_TRUE(saver_->Save(*session_, "/d/m", step).ok());
      fake_.clock.Advance(std::chrono::seconds(1));
    }
    fake_.log.Clear();
  }
  void Replace(const std::string& path, const std::string& bytes) {
    ASSERT_EQ(Text((*fake_.files.Open(path, OpenMode::kTruncate))->Append(bytes)), "OK");
  }
  void Truncate(const std::string& path) {
    const std::string bytes = *ReadAll(fake_.files, path);
    Replace(path, bytes.substr(0, bytes.size() - 1));
  }
  void FlipABit(const std::string& path) {
    std::string bytes = *ReadAll(fake_.files, path);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    Replace(path, bytes);
  }
  // A new process: the value restored; "none"; or the code.
  std::string Restore(bool fallback) {
    Saver saver(fake_.env());
    const std::unique_ptr<Session> session = NewDirectSession(fake_.env(), graph_);
    EXPECT_EQ(Text(saver.Build(graph_)), "OK");
    const auto state = FindCheckpoints(fake_.env(), "/d", fallback);
    if (!state.ok()) return std::string(CodeName(CodeOf(state.status())));
    if (!state->has_value()) return "none";
    const absl::Status status = RestoreNewest(fake_.env(), saver, *session, **state, fallback);
    if (!status.ok()) return std::string(CodeName(CodeOf(status)));
    return std::to_string(RunFetch(*session, v_.ref)->scalar<std::int64_t>());
  }

  fakes::FakeEnv fake_;
  Graph graph_;
  Builder b_;
  ops::Variable v_;
  std::shared_ptr<Saver> saver_;
  std::unique_ptr<Session> session_;
};

TEST_F(RestoreNewestTest, EveryDamageOfTheNewestIsPassedOver) {
  struct Case {
    const char* what;
    std::function<void()> damage;
    const char* tensorflow;
  };
  const Case cases[] = {
      {"no index", [this] { ASSERT_EQ(Text(fake_.files.Remove("/d/m-3.index")), "OK"); }, "USAGE"},
      {"no data", [this] { ASSERT_EQ(Text(fake_.files.Remove(kData3)), "OK"); }, "NOT_FOUND"},
      {"short index", [this] { Truncate("/d/m-3.index"); }, "DATA_LOSS"},
      {"empty index", [this] { Replace("/d/m-3.index", ""); }, "DATA_LOSS"},
      {"short data", [this] { Truncate(kData3); }, "DATA_LOSS"},
      {"a bit of the index", [this] { FlipABit("/d/m-3.index"); }, "DATA_LOSS"},
      {"a bit of the data", [this] { FlipABit(kData3); }, "DATA_LOSS"},
  };
  const std::map<std::string, std::string> whole = fake_.files.Contents();
  for (const Case& c : cases) {
    c.damage();
    EXPECT_EQ(Restore(false), c.tensorflow) << c.what;
    fake_.log.Clear();
    EXPECT_EQ(Restore(true), "2") << c.what;
    int warnings = 0;
    for (const auto& line : fake_.log.lines()) {
      if (line.severity != Severity::kWarning) continue;
      ++warnings;
      EXPECT_THAT(line.text, HasSubstr("Checkpoint /d/m-3 is not complete and is passed over: ")) << c.what;
    }
    EXPECT_EQ(warnings, 1) << c.what;
    for (const auto& [path, bytes] : whole) Replace(path, bytes);
  }
  EXPECT_EQ(Restore(true), "3");
}

TEST_F(RestoreNewestTest, AStateFileThatSaysNothingIsReplacedByTheDirectory) {
  const std::pair<const char*, const char*> states[] = {{"", "USAGE"}, {"!!! not a state file {{{", "none"}};
  for (const auto& [text, tensorflow] : states) {
    Replace("/d/checkpoint", text);
    EXPECT_EQ(Restore(false), tensorflow);
    EXPECT_EQ(Restore(true), "3");
  }
  FlipABit(kData3);
  EXPECT_EQ(Restore(true), "2");
  ASSERT_EQ(Text(fake_.files.Remove("/d/checkpoint")), "OK");
  EXPECT_EQ(Restore(true), "none");  // taken away on purpose: a new beginning
}

TEST_F(RestoreNewestTest, WhatHasAStateFileOfItsOwnIsNotTheModels) {
  for (const char* name : {"input.ckpt", "input_worker_1.ckpt"}) {
    EXPECT_EQ(Text(saver_->Save(*session_, JoinPath("/d", name), 9, {.latest_filename = "checkpoint_input"}).status()),
              "OK");
    fake_.clock.Advance(std::chrono::seconds(1));
  }
  Replace("/d/checkpoint_input_worker_1", "");
  Replace("/d/checkpoint", "");
  const auto state = FindCheckpoints(fake_.env(), "/d", true);
  ASSERT_TRUE(state.ok() && state->has_value());
  EXPECT_EQ((*state)->model_checkpoint_path, "/d/m-3");
  EXPECT_THAT((*state)->all_model_checkpoint_paths, ElementsAre("/d/m-1", "/d/m-2", "/d/m-3"));
}

TEST_F(RestoreNewestTest, CheckpointsAreWhatHasAnIndexOfAStepInTheOrderInWhichTheyWereWritten) {
  for (const char* name : {"m-8.indexx", "m-8.other", "m-8x.index", "m-.index", "m.index"}) {
    Replace(JoinPath("/d", name), "");
  }
  EXPECT_TRUE(saver_->Save(*session_, "/d/m", 10).ok());  // by its name it is the first
  fake_.clock.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(saver_->Save(*session_, "/d/a", 4).ok());
  Replace("/d/checkpoint", "");
  const auto state = FindCheckpoints(fake_.env(), "/d", true);
  ASSERT_TRUE(state.ok() && state->has_value());
  EXPECT_THAT((*state)->all_model_checkpoint_paths, ElementsAre("/d/m-1", "/d/m-2", "/d/m-3", "/d/m-10", "/d/a-4"));
}

// The file that would say what the saver may delete, and what is kept for good, says nothing.
TEST_F(RestoreNewestTest, WhatOnlyTheDirectorySaysIsNotDeletedByTheNextSave) {
  EXPECT_TRUE(saver_->Save(*session_, "/d/another", 1).ok());
  fake_.clock.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(saver_->Save(*session_, "/d/m", 4).ok());
  Replace("/d/checkpoint", "");
  Saver saver(fake_.env(), {.max_to_keep = 2});
  EXPECT_EQ(Text(saver.Build(graph_)), "OK");
  const auto state = FindCheckpoints(fake_.env(), "/d", true);
  ASSERT_TRUE(state.ok() && state->has_value());
  ASSERT_EQ(Text(RestoreNewest(fake_.env(), saver, *session_, **state, true)), "OK");
  for (const int step : {5, 6}) EXPECT_TRUE(saver.Save(*session_, "/d/m", step).ok());
  for (const char* const kept : {"/d/m-1", "/d/m-2", "/d/m-3", "/d/another-1", "/d/m-5", "/d/m-6"})
    EXPECT_TRUE(*CheckpointExists(fake_.env(), kept)) << kept;
  EXPECT_FALSE(*CheckpointExists(fake_.env(), "/d/m-4")) << "it has restored that one itself";
}

TEST_F(RestoreNewestTest, IfNoneIsWholeTheNewestSaysWhy) {
  for (const int step : {1, 2}) FlipABit("/d/m-" + std::to_string(step) + ".index");
  ASSERT_EQ(Text(fake_.files.Remove(kData3)), "OK");
  EXPECT_EQ(Restore(true), "NOT_FOUND");
}

TEST_F(RestoreNewestTest, AGraphThatDoesNotFitIsNoDamage) {
  ops::MakeVariable(b_, "more", b_.Const("c", Tensor::Scalar<float>(1)));
  EXPECT_EQ(Text(b_.status()), "OK");
  EXPECT_EQ(Restore(true), "NOT_FOUND");  // all have this in common; an older one would hide it
  for (const auto& line : fake_.log.lines()) EXPECT_NE(line.severity, Severity::kWarning) << line.text;
}

TEST_F(RestoreNewestTest, TheSaverKnowsAllThatIsThere) {
  FlipABit(kData3);
  const auto state = FindCheckpoints(fake_.env(), "/d", true);
  ASSERT_EQ(Text(RestoreNewest(fake_.env(), *saver_, *session_, **state, true)), "OK");
  EXPECT_THAT(saver_->last_checkpoints(), ElementsAre("/d/m-1", "/d/m-2", "/d/m-3"));
}

// No descriptors, no permission, a disk that does not answer, once or for as long as one likes: to go back would lose
// training.
TEST_F(RestoreNewestTest, TensorFlowTakesAStateFileThatCannotBeReadForNone) {
  fake_.files.set_fault([](fakes::FileOp op, const std::string& path) {
    const bool fails = op == fakes::FileOp::kOpen && path == "/d/checkpoint";
    return fails ? MakeStatus(Code::kPermissionDenied, "not yours") : absl::OkStatus();
  });
  EXPECT_EQ(Restore(true), "PERMISSION_DENIED");
  fake_.log.Clear();
  EXPECT_EQ(Restore(false), "none");
  std::vector<std::string> warnings;
  for (const auto& line : fake_.log.lines()) {
    if (line.severity == Severity::kWarning) warnings.push_back(line.text);
  }
  EXPECT_THAT(warnings, testing::ElementsAre(HasSubstr("not yours"), "/d/checkpoint: Checkpoint ignored"));
}

TEST_F(RestoreNewestTest, WhatCannotBeReadNowIsNoDamage) {
  for (const Code code : {Code::kResourceExhausted, Code::kPermissionDenied, Code::kUnknown}) {
    for (const bool lasting : {false, true}) {
      int failed = 0;
      for (int at = 1;; ++at) {
        int left = at;
        bool hit = false;
        fake_.files.set_fault([&](fakes::FileOp op, const std::string& path) {
          const bool about_it = path == "/d" || path.starts_with("/d/m-3") || path == "/d/checkpoint";
          if (op == fakes::FileOp::kClose || !about_it) return absl::OkStatus();
          --left;
          const bool fails = lasting ? left <= 0 : left == 0;
          hit = hit || fails;
          return fails ? MakeStatus(code, "not now") : absl::OkStatus();
        });
        const std::string restored = Restore(true);
        fake_.files.set_fault(nullptr);
        if (!hit) {
          EXPECT_EQ(restored, "3");
          break;
        }
        EXPECT_EQ(restored, CodeName(code)) << at;
        ++failed;
      }
      EXPECT_GT(failed, 4);
    }
  }
}

// What the look for damage meets does not take the place of what the restore has failed with.
TEST_F(RestoreNewestTest, TheErrorIsTheRestoresAlsoWhereTheFilesCannotBeReadAfterIt) {
  ops::MakeVariable(b_, "more", b_.Const("c", Tensor::Scalar<float>(1)));
  EXPECT_EQ(Text(b_.status()), "OK");
  std::vector<std::string> codes;  // by which read fails
  for (bool hit = true; hit;) {
    hit = false;
    std::size_t left = codes.size() + 1;
    fake_.files.set_fault([&](fakes::FileOp op, const std::string&) {
      if (op != fakes::FileOp::kRead || left-- != 1) return absl::OkStatus();
      hit = true;
      return MakeStatus(Code::kUnknown, "not now");
    });
    codes.push_back(Restore(true));
    fake_.files.set_fault(nullptr);
  }
  EXPECT_EQ(codes.front(), "UNKNOWN") << "while it restores";
  EXPECT_EQ(codes.back(), "NOT_FOUND") << "no read has failed";
  EXPECT_EQ(codes[codes.size() - 2], "NOT_FOUND") << "the last one looks for damage";
}

// A name in the state file of which a bit has changed: what a look at its files meets decides nothing.
TEST_F(RestoreNewestTest, WhatIsNotThereIsPassedOverWhateverALookAtItMeets) {
  std::string state = *ReadAll(fake_.files, "/d/checkpoint");
  state.replace(state.find("m-3"), 3, "m,3");
  Replace("/d/checkpoint", state);
  fake_.files.set_fault([&](fakes::FileOp op, const std::string& path) {
    const bool fails = op == fakes::FileOp::kOpen && path.starts_with("/d/m,3");
    return fails ? MakeStatus(Code::kUnknown, "not now") : absl::OkStatus();
  });
  EXPECT_EQ(Restore(true), "3");
  EXPECT_EQ(Restore(false), "USAGE");
}

TEST_F(RestoreNewestTest, NeitherIsADirectoryThatCannotBeRead) {
  Replace("/d/checkpoint", "");
  for (const fakes::FileOp op : {fakes::FileOp::kList, fakes::FileOp::kStat}) {
    for (int call = 1; call <= (op == fakes::FileOp::kList ? 1 : 3); ++call) {
      fake_.files.FailOnce(op, call, MakeStatus(Code::kUnknown, "not now"));
      EXPECT_EQ(Restore(true), "UNKNOWN") << call;
    }
  }
  fake_.files.set_fault(nullptr);
  EXPECT_EQ(Restore(true), "3");
}

}  // namespace
}  // namespace vigil
