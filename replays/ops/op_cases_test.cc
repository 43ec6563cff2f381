// What TensorFlow gave for ops, their gradients and inputs that do not fit, against what the ops here give.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "vigil/fakes/cut_up.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/replays/ops/cases.h"
#include "vigil/replays/ops/op_player.h"

namespace vigil::replays {
namespace {

std::vector<OpCase> AllCases() {
  std::vector<OpCase> all;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(VIGIL_SOURCE_DIR "/replays/ops")) {
    if (entry.path().filename().string().starts_with("ops") && entry.path().extension() == ".jsonl") {
      files.insert(entry.path());
    }
  }
  for (const auto& file : files) std::ranges::move(ReadOpCases(file), std::back_inserter(all));
  return all;
}

// Shared out in as many parts as can be, from the last one on.
TEST(OpCases, AreAsTensorFlowsWereWhenTheyAreSharedOut) {
  fakes::CutUp pool;
  for (const OpCase& each : AllCases()) {
    fakes::FakeEnv fake;
    Env env = fake.env();
    env.intra_op = &pool;
    const OpResult result = PlayOp(env, each);
    EXPECT_EQ(result.differs, "") << each.where << " " << each.op;
  }
  EXPECT_GT(pool.parts, 500);
}

TEST(OpCases, AreAsTensorFlowsWere) {
  std::map<std::string, std::string> texts;  // of an error in other words: theirs, ours
  int played = 0, failed = 0, gradients = 0, errors = 0, other_words = 0;
  const std::vector<OpCase> all = AllCases();
  for (const OpCase& each : all) {
    fakes::FakeEnv fake;
    const OpResult result = PlayOp(fake.env(), each);
    ++played;
    gradients += each.has_grads ? 1 : 0;
    errors += each.error_code.empty() ? 0 : 1;
    other_words += result.text_differs ? 1 : 0;
    if (result.text_differs) texts.emplace(each.op + ": " + each.error, result.said);
    if (result.differs.empty()) continue;
    ++failed;
    ADD_FAILURE() << each.where << " " << each.op << ": " << result.differs;
  }
  RecordProperty("played", played);
  RecordProperty("differ", failed);
  RecordProperty("with_gradients", gradients);
  RecordProperty("errors", errors);
  RecordProperty("in_other_words", other_words);
  EXPECT_GT(played, 300);
  for (const auto& [theirs, ours] : texts) ADD_FAILURE() << "theirs: " << theirs << "\nours:   " << ours;
}

}  // namespace
}  // namespace vigil::replays
