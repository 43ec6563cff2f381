// Recorded cases of ops and of optimizers as the tests of this folder read them. README.md tells their form.
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_OPS_CASES_H_
#define VIGIL_REPLAYS_OPS_CASES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/graph/graph.h"
#include "vigil/core/tensor/partial_shape.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil::replays {

struct OpCase {
  std::string where;  // file and line
  std::string op;
  Attrs attrs;
  std::vector<Tensor> inputs;
  int refs = 0;  // so many of the inputs are variables with these values
  // What came of it: outputs (of an op with refs: the variables after it), or an error.
  std::vector<Tensor> outputs;
  std::string error_code, error;
  // Of the first output, for each floating-point input.
  bool has_grads = false;
  std::vector<std::optional<Tensor>> grads;
};

// What is known of a node before a run.
struct ShapeCase {
  struct Input {
    DType dtype = DType::kInvalid;
    PartialShape shape;                  // of a placeholder, or of a variable
    std::optional<Tensor> value;         // a constant
    std::optional<PartialShape> of;      // what Shape gives of a placeholder of that shape
    std::optional<PartialShape> packed;  // what Pack makes of constants, and of placeholders where it is not known
  };
  std::string where;  // file and line
  std::string op;
  Attrs attrs;
  std::vector<Input> inputs;
  int refs = 0;  // so many of the inputs are variables
  // What came of it.
  std::vector<PartialShape> shapes;  // of the outputs
  std::string error;                 // "": none
};

struct Trajectory {
  std::string where;
  std::string optimizer;
  bool is_double = false;
  std::vector<std::pair<std::string, double>> options;  // bool: 0 or 1
  std::vector<std::string> variables;                   // all global ones, in TensorFlow's order
  std::vector<int> steps;                               // after so many steps
  std::vector<std::vector<Tensor>> values;              // at each of them, of each variable
};

struct DecayCase {
  std::string where;
  std::string decay;
  std::vector<std::pair<std::string, double>> arguments;  // numbers and bools
  std::vector<std::int64_t> boundaries;
  std::vector<float> values;
  std::vector<std::int64_t> steps;
  std::vector<float> rates;  // at each of them
};

// A line each. REQUIRES (else the program ends): files that the recorders of this folder wrote.
std::vector<OpCase> ReadOpCases(const std::string& file);
std::vector<ShapeCase> ReadShapeCases(const std::string& file);
// Of a file with both.
std::vector<Trajectory> ReadTrajectories(const std::string& file);
std::vector<DecayCase> ReadDecays(const std::string& file);

// "" if the value is what was recorded, up to the tolerance of its type; else what differs.
std::string Differs(const Tensor& value, const Tensor& recorded, double float_tolerance, double double_tolerance);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_OPS_CASES_H_
