// What the program asks of the operating system besides its Env: standard streams, signals, cores, another program.
//
// Thread safety: for the main thread, unless a comment says otherwise.
#ifndef VIGIL_CLI_SYSTEM_H_
#define VIGIL_CLI_SYSTEM_H_

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace vigil::cli {

// Ctrl-C and SIGTERM, from now on and whatever the program is busy with: the first one raises stopped(), a second one
// (not within a moment: some send each twice) ends the process at once.
// Thread safety: any thread may look.
class StopSignals {
 public:
  StopSignals();
  const std::atomic<bool>& stopped() const;
  int signal() const;  // 0 = none
};

// A standard stream that is closed fails whoever reads or writes it, also after other files were opened. To be called
// before they are: the next one would take its number.
void HoldClosedStreams();

// A closed pipe ends the process quietly, also if our parent ignores SIGPIPE.
void DieQuietlyOnClosedPipes();

// The next bytes of standard input; none at its end, or once `stopped` is set. Any one thread.
absl::StatusOr<std::string> ReadStandardInput(const std::atomic<bool>& stopped);

bool IsTerminal(int descriptor);
// Of an environment variable; "" if there is none.
std::string Variable(const char* name);
int Cores();
std::chrono::milliseconds Uptime();  // since some moment; never goes back

// Only a name for what is not a regular file: a device, a pipe. Following links. Standard output and standard error
// are, wherever they go.
bool IsSpecialFile(const std::string& path);
// Writes to such a file as it is (to standard output after what was written there). UNAVAILABLE for a pipe that nobody
// reads: that would wait for ever.
absl::Status WriteSpecialFile(const std::string& path, std::string_view data);
// The file that a link leads to; `path` itself if it is none.
std::string BehindLinks(const std::string& path);

// Two names for one regular file or folder, which need not exist yet: writing both would lose one.
bool SameFile(const std::string& one, const std::string& other);
// A regular file that is there.
bool IsFile(const std::string& path);
// By its name in that folder or below; neither need exist yet.
bool IsBelow(const std::string& path, const std::string& folder);

// The folder of the running program.
std::string ProgramFolder();
// Becomes another program. Returns only if that fails.
absl::Status Execute(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_SYSTEM_H_
