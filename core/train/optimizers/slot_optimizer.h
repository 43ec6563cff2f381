// What the optimizers of this folder have in common: numbers that are constants or come from the graph (learning
// rates), variables of their own beside the model's (slots), one update for each variable.
//
// An optimizer says which numbers and slots it has, and adds the op that updates one variable. Names, places and order
// are TensorFlow's: slots are "<variable>/<optimizer>", "<variable>/<optimizer>_1", ...
// Thread safety: as the graph's. Source: optimizer.py, slot_creator.py.
#ifndef VIGIL_CORE_TRAIN_OPTIMIZERS_SLOT_OPTIMIZER_H_
#define VIGIL_CORE_TRAIN_OPTIMIZERS_SLOT_OPTIMIZER_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/optimizers/optimizer.h"

namespace vigil {

// A number, or a float scalar of the graph.
class HyperParameter {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> HyperParameter(T value)
      : value_(static_cast<float>(value)) {}          // NOLINT: a number is one
  HyperParameter(Output output) : output_(output) {}  // NOLINT: and so is a tensor

  const std::optional<Output>& output() const { return output_; }
  float value() const { return value_; }  // REQUIRES: no output
  // The output, or a constant of that name.
  Output In(Builder& b, const std::string& name) const;

 private:
  float value_ = 0;
  std::optional<Output> output_;
};

class SlotOptimizer : public Optimizer {
 public:
  // USAGE "No variables provided.", "No gradients provided for any variable: ['w:0', ...].", of a gradient that has
  // another type than its variable, and, where there are slots, of a variable that is neither float nor double.
  absl::StatusOr<Output> ApplyGradients(Builder& b, const GradientsAndVariables& gradients,
                                        std::optional<Output> global_step = std::nullopt,
                                        std::string name = "") override;
  std::string_view name() const override { return name_; }

  // Of the graph in which gradients were applied last.
  std::optional<Output> GetSlot(Output variable, std::string_view slot) const override;
  std::vector<std::string> GetSlotNames() const override;
  std::vector<Output> variables() const override;

 protected:
  struct Number {
    std::string name;
    HyperParameter value;
  };
  // A variable of the shape of each trained one.
  struct Slot {
    std::string name;  // "momentum"
    double initial = 0;
  };
  // The update of one variable, whose nodes are named "<scope>/...".
  struct Update {
    Builder& b;
    std::string scope;
    Output variable;
    const std::vector<Output>& numbers;  // as Numbers()
    std::vector<ops::Variable> slots;    // as Slots()

    // Output 0 of a new node with the variable.
    Output Op(std::string op, std::vector<Output> inputs, Attrs attrs = {}, std::vector<NodeId> after = {}) const;
    // A node that changes the variable or a slot of it, whichever kind they are of: `op` is that for references
    // ("ApplyAdam", "ScatterSub", "Assign"), in whose place the one for handles is made.
    NodeId Change(const std::string& op, std::vector<Output> inputs, Attrs attrs = {},
                  std::vector<NodeId> after = {}) const;
    // The value of a variable that `after`, made by Change(), has changed.
    Output Read(const ops::Variable& of, NodeId after) const;
    // A number, in the variable's type.
    Output As(Output number) const;
    Output Number(std::size_t i) const { return As(numbers[i]); }
    Output Const(double value) const;
  };

  SlotOptimizer(std::string name, bool use_locking) : name_(std::move(name)), use_locking_(use_locking) {}

  virtual std::vector<Number> Numbers() const = 0;
  virtual std::vector<Slot> Slots() const { return {}; }
  // A message of what cannot be: USAGE. Asked each time.
  virtual absl::Status Check() const { return absl::OkStatus(); }
  // Variables for all: made after the slots' check and before the slots.
  virtual void AddShared(Builder& /*b*/, const std::vector<Output>& /*variables*/) {}
  virtual NodeId Dense(const Update& update, Output gradient) = 0;
  // `indices` are distinct, unless SumsRows() is false.
  virtual NodeId Sparse(const Update& update, Output values, Output indices) = 0;
  virtual bool SumsRows() const { return true; }
  // The node after all updates.
  virtual Output Finish(Builder& b, const std::string& name, const std::vector<NodeId>& updates,
                        const std::vector<Output>& numbers);

  Attrs Locking(Attrs attrs = {}) const;
  // A variable that belongs to no other: "beta1_power". Made once in a graph.
  ops::Variable Shared(Builder& b, const std::string& name, const HyperParameter& initial, Output colocate_with);
  const std::optional<ops::Variable> FindShared(const Graph& graph, std::string_view name) const;

 private:
  using Key = std::pair<std::string, std::string>;  // slot and variable, or a shared variable's name and ""
  // Forgets what belongs to another graph.
  void EnterGraph(const Graph& graph);
  absl::Status CheckType(const Graph& graph, Output variable) const;
  ops::Variable GetOrMakeSlot(Builder& b, const Slot& slot, Output variable);
  NodeId AddUpdate(Builder& b, const std::string& scope, const GradientAndVariable& pair,
                   const std::vector<Output>& numbers);

  const std::string name_;
  const bool use_locking_;
  Graph::Identity graph_;
  std::map<Key, ops::Variable> made_;
  std::vector<Output> in_order_;
  std::map<Output, std::string> names_;  // of the trained variables
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OPTIMIZERS_SLOT_OPTIMIZER_H_
