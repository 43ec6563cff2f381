// Every target over the inputs that are stored (each was a finding once), its good inputs, and what mutations make of
// them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "vigil/fuzz/mutate.h"
#include "vigil/fuzz/targets.h"

namespace vigil::fuzz {
namespace {

constexpr int kMutations = 600;  // of each target

Bytes BytesOf(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

// In the order of their names.
std::vector<std::string> StoredInputs(std::string_view target) {
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path directory = std::filesystem::path(VIGIL_SOURCE_DIR) / "fuzz/corpus" / target;
  if (std::filesystem::exists(directory)) {
    for (const auto& entry : std::filesystem::directory_iterator(directory)) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<std::string> inputs;
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

class FuzzTest : public testing::TestWithParam<Target> {};

TEST_P(FuzzTest, NothingThatIsReadBreaksTheReader) {
  const Target& target = GetParam();
  std::vector<std::string> inputs = target.seeds();
  ASSERT_FALSE(inputs.empty());
  for (std::string& stored : StoredInputs(target.name)) inputs.push_back(std::move(stored));
  for (const std::string& input : inputs) EXPECT_EQ(RunTarget(target, BytesOf(input)), 0);
  Dice dice(1);
  for (int i = 0; i < kMutations; ++i) {
    // What was changed is often changed further: a mutation alone is refused by the first check.
    std::string& input = inputs[dice.Below(inputs.size())];
    const std::string changed = Mutate(target.form, input, dice);
    SCOPED_TRACE(fmt::format("mutation {}", i));
    EXPECT_EQ(RunTarget(target, BytesOf(changed)), 0);
    if (dice.Below(4) == 0 && changed.size() < 100'000) inputs.push_back(changed);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FuzzTest, testing::ValuesIn(Targets().begin(), Targets().end()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(Mutate, IsTheSameForTheSameDraws) {
  for (const Target& target : Targets()) {
    const std::string seed = target.seeds()[0];
    Dice a(7);
    Dice b(7);
    const std::string changed = Mutate(target.form, seed, a);
    EXPECT_EQ(changed, Mutate(target.form, seed, b)) << target.name;
  }
}

TEST(Mutate, KeepsMessagesNearlyGood) {
  // Most of what comes out is still a message of the same form.
  const std::string seed = GraphSeeds()[0];
  Dice dice(3);
  int changed = 0;
  for (int i = 0; i < 100; ++i) changed += Mutate(Form::kMessage, seed, dice) != seed ? 1 : 0;
  EXPECT_GT(changed, 80);
}

}  // namespace
}  // namespace vigil::fuzz
