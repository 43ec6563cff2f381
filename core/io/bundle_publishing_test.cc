// Several writers of one checkpoint, and writers that are killed: wherever one is, the other does all of its work
// there.
#include "vigil/core/io/bundle_publishing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using fakes::Text;
using testing::ElementsAre;
using testing::HasSubstr;

class BundlePublishingTest : public testing::Test {
 protected:
  BundlePublishingTest() { EXPECT_EQ(Text(fake_.files.MakeDirectory("/d")), "OK"); }
  // Two values that must be of one writer. One bundle, or one that is merged of two parts.
  absl::Status Write(int value, bool sharded) {
    const Tensor a = Tensor::Scalar<std::int64_t>(value);
    if (!sharded) return WriteBundle(fake_.env(), "/d/p", {{"a", a}, {"b", a}});
    std::vector<std::string> parts;
    const std::string folder = "/d/p_temp_" + std::to_string(++saves_);
    for (const char* key : {"a", "b"}) {
      parts.push_back(folder + "/part-" + key);
      const absl::Status status = WriteBundlePart(fake_.env(), parts.back(), {{key, a}});
      if (!status.ok()) return status;
    }
    return MergeBundles(fake_.env(), parts, "/d/p");
  }
  // "7", or what is wrong with it.
  std::string Standing() {
    if (const absl::Status whole = VerifyBundle(fake_.files, "/d/p"); !whole.ok()) return Text(whole);
    absl::StatusOr<BundleReader> reader = BundleReader::Open(fake_.files, "/d/p");
    const auto a = reader->Read("a")->scalar<std::int64_t>();
    const auto b = reader->Read("b")->scalar<std::int64_t>();
    return a == b ? std::to_string(a) : "torn: " + std::to_string(a) + " and " + std::to_string(b);
  }
  // At the `at`-th operation from now on, once.
  void At(int at, std::function<void()> what) {
    fake_.files.set_fault([this, left = at, what = std::move(what)](fakes::FileOp, const std::string&) mutable {
      if (--left == 0) {
        const auto now = std::exchange(what, nullptr);
        now();
      }
      operations_ = left;
      return absl::OkStatus();
    });
  }
  std::vector<std::string> Names() { return *fake_.files.List("/d"); }

  fakes::FakeEnv fake_;
  int saves_ = 0;
  int operations_ = 0;
};

TEST_F(BundlePublishingTest, OfTwoWritersOneWins) {
  for (const bool sharded : {false, true}) {
    for (const bool stands : {false, true}) {
      int at = 0;
      do {
        for (const std::string& name : Names()) fake_.files.Remove("/d/" + name).IgnoreError();
        if (stands) {
          ASSERT_EQ(Text(Write(1, sharded)), "OK");
        }
        std::string other;
        At(++at, [&] { other = Text(Write(3, sharded)); });
        ASSERT_EQ(Text(Write(2, sharded)), "OK") << at;
        const bool happened = operations_ <= 0;
        fake_.files.set_fault(nullptr);
        if (!happened) break;
        EXPECT_EQ(other, "OK") << at;
        EXPECT_THAT(Standing(), testing::AnyOf("2", "3")) << at;
        for (const std::string& name : Names()) EXPECT_THAT(name, testing::Not(HasSubstr("temp"))) << at;
      } while (true);
      EXPECT_GT(at, 10);
    }
  }
}

TEST_F(BundlePublishingTest, AKilledWriterLeavesWhatStood) {
  for (const bool sharded : {false, true}) {
    for (int end = 1;; ++end) {
      for (const std::string& name : Names()) fake_.files.Remove("/d/" + name).IgnoreError();
      ASSERT_EQ(Text(Write(1, sharded)), "OK");
      fake_.files.set_fault([left = end](fakes::FileOp, const std::string&) mutable {
        return --left <= 0 ? MakeStatus(Code::kUnavailable, "gone") : absl::OkStatus();
      });
      const bool finished = Write(2, sharded).ok();
      fake_.files.set_fault(nullptr);
      if (finished) break;
      EXPECT_THAT(Standing(), testing::AnyOf("1", "2")) << end;
      // Whoever comes next is not disturbed by what is left.
      EXPECT_EQ(Text(Write(3, sharded)), "OK") << end;
      EXPECT_EQ(Standing(), "3") << end;
    }
  }
}

TEST_F(BundlePublishingTest, AReaderSeesOneOfTheTwo) {
  for (int at = 1;; ++at) {
    ASSERT_EQ(Text(Write(2 * at, false)), "OK");
    std::string seen;
    At(at, [&] { ASSERT_EQ(Text(Write(2 * at + 1, false)), "OK"); });
    absl::StatusOr<BundleReader> reader = BundleReader::Open(fake_.files, "/d/p");
    ASSERT_EQ(Text(reader.status()), "OK");
    for (const char* key : {"a", "b"}) {
      const absl::StatusOr<Tensor> value = reader->Read(key);
      ASSERT_EQ(Text(value.status()), "OK") << at;
      seen += std::to_string(value->scalar<std::int64_t>() - 2 * at);
    }
    const bool happened = operations_ <= 0;
    fake_.files.set_fault(nullptr);
    if (!happened) break;
    EXPECT_THAT(seen, testing::AnyOf("00", "11")) << at;
  }
}

TEST_F(BundlePublishingTest, TheUsualNamesUnlessTheyAreTaken) {
  ASSERT_EQ(Text(Write(1, true)), "OK");
  EXPECT_THAT(Names(), ElementsAre("p.data-00000-of-00002", "p.data-00001-of-00002", "p.index"));
  ASSERT_EQ(Text(Write(2, true)), "OK");
  EXPECT_THAT(Names(), ElementsAre("p.data-00002-of-00004", "p.data-00003-of-00004", "p.index"));
  ASSERT_EQ(Text(Write(3, false)), "OK");
  EXPECT_THAT(Names(), ElementsAre("p.data-00004-of-00005", "p.index"));
  EXPECT_EQ(Standing(), "3");
}

TEST_F(BundlePublishingTest, TheSameAgainStaysAsItIsIfItIsWhole) {
  ASSERT_EQ(Text(Write(1, false)), "OK");
  const std::map<std::string, std::string> before = fake_.files.Contents();
  ASSERT_EQ(Text(Write(1, false)), "OK");
  EXPECT_EQ(fake_.files.Contents(), before);
  ASSERT_EQ(Text((*fake_.files.Open("/d/p.data-00000-of-00001", OpenMode::kTruncate))->Append("damaged")), "OK");
  ASSERT_EQ(Text(Write(1, false)), "OK");
  EXPECT_EQ(Standing(), "1");
}

TEST_F(BundlePublishingTest, OneThatIsDeletedMeanwhileIsNotSaved) {
  int aborted = 0;
  for (int at = 1;; ++at) {
    At(at, [&] {
      for (const std::string& name : Names()) {
        if (name.find(".tempstate") == name.npos) fake_.files.Remove("/d/" + name).IgnoreError();
      }
    });
    const absl::Status written = Write(at, false);
    const bool happened = operations_ <= 0;
    fake_.files.set_fault(nullptr);
    if (!happened) break;
    if (written.ok()) continue;  // deleted before it was there; or after: then that is what was asked for
    EXPECT_THAT(Text(written), testing::AnyOf(HasSubstr("ABORTED: Checkpoint /d/p was deleted by another writer"),
                                              HasSubstr("NOT_FOUND")));
    aborted += CodeOf(written) == Code::kAborted ? 1 : 0;
  }
  EXPECT_GT(aborted, 0);
}

TEST_F(BundlePublishingTest, TheSameAgainThatIsDeletedMeanwhileIsNotMadeEmpty) {
  int aborted = 0;
  for (int at = 1;; ++at) {
    ASSERT_EQ(Text(Write(1, false)), "OK");
    At(at, [&] {
      for (const std::string& name : Names()) {
        if (name.find(".tempstate") == name.npos) fake_.files.Remove("/d/" + name).IgnoreError();
      }
    });
    const absl::Status written = Write(1, false);
    const bool happened = operations_ <= 0;
    fake_.files.set_fault(nullptr);
    if (!happened) break;
    const bool has_index = *Exists(fake_.files, "/d/p.index");
    EXPECT_EQ(has_index ? Standing() : "1", "1") << at;
    EXPECT_THAT(Text(written), testing::AnyOf("OK", HasSubstr("ABORTED"), HasSubstr("NOT_FOUND"))) << at;
    aborted += CodeOf(written) == Code::kAborted ? 1 : 0;
  }
  EXPECT_GT(aborted, 0);
}

TEST_F(BundlePublishingTest, APartIsNobodyElses) {
  ASSERT_EQ(Text(WriteBundlePart(fake_.env(), "/d/t/part", {{"a", Tensor::Scalar<float>(1)}})), "OK");
  EXPECT_THAT(Text(WriteBundlePart(fake_.env(), "/d/t/part", {{"a", Tensor::Scalar<float>(1)}})),
              HasSubstr("ALREADY_EXISTS"));
}

}  // namespace
}  // namespace vigil
