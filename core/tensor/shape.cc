#include "vigil/core/tensor/shape.h"

#include <fmt/format.h>

namespace vigil {

std::string Shape::ToString() const { return fmt::format("[{}]", fmt::join(dims_, ",")); }

}  // namespace vigil
