// How much memory a save takes beside the variables: `save_memory FOLDER MEBIBYTES` makes variables of 256 MiB each,
// that many in all, saves them by a Saver and says how far the process's peak has risen.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "vigil/core/base/check.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"

namespace vigil::bench {
namespace {

// A line of /proc/self/status, in KiB.
std::int64_t Status(const char* line) {
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  VIGIL_CHECK(file != nullptr);
  char buffer[256];
  std::int64_t value = -1;
  while (std::fgets(buffer, sizeof(buffer), file) != nullptr) {
    const std::string text(buffer);
    if (text.starts_with(line)) value = std::atoll(text.c_str() + std::string(line).size() + 1);
  }
  std::fclose(file);
  return value;
}

absl::Status Measure(const Env& env, const std::string& folder, std::int64_t mebibytes) {
  constexpr std::int64_t kEach = std::int64_t{256} << 20;
  Graph graph(BuiltinOps());
  Builder b(graph);
  for (std::int64_t i = 0; i < mebibytes / 256; ++i) {
    Tensor value(DType::kFloat, Shape({kEach / 4}));
    for (float& element : value.mutable_flat<float>()) element = static_cast<float>(i) + 0.5F;
    ops::MakeVariable(b, "variable_" + std::to_string(i), b.Const("initial", std::move(value)));
  }
  const Output init = ops::VariablesInitializer(b, "init", graph.Collection(kGlobalVariables));
  VIGIL_RETURN_IF_ERROR(b.status());
  const auto saver = std::make_shared<Saver>(env);
  VIGIL_RETURN_IF_ERROR(saver->Build(graph));
  const std::unique_ptr<Session> session = NewDirectSession(env, graph);
  VIGIL_RETURN_IF_ERROR(RunTarget(*session, init.node));
  const std::int64_t before = Status("VmHWM:");
  VIGIL_RETURN_IF_ERROR(
      saver->Save(*session, folder + "/model.ckpt", std::nullopt, {.write_meta_graph = false}).status());
  std::printf("variables of %lld MiB: the peak rose by %.1f MiB, from %.1f MiB\n", static_cast<long long>(mebibytes),
              static_cast<double>(Status("VmHWM:") - before) / 1024, static_cast<double>(before) / 1024);
  return absl::OkStatus();
}

}  // namespace
}  // namespace vigil::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: save_memory FOLDER MEBIBYTES\n");
    return 2;
  }
  vigil::RealEnv real;
  const absl::Status status = vigil::bench::Measure(real.env(), argv[1], std::atoll(argv[2]));
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
