// What summaries cost: framing of records, events through a writer's queue and task to a file, a graph as GraphDef.
//
// For comparison, TensorFlow 2.21 on the machine of its measurement: 149,000 scalar summaries a second with one flush
// at the end, 45,000 with a flush after each (which does not sync there; here it does, and the disk decides); 2.1
// million records a second framed.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <string>

#include "vigil/core/base/check.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/io/crc32c.h"
#include "vigil/core/io/record_reader.h"
#include "vigil/core/io/record_writer.h"
#include "vigil/core/io/summary.pb.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/summary/file_writer.h"
#include "vigil/core/tensor/proto_util.h"

namespace vigil::bench {
namespace {

constexpr std::size_t kEventBytes = 43;  // of an event with one scalar

void BM_Crc32c(benchmark::State& state) {
  const std::string data(static_cast<std::size_t>(state.range(0)), 'x');
  for (auto _ : state) benchmark::DoNotOptimize(Crc32c(data));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Crc32c)->Arg(12)->Arg(4096)->Arg(1 << 20);

void BM_FrameRecord(benchmark::State& state) {
  const std::string record(kEventBytes, 'x');
  std::string out;
  for (auto _ : state) {
    if (out.size() > RecordWriter::kBuffer) out.clear();
    AppendRecord(record, &out);
  }
  benchmark::DoNotOptimize(out);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_FrameRecord);

void BM_ReadRecord(benchmark::State& state) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) AppendRecord(std::string(kEventBytes, 'x'), &bytes);
  for (auto _ : state) {
    RecordReader reader(bytes);
    for (auto record = reader.Next(); record->has_value(); record = reader.Next()) benchmark::DoNotOptimize(record);
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(BM_ReadRecord);

// A directory that goes with its files.
class Directory {
 public:
  explicit Directory(const Env& env) : env_(env) {
    std::string pattern = "/tmp/vigil_bench.XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~Directory() {
    const absl::StatusOr<std::vector<std::string>> names = env_.files->List(path_);
    for (const std::string& name : *names) env_.files->Remove(JoinPath(path_, name)).IgnoreError();
    env_.files->Remove(path_).IgnoreError();
  }
  const std::string& path() const { return path_; }

 private:
  const Env env_;
  std::string path_;
};

std::string ScalarSummary() {
  proto::Summary summary;
  summary.add_value()->set_tag("loss");
  summary.mutable_value(0)->set_simple_value(0.5F);
  return summary.SerializeAsString();
}

// flush: after each event, or once at the end.
void AddSummaries(benchmark::State& state, bool flush) {
  RealEnv real(RealEnvOptions{.log_to_stderr = false});
  const Directory directory(real.env());
  const auto writer = *NewFileWriter(real.env(), {.logdir = directory.path()});
  const std::string summary = ScalarSummary();
  std::int64_t step = 0;
  for (auto _ : state) {
    VIGIL_CHECK(writer->AddSummary(summary, ++step).ok());
    if (flush) VIGIL_CHECK(writer->Flush().ok());
  }
  VIGIL_CHECK(writer->Close().ok());
  state.SetItemsProcessed(state.iterations());
}

void BM_AddSummary(benchmark::State& state) { AddSummaries(state, false); }
BENCHMARK(BM_AddSummary)->UseRealTime();

void BM_AddSummaryAndFlush(benchmark::State& state) { AddSummaries(state, true); }
BENCHMARK(BM_AddSummaryAndFlush)->UseRealTime();

// A graph with that many variables, each of three nodes.
void BM_GraphToBytes(benchmark::State& state) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const Output zero = b.Const("zero", Tensor::Scalar<float>(0));
  for (int i = 0; i < state.range(0); ++i) ops::MakeVariable(b, "variable", zero);
  VIGIL_CHECK(b.status().ok());
  for (auto _ : state) benchmark::DoNotOptimize(SerializeDeterministically(ToGraphDef(graph)));
  state.SetItemsProcessed(state.iterations() * graph.size());
}
BENCHMARK(BM_GraphToBytes)->Arg(1000);

}  // namespace
}  // namespace vigil::bench
