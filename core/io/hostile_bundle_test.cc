// Checkpoints that nobody has written in good faith: right checksums around what cannot be. Nothing of them is
// restored, and each error names what it is about.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/io/crc32c.h"
#include "vigil/core/io/table_writer.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/core/io/tensor_bundle.pb.h"
#include "vigil/core/io/varint.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using fakes::Text;
using testing::AllOf;
using testing::HasSubstr;

class HostileBundleTest : public testing::Test {
 protected:
  HostileBundleTest() {
    EXPECT_EQ(Text(fake_.files.MakeDirectory("/d")), "OK");
    header_.set_num_shards(1);
    entry_.set_dtype(proto::DT_FLOAT);
    entry_.mutable_shape()->add_dim()->set_size(2);
    entry_.set_size(8);
    entry_.set_crc32c(MaskCrc(Crc32c("12345678")));
    Put("/d/p.data-00000-of-00001", "12345678");
  }
  void Put(const std::string& path, const std::string& bytes) {
    ASSERT_EQ(Text(WriteAtomically(fake_.files, path, bytes)), "OK");
  }
  // What reading "v" gives, with that header and that entry.
  std::string Read() {
    TableWriter table;
    table.Add("", header_.SerializeAsString());
    table.Add("v", entry_.SerializeAsString());
    Put("/d/p.index", table.Finish());
    return ReadAsItIs();
  }
  std::string ReadAsItIs() {
    absl::StatusOr<BundleReader> reader = BundleReader::Open(fake_.files, "/d/p");
    if (!reader.ok()) return Text(reader.status());
    const absl::StatusOr<Tensor> value = reader->Read("v");
    return value.ok() ? value->Describe() : Text(value.status());
  }

  fakes::FakeEnv fake_;
  proto::BundleHeaderProto header_;
  proto::BundleEntryProto entry_;
};

TEST_F(HostileBundleTest, TheOneThatIsRightIsRead) { EXPECT_EQ(Read(), "float [2]"); }

TEST_F(HostileBundleTest, EntriesThatCannotBe) {
  entry_.mutable_shape()->mutable_dim(0)->set_size(3);
  EXPECT_THAT(Read(), AllOf(HasSubstr("DATA_LOSS: /d/p.index: the entry of v"), HasSubstr("8 bytes for float [3]")));
  entry_.mutable_shape()->mutable_dim(0)->set_size(-2);
  EXPECT_THAT(Read(), AllOf(HasSubstr("DATA_LOSS: /d/p.index"), HasSubstr("a shape that cannot be")));
  entry_.mutable_shape()->mutable_dim(0)->set_size(2);
  entry_.set_shard_id(1);
  EXPECT_THAT(Read(), AllOf(HasSubstr("DATA_LOSS: /d/p.index: the entry of v"), HasSubstr("shard 1, of 1")));
  entry_.set_shard_id(0);
  entry_.set_offset(-1);
  EXPECT_THAT(Read(), AllOf(HasSubstr("DATA_LOSS: /d/p.index: the entry of v"), HasSubstr("from offset -1")));
  entry_.set_offset(0);
  entry_.set_dtype(proto::DT_INVALID);
  EXPECT_THAT(Read(), HasSubstr("a type that is none"));
  header_.set_num_shards(0);
  EXPECT_THAT(Read(), HasSubstr("DATA_LOSS: /d/p.index: the index speaks of 0 data files"));
  header_.set_num_shards(1);
  header_.mutable_version()->set_min_consumer(2);
  EXPECT_THAT(Read(), HasSubstr("INVALID_ARGUMENT: /d/p.index: the checkpoint's format is newer"));
}

// More than there is memory for: refused before any is taken.
TEST_F(HostileBundleTest, AHugeEntryInATinyFile) {
  entry_.mutable_shape()->mutable_dim(0)->set_size(std::int64_t{1} << 31);
  entry_.set_size(std::int64_t{1} << 33);
  EXPECT_EQ(
      Read(),
      "DATA_LOSS: /d/p.data-00000-of-00001: the file ends before the value of v (8589934592 bytes from offset 0)");
  entry_.set_dtype(proto::DT_STRING);
  EXPECT_THAT(Read(), HasSubstr("DATA_LOSS: /d/p.data-00000-of-00001: the file ends before the value of v"));
}

TEST_F(HostileBundleTest, OtherDataThanTheIndexSpeaksOf) {
  Put("/d/p.data-00000-of-00001", "87654321");
  EXPECT_THAT(Read(), HasSubstr("the value of v (8 bytes from offset 0) does not match its checksum"));
  header_.set_num_shards(2);
  EXPECT_THAT(Read(), AllOf(HasSubstr("NOT_FOUND"), HasSubstr("/d/p.data-00000-of-00002")));
}

TEST_F(HostileBundleTest, ATypeThatThereIsNot) {
  entry_.set_dtype(proto::DT_COMPLEX64);
  entry_.mutable_shape()->mutable_dim(0)->set_size(1);
  EXPECT_EQ(Read(),
            "UNIMPLEMENTED: /d/p.data-00000-of-00001: the value of v: there are no tensors of type DT_COMPLEX64 here");
  EXPECT_EQ(Text(VerifyBundle(fake_.files, "/d/p")), "OK");
}

TEST_F(HostileBundleTest, PiecesThatDoNotMakeUpTheTensor) {
  entry_.add_slices()->add_extent()->set_length(1);
  EXPECT_THAT(Read(), HasSubstr("DATA_LOSS: /d/p.index: piece 0,1 of v has no entry"));
  const auto piece = [](const char* slice, std::vector<float> values) {
    return BundleItem{.name = "v", .value = Tensor::Vector<float>(values), .piece = *ParseShapeAndSlice(slice)};
  };
  ASSERT_EQ(Text(WriteBundleItems(fake_.env(), "/d/p", {piece("4 0,2", {1, 2})})), "OK");
  EXPECT_EQ(ReadAsItIs(),
            "INVALID_ARGUMENT: /d/p.index: Does not have sufficient slices for partitioned tensor v to restore in "
            "slice_spec: "
            "-");
  // As many elements as the whole has, but not all of them.
  ASSERT_EQ(Text(WriteBundleItems(fake_.env(), "/d/p", {piece("4 0,2", {1, 2}), piece("4 1,2", {3, 4})})), "OK");
  EXPECT_THAT(ReadAsItIs(), HasSubstr("DATA_LOSS: /d/p.index: the 2 pieces of v overlap"));
}

TEST_F(HostileBundleTest, WhatIsSavedWrongly) {
  const auto saved = [&](const BundleItems& items) { return Text(WriteBundleItems(fake_.env(), "/d/q", items)); };
  const Tensor two = Tensor::Vector<float>({1, 2});
  const auto part = [&](const char* slice) {
    return BundleItem{.name = "v", .value = two, .piece = *ParseShapeAndSlice(slice)};
  };
  EXPECT_EQ(saved({{.name = "v", .value = two}, {.name = "v", .value = two}}),
            "INVALID_ARGUMENT: Adding duplicate key: v");
  EXPECT_EQ(saved({part("4 0,2"), part("4 0,2")}), "INVALID_ARGUMENT: Adding duplicate key: v, piece 0,2");
  EXPECT_EQ(saved({part("4 0,2"), {.name = "v", .value = two}}), "INVALID_ARGUMENT: Adding duplicate key: v");
  EXPECT_THAT(saved({part("4 0,3")}),
              HasSubstr("INVALID_ARGUMENT: Slice in shape_and_slice specification does not match"));
  EXPECT_THAT(saved({part("4 0,2"), part("5 2,2")}),
              HasSubstr("INVALID_ARGUMENT: Pieces of v differ on its type or shape"));
  EXPECT_THAT(saved({{.name = "", .value = two}}),
              HasSubstr("INVALID_ARGUMENT: A tensor of a checkpoint needs a name"));
  EXPECT_FALSE(*Exists(fake_.files, "/d/q.index"));
}

TEST_F(HostileBundleTest, TablesThatCannotBe) {
  // The first block's trailer is after the entries, one that is in full, and their number.
  Read();
  const std::string good = *ReadAll(fake_.files, "/d/p.index");
  std::string_view handle = std::string_view(good).substr(good.size() - kTableFooterSize);
  std::uint64_t end = 0;
  ASSERT_TRUE(TakeVarint64(&handle, &end));
  const std::string block = good.substr(0, end - kTableTrailerSize);
  const auto with = [&](std::string bytes, char compression) {
    bytes.push_back(compression);
    AppendFixed(MaskCrc(Crc32c(bytes)), &bytes);
    Put("/d/p.index", bytes + good.substr(end));
    return ReadAsItIs();
  };
  EXPECT_EQ(with(block, 0), "float [2]");
  EXPECT_THAT(with(block, 1), HasSubstr("INVALID_ARGUMENT: /d/p.index: at offset 0: a block is compressed as type 1"));
  std::string twice = block;  // the second key shares nothing and is one long: now it is none
  const std::size_t at = block.find(std::string("\x00\x01", 2));
  ASSERT_NE(at, block.npos);
  twice[at + 1] = '\0';
  EXPECT_THAT(with(twice, 0), HasSubstr("DATA_LOSS: /d/p.index"));
}

}  // namespace
}  // namespace vigil
