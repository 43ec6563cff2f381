#include "vigil/core/gradients/testing.h"

#include <utility>

namespace vigil {
namespace {

using Inputs = std::vector<Output>;

// Numbers that are no multiples of each other, neither close to zero nor to one another; `shift` gives others.
Tensor Numbers(std::vector<std::int64_t> dims, double low, double high, double shift = 0) {
  Tensor out(DType::kDouble, Shape(std::move(dims)));
  double at = 0.217 + shift;
  for (double& element : out.mutable_flat<double>()) {
    at += 0.618034;
    at -= static_cast<double>(static_cast<int>(at));
    element = low + (high - low) * at;
  }
  return out;
}
// Of either sign.
Tensor Signed(std::vector<std::int64_t> dims, double shift = 0) { return Numbers(std::move(dims), -2.0, 2.1, shift); }
Tensor Positive(std::vector<std::int64_t> dims, double shift = 0) { return Numbers(std::move(dims), 0.3, 2.0, shift); }

// Rows that add up to 1: only for such labels is the loss's gradient what it is said to be, in TensorFlow as here.
Tensor Probabilities(std::int64_t rows, std::int64_t columns) {
  Tensor out = Positive({rows, columns}, 0.3);
  double* row = out.mutable_flat<double>().data();
  for (std::int64_t i = 0; i < rows; ++i, row += columns) {
    double sum = 0;
    for (std::int64_t k = 0; k < columns; ++k) sum += row[k];
    for (std::int64_t k = 0; k < columns; ++k) row[k] /= sum;
  }
  return out;
}

Output Ints(Builder& b, const std::vector<std::int32_t>& values) {
  return b.Const("ints", Tensor::Vector<std::int32_t>(values));
}
Output Int(Builder& b, std::int32_t value) { return b.Const("int", Tensor::Scalar<std::int32_t>(value)); }

DifferentiableCase Plain(std::string op, std::vector<Tensor> inputs, Attrs attrs = {}) {
  return {op, std::move(inputs), [op, attrs](Builder& b, const Inputs& in) { return b.Op(op, in, {.attrs = attrs}); }};
}

// The inputs, then constant ones.
DifferentiableCase With(std::string op, std::vector<Tensor> inputs, std::vector<Tensor> constants, Attrs attrs = {}) {
  return {op, std::move(inputs), [op, constants, attrs](Builder& b, const Inputs& in) {
            Inputs all = in;
            for (const Tensor& each : constants) all.push_back(b.Const("c", each));
            return b.Op(op, all, {.attrs = attrs});
          }};
}

Tensor IntVector(std::vector<std::int32_t> values) { return Tensor::Vector<std::int32_t>(values); }
Tensor IntScalar(std::int32_t value) { return Tensor::Scalar<std::int32_t>(value); }

// Outputs of different weights, added up.
Output AddUp(Builder& b, const Inputs& outputs) {
  Inputs terms;
  double weight = 1;
  for (const Output output : outputs) {
    terms.push_back(b.Op("Mul", {output, b.Const("weight", Tensor::Scalar<double>(weight))}));
    weight += 0.7;
  }
  return b.Op("AddN", terms);
}

void AddUnary(std::vector<DifferentiableCase>& all) {
  for (const char* const op : {"Identity", "PlaceholderWithDefault", "Neg", "Abs", "Sign", "Square", "Exp", "Expm1",
                               "Sin", "Cos", "Sigmoid", "Tanh", "Relu", "Relu6", "Elu", "Softplus", "L2Loss"}) {
    all.push_back(Plain(op, {Signed({2, 3})}));
    all.push_back(Plain(op, {Signed({})}));
  }
  for (const char* const op : {"Log", "Log1p", "Sqrt", "Rsqrt", "Reciprocal", "Inv"}) {
    all.push_back(Plain(op, {Positive({2, 3})}));
  }
  for (const char* const op : {"SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad", "SigmoidGrad", "TanhGrad",
                               "ReluGrad", "Relu6Grad", "SoftplusGrad", "EluGrad"}) {
    all.push_back(Plain(op, {Positive({2, 3}), Positive({2, 3}, 0.17)}));
    all.push_back(Plain(op, {Positive({3}, 0.3), Signed({3}, 0.1)}));
  }
  // To and from: a float would have too few digits for differences.
  all.push_back({"Cast", {Signed({3})}, [](Builder& b, const Inputs& in) {
                   const Output same = b.Op("Cast", in, {.attrs = {{"DstT", DType::kDouble}}});
                   const Output less = b.Op("Cast", {b.Op("Cast", in, {.attrs = {{"DstT", DType::kInt32}}})},
                                            {.attrs = {{"DstT", DType::kDouble}}});
                   return b.Op("AddV2", {same, less});
                 }});
}

void AddBinary(std::vector<DifferentiableCase>& all) {
  for (const char* const op : {"AddV2", "Sub", "Mul", "RealDiv", "DivNoNan", "FloorDiv", "FloorMod",
                               "SquaredDifference", "Pow", "Maximum", "Minimum"}) {
    all.push_back(Plain(op, {Positive({2, 3}), Positive({2, 3}, 0.41)}));
    all.push_back(Plain(op, {Positive({2, 1, 3}), Positive({2, 1}, 0.23)}));
    all.push_back(Plain(op, {Positive({3}), Positive({2, 3}, 0.29)}));
    all.push_back(Plain(op, {Positive({}), Positive({2}, 0.13)}));
  }
  all.push_back(Plain("AddN", {Signed({2}), Signed({2}, 0.3), Signed({2}, 0.5)}));
  for (const char* const op : {"Select", "SelectV2"}) {
    all.push_back({op, {Signed({3}), Signed({3}, 0.2)}, [op](Builder& b, const Inputs& in) {
                     return b.Op(op, {b.Const("c", Tensor::Vector<bool>({true, false, true})), in[0], in[1]});
                   }});
    all.push_back({op, {Signed({3}), Signed({3}, 0.2)}, [op](Builder& b, const Inputs& in) {
                     return b.Op(op, {b.Const("c", Tensor::Scalar<bool>(false)), in[0], in[1]});
                   }});
  }
  all.push_back({"SelectV2", {Signed({3}), Signed({2, 1}, 0.2)}, [](Builder& b, const Inputs& in) {
                   const Tensor rows = Tensor::Vector<bool>({true, false}).Reshaped(Shape({2, 1, 1}));
                   return b.Op("SelectV2", {b.Const("c", rows), in[0], in[1]});
                 }});
  all.push_back({"Select", {Signed({2, 3}), Signed({2, 3}, 0.2)}, [](Builder& b, const Inputs& in) {
                   return b.Op("Select", {b.Const("c", Tensor::Vector<bool>({false, true})), in[0], in[1]});
                 }});
  all.push_back(Plain("ClipByValue", {Signed({2, 4}), Tensor::Scalar<double>(-0.9), Tensor::Scalar<double>(1.03)}));
}

void AddMatrices(std::vector<DifferentiableCase>& all) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const std::vector<std::int64_t> a = ta ? std::vector<std::int64_t>{3, 2} : std::vector<std::int64_t>{2, 3};
      const std::vector<std::int64_t> c = tb ? std::vector<std::int64_t>{4, 3} : std::vector<std::int64_t>{3, 4};
      all.push_back(Plain("MatMul", {Signed(a), Signed(c, 0.2)}, {{"transpose_a", ta}, {"transpose_b", tb}}));
    }
  }
  for (const char* const op : {"Cumsum", "Cumprod"}) {
    for (const bool exclusive : {false, true}) {
      for (const bool reverse : {false, true}) {
        const Attrs attrs{{"exclusive", exclusive}, {"reverse", reverse}};
        all.push_back(With(op, {Signed({2, 3})}, {IntScalar(1)}, attrs));
        all.push_back(With(op, {Signed({3, 2, 2})}, {IntScalar(-3)}, attrs));
      }
    }
  }
  for (const char* const op : {"Sum", "Mean", "Max", "Min", "Prod"}) {
    for (const bool keep : {false, true}) {
      const Attrs attrs{{"keep_dims", keep}};
      all.push_back(With(op, {Signed({2, 3, 2})}, {IntVector({-2})}, attrs));
      all.push_back(With(op, {Signed({2, 3, 2})}, {IntVector({2, 0})}, attrs));
      all.push_back(With(op, {Signed({2, 3})}, {IntVector({})}, attrs));
      all.push_back(With(op, {Signed({})}, {IntVector({})}, attrs));
      all.push_back(With(op, {Signed({2, 3})}, {IntScalar(1)}, attrs));
    }
  }
}

void AddNn(std::vector<DifferentiableCase>& all) {
  all.push_back(Plain("BiasAdd", {Signed({2, 2, 3}), Signed({3}, 0.2)}));
  all.push_back(Plain("BiasAdd", {Signed({2, 3, 2, 2}), Signed({3}, 0.2)}, {{"data_format", std::string("NCHW")}}));
  all.push_back(Plain("BiasAddGrad", {Signed({2, 2, 3})}));
  all.push_back(Plain("BiasAddGrad", {Signed({2, 3, 2, 2})}, {{"data_format", std::string("NCHW")}}));
  for (const char* const op : {"Softmax", "LogSoftmax"}) {
    all.push_back(Plain(op, {Signed({2, 3})}));
    all.push_back(Plain(op, {Signed({2, 1, 4})}));
  }
  all.push_back(Plain("SoftmaxCrossEntropyWithLogits", {Signed({2, 3}), Probabilities(2, 3)}));
  // Its second output is what a gradient's gradient meets; labels are constant there, as in TensorFlow.
  all.push_back({"SoftmaxCrossEntropyWithLogits", {Signed({2, 3})}, [](Builder& b, const Inputs& in) {
                   const Output labels = b.Const("labels", Probabilities(2, 3));
                   const Output both = b.Op("SoftmaxCrossEntropyWithLogits", {in[0], labels});
                   const Output loss = b.Op("ExpandDims", {both, Int(b, 1)});
                   return AddUp(b, {b.Op("BroadcastTo", {loss, Ints(b, {2, 3})}), {both.node, 1}});
                 }});
  all.push_back(With("SparseSoftmaxCrossEntropyWithLogits", {Signed({2, 3})}, {IntVector({2, 0})}));
}

using Four = std::vector<std::int64_t>;

void AddWindows(std::vector<DifferentiableCase>& all) {
  for (const char* const padding : {"SAME", "VALID"}) {
    for (const std::int64_t stride : {1, 2}) {
      const Attrs attrs{{"strides", Four{1, stride, 1, 1}}, {"padding", std::string(padding)}};
      all.push_back(Plain("Conv2D", {Signed({2, 4, 3, 2}), Signed({2, 3, 2, 2}, 0.3)}, attrs));
      const bool same = padding == std::string("SAME");
      const std::int64_t rows = same ? 4 / stride : (4 - 2) / stride + 1;
      // A window of 3 columns has one place, or three.
      const Tensor grad = Signed({2, rows, same ? 3 : 1, 2}, 0.6);
      all.push_back({"Conv2DBackpropInput", {Signed({2, 3, 2, 2}), grad}, [attrs](Builder& b, const Inputs& in) {
                       return b.Op("Conv2DBackpropInput", {Ints(b, {2, 4, 3, 2}), in[0], in[1]}, {.attrs = attrs});
                     }});
      all.push_back({"Conv2DBackpropFilter", {Signed({2, 4, 3, 2}), grad}, [attrs](Builder& b, const Inputs& in) {
                       return b.Op("Conv2DBackpropFilter", {in[0], Ints(b, {2, 3, 2, 2}), in[1]}, {.attrs = attrs});
                     }});
      Attrs pooling = attrs;
      pooling.emplace("ksize", Four{1, 2, 3, 1});
      all.push_back(Plain("MaxPool", {Signed({2, 4, 3, 2})}, pooling));
      all.push_back({"MaxPoolGrad", {grad}, [pooling](Builder& b, const Inputs& in) {
                       const Output x = b.Const("x", Signed({2, 4, 3, 2}));
                       const Output y = b.Op("MaxPool", {x}, {.attrs = pooling});
                       return b.Op("MaxPoolGrad", {x, y, in[0]}, {.attrs = pooling});
                     }});
      all.push_back({"MaxPoolGradGrad", {Signed({2, 4, 3, 2}, 0.4)}, [pooling](Builder& b, const Inputs& in) {
                       const Output x = b.Const("x", Signed({2, 4, 3, 2}));
                       const Output y = b.Op("MaxPool", {x}, {.attrs = pooling});
                       return b.Op("MaxPoolGradGrad", {x, y, in[0]}, {.attrs = pooling});
                     }});
      all.push_back(Plain("AvgPool", {Signed({2, 4, 3, 2})}, pooling));
      all.push_back({"AvgPoolGrad", {grad}, [pooling](Builder& b, const Inputs& in) {
                       return b.Op("AvgPoolGrad", {Ints(b, {2, 4, 3, 2}), in[0]}, {.attrs = pooling});
                     }});
    }
  }
}

void AddArrays(std::vector<DifferentiableCase>& all) {
  all.push_back(With("Reshape", {Signed({2, 3})}, {IntVector({3, -1})}));
  all.push_back(With("ExpandDims", {Signed({2, 3})}, {IntScalar(-1)}));
  all.push_back(Plain("Squeeze", {Signed({2, 1, 3, 1})}, {{"squeeze_dims", std::vector<std::int64_t>{1}}}));
  all.push_back(With("Transpose", {Signed({2, 3, 4})}, {IntVector({2, 0, 1})}));
  all.push_back(With("Tile", {Signed({2, 3})}, {IntVector({2, 3})}));
  all.push_back(With("Tile", {Signed({2, 3})}, {IntVector({1, 0})}));
  all.push_back(With("BroadcastTo", {Signed({2, 1})}, {IntVector({3, 2, 4})}));
  all.push_back({"Fill", {Signed({})}, [](Builder& b, const Inputs& in) {
                   return b.Op("Fill", {Ints(b, {2, 2}), in[0]});
                 }});
  for (const std::int64_t axis : {0, 1, -1}) {
    all.push_back(Plain("Pack", {Signed({2, 3}), Signed({2, 3}, 0.2)}, {{"axis", axis}}));
    all.push_back({"Unpack", {Signed({2, 2, 2})}, [axis](Builder& b, const Inputs& in) {
                     const Output all_of_it = b.Op("Unpack", in, {.attrs = {{"num", std::int64_t{2}}, {"axis", axis}}});
                     return AddUp(b, {all_of_it, {all_of_it.node, 1}});
                   }});
    all.push_back(With("ConcatV2", {Signed({2, 3}), Signed({2, 3}, 0.2)}, {IntScalar(static_cast<int>(axis))}));
  }
  // Only one of its outputs counts.
  all.push_back({"Unpack", {Signed({2, 2})}, [](Builder& b, const Inputs& in) {
                   return Output{b.Op("Unpack", in, {.attrs = {{"num", std::int64_t{2}}}}).node, 1};
                 }});
  all.push_back(With("ConcatV2", {Signed({2}), Signed({3}, 0.2), Signed({1}, 0.7)}, {IntScalar(0)}));
  all.push_back(With("Slice", {Signed({3, 4})}, {IntVector({1, 0}), IntVector({2, -1})}));
  // x[1:, ..., ::-1, None, 2] of a cube.
  const Attrs masks{{"end_mask", std::int64_t{1 + 4}},
                    {"begin_mask", std::int64_t{4}},
                    {"ellipsis_mask", std::int64_t{2}},
                    {"new_axis_mask", std::int64_t{8}},
                    {"shrink_axis_mask", std::int64_t{16}}};
  const std::vector<Tensor> where{IntVector({1, 0, 0, 0, 2}), IntVector({0, 0, 0, 0, 3}), IntVector({1, 1, -1, 1, 1})};
  all.push_back(With("StridedSlice", {Signed({3, 4, 3})}, where, masks));
  all.push_back({"StridedSliceGrad", {Signed({2, 4, 1})}, [masks, where](Builder& b, const Inputs& in) {
                   Inputs inputs{Ints(b, {3, 4, 3})};
                   for (const Tensor& each : where) inputs.push_back(b.Const("c", each));
                   inputs.push_back(in[0]);
                   return b.Op("StridedSliceGrad", inputs, {.attrs = masks});
                 }});
  all.push_back(With("Pad", {Signed({2, 2})}, {IntVector({1, 0, 2, 1}).Reshaped(Shape({2, 2}))}));
}

void AddRows(std::vector<DifferentiableCase>& all) {
  const Tensor picked = IntVector({2, 0, 2, 2}).Reshaped(Shape({2, 2}));
  all.push_back(With("Gather", {Signed({3, 2})}, {picked}));
  all.push_back(With("GatherV2", {Signed({3, 2})}, {picked, IntScalar(0)}));
  all.push_back(With("GatherV2", {Signed({2, 3, 2})}, {picked, IntScalar(1)}));
  all.push_back(With("GatherV2", {Signed({2, 3})}, {picked, IntScalar(-1)}));
  for (const std::int64_t batch_dims : {1, -1}) {
    const Attrs batches{{"batch_dims", batch_dims}};
    all.push_back(With("GatherV2", {Signed({2, 3})}, {picked, IntScalar(1)}, batches));
    all.push_back(With("GatherV2", {Signed({2, 2, 3, 2})}, {picked, IntScalar(2)}, batches));
  }
  all.push_back(With("GatherV2", {Signed({2, 2, 2, 3})}, {picked, IntScalar(-1)}, {{"batch_dims", std::int64_t{2}}}));
  all.push_back({"ResourceGather",
                 {Signed({3, 2})},
                 [picked](Builder& b, const Inputs& in) {
                   return b.Op("ResourceGather", {in[0], b.Const("c", picked)}, {.attrs = {{"dtype", DType::kDouble}}});
                 },
                 InputsAre::kResourceVariables});
  all.push_back({"ReadVariableOp",
                 {Signed({2, 3})},
                 [](Builder& b, const Inputs& in) {
                   const auto read = [&] { return b.Op("ReadVariableOp", in, {.attrs = {{"dtype", DType::kDouble}}}); };
                   return b.Op("Mul", {read(), read()});
                 },
                 InputsAre::kResourceVariables});
  all.push_back(With("UnsortedSegmentSum", {Signed({4, 2})}, {IntVector({1, 0, -1, 1}), IntScalar(3)}));
  all.push_back(
      With("UnsortedSegmentSum", {Signed({2, 2, 3})}, {IntVector({1, 0, 1, 1}).Reshaped(Shape({2, 2})), IntScalar(2)}));
  all.push_back({"DynamicStitch", {Signed({2, 2}), Signed({1, 2}, 0.4)}, [](Builder& b, const Inputs& in) {
                   return b.Op("DynamicStitch", {Ints(b, {2, 0}), Ints(b, {1}), in[0], in[1]});
                 }});
}

// Of the input where `taken` (true: its square, else its cosine), or where it is not (`elsewhere`: a constant).
DifferentiableCase Branch(std::string op, bool taken, bool elsewhere, InputsAre are) {
  const auto build = [op, taken, elsewhere, are](Builder& b, const Inputs& in) {
    const Output predicate = b.Const("predicate", Tensor::Scalar<bool>(taken));
    const auto side = [&](Output of, int i, const std::string& by = "Switch") -> Output {
      return {b.Op(by, {of, predicate}).node, i};
    };
    const auto value = [&](int i) {
      const Output branch = side(in[0], i, are == InputsAre::kReferenceVariables ? "RefSwitch" : "Switch");
      return are == InputsAre::kResourceVariables
                 ? b.Op("ReadVariableOp", {branch}, {.attrs = {{"dtype", DType::kDouble}}})
                 : branch;
    };
    const Output constant = b.Const("constant", Signed({2, 3}, 0.7));
    const Output no = elsewhere ? side(constant, 0) : b.Op("Cos", {value(0)});
    const Output merged = b.Op("Merge", {no, b.Op("Square", {value(1)})});
    return op == "Merge" ? merged : b.Op("Mul", {merged, b.Op("Sin", {merged})});
  };
  return {std::move(op), {Signed({2, 3})}, build, are};
}

void AddFlow(std::vector<DifferentiableCase>& all) {
  for (const bool taken : {false, true}) {
    for (const bool elsewhere : {false, true}) {
      for (const char* const op : {"Merge", "Switch"}) {
        all.push_back(Branch(op, taken, elsewhere, InputsAre::kValues));
        all.push_back(Branch(op, taken, elsewhere, InputsAre::kResourceVariables));
      }
      all.push_back(Branch("RefSwitch", taken, elsewhere, InputsAre::kReferenceVariables));
    }
  }
}

}  // namespace

const std::vector<DifferentiableCase>& DifferentiableCases() {
  static const auto* const kAll = [] {
    auto* const all = new std::vector<DifferentiableCase>;
    AddUnary(*all);
    AddBinary(*all);
    AddMatrices(*all);
    AddNn(*all);
    AddWindows(*all);
    AddArrays(*all);
    AddFlow(*all);
    AddRows(*all);
    return all;
  }();
  return *kAll;
}

}  // namespace vigil
