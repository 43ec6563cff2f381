// What counts as a checkpoint of which something is missing.
#include "vigil/sim/cluster/whole_checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "vigil/core/env/files.h"
#include "vigil/fakes/fake_env.h"

namespace vigil::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WholeCheckpoints, AnIndexIsOneByItsWholeName) {
  fakes::FakeEnv fake;
  Files& files = *fake.env().files;
  ASSERT_TRUE(files.MakeDirectory("/jobs").ok());
  const auto write = [&](const std::string& name) {
    ASSERT_TRUE(files.Open(JoinPath("/jobs", name), OpenMode::kAppend).ok());
  };
  write("model.ckpt-3.index.tempstate17");
  write("model.ckpt-4.data-00000-of-00001");
  EXPECT_THAT(LookAtCheckpoints(files, "/jobs").incomplete, IsEmpty()) << "of neither there is an index";
  EXPECT_THAT(HalfDeletedCheckpoints(files, "/jobs"), ElementsAre(4));
  write("model.ckpt-3.index");
  EXPECT_THAT(LookAtCheckpoints(files, "/jobs").incomplete, ElementsAre(3));
  EXPECT_THAT(LookAtCheckpoints(files, "/jobs").whole, IsEmpty());
}

}  // namespace
}  // namespace vigil::sim
