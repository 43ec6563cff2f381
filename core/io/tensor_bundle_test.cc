#include "vigil/core/io/tensor_bundle.h"

#include <fmt/format.h>
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

class TensorBundleTest : public testing::Test {
 protected:
  void Write(const std::map<std::string, Tensor>& tensors) {
    ASSERT_EQ(Text(WriteBundle(fake_.env(), "/d/p", tensors)), "OK");
  }
  // Writes a file anew with one byte changed.
  void Damage(const std::string& path, std::size_t at) {
    std::string bytes = *ReadAll(fake_.files, path);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    Replace(path, bytes);
  }
  void Replace(const std::string& path, const std::string& bytes) {
    ASSERT_EQ(Text((*fake_.files.Open(path, OpenMode::kTruncate))->Append(bytes)), "OK");
  }
  std::string Read(const std::string& key) {
    absl::StatusOr<BundleReader> reader = BundleReader::Open(fake_.files, "/d/p");
    if (!reader.ok()) return Text(reader.status());
    const absl::StatusOr<Tensor> value = reader->Read(key);
    return value.ok() ? value->Describe() : Text(value.status());
  }

  TensorBundleTest() { EXPECT_EQ(Text(fake_.files.MakeDirectory("/d")), "OK"); }
  fakes::FakeEnv fake_;
  const std::map<std::string, Tensor> some_{{"v", Tensor::Vector<float>({1, 2, 3})},
                                            {"step", Tensor::Scalar<std::int64_t>(7)}};
};

TEST_F(TensorBundleTest, EveryTypeAndShapeComesBack) {
  const std::map<std::string, Tensor> tensors{
      {"bool", Tensor::Vector<bool>({true, false})},
      {"double", Tensor::Scalar<double>(0.1)},
      {"empty", Tensor(DType::kFloat, Shape({0, 3}))},
      {"int32", Tensor::Vector<std::int32_t>({1, -2})},
      {"matrix", Tensor::Vector<float>({1, 2, 3, 4}).Reshaped(Shape({2, 2}))},
      {"step", Tensor::Scalar<std::int64_t>(7)},
      {"strings", Tensor::Vector<std::string>({"", "a b", std::string("\0x", 2)})},
      {"uint8", Tensor::Vector<std::uint8_t>({255})}};
  Write(tensors);
  absl::StatusOr<BundleReader> reader = BundleReader::Open(fake_.files, "/d/p");
  ASSERT_EQ(Text(reader.status()), "OK");
  for (const auto& [name, tensor] : tensors) {
    EXPECT_TRUE(reader->Has(name));
    const absl::StatusOr<Tensor> read = reader->Read(name);
    ASSERT_EQ(Text(read.status()), "OK") << name;
    EXPECT_EQ(*read, tensor) << name;
  }
  EXPECT_FALSE(reader->Has("other"));
  EXPECT_EQ(Text(reader->Read("other").status()), "NOT_FOUND: Key other not found in checkpoint");
}

TEST_F(TensorBundleTest, OnlyTheTwoFilesRemain) {
  Write(some_);
  EXPECT_THAT(*fake_.files.List("/d"), ElementsAre("p.data-00000-of-00001", "p.index"));
  EXPECT_EQ(DataFileName("a/b", 3, 12), "a/b.data-00003-of-00012");
}

TEST_F(TensorBundleTest, MissingFilesAreNotFound) {
  EXPECT_THAT(Read("v"), HasSubstr("NOT_FOUND"));
  Write(some_);
  ASSERT_EQ(Text(fake_.files.Remove("/d/p.data-00000-of-00001")), "OK");
  EXPECT_THAT(Read("v"), HasSubstr("NOT_FOUND"));
  EXPECT_EQ(Text(WriteBundle(fake_.env(), "/none/there/p", some_)).substr(0, 9), "NOT_FOUND");
}

TEST_F(TensorBundleTest, EveryDamagedByteIsNoticed) {
  Write(some_);
  const std::string index = *ReadAll(fake_.files, "/d/p.index");
  for (std::size_t at = 0; at < index.size(); ++at) {
    Damage("/d/p.index", at);
    EXPECT_THAT(Read("v"), HasSubstr("DATA_LOSS")) << at;
    Replace("/d/p.index", index.substr(0, at));
    EXPECT_THAT(Read("v"), HasSubstr("DATA_LOSS")) << at;
    Replace("/d/p.index", index);
  }
  const std::string data = *ReadAll(fake_.files, "/d/p.data-00000-of-00001");
  ASSERT_EQ(data.size(), 20u);  // the step first: names are sorted
  Damage("/d/p.data-00000-of-00001", 8);
  EXPECT_EQ(Read("v"),
            "DATA_LOSS: /d/p.data-00000-of-00001: the value of v (12 bytes from offset 8) does not match its "
            "checksum");
  EXPECT_EQ(Read("step"), "int64 []");
  Replace("/d/p.data-00000-of-00001", data.substr(0, 19));
  EXPECT_EQ(Read("v"),
            "DATA_LOSS: /d/p.data-00000-of-00001: the file ends before the value of v (12 bytes from offset 8)");
}

TEST_F(TensorBundleTest, DataIsInPlaceBeforeTheIndex) {
  struct Recording : Files {
    explicit Recording(Files& inner) : files(inner) {}
    absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
      calls.push_back("open " + path);
      return files.Open(path, mode);
    }
    absl::Status Rename(const std::string& from, const std::string& to) override {
      calls.push_back("rename " + from + " " + to);
      return files.Rename(from, to);
    }
    absl::Status Remove(const std::string& path) override { return files.Remove(path); }
    absl::StatusOr<FileInfo> Stat(const std::string& path) override { return files.Stat(path); }
    absl::StatusOr<std::vector<std::string>> List(const std::string& path) override { return files.List(path); }
    absl::Status MakeDirectory(const std::string& path) override { return files.MakeDirectory(path); }
    absl::Status SyncDirectory(const std::string& path) override { return files.SyncDirectory(path); }
    Files& files;
    std::vector<std::string> calls;
  } recording(fake_.files);
  fake_.random.Set("checkpoint/tempstate", {11, 22});
  Env env = fake_.env();
  env.files = &recording;
  ASSERT_EQ(Text(WriteBundle(env, "/d/p", some_)), "OK");
  EXPECT_THAT(recording.calls, ElementsAre("open /d/p.data-00000-of-00001.tempstate11", "open /d/p.index",
                                           "open /d/p.data-00000-of-00001.tmp",  // what stands there; ours now
                                           "rename /d/p.data-00000-of-00001.tempstate11 /d/p.data-00000-of-00001",
                                           "open /d/p.index.tempstate22", "rename /d/p.index.tempstate22 /d/p.index"));
}

TEST_F(TensorBundleTest, WhatAnotherWriterHasClaimedIsLeftToIt) {
  const std::string claim = "/d/p.data-00000-of-00001.tmp";
  ASSERT_TRUE(fake_.files.Open(claim, OpenMode::kTemporary).ok());
  ASSERT_EQ(Text(WriteBundle(fake_.env(), "/d/p", some_)), "OK");
  EXPECT_THAT(*fake_.files.List("/d"), ElementsAre("p.data-00000-of-00001.tmp", "p.data-00001-of-00002", "p.index"));
}

TEST_F(TensorBundleTest, OfNoPartsNoCheckpointIsMade) {
  const absl::Status merged = MergeBundles(fake_.env(), {}, "/d/p");
  EXPECT_EQ(MessageOf(merged), "Checkpoint /d/p cannot be made of no parts");
}

// The machine that wrote it has died since, and with it what its disk did not have yet.
TEST_F(TensorBundleTest, APartThatIsLostMeansToSaveAgain) {
  for (const auto& [lost, half] :
       std::initializer_list<std::pair<const char*, bool>>{{"/d/p_temp/part-1.index", false},
                                                           {"/d/p_temp/part-1.data-00000-of-00001", false},
                                                           {"/d/p_temp/part-1.index", true}}) {
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(Text(WriteBundlePart(fake_.env(), fmt::format("/d/p_temp/part-{}", i),
                                     {{fmt::format("v{}", i), Tensor::Scalar<float>(1)}})),
                "OK");
    }
    if (half) {
      Replace(lost, "");
    } else {
      ASSERT_TRUE(fake_.files.Remove(lost).ok());
    }
    const absl::Status merged = MergeBundles(fake_.env(), {"/d/p_temp/part-0", "/d/p_temp/part-1"}, "/d/p");
    EXPECT_EQ(CodeOf(merged), Code::kAborted);
    EXPECT_THAT(std::string(MessageOf(merged)), HasSubstr(lost));
    EXPECT_FALSE(*Exists(fake_.files, "/d/p.index"));
    for (const char* left : {"/d/p_temp/part-0.index", "/d/p_temp/part-0.data-00000-of-00001", "/d/p_temp/part-1.index",
                             "/d/p_temp/part-1.data-00000-of-00001"}) {
      fake_.files.Remove(left).IgnoreError();
    }
  }
}

TEST_F(TensorBundleTest, WhatCannotBeMergedStays) {
  ASSERT_EQ(Text(WriteBundlePart(fake_.env(), "/d/a", some_)), "OK");
  EXPECT_EQ(CodeOf(MergeBundles(fake_.env(), {"/d/a", "/d/none"}, "/d/p")), Code::kAborted);
  EXPECT_EQ(Text(VerifyBundle(fake_.files, "/d/a")), "OK");
}

TEST_F(TensorBundleTest, APartThatCannotBeWrittenLeavesNothing) {
  for (const fakes::FileOp op : {fakes::FileOp::kAppend, fakes::FileOp::kRename}) {
    fake_.files.FailOnce(op, 1, MakeStatus(Code::kResourceExhausted, "no space"));
    EXPECT_EQ(CodeOf(WriteBundlePart(fake_.env(), "/d/p_temp/part-0", some_)), Code::kResourceExhausted);
    EXPECT_THAT(*fake_.files.List("/d/p_temp"), IsEmpty());
  }
}

TEST_F(TensorBundleTest, PartsOfOneCheckpointShareNoKey) {
  for (const char* part : {"/d/p_temp/part-0", "/d/p_temp/part-1"}) {
    ASSERT_TRUE(WriteBundle(fake_.env(), part, {{"same", Tensor::Scalar<float>(1)}}).ok());
  }
  const absl::Status merged = MergeBundles(fake_.env(), {"/d/p_temp/part-0", "/d/p_temp/part-1"}, "/d/p");
  EXPECT_EQ(CodeOf(merged), Code::kInvalidArgument);
  EXPECT_EQ(MessageOf(merged), "Two parts of checkpoint /d/p have key same");
  EXPECT_FALSE(*Exists(fake_.files, "/d/p.index"));
}

}  // namespace
}  // namespace vigil
