#include "fmt/format.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/console.h"
#include "vigil/cli/system.h"
#include "vigil/core/base/code.h"

namespace vigil::cli {

int Bench(const std::vector<std::string>& arguments) {
  const std::string program = ProgramFolder() + "/../bench/vigil_bench";
  const absl::Status status = Execute(program, arguments);
  Console().Err(
      fmt::format("error: {}\nBuild it with: cmake --build BUILD --target vigil_bench, or call ./vigil bench\n",
                  MessageOf(status)));
  return kMisuse;
}

}  // namespace vigil::cli
