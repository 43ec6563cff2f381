// Datasets and queues that shuffle: what recordings (replays/graphs) do not show, errors above all.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/io/record_writer.h"
#include "vigil/core/ops/testing.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class DatasetOpsTest : public OpsTest<fakes::FakeEnv> {
 protected:
  Output Range(std::int64_t n) {
    return b_.Op("RangeDataset", {Scalar<std::int64_t>(0), Scalar(n), Scalar<std::int64_t>(1)});
  }
  Output With(std::string op, Output input, std::int64_t number) {
    return b_.Op(std::move(op), {input, Scalar(number)});
  }
  Output Iterator(std::vector<DType> types = {DType::kInt64}) {
    return b_.Op("IteratorV2", {}, {.attrs = {{"output_types", std::move(types)}}});
  }
  NodeId Begin(Output dataset, Output iterator) { return b_.Op("MakeIterator", {dataset, iterator}).node; }
  Output Next(Output iterator, std::vector<DType> types = {DType::kInt64}) {
    return b_.Op("IteratorGetNext", {iterator}, {.attrs = {{"output_types", std::move(types)}}});
  }
  // The elements of a dataset of numbers, then the error.
  std::string All(Output dataset) {
    const Output iterator = Iterator();
    const Output next = Next(iterator);
    const absl::Status begun = Run(Begin(dataset, iterator));
    if (!begun.ok()) return vigil::Show(begun);
    std::string text;
    for (int i = 0; i < 20; ++i) {
      const absl::StatusOr<Tensor> value = Get(next);
      if (!value.ok()) return text + vigil::Show(value.status());
      for (const std::int64_t number : value->flat<std::int64_t>()) text += fmt::format("{} ", number);
    }
    return text;
  }
};

TEST_F(DatasetOpsTest, TakeSkipRepeat) {
  EXPECT_EQ(All(With("TakeDataset", Range(5), 2)), "0 1 OUT_OF_RANGE: End of sequence");
  EXPECT_EQ(All(With("TakeDataset", Range(2), -1)), "0 1 OUT_OF_RANGE: End of sequence");
  EXPECT_EQ(All(With("SkipDataset", Range(4), 2)), "2 3 OUT_OF_RANGE: End of sequence");
  EXPECT_EQ(All(With("SkipDataset", Range(4), 9)), "OUT_OF_RANGE: End of sequence");
  EXPECT_EQ(All(With("SkipDataset", Range(4), -1)), "OUT_OF_RANGE: End of sequence");
  EXPECT_EQ(All(With("RepeatDataset", Range(2), 2)), "0 1 0 1 OUT_OF_RANGE: End of sequence");
  EXPECT_EQ(All(With("RepeatDataset", Range(2), 0)), "OUT_OF_RANGE: End of sequence");
  EXPECT_EQ(All(With("RepeatDataset", Range(0), -1)), "OUT_OF_RANGE: End of sequence") << "not for ever";
  EXPECT_EQ(All(With("PrefetchDataset", Range(2), 1)), "0 1 OUT_OF_RANGE: End of sequence");
}

TEST_F(DatasetOpsTest, OddNumbersAreErrors) {
  const auto batch = [this](std::int64_t size) {
    return All(b_.Op("BatchDatasetV2", {Range(3), Scalar(size), Scalar(false)}));
  };
  EXPECT_EQ(batch(0), "INVALID_ARGUMENT: Batch size must be greater than zero.");
  EXPECT_EQ(batch(std::int64_t{1} << 62), "0 1 2 OUT_OF_RANGE: End of sequence");
  const Output zero = Scalar<std::int64_t>(0);
  EXPECT_EQ(All(b_.Op("ShuffleDataset", {Range(3), zero, zero, zero})),
            "INVALID_ARGUMENT: buffer_size must be greater than zero.");
  EXPECT_EQ(All(b_.Op("RangeDataset", {zero, zero, zero})), "INVALID_ARGUMENT: step must be a non-zero integer.");
  EXPECT_THAT(All(With("PrefetchDataset", Range(2), -2)), StartsWith("INVALID_ARGUMENT: buffer_size"));
}

TEST_F(DatasetOpsTest, ElementsOfDifferentShapesAreNoBatch) {
  const Output slices = b_.Op("TensorSliceDataset", {Matrix<std::int64_t>(2, {1, 2, 3, 4})});
  EXPECT_EQ(All(slices), "1 2 3 4 OUT_OF_RANGE: End of sequence");
  EXPECT_EQ(All(b_.Op("TensorSliceDataset", {Scalar<std::int64_t>(1)})),
            "INVALID_ARGUMENT: All components must be at least 1-dimensional");
}

TEST_F(DatasetOpsTest, AnIteratorWantsItsDataset) {
  const Output iterator = Iterator({DType::kString});
  EXPECT_THAT(Show(Next(iterator, {DType::kString})), StartsWith("FAILED_PRECONDITION: GetNext() failed because the"));
  EXPECT_EQ(vigil::Show(Run(Begin(Range(3), iterator))),
            "INVALID_ARGUMENT: Number or types of components do not match: expected [string] but got [int64]");
  EXPECT_THAT(Show(Next(iterator)), StartsWith("INVALID_ARGUMENT: The types of"));
  EXPECT_THAT(vigil::Show(Run(Begin(Iterator(), iterator))), HasSubstr("wrong type"));
}

TEST_F(DatasetOpsTest, AStateIsRestoredInTheSameOrder) {
  const Output seed = Scalar<std::int64_t>(3);
  const Output data = With("RepeatDataset", b_.Op("ShuffleDataset", {Range(6), seed, seed, seed}), 3);
  const Output iterator = Iterator();
  const Output next = Next(iterator);
  const NodeId begin = Begin(data, iterator);
  const Output state = b_.Op("SerializeIterator", {iterator});
  ASSERT_TRUE(Run(begin).ok());
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(Get(next).ok());
  const absl::StatusOr<Tensor> saved = Get(state);
  ASSERT_TRUE(saved.ok()) << saved.status();
  const std::string ninth = Show(next);
  const std::string tenth = Show(next);
  ASSERT_TRUE(Run(begin).ok());
  ASSERT_TRUE(Run(b_.Op("DeserializeIterator", {iterator, b_.Const("saved", *saved)}).node).ok());
  EXPECT_EQ(Show(next), ninth);
  EXPECT_EQ(Show(next), tenth);
  EXPECT_THAT(vigil::Show(Run(b_.Op("DeserializeIterator", {iterator, Scalar<std::string>("100")}).node)),
              StartsWith("INVALID_ARGUMENT: The state is behind"));
  EXPECT_THAT(vigil::Show(Run(b_.Op("DeserializeIterator", {iterator, Scalar<std::string>("x")}).node)),
              StartsWith("INVALID_ARGUMENT: 'x' is no state"));
}

// As after a restart, when the node that shuffles runs again, and draws other seeds.
TEST_F(DatasetOpsTest, AStateKeepsTheSeedsThatWereDrawn) {
  const Output zero = Scalar<std::int64_t>(0);
  const Output size = Scalar<std::int64_t>(6);
  const Output outer =
      b_.Op("ShuffleDataset", {b_.Op("ShuffleDataset", {Range(6), size, zero, zero}), size, zero, zero});
  const Output data = With("RepeatDataset", outer, 2);
  const Output iterator = Iterator();
  const Output next = Next(iterator);
  const NodeId begin = Begin(data, iterator);
  const Output state = b_.Op("SerializeIterator", {iterator});
  const auto take = [&](int n) {
    std::string text;
    for (int i = 0; i < n; ++i) text += Show(next) + "; ";
    return text;
  };
  ASSERT_TRUE(Run(begin).ok());
  const std::string first = take(8);
  const absl::StatusOr<Tensor> saved = Get(state);
  ASSERT_TRUE(saved.ok()) << saved.status();
  const std::string rest = take(4);
  ASSERT_TRUE(Run(begin).ok());
  ASSERT_NE(take(8), first);
  const auto restore = [&](const Tensor& from) {
    return vigil::Show(Run(b_.Op("DeserializeIterator", {iterator, b_.Const("saved", from)}).node));
  };
  ASSERT_EQ(restore(*saved), "OK");
  EXPECT_EQ(Get(state)->scalar<std::string>(), saved->scalar<std::string>());
  EXPECT_EQ(take(4), rest);
  EXPECT_EQ(restore(Tensor::Scalar<std::string>("8")), "OK") << "as earlier versions wrote it";
  EXPECT_EQ(restore(Tensor::Scalar<std::string>("8 1,2")),
            "INVALID_ARGUMENT: The state has the seeds of 1 datasets that shuffle, but 2 were given none.");
  for (const char* wrong : {"8 ", "8 1", "8 1,", "8 1,2,3", "8 -1,2", "8,1,2"}) {
    EXPECT_THAT(restore(Tensor::Scalar<std::string>(wrong)), HasSubstr("is no state of an iterator")) << wrong;
  }
}

TEST_F(DatasetOpsTest, ARestoreThatTakesLongIsCancelled) {
  const Output iterator = Iterator();
  ASSERT_TRUE(Run(Begin(With("RepeatDataset", Range(1), -1), iterator)).ok());
  cancellation_.Cancel();
  const Output state = b_.Const("state", Tensor::Scalar<std::string>("1000000000000"));
  EXPECT_THAT(vigil::Show(Run(b_.Op("DeserializeIterator", {iterator, state}).node)), StartsWith("CANCELLED"));
}

TEST_F(DatasetOpsTest, FilesThatComeAndGo) {
  Files& files = *EnvFixture::fake_.env().files;
  const std::string path = "/records";
  const auto write = [&](const std::vector<std::string>& records) {
    std::string bytes;
    for (const std::string& each : records) AppendRecord(each, &bytes);
    ASSERT_TRUE(WriteAtomically(files, path, bytes).ok());
  };
  const Output records =
      b_.Op("TFRecordDataset", {Vec<std::string>({path}), Scalar<std::string>(""), Scalar<std::int64_t>(0)});
  const auto begin = [&](Output dataset) {
    const Output iterator = Iterator({DType::kString});
    EXPECT_TRUE(Run(Begin(dataset, iterator)).ok());
    return Next(iterator, {DType::kString});
  };
  const Output taken = begin(With("TakeDataset", records, 3));
  EXPECT_THAT(Show(taken), StartsWith("NOT_FOUND"));
  write({"a", "b", "c", "d"});
  for (const char* each : {"a", "b", "c"}) EXPECT_EQ(Show(taken), std::string("string [] ") + each) << "three came";
  EXPECT_THAT(Show(taken), StartsWith("OUT_OF_RANGE"));
  const Output forever = begin(With("RepeatDataset", records, -1));
  for (const char* each : {"a", "b", "c", "d", "a"}) EXPECT_EQ(Show(forever), std::string("string [] ") + each);
  for (const char* each : {"b", "c", "d"}) EXPECT_EQ(Show(forever), std::string("string [] ") + each);
  write({});
  EXPECT_THAT(Show(forever), StartsWith("OUT_OF_RANGE")) << "it ends where nothing comes any more";
}

// As TensorFlow does.
TEST_F(DatasetOpsTest, BehindADamagedRecordComesTheNextFile) {
  Files& files = *EnvFixture::fake_.env().files;
  const auto write = [&](const std::string& path, const std::vector<std::string>& records, std::size_t damaged) {
    std::string bytes;
    for (const std::string& each : records) AppendRecord(each, &bytes);
    if (damaged != 0) bytes[damaged] ^= 1;
    ASSERT_TRUE(WriteAtomically(files, path, bytes).ok());
  };
  write("/one", {"a1", "a2", "a3"}, 18 + 12);  // 12 bytes, the record, and 4 bytes
  write("/two", {"b1"}, 0);
  const Output records =
      b_.Op("TFRecordDataset", {Vec<std::string>({"/one", "/two"}), Scalar<std::string>(""), Scalar<std::int64_t>(0)});
  const Output iterator = Iterator({DType::kString});
  const Output next = Next(iterator, {DType::kString});
  ASSERT_TRUE(Run(Begin(With("RepeatDataset", records, 2), iterator)).ok());
  for (const int time : {1, 2}) {
    EXPECT_EQ(Show(next), "string [] a1") << time;
    EXPECT_THAT(Show(next), StartsWith("DATA_LOSS")) << time;
    EXPECT_EQ(Show(next), "string [] b1") << time;
  }
  EXPECT_THAT(Show(next), StartsWith("OUT_OF_RANGE"));
}

// Of TensorFlow 2.21: up to 11 of the 12 bytes before a record are the end of a file, more are a record that is cut
// off.
TEST_F(DatasetOpsTest, AFileThatIsCutOffInAHeaderEndsThere) {
  Files& files = *EnvFixture::fake_.env().files;
  std::string bytes;
  AppendRecord("a1", &bytes);
  const std::size_t whole = bytes.size();
  AppendRecord("a2", &bytes);
  std::string other;
  AppendRecord("b1", &other);
  ASSERT_TRUE(WriteAtomically(files, "/two", other).ok());
  const Output records =
      b_.Op("TFRecordDataset", {Vec<std::string>({"/one", "/two"}), Scalar<std::string>(""), Scalar<std::int64_t>(0)});
  const Output iterator = Iterator({DType::kString});
  const Output next = Next(iterator, {DType::kString});
  const NodeId begin = Begin(records, iterator);
  for (std::size_t more = 0; whole + more < bytes.size(); ++more) {
    ASSERT_TRUE(WriteAtomically(files, "/one", bytes.substr(0, whole + more)).ok());
    ASSERT_TRUE(Run(begin).ok());
    EXPECT_EQ(Show(next), "string [] a1") << more;
    if (more >= 12) {
      EXPECT_THAT(Show(next), StartsWith("DATA_LOSS")) << more;
    }
    EXPECT_EQ(Show(next), "string [] b1") << more;
    EXPECT_THAT(Show(next), StartsWith("OUT_OF_RANGE")) << more;
  }
}

TEST_F(DatasetOpsTest, RecordsThatAreNotThere) {
  const Output records =
      b_.Op("TFRecordDataset", {Vec<std::string>({"/nowhere"}), Scalar<std::string>(""), Scalar<std::int64_t>(0)});
  const Output iterator = Iterator({DType::kString});
  ASSERT_TRUE(Run(Begin(records, iterator)).ok());
  EXPECT_THAT(Show(Next(iterator, {DType::kString})), StartsWith("NOT_FOUND"));
}

TEST_F(DatasetOpsTest, AQueueThatShufflesKeepsSomeUntilItIsClosed) {
  const std::vector<DType> types{DType::kInt64};
  const Output queue = b_.Op("RandomShuffleQueueV2", {},
                             {.attrs = {{"component_types", types},
                                        {"capacity", std::int64_t{10}},
                                        {"min_after_dequeue", std::int64_t{2}},
                                        {"seed", std::int64_t{1}}}});
  const auto take = [&](const char* op, std::int32_t count) {
    std::vector<Tensor> values;
    const Output taken = b_.Op(op, {queue, Scalar(count)}, {.attrs = {{"component_types", types}}});
    const absl::Status status = RunAll(taken.node, EnvFixture::fake_.clock.Monotonic(), &values);
    return status.ok() ? values[0].Describe() : vigil::Show(status);
  };
  ASSERT_TRUE(Run(b_.Op("QueueEnqueueManyV2", {queue, Vec<std::int64_t>({1, 2, 3, 4})}).node).ok());
  EXPECT_THAT(take("QueueDequeueManyV2", 3), StartsWith("DEADLINE_EXCEEDED")) << "two are kept";
  EXPECT_EQ(take("QueueDequeueManyV2", 2), "int64 [2]");
  ASSERT_TRUE(Run(b_.Op("QueueCloseV2", {queue}).node).ok());
  EXPECT_THAT(take("QueueDequeueManyV2", 3),
              HasSubstr("RandomShuffleQueue '_0_RandomShuffleQueueV2' is closed and has insufficient elements"));
  EXPECT_EQ(take("QueueDequeueUpToV2", 3), "int64 [2]");
  EXPECT_THAT(take("QueueDequeueUpToV2", 3), StartsWith("OUT_OF_RANGE"));
}

}  // namespace
}  // namespace vigil
