// An argument with three answers: the default (looked up or made), none, or a value. TensorFlow tells the first two apart by an
// object of its own (USE_DEFAULT) and None.
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
  OrDefault() = default;                                                // the default
  OrDefault(std::nullopt_t) : is_default_(false) {}                     // NOLINT: none
  OrDefault(T value) : is_default_(false), value_(std::move(value)) {}  // NOLINT: a value

  bool is_default() const { return is_default_; }
  // What was given; nullopt = none. REQUIRES: !is_default().
  const std::optional<T>& given() const { return value_; }

 private:
  bool is_default_ = true;
  std::optional<T> value_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OR_DEFAULT_H_
