// Checkpoints against the same bytes raw, in one run of this program: 1,000 variables of 1 KiB, and one of 256 MiB,
// on the file system of the working directory. Arguments: variables, bytes of each, 0 raw or 1 a checkpoint, and of a
// save 1 if it is synced (both are then, TensorFlow never syncs).
#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/io/tensor_bundle.h"

namespace vigil::bench {
namespace {

struct Model {
  std::map<std::string, Tensor> variables;
  std::int64_t bytes = 0;
};

Model ModelOf(std::int64_t count, std::int64_t bytes_each) {
  Model out{.bytes = count * bytes_each};
  for (std::int64_t i = 0; i < count; ++i) {
    Tensor variable(DType::kFloat, Shape({bytes_each / 4}));
    for (float& value : variable.mutable_flat<float>()) value = static_cast<float>(i);
    out.variables.emplace("variable_" + std::to_string(i), std::move(variable));
  }
  return out;
}

std::string Directory() { return "vigil_checkpoint_bench"; }

// One file, each variable appended as it is.
void WriteRaw(const Env& env, const Model& model, const std::string& path, bool synced) {
  const auto file = *env.files->Open(path, OpenMode::kTruncate);
  for (const auto& [name, variable] : model.variables) VIGIL_CHECK(file->Append(variable.bytes()).ok());
  if (synced) VIGIL_CHECK(file->Sync().ok());
  VIGIL_CHECK(file->Close().ok());
}

// Into memory that is new, as restored variables are.
void ReadRaw(const Env& env, const Model& model, const std::string& path) {
  const auto file = *env.files->Open(path, OpenMode::kRead);
  std::uint64_t offset = 0;
  for (const auto& [name, variable] : model.variables) {
    Tensor out = *Tensor::MakeUnwritten(DType::kFloat, variable.shape().dims());
    const std::span<char> bytes = out.mutable_bytes();
    VIGIL_CHECK(*file->ReadInto(offset, bytes) == bytes.size());
    offset += bytes.size();
    benchmark::DoNotOptimize(bytes.data());
  }
}

std::vector<std::string> NamesIn(Files& files, const std::string& directory) {
  absl::StatusOr<std::vector<std::string>> names = files.List(directory);
  return names.ok() ? *std::move(names) : std::vector<std::string>();
}

void BM_Save(benchmark::State& state) {
  RealEnv real;
  const Env env = real.env();
  const Model model = ModelOf(state.range(0), state.range(1));
  VIGIL_CHECK(env.files->MakeDirectory(Directory()).ok());
  const std::string prefix = Directory() + "/m";
  const bool synced = state.range(3) == 1;
  for (auto _ : state) {
    if (state.range(2) == 0) {
      WriteRaw(env, model, prefix + ".raw", synced);
    } else {
      VIGIL_CHECK(WriteBundle(env, prefix, model.variables, synced ? Syncing::kYes : Syncing::kNo).ok());
    }
    state.PauseTiming();
    for (const std::string& name : NamesIn(*env.files, Directory())) {
      VIGIL_CHECK(env.files->Remove(JoinPath(Directory(), name)).ok());
    }
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * model.bytes);
}

void BM_Restore(benchmark::State& state) {
  RealEnv real;
  const Env env = real.env();
  const Model model = ModelOf(state.range(0), state.range(1));
  VIGIL_CHECK(env.files->MakeDirectory(Directory()).ok());
  const std::string prefix = Directory() + "/m";
  WriteRaw(env, model, prefix + ".raw", /*synced=*/false);
  VIGIL_CHECK(WriteBundle(env, prefix, model.variables, Syncing::kNo).ok());
  for (auto _ : state) {
    if (state.range(2) == 0) {
      ReadRaw(env, model, prefix + ".raw");
      continue;
    }
    BundleReader reader = *BundleReader::Open(*env.files, prefix);
    for (const auto& [name, variable] : model.variables) VIGIL_CHECK(reader.Read(name).ok());
  }
  for (const std::string& name : NamesIn(*env.files, Directory())) {
    VIGIL_CHECK(env.files->Remove(JoinPath(Directory(), name)).ok());
  }
  state.SetBytesProcessed(state.iterations() * model.bytes);
}

void Sizes(benchmark::internal::Benchmark* bench, const std::vector<std::int64_t>& synced) {
  for (const std::int64_t sync : synced) {
    for (const std::int64_t checkpoint : {0, 1}) {
      bench->Args({1000, 1 << 10, checkpoint, sync});
      bench->Args({1, std::int64_t{256} << 20, checkpoint, sync});
    }
  }
  bench->UseRealTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK(BM_Save)->Apply([](auto* bench) { Sizes(bench, {0, 1}); });
BENCHMARK(BM_Restore)->Apply([](auto* bench) { Sizes(bench, {0}); });

}  // namespace
}  // namespace vigil::bench
