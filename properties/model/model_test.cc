#include "vigil/properties/model/model.h"

#include <gtest/gtest.h>

#include "vigil/core/base/code.h"

namespace vigil::properties::model {
namespace {

using replays::Scenario;

TEST(ModelTest, NamesWhatItDoesNotModel) {
  Scenario scenario;
  scenario.session.kind = replays::SessionKind::kSupervisor;
  scenario.session.args = {{"logdir", true}, {"save_model_secs", std::int64_t{600}}};
  const auto predicted = Predict(scenario);
  ASSERT_FALSE(predicted.ok());
  EXPECT_EQ(CodeOf(predicted.status()), Code::kUnimplemented);
  EXPECT_EQ(MessageOf(predicted.status()), "session.save_model_secs");
}

TEST(ModelTest, NamesWhatTurnsUpOnTheWay) {
  Scenario scenario;
  scenario.model.global_step = false;
  scenario.hooks = {
      {.hook = "probe", .name = "a", .plan = {{.method = "before_run", .action = replays::Action::kReadStep}}}};
  scenario.drive = {{.op = replays::Op::kRun}};
  const auto predicted = Predict(scenario);
  ASSERT_FALSE(predicted.ok());
  EXPECT_EQ(MessageOf(predicted.status()), "a read of the global step with model.global_step false");
}

TEST(ModelTest, EndsAtTheLimitOfLines) {
  Scenario scenario;
  scenario.hooks = {{.hook = "probe",
                     .name = "a",
                     .plan = {{.method = "before_run", .action = replays::Action::kRaise, .code = Code::kAborted}}}};
  scenario.drive = {{.op = replays::Op::kRun}};
  const auto predicted = Predict(scenario);
  ASSERT_TRUE(predicted.ok());
  EXPECT_TRUE(predicted->runaway);
  EXPECT_EQ(predicted->lines.size(), 601U);
}

}  // namespace
}  // namespace vigil::properties::model
