#include "vigil/cli/commands.h"
#include "vigil/cli/console.h"

namespace vigil::cli {

int Check(const std::vector<std::string>&) {
  Console().Err("error: vigil check is not built yet\n");
  return kMisuse;
}

}  // namespace vigil::cli
