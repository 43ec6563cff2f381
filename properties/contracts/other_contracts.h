// What every Random, Log and Process promises (core/env/).
#ifndef VIGIL_PROPERTIES_CONTRACTS_OTHER_CONTRACTS_H_
#define VIGIL_PROPERTIES_CONTRACTS_OTHER_CONTRACTS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "vigil/core/env/env.h"

namespace vigil::contracts {

template <typename Place>
class RandomContract : public testing::Test {
 protected:
  Place place_;
};
TYPED_TEST_SUITE_P(RandomContract);

TYPED_TEST_P(RandomContract, DrawsOfAStreamDiffer) {
  this->place_.Run([](const Env& env) {
    std::set<std::uint64_t> seen;
    std::uint64_t high = 0;
    std::uint64_t low = ~std::uint64_t{0};
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t draw = env.random->Draw("stream");
      seen.insert(draw);
      high |= draw;
      low &= draw;
    }
    EXPECT_EQ(seen.size(), 100u);
    // Each of the 64 bits was drawn both ways.
    EXPECT_EQ(high, ~std::uint64_t{0});
    EXPECT_EQ(low, 0u);
  });
}

TYPED_TEST_P(RandomContract, TasksCanDrawAtOnce) {
  this->place_.Run([](const Env& env) {
    std::vector<std::unique_ptr<Task>> tasks;
    for (int i = 0; i < 4; ++i) {
      tasks.push_back(env.tasks->Spawn("drawer", [&env, i] {
        for (int n = 0; n < 100; ++n) env.random->Draw(std::to_string(i));
      }));
    }
    for (const auto& task : tasks) task->Join(kNever);
  });
}

REGISTER_TYPED_TEST_SUITE_P(RandomContract, DrawsOfAStreamDiffer, TasksCanDrawAtOnce);

template <typename Place>
class LogContract : public testing::Test {
 protected:
  Place place_;
};
TYPED_TEST_SUITE_P(LogContract);

TYPED_TEST_P(LogContract, TakesLinesOfEverySeverityFromEveryTask) {
  this->place_.Run([](const Env& env) {
    for (const Severity severity : {Severity::kInfo, Severity::kWarning, Severity::kError}) {
      env.log->Write(severity, "a line {} %s");
    }
    env.log->Write(Severity::kInfo, "");
    const auto task = env.tasks->Spawn("writer", [&] { env.log->Write(Severity::kInfo, "from a task"); });
    env.log->Write(Severity::kInfo, "from the other");
    task->Join(kNever);
  });
}

REGISTER_TYPED_TEST_SUITE_P(LogContract, TakesLinesOfEverySeverityFromEveryTask);

template <typename Place>
class ProcessContract : public testing::Test {
 protected:
  struct Slot {
    int value = 5;
  };
  static constexpr SlotKey<Slot> kOne{"one"};
  static constexpr SlotKey<Slot> kTwo{"two"};
  Place place_;
};
TYPED_TEST_SUITE_P(ProcessContract);

TYPED_TEST_P(ProcessContract, ASlotIsMadeOnceAndKept) {
  this->place_.Run([](const Env& env) {
    using Contract = ProcessContract<TypeParam>;
    EXPECT_EQ(env.process->Slot(Contract::kOne).value, 5);
    env.process->Slot(Contract::kOne).value = 6;
    EXPECT_EQ(env.process->Slot(Contract::kOne).value, 6);
    EXPECT_EQ(env.process->Slot(Contract::kTwo).value, 5);
    typename Contract::Slot* seen = nullptr;
    env.tasks->Spawn("other", [&] { seen = &env.process->Slot(Contract::kOne); })->Join(kNever);
    EXPECT_EQ(seen, &env.process->Slot(Contract::kOne));
  });
}

REGISTER_TYPED_TEST_SUITE_P(ProcessContract, ASlotIsMadeOnceAndKept);

}  // namespace vigil::contracts

#endif  // VIGIL_PROPERTIES_CONTRACTS_OTHER_CONTRACTS_H_
