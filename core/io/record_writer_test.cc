#include "vigil/core/io/record_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/io/record_reader.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

std::string Framed(std::string_view record) {
  std::string out;
  AppendRecord(record, &out);
  return out;
}

// The records up to the first error, and that.
std::pair<std::vector<std::string>, Code> RecordsOf(std::string_view bytes) {
  RecordReader reader(bytes);
  std::vector<std::string> records;
  while (true) {
    const auto record = reader.Next();
    if (!record.ok()) return {records, CodeOf(record.status())};
    if (!record->has_value()) return {records, Code::kOk};
    records.emplace_back(**record);
  }
}

std::pair<std::vector<std::string>, Code> Read(std::vector<std::string> records, Code code) { return {records, code}; }

TEST(Record, IsFramedAsTensorFlowDoes) {
  // tf.io.TFRecordWriter's bytes for b"abc".
  EXPECT_EQ(Framed("abc"), std::string("\x03\0\0\0\0\0\0\0\xb0\x99\x49\x0e"
                                       "abc"
                                       "\x6e\x57\xf1\x21",
                                       19));
}

TEST(Record, IsReadBack) {
  const std::string bytes = Framed("one") + Framed("") + Framed(std::string(100'000, 'x'));
  EXPECT_EQ(RecordsOf(bytes), Read({"one", "", std::string(100'000, 'x')}, Code::kOk));
  EXPECT_EQ(RecordsOf(""), Read({}, Code::kOk));
}

TEST(Record, CutOffAnywhereIsDataLoss) {
  const std::string bytes = Framed("one") + Framed("two");
  for (std::size_t size = Framed("one").size() + 1; size < bytes.size(); ++size) {
    EXPECT_EQ(RecordsOf(bytes.substr(0, size)), Read({"one"}, Code::kDataLoss)) << size;
  }
}

TEST(Record, WithAFlippedBitIsDataLoss) {
  const std::string bytes = Framed("one");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    EXPECT_EQ(RecordsOf(damaged), Read({}, Code::kDataLoss)) << i;
  }
}

class RecordWriterTest : public testing::Test {
 protected:
  RecordWriter Open() { return RecordWriter(*fake_.files.Open("/f", OpenMode::kTruncate)); }
  std::string Content() { return fake_.files.Contents()["/f"]; }

  fakes::FakeEnv fake_;
};

TEST_F(RecordWriterTest, GathersUntilFlush) {
  RecordWriter writer = Open();
  EXPECT_TRUE(writer.Write("one").ok());
  EXPECT_EQ(Content(), "");
  EXPECT_TRUE(writer.Flush().ok());
  EXPECT_EQ(Content(), Framed("one"));
  EXPECT_TRUE(writer.Write("two").ok());
  EXPECT_TRUE(writer.Close().ok());
  EXPECT_EQ(Content(), Framed("one") + Framed("two"));
}

TEST_F(RecordWriterTest, GathersOnlySoMuch) {
  RecordWriter writer = Open();
  const std::string record(RecordWriter::kBuffer, 'x');
  EXPECT_TRUE(writer.Write(record).ok());
  EXPECT_EQ(Content(), Framed(record));
}

TEST_F(RecordWriterTest, KeepsItsFirstError) {
  RecordWriter writer = Open();
  EXPECT_TRUE(writer.Write("one").ok());
  fake_.files.FailOnce(fakes::FileOp::kAppend, 1, MakeStatus(Code::kResourceExhausted, "no space"));
  EXPECT_EQ(CodeOf(writer.Sync()), Code::kResourceExhausted);
  EXPECT_EQ(CodeOf(writer.Write("two")), Code::kResourceExhausted);
  EXPECT_EQ(CodeOf(writer.Flush()), Code::kResourceExhausted);
  EXPECT_EQ(CodeOf(writer.Close()), Code::kResourceExhausted);
  EXPECT_EQ(Content(), "");
}

TEST_F(RecordWriterTest, SaysThatSyncOrCloseFailed) {
  RecordWriter writer = Open();
  fake_.files.FailOnce(fakes::FileOp::kSync, 1, MakeStatus(Code::kUnknown, "EIO"));
  EXPECT_EQ(CodeOf(writer.Sync()), Code::kUnknown);
  RecordWriter other = Open();
  fake_.files.FailOnce(fakes::FileOp::kClose, 1, MakeStatus(Code::kUnknown, "EIO"));
  EXPECT_EQ(CodeOf(other.Close()), Code::kUnknown);
}

}  // namespace
}  // namespace vigil
