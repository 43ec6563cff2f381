// Checkpoints that TensorFlow wrote, and earlier versions of this library (testdata/README.md): they are read as they
// were meant, and written again they are the same bytes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using fakes::Text;

const std::string kV1Sharded = "v1_sharded-" + std::string(5, '?') + "-of-00002";

std::string Bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string FromHex(const std::string& digits) {
  std::string out;
  for (std::size_t i = 0; digits != "-" && i < digits.size(); i += 2) {
    out.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return out;
}

std::vector<std::string> SplitText(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) out.push_back(part);
  return out;
}

struct Expected {
  std::string name;
  Tensor value;
};

class TensorFlowBundleTest : public testing::Test {
 protected:
  TensorFlowBundleTest() {
    EXPECT_EQ(Text(fake_.files.MakeDirectory("/d")), "OK");
    const std::filesystem::path directory = std::filesystem::path(VIGIL_SOURCE_DIR) / "core/io/testdata";
    for (const auto& each : std::filesystem::directory_iterator(directory)) {
      const std::string name = each.path().filename().string();
      EXPECT_EQ(Text(WriteAtomically(fake_.files, "/d/" + name, Bytes(each.path()))), "OK");
    }
    for (const std::string& line :
         SplitText(Bytes(directory / "expected.txt") + Bytes(directory / "expected_earlier.txt"), '\n')) {
      const std::vector<std::string> words = SplitText(line, ' ');
      Tensor value(static_cast<DType>(std::stoi(words.at(2))), ShapeOf(words.at(3)));
      if (value.dtype() == DType::kString) {
        const std::vector<std::string> texts = SplitText(words.at(4), ',');
        if (value.num_elements() > 0) {
          std::ranges::transform(texts, value.mutable_flat<std::string>().begin(), FromHex);
        }
      } else {
        std::ranges::copy(FromHex(words.at(4)), value.mutable_bytes().begin());
      }
      expected_[words.at(0)].push_back({FromHex(words.at(1)), std::move(value)});
    }
  }

  static Shape ShapeOf(const std::string& dims) {
    std::vector<std::int64_t> out;
    for (const std::string& each : SplitText(dims == "-" ? "" : dims, ',')) out.push_back(std::stoll(each));
    return Shape(std::move(out));
  }

  // All that are equal have equal bytes, NaN too.
  static bool Same(const Tensor& a, const Tensor& b) {
    if (a.dtype() == DType::kString || b.dtype() == DType::kString) return a == b;
    return a.dtype() == b.dtype() && a.shape() == b.shape() && a.bytes() == b.bytes();
  }

  // The files of a bundle by what follows its name.
  std::map<std::string, std::string> FilesOf(const std::string& bundle) {
    std::map<std::string, std::string> out;
    for (const auto& [path, bytes] : fake_.files.Contents()) {
      if (path.starts_with("/d/" + bundle + ".")) out.emplace(path.substr(bundle.size() + 3), bytes);
    }
    return out;
  }

  fakes::FakeEnv fake_;
  std::map<std::string, std::vector<Expected>> expected_;
};

TEST_F(TensorFlowBundleTest, EveryCheckpointIsReadAsItWasMeant) {
  std::size_t read = 0;
  for (const auto& [bundle, items] : expected_) {
    absl::StatusOr<BundleReader> reader = BundleReader::Open(fake_.files, "/d/" + bundle);
    ASSERT_EQ(Text(reader.status()), "OK") << bundle;
    for (const Expected& each : items) {
      const absl::StatusOr<Tensor> value = reader->Read(each.name);
      ASSERT_EQ(Text(value.status()), "OK") << bundle << " " << each.name;
      EXPECT_TRUE(Same(*value, each.value)) << bundle << " " << each.name << ": " << value->Describe();
      ++read;
    }
    EXPECT_EQ(Text(VerifyBundle(fake_.files, "/d/" + bundle)), "OK") << bundle;
  }
  EXPECT_EQ(expected_.size(), 11u);
  EXPECT_GT(read, 140u);
}

TEST_F(TensorFlowBundleTest, WrittenAgainItIsTheSameBytes) {
  for (const char* bundle : {"types", "shapes", "names", "many"}) {
    BundleItems items;
    for (const Expected& each : expected_[bundle]) items.push_back({.name = each.name, .value = each.value});
    ASSERT_EQ(Text(WriteBundleItems(fake_.env(), "/d/again", items)), "OK");
    EXPECT_EQ(FilesOf("again"), FilesOf(bundle)) << bundle;
    for (const auto& [name, bytes] : FilesOf("again")) ASSERT_EQ(Text(fake_.files.Remove("/d/again" + name)), "OK");
  }
}

// The pieces of TensorFlow's own checkpoint, as parts of ours.
TEST_F(TensorFlowBundleTest, PiecesInShardsAreTheSameBytes) {
  const auto piece = [&](BundleReader& reader, const std::string& name, const std::string& text) {
    const TensorPiece part = *ParseShapeAndSlice(text);
    return BundleItem{.name = name, .value = *reader.Read(name, part), .piece = part};
  };
  BundleReader reader = *BundleReader::Open(fake_.files, "/d/partitioned_sharded");
  ASSERT_EQ(Text(WriteBundlePartItems(fake_.env(), "/d/t/0", {piece(reader, "v", "3 5 0,2:0,3")})), "OK");
  ASSERT_EQ(Text(WriteBundlePartItems(fake_.env(), "/d/t/1",
                                      {piece(reader, "v", "3 5 0,2:3,2"),
                                       piece(reader, "v", "3 5 2,1:-"),
                                       {.name = "w", .value = *reader.Read("w")}})),
            "OK");
  ASSERT_EQ(Text(MergeBundles(fake_.env(), {"/d/t/0", "/d/t/1"}, "/d/again")), "OK");
  EXPECT_EQ(FilesOf("again"), FilesOf("partitioned_sharded"));
}

TEST_F(TensorFlowBundleTest, APartOfATensorIsReadHoweverItIsStored) {
  for (const std::string& bundle : {std::string("partitioned"), kV1Sharded}) {
    absl::StatusOr<BundleReader> reader = BundleReader::Open(fake_.files, "/d/" + bundle);
    ASSERT_EQ(Text(reader.status()), "OK");
    // Of the matrix 0 ... 14, in rows of five; the part lies in all three pieces.
    const absl::StatusOr<Tensor> part = reader->Read("v", *ParseShapeAndSlice("3 5 1,2:2,2"));
    ASSERT_EQ(Text(part.status()), "OK") << bundle;
    EXPECT_TRUE(Same(*part, Tensor::Vector<float>({7, 8, 12, 13}).Reshaped(Shape({2, 2})))) << bundle;
    EXPECT_EQ(
        Text(reader->Read("v", *ParseShapeAndSlice("3 6 1,2:2,2")).status()),
        "INVALID_ARGUMENT: tensor_name = v; shape in shape_and_slice spec [3,6] does not match the shape stored in "
        "checkpoint: [3,5]");
  }
  absl::StatusOr<BundleReader> whole = BundleReader::Open(fake_.files, "/d/shapes");
  const absl::StatusOr<Tensor> row = whole->Read("matrix", *ParseShapeAndSlice("2 3 1,1:-"));
  ASSERT_EQ(Text(row.status()), "OK");
  EXPECT_TRUE(Same(*row, Tensor::Vector<double>({3, 4, 5}).Reshaped(Shape({1, 3}))));
}

// Whichever byte of any file is another one, or wherever it ends: no value is read that was not written.
TEST_F(TensorFlowBundleTest, NoDamageGivesAnotherValue) {
  const std::map<std::string, std::string> good = fake_.files.Contents();
  const auto replace = [&](const std::string& path, const std::string& bytes) {
    ASSERT_EQ(Text((*fake_.files.Open(path, OpenMode::kTruncate))->Append(bytes)), "OK");
  };
  const auto read_all = [&](const std::string& bundle, const std::string& what) {
    absl::StatusOr<BundleReader> reader = BundleReader::Open(fake_.files, "/d/" + bundle);
    absl::Status first = reader.status();
    for (std::size_t i = 0; reader.ok() && i < expected_[bundle].size(); ++i) {
      const Expected& each = expected_[bundle][i];
      const absl::StatusOr<Tensor> value = reader->Read(each.name);
      if (value.ok()) {
        EXPECT_TRUE(Same(*value, each.value)) << what;
      } else if (first.ok()) {
        first = value.status();
      }
    }
    EXPECT_THAT(CodeOf(first), testing::AnyOf(Code::kOk, Code::kDataLoss)) << what << ": " << Text(first);
    return first;
  };
  for (const std::string& bundle :
       std::vector<std::string>{"shapes", "partitioned_sharded", "v1", kV1Sharded, "earlier"}) {
    const std::string base = bundle.substr(0, bundle.find('?'));
    for (const auto& [path, bytes] : good) {
      if (path != "/d/" + base && !path.starts_with("/d/" + base + ".") &&
          (base == bundle || !path.starts_with("/d/" + base)))
        continue;
      for (std::size_t at = 0; at < bytes.size(); ++at) {
        std::string other = bytes;
        other[at] = static_cast<char>(other[at] ^ (1 << at % 8));
        replace(path, other);
        EXPECT_FALSE(read_all(bundle, fmt::format("{} with another byte {}", path, at)).ok()) << path << " " << at;
        replace(path, bytes.substr(0, at));
        EXPECT_FALSE(read_all(bundle, fmt::format("{} cut at {}", path, at)).ok()) << path << " " << at;
      }
      replace(path, bytes);
    }
    EXPECT_TRUE(read_all(bundle, bundle).ok());
  }
}

}  // namespace
}  // namespace vigil
