// How faithful the session layer is to TensorFlow where TensorFlow hurts its users.
//
// Behaviour::TensorFlow() is bug for bug what was recorded. Each difference that users get by default is one switch here, off in
// TensorFlow(); docs/differences.md lists them. There is none yet: the layer knows TensorFlow's behaviour only.
#ifndef VIGIL_CORE_BASE_BEHAVIOUR_H_
#define VIGIL_CORE_BASE_BEHAVIOUR_H_

namespace vigil {

struct Behaviour {
  static Behaviour TensorFlow() { return {}; }
  friend bool operator==(const Behaviour&, const Behaviour&) = default;
};

}  // namespace vigil

#endif  // VIGIL_CORE_BASE_BEHAVIOUR_H_
