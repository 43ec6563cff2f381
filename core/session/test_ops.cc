#include "vigil/core/session/test_ops.h"

#include <atomic>
#include <new>
#include <stdexcept>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/kernel.h"

namespace vigil {
namespace {

struct Cell : Resource {
  static constexpr std::string_view kKind = "cell";
  std::atomic<std::int64_t> value{0};
  std::atomic<bool> set{false};
};

Cell& CellOf(KernelContext& c) {
  return **c.resource<Cell>([] { return std::make_shared<Cell>(); });
}

absl::Status Give(KernelContext& c, std::int64_t value) {
  c.set_output(0, Tensor::Scalar<std::int64_t>(value));
  return absl::OkStatus();
}

absl::Status ReadCell(KernelContext& c) {
  Cell& cell = CellOf(c);
  if (!cell.set) return MakeStatus(Code::kFailedPrecondition, "uninitialized " + c.holder().name);
  return Give(c, cell.value);
}

absl::Status Set(KernelContext& c) {
  CellOf(c).set = true;
  return Give(c, CellOf(c).value = c.input(1).scalar<std::int64_t>());
}

absl::Status Bump(KernelContext& c) {
  if (!CellOf(c).set) return MakeStatus(Code::kFailedPrecondition, "uninitialized " + c.holder().name);
  return Give(c, CellOf(c).value += c.input(1).scalar<std::int64_t>());
}

struct Gate : Resource {
  static constexpr std::string_view kKind = "gate";
  explicit Gate(const Env& env) : mutex(env.tasks->NewMutex("gate")), changed(env.tasks->NewCondition("gate")) {}
  void Cancel() override {
    MutexLock lock(*mutex);
    changed->NotifyAll();
  }
  const std::unique_ptr<Mutex> mutex;
  const std::unique_ptr<Condition> changed;
  bool open = false;  // guarded by *mutex
};

Gate& GateOf(KernelContext& c) {
  return **c.resource<Gate>([&c] { return std::make_shared<Gate>(c.env()); });
}

absl::Status WaitAtGate(KernelContext& c) {
  Gate& gate = GateOf(c);
  MutexLock lock(*gate.mutex);
  while (!gate.open) {
    if (c.cancelled()) return MakeStatus(Code::kCancelled, "waiting was cancelled");
    if (!gate.changed->Wait(*gate.mutex, c.deadline()))
      return MakeStatus(Code::kDeadlineExceeded, "the gate stayed shut");
  }
  return Give(c, 1);
}

absl::Status OpenGate(KernelContext& c) {
  Gate& gate = GateOf(c);
  MutexLock lock(*gate.mutex);
  gate.open = true;
  gate.changed->NotifyAll();
  return Give(c, 1);
}

absl::Status Big(KernelContext& c) {
  Tensor out(DType::kInt64, Shape({1000}));
  out.mutable_flat<std::int64_t>()[0] = c.input(0).scalar<std::int64_t>();
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

}  // namespace

OpRegistry TestOps() {
  const OutputTypesFn number = Always({DType::kInt64});
  OpRegistry ops;
  ops.Register({.name = "NoOp"});
  ops.Register({.name = "Value", .output_types = number, .constant = [](const Node& node) -> const Tensor& {
                  return std::get<Tensor>(node.attrs.find("value")->second);
                }});
  ops.Register({.name = "Input", .output_types = number, .compute = [](KernelContext&) {
                  return MakeStatus(Code::kInvalidArgument, "not fed");
                }});
  ops.Register({.name = "Add", .inputs = 2, .output_types = number, .compute = [](KernelContext& c) {
                  return Give(c, c.input(0).scalar<std::int64_t>() + c.input(1).scalar<std::int64_t>());
                }});
  ops.Register({.name = "Copy", .inputs = 1, .output_types = number, .compute = [](KernelContext& c) {
                  return Give(c, c.input(0).scalar<std::int64_t>());
                }});
  ops.Register({.name = "Cell", .output_types = number, .is_resource = true, .read = ReadCell});
  ops.Register(
      {.name = "Set", .inputs = 2, .output_types = number, .compute = Set, .ref_inputs = 1, .forwards_ref = true});
  ops.Register(
      {.name = "Bump", .inputs = 2, .output_types = number, .compute = Bump, .ref_inputs = 1, .forwards_ref = true});
  ops.Register({.name = "Gate", .output_types = Always({DType::kResource}), .is_resource = true, .per_session = true});
  ops.Register({.name = "TextGate", .output_types = Always({DType::kString}), .is_resource = true});
  ops.Register({.name = "Slow", .output_types = number, .compute = [](KernelContext& c) {
                  c.env().tasks->SleepUntil(DeadlineAfter(c.env(), std::chrono::seconds(2)));
                  return Give(c, 2);
                }});
  ops.Register({.name = "SharedGate", .output_types = Always({DType::kResource}), .is_resource = true});
  ops.Register({.name = "Wait", .inputs = 1, .output_types = number, .compute = WaitAtGate, .ref_inputs = 1});
  ops.Register({.name = "Open", .inputs = 1, .output_types = number, .compute = OpenGate, .ref_inputs = 1});
  ops.Register({.name = "Fail", .output_types = number, .compute = [](KernelContext& c) {
                  return MakeStatus(static_cast<Code>(c.attr<std::int64_t>("code")), "as asked");
                }});
  ops.Register({.name = "Throw", .output_types = number, .compute = [](KernelContext& c) -> absl::Status {
                  if (c.node().name == "no_memory") throw std::bad_alloc();
                  throw std::runtime_error("thrown");
                }});
  ops.Register({.name = "Big", .inputs = 1, .output_types = number, .compute = Big});
  ops.Register({.name = "Kernelless", .output_types = number});
  return ops;
}

Output TestGraph::Value(const std::string& name, std::int64_t value) {
  return b.Op("Value", {}, {.name = name, .attrs = {{"value", Tensor::Scalar<std::int64_t>(value)}}});
}

Output TestGraph::Node(const std::string& op, const std::string& name, std::vector<Output> inputs,
                       std::vector<NodeId> after) {
  return b.Op(op, std::move(inputs), {.name = name, .control_inputs = std::move(after)});
}

}  // namespace vigil
