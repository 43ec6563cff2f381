// What happens to a cluster: "plan". See description.h.
//
// Thread safety: constants. Not part of the interface of replays/: used in this folder only.
#ifndef VIGIL_REPLAYS_FORMAT_DESCRIBE_PLAN_H_
#define VIGIL_REPLAYS_FORMAT_DESCRIBE_PLAN_H_

#include <string>
#include <string_view>
#include <vector>

#include "vigil/replays/format/description.h"
#include "vigil/replays/format/objects.h"
#include "vigil/replays/format/value_types.h"

namespace vigil::replays {

// The tasks of a cluster, so that whatever names one can be checked.
class TaskNames {
 public:
  explicit TaskNames(const sim::JobSpec& job) : names_(sim::TaskNames(job)) {}
  void Check(const Field& field, std::string_view name) const;

 private:
  std::vector<std::string> names_;
};

// One of them.
class TaskType : public NameType {
 public:
  explicit TaskType(const TaskNames& names) : names_(names) {}
  void Read(const Field& field, std::string& out) const override {
    NameType::Read(field, out);
    names_.Check(field, out);
  }
  std::string Words() const override { return "task"; }

 private:
  const TaskNames& names_;
};

class PlanType : public Typed<sim::FaultPlan> {
 public:
  explicit PlanType(const TaskNames& names) : names_(names) {}
  void Read(const Field& field, sim::FaultPlan& out) const override;
  void Print(JsonWriter& w, const sim::FaultPlan& plan) const override;
  std::string Words() const override { return "list: object"; }

 private:
  void ReadEntry(const Field& entry, sim::FaultPlan& out) const;

  const TaskNames& names_;
};

void AppendPlanObjects(std::vector<DocumentedObject>& objects);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_DESCRIBE_PLAN_H_
