#include "vigil/replays/traces/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fmt/format.h"
#include "vigil/core/base/code.h"
#include "vigil/replays/format/json.h"
#include "vigil/replays/play/testing.h"

namespace vigil::replays {
namespace {

using Lines = std::vector<std::string>;

// Hands out `text` in pieces of `piece` bytes.
ChunkSource Pieces(std::string text, std::size_t piece) {
  return [text = std::move(text), piece, at = std::size_t{0}]() mutable -> absl::StatusOr<std::string> {
    std::string out = text.substr(std::min(at, text.size()), piece);
    at += out.size();
    return out;
  };
}

// One line for each record ("source:line text") or error ("error: message").
Lines Read(Files& files, const std::vector<std::string>& paths, const ChunkSource& standard_input = nullptr) {
  Lines lines;
  ReadRecords(files, standard_input, paths, [&](const RawRecord& record) {
    if (record.error.ok()) {
      lines.push_back(fmt::format("{}:{} {}", record.source, record.record, record.text));
    } else {
      lines.push_back(fmt::format("error: {}", MessageOf(record.error)));
    }
    return true;
  });
  return lines;
}

TEST(Input, ReadsARecordPerLine) {
  FilesWith files{{"a.jsonl", "{1}\n\n  \t\n{4}\r\n{5}"}};
  EXPECT_EQ(Read(files, {"a.jsonl"}), (Lines{"a.jsonl:1 {1}", "a.jsonl:4 {4}\r", "a.jsonl:5 {5}"}));
}

TEST(Input, ReadsOneRecordOverManyLines) {
  FilesWith files{{"a.json", "{\n 1\n}\n"}};
  EXPECT_EQ(Read(files, {"a.json"}), (Lines{"a.json:1 {\n 1\n}\n"}));
}

TEST(Input, Unpacks) {
  FilesWith files{{"a.jsonl.xz", PackXz("{1}\n{2}\n")}, {"b.json.xz", PackXz("{\n1}")}};
  EXPECT_EQ(Read(files, {"a.jsonl.xz", "b.json.xz"}),
            (Lines{"a.jsonl.xz:1 {1}", "a.jsonl.xz:2 {2}", "b.json.xz:1 {\n1}"}));
}

TEST(Input, SaysOnceThatPackedDataAreNotUnpackedUnderAnotherName) {
  const std::string why = ":1: these are .xz data: name the file .xz, or unpack it with xzcat";
  FilesWith files{{"a.jsonl", PackXz("{1}\n{2}\n")}, {"b.json", PackXz("{\n1}")}};
  EXPECT_EQ(Read(files, {"a.jsonl", "b.json", "-"}, Pieces(PackXz("{1}\n"), 7)),
            (Lines{"error: a.jsonl" + why, "error: b.json" + why, "error: -" + why}));
}

TEST(Input, UnpacksStreamsBehindEachOther) {
  FilesWith files{{"a.jsonl.xz", PackXz("{1}\n{") + PackXz("2}\n")}};
  EXPECT_EQ(Read(files, {"a.jsonl.xz"}), (Lines{"a.jsonl.xz:1 {1}", "a.jsonl.xz:2 {2}"}));
}

TEST(Input, ReadsFoldersInOrder) {
  FilesWith files{{"d/b.jsonl", "{b}"},
                  {"d/a/x.json", "{x}"},
                  {"d/c.json.xz", PackXz("{c}")},
                  {"d/notes.txt", "not a scenario"},
                  {"d/.hidden/y.json", "{y}"}};
  EXPECT_EQ(Read(files, {"d"}), (Lines{"d/a/x.json:1 {x}", "d/b.jsonl:1 {b}", "d/c.json.xz:1 {c}"}));
  EXPECT_EQ(Read(files, {"d/"}), (Lines{"d/a/x.json:1 {x}", "d/b.jsonl:1 {b}", "d/c.json.xz:1 {c}"}));
}

TEST(Input, StopsWhenItIsToldTo) {
  FilesWith files{{"a.jsonl", "{1}\n{2}\n{3}\n"}, {"b.jsonl", "{1}\n"}};
  int records = 0;
  ReadRecords(files, nullptr, {"a.jsonl", "b.jsonl"}, [&](const RawRecord&) { return ++records < 2; });
  EXPECT_EQ(records, 2);
}

TEST(Input, NamesWhatCannotBeRead) {
  FilesWith files{{"secret.jsonl", "{1}"}, {"locked/a.json", "{1}"}, {"odd.jsonl", "{1}"}, {"notes.txt", "{1}"}};
  files->set_fault([](fakes::FileOp op, const std::string& path) -> absl::Status {
    if (op == fakes::FileOp::kOpen && path == "secret.jsonl") return MakeStatus(Code::kPermissionDenied, "open");
    if (op == fakes::FileOp::kList && path == "locked") return MakeStatus(Code::kPermissionDenied, "list");
    if (op == fakes::FileOp::kOpen && path == "odd.jsonl")
      return MakeStatus(Code::kUnknown, "open: too many open files");
    return absl::OkStatus();
  });
  EXPECT_EQ(Read(files, {"gone.jsonl", "secret.jsonl", "locked", "odd.jsonl", "notes.txt", ""}),
            (Lines{"error: gone.jsonl: no such file or folder", "error: secret.jsonl: permission denied",
                   "error: locked: permission denied", "error: odd.jsonl: open: too many open files",
                   "error: notes.txt: a scenario file is called .json, .jsonl or .trace, each also with .xz; for "
                   "standard input say -",
                   "error: : an empty path"}));
}

TEST(Input, SaysWhenThereIsNoScenario) {
  FilesWith files{{"empty.jsonl", ""},
                  {"blank.jsonl", "\n \n"},
                  {"empty.json", " \n"},
                  {"none.jsonl.xz", PackXz("")},
                  {"d/notes.txt", "x"}};
  EXPECT_EQ(Read(files, {"empty.jsonl", "blank.jsonl", "empty.json", "none.jsonl.xz", "d", "-"}, Pieces("", 1)),
            (Lines{"error: empty.jsonl: holds no scenario", "error: blank.jsonl: holds no scenario",
                   "error: empty.json: holds no scenario", "error: none.jsonl.xz: holds no scenario",
                   "error: d: holds no scenario (.json, .jsonl or .trace, each also with .xz)",
                   "error: -: holds no scenario"}));
}

TEST(Input, KeepsWhatCameBeforeAReadError) {
  const std::string first = "{1}" + std::string(300'000, ' ');
  FilesWith files{{"a.jsonl", "{0}\n" + first + "\n{2}\n"}, {"b.jsonl", "{b}"}};
  files->FailOnce(fakes::FileOp::kRead, 2, MakeStatus(Code::kUnknown, "read: input/output error"));
  EXPECT_EQ(Read(files, {"a.jsonl", "b.jsonl"}),
            (Lines{"a.jsonl:1 {0}", "error: a.jsonl:2: read: input/output error", "b.jsonl:1 {b}"}));
}

TEST(Input, EscapesPathsInMessages) {
  FilesWith files{};
  EXPECT_EQ(Read(files, {"a\x1b[2J.json"}), (Lines{"error: a\\x1b[2J.json: no such file or folder"}));
}

TEST(Input, ADamagedPackedFileIsOneError) {
  std::string lines;
  for (int i = 0; i < 2000; ++i) lines += "{\"number\": " + std::to_string(i * i) + "}\n";
  const std::string packed = PackXz(lines);
  for (std::size_t i = 0; i < packed.size(); i += 97) {
    std::string damaged = packed;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    FilesWith files{{"a.jsonl.xz", damaged}, {"b.jsonl", "{b}"}};
    const Lines read = Read(files, {"a.jsonl.xz", "b.jsonl"});
    ASSERT_EQ(read.size(), 2u) << "byte " << i;
    EXPECT_THAT(read[0], testing::StartsWith("error: a.jsonl.xz: ")) << "byte " << i;
    EXPECT_EQ(read[1], "b.jsonl:1 {b}");
  }
  FilesWith files{{"a.jsonl.xz", packed.substr(0, packed.size() - 20)}};
  EXPECT_EQ(Read(files, {"a.jsonl.xz"}), (Lines{"error: a.jsonl.xz: cut short: the .xz data have no end"}));
}

// Every folder holds itself.
class EndlessFolders : public Files {
 public:
  absl::StatusOr<FileInfo> Stat(const std::string&) override {
    FileInfo info;
    info.is_directory = true;
    return info;
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string&) override {
    return std::vector<std::string>{"again"};
  }
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string&, OpenMode) override { return No(); }
  absl::Status Rename(const std::string&, const std::string&) override { return No(); }
  absl::Status Remove(const std::string&) override { return No(); }
  absl::Status MakeDirectory(const std::string&) override { return No(); }
  absl::Status SyncDirectory(const std::string&) override { return No(); }

 private:
  static absl::Status No() { return MakeStatus(Code::kUnimplemented, "no"); }
};

TEST(Input, GivesUpOnFoldersWithoutEnd) {
  EndlessFolders files;
  const Lines lines = Read(files, {"d"});
  ASSERT_EQ(lines.size(), 1u);
  std::string path = "d";
  for (int i = 0; i < 33; ++i) path += "/again";
  EXPECT_EQ(lines[0], "error: " + path + ": more than 32 folders deep: does a link lead back?");
}

TEST(StandardInput, IsLinesOrOneRecord) {
  FilesWith files{};
  for (const std::size_t piece : {1, 2, 3, 1000}) {
    EXPECT_EQ(Read(files, {"-"}, Pieces("{\"a\":\"}{\"}\n\n{2}\n", piece)), (Lines{"-:1 {\"a\":\"}{\"}", "-:3 {2}"}));
    EXPECT_EQ(Read(files, {"-"}, Pieces("\n{\n \"a\": 1\n}\n", piece)), (Lines{"-:2 {\n \"a\": 1\n}\n"}));
    EXPECT_EQ(Read(files, {"-"}, Pieces("{\"a\": \"\\\"{\", \n1}", piece)), (Lines{"-:1 {\"a\": \"\\\"{\", \n1}"}));
  }
  EXPECT_EQ(Read(files, {"-", "-"}, Pieces("{1}", 8)),
            (Lines{"-:1 {1}", "error: -: standard input can be read only once"}));
}

TEST(HugeLine, IsRefusedWithoutReadingItAll) {
  FilesWith files{};
  std::uint64_t handed_out = 0;
  const std::string piece(1 << 20, 'x');
  const ChunkSource endless = [&]() -> absl::StatusOr<std::string> {
    if (handed_out == 0) {
      handed_out = 4;
      return std::string("{1}\n");
    }
    handed_out += piece.size();
    return piece;
  };
  EXPECT_EQ(Read(files, {"-"}, endless),
            (Lines{"-:1 {1}", "error: -:2: a line longer than 16 MiB; the rest is not read"}));
  EXPECT_LE(handed_out, kMaxRecordBytes + (2 << 20));
}

TEST(HugeLine, OneRecordOverManyLinesIsLimitedToo) {
  FilesWith files{};
  std::string line = "{\n";
  line += std::string(1000, ' ') + "\n";
  std::uint64_t pieces = 0;
  const ChunkSource endless = [&]() -> absl::StatusOr<std::string> {
    ++pieces;
    return line;
  };
  EXPECT_EQ(Read(files, {"-"}, endless), (Lines{"error: -:1: longer than 16 MiB"}));
  EXPECT_LE(pieces, kMaxRecordBytes / 1000 + 10);
}

}  // namespace
}  // namespace vigil::replays
