#include "vigil/stress/testing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/io/record_reader.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/core/session/direct_session.h"

namespace vigil::stress {

void Dawdle(int round, std::uint32_t longest) {
  volatile std::uint32_t spin = (static_cast<std::uint32_t>(round) * 2654435761U) % longest;
  while (spin > 0) spin = spin - 1;
}

Tally::~Tally() {
  std::string line = "stress:";
  for (const auto& [name, count] : counts_) line += fmt::format(" {}={}", name, count);
  fmt::print("{}\n", line);
}

Folder::Folder() : path_(JoinPath(::testing::TempDir(), "vigil_stress_XXXXXX")) {
  EXPECT_NE(mkdtemp(path_.data()), nullptr) << path_;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Model::Model(const Env& env, std::int64_t value, std::int64_t weights)
    : graph_(BuiltinOps()), saver_(env, {.sharded = true, .max_to_keep = 3}) {
  Builder b(graph_);
  const ops::Variable v = ops::MakeVariable(b, "v", b.Const("a", Tensor::Scalar(value)));
  b.device = "/job:ps/task:1";
  const std::vector<std::int64_t> many(static_cast<std::size_t>(weights), value);
  const Output initial = b.Const("b", Tensor::Vector(many));
  const ops::Variable w = ops::MakeVariable(b, "w", initial);
  const Output ones = b.Const("ones", Tensor::Vector(std::vector<std::int64_t>(many.size(), 1)));
  const Output more = ops::AssignAdd(b, "more_w", w.ref, ones);
  b.device.clear();
  const Output one = b.Const("one", Tensor::Scalar<std::int64_t>(1));
  train_ = b.Group("train", {ops::AssignAdd(b, "more_v", v.ref, one).node, more.node}).node;
  EXPECT_TRUE(b.status().ok()) << b.status();
  EXPECT_TRUE(saver_.Build(graph_).ok());
  session_ = NewDirectSession(env, graph_);
  for (const ops::Variable& each : {v, w}) EXPECT_TRUE(RunTarget(*session_, each.initializer).ok());
}

void Model::Train() { EXPECT_TRUE(RunTarget(*session_, train_).ok()); }

absl::Status Model::Save(const std::string& folder, std::int64_t step) {
  return saver_.Save(*session_, folder + "/m", step, {.write_meta_graph = false}).status();
}

std::string Newest(const Env& env, const std::string& folder) {
  const auto newest = LatestCheckpoint(env, folder);
  if (!newest.ok()) return newest.status().ToString();
  if (!newest->has_value()) return "none";
  absl::StatusOr<BundleReader> reader = BundleReader::Open(*env.files, **newest);
  if (!reader.ok()) return reader.status().ToString();
  const absl::StatusOr<Tensor> v = reader->Read("v");
  if (!v.ok()) return v.status().ToString();
  const absl::StatusOr<Tensor> w = reader->Read("w");
  if (!w.ok()) return w.status().ToString();
  const std::int64_t value = v->scalar<std::int64_t>();
  for (const std::int64_t each : w->flat<std::int64_t>()) {
    if (each != value) return fmt::format("{}: torn, {} and {}", **newest, value, each);
  }
  return fmt::format("{}: {}", (*newest)->substr((*newest)->rfind('-') + 1), value);
}

std::int64_t StepOfNewest(const Env& env, const std::string& folder) {
  const std::string newest = Newest(env, folder);
  std::int64_t step = -1;
  const char* const end = newest.data() + newest.size();
  const auto read = std::from_chars(newest.data(), end, step);
  return read.ec == std::errc() && read.ptr != end && *read.ptr == ':' ? step : -1;
}

std::string CheckEvents(const Env& env, const std::string& folder) {
  const absl::StatusOr<std::vector<std::string>> names = env.files->List(folder);
  if (!names.ok()) return names.status().ToString();
  for (const std::string& name : *names) {
    if (name.find("tfevents") == name.npos) continue;
    const absl::StatusOr<std::string> bytes = ReadAll(*env.files, JoinPath(folder, name));
    if (!bytes.ok()) return bytes.status().ToString();
    RecordReader reader(*bytes);
    while (true) {
      const absl::StatusOr<std::optional<std::string_view>> record = reader.Next();
      if (!record.ok() && !reader.cut_off()) return name + ": " + record.status().ToString();
      if (!record.ok() || !record->has_value()) break;
    }
  }
  return "OK";
}

}  // namespace vigil::stress
