// An argument with three answers: the default (looked up or made), none, or a value. TensorFlow tells the first two
// apart by an object of its own (USE_DEFAULT) and None.
//
//   struct Options { OrDefault<SaverPtr> saver; };
//   Options{};                          // the default
//   Options{.saver = std::nullopt};     // none
//   Options{.saver = my_saver};
//
// A value type. Thread safety: as a value.
#ifndef VIGIL_CORE_TRAIN_OR_DEFAULT_H_
#define VIGIL_CORE_TRAIN_OR_DEFAULT_H_

#include <optional>
#include <utility>

namespace vigil {

template <typename T>
class OrDefault {
 public:
  OrDefault() = default;                                          // the default
  OrDefault(std::nullopt_t) : given_(true) {}                     // NOLINT: none
  OrDefault(T value) : given_(true), value_(std::move(value)) {}  // NOLINT: that value

  bool given() const { return given_; }                     // none counts as given
  const std::optional<T>& value() const { return value_; }  // nullopt unless a value was given

 private:
  bool given_ = false;
  std::optional<T> value_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OR_DEFAULT_H_
