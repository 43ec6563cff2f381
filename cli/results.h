// What a command says and writes, and how it ends: the same for all commands.
//
// Results go to standard output, errors to standard error; with `--json -` standard output belongs to the document, and
// all text goes to standard error. Ctrl-C and SIGTERM are kept away from all threads (system.h).
//
// Thread safety: belongs to the main thread, and is made before any other; stopped() may be looked at by all.
#ifndef VIGIL_CLI_RESULTS_H_
#define VIGIL_CLI_RESULTS_H_

#include <atomic>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "vigil/cli/console.h"
#include "vigil/cli/output.h"
#include "vigil/cli/system.h"
#include "vigil/core/env/real/posix_files.h"

namespace vigil::cli {

class Results {
 public:
  // `command` as users call it: "vigil check". `json`: the value of --json: a file, "-", or "" if there is none.
  Results(std::string command, std::string json) : command_(std::move(command)), json_(std::move(json)) {}

  // Whether the JSON and these files can be written, if they are asked for (not ""), and none is another one or an
  // input (a file or folder that is read, or kept up to date: the folder of failures). Tells of the first that cannot.
  bool CanWrite(std::vector<OutputFile> outputs, const std::vector<std::string>& inputs);
  bool CanSaveIn(const std::string& folder);

  void Print(std::string_view text);
  void Note(std::string_view text) { console_.Err(text); }
  // "error: " and the text, which is escaped already and has no newline: about what was asked for, or cannot be read or
  // written. The work goes on, but the exit code is kMisuse, whatever else comes.
  void Fail(std::string_view what);
  // The same where the work cannot be done at all; returns kMisuse.
  int Refuse(const absl::Status& status);

  // A few times a second: what was printed goes out, and how far it got is shown.
  void Tick(std::string_view progress);
  // What was printed goes out now.
  void Flush() { console_.Flush(); }
  // There is nothing to wait for any more.
  void EndProgress() { console_.EndProgress(); }

  // Nothing if it is not asked for (""). What cannot be written is told, and counts as Fail().
  void Write(const std::string& path, std::string_view data);
  bool wants_json() const { return !json_.empty(); }
  void WriteJson(std::string_view document);

  // Nothing more comes. Returns the exit code.
  int End(bool passed);

  Files& files() { return files_; }
  const std::atomic<bool>& stopped() const { return signals_.stopped(); }
  bool interrupted() const { return signals_.signal() != 0; }

 private:
  bool Told(const std::string& path, const absl::Status& status);

  const std::string command_;
  const std::string json_;
  StopSignals signals_;
  PosixFiles files_;
  Console console_;
  bool failed_ = false;
};

// The same end for what plays nothing: what was printed goes out; returns `code`, or kMisuse, with words, if it cannot.
int Finished(Console& console, int code);
// Prints it on standard output, and nothing more comes. Returns the exit code.
int Show(std::string_view text);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_RESULTS_H_
