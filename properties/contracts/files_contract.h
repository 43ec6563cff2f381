// What every Files promises (core/env/files.h): results, error codes, and messages that name the path.
#ifndef VIGIL_PROPERTIES_CONTRACTS_FILES_CONTRACT_H_
#define VIGIL_PROPERTIES_CONTRACTS_FILES_CONTRACT_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/env/env.h"

namespace vigil::contracts {

template <typename Place>
class FilesContract : public testing::Test {
 protected:
  // `path(name)` is the name inside the place's directory.
  void RunFiles(const std::function<void(Files& files, const std::function<std::string(std::string)>& path)>& body) {
    place_.Run([&](const Env& env) {
      body(*env.files, [this](const std::string& name) { return JoinPath(place_.directory(), name); });
    });
  }

  static void Write(Files& files, const std::string& path, std::string_view data, OpenMode mode = OpenMode::kTruncate) {
    auto file = files.Open(path, mode);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_TRUE((*file)->Append(data).ok());
    EXPECT_TRUE((*file)->Sync().ok());
    EXPECT_TRUE((*file)->Close().ok());
  }

  static std::string Read(Files& files, const std::string& path) {
    const auto data = ReadAll(files, path);
    return data.ok() ? *data : "error: " + std::string(CodeName(CodeOf(data.status())));
  }

  static void ExpectError(const absl::Status& status, Code code, const std::string& path) {
    EXPECT_EQ(CodeOf(status), code) << status;
    EXPECT_THAT(std::string(MessageOf(status)), testing::HasSubstr(path));
  }

  Place place_;
};
TYPED_TEST_SUITE_P(FilesContract);

TYPED_TEST_P(FilesContract, WhatWasAppendedIsRead) {
  this->RunFiles([](Files& files, const auto& path) {
    using Contract = FilesContract<TypeParam>;
    Contract::Write(files, path("a"), "one");
    EXPECT_EQ(Contract::Read(files, path("a")), "one");
    Contract::Write(files, path("a"), " two", OpenMode::kAppend);
    EXPECT_EQ(Contract::Read(files, path("a")), "one two");
    Contract::Write(files, path("a"), "3");
    EXPECT_EQ(Contract::Read(files, path("a")), "3");
    Contract::Write(files, path("b"), "new", OpenMode::kNew);
    EXPECT_EQ(Contract::Read(files, path("b")), "new");
    Contract::Write(files, path("c"), "", OpenMode::kAppend);
    EXPECT_EQ(Contract::Read(files, path("c")), "");
    const std::string binary("\0\n\xff\r", 4);
    Contract::Write(files, path("d"), binary);
    EXPECT_EQ(Contract::Read(files, path("d")), binary);
  });
}

TYPED_TEST_P(FilesContract, ReadsStopAtTheEndOfTheFile) {
  this->RunFiles([](Files& files, const auto& path) {
    FilesContract<TypeParam>::Write(files, path("a"), "0123456789");
    const auto file = files.Open(path("a"), OpenMode::kRead);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ((*file)->Read(0, 4).value(), "0123");
    EXPECT_EQ((*file)->Read(8, 4).value(), "89");
    EXPECT_EQ((*file)->Read(10, 4).value(), "");
    EXPECT_EQ((*file)->Read(1000, 4).value(), "");
    EXPECT_EQ((*file)->Read(2, 0).value(), "");
    EXPECT_EQ((*file)->Read(0, ~std::uint64_t{0}).value(), "0123456789");
  });
}

TYPED_TEST_P(FilesContract, AnOpenFileShowsWhatIsAppended) {
  this->RunFiles([](Files& files, const auto& path) {
    const auto writer = files.Open(path("a"), OpenMode::kTruncate);
    const auto reader = files.Open(path("a"), OpenMode::kRead);
    ASSERT_TRUE(writer.ok() && reader.ok());
    EXPECT_TRUE((*writer)->Append("abc").ok());
    EXPECT_EQ((*reader)->Read(0, 10).value(), "abc");
    EXPECT_EQ((*writer)->Read(1, 10).value(), "bc");
    EXPECT_TRUE((*writer)->Append("def").ok());
    EXPECT_EQ((*reader)->Read(2, 10).value(), "cdef");
  });
}

TYPED_TEST_P(FilesContract, OpenNamesWhatIsWrong) {
  this->RunFiles([](Files& files, const auto& path) {
    using Contract = FilesContract<TypeParam>;
    Contract::Write(files, path("a"), "x");
    for (const OpenMode mode :
         {OpenMode::kTruncate, OpenMode::kAppend, OpenMode::kNew, OpenMode::kTemporary, OpenMode::kRead}) {
      Contract::ExpectError(files.Open(path("none/a"), mode).status(), Code::kNotFound, path("none/a"));
      Contract::ExpectError(files.Open(path("a/b"), mode).status(), Code::kFailedPrecondition, path("a/b"));
      Contract::ExpectError(files.Open(path("a/b/c"), mode).status(), Code::kFailedPrecondition, path("a/b/c"));
    }
    Contract::ExpectError(files.Open(path("none"), OpenMode::kRead).status(), Code::kNotFound, path("none"));
    for (const OpenMode mode : {OpenMode::kNew, OpenMode::kTemporary}) {
      Contract::ExpectError(files.Open(path("a"), mode).status(), Code::kAlreadyExists, path("a"));
    }
    EXPECT_TRUE(files.MakeDirectory(path("d")).ok());
    for (const OpenMode mode : {OpenMode::kTruncate, OpenMode::kAppend, OpenMode::kRead}) {
      Contract::ExpectError(files.Open(path("d"), mode).status(), Code::kFailedPrecondition, path("d"));
    }
    EXPECT_EQ(Contract::Read(files, path("a")), "x");
  });
}

TYPED_TEST_P(FilesContract, AFileForReadingTakesNothingAndAClosedOneDoesNothing) {
  this->RunFiles([](Files& files, const auto& path) {
    using Contract = FilesContract<TypeParam>;
    Contract::Write(files, path("a"), "x");
    const auto file = files.Open(path("a"), OpenMode::kRead);
    ASSERT_TRUE(file.ok());
    Contract::ExpectError((*file)->Append("y"), Code::kFailedPrecondition, path("a"));
    EXPECT_TRUE((*file)->Close().ok());
    Contract::ExpectError((*file)->Close(), Code::kFailedPrecondition, path("a"));
    Contract::ExpectError((*file)->Read(0, 1).status(), Code::kFailedPrecondition, path("a"));
    Contract::ExpectError((*file)->Sync(), Code::kFailedPrecondition, path("a"));
    EXPECT_EQ(Contract::Read(files, path("a")), "x");
  });
}

TYPED_TEST_P(FilesContract, RenameReplacesAndKeepsOpenFilesAlive) {
  this->RunFiles([](Files& files, const auto& path) {
    using Contract = FilesContract<TypeParam>;
    Contract::Write(files, path("new"), "new");
    Contract::Write(files, path("old"), "old");
    const auto reader = files.Open(path("old"), OpenMode::kRead);
    ASSERT_TRUE(reader.ok());
    EXPECT_TRUE(files.Rename(path("new"), path("old")).ok());
    EXPECT_EQ(Contract::Read(files, path("old")), "new");
    EXPECT_FALSE(*Exists(files, path("new")));
    EXPECT_EQ((*reader)->Read(0, 10).value(), "old");
    EXPECT_TRUE(files.Rename(path("old"), path("old")).ok());
    EXPECT_EQ(Contract::Read(files, path("old")), "new");
  });
}

TYPED_TEST_P(FilesContract, RenameMovesDirectories) {
  this->RunFiles([](Files& files, const auto& path) {
    using Contract = FilesContract<TypeParam>;
    EXPECT_TRUE(files.MakeDirectory(path("d/e")).ok());
    Contract::Write(files, path("d/e/f"), "deep");
    Contract::Write(files, path("d.txt"), "beside");
    EXPECT_TRUE(files.MakeDirectory(path("empty")).ok());
    EXPECT_TRUE(files.Rename(path("d"), path("empty")).ok());
    EXPECT_EQ(Contract::Read(files, path("empty/e/f")), "deep");
    EXPECT_FALSE(*Exists(files, path("d")));
    EXPECT_EQ(Contract::Read(files, path("d.txt")), "beside");
  });
}

TYPED_TEST_P(FilesContract, RenameNamesWhatIsWrong) {
  this->RunFiles([](Files& files, const auto& path) {
    using Contract = FilesContract<TypeParam>;
    Contract::Write(files, path("a"), "x");
    EXPECT_TRUE(files.MakeDirectory(path("full/sub")).ok());
    EXPECT_TRUE(files.MakeDirectory(path("d")).ok());
    Contract::ExpectError(files.Rename(path("none"), path("b")), Code::kNotFound, path("none"));
    Contract::ExpectError(files.Rename(path("a"), path("none/b")), Code::kNotFound, path("none/b"));
    Contract::ExpectError(files.Rename(path("a"), path("d")), Code::kFailedPrecondition, path("d"));
    Contract::ExpectError(files.Rename(path("d"), path("a")), Code::kFailedPrecondition, path("a"));
    Contract::ExpectError(files.Rename(path("d"), path("full")), Code::kFailedPrecondition, path("full"));
    EXPECT_EQ(Contract::Read(files, path("a")), "x");
  });
}

TYPED_TEST_P(FilesContract, RemoveTakesFilesAndEmptyDirectories) {
  this->RunFiles([](Files& files, const auto& path) {
    using Contract = FilesContract<TypeParam>;
    EXPECT_TRUE(files.MakeDirectory(path("d")).ok());
    Contract::Write(files, path("d/a"), "x");
    Contract::ExpectError(files.Remove(path("d")), Code::kFailedPrecondition, path("d"));
    const auto reader = files.Open(path("d/a"), OpenMode::kRead);
    ASSERT_TRUE(reader.ok());
    EXPECT_TRUE(files.Remove(path("d/a")).ok());
    EXPECT_EQ((*reader)->Read(0, 10).value(), "x");
    EXPECT_TRUE(files.Remove(path("d")).ok());
    EXPECT_FALSE(*Exists(files, path("d")));
    Contract::ExpectError(files.Remove(path("d")), Code::kNotFound, path("d"));
  });
}

TYPED_TEST_P(FilesContract, StatTellsKindSizeAndTime) {
  this->place_.Run([this](const Env& env) {
    using Contract = FilesContract<TypeParam>;
    Files& files = *env.files;
    const std::string file = JoinPath(this->place_.directory(), "a");
    // A file system's time may be a little behind the clock's.
    const Time before = env.clock->Now() + std::chrono::seconds(-1);
    Contract::Write(files, file, "12345");
    const auto info = files.Stat(file);
    ASSERT_TRUE(info.ok()) << info.status();
    EXPECT_EQ(info->size, 5u);
    EXPECT_FALSE(info->is_directory);
    EXPECT_GE(info->modified, before);
    EXPECT_LE(info->modified, env.clock->Now() + std::chrono::seconds(1));
    env.tasks->SleepUntil(DeadlineAfter(env, 4 * TypeParam::Tick()));
    Contract::Write(files, file, "6", OpenMode::kAppend);
    EXPECT_GT(files.Stat(file)->modified, info->modified);
    EXPECT_TRUE(files.Stat(this->place_.directory())->is_directory);
    Contract::ExpectError(files.Stat(file + "/x").status(), Code::kFailedPrecondition, file + "/x");
    Contract::ExpectError(files.Stat(file + "x").status(), Code::kNotFound, file + "x");
  });
}

TYPED_TEST_P(FilesContract, ListGivesSortedNames) {
  this->RunFiles([](Files& files, const auto& path) {
    using Contract = FilesContract<TypeParam>;
    using testing::ElementsAre;
    EXPECT_THAT(files.List(path("")).value(), ElementsAre());
    for (const char* const name : {"b", "a", "c.txt", "Z"}) Contract::Write(files, path(name), "x");
    EXPECT_TRUE(files.MakeDirectory(path("bb/sub")).ok());
    EXPECT_THAT(files.List(path("")).value(), ElementsAre("Z", "a", "b", "bb", "c.txt"));
    EXPECT_THAT(files.List(path("bb")).value(), ElementsAre("sub"));
    EXPECT_THAT(files.List(path("bb/")).value(), ElementsAre("sub"));
    Contract::ExpectError(files.List(path("a")).status(), Code::kFailedPrecondition, path("a"));
    Contract::ExpectError(files.List(path("none")).status(), Code::kNotFound, path("none"));
  });
}

TYPED_TEST_P(FilesContract, MakeDirectoryMakesParentsToo) {
  this->RunFiles([](Files& files, const auto& path) {
    using Contract = FilesContract<TypeParam>;
    EXPECT_TRUE(files.MakeDirectory(path("x/y/z")).ok());
    EXPECT_TRUE(files.MakeDirectory(path("x/y/z")).ok());
    EXPECT_TRUE(files.MakeDirectory(path("x//y/w/")).ok());
    for (const char* made : {"x", "x/y/", "x//y"}) EXPECT_TRUE(files.SyncDirectory(path(made)).ok()) << made;
    EXPECT_TRUE(files.SyncDirectory("").ok());
    EXPECT_TRUE(files.SyncDirectory("/").ok());
    Contract::ExpectError(files.SyncDirectory(path("none")), Code::kNotFound, path("none"));
    EXPECT_TRUE(files.Stat(path("x/y/w"))->is_directory);
    Contract::Write(files, path("f"), "x");
    Contract::ExpectError(files.MakeDirectory(path("f")), Code::kFailedPrecondition, path("f"));
    Contract::ExpectError(files.SyncDirectory(path("f")), Code::kFailedPrecondition, path("f"));
    Contract::ExpectError(files.MakeDirectory(path("f/g")), Code::kFailedPrecondition, path("f/g"));
  });
}

TYPED_TEST_P(FilesContract, WriteAtomicallyLeavesNothingBehind) {
  this->RunFiles([](Files& files, const auto& path) {
    using Contract = FilesContract<TypeParam>;
    EXPECT_TRUE(WriteAtomically(files, path("state"), "1").ok());
    EXPECT_TRUE(WriteAtomically(files, path("state"), "2").ok());
    EXPECT_EQ(Contract::Read(files, path("state")), "2");
    EXPECT_THAT(files.List(path("")).value(), testing::ElementsAre("state"));
  });
}

REGISTER_TYPED_TEST_SUITE_P(FilesContract, WhatWasAppendedIsRead, ReadsStopAtTheEndOfTheFile,
                            AnOpenFileShowsWhatIsAppended, OpenNamesWhatIsWrong,
                            AFileForReadingTakesNothingAndAClosedOneDoesNothing, RenameReplacesAndKeepsOpenFilesAlive,
                            RenameMovesDirectories, RenameNamesWhatIsWrong, RemoveTakesFilesAndEmptyDirectories,
                            StatTellsKindSizeAndTime, ListGivesSortedNames, MakeDirectoryMakesParentsToo,
                            WriteAtomicallyLeavesNothingBehind);

}  // namespace vigil::contracts

#endif  // VIGIL_PROPERTIES_CONTRACTS_FILES_CONTRACT_H_
