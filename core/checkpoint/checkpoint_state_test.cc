#include "vigil/core/checkpoint/checkpoint_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using fakes::Text;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CheckpointStateTest : public testing::Test {
 protected:
  CheckpointStateTest() { EXPECT_EQ(Text(fake_.files.MakeDirectory("/d")), "OK"); }
  void Write(const std::string& path, const std::string& text) {
    ASSERT_EQ(Text((*fake_.files.Open(path, OpenMode::kTruncate))->Append(text)), "OK");
  }
  // The path of the newest; "none"; or the error.
  std::string Newest(const std::string& directory = "/d") {
    const auto state = GetCheckpointState(fake_.env(), directory);
    if (!state.ok()) return Text(state.status());
    return state->has_value() ? (*state)->model_checkpoint_path : "none";
  }

  fakes::FakeEnv fake_;
};

TEST_F(CheckpointStateTest, ReadsWhatTensorFlowWrites) {
  Write("/d/checkpoint",
        "model_checkpoint_path: \"model.ckpt-2\"\nall_model_checkpoint_paths: \"/abs/model.ckpt-1\"\n"
        "all_model_checkpoint_paths: \"model.ckpt-2\"\nall_model_checkpoint_timestamps: 1.5\n"
        "all_model_checkpoint_timestamps: 2.5\nlast_preserved_timestamp: 0.25\n");
  const auto state = GetCheckpointState(fake_.env(), "/d");
  ASSERT_TRUE(state.ok() && state->has_value());
  EXPECT_EQ((*state)->model_checkpoint_path, "/d/model.ckpt-2");
  EXPECT_THAT((*state)->all_model_checkpoint_paths, ElementsAre("/abs/model.ckpt-1", "/d/model.ckpt-2"));
  EXPECT_THAT((*state)->all_model_checkpoint_timestamps, ElementsAre(1.5, 2.5));
  EXPECT_EQ((*state)->last_preserved_timestamp, 0.25);
}

TEST_F(CheckpointStateTest, ABrokenFileIsIgnoredAndAnEmptyOneIsNot) {
  EXPECT_EQ(Newest(), "none");
  EXPECT_THAT(fake_.log.lines(), IsEmpty());
  for (const char* garbage : {"garbage", "model_checkpoint_path: 7", "unknown_field: 1"}) {
    fake_.log.Clear();
    Write("/d/checkpoint", garbage);
    EXPECT_EQ(Newest(), "none") << garbage;
    ASSERT_EQ(fake_.log.lines().size(), 2u);
    EXPECT_EQ(fake_.log.lines()[1],
              (fakes::CapturingLog::Line{Severity::kWarning, "/d/checkpoint: Checkpoint ignored"}));
  }
  for (const char* empty : {"", "all_model_checkpoint_paths: \"a\""}) {
    Write("/d/checkpoint", empty);
    EXPECT_EQ(Newest(), "USAGE: Invalid checkpoint state loaded from /d") << empty;
  }
}

TEST_F(CheckpointStateTest, ANewestOfWhichNothingIsThereIsNoneAndIsTold) {
  Write("/d/checkpoint", "model_checkpoint_path: \"m-2\"\n");
  EXPECT_EQ(*LatestCheckpoint(fake_.env(), "/d"), std::nullopt);
  EXPECT_THAT(fake_.log.lines(),
              ElementsAre(fakes::CapturingLog::Line{Severity::kError, "Couldn't match files for checkpoint /d/m-2"}));
}

TEST_F(CheckpointStateTest, WritesTensorFlowsText) {
  CheckpointState state{.model_checkpoint_path = "/d/m-2",
                        .all_model_checkpoint_paths = {"/d/m-1"},
                        .all_model_checkpoint_timestamps = {1, 2.5},
                        .last_preserved_timestamp = 0.5};
  ASSERT_EQ(Text(UpdateCheckpointState(fake_.env(), "/d", state)), "OK");
  EXPECT_EQ(*ReadAll(fake_.files, "/d/checkpoint"),
            "model_checkpoint_path: \"/d/m-2\"\nall_model_checkpoint_paths: \"/d/m-1\"\n"
            "all_model_checkpoint_paths: \"/d/m-2\"\nall_model_checkpoint_timestamps: 1\n"
            "all_model_checkpoint_timestamps: 2.5\nlast_preserved_timestamp: 0.5\n");
  EXPECT_THAT(*fake_.files.List("/d"), ElementsAre("checkpoint"));
}

TEST_F(CheckpointStateTest, PathsAreRelativeWhenAskedOrWhenTheDirectoryIs) {
  ASSERT_EQ(Text(fake_.files.MakeDirectory("rel/d")), "OK");
  const auto written = [this](const std::string& directory, const std::string& path, bool relative) {
    EXPECT_EQ(Text(UpdateCheckpointState(fake_.env(), directory, {.model_checkpoint_path = path},
                                         {.relative_paths = relative})),
              "OK");
    const std::string text = *ReadAll(fake_.files, directory + "/checkpoint");
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(written("/d", "/d/m-1", true), "model_checkpoint_path: \"m-1\"");
  EXPECT_EQ(written("/d", "/other/m-1", true), "model_checkpoint_path: \"../other/m-1\"");
  EXPECT_EQ(written("/d", "/d/m-1", false), "model_checkpoint_path: \"/d/m-1\"");
  EXPECT_EQ(written("rel/d", "rel/d/m-1", false), "model_checkpoint_path: \"m-1\"");
  EXPECT_EQ(Newest("rel/d"), "rel/d/m-1");
  EXPECT_EQ(written("rel/d", "/abs/m-1", false), "model_checkpoint_path: \"/abs/m-1\"");
}

TEST_F(CheckpointStateTest, RefusesWhatWouldNotBeReadBack) {
  EXPECT_THAT(Text(UpdateCheckpointState(fake_.env(), "/d", {.model_checkpoint_path = "/d/checkpoint"})),
              HasSubstr("USAGE: Save path '/d/checkpoint' conflicts with path used for checkpoint state."));
  EXPECT_THAT(Text(UpdateCheckpointState(fake_.env(), "/d",
                                         {.model_checkpoint_path = "/d/m", .all_model_checkpoint_timestamps = {1, 2}})),
              HasSubstr("USAGE: Checkpoint timestamps, if provided, must match checkpoint paths"));
}

TEST_F(CheckpointStateTest, ACheckpointIsItsIndexOrABareFile) {
  EXPECT_FALSE(*CheckpointExists(fake_.env(), "/d/m-1"));
  Write("/d/m-1.index", "");
  EXPECT_TRUE(*CheckpointExists(fake_.env(), "/d/m-1"));
  Write("/d/m-2", "");
  EXPECT_TRUE(*CheckpointExists(fake_.env(), "/d/m-2"));
}

// TensorFlow's first format, of several shards: its savers say them all in one path.
TEST_F(CheckpointStateTest, ACheckpointIsTheShardsThatItsPathStandsFor) {
  const std::string all = "/d/m-7-" + std::string(5, '?') + "-of-00002";
  for (const char* const other : {"/d/m-7-00000-of-00003", "/d/m-7-00000-of-00002.tmp", "/d/m-70-00000-of-00002"}) {
    Write(other, "");
  }
  EXPECT_FALSE(*CheckpointExists(fake_.env(), all));
  EXPECT_FALSE(*CheckpointExists(fake_.env(), "/nowhere/" + Basename(all)));
  EXPECT_TRUE(GetCheckpointMtimes(fake_.env(), {all})->empty());
  Write("/d/m-7-00001-of-00002", "");
  fake_.clock.Advance(std::chrono::seconds(3));
  const Time first = fake_.clock.Now();
  Write("/d/m-7-00000-of-00002", "");
  EXPECT_TRUE(*CheckpointExists(fake_.env(), all));
  EXPECT_EQ(*GetCheckpointMtimes(fake_.env(), {all, "/d/none"}), std::vector<Time>({first}));
  ASSERT_EQ(Text(UpdateCheckpointState(fake_.env(), "/d", {.model_checkpoint_path = all})), "OK");
  EXPECT_EQ(Newest("/d"), all);
}

TEST(MetaGraphFileNameTest, IsOneForAllShards) {
  const std::pair<const char*, const char*> names[] = {
      {"/d/m-7", "/d/m-7.meta"},
      {"/d/m-7-00001-of-00003", "/d/m-7.meta"},
      {R"(/d/m-7-????)"
       "?-of-00003",
       "/d/m-7.meta"},
      {"/d/m-00001-of-00003", "/d/m.meta"},
      {"/d/m-of-00003", "/d/m-of-00003.meta"},
      {"-of-00003", "-of-00003.meta"},
      {"00001-of-00003", "00001-of-00003.meta"},
      {"m-x-of-3", "m-x-of-3.meta"},
      {"", ".meta"},
  };
  for (const auto& [prefix, name] : names) EXPECT_EQ(MetaGraphFileName(prefix), name);
  EXPECT_EQ(MetaGraphFileName("m", "graph"), "m.graph");
}

TEST(CheckpointStatePathsTest, ARelativePathLeavesTheDirectoryAsItMust) {
  const auto relative = [](const char* directory, const char* path) {
    const auto state = GenerateCheckpointState(directory, {.model_checkpoint_path = path}, true);
    return state.ok() ? state->model_checkpoint_path : std::string(MessageOf(state.status()));
  };
  EXPECT_EQ(relative("/a/b", "/a/b/m-1"), "m-1");
  EXPECT_EQ(relative("/a/b", "/a/c/m-1"), "../c/m-1");
  EXPECT_EQ(relative("/a/./b/", "/a/x/../b/m-1"), "m-1");
  EXPECT_EQ(relative("/a/b/..", "/a/m-1"), "m-1");
}

}  // namespace
}  // namespace vigil
