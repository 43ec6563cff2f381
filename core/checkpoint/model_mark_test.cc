#include "vigil/core/checkpoint/model_mark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::HasSubstr;

TEST(ModelMarkTest, IsThereFromBeingSetUntilItIsCleared) {
  fakes::FakeEnv fake;
  Files& files = *fake.env().files;
  for (const ModelMark mark : {ModelMark::kDiverged, ModelMark::kInitializing}) {
    const ModelMark other = mark == ModelMark::kDiverged ? ModelMark::kInitializing : ModelMark::kDiverged;
    EXPECT_FALSE(*HasMark(files, "/train", mark));
    EXPECT_TRUE(ClearMark(files, "/train", mark).ok());
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(SetMark(files, "/train", mark).ok());
    EXPECT_TRUE(*HasMark(files, "/train", mark));
    EXPECT_FALSE(*HasMark(files, "/train", other));
    EXPECT_FALSE(*HasMark(files, "/other", mark));
    EXPECT_TRUE(ClearMark(files, "/train", mark).ok());
    EXPECT_FALSE(*HasMark(files, "/train", mark));
  }
}

TEST(ModelMarkTest, TellsWhoReadsIt) {
  fakes::FakeEnv fake;
  Files& files = *fake.env().files;
  ASSERT_TRUE(SetMark(files, "/train", ModelMark::kDiverged).ok());
  EXPECT_THAT(*ReadAll(files, "/train/diverged"), HasSubstr("The loss was NaN"));
  ASSERT_TRUE(SetMark(files, "/train", ModelMark::kInitializing).ok());
  EXPECT_THAT(*ReadAll(files, "/train/initializing"), HasSubstr("init_fn has not come to its end"));
}

TEST(ModelMarkTest, SaysWhyTheModelIsNotToBeTrusted) {
  fakes::FakeEnv fake;
  Files& files = *fake.env().files;
  EXPECT_EQ(*WhyNotToTrust(files, "/train"), "");
  ASSERT_TRUE(SetMark(files, "/train", ModelMark::kInitializing).ok());
  EXPECT_EQ(*WhyNotToTrust(files, "/train"), "its init_fn has not come to its end");
  ASSERT_TRUE(SetMark(files, "/train", ModelMark::kDiverged).ok());
  EXPECT_EQ(*WhyNotToTrust(files, "/train"), "it has diverged");
  EXPECT_EQ(*WhyNotToTrust(files, "/other"), "");
}

TEST(ModelMarkTest, WhatIsNotThereIsClearedWithoutLeaveToRemove) {
  fakes::FakeEnv fake;
  Files& files = *fake.env().files;
  fake.files.set_fault([](fakes::FileOp op, const std::string&) {
    return op == fakes::FileOp::kRemove ? MakeStatus(Code::kPermissionDenied, "not yours") : absl::OkStatus();
  });
  EXPECT_TRUE(ClearMark(files, "/train", ModelMark::kDiverged).ok());
  ASSERT_TRUE(SetMark(files, "/train", ModelMark::kDiverged).ok());
  EXPECT_EQ(CodeOf(ClearMark(files, "/train", ModelMark::kDiverged)), Code::kPermissionDenied);
}

}  // namespace
}  // namespace vigil
