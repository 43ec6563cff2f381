#include "vigil/replays/traces/input.h"

#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "vigil/core/base/code.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/traces/trace_file.h"

namespace vigil::replays {
namespace {

constexpr int kDeepestFolder = 32;
constexpr std::string_view kEndings = ".json, .jsonl or .trace, each also with .xz";

struct FileKind {
  bool known = false;
  bool lines = false;  // a record per line
  bool trace = false;
  bool packed = false;  // .xz
};

FileKind KindOf(std::string_view path) {
  FileKind kind;
  kind.packed = path.ends_with(".xz");
  if (kind.packed) path.remove_suffix(3);
  kind.lines = path.ends_with(".jsonl");
  kind.trace = path.ends_with(".trace");
  kind.known = kind.lines || kind.trace || path.ends_with(".json");
  return kind;
}

std::string Reason(const absl::Status& status) {
  switch (CodeOf(status)) {
    case Code::kNotFound:
      return "no such file or folder";
    case Code::kPermissionDenied:
      return "permission denied";
    default:
      return Escaped(MessageOf(status));
  }
}

// True if brackets are open at the end of the line: it is the first of a record over many lines.
bool GoesOn(std::string_view line) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return depth > 0;
}

class Input {
 public:
  Input(Files& files, const ChunkSource& standard_input, const OnRecord& on_record, std::string_view what)
      : files_(files), standard_input_(standard_input), on_record_(on_record), what_(what) {}

  bool enough() const { return enough_; }

  void ReadPath(const std::string& path) {
    if (path == "-") return ReadStandardInput();
    if (path.empty()) return Fail("", 0, MakeStatus(Code::kInvalidArgument, "an empty path"));
    const absl::StatusOr<FileInfo> info = files_.Stat(path);
    if (!info.ok()) return Fail(path, 0, info.status());
    if (!info->is_directory) return ReadFile(path);
    const std::int64_t before = handed_out_;
    seen_.clear();
    if (IsNew(*info)) ReadFolder(path, 0);
    if (handed_out_ == before) Complain(path, fmt::format("holds no {} ({})", what_, kEndings));
  }

 private:
  void Hand(RawRecord record) {
    ++handed_out_;
    if (!enough_) enough_ = !on_record_(std::move(record));
  }

  void Fail(const std::string& path, std::int64_t line, const absl::Status& status) {
    const std::string place = line > 0 ? fmt::format("{}:{}", Escaped(path), line) : Escaped(path);
    Hand({path, line, "", false, WithMessage(status, fmt::format("{}: {}", place, Reason(status)))});
  }
  void Complain(const std::string& path, std::string_view what) {
    Fail(path, 0, MakeStatus(Code::kInvalidArgument, what));
  }

  void ComplainOfNothing(const std::string& path) { Complain(path, fmt::format("holds no {}", what_)); }

  void ReadFolder(const std::string& path, int depth) {
    if (depth > kDeepestFolder) {
      return Complain(path, fmt::format("more than {} folders deep: does a link lead back?", kDeepestFolder));
    }
    const absl::StatusOr<std::vector<std::string>> names = files_.List(path);
    if (!names.ok()) return Fail(path, 0, names.status());
    for (const std::string& name : *names) {
      if (enough_) return;
      if (name.starts_with('.')) continue;
      const std::string below = JoinPath(path, name);
      const absl::StatusOr<FileInfo> info = files_.Stat(below);
      const bool is_folder = info.ok() && info->is_directory;
      if (!is_folder && !KindOf(name).known) continue;
      if (info.ok() && !IsNew(*info)) continue;
      if (is_folder) {
        ReadFolder(below, depth + 1);
      } else {
        ReadFile(below);
      }
    }
  }

  // False: this walk has been there, by another path.
  bool IsNew(const FileInfo& info) {
    return info.identity == decltype(info.identity)() || seen_.insert(info.identity).second;
  }

  void ReadFile(const std::string& path) {
    const FileKind kind = KindOf(path);
    if (!kind.known)
      return Complain(path, fmt::format("a {} file is called {}; for standard input say -", what_, kEndings));
    absl::StatusOr<std::unique_ptr<File>> file = files_.Open(path, OpenMode::kRead);
    if (!file.ok()) return Fail(path, 0, file.status());
    if (kind.packed) {
      // Twice: what is damaged gives one error, not one for each line that came out wrong.
      const absl::Status whole = CheckXz(FileChunks(*std::move(file)));
      if (!whole.ok()) return Fail(path, 0, whole);
      file = files_.Open(path, OpenMode::kRead);
      if (!file.ok()) return Fail(path, 0, file.status());
    }
    ChunkSource chunks = FileChunks(*std::move(file));
    chunks = kind.packed  ? UnpackXz(std::move(chunks))
             : kind.trace ? std::move(chunks)
                          : RefusePacked(std::move(chunks));
    if (kind.trace) return ReadTrace(path, std::move(chunks), kind.packed);
    LineReader reader(std::move(chunks));
    if (kind.lines) {
      ReadLines(path, reader, 0);
    } else {
      ReadWhole(path, reader, 1, "");
    }
  }

  // With its parts, which are not packed.
  void ReadTrace(const std::string& path, ChunkSource chunks, bool packed) {
    std::vector<std::string> parts;
    if (!packed) {
      absl::StatusOr<std::vector<std::string>> found = FindTraceParts(files_, path);
      if (!found.ok()) return Fail(path, 0, found.status());
      parts = *std::move(found);
    }
    std::string bytes;
    for (std::size_t next = 0;; ++next) {
      while (true) {
        const absl::StatusOr<std::string> chunk = chunks();
        if (!chunk.ok()) return Fail(path, 0, chunk.status());
        if (chunk->empty()) break;
        bytes += *chunk;
        if (bytes.size() > kMostTraceBytes) {
          return Complain(path, fmt::format("a trace larger than {} MiB", kMostTraceBytes >> 20));
        }
      }
      if (next == parts.size()) break;
      absl::StatusOr<std::unique_ptr<File>> file = files_.Open(parts[next], OpenMode::kRead);
      if (!file.ok()) return Fail(parts[next], 0, file.status());
      chunks = FileChunks(*std::move(file));
    }
    Hand({path, 1, std::move(bytes), true, {}});
  }

  // A record per line. `records` = how many of this source were handed out before.
  void ReadLines(const std::string& path, LineReader& reader, std::int64_t records) {
    while (!enough_) {
      absl::StatusOr<std::optional<LineReader::Line>> line = reader.Next();
      if (!line.ok()) return Fail(path, reader.line_number(), line.status());
      if (!line->has_value()) {
        if (records == 0) ComplainOfNothing(path);
        return;
      }
      ++records;
      Hand({path, (*line)->number, std::move((*line)->text), false, {}});
    }
  }

  void ReadWhole(const std::string& path, LineReader& reader, std::int64_t record, std::string text) {
    const absl::Status status = reader.TakeRest(text);
    if (!status.ok()) return Fail(path, record, status);
    if (text.find_first_not_of(" \t\r\n") == text.npos) return ComplainOfNothing(path);
    Hand({path, record, std::move(text), false, {}});
  }

  void ReadStandardInput() {
    if (read_standard_input_) return Complain("-", "standard input can be read only once");
    read_standard_input_ = true;
    LineReader reader(RefusePacked(standard_input_));
    absl::StatusOr<std::optional<LineReader::Line>> line = reader.Next();
    if (!line.ok()) return Fail("-", reader.line_number(), line.status());
    if (!line->has_value()) return ComplainOfNothing("-");
    if (GoesOn((*line)->text)) return ReadWhole("-", reader, (*line)->number, std::move((*line)->text) + "\n");
    Hand({"-", (*line)->number, std::move((*line)->text), false, {}});
    ReadLines("-", reader, 1);
  }

  Files& files_;
  const ChunkSource& standard_input_;
  const OnRecord& on_record_;
  const std::string_view what_;
  std::int64_t handed_out_ = 0;
  std::set<decltype(FileInfo::identity)> seen_;  // of the folder that is walked
  bool read_standard_input_ = false;
  bool enough_ = false;
};

}  // namespace

bool IsScenarioFile(const std::string& path) { return KindOf(path).known && !Basename(path).starts_with('.'); }

void ReadRecords(Files& files, const ChunkSource& standard_input, const std::vector<std::string>& paths,
                 const OnRecord& on_record, std::string_view what) {
  Input input(files, standard_input, on_record, what);
  for (const std::string& path : paths) {
    if (input.enough()) return;
    input.ReadPath(path);
  }
}

}  // namespace vigil::replays
