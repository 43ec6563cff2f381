#include "vigil/core/train/optimizers/adam_optimizer.h"

#include <algorithm>

#include "vigil/core/train/optimizers/graph_names.h"

namespace vigil {

std::vector<SlotOptimizer::Number> AdamOptimizer::Numbers() const {
  return {{"learning_rate", options_.learning_rate},
          {"beta1", options_.beta1},
          {"beta2", options_.beta2},
          {"epsilon", options_.epsilon}};
}

void AdamOptimizer::AddShared(Builder& b, const std::vector<Output>& variables) {
  if (!b.status().ok()) return;
  // As tensors: "w1:0" comes before "w:0".
  const Output first =
      *std::ranges::min_element(variables, {}, [&b](Output variable) { return b.graph().NameOf(variable); });
  Shared(b, "beta1_power", options_.beta1, first);
  Shared(b, "beta2_power", options_.beta2, first);
}

ops::Variable AdamOptimizer::Power(const Builder& b, int which) const {
  return FindShared(b.graph(), which == 1 ? "beta1_power" : "beta2_power").value_or(ops::Variable());
}

NodeId AdamOptimizer::Dense(const Update& update, Output gradient) {
  std::vector<Output> inputs{update.variable, update.slots[0].ref, update.slots[1].ref};
  for (const int which : {1, 2}) inputs.push_back(update.As(Power(update.b, which).read));
  for (std::size_t i = 0; i < 4; ++i) inputs.push_back(update.Number(i));
  inputs.push_back(gradient);
  return update.Change("ApplyAdam", inputs, Locking());
}

Output AdamOptimizer::Rate(const Update& update) const {
  const auto rest = [&](int which) {
    return update.Op("Sub", {update.Const(1), update.As(Power(update.b, which).read)});
  };
  const Output up = update.Op("Mul", {update.Number(0), update.Op("Sqrt", {rest(2)})});
  return update.Op("RealDiv", {up, rest(1)});
}

Output AdamOptimizer::Average(const Update& update, std::size_t slot, Output rows, Output indices, Output beta) const {
  const ops::Variable& average = update.slots[slot];
  const Output share = update.Op("Mul", {rows, update.Op("Sub", {update.Const(1), beta})});
  const NodeId decayed = update.Change("Assign", {average.ref, update.Op("Mul", {average.read, beta})}, Locking());
  return update.Read(average, update.Change("ScatterAdd", {average.ref, indices, share}, Locking(), {decayed}));
}

NodeId AdamOptimizer::Sparse(const Update& update, Output values, Output indices) {
  const Output rate = Rate(update);
  const Output m = Average(update, 0, values, indices, update.Number(1));
  const Output v = Average(update, 1, update.Op("Mul", {values, values}), indices, update.Number(2));
  const Output below = update.Op("AddV2", {update.Op("Sqrt", {v}), update.Number(3)});
  const Output step = update.Op("RealDiv", {update.Op("Mul", {rate, m}), below});
  return update.Change("AssignSub", {update.variable, step}, Locking());
}

Output AdamOptimizer::Finish(Builder& b, const std::string& name, const std::vector<NodeId>& updates,
                             const std::vector<Output>& numbers) {
  std::vector<NodeId> all = updates;
  const std::string scope = name.substr(0, name.find("/update"));
  for (const int which : {1, 2}) {
    const ops::Variable power = Power(b, which);
    const Output next = b.Op("Mul", {power.read, numbers[static_cast<std::size_t>(which)]},
                             {.name = scope + "/mul", .control_inputs = updates, .colocate_with = power.ref.node});
    all.push_back(
        b.Op("Assign", {power.ref, next}, {.name = scope + "/Assign", .control_inputs = updates, .attrs = Locking()})
            .node);
  }
  return GroupByDevice(b, name, all);
}

}  // namespace vigil
