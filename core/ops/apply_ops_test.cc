// Updates of optimizers whose numbers were recorded with TensorFlow 2.21; more of them are in replays/ops.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "vigil/core/ops/testing.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

class ApplyOpsTest : public OpsTest<fakes::FakeEnv> {
 protected:
  struct Ftrl {
    std::string op;  // without "Resource", "Sparse"
    bool sparse;
    bool times_lr;
    float lr = 0.1F;
  };

  Output VariableOf(bool handles, Tensor value) {
    const Output initial = b_.Const("initial", value);
    if (!handles) {
      const ops::Variable v = ops::MakeVariable(b_, "v", initial);
      EXPECT_EQ(vigil::Show(Run(v.initializer)), "OK");
      return v.ref;
    }
    const Attrs attrs{
        {"dtype", value.dtype()}, {"shape", value.shape()}, {"shared_name", fmt::format("v{}", count_++)}};
    const Output handle = b_.Op("VarHandleOp", {}, {.attrs = attrs});
    EXPECT_EQ(vigil::Show(Run(b_.Op("AssignVariableOp", {handle, initial}).node)), "OK");
    return handle;
  }
  std::vector<float> ValueOf(Output variable, bool handles) {
    const Output read = handles ? b_.Op("ReadVariableOp", {variable}, {.attrs = {{"dtype", DType::kFloat}}}) : variable;
    const absl::StatusOr<Tensor> value = Get(read);
    EXPECT_EQ(vigil::Show(value.status()), "OK");
    if (!value.ok()) return {};
    const auto flat = value->flat<float>();
    return {flat.begin(), flat.end()};
  }

  // Updates [1, 2], or twice the second row of [1, 2], [3, 4]; then `var` and `linear` are what came out.
  std::string Update(const Ftrl& given, bool handles) {
    const auto table = [&](std::vector<float> values) {
      const Tensor flat = Tensor::Vector<float>(values);
      return VariableOf(handles, given.sparse ? flat.Reshaped(Shape({2, 2})) : flat);
    };
    const Output variable = table(given.sparse ? std::vector<float>{1, 2, 3, 4} : std::vector<float>{1, 2});
    const Output accum =
        table(given.sparse ? std::vector<float>{0.1F, 0.1F, 0.2F, 0.2F} : std::vector<float>{0.1F, 0.1F});
    const Output slot = table(std::vector<float>(given.sparse ? 4 : 2, 0));
    std::vector<Output> inputs{variable, accum, slot};
    if (given.sparse) {
      inputs.push_back(Matrix<float>(2, {0.5F, 0.5F, 0.1F, 0.2F}));
      inputs.push_back(Vec<std::int32_t>({1, 1}));
    } else {
      inputs.push_back(Vec<float>({0.5F, 0.5F}));
    }
    for (const float number : {given.lr, 0.01F, 0.01F}) inputs.push_back(Scalar(number));
    if (given.op == "ApplyFtrlV2") inputs.push_back(Scalar(0.1F));
    inputs.push_back(Scalar(-0.5F));
    const std::string op = fmt::format("{}{}{}", handles ? "Resource" : "", given.sparse ? "Sparse" : "", given.op);
    std::string status =
        vigil::Show(Run(b_.Op(op, inputs, {.attrs = {{"multiply_linear_by_lr", given.times_lr}}}).node));
    var_ = ValueOf(variable, handles);
    linear_ = ValueOf(slot, handles);
    return status;
  }

  std::vector<float> var_, linear_;
  int count_ = 0;
};

TEST_F(ApplyOpsTest, FtrlWithLinearMultipliedByLr) {
  struct Recorded {
    Ftrl given;
    std::vector<float> var, linear;
  };
  const std::vector<Recorded> all{
      {{"ApplyFtrl", false, true}, {0.37799397F, 0.8419032F}, {-0.22538023F, -0.50076044F}},
      {{"ApplyFtrl", false, false}, {0.37799394F, 0.84190315F}, {-2.2538023F, -5.0076046F}},
      {{"ApplyFtrlV2", false, true}, {0.3443017F, 0.77451867F}, {-0.20538023F, -0.46076044F}},
      {{"ApplyFtrlV2", false, false}, {0.34430167F, 0.7745186F}, {-2.0538023F, -4.6076045F}},
      {{"ApplyFtrl", true, true}, {1, 2, 0.9065262F, 1.2250794F}, {0, 0, -0.61764896F, -0.8610057F}},
      {{"ApplyFtrl", true, false}, {1, 2, 0.9065261F, 1.2250793F}, {0, 0, -6.1764894F, -8.610057F}},
      {{"ApplyFtrlV2", true, true}, {1, 2, 0.79288566F, 1.0738503F}, {0, 0, -0.5403469F, -0.7548429F}},
      {{"ApplyFtrlV2", true, false}, {1, 2, 0.79288554F, 1.0738502F}, {0, 0, -5.403469F, -7.548428F}},
      // A rate of 0 is one.
      {{"ApplyFtrl", false, true, 0}, {0.46547753F, 0.93095505F}, {-0.27538022F, -0.55076045F}},
      {{"ApplyFtrlV2", false, true, 0}, {0.46547753F, 0.93095505F}, {-0.27538022F, -0.55076045F}},
      {{"ApplyFtrl", true, true, 0}, {1, 2, 0.99999994F, 1.3333331F}, {0, 0, -0.6782329F, -0.9333332F}},
      {{"ApplyFtrlV2", true, true, 0}, {1, 2, 0.99999994F, 1.3333331F}, {0, 0, -0.6782329F, -0.9333332F}}};
  for (const bool handles : {false, true}) {
    for (const Recorded& each : all) {
      SCOPED_TRACE(fmt::format("{} sparse {} times lr {} handles {} lr {}", each.given.op, each.given.sparse,
                               each.given.times_lr, handles, each.given.lr));
      EXPECT_EQ(Update(each.given, handles), "OK");
      EXPECT_THAT(var_, Pointwise(FloatNear(4e-6F), each.var));
      EXPECT_THAT(linear_, Pointwise(FloatNear(4e-6F), each.linear));
    }
  }
}

TEST_F(ApplyOpsTest, SparseFtrlRefusesARateThatIsNone) {
  for (const bool handles : {false, true}) {
    for (const char* const op : {"ApplyFtrl", "ApplyFtrlV2"}) {
      const auto refused =
          HasSubstr("INVALID_ARGUMENT: lr is not a positive scalar (or zero if multiply_linear_by_lr is set): []");
      EXPECT_THAT(Update({op, true, false, 0}, handles), refused);
      EXPECT_THAT(Update({op, true, true, -1}, handles), refused);
    }
  }
}

}  // namespace
}  // namespace vigil
