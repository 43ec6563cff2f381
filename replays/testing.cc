#include "vigil/replays/testing.h"

#include <gtest/gtest.h>
#include <lzma.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "vigil/core/base/code.h"

namespace vigil::replays {
namespace {

class MemoryFile : public File {
 public:
  MemoryFile(std::string content, std::uint64_t broken_behind)
      : content_(std::move(content)), broken_behind_(broken_behind) {}
  absl::Status Append(std::string_view) override { return MakeStatus(Code::kUnimplemented, "read-only"); }
  absl::StatusOr<std::string> Read(std::uint64_t offset, std::uint64_t size) override {
    if (offset >= broken_behind_) return MakeStatus(Code::kUnknown, "read: input/output error");
    const std::uint64_t begin = std::min<std::uint64_t>(offset, content_.size());
    return content_.substr(begin, std::min(size, broken_behind_ - offset));
  }
  absl::Status Sync() override { return absl::OkStatus(); }
  absl::Status Close() override { return absl::OkStatus(); }

 private:
  std::string content_;
  std::uint64_t broken_behind_;
};

std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

absl::Status ReadOnly() { return MakeStatus(Code::kUnimplemented, "read-only"); }

}  // namespace

absl::StatusOr<std::unique_ptr<File>> MemoryFiles::Open(const std::string& path, OpenMode mode) {
  if (mode != OpenMode::kRead) return ReadOnly();
  if (const auto found = unreadable.find(path); found != unreadable.end()) return found->second;
  const auto found = content.find(path);
  if (found == content.end()) return MakeStatus(Code::kNotFound, "open " + path);
  const auto broken = broken_behind.find(path);
  return std::make_unique<MemoryFile>(found->second, broken == broken_behind.end() ? UINT64_MAX : broken->second);
}

absl::StatusOr<FileInfo> MemoryFiles::Stat(const std::string& path) {
  FileInfo info;
  if (const auto found = content.find(path); found != content.end()) {
    info.size = found->second.size();
    return info;
  }
  const std::string prefix = WithoutSlash(path) + "/";
  const auto below = content.lower_bound(prefix);
  if (below == content.end() || !below->first.starts_with(prefix)) return MakeStatus(Code::kNotFound, "stat " + path);
  info.is_directory = true;
  return info;
}

absl::StatusOr<std::vector<std::string>> MemoryFiles::List(const std::string& directory) {
  if (const auto found = unreadable.find(directory); found != unreadable.end()) return found->second;
  std::vector<std::string> names;
  const std::string prefix = WithoutSlash(directory) + "/";
  for (auto at = content.lower_bound(prefix); at != content.end() && at->first.starts_with(prefix); ++at) {
    const std::string rest = at->first.substr(prefix.size());
    const std::string name = rest.substr(0, rest.find('/'));
    if (!name.empty() && (names.empty() || names.back() != name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

absl::Status MemoryFiles::Rename(const std::string&, const std::string&) { return ReadOnly(); }
absl::Status MemoryFiles::Remove(const std::string&) { return ReadOnly(); }
absl::Status MemoryFiles::MakeDirectory(const std::string&) { return ReadOnly(); }

std::string RecordedPath(std::string_view name) {
  return std::string(VIGIL_SOURCE_DIR "/replays/tensorflow/") + std::string(name);
}

std::string ReadDisk(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

const std::vector<RawRecord>& RecordedRecords() {
  static const std::vector<RawRecord> records = [] {
    MemoryFiles files;
    for (const char* name : {"cases.jsonl", "pairs.jsonl.xz", "random.jsonl", "supervisor.jsonl", "units.jsonl"}) {
      files.content["tensorflow/" + std::string(name)] = ReadDisk(RecordedPath(name));
    }
    std::vector<RawRecord> all;
    ReadRecords(files, nullptr, {"tensorflow"}, [&](RawRecord record) {
      all.push_back(std::move(record));
      return true;
    });
    return all;
  }();
  return records;
}

std::string PackXz(std::string_view data) { return PackXzWithDictionary(data, 1 << 20); }

std::string PackXzWithDictionary(std::string_view data, std::uint32_t dictionary_bytes) {
  lzma_options_lzma options;
  EXPECT_FALSE(lzma_lzma_preset(&options, 0));
  options.dict_size = dictionary_bytes;
  lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::string out(lzma_stream_buffer_bound(data.size()), '\0');
  std::size_t size = 0;
  const lzma_ret ret =
      lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(data.data()),
                                data.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size());
  EXPECT_EQ(ret, LZMA_OK);
  out.resize(size);
  return out;
}

}  // namespace vigil::replays
