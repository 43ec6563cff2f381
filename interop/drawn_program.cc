#include "vigil/interop/drawn_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "vigil/core/base/splitmix64.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/ops/random/seeds.h"
#include "vigil/core/train/optimizers/clipping.h"
#include "vigil/core/train/optimizers/exponential_moving_average.h"
#include "vigil/core/train/training_util.h"
#include "vigil/interop/drawn_optimizer.h"

namespace vigil::interop {
namespace {

using Dims = std::vector<std::int64_t>;

class Drawer {
 public:
  Drawer(Builder& b, std::uint64_t seed, int number, bool repeatable)
      : b_(b),
        repeatable_(repeatable),
        dice_(SplitMixAt(seed, static_cast<std::uint64_t>(number))),
        type_(dice_.Below(4) == 0 ? DType::kDouble : DType::kFloat),
        kinds_(dice_.Below(3)),
        batch_(static_cast<std::int64_t>(3 + dice_.Below(5))),
        fed_(dice_.Below(2) == 0 && !repeatable) {
    about_.emplace_back(DTypeName(type_));
    about_.emplace_back(kinds_ == 0 ? "ref variables" : kinds_ == 1 ? "resource variables" : "both kinds of variables");
    if (dice_.Below(3) == 0) SetRandomSeed(b.graph(), static_cast<std::int64_t>(dice_.Below(1000)));
  }

  absl::StatusOr<DrawnProgram> Draw(const Env& env) {
    VIGIL_ASSIGN_OR_RETURN(const Output step, GetOrCreateGlobalStep(env, b_));
    const Output loss = Loss(Model());
    program_.values.push_back(loss);
    VIGIL_RETURN_IF_ERROR(Train(loss, step));
    b_.graph().AddToCollection(CollectionKey<Output>{"interop_train"}, program_.train);
    b_.graph().AddToCollection(CollectionKey<Output>{"interop_loss"}, loss);
    ops::ScalarSummary(b_, "loss_summary", "loss", loss);
    ops::HistogramSummary(b_, "trained", "trained", b_.graph().Collection(ops::kVariables)[1].read);
    const Output numbers = b_.Const("numbers", Numbers({3, 5}, -2, 2));
    program_.values.push_back(ops::HistogramSummary(b_, "numbers_summary", "numbers", numbers));
    program_.init = ops::VariablesInitializer(b_, "init", b_.graph().Collection(kGlobalVariables)).node;
    for (const ops::Variable& each : b_.graph().Collection(ops::kVariables)) program_.values.push_back(each.read);
    VIGIL_RETURN_IF_ERROR(b_.status());
    const auto saver = std::make_shared<Saver>(env, SaverOptions{.sharded = dice_.Below(3) == 0});
    VIGIL_RETURN_IF_ERROR(saver->Build(b_.graph()));
    b_.graph().AddToCollection(kSavers, saver);
    FillBatches();
    program_.about = fmt::format("{}", fmt::join(about_, ", "));
    return std::move(program_);
  }

 private:
  double Real(double low, double high) { return low + (high - low) * static_cast<double>(dice_.Below(10001)) / 10000; }

  Tensor Numbers(const Dims& dims, double low, double high) {
    Tensor out(type_, Shape(dims));
    for (std::size_t i = 0; i < static_cast<std::size_t>(out.num_elements()); ++i) {
      if (type_ == DType::kDouble) {
        out.mutable_flat<double>()[i] = Real(low, high);
      } else {
        out.mutable_flat<float>()[i] = static_cast<float>(Real(low, high));
      }
    }
    return out;
  }
  Tensor Ids(const Dims& dims, std::size_t below) {
    Tensor out(DType::kInt32, Shape(dims));
    for (std::int32_t& id : out.mutable_flat<std::int32_t>()) id = static_cast<std::int32_t>(dice_.Below(below));
    return out;
  }
  Output Number(double value) { return b_.Const("number", Numbers({}, value, value)); }
  Output Ints(const std::vector<std::int32_t>& values) {
    return b_.Const("ints", Tensor::Vector<std::int32_t>(values));
  }
  Output Op(const char* op, std::vector<Output> inputs, Attrs attrs = {}) {
    return b_.Op(op, std::move(inputs), {.attrs = std::move(attrs)});
  }

  // Data: a constant, or fed anew in each step.
  Output Data(const std::string& name, std::function<Tensor()> make) {
    if (!fed_) return b_.Const(name, make());
    const Tensor first = make();
    const Output place = ops::Placeholder(b_, name, first.dtype());
    program_.feeds.push_back(place);
    makers_.push_back(std::move(make));
    return place;
  }
  void FillBatches() {
    for (int step = 0; step < kSteps; ++step) {
      for (const auto& make : makers_) program_.batches.push_back(make());
    }
  }

  ops::Variable Variable(const std::string& name, const Dims& dims) {
    Output initial;
    if (dice_.Below(3) == 0) {
      const std::vector<std::int32_t> shape(dims.begin(), dims.end());
      const Output drawn = ops::TruncatedNormal(b_, name + "/Initializer", Ints(shape), type_,
                                                static_cast<std::int64_t>(dice_.Below(100)));
      initial = Op("Mul", {drawn, Number(0.4)});
    } else {
      initial = b_.Const(name + "/initial_value", Numbers(dims, -0.7, 0.7));
    }
    const bool resource = kinds_ == 1 || (kinds_ == 2 && dice_.Below(2) == 0);
    const ops::Variable made =
        resource ? ops::MakeResourceVariable(b_, name, initial) : ops::MakeVariable(b_, name, initial);
    trained_.push_back(made.ref);
    return made;
  }

  Output Activation(Output x) {
    static constexpr const char* kAll[] = {"Relu", "Tanh", "Sigmoid", "Elu", "Softplus", "Relu6", "Identity", "Sin"};
    return Op(kAll[dice_.Below(std::size(kAll))], {x});
  }

  Output Dense(const std::string& name, Output x, std::int64_t in, std::int64_t out) {
    const bool transposed = dice_.Below(4) == 0;
    const Output w = Variable(name + "/kernel", transposed ? Dims{out, in} : Dims{in, out}).read;
    const Output product = Op("MatMul", {x, w}, {{"transpose_b", transposed}});
    const Output bias = Variable(name + "/bias", {out}).read;
    return dice_.Below(2) == 0 ? Op("BiasAdd", {product, bias}) : Op("AddV2", {product, bias});
  }

  // Some are left out, the same ones in TensorFlow: the numbers are.
  Output Dropout(Output x) {
    about_.emplace_back("dropout");
    const Output drawn =
        ops::RandomUniform(b_, "dropout", Op("Shape", {x}), type_, static_cast<std::int64_t>(dice_.Below(100)));
    return Op("Mul", {Op("RealDiv", {x, Number(0.75)}), Op("Floor", {Op("AddV2", {drawn, Number(0.75)})})});
  }

  // Each column without its mean, over its deviation.
  Output Normalized(Output x, std::int64_t n) {
    about_.emplace_back("normalized");
    const Output mean = Op("Mean", {x, Ints({0})}, {{"keep_dims", true}});
    const Output variance = Op("Mean", {Op("SquaredDifference", {x, mean}), Ints({0})}, {{"keep_dims", true}});
    const Output scale = Op("Mul", {Op("Rsqrt", {Op("AddV2", {variance, Number(0.01)})}), Variable("gamma", {n}).read});
    return Op("AddV2", {Op("Mul", {Op("Sub", {x, mean}), scale}), Variable("beta", {n}).read});
  }

  // Each gives batch_ rows, and says how long they are.
  Output DensePart(std::int64_t* columns) {
    about_.emplace_back("dense");
    std::int64_t n = 2 + static_cast<std::int64_t>(dice_.Below(4));
    const Dims dims{batch_, n};
    Output x = Data("x", [this, dims] { return Numbers(dims, -1, 1); });
    for (std::size_t layer = 0; layer < 1 + dice_.Below(2); ++layer) {
      const std::int64_t next = 2 + static_cast<std::int64_t>(dice_.Below(5));
      x = Activation(Dense(fmt::format("dense_{}", layer), x, n, next));
      n = next;
    }
    if (dice_.Below(4) == 0) x = Normalized(x, n);
    if (dice_.Below(4) == 0 && !repeatable_) x = Dropout(x);
    *columns = n;
    return x;
  }

  Output ConvPart(std::int64_t* columns) {
    about_.emplace_back("conv");
    const std::int64_t side = 4 + static_cast<std::int64_t>(dice_.Below(3));
    const std::int64_t channels = 1 + static_cast<std::int64_t>(dice_.Below(2));
    const std::int64_t filters = 1 + static_cast<std::int64_t>(dice_.Below(3));
    const std::int64_t stride = 1 + static_cast<std::int64_t>(dice_.Below(2));
    const bool same = dice_.Below(2) == 0;
    const std::string padding = same ? "SAME" : "VALID";
    const Dims dims{batch_, side, side, channels};
    Output x = Data("image", [this, dims] { return Numbers(dims, -1, 1); });
    x = Op("Conv2D", {x, Variable("conv/kernel", {3, 3, channels, filters}).read},
           {{"strides", Dims{1, stride, stride, 1}}, {"padding", padding}});
    x = Activation(Op("BiasAdd", {x, Variable("conv/bias", {filters}).read}));
    std::int64_t left = same ? (side + stride - 1) / stride : (side - 3) / stride + 1;
    if (left >= 2) {
      x = Op(dice_.Below(2) == 0 ? "MaxPool" : "AvgPool", {x},
             {{"ksize", Dims{1, 2, 2, 1}}, {"strides", Dims{1, 2, 2, 1}}, {"padding", std::string("SAME")}});
      left = (left + 1) / 2;
    }
    *columns = left * left * filters;
    return Op("Reshape", {x, Ints({static_cast<std::int32_t>(batch_), -1})});
  }

  Output EmbeddingPart(std::int64_t* columns) {
    about_.emplace_back("embedding");
    const std::size_t rows = 4 + dice_.Below(6);
    const std::int64_t size = 2 + static_cast<std::int64_t>(dice_.Below(3));
    const std::int64_t each = 1 + static_cast<std::int64_t>(dice_.Below(3));
    const Dims dims{batch_, each};
    const Output ids = Data("ids", [this, dims, rows] { return Ids(dims, rows); });
    const ops::Variable table = Variable("table", {static_cast<std::int64_t>(rows), size});
    const Output picked = ops::IsResourceVariable(b_.graph(), table.ref)
                              ? Op("ResourceGather", {table.ref, ids}, {{"dtype", type_}})
                              : Op("GatherV2", {table.read, ids, b_.Const("axis", Tensor::Scalar<std::int32_t>(0))});
    *columns = dice_.Below(2) == 0 ? size : size * each;
    if (*columns == size) return Op("Mean", {picked, Ints({1})});
    return Op("Reshape", {picked, Ints({static_cast<std::int32_t>(batch_), -1})});
  }

  // batch_ rows of outputs_.
  Output Model() {
    std::vector<Output> parts;
    std::int64_t all = 0;
    const std::size_t which = 1 + dice_.Below(7);  // a bit for each part
    const auto add = [&](std::size_t bit, Output (Drawer::*part)(std::int64_t*)) {
      if ((which & bit) == 0) return;
      std::int64_t columns = 0;
      parts.push_back((this->*part)(&columns));
      all += columns;
    };
    add(1, &Drawer::DensePart);
    add(2, &Drawer::ConvPart);
    add(4, &Drawer::EmbeddingPart);
    outputs_ = 2 + static_cast<std::int64_t>(dice_.Below(3));
    Output joined = parts[0];
    if (parts.size() > 1) {
      std::vector<Output> inputs = parts;
      inputs.push_back(b_.Const("axis", Tensor::Scalar<std::int32_t>(1)));
      joined = Op("ConcatV2", inputs);
    }
    return Dense("out", joined, all, outputs_);
  }

  Output Loss(Output out) {
    Output loss;
    const auto mean = [this](Output value, bool matrix) {
      return Op("Mean", {value, matrix ? Ints({0, 1}) : Ints({0})});
    };
    if (dice_.Below(2) == 0) {
      about_.emplace_back("cross entropy");
      const Output labels = Data("labels", [this] { return Ids({batch_}, static_cast<std::size_t>(outputs_)); });
      loss = mean(Op("SparseSoftmaxCrossEntropyWithLogits", {out, labels}), false);
    } else {
      about_.emplace_back("squares");
      const Output y = Data("y", [this] { return Numbers({batch_, outputs_}, -1, 1); });
      loss = mean(Op("SquaredDifference", {out, y}), true);
    }
    if (dice_.Below(3) != 0) return loss;
    about_.emplace_back("regularized");
    const Output first = b_.graph().Collection(ops::kVariables)[1].read;  // 0 is the global step
    return Op("AddV2", {loss, Op("Mul", {Number(0.05), Op("L2Loss", {first})})});
  }

  absl::Status Train(Output loss, Output step) {
    DrawnOptimizer drawn = DrawOptimizer(b_, step, [this](std::size_t n) { return dice_.Below(n); });
    about_.push_back(drawn.about);
    if (drawn.rate.has_value()) program_.values.push_back(*drawn.rate);
    VIGIL_ASSIGN_OR_RETURN(GradientsAndVariables pairs, drawn.optimizer->ComputeGradients(b_, loss, trained_));
    const std::size_t clipping = type_ == DType::kFloat ? dice_.Below(6) : 5;
    static constexpr const char* kClippings[] = {"clipped by value", "clipped by norm", "clipped by global norm"};
    if (clipping < 3) about_.emplace_back(kClippings[clipping]);
    if (clipping == 0) pairs = ClipByValue(b_, std::move(pairs), -0.3, 0.3);
    if (clipping == 1) pairs = ClipByNorm(b_, std::move(pairs), 0.5);
    if (clipping == 2) pairs = ClipByGlobalNorm(b_, std::move(pairs), 0.5);
    VIGIL_ASSIGN_OR_RETURN(program_.train, drawn.optimizer->ApplyGradients(b_, pairs, step));
    if (kinds_ != 0 || dice_.Below(3) != 0) return absl::OkStatus();
    about_.emplace_back("averages");
    ExponentialMovingAverage averages({.decay = 0.9, .num_updates = step});
    const std::vector<NodeId> before = b_.control_inputs;
    b_.control_inputs.push_back(program_.train.node);
    program_.train = averages.Apply(b_, trained_);
    b_.control_inputs = before;
    return b_.status();
  }

  Builder& b_;
  const bool repeatable_;
  SplitMix64 dice_;
  const DType type_;
  const std::size_t kinds_;  // of variables: references, resources, each one or the other
  const std::int64_t batch_;
  const bool fed_;
  std::int64_t outputs_ = 0;
  std::vector<Output> trained_;
  std::vector<std::function<Tensor()>> makers_;
  std::vector<std::string> about_;
  DrawnProgram program_;
};

}  // namespace

absl::StatusOr<DrawnProgram> DrawProgram(const Env& env, Graph& graph, std::uint64_t seed, int number,
                                         bool repeatable) {
  Builder b(graph);
  return Drawer(b, seed, number, repeatable).Draw(env);
}

}  // namespace vigil::interop
