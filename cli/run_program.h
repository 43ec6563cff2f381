// Runs the program under test as a process of its own.
#ifndef VIGIL_CLI_RUN_PROGRAM_H_
#define VIGIL_CLI_RUN_PROGRAM_H_

#include <string>
#include <vector>

namespace vigil::cli {

struct Ran {
  int code = 0;  // of the shell: 128 + signal if a signal ended it
  std::string out;
  std::string err;
};

// A shell command; "$VIGIL" is the program. No CI service is seen. The working directory is `folder`.
Ran RunShell(const std::string& folder, const std::string& command);

// A new folder that goes away at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  void Write(const std::string& name, const std::string& text) const;
  std::string Read(const std::string& name) const;
  std::vector<std::string> Names() const;

 private:
  std::string path_;
};

}  // namespace vigil::cli

#endif  // VIGIL_CLI_RUN_PROGRAM_H_
